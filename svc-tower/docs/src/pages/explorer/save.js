// Saves a file from the browser.

import { el } from "./dom.js";

/** Saves texts, one after the other, as a file with this name. */
export function save(parts, type, name) {
  const href = URL.createObjectURL(new Blob(parts, { type }));
  el("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
