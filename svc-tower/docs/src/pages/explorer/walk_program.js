// What the programs of a walk have in common: steps with numbers, and texts that cannot end a comment or a string.

import { plain } from "./dom.js";
import { server } from "./server.js";

/** A text in one line, in which everything is seen. */
const oneLine = (text) => plain(text).replace(/\s+/g, " ");

/** Where an address comes from, in words. */
function told(step, numberOf) {
  const { place, query } = step.source;
  const of = (other) => (numberOf(other) === 0 ? "" : ` of ${numberOf(other)}`);
  const relation = (path) => path.filter((name) => name !== "_links" && name !== "href").join(" ");
  const from = place.isBase ? "the entry point"
    : place.fixed !== undefined ? `${place.fixed} (no earlier answer leads there: this address is fixed)`
    : place.list === undefined ? `${relation(place.path)}${of(place.step)}`
    : `${relation(place.path)} of one of ${place.list}${of(place.step)}`;
  return oneLine(`${step.done.request.method} ${from} ${query}`.trim());
}

/**
 * Steps as a program does them. An address is `{ step, path }`, that of an item `{ step, list, pick, path }`, another one
 * `{ fixed }`, each with a `query`; `step` is a number.
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

/** What each program says of itself; no address is in it. */
export const about = (program, mark = "") => [
  "A walk that was recorded in the explorer.",
  `${mark}SVC_BASE${mark} is the address of the entry point${program.needsKey ? `, ${mark}SVC_KEY${mark} an API key` : ""}.`,
  ...(program.keys > 1 ? [`${program.keys} keys were used in it; the program uses one.`] : []),
];

/** Letters that are not seen, or turn the text around them, written by `escape`. */
export const visible = (text, escape) => text.replace(/[\u007f-\u{10ffff}]/gu, (letter) =>
  (plain(letter) === letter && !/[\u200c\u200d]/.test(letter) ? letter : escape(letter)));

const hex = (number, digits) => number.toString(16).padStart(digits, "0");

/** A text as a string of JavaScript. */
export const quoted = (text) => visible(JSON.stringify(text), (letter) => letter.split("").map((half) => `\\u${hex(half.charCodeAt(0), 4)}`).join(""));

/** A text as a string of Python. */
export const quotedForPython = (text) => visible(JSON.stringify(text), (letter) => `\\U${hex(letter.codePointAt(0), 8)}`);

/**
 * Addresses, ids and bodies as expressions of a language in which `+` joins texts: `base` is its word for the entry point, `quote`
 * writes a text, `read` what stands at a place of an answer.
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
