// Creates nodes without markup: every text becomes a text node, so nothing that a server sends can run.

/** Characters that are invisible or reverse the text around them, except line breaks, tabs and joiners. */
export const UNSEEN = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

const named = (letter) => `U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Returns a text in which invisible characters are named. */
export const plain = (text) => String(text).replace(UNSEEN, (unit) => `[${named(unit)}]`);

/** Returns the children to append; in a text, invisible characters are named and marked. */
function nodes(children) {
  return children.flat(9).flatMap((child) => {
    if (child === undefined || child === null) return [];
    if (child instanceof Node) return [child];
    const text = String(child);
    if (text.search(UNSEEN) < 0) return [text];
    const parts = text.split(new RegExp(`(${UNSEEN.source})`, "u"));
    return parts.map((part, at) => (at % 2 === 1 ? el("span", { class: "unseen" }, named(part)) : part));
  });
}

/** Attributes that people read. */
const READ = new Set(["aria-label", "placeholder", "title"]);

/** Creates a node with attributes, listeners (`onclick`) and children; null and undefined are left out. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : READ.has(name) ? plain(value) : String(value));
  }
  // An option can only contain text.
  if (tag === "option") node.append(...children.map(plain));
  else node.append(...nodes(children));
  return node;
}

/** Replaces the children of a node. */
export function fill(node, ...children) {
  node.replaceChildren(...nodes(children));
  return node;
}

/** Returns prose in which pairs of backticks mark code. */
export function prose(text) {
  return String(text).split(/`([^`]*)`/).map((part, at) => (at % 2 === 1 ? el("code", {}, part) : part));
}

let made = 0;

/** Returns an id that no other node has. */
export function newId() {
  made += 1;
  return `n${made}`;
}
