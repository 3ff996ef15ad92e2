// The results of the parts of a helper call, and which failed parts can be sent again. Recorded parts are never sent again.

import { describe, readCapabilities } from "./declared.js";
import { el, fill, newId } from "./dom.js";
import { outcome, showWrite } from "./exchange.js";
import { during, place, say, unreachable } from "./frame.js";
import { forms } from "./form.js";
import { here } from "./go.js";
import { send } from "./http.js";
import { isObject, parse } from "./json.js";
import { noted } from "./journal.js";
import { auth } from "./key.js";
import { described, errorOf, told } from "./problems.js";
import { hashOf, isOurs, relation, routeOf, server } from "./server.js";
import { title } from "./values.js";
import { open } from "./write.js";

const selfOf = (record) => record?._links?.self?.href;
const kindOf = (rel) => String(rel).split(":").at(-1);
const words = (rel) => kindOf(rel).replaceAll("_", " ");
const begun = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const quoted = (values) => values.flatMap((value, at) => [at > 0 ? ", " : null, el("code", {}, value)]);

/** Returns a link to a record of a response; null if there is none. */
function opens(record) {
  const href = selfOf(record);
  return isOurs(href) ? [" ", el("a", { href: hashOf(href) }, `Open ${title(record)}`)] : null;
}

/**
 * Returns whether the record of a response existed before the request: an earlier response contained it, or it was created before the request
 * was sent. The `Date` of the response has only whole seconds, and a server of another origin may hide it: then the clock of the browser counts.
 */
function existedBefore(record, done) {
  const address = selfOf(record);
  const isEarlier = (one) => one.request !== done.request && one.json !== null && one.text.includes(JSON.stringify(address));
  if (noted().some(isEarlier)) return true;
  const [, date] = done.headers.find(([name]) => name === "date") ?? [];
  const begun = (date ? Date.parse(date) : Date.now()) - done.milliseconds - 1000;
  return Date.parse(record.created_date) < begun;
}

/** Shows the response of a helper in a panel. */
export async function showSteps(done, action, panel) {
  const call = new Call(done, action, await readCapabilities());
  const isPart = done.status >= 400;
  const said = isPart
    ? el("p", { class: "bad", role: "status", tabindex: "-1" }, `Partly done: ${done.status}. The recorded parts are stored. Retry only the parts that failed.`)
    : el("p", { class: "good", role: "status", tabindex: "-1" }, outcome(done), done.json?.notice);
  const list = el("ol", { class: "steps" });
  const id = newId();
  fill(panel, said, el("section", { "aria-labelledby": id }, el("h3", { id }, "Result"), list));
  said.focus();
  showWrite(done, [here(), action.address, ...call.records.map(selfOf)]);
  fill(list, isPart ? await call.entries() : await call.whole());
  if (list.childElementCount === 0) fill(panel, said);
}

const step = (isGood, ...nodes) => el("li", { class: isGood ? "good-step" : "bad-step" }, ...nodes);

/** A call of a helper: the request and the response. */
class Call {
  constructor(done, action, { person_matching, action_functions }) {
    this.done = done;
    this.action = action;
    this.matching = person_matching ?? "";
    this.functions = action_functions ?? [];
    this.sent = done.request.body === undefined ? {} : parse(done.request.body);
    this.error = errorOf(done);
    this.statuses = this.error === null ? [] : [this.error.resource_status ?? []].flat();
    /** The records of the response, by their relations. */
    this.found = this.error === null ? {} : Object.fromEntries(Object.entries(done.json).filter(([, record]) => selfOf(record)));
    this.records = this.error === null ? [done.json ?? {}] : Object.values(this.found);
    this.records = this.records.filter((record) => isOurs(selfOf(record)));
    this.hasKey = done.request.keyHeader !== undefined;
  }

  /** Returns the address of the person of the call; undefined if the response does not contain it. */
  person() {
    const posted = selfOf(this.found[relation("person")]);
    const linked = this.records.map((record) => record._links[relation("person")]?.href).find(isOurs);
    // The container of a canvass is the person.
    const above = this.action.route.above(1);
    const container = above?.kind("get", "200") === "person" ? above.addressFrom(this.action.address) : undefined;
    return posted ?? linked ?? container;
  }

  /** Returns the steps of a call that succeeded completely. */
  async whole() {
    if (this.records.length === 0) {
      const isSilent = !this.hasKey && this.action.route.kind("post", "200") !== "";
      return isSilent ? [step(true, "Recorded. Without a key, the server returns no details.")] : [];
    }
    const [record] = this.records;
    const kind = this.action.route.kind("post", "200");
    if (kind === "person") return [this.signedUp(record), ...this.extras()];
    const name = begun(words(kind));
    const isEarlier = existedBefore(record, this.done);
    const what = isEarlier ? `${name} existed already, and has the data sent.` : `${name} recorded.`;
    return [await this.whose(record, isEarlier), step(true, what, opens(record)), ...this.extras()].filter((node) => node !== null);
  }

