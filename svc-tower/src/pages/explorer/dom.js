// Nodes, made without markup: every text becomes a text node, so nothing that a server sends can run.

/** A node with attributes, listeners (`onclick`) and children; what is null or undefined is left out. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return node;
}

/** Puts other children into a node. */
export function fill(node, ...children) {
  node.replaceChildren(...children.flat().filter((child) => child !== undefined && child !== null));
  return node;
}

/** Prose in which pairs of backticks mark code. */
export function prose(text) {
  return text.split(/`([^`]*)`/).map((part, at) => (at % 2 === 1 ? el("code", {}, part) : part));
}

let made = 0;

/** An id that no other node has. */
export function newId() {
  made += 1;
  return `n${made}`;
}
