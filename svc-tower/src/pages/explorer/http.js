// Requests: sent, measured, and noted.

import { parse } from "./json.js";
import { note } from "./journal.js";

/** What is sent with a body: a mistake in it is an error, not passed over. */
const BODY_HEADERS = { "Content-Type": "application/json", Prefer: "handling=strict" };

/** The entity tag of what was read last from each address. */
const tags = new Map();

/** That of an address; undefined where none is known. */
export const tagOf = (address) => tags.get(address);

/** The headers of a request beside the one with the key. */
export const headersOf = ({ body, guards = {} }) => ({ ...guards, ...(body === undefined ? {} : BODY_HEADERS) });

/** The value of a text; null where it is no JSON: it is shown as it is then. */
function valueOf(text) {
  try {
    return text === "" ? null : parse(text);
  } catch {
    return null;
  }
}

/**
 * Sends a request and reads its answer as text and, where it is JSON, as a value.
 * `guards` are headers that guard a write, `key` is a header's name and value, or null.
 */
export async function send({ method, address, body, guards = {} }, key) {
  const request = { method, address, body, guards, keyHeader: key?.header };
  const headers = { Accept: "application/hal+json", ...headersOf(request) };
  if (key) headers[key.header] = key.value;
  const begun = performance.now();
  try {
    // What anybody may read is kept by the browser, and asked for by its tag; nothing else is.
    const cache = key ? "no-store" : "no-cache";
    const response = await fetch(address, { method, headers, body, cache, redirect: "error", credentials: "omit" });
    const text = await response.text();
    const milliseconds = performance.now() - begun;
    const tag = response.headers.get("ETag");
    if (response.ok && tag !== null) tags.set(response.headers.get("Content-Location") ?? address, tag);
    return note({
      request,
      status: response.status,
      reason: response.statusText,
      headers: [...response.headers.entries()],
      milliseconds,
      text,
      json: valueOf(text),
      tag,
    });
  } catch (error) {
    note({ request, status: 0, reason: error.message, headers: [], milliseconds: performance.now() - begun, text: "", json: null, tag: null });
    throw error;
  }
}
