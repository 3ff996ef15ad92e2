// Forms, created from the schema of a body; problems are shown next to their fields.

import { el, fill, newId, prose } from "./dom.js";
import { Digits, isObject, isSame } from "./json.js";
import { problemItem } from "./problems.js";
import { server } from "./server.js";

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Creates forms from the schemas of one document. */
export class Forms {
  constructor(document) {
    this.document = document;
  }

  /** Returns a schema without references and alternatives: the first alternative that is not null. */
  plain(schema) {
    let current = schema;
    for (let step = 0; step < 20; step += 1) {
      if (current?.$ref) {
        const found = current.$ref.slice(2).split("/").reduce((at, name) => at?.[name], this.document);
        current = { ...found, ...without(current, "$ref") };
      } else if (current?.allOf) {
        const parts = current.allOf.map((part) => this.plain(part));
        const properties = Object.assign({}, ...parts.toReversed().map((part) => part.properties ?? {}));
        current = { ...parts[0], ...without(current, "allOf"), properties };
      } else if (current?.anyOf) {
        const parts = current.anyOf.filter((part) => part.type !== "null");
        const listed = parts.find((part) => part.enum);
        const free = parts.some((part) => part.type === "string" && !part.enum);
        const [first] = parts;
        const rest = without(current, "anyOf");
        current = listed && free ? { ...listed, ...rest, open: true } : { ...first, ...rest };
      } else {
        return current ?? {};
      }
    }
    return current ?? {};
  }

  /** Creates a form for a body of this schema, with initial values. */
  make(schema, initial) {
    return new Form(this.field(schema, "", initial, 0), initial);
  }

  field(schema, name, initial, depth) {
    const shape = this.plain(schema);
    const types = [shape.type].flat();
    if (shape.properties && Object.keys(shape.properties).join() === "href") {
      return new LinkField({ ...this.plain(shape.properties.href), ...shape }, name, initial?.href);
    }
    if (types.includes("object") || shape.properties) {
      return shape.properties
        ? new ObjectField(this, shape, name, initial, depth)
        : new MapField(shape, name, initial);
    }
    if (types.includes("array")) return new ArrayField(this, shape, name, initial, depth);
    return new ValueField(shape, name, initial);
  }
}

/** The forms of the described routes. */
export const forms = new Forms({ components: { schemas: server.schemas } });

const without = (object, name) => Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));

/** A whole form: its nodes, its value, and the places for problems. */
class Form {
  constructor(root, initial) {
    this.root = root;
    this.initial = initial;
    this.node = root.node;
    this.before = root.value() ?? {};
  }

  /** Returns the body. */
  body() {
    return this.root.value() ?? {};
  }

  /** Returns the changes as a merge patch: a cleared field is null. */
  changes() {
    return this.changesFrom(this.before);
  }

  /** Returns the differences from a body. */
  changesFrom(before) {
    return difference(before, this.body()) ?? {};
  }

  /** Shows problems next to their fields; returns those without a field. */
  show(problems) {
    const places = new Map();
    this.root.collect("", places);
    for (const field of places.values()) field.clear();
    const rest = [];
    let first = null;
    for (const problem of problems) {
      const fields = problem.properties.map((path) => nearest(places, path)).filter((field) => field !== undefined);
      for (const field of new Set(fields)) {
        field.complain(problem);
        first ??= field;
      }
      if (fields.length === 0) rest.push(problem);
    }
    first?.focus();
    return rest;
  }
}


/** Returns the merge patch from one value to another; undefined if they are equal. */
function difference(before, now) {
  if (isSame(before, now)) return undefined;
  if (!isObject(before) || !isObject(now)) return now ?? null;
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const changed = names.map((name) => [name, difference(before[name], now[name])]);
  return Object.fromEntries(changed.filter(([, change]) => change !== undefined));
}

/** Returns the field at a path, or else the one that contains it; never the whole form. */
function nearest(places, path) {
  for (let at = path; at !== ""; at = at.replace(/(\.[^.[\]]*|\[\d+\]|^[^.[\]]*)$/, "")) {
    if (places.has(at)) return places.get(at);
  }
  return undefined;
}

