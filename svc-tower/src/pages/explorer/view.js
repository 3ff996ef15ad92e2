// What was answered, as tables, links and cards.

import { el } from "./dom.js";

const RESERVED = new Set(["_links", "_embedded"]);

/** The fields of a document as a table. */
export function properties(json) {
  const rows = Object.entries(json).filter(([name]) => !RESERVED.has(name));
  if (rows.length === 0) return null;
  return el(
    "table",
    { class: "properties" },
    el("caption", {}, "Properties"),
    el("tbody", {}, rows.map(([name, inner]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value(inner))))),
  );
}

/** A value: nested ones as lists. */
export function value(inner) {
  if (inner === null) return el("span", { class: "soft" }, "null");
  if (Array.isArray(inner)) {
    if (inner.length === 0) return el("span", { class: "soft" }, "empty");
    if (inner.every((item) => typeof item !== "object")) return inner.join(", ");
    return el("ol", { class: "nested" }, inner.map((item) => el("li", {}, value(item))));
  }
  if (typeof inner === "object") {
    const members = Object.entries(inner);
    return el("dl", {}, members.map(([name, member]) => el("div", {}, el("dt", {}, name), el("dd", {}, value(member)))));
  }
  return String(inner);
}

/** A record in a few words. */
export function title(record) {
  const name = [record.given_name, record.family_name].filter(Boolean).join(" ");
  return record.title || record.name || name || record.comments || record.value || (record.identifiers ?? [])[0] || "record";
}

/** A few fields that tell a record from others; its date where there are no more. */
export function gist(record) {
  const telling = Object.entries(record).filter(([name, inner]) => !RESERVED.has(name) && typeof inner !== "object" && inner !== "");
  const skipped = new Set(["id", "title", "name", "given_name", "family_name", "origin_system", "description", "modified_date"]);
  const address = record.email_addresses?.[0]?.address;
  const email = address === undefined ? [] : [["email", address]];
  const rank = ([name]) => (name === "created_date" ? 1 : 0);
  const others = telling.filter(([name]) => !skipped.has(name)).toSorted((one, other) => rank(one) - rank(other));
  return [...email, ...others].slice(0, 3).map(([name, inner]) => [name, String(inner)]);
}

/** Whether an answer is one that was given before, to the same `Idempotency-Key`. */
export const isReplayed = (done) => done.headers.some(([name, text]) => name === "idempotency-replayed" && text === "true");

/** A raw exchange: request, status, headers, time and body. */
export function exchange(done, copies) {
  const body = done.json === null ? done.text : JSON.stringify(done.json, null, 2);
  const sent = done.request.body === undefined ? null : el("pre", { tabindex: "0", "aria-label": "Body of the request" }, done.request.body);
  const good = done.status < 400 ? "good" : "bad";
  return [
    el("p", {}, el("code", {}, `${done.request.method} ${done.request.address}`)),
    sent,
    el("p", {}, el("strong", { class: `status ${good}` }, `${done.status} ${done.reason}`.trim()), ` in ${done.milliseconds.toFixed(1)} ms`),
    isReplayed(done) ? el("p", {}, "The server gave the answer of before again: nothing was done twice.") : null,
    copies,
    el("details", {}, el("summary", {}, "Headers"), el("pre", { tabindex: "0", "aria-label": "Headers of the answer" }, done.headers.map(([name, text]) => `${name}: ${text}`).join("\n"))),
    el("details", { open: true }, el("summary", {}, "Body"), el("pre", { tabindex: "0", "aria-label": "Body of the answer" }, body || "(empty)")),
  ];
}
