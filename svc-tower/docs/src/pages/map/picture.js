// The picture that the server draws of its tables, and what is made of it.

import { UNSEEN, el } from "./dom.js";

const NAMESPACE = "http://www.w3.org/2000/svg";

/** A node of a picture. */
export function shape(tag, attributes = {}, ...children) {
  const node = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) node.setAttribute(name, String(value));
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** A text of a server for a label: short, and without letters that turn others around or are not seen. */
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

/** The map as the server draws it; asked for once. */
export function picture() {
  if (loaded === null) {
    loaded = load();
    loaded.catch(() => { loaded = null; });
  }
  return loaded;
}

/** A copy of it, to be shown. */
export const copy = async () => document.importNode(await picture(), true);

/** Sees that the looks of the map are there. */
export function beautify() {
  if (document.querySelector("link[data-of=map]")) return;
  document.head.append(el("link", { rel: "stylesheet", href: new URL("./map.css", import.meta.url).href, "data-of": "map" }));
}

/** Takes what was put onto a node. */
function unbadge(node) {
  const old = node.querySelector(".count");
  old?.previousSibling.remove();
  old?.remove();
}

/** Puts a short text onto the corner of a node; above it where it is low. */
export function badge(node, text) {
  const rect = node.querySelector("rect");
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)));
  const [high, top] = height < 30 ? [16, y - 17] : [20, y - 11];
  const wide = 12 + 8 * text.length;
  unbadge(node);
  // The space keeps it apart from the name, for those who hear both.
  node.append(
    " ",
    shape("g", { class: "count" },
      shape("rect", { x: x + width - wide + 6, y: top, width: wide, height: high, rx: high / 2 }),
      shape("text", { x: x + width - wide / 2 + 6, y: top + high / 2 + 4 }, text)),
  );
}
