// The requests of this tab as steps: each address comes from a link in an earlier response, so that a program can repeat them
// anywhere.

import { UNSEEN } from "./dom.js";
import { isObject, textOf, token } from "./json.js";
import { problemsOf } from "./problems.js";
import { base, isOurs, relation, routeOf } from "./server.js";

/** A shorter id may occur in a text by chance. */
const SHORTEST_ID = 8;

/** Ranks of sources of an address, the best first: created by a POST, visited, seen. */
const MADE = 0;
const VISITED = 1;
const SEEN = 2;

const isWrite = ({ request }) => request.method !== "GET";
const plainOf = (address) => address.split("?")[0];

/** Returns the last part of an address. */
const idOf = (address) => plainOf(address).replace(/\/$/, "").split("/").at(-1);

/** Returns the links of a document that have one address; a list of links has no stable order. */
const linksOf = (json) => Object.entries(isObject(json?._links) ? json._links : {}).filter(([, link]) => isOurs(link?.href) && link.templated !== true);

/** Returns the records in a response by their relations: the report of a helper that failed in part has them. */
const partsOf = (json) => Object.entries(json).filter(([name, part]) => name !== "_links" && name !== "_embedded" && isOurs(part?._links?.self?.href));

/** Returns how an item of a list is found again: by a unique identifier, preferably of another system; else by its position. */
function pickOf(item, at, list) {
  const all = (one) => [one?.identifiers ?? []].flat().filter((text) => typeof text === "string");
  const own = idOf(item._links.self.href);
  const alone = all(item).filter((text) => list.every((other) => other === item || !all(other).includes(text)));
  const identifier = alone.find((text) => !text.endsWith(own)) ?? alone[0];
  return identifier === undefined ? { place: at } : { identifier };
}

/** Yields each address in a response with its path, those at the top first. */
function* placesIn(step) {
  const { json } = step.done;
  if (!isObject(json)) return;
  const rankOf = (rel) => (rel === "self" && step.done.request.method === "POST" ? MADE : SEEN);
  for (const [rel, { href }] of linksOf(json)) yield { href, rank: rankOf(rel), place: { step, path: ["_links", rel, "href"] } };
  for (const [name, part] of partsOf(json)) {
    for (const [rel, { href }] of linksOf(part)) yield { href, rank: rankOf(rel), place: { step, path: [name, "_links", rel, "href"] } };
  }
  for (const [list, items] of Object.entries(isObject(json._embedded) ? json._embedded : {})) {
    for (const [at, item] of [items].flat().entries()) {
      if (!isOurs(item?._links?.self?.href)) continue;
      const pick = pickOf(item, at, [items].flat());
      for (const [rel, { href }] of linksOf(item)) yield { href, rank: SEEN, place: { step, list, pick, path: ["_links", rel, "href"] } };
    }
  }
}

/** Returns the steps of a tab, the entry point first. `exchanges` are in order; `entry` is the response of the entry point. */
export function stepsOf(exchanges, entry) {
  const places = new Map();
  const ids = new Map();
  const tags = new Map();
  const keys = new Map();
  /** Returns the source of an address: a response, with its own query, or none. */
  const sourceOf = (address) => {
    if (address === base || `${address}/` === base) return { place: { isBase: true }, query: "" };
    const [plain, query] = [plainOf(address), address.slice(plainOf(address).length)];
    for (const [known, rest] of [[address, ""], [plain, query]]) {
      if (places.has(known)) return { place: places.get(known).place, query: rest };
    }
    return { place: { fixed: plain.slice(base.length) }, query };
  };
  const learn = (step) => {
    const { done, source } = step;
    // An address that is visited again keeps its source.
    if (source.place.step && source.query === "" && places.get(done.request.address).rank > VISITED) places.set(done.request.address, { rank: VISITED, place: source.place });
    for (const { href, rank, place } of placesIn(step)) {
      const known = places.get(href);
      // Of addresses that were only seen, the last one counts: it is the one that people see before they continue.
      const isBetter = known === undefined || rank < known.rank || (rank === SEEN && known.rank === SEEN && known.place.step !== step);
      if (isBetter) places.set(href, { rank, place });
      const id = idOf(href);
      if (rank === MADE && id.length >= SHORTEST_ID && !ids.has(id)) ids.set(id, place);
    }
    if (done.tag === null) return;
    for (const address of [done.request.address, done.json?._links?.self?.href]) if (isOurs(address)) tags.set(`${plainOf(address)} ${done.tag}`, step);
  };
  const step = (done) => {
    const { address, body, guards, keyHeader } = done.request;
    const key = guards["Idempotency-Key"];
    if (key !== undefined && !keys.has(key)) keys.set(key, keys.size + 1);
    const tag = guards["If-Match"];
    const made = {
      done,
      source: sourceOf(address),
      body: body === undefined ? undefined : bodyOf(body, sourceOf, ids),
      tag: tag === undefined ? undefined : { step: tags.get(`${plainOf(address)} ${tag}`), text: tag },
      repeat: keys.get(key),
      hasKey: keyHeader !== undefined,
      codes: [...new Set(problemsOf(done).map(({ code }) => code))].filter((code) => code !== ""),
    };
    made.records = recordsOf(made);
    return made;
  };
  const first = step(entry);
  learn(first);
  const all = [first];
  for (const done of exchanges) {
    // The entry point is read once, and a request without a response is not a step.
    const isEntry = !isWrite(done) && sourceOf(done.request.address).place.isBase;
    if (isEntry || done.status === 0) continue;
    all.push(step(done));
    learn(all.at(-1));
  }
  return all;
}

