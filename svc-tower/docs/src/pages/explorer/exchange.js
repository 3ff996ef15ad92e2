// Exchanges: request, status, headers, time, body. That of a write stays next to the records that it wrote.

import { el, fill } from "./dom.js";
import { during, place, say } from "./frame.js";
import { headersOf } from "./http.js";
import { jsonView } from "./json_view.js";
import { LANGUAGES, PLACEHOLDER } from "./languages.js";

/** The last write, and the addresses of its records; null after the user has left them. */
let written = null;

/** Shows a read, below the write that caused it. */
export function showRead(done) {
  if (written !== null && !written.leads.includes(done.request.address)) written = null;
  fill(place.exchange, lastWrite(), el("h2", {}, "Exchange"), view(done));
}

/** Shows a write; it stays next to the addresses in `leads`. */
export function showWrite(done, leads) {
  written = { done, leads };
  say(`${done.request.method} returned ${done.status}.`);
  fill(place.exchange, lastWrite());
}

export function showNone() {
  written = null;
  fill(place.exchange);
}

/** Shows an earlier exchange. */
export function showAgain(done) {
  fill(place.exchange, el("h2", { tabindex: "-1" }, "Earlier exchange"), view(done));
  place.exchange.querySelector("h2").focus();
}

const lastWrite = () => (written === null ? null : [el("h2", {}, "Your change"), view(written.done)]);

/** Returns whether a response is the stored one of an earlier request with the same `Idempotency-Key`. */
export const isReplayed = (done) => done.headers.some(([name, text]) => name === "idempotency-replayed" && text === "true");

/** Returns the message about a completed write. */
export const outcome = (done) => `Done${isReplayed(done) ? " before" : ""}: ${done.status}. `;

const lines = (pairs) => pairs.map(([name, text]) => `${name}: ${text}`).join("\n");

/** Returns unchanged text in a box that can be scrolled with the keyboard. */
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
    el("p", {}, el("strong", { class: `status ${good}` }, `${done.status || "No response"} ${done.reason}`.trim()), ` in ${done.milliseconds.toFixed(1)} ms`),
    isReplayed(done) ? el("p", {}, "The server returned the earlier response again: nothing was done twice.") : null,
    copies(done),
    el("details", {}, el("summary", {}, "Headers"), block("Headers of the response", lines(done.headers))),
    done.isForgotten ? el("p", {}, "This response has been removed to make room for later ones.") : null,
    el("details", { open: true }, el("summary", {}, "Body"), jsonView(done.text, "Body of the response", done.json !== null)),
  );
}

/** Copies a text to the clipboard. If the browser does not allow that, the text is shown and selected. */
export async function copy(text, what, shown) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} is copied.`);
  } catch {
    say("The browser does not allow access to the clipboard: copy the selected text.");
    getSelection().selectAllChildren(shown);
  }
}

/** Returns buttons that copy a request in each language, and the response byte for byte. */
function copies(done) {
  const out = el("pre", { tabindex: "0", hidden: true, role: "group", "aria-label": "Copy of the request" });
  const button = (name, write, what) => el("button", {
    type: "button",
    class: "small",
    onclick: () => during(async () => {
      const text = write();
      // Exactly as it is copied: invisible characters are not named in it.
      out.textContent = text;
      out.hidden = false;
      await copy(text, what, out);
    }),
  }, name);
  const languages = Object.entries(LANGUAGES).map(([name, write]) =>
    button(`Copy as ${name}`, () => write(done.request, PLACEHOLDER), `The request as ${name}`));
  return el("div", { class: "copies" }, languages, button("Copy response", () => done.text, "The response"), out);
}
