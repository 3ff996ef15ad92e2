// JSON as received, with its own tokenizer, because numbers of JavaScript lose digits (10.50, 2^53 + 1).

/** A number as it was written. */
export class Digits {
  constructor(text) {
    this.text = text;
  }

  toString() {
    return this.text;
  }

  valueOf() {
    return Number(this.text);
  }
}

const BLANK = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const WORDS = { true: true, false: false, null: null };

/** More than anyone needs; deeper JSON is shown as text. */
const DEEPEST = 200;

/** Returns the end of a match of an expression at a position; -1 if there is none. */
function endOf(expression, text, at) {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : -1;
}

function endOfString(text, from) {
  for (let at = from + 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 92) at += 1;
    else if (unit === 34) return at + 1;
  }
  return -1;
}

/** Returns the next token: its kind (a bracket or mark is its own kind), start and end. At the end of the text the kind is empty. */
export function token(text, from) {
  const start = endOf(BLANK, text, from);
  const first = text.charAt(start);
  if (first === "" || "{}[],:".includes(first)) return { kind: first, start, end: start + 1 };
  const [kind, end] =
    first === '"' ? ["string", endOfString(text, start)]
    : "-0123456789".includes(first) ? ["number", endOf(NUMBER, text, start)]
    : ["word", endOf(WORD, text, start)];
  if (end < 0) throw new SyntaxError(`Not valid JSON at character ${start + 1}.`);
  return { kind, start, end };
}

/** Returns the text of a string token. */
export function textOf(text, { start, end }) {
  try {
    return JSON.parse(text.slice(start, end));
  } catch {
    throw new SyntaxError(`Not valid JSON at character ${start + 1}.`);
  }
}

/** Returns whether a value is an object or an array, not digits. */
export const isNested = (value) => value !== null && typeof value === "object" && !(value instanceof Digits);

/** Returns whether a value is an object, not an array. */
export const isObject = (value) => isNested(value) && !Array.isArray(value);

/** Returns the value of a JSON text, with numbers as digits; throws if it is not JSON. */
export function parse(text) {
  let next = token(text, 0);
  const take = () => {
    const taken = next;
    next = taken.kind === "" ? taken : token(text, taken.end);
    return taken;
  };
  const expect = (...kinds) => {
    if (!kinds.includes(next.kind)) throw new SyntaxError(`Expected ${kinds.join(" or ")} at character ${next.start + 1}.`);
    return take();
  };
  /** Reads the content between two brackets; `member` reads each part. */
  const members = (close, member) => {
    const all = [];
    take();
    if (next.kind === close) return take(), all;
    do all.push(member());
    while (expect(",", close).kind === ",");
    return all;
  };
  const value = (depth) => {
    if (depth > DEEPEST) throw new SyntaxError("The JSON is nested too deeply.");
    if (next.kind === "{") {
      const pairs = members("}", () => {
        const name = textOf(text, expect("string"));
        expect(":");
        return [name, value(depth + 1)];
      });
      return Object.fromEntries(pairs);
    }
    if (next.kind === "[") return members("]", () => value(depth + 1));
    const one = expect("string", "number", "word");
    if (one.kind === "string") return textOf(text, one);
    const written = text.slice(one.start, one.end);
    return one.kind === "number" ? new Digits(written) : WORDS[written];
  };
  const whole = value(0);
  if (next.kind !== "") throw new SyntaxError(`More than one value: character ${next.start + 1}.`);
  return whole;
}

/** Returns the token of the value at a path such as `responses[2].name` in a JSON text, or of the value that contains it. */
export function placeOf(text, path) {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== "");
  let at = token(text, 0);
  for (const step of steps) {
    const found = member(text, at, step);
    if (found === null) break;
    at = found;
  }
  return at;
}

/** Returns the value of one member of an object that begins with a token; null if there is none. */
function member(text, open, wanted) {
  if (open.kind !== "{" && open.kind !== "[") return null;
  let count = 0;
  for (let at = token(text, open.end); at.kind !== "}" && at.kind !== "]"; count += 1) {
    const value = open.kind === "{" ? token(text, token(text, at.end).end) : at;
    if (wanted === (open.kind === "{" ? textOf(text, at) : String(count))) return value;
    const next = token(text, endOfValue(text, value));
    at = next.kind === "," ? token(text, next.end) : next;
  }
  return null;
}

/** Returns the texts of the elements of the list under these names. */
export function itemsOf(text, ...names) {
  const list = names.reduce((at, name) => at && member(text, at, name), token(text, 0));
  const items = [];
  if (list?.kind !== "[") return items;
  for (let at = token(text, list.end); at.kind !== "]"; ) {
    const end = endOfValue(text, at);
    items.push(text.slice(at.start, end));
    const next = token(text, end);
    at = next.kind === "," ? token(text, next.end) : next;
  }
  return items;
}

/** Returns the end of the value that begins with a token. */
function endOfValue(text, first) {
  let depth = 0;
  for (let at = first; ; at = token(text, at.end)) {
    if (at.kind === "{" || at.kind === "[") depth += 1;
    else if (at.kind === "}" || at.kind === "]") depth -= 1;
    if (depth === 0) return at.end;
  }
}

/** Returns a value as JSON, with the digits of numbers unchanged; in lines if an indent is given. */
export function toJson(value, indent = "", before = "\n") {
  if (value instanceof Digits) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const isList = Array.isArray(value);
  const within = before + indent;
  const parts = isList
    ? value.map((item) => toJson(item, indent, within))
    : Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}: ${toJson(inner, indent, within)}`);
  const [open, close] = isList ? "[]" : "{}";
  if (indent === "" || parts.length === 0) return open + parts.join(", ") + close;
  return open + within + parts.join(`,${within}`) + before + close;
}

/** Returns whether two values are equal, digit by digit. */
export const isSame = (one, other) => toJson(one ?? null) === toJson(other ?? null);