/** Returns a body as texts, with addresses and ids of earlier responses between them. */
function bodyOf(text, sourceOf, ids) {
  const parts = [""];
  const add = (part) => {
    if (typeof part === "string" && typeof parts.at(-1) === "string") parts.push(parts.pop() + part);
    else parts.push(part);
  };
  const longestFirst = [...ids.keys()].sort((one, other) => other.length - one.length);
  const escapedId = (id) => id.replace(/[^\w]/g, "\\$&");
  const anyId = ids.size === 0 ? /(?!)/ : new RegExp(`(?<!\\w)(${longestFirst.map(escapedId).join("|")})(?!\\w)`);
  /** Returns a quoted text in which known ids are replaced if they are whole words. */
  const known = (inner) => inner.split(anyId).map((part, at) =>
    (at % 2 === 1 ? { source: { place: ids.get(part), query: "" }, isId: true } : JSON.stringify(part).slice(1, -1)));
  /** Returns whether a text is an address as the server writes it: JSON escapes nothing in it, and it begins exactly with the base. */
  const isAddress = (inner) => isOurs(inner) && inner.startsWith(base) && JSON.stringify(inner) === `"${inner}"`;
  const value = (at) => {
    const inner = textOf(text, at);
    if (isAddress(inner)) return ['"', { source: sourceOf(inner) }, '"'];
    const parts = known(inner);
    return parts.length === 1 ? [text.slice(at.start, at.end)] : ['"', ...parts, '"'];
  };
  let end = 0;
  try {
    for (let at = token(text, 0); at.kind !== ""; at = token(text, at.end)) {
      const isName = at.kind === "string" && token(text, at.end).kind === ":";
      add(text.slice(end, at.start));
      const pieces = at.kind === "string" && !isName ? value(at) : [text.slice(at.start, at.end)];
      pieces.forEach((part) => add(typeof part === "string" ? seen(part) : part));
      end = at.end;
    }
  } catch {
    // A body that is not JSON was sent unchanged.
    return [text];
  }
  return parts;
}

/** Returns JSON in which invisible characters, and those that reverse text, are escaped. */
const seen = (json) => json.replace(UNSEEN, (unit) => unit.split("").map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""));

/** Returns the records of a step, each with its relation and its source: its own, its parts, and those that its response links. */
function recordsOf(step) {
  const { json, request, status } = step.done;
  const kindOf = (address) => {
    const route = routeOf(address);
    return route?.parts.at(-1)?.startsWith("{") ? relation(route.kind("get", "200")) : undefined;
  };
  const records = [];
  const add = (rel, place, query = "") => rel !== undefined && records.push({ rel, source: { place, query } });
  if (isObject(json)) {
    const linked = (part, path) => {
      for (const [rel, { href }] of linksOf(part)) if (rel === kindOf(href)) add(rel, { step, path: [...path, "_links", rel, "href"] });
    };
    if (isOurs(json._links?.self?.href) && json._embedded === undefined) add(kindOf(json._links.self.href), { step, path: ["_links", "self", "href"] });
    if (isWrite(step.done)) linked(json, []);
    for (const [name, part] of isWrite(step.done) ? partsOf(json) : []) {
      add(kindOf(part._links.self.href), { step, path: [name, "_links", "self", "href"] });
      linked(part, [name]);
    }
  }
  if (records.length === 0 && request.method === "DELETE" && status < 400) add(kindOf(request.address), step.source.place);
  return records;
}

/** Returns the steps that a step needs: those whose responses it reads. */
export function neededBy(step) {
  const places = [step.source.place, ...(step.body ?? []).map((part) => part.source?.place)];
  return [...places.map((place) => place?.step), step.tag?.step].filter((one) => one !== undefined);
}

/** Returns the chosen steps with all that they need, in order, after the entry point. */
export function whole(steps, chosen) {
  const needed = new Set([steps[0], ...chosen]);
  for (const step of steps.toReversed()) if (needed.has(step)) neededBy(step).forEach((one) => needed.add(one));
  return steps.filter((step) => needed.has(step));
}
