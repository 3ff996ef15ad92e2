// Navigation: each resource has its address in the hash, and its scroll position when the user returns.

import { during, isBusy, settled } from "./frame.js";
import { addressOf, hashOf } from "./server.js";

let reader = null;
let current = 0;

/** The scroll position of each entry of the history. */
const heights = new Map();

/** The current address. */
export const here = () => addressOf(location.hash);

/** Reads the current resource again. `after` is the write that changed it: its exchange stays visible. */
export const reload = (after = null) => during(() => reader?.(here(), after));

/** Goes to the top of an address; reads it again if it is already shown. */
export function go(address) {
  const hash = hashOf(address);
  if (location.hash !== hash) {
    // The scroll position is not recorded while a part of the page loads.
    if (!isBusy() || !heights.has(current)) heights.set(current, scrollY);
    current += 1;
    history.pushState({ at: current }, "", hash);
  }
  scrollTo(0, 0);
  reload();
}

/** Links within the explorer work like its buttons; with a modifier key the browser opens them elsewhere. */
function followed(event) {
  const hash = event.target.closest?.("a")?.getAttribute("href") ?? "";
  if (!hash.startsWith("#/") || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(addressOf(hash));
}

/** Follows the history, or an address that the user entered, and restores the scroll position. */
async function came() {
  const at = history.state?.at;
  if (at === undefined) {
    current += 1;
    history.replaceState({ at: current }, "");
  } else {
    current = at;
  }
  const height = heights.get(current) ?? 0;
  await reload();
  await settled();
  scrollTo(0, height);
}

/** Starts the navigation; `read` shows an address. */
export function begin(read) {
  reader = read;
  history.scrollRestoration = "manual";
  current = history.state?.at ?? 0;
  history.replaceState({ at: current }, "");
  // While content is replaced, the page may be shorter.
  addEventListener("scroll", () => { if (!isBusy()) heights.set(current, scrollY); }, { passive: true });
  addEventListener("hashchange", came);
  addEventListener("click", followed);
  return reload();
}
