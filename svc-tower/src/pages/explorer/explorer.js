// The explorer: reads a resource, shows it, follows its links, and offers the writes that this server declares.

import { el, fill, newId, prose } from "./dom.js";
import { Forms, toJson } from "./form.js";
import { Guards, conflict } from "./guards.js";
import { LANGUAGES, send } from "./http.js";
import { queryForm } from "./query.js";
import { exchange, gist, isReplayed, properties, title } from "./view.js";

const { base, capabilities, docs, aboutKeys } = document.body.dataset;

/** The key, kept here and nowhere else. */
let key = "";
let header = "";
let routes = [];
let forms = null;

const place = {
  key: el("input", { id: "key", type: "password", autocomplete: "off", spellcheck: "false", placeholder: "none" }),
  crumbs: el("ol", {}),
  said: el("p", { class: "said", role: "status" }),
  resource: el("section", { "aria-label": "Resource" }),
  exchange: el("section", { class: "exchange", "aria-label": "Last exchange" }),
};
const columns = el("div", { class: "columns" }, place.resource, place.exchange);

/** Whether an address is one of this interface, also when its dots are resolved: no other is ever asked for. */
function isOurs(address) {
  if (typeof address !== "string" || !URL.canParse(address)) return false;
  const { href } = new URL(address);
  return href.startsWith(base) || `${href}/` === base;
}

