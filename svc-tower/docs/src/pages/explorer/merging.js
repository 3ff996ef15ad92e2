// Two people next to each other: what a merge would change, the merge, and its undo.

import { describe } from "./declared.js";
import { el, fill, newId } from "./dom.js";
import { outcome, showWrite } from "./exchange.js";
import { during, say, unreachable } from "./frame.js";
import { Guards } from "./guards.js";
import { send } from "./http.js";
import { isSame, toJson } from "./json.js";
import { auth } from "./key.js";
import { problemsOf, refusal, told } from "./problems.js";
import { extension, hashOf, isOurs, relation, routeOf } from "./server.js";
import { title, value } from "./values.js";

const NOT_SHOWN = new Set(["_links", "_embedded"]);

/** The values of `consent`, and what they mean. */
const CONSENTS = { each: "Each address gets the stricter of its two statuses", strictest: "If one address is unsubscribed, all are" };

/** The members of the body of a merge form that the comparison takes over. */
const TAKEN = new Set(["person", "consent"]);

const selfOf = (record) => record?._links?.self?.href;

/** Returns the place of a link of an extension, or of the same link in a part of a response. */
const hrefOf = (links, name) => links?.[extension(name)]?.href;

/** Returns the details of a response, which an extension adds to a person. */
const detailsOf = (done, name) => done?.json?.[extension(name)];

/** Returns the first member of a path such as `email_addresses[0].status`. */
const fieldOf = (property) => String(property).split(/[.[]/)[0];

const open = (record) => (isOurs(selfOf(record)) ? el("a", { href: hashOf(selfOf(record)) }, `Open ${title(record)}`) : null);

const shown = (inner) => (inner === undefined || inner === null ? el("span", { class: "soft" }, "–") : value(inner));

/** Returns a table in a region that can be scrolled with the keyboard. */
function table(name, heads, rows) {
  if (rows.length === 0) return null;
  const row = ([head, ...cells]) => el("tr", {}, el("th", { scope: "row" }, head), cells.map((cell) => el("td", {}, cell)));
  const node = el(
    "table",
    { class: "conflict" },
    el("caption", {}, name),
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, rows.map(row)),
  );
  return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": name }, node);
}

/** Returns the records that move and those that are folded, as a list; null if there are none. */
function records({ moved = {}, folded = [] }, movedTo) {
  const counts = Object.entries(moved).map(([many, count]) => `${count} ${many.replaceAll("_", " ")}`);
  const link = (pair, name) => {
    const href = hrefOf(pair._links, name);
    return isOurs(href) ? el("a", { href: hashOf(href) }, name) : name;
  };
  const pairs = folded.map((pair) => el("li", {}, `Folded: ${pair.kind} (`, link(pair, "remaining"), ", ", link(pair, "merged"), ")"));
  const items = [counts.length === 0 ? null : el("li", {}, `${movedTo}: ${counts.join(", ")}`), pairs].flat().filter((item) => item !== null);
  return items.length === 0 ? null : el("ul", {}, items);
}

/** Returns what a merge changes, from the details of its response. */
function changes(details) {
  const overruled = (details.overruled ?? []).map((it) => [it.property, shown(it.remaining), shown(it.merged)]);
  const tightened = (details.tightened ?? []).map((it) => [it.property, shown(it.from), shown(it.to)]);
  return [
    table("Overruled values", ["Property", "Stays", "Is lost"], overruled),
    table("Stricter values", ["Property", "Before", "After"], tightened),
    records(details, "Moved"),
  ];
}

/** The comparison of two people. */
class Comparison {
  /**
   * `addresses` are those of the remaining and of the merged person, and `more` has further members of the body. `pair` is the document of the
   * pair, `changed` is called with the address of the remaining person after each change, and `close` removes the view.
   */
  constructor(addresses, { more = {}, pair = null, changed = () => {}, close = null }) {
    this.addresses = addresses;
    this.more = more;
    this.pair = pair;
    this.changed = changed;
    this.close = close;
    this.isUnderWay = false;
    this.id = newId();
    this.said = el("div", { role: "status", tabindex: "-1" });
    this.wrong = el("div", { class: "errors", role: "alert", tabindex: "-1", hidden: true });
    this.content = el("div", {});
    this.node = el("section", { "aria-labelledby": this.id }, el("h2", { id: this.id }, "Both people"), this.said, this.wrong, this.content);
  }