/** The common part of all fields: a place for problems. */
class Field {
  constructor() {
    this.errors = el("ul", { class: "errors", id: newId(), hidden: true });
  }

  clear() {
    fill(this.errors).hidden = true;
    this.control?.removeAttribute("aria-invalid");
  }

  complain(problem) {
    this.errors.append(problemItem(problem));
    this.errors.hidden = false;
    this.control?.setAttribute("aria-invalid", "true");
    for (let at = this.errors.parentElement; at; at = at.parentElement) if (at.localName === "details") at.open = true;
  }

  focus() {
    (this.control ?? this.errors.parentElement)?.focus();
  }

  collect(path, places) {
    places.set(path, this);
  }
}

/** One value: text, number, date, boolean, or one of a list. */
class ValueField extends Field {
  constructor(shape, name, initial) {
    super();
    this.shape = shape;
    const id = newId();
    const described = { id, "aria-describedby": this.errors.id };
    const given = initial === undefined || initial === null ? "" : String(initial);
    const values = this.values();
    if (values) {
      const isOther = shape.open && given !== "" && !values.includes(given);
      const option = (value, text) => el("option", { value, selected: value === (isOther ? "\u0000" : given) }, text);
      this.control = el(
        "select",
        { ...described, onchange: () => this.other && (this.other.hidden = this.control.value !== "\u0000") },
        option("", "–"),
        values.map((value) => option(value, value)),
        shape.open ? option("\u0000", "other …") : null,
      );
      if (shape.open) {
        this.other = el("input", { "aria-label": `${name}: other value`, value: isOther ? given : "", hidden: !isOther });
      }
    } else {
      const type = shape.format === "date" ? "date" : "text";
      const placeholder = type === "text" && shape.examples ? String(shape.examples[0]) : undefined;
      const isLong = shape.maxLength === undefined && /description|text|body|message|instructions/.test(name);
      this.control = isLong
        ? el("textarea", { ...described, rows: 2, placeholder })
        : el("input", { ...described, type, placeholder, spellcheck: "false", autocomplete: "off" });
      this.control.value = given;
    }
    const hint = shape.description ? el("span", { class: "hint" }, prose(shape.description)) : null;
    this.node = el("div", { class: "field" }, el("label", { for: id }, name), this.control, this.other, hint, this.errors);
  }

  /** Returns the listed values as texts; undefined if any value is allowed. */
  values() {
    if ([this.shape.type].flat().includes("boolean")) return ["true", "false"];
    const listed = this.shape.enum?.filter((value) => value !== null).map(String);
    return listed && [...new Set(listed)];
  }

  value() {
    const text = this.other && this.control.value === "\u0000" ? this.other.value : this.control.value;
    if (text === "") return undefined;
    const types = [this.shape.type].flat();
    const isFlag = types.includes("boolean") || this.shape.enum?.includes(true);
    if (isFlag) return text === "true";
    const isNumber = types.includes("integer") || types.includes("number");
    // Anything that is not a number is sent unchanged: the server reports the problem.
    return isNumber && NUMBER.test(text) ? new Digits(text) : text;
  }
}

/** A link: the address of a record. */
class LinkField extends ValueField {
  constructor(shape, name, initial) {
    const description = "The URL of a record: its self link.";
    super({ ...shape, type: "string", description }, name, initial);
  }

  value() {
    const href = super.value();
    return href === undefined ? undefined : { href };
  }

  collect(path, places) {
    super.collect(path, places);
    places.set(`${path}.href`, this);
  }
}

/** JSON has no order of members: this is the order in which people fill them in. */
const RANK = ["person", "canvass", "given_name", "family_name", "email_addresses", "name", "title", "summary", "description"];
const LAST = new Set(["identifiers", "origin_system", "action_date", "referrer_data", "administrative_url", "_links"]);

/** The subjects of a helper call, which are always filled in. */
const ABOUT = new Set(["person", "canvass"]);

