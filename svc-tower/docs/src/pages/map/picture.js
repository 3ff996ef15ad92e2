// The picture of the map that the server draws, and functions to change it.

import { UNSEEN, el } from "./dom.js";

const NAMESPACE = "http://www.w3.org/2000/svg";

/** Returns a node of a picture. */
export function shape(tag, attributes = {}, ...children) {
  const node = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) node.setAttribute(name, String(value));
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** Returns a text of a server as a label: short, and without characters that are invisible or reverse the text. */
export function label(text, most = 24) {
  const plain = String(text).replace(UNSEEN, "\uFFFD").replace(/\s+/g, " ");
  const letters = [...plain];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : plain;
}

async function load() {
  const answer = await fetch(new URL("./map.svg", import.meta.url), { credentials: "omit" });
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  return new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement;
}

let loaded = null;

/** Returns the map as the server draws it; requested once. */
export function picture() {
  if (loaded === null) {
    loaded = load();
    loaded.catch(() => { loaded = null; });
  }
  return loaded;
}

/** Returns a copy of it to show. */
export const copy = async () => document.importNode(await picture(), true);

/** Loads the styles of the map. */
export function beautify() {
  if (document.querySelector("link[data-of=map]")) return;
  document.head.append(el("link", { rel: "stylesheet", href: new URL("./map.css", import.meta.url).href, "data-of": "map" }));
}

/** Removes the badge of a node. */
function unbadge(node) {
  const old = node.querySelector(".count");
  old?.previousSibling.remove();
  old?.remove();
}

/** Adds a short text to the corner of a node; above it if the node is low. */
export function badge(node, text) {
  const rect = node.querySelector("rect");
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)));
  const [high, top] = height < 30 ? [16, y - 17] : [20, y - 11];
  const wide = 12 + 8 * text.length;
  unbadge(node);
  // The space separates it from the name for screen readers.
  node.append(
    " ",
    shape("g", { class: "count" },
      shape("rect", { x: x + width - wide + 6, y: top, width: wide, height: high, rx: high / 2 }),
      shape("text", { x: x + width - wide / 2 + 6, y: top + high / 2 + 4 }, text)),
  );
}
