// Exchanges as they were: request, status, headers, time, body. That of a write stays beside the record that it led to.

import { el, fill } from "./dom.js";
import { during, place, say } from "./frame.js";
import { headersOf } from "./http.js";
import { jsonView } from "./json_view.js";
import { LANGUAGES, PLACEHOLDER } from "./languages.js";

/** The last write, and the addresses that it led to; null after one went elsewhere. */
let written = null;

/** Shows what was read, below the write that led there. */
export function showRead(done) {
  if (written !== null && !written.leads.includes(done.request.address)) written = null;
  fill(place.exchange, lastWrite(), el("h2", {}, "Exchange"), view(done));
}

/** Shows a write; `leads` are the addresses beside which it stays. */
export function showWrite(done, leads) {
  written = { done, leads };
  say(`${done.request.method} was answered with ${done.status}.`);
  fill(place.exchange, lastWrite());
}

export function showNone() {
  written = null;
  fill(place.exchange);
}

/** Shows one of before. */
export function showAgain(done) {
  fill(place.exchange, el("h2", { tabindex: "-1" }, "Exchange of before"), view(done));
  place.exchange.querySelector("h2").focus();
}

const lastWrite = () => (written === null ? null : [el("h2", {}, "Your change"), view(written.done)]);

/** Whether an answer is one that was given before, to the same `Idempotency-Key`. */
export const isReplayed = (done) => done.headers.some(([name, text]) => name === "idempotency-replayed" && text === "true");

/** Returns the message about a completed write. */
export const outcome = (done) => `Done${isReplayed(done) ? " before" : ""}: ${done.status}. `;

const lines = (pairs) => pairs.map(([name, text]) => `${name}: ${text}`).join("\n");

/** Text as it stands, in a frame that is scrolled by keys as well. */
const block = (name, text) => el("pre", { tabindex: "0", role: "group", "aria-label": name }, text);

function view(done) {
  const { request } = done;
  const good = done.status > 0 && done.status < 400 ? "good" : "bad";
  const sent = Object.entries(headersOf(request));
  return el(
    "div",
    {},
    el("p", {}, el("code", {}, `${request.method} ${request.address}`)),
    sent.length === 0 ? null : block("Headers of the request", lines(sent)),
    request.body === undefined ? null : jsonView(request.body, "Body of the request", true),
    el("p", {}, el("strong", { class: `status ${good}` }, `${done.status || "No answer"} ${done.reason}`.trim()), ` in ${done.milliseconds.toFixed(1)} ms`),
    isReplayed(done) ? el("p", {}, "The server gave the answer of before again: nothing was done twice.") : null,
    copies(done),
    el("details", {}, el("summary", {}, "Headers"), block("Headers of the answer", lines(done.headers))),
    done.isForgotten ? el("p", {}, "So much was answered since that this answer is no longer kept.") : null,
    el("details", { open: true }, el("summary", {}, "Body"), jsonView(done.text, "Body of the answer", done.json !== null)),
  );
}

/** Puts a text into the clipboard; where the browser keeps that closed, it is shown and marked. */
export async function copy(text, what, shown) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} is copied.`);
  } catch {
    say("The browser keeps the clipboard closed: copy the text that is marked.");
    getSelection().selectAllChildren(shown);
  }
}

/** Copies of a request in each language, and of the answer byte for byte. */
function copies(done) {
  const out = el("pre", { tabindex: "0", hidden: true, role: "group", "aria-label": "Copy of the request" });
  const button = (name, write, what) => el("button", {
    type: "button",
    class: "small",
    onclick: () => during(async () => {
      const text = write();
      // As it is copied, not as it is shown elsewhere: no character is named in it.
      out.textContent = text;
      out.hidden = false;
      await copy(text, what, out);
    }),
  }, name);
  const languages = Object.entries(LANGUAGES).map(([name, write]) =>
    button(`Copy as ${name}`, () => write(done.request, PLACEHOLDER), `The request as ${name}`));
  return el("div", { class: "copies" }, languages, button("Copy answer", () => done.text, "The answer"), out);
}
