// Requests: sent, measured, and noted.

import { parse } from "./json.js";
import { note } from "./journal.js";
import { isOurs } from "./server.js";

/** What is sent with a body: a mistake in it is an error, not passed over. */
const BODY_HEADERS = { "Content-Type": "application/json", Prefer: "handling=strict" };

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
 * `guards` are headers that guard a write, `key` is a header's name and value, or null. No address of others gets any of it.
 */
export async function send({ method, address, body, guards = {} }, key) {
  if (!isOurs(address)) throw new Error(`this is no address of the interface: ${address}`);
  const request = { method, address, body, guards, keyHeader: key?.header, keyTurn: key?.turn };
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
