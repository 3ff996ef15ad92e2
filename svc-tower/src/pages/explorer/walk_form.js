// The steps of this tab as a program: which of them, in which language.

import { el, fill, newId } from "./dom.js";
import { copy } from "./exchange.js";
import { during } from "./frame.js";
import { send } from "./http.js";
import { noted, whenNoted } from "./journal.js";
import { auth } from "./key.js";
import { save } from "./save.js";
import { base } from "./server.js";
import { stepsOf, whole } from "./walk.js";
import { programOf } from "./walk_program.js";

/** How a program is written in each language. */
const LANGUAGES = {
  "Shell script with curl": () => import("./walk_curl.js"),
  Python: () => import("./walk_python.js"),
  JavaScript: () => import("./walk_javascript.js"),
  "Rust test": () => import("./walk_rust_test.js"),
  "Check of the conformance suite": () => import("./walk_check.js"),
};

const isEntry = ({ request, status, json }) => request.method === "GET" && request.address === base && status === 200 && json !== null;

/** What the entry point answered last; it is read where it was not yet. */
const entryPoint = async () => noted().find(isEntry) ?? send({ method: "GET", address: base }, auth());

/** The form; what is done while it is open becomes a step as well. */
export async function walkForm() {
  const entry = await entryPoint();
  const ids = [newId(), newId()];
  const boxes = new Map();
  const list = el("ul", { class: "walk" });
  const out = el("pre", { tabindex: "0", "aria-label": "The program" });
  const language = el("select", { id: ids[1], onchange: () => write() }, Object.keys(LANGUAGES).map((name) => el("option", {}, name)));
  let file = "";
  /** The box of an exchange: a write is a step unless somebody leaves it out. */
  const boxOf = ({ request }) => {
    const id = newId();
    const box = el("input", { id, type: "checkbox", checked: request.method !== "GET", onchange: () => write() });
    // What is needed is ticked, whatever was chosen.
    return { box, label: el("label", { for: id }), isChosen: request.method !== "GET" };
  };
  const show = () => {
    const steps = stepsOf(noted().toReversed(), entry);
    const known = steps.slice(1).map((step) => {
      if (!boxes.has(step.done)) boxes.set(step.done, boxOf(step.done));
      return { step, ...boxes.get(step.done) };
    });
    return { steps, known };
  };
  const write = () => during(async () => {
    const name = language.value;
    const written = await LANGUAGES[name]();
    if (name !== language.value) return;
    const { steps, known } = show();
    for (const { step, box } of known) if (!box.disabled) boxes.get(step.done).isChosen = box.checked;
    const chosen = known.filter(({ step }) => boxes.get(step.done).isChosen).map(({ step }) => step);
    const all = whole(steps, chosen);
    for (const { step, box, label } of known) {
      const { method, address } = step.done.request;
      box.disabled = all.includes(step) && !chosen.includes(step);
      box.checked = all.includes(step);
      fill(label, el("code", {}, `${method} /${address.slice(base.length)}`), `: ${step.done.status}`, box.disabled ? ", needed by a later step" : null);
    }
    if (list.childElementCount !== known.length) fill(list, known.map(({ box, label }) => el("li", { class: "keep" }, box, label)));
    file = written.file;
    out.textContent = written.write(programOf(all));
  });
  whenNoted(() => { if (list.isConnected) write(); });
  await write();
  const node = el(
    "section",
    { "aria-labelledby": ids[0] },
    el("h2", { id: ids[0] }, "This walk as a program"),
    el("p", { class: "hint" }, "It does the same again on any server of this interface, by relations and not by addresses. Everything that you typed in the bodies is in it; your key is not."),
    el("div", { role: "group", "aria-label": "Steps of the program" }, list),
    el(
      "div",
      { class: "copies" },
      el("label", { for: ids[1] }, "As"),
      language,
      el("button", { type: "button", class: "small", onclick: () => during(() => copy(out.textContent, "The program", out)) }, "Copy program"),
      el("button", { type: "button", class: "small", onclick: () => save([out.textContent], "text/plain;charset=utf-8", file) }, "Download program"),
    ),
    out,
  );
  return { node };
}