/** An object: its fields in a group that can be opened; the outermost fields have no group. */
class ObjectField extends Field {
  constructor(forms, shape, name, initial, depth) {
    super();
    const required = new Set(shape.required ?? []);
    const entries = Object.entries(shape.properties).filter(([, inner]) => inner.type !== "null" && !inner.readOnly);
    const rank = ([member]) => (required.has(member) ? -1 : RANK.indexOf(member) + 1 || (LAST.has(member) ? 99 : 50));
    entries.sort((one, other) => rank(one) - rank(other));
    const known = initial ?? {};
    this.fields = entries.map(([member, inner]) => {
      const label = required.has(member) ? `${member} *` : member;
      return [member, forms.field(inner, label, known[member], depth + 1)];
    });
    const nodes = this.fields.map(([, field]) => field.node);
    if (depth === 0) {
      this.node = el("div", { class: "fields" }, nodes, this.errors);
    } else {
      const isOpen = initial !== undefined || name.endsWith(" *") || (depth === 1 && ABOUT.has(name));
      const hint = shape.description ? el("p", { class: "hint" }, prose(shape.description)) : null;
      this.node = el("details", { class: "group", role: "group", "aria-label": name, open: isOpen }, el("summary", {}, name), hint, this.errors, nodes);
    }
  }

  value() {
    const members = this.fields.map(([name, field]) => [name, field.value()]).filter(([, value]) => value !== undefined);
    return members.length === 0 ? undefined : Object.fromEntries(members);
  }

  collect(path, places) {
    if (path !== "") super.collect(path, places);
    for (const [name, field] of this.fields) field.collect(path === "" ? name : `${path}.${name}`, places);
  }
}

/** An array: elements can be added and removed. */
class ArrayField extends Field {
  constructor(forms, shape, name, initial, depth) {
    super();
    this.items = [];
    this.list = el("ol", {});
    const label = name.replace(/ \*$/, "");
    const add = (value) => {
      const place = this.items.length + 1;
      const field = forms.field(shape.items ?? {}, `${label} ${place}`, value, depth + 1);
      if (field.node.localName === "details") field.node.open = true;
      const item = el("li", {}, field.node, el("button", { type: "button", class: "small", onclick: () => remove(item) }, `Remove ${label} ${place}`));
      this.items.push({ field, item });
      this.list.append(item);
      limit();
      return field;
    };
    const limit = () => (this.add.disabled = this.items.length >= (shape.maxItems ?? Infinity));
    const remove = (item) => {
      this.items = this.items.filter((known) => known.item !== item);
      item.remove();
      limit();
    };
    const hint = shape.description ? el("p", { class: "hint" }, prose(shape.description)) : null;
    this.add = el("button", { type: "button", class: "small", onclick: () => (add().control ?? this.add).focus() }, `Add ${label}`);
    for (const value of [initial ?? []].flat()) add(value);
    this.node = el("details", { class: "group", role: "group", "aria-label": name, open: initial?.length > 0 }, el("summary", {}, name), hint, this.errors, this.list, this.add);
  }

  value() {
    const values = this.items.map(({ field }) => field.value() ?? (field instanceof ValueField ? "" : {}));
    return values.length === 0 ? undefined : values;
  }

  collect(path, places) {
    super.collect(path, places);
    this.items.forEach(({ field }, place) => field.collect(`${path}[${place}]`, places));
  }
}

/** An object with free keys: one line for each, `key = value`. */
class MapField extends Field {
  constructor(shape, name, initial) {
    super();
    const id = newId();
    this.control = el("textarea", { id, rows: 2, placeholder: "key = value", "aria-describedby": this.errors.id });
    this.control.value = Object.entries(initial ?? {}).map(([key, value]) => `${key} = ${value}`).join("\n");
    const hint = el("span", { class: "hint" }, `${shape.description ? `${shape.description}. ` : ""}One "key = value" on each line.`);
    this.node = el("div", { class: "field" }, el("label", { for: id }, name), this.control, hint, this.errors);
  }

  value() {
    const lines = this.control.value.split("\n").filter((line) => line.trim() !== "");
    if (lines.length === 0) return undefined;
    const pair = (line) => [line.split("=")[0].trim(), line.split("=").slice(1).join("=").trim()];
    return Object.fromEntries(lines.map(pair));
  }

  collect(path, places) {
    super.collect(path, places);
    for (const line of this.control.value.split("\n")) places.set(`${path}.${line.split("=")[0].trim()}`, this);
  }
}
