// The steps of this tab as a program: a choice of steps, and of a language.

import { el, fill, newId } from "./dom.js";
import { copy } from "./exchange.js";
import { during, say } from "./frame.js";
import { send } from "./http.js";
import { forgotten, noted, whenNoted } from "./journal.js";
import { auth } from "./key.js";
import { save } from "./save.js";
import { base } from "./server.js";
import { stepsOf, whole } from "./walk.js";
import { programOf } from "./walk_program.js";

/** The writer of a program in each language. */
const LANGUAGES = {
  "Shell script with curl": () => import("./walk_curl.js"),
  Python: () => import("./walk_python.js"),
  JavaScript: () => import("./walk_javascript.js"),
  "Rust test": () => import("./walk_rust_test.js"),
  "Check of the conformance suite": () => import("./walk_check.js"),
};

const isEntry = ({ request, status, json }) => request.method === "GET" && request.address === base && status === 200 && json !== null;

/** Returns the last response of the entry point; it is requested if there is none yet. */
const entryPoint = async () => noted().find(isEntry) ?? send({ method: "GET", address: base }, auth());

/** The exchanges to choose from, each with a box; writes are chosen by default. */
class Choice {
  constructor(changed) {
    this.changed = changed;
    this.rows = new WeakMap();
    this.node = el("ul", { class: "nested walk" });
  }

  rowOf({ done }) {
    if (!this.rows.has(done)) {
      const id = newId();
      const row = { isChosen: done.request.method !== "GET", label: el("label", { for: id }) };
      const choose = () => {
        row.isChosen = row.box.checked;
        this.changed();
      };
      row.box = el("input", { id, type: "checkbox", onchange: choose });
      row.node = el("li", { class: "keep" }, row.box, row.label);
      this.rows.set(done, row);
    }
    return this.rows.get(done);
  }

  /** Returns the chosen steps, with the steps that they need, which are also ticked. */
  of(steps) {
    const [, ...listed] = steps;
    const all = whole(steps, listed.filter((step) => this.rowOf(step).isChosen));
    for (const step of listed) {
      const { box, label, isChosen } = this.rowOf(step);
      const { request, status } = step.done;
      box.checked = all.includes(step);
      box.disabled = box.checked && !isChosen;
      fill(label, el("code", {}, `${request.method} /${request.address.slice(base.length)}`), `: ${status}`, box.disabled ? ", needed by a later step" : null);
    }
    const nodes = listed.map((step) => this.rowOf(step).node);
    // Nodes that stay keep the focus.
    if (nodes.length !== this.node.childElementCount || nodes.at(-1) !== this.node.lastElementChild) fill(this.node, nodes);
    return all;
  }
}

/** Returns the form; later requests are added as steps. */
export async function walkForm() {
  const entry = await entryPoint();
  const ids = [newId(), newId()];
  const out = el("pre", { tabindex: "0", role: "group", "aria-label": "The program" });
  const language = el("select", { id: ids[1], onchange: () => renew() }, Object.keys(LANGUAGES).map((name) => el("option", {}, name)));
  const choice = new Choice(() => renew());
  const lost = el("p", { class: "hint", hidden: true });
  let file = "";
  const write = async () => {
    const name = language.value;
    const written = await LANGUAGES[name]();
    // In the meantime another language may have been chosen.
    if (name !== language.value) return;
    file = written.file;
    const count = forgotten();
    lost.hidden = count === 0;
    lost.textContent = `Not among these steps, because they are no longer stored: ${count} earlier ${count === 1 ? "exchange" : "exchanges"} of this tab.`;
    out.textContent = written.write(programOf(choice.of(stepsOf(noted().toReversed(), entry))));
  };
  const renew = () => during(() => write().catch((error) => say(`The program cannot be created: ${error.message}`)));
  await write();
  const node = el(
    "section",
    { "aria-labelledby": ids[0] },
    el("h2", { id: ids[0] }, "Your requests as a program"),
    el("p", { class: "hint" }, "The program follows links instead of fixed URLs, so it also works on another server that has the same initial records. It contains the bodies that you sent, but not your key."),
    lost,
    el("div", { role: "group", "aria-label": "Steps of the program" }, choice.node),
    el(
      "div",
      { class: "copies" },
      el("label", { for: ids[1] }, "Program format"),
      language,
      el("button", { type: "button", class: "small", onclick: () => during(() => copy(out.textContent, "The program", out)) }, "Copy program"),
      el("button", { type: "button", class: "small", onclick: () => save([out.textContent], "text/plain;charset=utf-8", file) }, "Download program"),
    ),
    out,
  );
  /** Updates the program while it is open, and when it is opened again. */
  const shown = () => {
    const folded = node.closest("details");
    const follow = () => { if (folded.open) renew(); };
    whenNoted(follow);
    folded.addEventListener("toggle", follow);
  };
  return { node, shown };
}
