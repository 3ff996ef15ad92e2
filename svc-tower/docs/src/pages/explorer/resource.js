// A resource: its fields, its links, what it embeds, and the writes that the server declares for it.

import { describe } from "./declared.js";
import { el, fill, plain } from "./dom.js";
import { during, later, place, present } from "./frame.js";
import { go } from "./go.js";
import { send } from "./http.js";
import { auth } from "./key.js";
import { problemsOf, refusal, told } from "./problems.js";
import { base, hashOf, isOurs, nameOf, pageOfRelation, plainPath, request, routeOf } from "./server.js";
import { pairOf, properties, title } from "./values.js";

/** Links that are offered in another form, or have no new target. */
const NOT_OFFERED = new Set(["self", "first", "previous", "prev", "next", "last", "docs"]);

export function showCrumbs(address) {
  const isHere = isOurs(address);
  const parts = isHere ? plainPath(address).split("/").filter((part) => part !== "") : [];
  const links = [["Entry point", base], ...parts.map((part, at) => [part, base + parts.slice(0, at + 1).join("/")])];
  fill(place.crumbs, links.map(([name, target], at) => {
    const current = isHere && at === links.length - 1 ? "page" : undefined;
    return el("li", {}, el("a", { href: hashOf(target), "aria-current": current }, name));
  }));
}

/** Returns the heading of the resource, which gets the focus. */
function heading(text, address) {
  document.title = `${plain(text)} – Explorer`;
  const head = el("h1", { tabindex: "-1" }, text);
  queueMicrotask(() => head.focus({ preventScroll: true }));
  return [head, el("p", { class: "soft" }, el("code", {}, address))];
}

/** Shows a helper, which cannot be read: only its writes. */
export function showHelper(address, route) {
  present(heading(nameOf(address), address), actions([{ address, route }], { json: null }));
}

/** Shows a heading if nothing was read. */
export function showNothing(address) {
  present(heading("Nothing to show", address));
}

/** Shows that a record was deleted. */
function showGone(done, name, address) {
  const collection = base + plainPath(address).split("/").slice(0, -1).join("/");
  const back = routeOf(collection)?.item.get ? el("p", {}, el("a", { href: hashOf(collection) }, `Go to ${nameOf(collection)}`)) : null;
  const notice = done.json?.notice;
  present(
    heading(`Deleted: ${name}`, address),
    el("p", { class: "good" }, `Done: ${done.status}. ${notice ?? "The record is gone."}`),
    back,
  );
}

export function showResource(done, address) {
  const json = done.json;
  const name = json && done.status === 200 && json._links && address !== base && (!json._embedded || pairOf(json)) ? title(json) : nameOf(address);
  if (done.status !== 200 || json === null || typeof json !== "object") {
    const problems = problemsOf(done);
    const head = heading(name, address);
    // After the heading: an error in the query then gets the focus.
    present(head, el("p", { class: "bad" }, refusal(done)), query(address, problems));
    return;
  }
  const links = linksOf(json);
  // One helper may have two relations.
  const addresses = [...new Set(links.map(([, link]) => link.href))];
  const helpers = addresses.map((address) => ({ address, route: routeOf(address) })).filter(({ route }) => route && !route.item.get);
  const self = json._links?.self?.href;
  const here = { address: (isOurs(self) ? self : address).split("?")[0], route: routeOf(address) };
  const seen = { json, tag: done.tag, address: here.address, gone: (done) => showGone(done, name, here.address) };
  const shown = el("div", {}, parts(done, address));
  /** After a write, the new content replaces the old one; the rest of the page stays. */
  seen.renew = (again) => {
    if (again.status !== 200 || again.json === null) return;
    seen.json = again.json;
    seen.tag = again.tag;
    fill(shown, parts(again, address));
    if (!again.json._embedded) fill(place.map, map(again.json));
  };
  present(heading(name, address), actions([here, ...helpers], seen), shown);
  if (!json._embedded) fill(place.map, map(json));
}

/** Returns the links of a document to addresses of this API. */
const linksOf = (json) => Object.entries(json._links ?? {}).filter(([, link]) => !Array.isArray(link) && isOurs(link?.href));

function parts(done, address) {
  const { json } = done;
  const people = pairOf(json);
  const toRead = linksOf(json).filter(([rel, link]) => !NOT_OFFERED.has(rel) && routeOf(link.href)?.item.get);
  return [
    done.tag === null ? null : el("p", { class: "soft" }, "ETag ", el("code", { class: "tag" }, done.tag)),
    json._embedded ? query(address, []) : null,
    people === null && json._embedded ? later(async () => (await import("./table.js")).collection(done, address)) : properties(json),
    people === null ? null : later(async () => (await import("./merging.js")).pair(json, people)),
    linkButtons(toRead),
  ].flat(2).filter((node) => node !== null);
}

/** Returns a map of the targets of a record, or of the whole API for the entry point; drawn on demand. */
function map(json) {
  const drawing = el("div", {});
  const read = (address) => send({ method: "GET", address }, auth());
  const drawn = async () => {
    const { draw } = await import("./map.js");
    fill(drawing, await draw(json, json._links, read));
  };
  const begin = () => during(() => drawn().catch((error) => fill(drawing, `The map cannot be drawn: ${error.message}`)));
  const opened = ({ target }) => target.open && drawing.childElementCount === 0 && begin();
  return [el("h2", {}, "Map"), el("details", { class: "picture", ontoggle: opened }, el("summary", {}, "Show related records"), drawing)];
}

/** Returns the form for the query of a collection, if one is declared; otherwise a list of problems. */
const query = (address, problems) => later(async () => {
  const route = routeOf(address);
  await describe(route);
  const declared = route?.query() ?? [];
  if (declared.length > 0) return (await import("./query.js")).queryForm(declared, address, problems);
  return { node: problems.length > 0 ? told(problems) : null };
});

function linkButtons(links) {
  if (links.length === 0) return null;
  const page = (rel) => {
    const href = pageOfRelation(rel);
    return href === null ? null : el("a", { href, class: "about", "aria-label": `About ${rel}` }, "?");
  };
  const button = (rel, link) => el("button", { type: "button", title: link.title, onclick: () => go(link.href) }, rel);
  return [el("h2", {}, "Links"), el("ul", { class: "links" }, links.map(([rel, link]) => el("li", {}, button(rel, link), page(rel))))];
}

/** Returns a button for each write that the server declares for these addresses; it opens the form. `seen` has the content. */
function actions(places, seen) {
  const all = places.flatMap(({ address, route }) =>
    ["post", "put", "delete"].filter((method) => route?.item[method]).map((method) => ({ address, route, method: method.toUpperCase(), about: route.item[method] })));
  if (all.length === 0) return null;
  const panel = el("div", { class: "panel" });
  const open = (action, opener) => during(async () => (await import("./written.js")).openWrite(action, panel, seen, opener));
  const button = (action) => el("button", { type: "button", class: action.method.toLowerCase(), onclick: (event) => open(action, event.currentTarget) }, request(action.about));
  if (all.length === 1 && seen.json === null) queueMicrotask(() => open(all[0]));
  return [el("h2", {}, "Actions"), el("div", { class: "actions" }, all.map(button)), panel];
}
