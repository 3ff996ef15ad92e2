// The body of a request in a form: as fields, or as JSON text. Each can be converted to the other.

import { el, fill, newId } from "./dom.js";
import { forms } from "./form.js";
import { isObject, parse, placeOf, toJson } from "./json.js";
import { problemItem } from "./problems.js";

const INDENT = "  ";

/** A body for a schema. `record` is the record to change, `initial` has the initial values of a new record. */
export class Body {
  constructor(schema, { record, initial }) {
    this.schema = schema;
    this.isChange = record !== undefined;
    this.form = forms.make(schema, record ?? initial);
    this.text = null;
    this.holder = el("div", {}, this.form.node);
    this.turn = el("button", { type: "button", class: "small", onclick: () => this.turnOver() }, "Edit as JSON");
    this.node = el("div", {}, el("p", {}, this.turn), this.holder);
  }

  /** The body to send: the text, or the fields. For a change, only the fields that differ. */
  json() {
    if (this.text !== null) return this.text.area.value.trim();
    return toJson(this.fields());
  }

  fields() {
    return this.isChange ? this.form.changes() : this.form.body();
  }

  /** Returns whether the text is JSON; shows an error if it is not. */
  isReady() {
    return this.text === null || this.text.read() !== undefined;
  }

  /** Shows problems at their fields; returns those without a field. */
  show(problems) {
    return this.text === null ? this.form.show(problems) : this.text.show(problems);
  }

  turnOver() {
    if (this.text === null) {
      this.text = new Text(toJson(this.fields(), INDENT));
      this.turn.textContent = "Edit as fields";
      fill(this.holder, this.text.node);
      this.text.area.focus();
      return;
    }
    const value = this.text.read();
    if (value === undefined) return;
    const form = forms.make(this.schema, this.isChange ? merged(this.form.initial, value) : value);
    const lost = this.unknown(value, form);
    if (lost.length > 0) {
      this.text.complain(`The fields cannot show ${lost.join(", ")}. Send the body as JSON.`, placeOf(this.text.area.value, lost[0]));
      return;
    }
    if (this.isChange) form.before = this.form.before;
    this.form = form;
    this.text = null;
    this.turn.textContent = "Edit as JSON";
    fill(this.holder, form.node);
    this.turn.focus();
  }

  /** Returns the members of a text that the fields cannot send unchanged. */
  unknown(value, form) {
    if (!isObject(value)) return ["a value that is not an object"];
    const shown = this.isChange ? form.changesFrom(this.form.before) : form.body();
    return Object.keys(value).filter((name) => toJson(sorted(shown[name])) !== toJson(sorted(value[name])));
  }
}


/** Returns a value with the members of its objects in alphabetical order. */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.keys(value).toSorted().map((name) => [name, sorted(value[name])]));
}

/** Returns a record after a merge patch (RFC 7396). */
function merged(record, patch) {
  if (!isObject(patch)) return patch;
  const all = new Map(Object.entries(isObject(record) ? record : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) all.delete(name);
    else all.set(name, merged(all.get(name), value));
  }
  return Object.fromEntries(all);
}

/** The text with its problems; each problem has a button that selects its position. */
class Text {
  constructor(text) {
    const id = newId();
    this.errors = el("ul", { class: "errors", id: newId(), hidden: true });
    this.area = el("textarea", { id, class: "code", rows: Math.min(Math.max(text.split("\n").length + 2, 8), 24), spellcheck: "false", "aria-describedby": this.errors.id });
    this.area.value = text;
    this.node = el("div", { class: "field" }, el("label", { for: id }, "Body as JSON"), this.area, this.errors);
  }

  /** Returns the value. If it is not JSON, shows an error at its position and returns undefined. */
  read() {
    this.clear();
    try {
      return parse(this.area.value);
    } catch (error) {
      const start = Number(/character (\d+)/.exec(error.message)?.[1] ?? 1) - 1;
      this.complain(error.message, { start, end: start + 1 });
      return undefined;
    }
  }

  clear() {
    fill(this.errors).hidden = true;
    this.area.removeAttribute("aria-invalid");
  }

  add(item, place) {
    const before = this.area.value.slice(0, place.start).split("\n");
    const select = () => {
      this.area.focus();
      this.area.setSelectionRange(place.start, place.end);
    };
    const where = `Line ${before.length}, column ${before.at(-1).length + 1}`;
    item.append(" ", el("button", { type: "button", class: "small", onclick: select }, where));
    this.errors.append(item);
    this.errors.hidden = false;
    this.area.setAttribute("aria-invalid", "true");
    return select;
  }

  complain(what, place) {
    this.add(el("li", {}, what), place)();
  }

  /** Shows the problems that a server reports, at the positions that it names. */
  show(problems) {
    this.clear();
    const placed = problems.filter((problem) => problem.properties.length > 0);
    const selects = placed.map((problem) => this.add(problemItem(problem), placeOf(this.area.value, problem.properties[0])));
    selects[0]?.();
    return problems.filter((problem) => problem.properties.length === 0);
  }
}