  /** Runs work once: clicks during a request are ignored. */
  run(work) {
    if (this.isUnderWay) return;
    this.isUnderWay = true;
    during(async () => {
      try {
        fill(this.wrong).hidden = true;
        fill(this.said);
        await work();
      } catch (error) {
        say(unreachable(error));
      } finally {
        this.isUnderWay = false;
      }
    });
  }

  button(text, work) {
    return el("button", { type: "button", onclick: () => this.run(work) }, text);
  }

  fail(...nodes) {
    fill(this.wrong, ...nodes).hidden = false;
  }

  refuse(done) {
    const problems = problemsOf(done);
    this.fail(problems.length === 0 ? refusal(done) : told(problems));
  }

  /** Reads both people, and what the remaining one would be. Returns whether they can be merged. */
  async read(addresses = this.addresses, more = this.more) {
    // What is shown belongs to the former people and the former choice.
    const again = this.button("Read again", () => this.read(addresses, more));
    fill(this.content, el("div", { class: "actions" }, again, this.closing()));
    let both;
    try {
      both = await Promise.all(addresses.map((address) => send({ method: "GET", address }, auth())));
    } catch {
      this.fail("At least one of the two people cannot be read. It was merged into another person, or the server cannot be reached.");
      return false;
    }
    const missing = both.find((done) => done.status !== 200 || done.json === null);
    if (missing !== undefined) {
      this.refuse(missing);
      return false;
    }
    this.addresses = addresses;
    this.more = more;
    [this.remaining, this.merged] = both;
    this.helper = hrefOf(this.remaining.json._links, "merge_helper");
    this.protection = isOurs(this.helper) ? await this.guards(this.helper, this.remaining.tag) : null;
    return this.show(this.protection === null ? null : await this.post({ preview: true }));
  }

  /** Sends a merge, or a preview of it. Only a merge has a key with which it is executed once. */
  async post(more) {
    const tag = this.merged.tag === null ? {} : { merged_etag: this.merged.tag };
    const members = { _links: { [relation("person")]: { href: this.addresses[1] } }, ...this.more, ...tag, ...more };
    const body = toJson(members);
    const { "Idempotency-Key": key, ...state } = this.protection.headers;
    const guards = more.preview ? state : this.protection.for(body);
    return send({ method: "POST", address: this.helper, body, guards }, auth());
  }

  show(preview) {
    const isPossible = preview?.status === 200;
    if (preview !== null && !isPossible) this.refuse(preview);
    const [remaining, merged] = [this.remaining.json, this.merged.json];
    const result = isPossible ? preview.json : null;
    const details = detailsOf(preview, "merge") ?? {};
    const notes = new Map();
    for (const [list, note] of [[details.overruled, "a value is overruled"], [details.tightened, "stricter"]]) {
      for (const { property } of list ?? []) notes.set(fieldOf(property), new Set([...(notes.get(fieldOf(property)) ?? []), note]));
    }
    const names = [...new Set([remaining, merged].flatMap(Object.keys))].filter((name) => !NOT_SHOWN.has(name));
    const note = (name) => [
      isSame(remaining[name], merged[name]) ? "the same" : null,
      result !== null && !isSame(remaining[name], result[name]) ? "changes" : null,
      ...(notes.get(name) ?? []),
    ].filter((text) => text !== null).join(", ");
    const row = (name) => [name, shown(remaining[name]), shown(merged[name]), ...(result === null ? [] : [shown(result[name]), note(name)])];
    const heads = ["Field", "Remains", "Is merged", ...(result === null ? [] : ["After the merge", "Note"])];
    fill(
      this.content,
      el("p", {}, el("strong", {}, title(remaining)), " remains. ", el("strong", {}, title(merged)), " is merged into it. ", open(remaining), " ", open(merged)),
      this.helper === undefined ? el("p", {}, "This server does not merge people, or this key may not.") : this.consent(),
      table("Fields of both people", heads, names.map(row)),
      isPossible ? [el("h3", {}, "What the merge changes"), changes(details)] : null,
      el("div", { class: "actions" }, isPossible ? this.button("Merge", () => this.merge()) : null, this.swap(), this.dismissal(), this.closing()),
    );
    return isPossible;
  }

  /** Returns the choice of what is done with consent; each choice sends another preview. */
  consent() {
    const id = newId();
    const again = async () => {
      await this.read(this.addresses, { ...this.more, consent: select.value });
      this.content.querySelector("select")?.focus();
    };
    const options = Object.entries(CONSENTS).map(([name, text]) => el("option", { value: name, selected: name === this.more.consent }, text));
    const select = el("select", { id, onchange: () => this.run(again) }, options);
    return el("div", { class: "field" }, el("label", { for: id }, "Consent"), select);
  }

