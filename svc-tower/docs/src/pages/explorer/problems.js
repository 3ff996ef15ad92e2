// The problems of a request as texts, with what the user can do.

import { el, prose } from "./dom.js";
import { auth } from "./key.js";
import { aboutKeys, pageOfCode } from "./server.js";

/** Returns the error object of a response, under any prefix; null if there is none. */
export const errorOf = (done) => Object.entries(done.json ?? {}).find(([name]) => name.endsWith(":error"))?.[1] ?? null;

/** Returns the descriptions of one entry of an error object, in any of their forms. */
export const described = (entry) => [entry.error_descriptions ?? entry.errors ?? []].flat().map((problem) => ({
  code: String(problem.error_code ?? problem.code ?? ""),
  description: String(problem.description ?? ""),
  hint: problem.hint,
  properties: [problem.properties ?? []].flat().map(String),
}));

/** Returns all problems of a request. */
export function problemsOf(done) {
  const entries = done.status < 400 ? [] : [errorOf(done)?.resource_status ?? []].flat();
  return entries.flatMap(described);
}

/** Returns a code as a link to its page. */
function codeLink(code) {
  const page = pageOfCode(code);
  return el("strong", {}, page === null ? code : el("a", { href: page }, code));
}

/** Returns a problem as an element of a list. */
export const problemItem = ({ code, description, hint }) =>
  el("li", {}, codeLink(code), " ", prose(description), hint ? [" ", el("code", {}, hint)] : null);

/** Returns problems as a list. */
export const told = (problems) => el("ul", { class: "errors" }, problems.map(problemItem));

/** Returns why a request was rejected, and what to do if the key is the reason. */
export function refusal(done) {
  const said = `${done.status} ${done.reason}. `;
  const about = el("a", { href: aboutKeys }, "About keys");
  if (done.status === 401 && auth() === null) return [said, "This needs a key: enter one above. ", about];
  if (done.status === 401) return [said, "This key is not valid. It may be mistyped, expired or revoked: enter another one above. ", about];
  if (done.status === 403) return [said, "This key lacks the required right: enter another key, or ask for the right. ", about];
  return [said];
}
