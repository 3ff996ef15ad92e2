// A record between the targets of its links: single records to the left; collections, with the helpers that write into them, to
// the right. In a narrow window all of them are below the record.

import { el } from "./dom.js";
import { label, shape } from "./picture.js";
import { hashOf, isOurs } from "./server.js";
import { title } from "./values.js";

const HALF = 20;
const ROW = 54;
const SKIPPED = new Set(["self", "curies", "docs", "next", "previous", "prev"]);

/** Returns the name of a relation in words. */
const words = (rel) => label(rel.replace(/^[^:]*:/, "").replaceAll("_", " "), 26);

/** Links a node of the picture to an address of the API. */
export const lead = (node, href) => node.setAttribute("href", hashOf(href));

/** Returns the targets of the links, each once: two relations may have one target. */
function targets(links, picture) {
  const of = (name) => new Map([...picture.querySelectorAll(`a[data-${name}]`)].map((node) => [node.dataset.rel, node.dataset]));
  const [kinds, helpers] = [of("kind"), of("helper")];
  const found = new Map();
  for (const [rel, link] of Object.entries(links)) {
    if (SKIPPED.has(rel) || Array.isArray(link) || !isOurs(link?.href)) continue;
    const known = found.get(link.href);
    if (known === undefined) {
      found.set(link.href, { href: link.href, rels: [rel], detail: link.title, kind: kinds.get(rel)?.kind, writes: helpers.get(rel)?.writes });
    } else {
      known.rels.push(rel);
      known.kind ??= kinds.get(rel)?.kind;
      known.writes ??= helpers.get(rel)?.writes;
    }
  }
  return [...found.values()];
}

/** Returns the name of a target: of a record, all relations to it; of a collection or a helper, the first one. */
const name = ({ rels, kind, writes }) => (kind === undefined && writes === undefined ? rels : rels.slice(0, 1)).map(words).join(", ");

const curve = ([x, y], [toX, toY]) => `M${x} ${y}C${(x + toX) / 2} ${y} ${(x + toX) / 2} ${toY} ${toX} ${toY}`;

/** Returns the collections, each followed by the helpers that write into it; then the other helpers. */
function column(all) {
  const helpers = all.filter(({ writes }) => writes !== undefined);
  const collections = all.filter(({ kind }) => kind !== undefined);
  const into = (collection) => helpers.filter(({ writes }) => writes.split(" ")[0] === collection.kind);
  const placed = collections.flatMap((collection) => [collection, ...into(collection).map((helper) => ({ ...helper, into: collection }))]);
  const rest = helpers.filter((helper) => !placed.some(({ href }) => href === helper.href));
  return [...placed, ...rest];
}

/** Returns the picture, and its collections with their nodes. */
export function neighbours(record, links, picture) {
  const all = targets(links, picture);
  const single = all.filter(({ kind, writes }) => kind === undefined && writes === undefined);
  const many = column(all);
  const isNarrow = matchMedia("(max-width: 40rem)").matches;
  const [left, right] = isNarrow ? [[], [...single, ...many]] : [single, many];
  const rows = Math.max(left.length, right.length, 1);
  const height = isNarrow ? 72 + rows * ROW : rows * ROW + 16;
  const home = isNarrow ? { x: 130, y: 36, half: 120 } : { x: 380, y: height / 2, half: 115 };
  const level = (list, place) => (isNarrow ? 72 + (place + 0.5) * ROW : height / 2 + (place - (list.length - 1) / 2) * ROW);
  const lines = [];
  const nodes = [];
  const collections = [];
  const places = new Map();
  const node = (it, x, y) => {
    const isHelper = it.writes !== undefined;
    const [half, halfHeight] = isHelper ? [92, 12] : [105, HALF];
    const detail = isHelper || it.kind !== undefined || it.detail === undefined ? null : label(it.detail);
    const made = shape("a", { class: isHelper ? "helper" : "kind" },
      shape("rect", { x: x - half, y: y - halfHeight, width: 2 * half, height: 2 * halfHeight, rx: isHelper ? 12 : 8 }),
      shape("text", { x, y: detail === null ? y + 5 : y - 2 }, label(name(it), 26)),
      detail === null ? null : shape("text", { x, y: y + 13, class: "detail" }, detail));
    lead(made, it.href);
    nodes.push(made);
    places.set(it.href, { x, y });
    if (it.kind !== undefined) collections.push({ node: made, href: it.href });
    return { half, isHelper };
  };
  left.forEach((it, place) => {
    const y = level(left, place);
    const { half } = node(it, 115, y);
    lines.push(shape("path", { class: "line ref", d: curve([115 + half, y], [home.x - home.half, home.y]) }));
  });
  right.forEach((it, place) => {
    const [x, y] = [isNarrow ? 165 : 645, level(right, place)];
    const { half, isHelper } = node(it, x, y);
    const from = isNarrow ? `M30 ${home.y + 24}V${y - 12}Q30 ${y} 42 ${y}H${x - half}` : curve([home.x + home.half, home.y], [x - half, y]);
    const look = isHelper ? "call" : it.kind === undefined ? "line ref" : "line";
    lines.push(shape("path", { class: look, d: from }));
    // A helper is below the collection that it writes into.
    const to = isHelper && it.into !== undefined ? places.get(it.into.href) : undefined;
    if (to !== undefined && y - to.y < 1.5 * ROW) {
      lines.push(shape("path", { class: "call", d: `M${x} ${y - 12}V${to.y + HALF + 8}` }));
      lines.push(shape("path", { class: "head", d: `M${x} ${to.y + HALF}l-4 8h8Z` }));
    }
  });
  const called = label(title(record), 22);
  const self = shape("g", { class: "kind home" },
    shape("rect", { x: home.x - home.half, y: home.y - 24, width: 2 * home.half, height: 48, rx: 8 }),
    shape("text", { x: home.x, y: home.y + 5 }, called));
  // The area to the left of the record is left out if it is empty.
  const view = isNarrow ? "0 0 280" : left.length > 0 ? "0 0 760" : "255 0 505";
  const svg = shape("svg", { viewBox: `${view} ${height}`, class: isNarrow ? "near narrow" : "near", role: "group", "aria-label": `Around ${called}` },
    shape("g", { "aria-hidden": "true" }, ...lines), self, ...nodes);
  return { node: el("div", { class: "map-box" }, svg), collections };
}
