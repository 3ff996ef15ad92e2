// What is wrong with a request, in words, with a way on.

import { el, prose } from "./dom.js";
import { auth } from "./key.js";
import { aboutKeys, pageOfCode } from "./server.js";

/** The error object of an answer, under whatever prefix; null where there is none. */
export const errorOf = (done) => Object.entries(done.json ?? {}).find(([name]) => name.endsWith(":error"))?.[1] ?? null;

/** The descriptions of one entry of an error object, in any of their forms. */
export const described = (entry) => [entry.error_descriptions ?? entry.errors ?? []].flat().map((problem) => ({
  code: String(problem.error_code ?? problem.code ?? ""),
  description: String(problem.description ?? ""),
  hint: problem.hint,
  properties: [problem.properties ?? []].flat().map(String),
}));

/** Everything that is wrong with a request. */
export function problemsOf(done) {
  const entries = done.status < 400 ? [] : [errorOf(done)?.resource_status ?? []].flat();
  return entries.flatMap(described);
}

/** A code, which leads to its page. */
function codeLink(code) {
  const page = pageOfCode(code);
  return el("strong", {}, page === null ? code : el("a", { href: page }, code));
}

/** A problem as an element of a list. */
export const problemItem = ({ code, description, hint }) =>
  el("li", {}, codeLink(code), " ", prose(description), hint ? [" ", el("code", {}, hint)] : null);

/** Problems as a list. */
export const told = (problems) => el("ul", { class: "errors" }, problems.map(problemItem));

/** That a request was refused, and what can be done where that is up to the key. */
export function refusal(done) {
  const said = `${done.status} ${done.reason}. `;
  const about = el("a", { href: aboutKeys }, "About keys");
  if (done.status === 401 && auth() === null) return [said, "This needs a key: enter one above. ", about];
  if (done.status === 401) return [said, "This key is not valid: it is mistyped, expired or revoked. Enter another one above. ", about];
  if (done.status === 403) return [said, "This key may not do this: enter one that may, or ask for the right. ", about];
  return [said];
}
