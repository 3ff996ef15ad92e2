// The frame of the page: where things are shown, status messages, and whether work is in progress.

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

/** Shows a resource instead of the previous one; its map, if it has one, is below it. */
export function present(...nodes) {
  fill(place.resource, ...nodes);
  fill(place.map);
}

/** Shows a status message, which screen readers also read out. */
export function say(text) {
  place.said.textContent = text;
}

let pending = 0;

/** Runs work; until all work is done, the page is marked as busy. */
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

/** Resolves when no work is in progress. */
export const settled = () => new Promise((done) => (pending === 0 ? done() : waiting.push(done)));

/** Shows a node from a file that is loaded on first use; `shown` is called once the node is in the page. */
export function later(load) {
  const holder = el("div", {});
  during(async () => {
    try {
      const { node, shown } = await load();
      fill(holder, node);
      shown?.();
    } catch (error) {
      fill(holder, el("p", { class: "bad" }, `A part of this page cannot be loaded: ${error.message}`));
    }
  });
  return holder;
}

export const isBusy = () => pending > 0;

/** The message if there is no response. */
export const unreachable = (error) => `The server cannot be reached: ${error.message}`;