  /** Returns the step for the person of a signup, which has no action to compare it with. */
  signedUp(record) {
    const isNew = String(record.created_date) === String(record.modified_date);
    const what = isNew ? "Person recorded: unchanged since its creation." : "Person found, and updated with the data sent.";
    return step(true, what, opens(record), this.foundBy(record, !isNew));
  }

  /** Returns whether the person was created with the record, which must be new: both then have the same creation date. */
  async whose(record, isEarlier) {
    const address = this.person();
    if (address === undefined) return null;
    const done = await send({ method: "GET", address }, auth());
    if (done.status !== 200 || done.json === null) return step(true, "Person.", " ", el("a", { href: hashOf(address) }, "Open the person"));
    const since = String(done.json.created_date);
    const isNew = !isEarlier && since === String(record.created_date);
    const what = isNew ? "New person created (no match found)." : ["Person found: created ", el("time", { datetime: since }, since), "."];
    return step(true, what, opens(done.json), this.foundBy(done.json, !isNew && this.sent.person !== undefined));
  }

  /** Returns how a person was found: the matching values, and the method of the server. */
  foundBy(record, isFound) {
    const sent = this.sent.person ?? {};
    if (!isFound) return null;
    const isSent = (value) => [sent.identifiers ?? []].flat().includes(value);
    const emails = new Set([sent.email_addresses ?? []].flat().map((email) => String(email?.address).toLowerCase()));
    const alike = [
      ...[record.identifiers ?? []].flat().filter(isSent),
      ...[record.email_addresses ?? []].flat().map((email) => String(email?.address)).filter((address) => emails.has(address.toLowerCase())),
    ];
    return [
      alike.length > 0 ? el("p", { class: "hint" }, "Matching values: ", quoted(alike)) : null,
      this.matching === "" ? null : el("details", {}, el("summary", {}, "How this server finds people"), el("p", {}, this.matching)),
    ];
  }

  /** Returns the action functions of the call, by the names that the server declares. */
  extras() {
    return this.functions.filter((name) => this.sent[name] !== undefined).map((name) => {
      const all = [this.sent[name]].flat().filter((value) => typeof value === "string");
      return step(true, "Done: ", el("code", {}, name), all.length > 0 ? [": ", quoted(all)] : null);
    });
  }

  /** Returns the steps of a call of which a part failed, in the order of the server. */
  entries() {
    const placeOf = (entry, at) => this.statuses.slice(0, at).filter(({ resource }) => resource === entry.resource).length;
    return Promise.all(this.statuses.map((entry, at) => this.entry(entry, placeOf(entry, at))));
  }

  /** Returns the step for one part; `place` is its position among those of its kind. */
  async entry(entry, place) {
    const name = begun(words(entry.resource));
    const record = this.found[entry.resource];
    if (entry.response_code < 400) {
      const isPerson = kindOf(entry.resource) === "person";
      const isKnown = Number(entry.response_code) === 200;
      const what = isPerson ? (isKnown ? "found" : this.hasKey ? "created (no match found)" : "recorded") : isKnown ? "existed already" : "recorded";
      return step(true, `${name} ${what}: ${entry.response_code}.`, opens(record), isPerson && isKnown && record ? this.foundBy(record, true) : null);
    }
    const problems = described(entry);
    const element = this.element(entry, problems, place);
    const node = step(false, `${name} failed: ${entry.response_code}.`, element === undefined ? null : [" Sent: ", el("code", {}, shortly(element))], told(problems));
    node.append(...(await this.again(entry, problems, element, node)));
    return node;
  }

  /** Returns the value that was sent for a part, from the name of the property and its position; undefined if unknown. */
  element(entry, problems, place) {
    const [, name, index] = /^(\w+)(?:\[(\d+)\])?/.exec(problems[0]?.properties[0] ?? "") ?? [];
    if (!this.functions.includes(name)) return undefined;
    const all = [this.sent[name] ?? []].flat();
    if (index !== undefined) return all[index];
    const count = this.statuses.filter(({ resource }) => resource === entry.resource).length;
    return count === all.length ? all[place] : all.length === 1 ? all[0] : undefined;
  }

  /** Returns a button to retry one part, or the reason why there is none. */
  async again(entry, problems, element, node) {
    const none = (why) => [el("p", { class: "hint" }, why)];
    if (entry.response_code >= 500) return none("This server does not support this part, so it cannot be retried.");
    const person = this.person();
    if (!this.hasKey || person === undefined) return none("Without a key this part cannot be retried. A user with a key can add it to the person.");
    const route = await alone(kindOf(entry.resource));
    if (route === undefined) return none("This server does not support a request for this part only.");
    const panel = el("div", { class: "panel" });
    const begin = (event) => during(() => this.choose(route, { person, element, panel, node, opener: event.target }));
    return [el("button", { type: "button", onclick: begin }, "Retry only this"), panel];
  }

