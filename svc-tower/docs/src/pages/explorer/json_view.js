// A view of JSON: the received text, coloured and foldable, with addresses and relations as links. Folded nodes are created when
// they are opened, so that a huge response costs only what is visible.

import { el } from "./dom.js";
import { textOf, token } from "./json.js";
import { hashOf, isOurs, pageOfCode, pageOfRelation } from "./server.js";

/** The number of members of an object or array that are shown at a time, and of lines before the rest is folded. */
const STEP = 100;
const LINES = 250;

/** The maximum length of a text or string that is shown in full. */
const LONG = 2000;

/** Shorter objects and arrays are shown on one line. */
const SHORT = 60;

/** Members of an error object whose values have pages. */
const PAGES = { __proto__: null, error_code: pageOfCode, code: pageOfCode, resource: pageOfRelation };

/** Returns a text in a box: JSON as a tree, anything else unchanged. */
export function jsonView(text, name, isJson) {
  const nodes = isJson ? new Tree(text).value(token(text, 0), { member: "", depth: 0 }).nodes : shortened(text || "(empty)");
  return el("div", { class: "json", role: "group", tabindex: "0", "aria-label": name }, nodes);
}

/** Returns a text; the rest of a long one is shown on demand. */
function shortened(text) {
  if (text.length <= LONG) return text;
  const rest = el("button", { type: "button", class: "small", onclick: () => rest.replaceWith(...el("span", {}, text.slice(LONG)).childNodes) }, `… ${text.length - LONG} more characters`);
  return [text.slice(0, LONG), rest];
}

/** Scans a value that begins with an opening bracket: its end, and the number of its members. */
function whole(text, open) {
  let depth = 0;
  let commas = 0;
  let isEmpty = true;
  for (let at = open; ; at = token(text, at.end)) {
    if (at.kind === "{" || at.kind === "[") depth += 1;
    else if (at.kind === "}" || at.kind === "]") depth -= 1;
    else if (at.kind === "," && depth === 1) commas += 1;
    if (at !== open && depth > 0) isEmpty = false;
    if (depth === 0) return { end: at.end, count: isEmpty ? 0 : commas + 1 };
  }
}

/** A text that is valid JSON. */
class Tree {
  constructor(text) {
    this.text = text;
    this.lines = LINES;
  }

  /** Returns the nodes of the value that begins with a token, and its end. `member` is its name. */
  value(first, within) {
    if (first.kind === "{" || first.kind === "[") return this.container(first, within);
    return { nodes: [...this.leaf(first, within.member), this.comma(first.end)], end: first.end };
  }

  /** Returns the comma after a value; nothing after the last one. */
  comma(end) {
    return token(this.text, end).kind === "," ? "," : "";
  }

  leaf(one, member) {
    const written = this.text.slice(one.start, one.end);
    if (one.kind !== "string") return [el("span", { class: one.kind }, written)];
    const said = written.length > LONG ? "" : textOf(this.text, one);
    const page = PAGES[member]?.(said) ?? null;
    // A template has no target.
    const href = isOurs(said) && !said.includes("{") ? hashOf(said) : page;
    return [href === null ? el("span", { class: "string" }, shortened(written)) : el("a", { class: "string", href }, written)];
  }

  container(open, { depth }) {
    const close = open.kind === "{" ? "}" : "]";
    const { end, count } = whole(this.text, open);
    const isFlat = end - open.start <= SHORT || count === 0 || (count === 1 && !/[[{]/.test(this.text.slice(open.end, end)));
    if (isFlat) return { nodes: [...this.flat(open, end), this.comma(end)], end };
    const isOpen = this.lines > 0 && depth < 6;
    this.lines -= isOpen ? Math.min(count, STEP) : 0;
    const unit = `${open.kind === "{" ? "member" : "element"}${count === 1 ? "" : "s"}`;
    const last = close + this.comma(end);
    const node = el("details", { open: isOpen }, el("summary", {}, open.kind, el("span", { class: "folds soft" }, ` ${count} ${unit} ${last}`)));
    const fill = () => node.append(this.members(token(this.text, open.end), depth, STEP), el("span", {}, last));
    if (isOpen) fill();
    else node.addEventListener("toggle", () => { this.lines = STEP; fill(); }, { once: true });
    return { nodes: [node], end };
  }

  /** Returns the value on one line, as it was written. */
  flat(open, end) {
    const nodes = [];
    let member = "";
    for (let at = open; at.start < end; at = token(this.text, at.end)) {
      const next = at.kind === "string" ? token(this.text, at.end) : at;
      if (at.kind === "string" && next.kind === ":") {
        member = textOf(this.text, at);
        nodes.push(this.name(at, member));
      } else if (["string", "number", "word"].includes(at.kind)) {
        nodes.push(...this.leaf(at, member));
      } else {
        nodes.push(at.kind === ":" || at.kind === "," ? `${at.kind} ` : at.kind);
      }
    }
    return nodes;
  }

  /** Returns the members from a token on, each on its line; after a number of them, the rest on demand. */
  members(from, depth, limit) {
    const list = el("ul", {});
    let at = from;
    for (let count = 0; at.kind !== "}" && at.kind !== "]"; count += 1) {
      if (count === limit) {
        const next = at;
        this.lines = Math.max(this.lines, STEP);
        const more = el("button", { type: "button", class: "small", onclick: () => item.replaceWith(...this.members(next, depth, STEP).childNodes) }, "Show more");
        const item = el("li", {}, more);
        list.append(item);
        break;
      }
      const name = token(this.text, at.end);
      const isNamed = at.kind === "string" && name.kind === ":";
      const member = isNamed ? textOf(this.text, at) : "";
      const first = isNamed ? token(this.text, name.end) : at;
      const { nodes, end } = this.value(first, { member, depth: depth + 1 });
      const next = token(this.text, end);
      list.append(el("li", {}, isNamed ? [this.name(at, member), ": "] : null, nodes));
      at = next.kind === "," ? token(this.text, next.end) : next;
    }
    return list;
  }

  /** Returns the name of a member; that of a relation links to its page. */
  name(one, member) {
    const written = this.text.slice(one.start, one.end);
    const page = pageOfRelation(member);
    return page === null ? el("span", { class: "name" }, written) : el("a", { class: "name", href: page, title: `About ${member}` }, written);
  }
}
