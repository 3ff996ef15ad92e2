// The way through the interface: each place has its address in the hash, and is where it was when one comes back.

import { during, isBusy, settled } from "./frame.js";
import { addressOf, hashOf } from "./server.js";

let reader = null;
let current = 0;

/** Where the page was scrolled to in each entry of the history. */
const heights = new Map();

/** The address that is shown. */
export const here = () => addressOf(location.hash);

/** Reads what is shown anew. `after` is the write that changed it: its exchange stays beside it. */
export const reload = (after = null) => during(() => reader?.(here(), after));

/** Goes to an address, to its top; reads it anew when it is there already. */
export function go(address) {
  const hash = hashOf(address);
  if (location.hash !== hash) {
    // Scrolling is not noted while a part of the page loads.
    if (!isBusy() || !heights.has(current)) heights.set(current, scrollY);
    current += 1;
    history.pushState({ at: current }, "", hash);
  }
  scrollTo(0, 0);
  reload();
}

/** Links within the explorer begin at once, as its buttons do; with a key held they open elsewhere, as the browser does it. */
function followed(event) {
  const hash = event.target.closest?.("a")?.getAttribute("href") ?? "";
  if (!hash.startsWith("#/") || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(addressOf(hash));
}

/** Goes on in the history, or to an address that somebody wrote: as far down as it was. */
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

/** Begins; `read` shows what is at an address. */
export function begin(read) {
  reader = read;
  history.scrollRestoration = "manual";
  current = history.state?.at ?? 0;
  history.replaceState({ at: current }, "");
  // What is being replaced is no longer as high as what was read.
  addEventListener("scroll", () => { if (!isBusy()) heights.set(current, scrollY); }, { passive: true });
  addEventListener("hashchange", came);
  addEventListener("click", followed);
  return reload();
}