  /** Lets the user choose the record that contains the part, unless it is known from the request. */
  async choose(route, part) {
    const below = route.above(1);
    const groups = route.above(2);
    const isAddress = [part.element, part.element?.question].find((value) => isOurs(value) && routeOf(value) === below);
    const sibling = below && this.action.route.above(1) === below ? route.addressFrom(this.action.address) : undefined;
    try {
      if (sibling !== undefined) await this.form(route, sibling, part);
      else if (isAddress) await this.formBelow(route, isAddress, part);
      else if (below === undefined || below.ids === 0) await this.form(route, route.addressFrom(this.action.address), part);
      else await this.list(route, groups.addressFrom(this.action.address), part);
    } catch (error) {
      say(unreachable(error));
    }
  }

  /** Returns all records of a collection to choose from, one page at a time. */
  async list(route, address, part) {
    const id = newId();
    const select = el("select", { id }, el("option", { value: "" }, "–"));
    const wrong = el("p", { class: "bad", role: "alert", hidden: true });
    const more = el("button", { type: "button", class: "small", hidden: true, onclick: () => tried(() => add(more.value)) }, "Show more");
    const chosen = () => tried(async () => {
      if (select.value !== "") await this.formBelow(route, select.value, part);
    });
    const add = async (next) => {
      more.disabled = true;
      const done = await send({ method: "GET", address: next }, auth());
      const records = Object.values(done.json?._embedded ?? {}).flat();
      wrong.hidden = done.status === 200 && (records.length > 0 || select.options.length > 1);
      fill(wrong, done.status === 200 ? "No records yet." : `The records cannot be read: ${done.status}.`);
      for (const record of records) if (isOurs(selfOf(record))) select.append(el("option", { value: selfOf(record) }, title(record)));
      const follows = done.json?._links?.next?.href;
      more.hidden = !isOurs(follows);
      more.value = more.hidden ? "" : follows;
      more.disabled = false;
    };
    const pages = new URL(address);
    if (server.pageSize > 0) pages.searchParams.set("per_page", server.pageSize);
    await add(pages.href);
    const name = words(route.above(1).kind("get", "200"));
    const groups = routeOf(address);
    const created = (done) => this.formBelow(route, selfOf(done.json), part);
    const action = { method: "POST", address, route: groups, about: groups.item.post };
    const create = (event) => tried(() => open(action, part.panel, { json: null }, event.target, { then: created }));
    fill(
      part.panel,
      el("div", { class: "field" }, el("label", { for: id }, `Which ${name}`), select, el("button", { type: "button", class: "small", onclick: chosen }, "Choose"), more, wrong),
      groups.item.post ? el("button", { type: "button", class: "small", onclick: create }, `Create the ${name} first`) : null,
    );
    select.focus();
  }

  /** Opens the form for a new member of a record, at a link of the record. */
  async formBelow(route, address, part) {
    // In the meantime the user may choose another record.
    part.chosen = address;
    const done = await send({ method: "GET", address }, auth());
    if (part.chosen !== address) return;
    const links = Object.values(done.json?._links ?? {}).map((link) => link.href);
    const target = links.find((href) => isOurs(href) && routeOf(href) === route);
    if (target === undefined) say("That record has no link for this part.");
    else await this.form(route, target, part);
  }

  /** Returns the form of the part, filled with the person and the values that were sent. */
  form(route, address, { person, element, panel, node, opener }) {
    const isAction = element === undefined && this.action.route.kind("post", "200") === route.kind("post", "201");
    const rest = isAction ? this.ownFields() : isObject(element) ? element : {};
    const initial = { ...rest, _links: { ...rest._links, [relation("person")]: { href: person } } };
    const then = (done) => {
      fill(place.sample);
      showWrite(done, [here(), this.action.address, ...this.records.map(selfOf), selfOf(done.json)]);
      const said = el("p", { class: "good", role: "status", tabindex: "-1" }, outcome(done), opens(done.json));
      fill(panel, said);
      opener.remove();
      node.className = "good-step";
      said.focus();
    };
    return open({ method: "POST", address, route, about: route.item.post }, panel, { json: null }, opener, { initial, then });
  }

  /** Returns the fields of the action, without the person and the action functions. */
  ownFields() {
    return Object.fromEntries(Object.entries(this.sent).filter(([name]) => name !== "person" && !this.functions.includes(name)));
  }
}

/** Runs work, and shows a message if there is no response. */
const tried = (work) => during(() => work().catch((error) => say(unreachable(error))));

const shortly = (element) => (isObject(element) ? String(element.question ?? "an object") : String(element));

/** Returns where a record of a kind is created for a person: the shortest declared path. */
async function alone(kind) {
  const takesPerson = (route) => {
    const links = forms.plain(forms.plain(route.body("post")).properties?._links);
    return links.properties?.[relation("person")] !== undefined;
  };
  const all = server.routes.filter((route) => route.item.post && route.item.get && route.kind("post", "201") === kind);
  await Promise.all(all.map(describe));
  return all.filter(takesPerson).toSorted((one, other) => one.parts.length - other.parts.length)[0];
}
