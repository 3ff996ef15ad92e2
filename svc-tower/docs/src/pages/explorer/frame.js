// The frame of the page: where things are shown, what is said, and whether something is under way.

import { el, fill } from "./dom.js";

export const place = {
  crumbs: el("ol", {}),
  said: el("p", { class: "said", role: "status" }),
  resource: el("section", { "aria-label": "Resource" }),
  sample: el("div", {}),
  exchange: el("section", { class: "exchange", "aria-label": "Last exchange" }),
  map: el("div", {}),
};

export const columns = el("div", { class: "columns" }, place.resource, el("div", { class: "side" }, place.sample, place.exchange));

/** Shows a resource in place of the one before; its map, where it has one, comes under it. */
export function present(...nodes) {
  fill(place.resource, ...nodes);
  fill(place.map);
}

/** Says something to everybody, also to those who do not see it. */
export function say(text) {
  place.said.textContent = text;
}

let pending = 0;

/** Does what takes its time; until all of that is done, what is shown is marked as busy. */
export async function during(work) {
  pending += 1;
  columns.setAttribute("aria-busy", "true");
  try {
    await work();
  } finally {
    pending -= 1;
    if (pending === 0) {
      columns.removeAttribute("aria-busy");
      for (const done of waiting.splice(0)) done();
    }
  }
}

const waiting = [];

/** Once nothing is under way. */
export const settled = () => new Promise((done) => (pending === 0 ? done() : waiting.push(done)));

/** What is made by a file of its own, which is loaded on its first use: its node, and what is done once that is on the page. */
export function later(load) {
  const holder = el("div", {});
  during(async () => {
    try {
      const { node, shown } = await load();
      fill(holder, node);
      shown?.();
    } catch (error) {
      fill(holder, el("p", { class: "bad" }, `A part of this page cannot be read: ${error.message}`));
    }
  });
  return holder;
}

export const isBusy = () => pending > 0;

/** What is said when no answer came. */
export const unreachable = (error) => `The server cannot be reached: ${error.message}`;
