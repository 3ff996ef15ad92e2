// The common part of the exported programs: numbered steps, and texts that cannot end a comment or a string.

import { plain } from "./dom.js";
import { server } from "./server.js";

/** Returns a text in one line, without invisible characters. */
const oneLine = (text) => plain(text).replace(/\s+/g, " ");

/** Returns the source of an address as a text. */
function told(step, numberOf) {
  const { place, query } = step.source;
  const of = (other) => (numberOf(other) === 0 ? "" : ` of ${numberOf(other)}`);
  const relation = (path) => path.filter((name) => name !== "_links" && name !== "href").join(" ");
  const from = place.isBase ? "the entry point"
    : place.fixed !== undefined ? `${place.fixed} (no earlier response contains this address, so it is fixed)`
    : place.list === undefined ? `${relation(place.path)}${of(place.step)}`
    : `${relation(place.path)} of one of ${place.list}${of(place.step)}`;
  return oneLine(`${step.done.request.method} ${from} ${query}`.trim());
}

/**
 * Returns the steps as a program executes them. An address is `{ step, path }`, that of an item is `{ step, list, pick, path }`, any
 * other is `{ fixed }`, each with a `query`; `step` is a number.
 */
export function programOf(steps) {
  const numberOf = (step) => steps.indexOf(step);
  const address = ({ place, query }) => ({ ...place, step: place.step && numberOf(place.step), query });
  return {
    keyHeader: server.header,
    needsKey: steps.some(({ hasKey }) => hasKey),
    keys: new Set(steps.filter(({ hasKey }) => hasKey).map(({ done }) => done.request.keyTurn)).size,
    steps: steps.map((step, number) => ({
      number,
      told: told(step, numberOf),
      method: step.done.request.method,
      status: step.done.status,
      address: address(step.source),
      body: step.body?.map((part) => (typeof part === "string" ? part : { address: address(part.source), isId: part.isId === true })),
      tag: step.tag && (step.tag.step === undefined ? { text: step.tag.text } : { step: numberOf(step.tag.step) }),
      repeat: step.repeat,
      hasKey: step.hasKey,
      codes: step.codes,
    })),
    records: steps.flatMap((step) => step.records.map(({ rel, source }) => ({ rel, address: address(source) }))),
  };
}

/** Returns the head of a program; it contains no address. */
export const about = (program, mark = "") => [
  "Requests recorded in the explorer.",
  `${mark}SVC_BASE${mark} is the URL of the entry point${program.needsKey ? `, ${mark}SVC_KEY${mark} an API key` : ""}.`,
  ...(program.keys > 1 ? [`${program.keys} keys were used in the explorer; the program uses one.`] : []),
];

/** Returns a text in which invisible characters, and those that reverse text, are written by `escape`. */
export const visible = (text, escape) => text.replace(/[\u007f-\u{10ffff}]/gu, (letter) =>
  (plain(letter) === letter && !/[\u200c\u200d]/.test(letter) ? letter : escape(letter)));

const hex = (number, digits) => number.toString(16).padStart(digits, "0");

/** Returns a text as a string of JavaScript. */
export const quoted = (text) => visible(JSON.stringify(text), (letter) => letter.split("").map((half) => `\\u${hex(half.charCodeAt(0), 4)}`).join(""));

/** Returns a text as a string of Python. */
export const quotedForPython = (text) => visible(JSON.stringify(text), (letter) => `\\U${hex(letter.codePointAt(0), 8)}`);

/**
 * Returns addresses, ids and bodies as expressions of a language in which `+` joins texts. `base` is the expression for the entry
 * point, `quote` writes a text, `read` writes the value at a path of a response.
 */
export function expressions({ base, quote, read }) {
  const word = ({ isBase, fixed, query, ...place }) => {
    const rest = query === "" ? "" : ` + ${quote(query)}`;
    if (isBase) return `${base}${rest}`;
    return fixed === undefined ? `${read(place)}${rest}` : `${base} + ${quote(fixed + query)}`;
  };
  const idOf = (address) => `id(${word(address)})`;
  const piece = (part) => (typeof part === "string" ? quote(part) : part.isId ? idOf(part.address) : word(part.address));
  return { word, idOf, bodyOf: (body) => body.filter((part) => part !== "").map(piece).join(" + ") };
}
