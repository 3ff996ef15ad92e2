// The map: around a record the targets of its links, at the entry point the whole API. Loaded on demand.

import { each, total } from "./counting.js";
import { el } from "./dom.js";
import { later } from "./frame.js";
import { lead, neighbours } from "./neighbours.js";
import { badge, beautify, copy, picture } from "./picture.js";
import { isOurs } from "./server.js";

/** Returns a button that counts the records of collections, with one request for each. */
function counter(collections, read) {
  const said = el("span", { role: "status" });
  const count = async () => {
    let unknown = 0;
    button.setAttribute("aria-disabled", "true");
    said.textContent = " Counting …";
    try {
      await each(collections, async ({ node, href }) => {
        const number = await total(href, read);
        unknown += number === null ? 1 : 0;
        badge(node, number === null ? "?" : number.toLocaleString("en"));
      });
      said.textContent = unknown === 0 ? " Counted." : ` ${unknown} of ${collections.length} could not be counted: this needs a key with the right to list them.`;
    } catch (error) {
      said.textContent = ` The server cannot be reached: ${error.message}`;
    }
    button.removeAttribute("aria-disabled");
  };
  const button = el("button", { type: "button", onclick: () => button.hasAttribute("aria-disabled") || count() }, `Count the records (${collections.length === 1 ? "one request" : `${collections.length} requests`})`);
  return collections.length === 0 ? null : el("p", {}, button, said);
}

/** Returns the whole map: kinds with their own collection link to it. */
async function whole(links, read) {
  const svg = await copy();
  const collections = [];
  for (const node of svg.querySelectorAll("a")) {
    const href = links[node.dataset.rel]?.href;
    node.removeAttribute("href");
    if (!isOurs(href)) continue;
    lead(node, href);
    if (node.dataset.kind !== undefined) collections.push({ node, href });
  }
  const box = el("div", { class: "map-box", tabindex: "0", role: "region", "aria-label": "Map of the API" }, svg);
  const days = el("div", {});
  const show = () => days.replaceChildren(later(async () => ({ node: await (await import("./days.js")).byDay(svg, read) })));
  const more = el("p", {}, el("button", { type: "button", onclick: show }, "Records by day …"));
  return el("figure", { class: "map" }, box, counter(collections, read), more, days);
}

/**
 * Returns the map around a record as a node: `links` are its `_links`. For the entry point, which has a link to the
 * documentation, it is the whole map. `read` sends a GET with the key, and returns status and JSON.
 */
export async function draw(record, links, read) {
  beautify();
  if (links?.docs !== undefined) return whole(links, read);
  const { node, collections } = neighbours(record, links ?? {}, await picture());
  return el("figure", { class: "map" }, node, counter(collections, read));
}
