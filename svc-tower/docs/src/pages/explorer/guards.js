// What guards a write: the state that it is made to, and a key by which it is done once however often it is sent.

import { el, fill } from "./dom.js";
import { send } from "./http.js";
import { isSame } from "./json.js";
import { value } from "./values.js";

/** A name that no other request has; `randomUUID` is there on safe connections only. */
export function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The headers that guard the requests of one form, and a line that shows them. */
export class Guards {
  /** `tag` is that of the record that the form is about, as it was read; null where there is none. */
  constructor({ method, about }, tag) {
    this.changes = method === "PUT" || method === "DELETE";
    this.repeats = (about.parameters ?? []).some((parameter) => parameter.name === "Idempotency-Key");
    this.node = el("p", { class: "soft" });
    this.begin(tag);
  }

  /** Begins another request, to the state that this tag names, with a key of its own. */
  begin(tag = this.tag) {
    this.headers = {};
    this.body = undefined;
    this.tag = tag;
    if (this.changes && tag !== null) this.headers["If-Match"] = tag;
    if (this.repeats) this.headers["Idempotency-Key"] = newKey();
    fill(this.node, Object.entries(this.headers).map(([name, text]) => el("code", {}, `${name}: ${text}`)));
  }

  /** The headers for a body: the same one comes again with the same key, another one is another request. */
  for(body) {
    if (this.body !== undefined && this.body !== body) this.begin();
    this.body = body;
    return this.headers;
  }

  /** An answer came. While the server is still busy with the request or in trouble, it may have been done: the key stays. */
  answered(status) {
    if (this.repeats && status !== 409 && status < 500) this.begin();
  }
}

const NOT_SHOWN = new Set(["_links", "_embedded", "modified_date"]);

/**
 * What somebody changed meanwhile, beside what was typed; null where the record is gone.
 * `known` is the record that the form was filled with, `typed` a merge patch, or null for a deletion.
 */
export async function conflict(address, known, typed, key) {
  const done = await send({ method: "GET", address }, key);
  if (done.status !== 200 || done.json === null) return null;
  const now = done.json;
  const names = [...new Set([...Object.keys(known ?? {}), ...Object.keys(now), ...Object.keys(typed ?? {})])];
  const told = names.filter((name) => !NOT_SHOWN.has(name) && (!isSame(known?.[name], now[name]) || typed?.[name] !== undefined));
  const shown = (inner) => el("td", {}, inner === undefined ? el("span", { class: "soft" }, "–") : value(inner));
  const columns = ["When you read it", "There now", ...(typed === null ? [] : ["You typed"])];
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
    el("caption", {}, "What differs"),
    el("thead", {}, el("tr", {}, ["Field", ...columns].map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, told.map(row)),
  );
  return { tag: done.tag, table: el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "What differs" }, told.length === 0 ? "No field that is shown differs." : table) };
}