const hashOf = (address) => `#/${address.slice(base.length)}`;
const addressOf = (hash) => base + hash.replace(/^#?\/?/, "");
const auth = () => (key === "" || header === "" ? null : { header, value: key });
const plainPath = (address) => address.slice(base.length).split("?")[0].replace(/\/$/, "");

/** What the server declares of an address: a path of its OpenAPI document. */
function routeOf(address) {
  const path = plainPath(address);
  return routes.find((route) => route.pattern.test(path));
}

function patternOf(template) {
  const path = template.replace(/^\//, "").replace(/\/$/, "");
  return new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+")}$`);
}

function show() {
  const keyForm = el(
    "form",
    { class: "key", onsubmit: (event) => { event.preventDefault(); key = place.key.value.trim(); load(addressOf(location.hash)); } },
    el("label", { for: "key" }, "API key"),
    place.key,
    el("button", { type: "submit" }, "Use key"),
  );
  fill(
    document.body,
    el("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); document.getElementById("main").focus(); } }, "Skip to the content"),
    el("header", {}, el("strong", {}, "Explorer"), el("a", { href: docs }, "Documentation"), keyForm),
    el("nav", { "aria-label": "Breadcrumbs" }, place.crumbs),
    el("main", { id: "main", tabindex: "-1" }, place.said, columns),
  );
}

let pending = 0;

/** Does what takes its time; until all of that is done, what is shown is marked as busy. */
async function during(work) {
  pending += 1;
  columns.setAttribute("aria-busy", "true");
  try {
    await work();
  } finally {
    pending -= 1;
    if (pending === 0) columns.removeAttribute("aria-busy");
  }
}

function crumbs(address) {
  const parts = plainPath(address).split("/").filter((part) => part !== "");
  const links = [["Entry point", base], ...parts.map((part, at) => [part, base + parts.slice(0, at + 1).join("/")])];
  fill(place.crumbs, links.map(([name, target], at) => {
    const current = at === links.length - 1 ? "page" : undefined;
    return el("li", {}, el("a", { href: hashOf(target), "aria-current": current }, name));
  }));
}

/** Goes to what a hash names, to its top; reads it anew when it is there already. */
function go(hash) {
  if (location.hash !== hash) history.pushState(null, "", hash);
  scrollTo(0, 0);
  load(addressOf(hash));
}

/** Links within the explorer begin at once, as its buttons do; with a key held they open elsewhere, as the browser does it. */
function followed(event) {
  const hash = event.target.closest("a")?.getAttribute("href") ?? "";
  if (!hash.startsWith("#/") || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(hash);
}

let turn = 0;

const load = (address) => during(() => read(address));

async function read(address) {
  turn += 1;
  const mine = turn;
  if (!isOurs(address)) {
    fill(place.resource);
    fill(place.exchange);
    place.said.textContent = `This is no address of the interface: ${address}`;
    return;
  }
  crumbs(address);
  place.said.textContent = "Reading …";
  const route = routeOf(address);
  if (route && !route.item.get) {
    // A helper has nothing to read: only what it does is shown.
    place.said.textContent = "";
    fill(place.exchange);
    fill(place.resource, heading(nameOf(address), address), actions([{ address, route }], null));
    document.title = `${nameOf(address)} – Explorer`;
    return;
  }
  try {
    const done = await send({ method: "GET", address }, auth());
    if (mine !== turn) return;
    answered(done);
    resource(done, address);
  } catch (error) {
    if (mine === turn) place.said.textContent = `The server cannot be reached: ${error.message}`;
  }
}

const nameOf = (address) => plainPath(address).split("/").at(-1) || "Entry point";

function heading(text, address) {
  const head = el("h1", { tabindex: "-1" }, text);
  queueMicrotask(() => head.focus({ preventScroll: true }));
  return [head, el("p", { class: "soft" }, el("code", {}, address))];
}

/** Shows an exchange, with copies of its request in each language. */
function answered(done) {
  place.said.textContent = `${done.request.method} was answered with ${done.status}.`;
  const out = el("pre", { tabindex: "0", hidden: true, "aria-label": "Copy of the request" });
  const copy = (name, write) => el("button", {
    type: "button",
    class: "small",
    onclick: () => during(async () => {
      out.textContent = write(done.request);
      out.hidden = false;
      try {
        await navigator.clipboard.writeText(out.textContent);
        place.said.textContent = `The request is copied as ${name}.`;
      } catch {
        place.said.textContent = "The browser keeps the clipboard closed: copy the text below.";
        getSelection().selectAllChildren(out);
      }
    }),
  }, `Copy as ${name}`);
  const copies = el("div", { class: "copies" }, Object.entries(LANGUAGES).map(([name, write]) => copy(name, write)), out);
  fill(place.exchange, el("h2", {}, "Exchange"), exchange(done, copies));
}

function resource(done, address) {
  const json = done.json;
  const name = json && done.status === 200 && json._links && address !== base && !json._embedded ? title(json) : nameOf(address);
  document.title = `${name} – Explorer`;
  if (done.status !== 200 || json === null || typeof json !== "object") {
    const problems = problemsOf(done);
    const head = heading(name, address);
    // Behind the heading: what is wrong with the query has the focus then.
    const query = queryForm(forms, routeOf(address)?.item.get, address, problems, (href) => go(hashOf(href)));
    fill(place.resource, head, el("p", { class: "bad" }, refusal(done)), query ?? told(problems));
    return;
  }
  const links = Object.entries(json._links ?? {}).filter(([rel]) => rel !== "curies");
  const single = links.filter(([, link]) => !Array.isArray(link) && isOurs(link.href));
  const toRead = single.filter(([rel, link]) => !["self", "next", "previous", "prev"].includes(rel) && routeOf(link.href)?.item.get);
  // One helper may have two relations.
  const addresses = [...new Set(single.map(([, link]) => link.href))];
  const helpers = addresses.map((address) => ({ address, route: routeOf(address) })).filter(({ route }) => route && !route.item.get);
  const here = { address: (json._links?.self?.href ?? address).split("?")[0], route: routeOf(address) };
  fill(
    place.resource,
    heading(name, address),
    done.tag === null ? null : el("p", { class: "soft" }, "ETag ", el("code", { class: "tag" }, done.tag)),
    queryForm(forms, here.route?.item.get, address, [], (href) => go(hashOf(href))),
    paging(json, links),
    embedded(json),
    json._embedded ? null : properties(json),
    linkButtons(toRead, json._links?.curies),
    actions([here, ...helpers], json),
    json._embedded ? null : map(json),
  );
}

/** A record among what it links to, or the whole of the entry point; drawn once it is wished for. */
function map(json) {
  const place = el("div", {});
  const read = (address) => send({ method: "GET", address }, auth());
  const drawn = async () => {
    const { draw } = await import("./map.js");
    fill(place, await draw(json, json._links, (address) => go(hashOf(address)), read));
  };
  const begin = () => during(() => drawn().catch((error) => fill(place, `The map cannot be drawn: ${error.message}`)));
  return [el("h2", {}, "Map"), el("details", { class: "picture", ontoggle: ({ target }) => target.open && place.childElementCount === 0 && begin() }, el("summary", {}, "Show what this leads to"), place)];
}

/** That a request was refused, and what can be done where that is up to the key. */
function refusal(done) {
  const said = `${done.status} ${done.reason}. `;
  const about = el("a", { href: aboutKeys }, "About keys");
  if (done.status === 401 && key === "") return [said, "This needs a key: enter one above. ", about];
  if (done.status === 401) return [said, "This key is not valid: it is mistyped, expired or revoked. Enter another one above. ", about];
  if (done.status === 403) return [said, "This key may not do this: enter one that may, or ask for the right. ", about];
  return [said];
}

/** Problems as a list. */
const told = (problems) =>
  el("ul", { class: "errors" }, problems.map((problem) => el("li", {}, el("strong", {}, problem.code), " ", prose(problem.description))));

function paging(json, links) {
  if (json._embedded === undefined) return null;
  const to = (rel, text) => {
    const href = links.find(([name]) => name === rel)?.[1].href;
    const is = isOurs(href);
    return el("button", { type: "button", disabled: !is, onclick: () => go(hashOf(href)) }, text);
  };
  const last = Math.max(json.total_pages, 1);
  const which = json.page > last ? `There is no page ${json.page}: the last one is ${last}` : `Page ${json.page} of ${last}`;
  const count = `${which}, ${json.total_records} in all`;
  return el("nav", { class: "paging", "aria-label": "Pages" }, to("previous", "Previous page"), el("span", {}, count), to("next", "Next page"));
}

function embedded(json) {
  const lists = Object.values(json._embedded ?? {}).map((list) => [list].flat());
  const card = (record) => {
    const href = record._links?.self?.href;
    const open = isOurs(href) ? el("a", { href: hashOf(href) }, title(record)) : title(record);
    return el("li", { class: "card" }, el("h3", {}, open), el("dl", {}, gist(record).map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text)))));
  };
  return lists.map((list) => (list.length === 0 ? el("p", { class: "soft" }, "There are none.") : el("ul", { class: "cards" }, list.map(card))));
}

function linkButtons(links, curies) {
  if (links.length === 0) return null;
  const page = (rel) => {
    const [prefix, name] = rel.split(":");
    const template = name && (curies ?? []).find((curie) => curie.name === prefix)?.href;
    const href = template?.replace("{rel}", name);
    return isOurs(href) ? el("a", { href, class: "about", "aria-label": `About ${rel}` }, "?") : null;
  };
  const button = (rel, link) => el("button", { type: "button", title: link.title, onclick: () => go(hashOf(link.href)) }, rel);
  const documents = links.filter(([rel]) => rel !== "docs");
  return [
    el("h2", {}, "Links"),
    el("ul", { class: "links" }, documents.map(([rel, link]) => el("li", {}, button(rel, link), page(rel)))),
  ];
}

/** A button for each write that the server declares of these addresses; it opens the form. */
function actions(places, json) {
  const all = places.flatMap(({ address, route }) =>
    ["post", "put", "delete"].filter((method) => route?.item[method]).map((method) => ({ address, method, about: route.item[method] })));
  if (all.length === 0) return null;
  const panel = el("div", { class: "panel" });
  const button = (action) => el("button", { type: "button", class: action.method, onclick: (event) => open(action, panel, json, event.currentTarget) }, request(action.about));
  if (all.length === 1 && json === null) queueMicrotask(() => open(all[0], panel, json));
  return [el("h2", {}, "Actions"), el("div", { class: "actions" }, all.map(button)), panel];
}

/** What an operation does, as a request: "Create a person" for "Creates a person.". */
const request = (about) => about.summary.replace(/\.$/, "").replace(/^(\w+)s /, "$1 ");

/** Opens the form of a write; `opener` is the button that it was opened by. */
function open(action, panel, json, opener) {
  const schema = action.about.requestBody?.content["application/json"].schema;
  const method = action.method.toUpperCase();
  const form = schema ? forms.make(schema, method === "PUT" ? json : undefined) : null;
  const guards = new Guards({ ...action, method });
  const wrong = el("div", { class: "errors", role: "alert", hidden: true });
  const beside = el("div", {});
  const sends = el("button", { type: "submit", class: action.method }, method === "DELETE" ? "Delete" : "Send");
  const say = (...nodes) => { fill(wrong, ...nodes).hidden = false; };
  /** Somebody changed the record meanwhile: what is there now is shown, and the next request is for that. */
  const compare = async () => {
    const found = await conflict(action.address, json, form && JSON.parse(toJson(form.changes())), auth());
    say("Somebody changed this record meanwhile, and nothing was done.", found === null ? " It cannot be read any more." : null);
    fill(beside, found?.table);
    if (found === null) return;
    guards.begin();
    sends.textContent = method === "DELETE" ? "Delete what is there now" : "Send again, to what is there now";
    sends.focus();
  };
  let isUnderWay = false;
  /** Sends the form, once: what is clicked while that is under way is passed over. */
  const submit = async () => {
    if (isUnderWay) return;
    isUnderWay = true;
    sends.setAttribute("aria-disabled", "true");
    const body = form ? toJson(method === "PUT" ? form.changes() : form.body()) : undefined;
    try {
      const done = await send({ method, address: action.address, body, guards: guards.headers }, auth());
      answered(done);
      guards.answered(done.status);
      const problems = problemsOf(done);
      const rest = form ? form.show(problems) : problems;
      fill(wrong, told(rest)).hidden = rest.length === 0;
      fill(beside);
      if (done.status < 400) finished(done, action, panel);
      else if (done.status === 412) await compare();
      else if (problems.length === 0) say(...refusal(done));
    } catch (error) {
      place.said.textContent = `The server cannot be reached: ${error.message}`;
    } finally {
      isUnderWay = false;
      sends.removeAttribute("aria-disabled");
    }
  };
  const close = () => {
    fill(panel);
    (opener ?? document.querySelector("main h1"))?.focus();
  };
  const id = newId();
  fill(panel, el(
    "form",
    { onsubmit: (event) => { event.preventDefault(); during(submit); }, "aria-labelledby": id, novalidate: true },
    el("h3", { id }, request(action.about)),
    el("p", { class: "soft" }, el("code", {}, `${method} ${action.address}`)),
    guards.node,
    form?.node,
    wrong,
    beside,
    sends,
    " ",
    el("button", { type: "button", onclick: close }, "Close"),
  ));
  panel.querySelector("input, select, textarea, button")?.focus();
}

/** What happens once a write succeeded: the record is offered, and what changed is read again. */
function finished(done, action, panel) {
  const made = done.json?._links?.self?.href;
  const link = isOurs(made) ? el("a", { href: hashOf(made) }, `Open ${title(done.json)}`) : null;
  const said = el("p", { class: "good", role: "status", tabindex: "-1" }, `Done${isReplayed(done) ? " before" : ""}: ${done.status}. `, link);
  fill(panel, said);
  // The button that was pressed is gone.
  said.focus();
  if (action.method === "put") go(hashOf(action.address));
}

/** Everything that is wrong with a request, in any of the forms of the error object. */
function problemsOf(done) {
  const error = Object.entries(done.json ?? {}).find(([name]) => name.endsWith(":error"))?.[1];
  const entries = done.status < 400 ? [] : [error?.resource_status ?? []].flat();
  return entries.flatMap((entry) => entry.error_descriptions ?? entry.errors ?? []).map((problem) => ({
    code: problem.error_code ?? problem.code,
    description: problem.description,
    hint: problem.hint,
    properties: problem.properties ?? [],
  }));
}

async function start() {
  if (new URL(base).origin !== location.origin) {
    place.said.textContent = `This explorer reads what begins with ${base}. Open it under that address.`;
    return;
  }
  try {
    const declared = (await send({ method: "GET", address: capabilities }, null)).json;
    header = declared.dialect.key_header;
    const openapi = (await send({ method: "GET", address: declared.openapi }, null)).json;
    routes = Object.entries(openapi.paths).map(([path, item]) => ({ pattern: patternOf(path), item, ids: path.split("{").length }));
    // A path without ids counts before one with them.
    routes.sort((one, other) => one.ids - other.ids);
    forms = new Forms(openapi);
  } catch (error) {
    place.said.textContent = `What the server declares cannot be read: ${error.message}`;
    return;
  }
  addEventListener("hashchange", () => load(addressOf(location.hash)));
  addEventListener("click", followed);
  load(addressOf(location.hash));
}

show();
during(start);
