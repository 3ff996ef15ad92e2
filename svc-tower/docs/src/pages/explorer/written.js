// A write of the shown resource: its form, and what the page shows after the response.

import { el, fill } from "./dom.js";
import { outcome, showWrite } from "./exchange.js";
import { place } from "./frame.js";
import { here, reload } from "./go.js";
import { send } from "./http.js";
import { auth } from "./key.js";
import { extension, hashOf, isOurs } from "./server.js";
import { title } from "./values.js";
import { open } from "./write.js";

/** Opens the form of a write of the shown resource. */
export function openWrite(action, panel, seen, opener) {
  const isMerge = seen.json?._links?.[extension("merge_helper")]?.href === action.address;
  const also = isMerge ? { text: "Compare both people", run: (body, close) => compared(body, panel, seen, close) } : undefined;
  return open(action, panel, seen, opener, { then: finished, also });
}

/** Shows the shown person next to the person of a merge form. */
async function compared(body, panel, seen, close) {
  const { compare } = await import("./merging.js");
  const remaining = seen.address;
  // A person who was merged into the other one cannot be read.
  const changed = (address) => (address === remaining ? renew(seen) : undefined);
  fill(place.sample);
  compare(body, { remaining, panel, changed, close });
}

/** Shows the result of a completed write, and reads again what it has changed. */
async function finished(done, action, panel, seen) {
  fill(place.sample);
  const { method, address, route } = action;
  const made = done.json?._links?.self?.href;
  if (method === "PUT") {
    showWrite(done, [address, here()]);
    await reload(done);
  } else if (method === "DELETE" && route.item.get) {
    seen.gone(done);
  } else {
    showWrite(done, [address, here(), ...(isOurs(made) ? [made] : [])]);
    // A helper may create several records.
    if (method === "POST" && !route.item.get) {
      const { showSteps } = await import("./steps.js");
      await showSteps(done, action, panel);
    } else {
      const link = isOurs(made) ? el("a", { href: hashOf(made) }, `Open ${title(done.json)}`) : null;
      const said = el("p", { class: "good", role: "status", tabindex: "-1" }, outcome(done), done.json?.notice, link);
      fill(panel, said);
      // The pressed button has been removed, and the focus with it.
      said.focus();
    }
    await renew(seen);
  }
}

/** Reads the shown resource again, because its totals and lists may have changed. */
async function renew(seen) {
  if (seen.renew === undefined) return;
  const address = here();
  const again = await send({ method: "GET", address }, auth());
  if (here() === address) seen.renew(again);
}
