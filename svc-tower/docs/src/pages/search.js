// The search over the documentation: names, fields, error codes and texts, in an index from the server.

import { el, fill } from "./dom.js";

const button = document.getElementById("search");
/** The maximum number of results. */
const MOST = 20;

const found = el("ol", { class: "found" });
const said = el("p", { role: "status" });
const words = el("input", { type: "search", "aria-label": "Search the documentation", autocomplete: "off", spellcheck: "false", oninput: () => show() });
const dialog = el(
  "dialog",
  { class: "search", "aria-label": "Search", onkeydown: (event) => step(event) },
  el("form", { onsubmit: (event) => first(event) }, words, el("button", { type: "button", onclick: () => dialog.close() }, "Close")),
  said,
  found,
);

let index = null;

/** Reads the index on first use; the browser revalidates a cached one. */
async function read() {
  const response = await fetch(button.dataset.index, { cache: "no-cache", redirect: "error", credentials: "omit" });
  if (!response.ok) throw new Error(String(response.status));
  const entries = await response.json();
  index = entries.map(([name, title, sort, summary, fields, text]) => ({
    name, title, sort, summary, fields, plain: `${title} ${summary} ${text}`.toLowerCase(),
  }));
}

async function open() {
  if (dialog.open) return;
  if (!dialog.isConnected) document.body.append(dialog);
  dialog.showModal();
  words.select();
  try {
    if (index === null) await read();
    show();
  } catch {
    said.textContent = "The search index cannot be loaded. Use the list of pages instead.";
  }
}

/** Returns how well a name matches the input: completely, at its start, at the start of a word, anywhere, or not at all. */
function fit(name, typed) {
  const at = name.toLowerCase().indexOf(typed);
  if (at < 0) return 0;
  if (name.length === typed.length) return 100;
  if (at === 0) return 60;
  return /[_:.]/.test(name[at - 1]) ? 45 : 25;
}

/** Returns the pages and fields that match all of the words, the best first. */
function search(text) {
  const typed = text.toLowerCase().trim().replaceAll(" ", "_");
  const each = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (each.length === 0) return [];
  const places = [];
  for (const entry of index) {
    const names = Math.max(fit(entry.name, typed), fit(entry.title, typed));
    const isText = each.every((word) => entry.plain.includes(word));
    if (names > 0 || isText) places.push({ entry, score: names + (isText ? 5 : 0) });
    for (const field of entry.fields) {
      const score = fit(field, typed) * 0.9;
      if (score > 0) places.push({ entry, field, score });
    }
  }
  return places.sort((one, other) => other.score - one.score);
}

function show() {
  if (index === null) return;
  const places = search(words.value);
  const more = places.length > MOST ? `, the best ${MOST} of ${places.length}` : "";
  const count = Math.min(places.length, MOST);
  said.textContent = words.value.trim() === "" ? "Search for names, fields, error codes, and words of the text." : `${count} found${more}`;
  fill(found, places.slice(0, MOST).map(result));
}

function result({ entry, field }) {
  const href = `${button.dataset.pages}${entry.name}${field === undefined ? "" : `#field-${field}`}`;
  const about = field === undefined ? `${entry.sort}. ${entry.summary.replaceAll("`", "")}` : `Field of ${entry.title}`;
  return el("li", {}, el("a", { href, onclick: () => dialog.close() }, el("strong", {}, field ?? entry.title), " ", el("span", {}, about)));
}

/** Enter opens the best result. */
function first(event) {
  event.preventDefault();
  found.querySelector("a")?.click();
}

/** The arrow keys move through the results; Escape closes the search instead of only clearing the field. */
function step(event) {
  if (event.key === "Escape") {
    event.preventDefault();
    dialog.close();
    return;
  }
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  const places = [words, ...found.querySelectorAll("a")];
  const at = places.indexOf(document.activeElement) + by;
  places[Math.min(Math.max(at, 0), places.length - 1)].focus();
}

const isTyping = (node) => Boolean(node.closest?.("input, textarea, select, [contenteditable]"));

addEventListener("keydown", (event) => {
  const isKey = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target);
  if (!isKey && !isSlash) return;
  event.preventDefault();
  open();
});
button.addEventListener("click", open);
button.hidden = false;
