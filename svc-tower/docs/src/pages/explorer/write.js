// The form of a write that the server declares. It sends the write once, and shows the problems of a rejected one.

import { Body } from "./body.js";
import { describe } from "./declared.js";
import { el, fill, newId } from "./dom.js";
import { showWrite } from "./exchange.js";
import { during, place, say, unreachable } from "./frame.js";
import { Guards, conflict } from "./guards.js";
import { send } from "./http.js";
import { parse } from "./json.js";
import { auth } from "./key.js";
import { errorOf, problemsOf, refusal, told } from "./problems.js";
import { request } from "./server.js";

/** The form that was last requested in each panel: a form that loads more slowly does not replace it. */
const asked = new WeakMap();

/**
 * Opens the form of a write. `opener` is the button that opened it, and `initial` has the initial values of a new record.
 * A completed write calls `then` with its response.
 * `also` is the text of another button, and what it does with the body.
 */
export async function open(action, panel, seen, opener, { initial, then, also }) {
  const { method, address, about } = action;
  asked.set(panel, action);
  try {
    await describe(action.route);
  } catch (error) {
    say(`The form cannot be read: ${error.message}`);
    return;
  }
  if (asked.get(panel) !== action || !panel.isConnected) return;
  const schema = action.route.body(method.toLowerCase());
  const body = schema ? new Body(schema, { record: method === "PUT" ? seen.json : undefined, initial }) : null;
  const guards = new Guards(action, address === seen.address ? seen.tag : null);
  const wrong = el("div", { class: "errors", role: "alert", hidden: true });
  const beside = el("div", {});
  const sends = el("button", { type: "submit", class: method.toLowerCase() }, method === "DELETE" ? "Delete" : "Send");
  const show = (...nodes) => { fill(wrong, ...nodes).hidden = false; };
  /** A concurrent change: shows the current state, and prepares the next request for that state. */
  const compare = async () => {
    const found = await conflict(address, seen.json, body && parse(body.json()), auth());
    show("This record has been changed since you read it. Nothing was done.", found === null ? " It can no longer be read." : null);
    fill(beside, found?.table);
    if (found === null) return;
    guards.begin(found.tag);
    sends.textContent = method === "DELETE" ? "Delete the current record" : "Apply to the current record";
    sends.focus();
  };
  const turnTo = async () => { if (body?.isReady() !== false) await also.run(parse(body?.json() ?? "{}"), close); };
  let isUnderWay = false;
  /** Sends the form, once: clicks during the request are ignored. */
  const submit = async () => {
    if (isUnderWay || body?.isReady() === false) return;
    isUnderWay = true;
    sends.setAttribute("aria-disabled", "true");
    try {
      const text = body?.json();
      const done = await send({ method, address, body: text, guards: guards.for(text) }, auth());
      guards.answered(done.status);
      // The user has left the form: the current view stays unchanged.
      if (!form.isConnected) {
        say(`${method} ${address} returned ${done.status}.`);
        return;
      }
      showWrite(done, []);
      if (done.status < 400 || errorOf(done)?.request_type === "non-atomic") {
        await follow(done);
        return;
      }
      const problems = problemsOf(done);
      const rest = body ? body.show(problems) : problems;
      fill(wrong, told(rest)).hidden = rest.length === 0;
      fill(beside);
      if (done.status === 412) await compare();
      else if (problems.length === 0) show(...refusal(done));
      else if (done.status === 400) show(told(rest), el("p", {}, "Nothing was stored. Fix these problems, and send again."));
    } catch (error) {
      say(unreachable(error));
    } finally {
      isUnderWay = false;
      sends.removeAttribute("aria-disabled");
    }
  };
  /** Removes the form first: a completed write is not sent again, even if a later step fails. */
  const follow = async (done) => {
    fill(panel, el("p", {}, `${method} returned ${done.status}.`));
    try {
      await then(done, action, panel, seen);
    } catch (error) {
      say(`The write succeeded with ${done.status}. Its result cannot be shown: ${error.message}`);
    }
  };
  const close = () => {
    asked.delete(panel);
    fill(panel);
    fill(place.sample);
    (opener ?? document.querySelector("main h1"))?.focus();
  };
  const id = newId();
  const form = el(
    "form",
    { onsubmit: (event) => { event.preventDefault(); during(submit); }, "aria-labelledby": id, novalidate: true },
    el("h3", { id }, request(about)),
    el("p", { class: "soft" }, el("code", {}, `${method} ${address}`)),
    guards.node,
    body?.node,
    wrong,
    beside,
    sends,
    " ",
    also === undefined ? null : [el("button", { type: "button", onclick: () => during(turnTo) }, also.text), " "],
    el("button", { type: "button", onclick: close }, "Close"),
  );
  fill(panel, form);
  const isSeen = (control) => control.closest("details:not([open])") === null || control.localName === "summary";
  ([...form.querySelectorAll("input, select, textarea, details:not([open]) > summary")].find(isSeen) ?? sends).focus();
  during(async () => {
    const { sample } = await import("./sample.js");
    const typed = () => ({ method, address, body: body?.json(), guards: guards.headers });
    // In the meantime another form may have been opened.
    if (form.isConnected) fill(place.sample, sample(form, typed));
  });
}
