// Sends, measures and records requests.

import { parse } from "./json.js";
import { note } from "./journal.js";
import { isOurs } from "./server.js";

/** Headers with a body. With them, a misspelt member is an error and not ignored. */
const BODY_HEADERS = { "Content-Type": "application/json", Prefer: "handling=strict" };

/** Returns the headers of a request, without the key. */
export const headersOf = ({ body, guards = {} }) => ({ ...guards, ...(body === undefined ? {} : BODY_HEADERS) });

/** Returns the value of a JSON text; null if it is not JSON. */
function valueOf(text) {
  try {
    return text === "" ? null : parse(text);
  } catch {
    return null;
  }
}

/**
 * Sends a request and reads its response as text and, if it is JSON, as a value.
 * `guards` are headers that protect a write; `key` is a header's name and value, or null. Nothing is sent to other servers.
 */
export async function send({ method, address, body, guards = {} }, key) {
  if (!isOurs(address)) throw new Error(`this is not an address of the API: ${address}`);
  const request = { method, address, body, guards, keyHeader: key?.header, keyTurn: key?.turn };
  const headers = { Accept: "application/hal+json", ...headersOf(request) };
  if (key) headers[key.header] = key.value;
  const begun = performance.now();
  try {
    // The browser caches public responses and revalidates them; it caches nothing else.
    const cache = key ? "no-store" : "no-cache";
    const response = await fetch(address, { method, headers, body, cache, redirect: "error", credentials: "omit" });
    const text = await response.text();
    const milliseconds = performance.now() - begun;
    const tag = response.headers.get("ETag");
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
