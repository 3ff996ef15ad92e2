// The list of all exchanges of this tab, to open, copy and repeat; a write is repeated after a confirmation. They can be exported
// as a program.

import { el, fill } from "./dom.js";
import { showAgain, showWrite, copy } from "./exchange.js";
import { during, later, say, unreachable } from "./frame.js";
import { newKey } from "./guards.js";
import { send } from "./http.js";
import { LONGEST, noted, whenNoted } from "./journal.js";
import { auth } from "./key.js";
import { LANGUAGES, PLACEHOLDER } from "./languages.js";
import { base } from "./server.js";

const isWrite = ({ request }) => request.method !== "GET";

/** Returns a table of all exchanges, and the program, which is created when it is first opened. */
export function exchanges() {
  const program = el("details", {}, el("summary", {}, "As a program"));
  program.addEventListener("toggle", () => program.append(later(async () => (await import("./walk_form.js")).walkForm())), { once: true });
  return { node: el("div", {}, table(), program) };
}

/** Returns the table; new exchanges are added to it. */
function table() {
  const rows = el("tbody", {}, noted().map(row));
  whenNoted((done) => {
    rows.prepend(row(done));
    while (rows.childElementCount > noted().length) rows.lastElementChild.remove();
  });
  const all = el(
    "table",
    {},
    el("caption", {}, `The last ${LONGEST} exchanges, newest first. They are deleted when you close the tab.`),
    el("thead", {}, el("tr", {}, ["Method", "Path", "Status", "ms", "Actions"].map((name) => el("th", { scope: "col" }, name)))),
    rows,
  );
  return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Exchanges of this tab" }, all);
}

function row(done) {
  const { request } = done;
  const path = `/${request.address.slice(base.length)}`;
  const button = (name, act) => el("button", { type: "button", class: "small", onclick: (event) => act(event.currentTarget) }, name);
  const out = el("pre", { hidden: true, tabindex: "0", role: "group", "aria-label": "Copy of the request" });
  const copied = () => during(async () => {
    out.textContent = LANGUAGES.curl(request, PLACEHOLDER);
    out.hidden = false;
    await copy(out.textContent, "The request as curl", out);
  });
  return el(
    "tr",
    {},
    el("td", {}, request.method),
    el("td", {}, el("code", {}, path)),
    el("td", { class: done.status > 0 && done.status < 400 ? "good" : "bad" }, done.status || "none"),
    el("td", {}, done.milliseconds.toFixed(0)),
    el("td", { class: "row-actions" }, button("Open", () => showAgain(done)), button("Repeat", (opener) => repeat(done, opener)), button("Copy", copied), out),
  );
}

/** Repeats a request: a read immediately, a write after a confirmation. */
function repeat(done, opener) {
  if (!isWrite(done)) return sendAgain(done.request.guards, done);
  const { method, address, guards } = done.request;
  const hasKey = guards["Idempotency-Key"] !== undefined;
  // With another API key, the same Idempotency-Key is new.
  const isSame = hasKey && done.request.keyTurn === auth()?.turn;
  const dialog = el("dialog", { "aria-label": "Repeat a write", onclose: () => { dialog.remove(); opener.focus(); } });
  const choice = (text, again) => el("button", { type: "button", onclick: () => { dialog.close(); sendAgain(again, done); } }, text);
  const renewed = hasKey ? { ...guards, "Idempotency-Key": newKey() } : guards;
  fill(
    dialog,
    el("h2", {}, "Send this write again?"),
    el("p", {}, el("code", {}, `${method} ${address}`)),
    el("p", {}, isSame ? "With the same Idempotency-Key the server only returns the first response again. With a new one it executes the request again." : "The server executes the request again."),
    el("p", { class: "copies" }, isSame ? choice("Get the first response", guards) : null, choice("Execute it again", renewed), el("button", { type: "button", onclick: () => dialog.close() }, "Cancel")),
  );
  document.body.append(dialog);
  dialog.showModal();
}

const sendAgain = (guards, { request: { method, address, body } }) => during(async () => {
  try {
    const done = await send({ method, address, body, guards }, auth());
    if (isWrite(done)) showWrite(done, []);
    else showAgain(done);
  } catch (error) {
    say(unreachable(error));
  }
});