  swap() {
    return this.button("Exchange who remains", async () => {
      await this.read(this.addresses.toReversed());
      this.focus("Exchange who remains");
    });
  }

  closing() {
    return this.close === null ? null : el("button", { type: "button", onclick: this.close }, "Close");
  }

  /** Focuses a button again after the content was replaced. */
  focus(text) {
    [...this.content.querySelectorAll("button")].find((button) => button.textContent === text)?.focus();
  }

  /** Shows a message and further nodes, and focuses them: the pressed button may have been removed. */
  tell(message, ...nodes) {
    fill(this.said, el("p", { class: "good" }, message), ...nodes);
    this.said.focus();
  }

  async guards(address, tag) {
    const route = routeOf(address);
    await describe(route);
    return new Guards({ method: "POST", about: route.item.post }, tag);
  }

  async merge() {
    const done = await this.post({});
    this.protection.answered(done.status);
    if (done.status === 412) {
      const isPossible = await this.read();
      if (isPossible) this.fail("One of the two people has been changed since you read them. Nothing was done: check the result again, and merge.");
      // Not on the button, so that a key that is still pressed does not merge.
      this.wrong.focus();
      return;
    }
    if (done.status !== 200) {
      showWrite(done, []);
      this.refuse(done);
      return;
    }
    showWrite(done, [this.addresses[0], selfOf(this.pair)]);
    this.merges(done);
    await this.changed(this.addresses[0]);
  }

  /** Shows a merge that was executed. */
  merges(done) {
    const details = detailsOf(done, "merge") ?? {};
    const undo = hrefOf(details._links, "undo_merge_helper");
    const until = details.undo_until;
    fill(
      this.content,
      isOurs(undo) ? el("p", {}, "The merge can be undone", until ? [" until ", el("time", { datetime: until }, until)] : null, ".") : null,
      changes(details),
      el("div", { class: "actions" }, isOurs(undo) ? this.button("Undo", () => this.undo(undo)) : null, this.closing()),
    );
    this.tell([outcome(done), `${title(this.merged.json)} is merged into ${title(done.json)}. `, open(done.json)]);
  }

  async undo(address) {
    // A later change of the person does not prevent the undo: it stays.
    const now = await send({ method: "GET", address: this.addresses[0] }, auth());
    const done = await send({ method: "POST", address, body: "{}", guards: (await this.guards(address, now.tag)).headers }, auth());
    if (done.status !== 200) {
      showWrite(done, []);
      this.refuse(done);
      return;
    }
    showWrite(done, [this.addresses[0], selfOf(this.pair)]);
    const details = detailsOf(done, "undone_merge") ?? {};
    const left = (details.left ?? []).join(", ");
    // An undo dismisses the pair.
    if (this.pair !== null) this.pair = { ...this.pair, dismissed: true };
    await this.read();
    const stays = left === "" ? null : ` Not restored, because it was changed after the merge: ${left}.`;
    this.tell([outcome(done), "Both people exist again.", stays], records(details, "Moved back"));
    await this.changed(this.addresses[0]);
  }

  /** Returns the button that dismisses the pair, or shows it again on the pages; null without a pair. */
  dismissal() {
    if (this.pair === null) return null;
    const { dismissed } = this.pair;
    return this.button(dismissed ? "They may be the same person" : "These are different people", async () => {
      const address = selfOf(this.pair);
      const done = await send({ method: "PUT", address, body: toJson({ dismissed: !dismissed }) }, auth());
      showWrite(done, [address]);
      if (done.status !== 200) {
        this.refuse(done);
        return;
      }
      this.pair = { ...this.pair, dismissed: !dismissed };
      await this.read();
      this.tell([outcome(done), dismissed ? "The pair is listed again." : "The pair is no longer listed."]);
    });
  }
}

/** Returns the view of the document of a pair. The older person remains, until the user exchanges them. */
export function pair(document, people) {
  const view = new Comparison(people.map(selfOf), { pair: document });
  return { node: view.node, shown: () => view.run(() => view.read()) };
}

/** Shows the people of a merge form, whose body is `body`, in its panel. */
export function compare(body, { remaining, panel, changed, close }) {
  const more = Object.fromEntries(Object.entries(body).filter(([name]) => TAKEN.has(name)));
  const other = body._links?.[relation("person")]?.href;
  if (!isOurs(other)) {
    say("Enter the URL of the other person first.");
    return;
  }
  const view = new Comparison([remaining, other], { more, changed, close });
  fill(panel, view.node);
  view.said.focus();
  view.run(() => view.read());
}
