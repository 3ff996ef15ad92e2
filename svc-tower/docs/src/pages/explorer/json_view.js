// JSON to look at: the received text, coloured and foldable, its addresses and relations as links. The nodes of what is folded
// are made when it is opened, so a huge answer costs what is seen of it.

import { el } from "./dom.js";
import { textOf, token } from "./json.js";
import { hashOf, isOurs, pageOfCode, pageOfRelation } from "./server.js";

/** So many members of one object or array are shown at a time, and so many lines before the rest is folded. */
const STEP = 100;
const LINES = 250;

/** So long may be a text or string before the rest of it waits to be asked for. */
const LONG = 2000;

/** Shorter objects and arrays stand on one line. */
const SHORT = 60;

/** Members of an error object whose texts have pages. */
const PAGES = { __proto__: null, error_code: pageOfCode, code: pageOfCode, resource: pageOfRelation };

/** A text in a frame: JSON as a tree, anything else as it is. */
export function jsonView(text, name, isJson) {
  const nodes = isJson ? new Tree(text).value(token(text, 0), { member: "", depth: 0 }).nodes : shortened(text || "(empty)");
  return el("div", { class: "json", role: "group", tabindex: "0", "aria-label": name }, nodes);
}

/** A text; of a long one the rest on demand. */
function shortened(text) {
  if (text.length <= LONG) return text;
  const rest = el("button", { type: "button", class: "small", onclick: () => rest.replaceWith(...el("span", {}, text.slice(LONG)).childNodes) }, `… ${text.length - LONG} more characters`);
  return [text.slice(0, LONG), rest];
}

/** Goes over what begins with an opening bracket: where it ends, and how many members it has. */
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

/** A text that is known to be JSON. */
class Tree {
  constructor(text) {
    this.text = text;
    this.lines = LINES;
  }

  /** The nodes of the value that begins with a token, and where it ends. `member` is the name that it has. */
  value(first, within) {
    if (first.kind === "{" || first.kind === "[") return this.container(first, within);
    return { nodes: [...this.leaf(first, within.member), this.comma(first.end)], end: first.end };
  }

  /** The comma behind a value; nothing behind the last one. */
  comma(end) {
    return token(this.text, end).kind === "," ? "," : "";
  }

  leaf(one, member) {
    const written = this.text.slice(one.start, one.end);
    if (one.kind !== "string") return [el("span", { class: one.kind }, written)];
    const said = written.length > LONG ? "" : textOf(this.text, one);
    const page = PAGES[member]?.(said) ?? null;
    // A template leads nowhere.
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

  /** On one line, as it was written. */
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

  /** The members from a token on, each on its line; after a number of them, the rest on demand. */
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

  /** The name of a member; that of a relation leads to its page. */
  name(one, member) {
    const written = this.text.slice(one.start, one.end);
    const page = pageOfRelation(member);
    return page === null ? el("span", { class: "name" }, written) : el("a", { class: "name", href: page, title: `About ${member}` }, written);
  }
}
