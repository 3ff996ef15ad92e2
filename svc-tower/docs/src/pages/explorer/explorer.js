// The explorer: reads and shows a resource, follows its links, and offers the writes that the server declares.

import { readRoutes } from "./declared.js";
import { el, fill } from "./dom.js";
import { showNone, showRead } from "./exchange.js";
import { columns, during, later, place, say, unreachable } from "./frame.js";
import { begin, reload } from "./go.js";
import { send } from "./http.js";
import { noted, whenNoted } from "./journal.js";
import { auth, keyForm } from "./key.js";
import { showCrumbs, showHelper, showNothing, showResource } from "./resource.js";
import { base, docs, isOurs, routeOf } from "./server.js";

/** Returns the folded list of all exchanges. The first opening loads its content. */
function journal() {
  const count = el("span", {}, "0");
  const node = el("details", { class: "journal" }, el("summary", {}, "Exchanges of this tab (", count, ")"));
  whenNoted(() => { count.textContent = String(noted().length); });
  node.addEventListener("toggle", () => node.append(later(async () => (await import("./exchanges.js")).exchanges())), { once: true });
  return node;
}

function show() {
  const skip = (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  };
  fill(
    document.body,
    el("a", { class: "skip", href: "#main", onclick: skip }, "Skip to the content"),
    el("header", {}, el("strong", {}, "Explorer"), el("a", { href: docs }, "Documentation"), keyForm(() => reload())),
    el("nav", { "aria-label": "Breadcrumbs" }, place.crumbs),
    el("main", { id: "main", tabindex: "-1" }, place.said, columns, place.map, journal()),
  );
}

let turn = 0;

/** Reads an address and shows it; `after` is the write that changed it. */
async function read(address, after) {
  turn += 1;
  const mine = turn;
  fill(place.sample);
  showCrumbs(address);
  if (!isOurs(address)) {
    showNothing(address);
    showNone();
    say(`This is not an address of the API: ${address}`);
    return;
  }
  if (after === null) say("Reading …");
  const route = routeOf(address);
  if (route && !route.item.get) {
    say("");
    showNone();
    showHelper(address, route);
    return;
  }
  try {
    const done = await send({ method: "GET", address }, auth());
    if (mine !== turn) return;
    if (after === null) say(`GET returned ${done.status}.`);
    showRead(done);
    showResource(done, address);
  } catch (error) {
    if (mine !== turn) return;
    // The previous resource has another address.
    if (after === null) {
      showNothing(address);
      showNone();
    }
    say(unreachable(error));
  }
}

async function start() {
  if (new URL(base).origin !== location.origin) {
    say(`This explorer only works at ${base}. Open it at that address.`);
    return;
  }
  try {
    await readRoutes();
  } catch (error) {
    say(`The declaration of the server cannot be read: ${error.message}`);
    return;
  }
  begin(read);
}

show();
during(start);
