// Protection of a write: the expected state of the record, and a key with which it is executed only once.

import { el, fill } from "./dom.js";
import { send } from "./http.js";
import { isSame } from "./json.js";
import { value } from "./values.js";

/** Returns a unique name; `randomUUID` exists on secure connections only. */
export function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The protecting headers of the requests of one form, and a line that shows them. */
export class Guards {
  /** `tag` is the entity tag of the record of the form, as it was read; null if there is none. */
  constructor({ method, about }, tag) {
    const accepts = (header) => (about.parameters ?? []).some(({ name }) => name === header);
    this.changes = method !== "POST" || accepts("If-Match");
    this.repeats = accepts("Idempotency-Key");
    this.node = el("p", { class: "soft" });
    this.begin(tag);
  }

  /** Starts another request for the state with this tag, with a new key. */
  begin(tag = this.tag) {
    this.headers = {};
    this.body = undefined;
    this.tag = tag;
    if (this.changes && tag !== null) this.headers["If-Match"] = tag;
    if (this.repeats) this.headers["Idempotency-Key"] = newKey();
    fill(this.node, Object.entries(this.headers).map(([name, text]) => el("code", {}, `${name}: ${text}`)));
  }

  /** Returns the headers for a body: the same body is sent with the same key; another body is another request. */
  for(body) {
    if (this.body !== undefined && this.body !== body) this.begin();
    this.body = body;
    return this.headers;
  }

  /** Handles a response. After 409 and 5xx the request may have been executed, so the key stays. */
  answered(status) {
    if (this.repeats && status !== 409 && status < 500) this.begin();
  }
}

const NOT_SHOWN = new Set(["_links", "_embedded", "modified_date"]);

/**
 * Returns a comparison of a concurrent change with the user's input; null if the record is gone.
 * `known` is the record that filled the form, `typed` a merge patch, or null for a deletion.
 */
export async function conflict(address, known, typed, key) {
  const done = await send({ method: "GET", address }, key);
  if (done.status !== 200 || done.json === null) return null;
  const now = done.json;
  const names = [...new Set([...Object.keys(known ?? {}), ...Object.keys(now), ...Object.keys(typed ?? {})])];
  const told = names.filter((name) => !NOT_SHOWN.has(name) && (!isSame(known?.[name], now[name]) || typed?.[name] !== undefined));
  const shown = (inner) => el("td", {}, inner === undefined ? el("span", { class: "soft" }, "–") : value(inner));
  const columns = ["Value you read", "Current value", ...(typed === null ? [] : ["Your input"])];
  const row = (name) => el(
    "tr",
    {},
    el("th", { scope: "row" }, name),
    shown(known?.[name]),
    shown(now[name]),
    typed === null ? null : shown(typed[name]),
  );
  const table = el(
    "table",
    { class: "conflict" },
    el("caption", {}, "Differences"),
    el("thead", {}, el("tr", {}, ["Field", ...columns].map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, told.map(row)),
  );
  return { tag: done.tag, table: el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Differences" }, told.length === 0 ? "No visible field differs." : table) };
}
