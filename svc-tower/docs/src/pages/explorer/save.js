// A file that the browser keeps.

import { el } from "./dom.js";

/** Saves texts, one behind the other, as a file of this name. */
export function save(parts, type, name) {
  const href = URL.createObjectURL(new Blob(parts, { type }));
  el("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
