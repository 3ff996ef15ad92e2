// The columns of a table of records: from the schema and the records. The choice is stored in this browser.

import { el, fill, newId } from "./dom.js";
import { schemaOf } from "./declared.js";
import { Forms } from "./form.js";
import { during, say } from "./frame.js";
import { isNested, toJson } from "./json.js";
import { base, isOurs, nameOf } from "./server.js";

/** Values with deeper nesting are shown in one cell. */
const DEEPEST = 4;

/** The number of columns by default. */
const FIRST = 6;

/** Fields that the first column already shows, or that are of little use to people. */
const SELDOM = new Set(["id", "identifiers", "name", "title", "given_name", "family_name", "origin_system", "description", "modified_date"]);

/** The fields of a person that are first in a file. */
const FIRST_OF_PERSON = ["given_name", "family_name", "email_addresses[0].address"];

/** Returns the id of a record, which its own link has. */
const idOf = (record) => (isOurs(record._links?.self?.href) ? nameOf(record._links.self.href) : "");

/** The id as a column. */
const ID = { name: "id", head: "id", of: idOf, textOf: idOf };

const isScalars = (value) => Array.isArray(value) && !value.some(isNested);

/** Returns the name of a column. The first entry of a list has this number. */
const nameFrom = (steps, first) => steps.map((step, at) => (typeof step === "number" ? `[${step + first}]` : at === 0 ? step : `.${step}`)).join("");

/** A column: the steps to its value, and its name, such as `email_addresses[0].address`. */
class Column {
  constructor(steps) {
    this.steps = steps;
    this.name = nameFrom(steps, 0);
  }

  /** Returns its name in a file. Tables that are imported count entries from 1. */
  get head() {
    return nameFrom(this.steps, 1);
  }

  /** Returns its value in a record; undefined if the record has none. */
  of(record) {
    return this.steps.reduce((at, step) => (isNested(at) && Object.hasOwn(at, step) ? at[step] : undefined), record);
  }

  /** Returns its value as a text. */
  textOf(record) {
    const value = this.of(record);
    if (value === undefined || value === null) return "";
    if (isScalars(value)) return value.map(String).join(", ");
    return isNested(value) ? toJson(value) : String(value);
  }
}

/** Returns the paths to all leaves of a value. */
function* seenIn(value, steps = []) {
  if (!isNested(value) || isScalars(value) || steps.length >= DEEPEST) yield steps;
  else for (const [name, inner] of Object.entries(value)) yield* seenIn(inner, [...steps, Array.isArray(value) ? Number(name) : name]);
}

/** Returns the paths to all leaves of a schema; for a list, those of its first element. */
function* declaredIn(forms, schema, steps = []) {
  const shape = forms.plain(schema);
  const items = shape.items === undefined ? null : forms.plain(shape.items);
  if (steps.length < DEEPEST && shape.properties) {
    for (const [name, inner] of Object.entries(shape.properties)) if (inner.type !== "null" && name !== "curies") yield* declaredIn(forms, inner, [...steps, name]);
  } else if (steps.length < DEEPEST && items?.properties) {
    yield* declaredIn(forms, items, [...steps, 0]);
  } else if (!shape.additionalProperties || shape.type !== "object") {
    yield steps;
  }
}

/** Returns the columns of paths, each once. */
function columnsOf(paths) {
  const all = new Map();
  for (const steps of paths.filter((steps) => steps.length > 0 && steps[0] !== "_embedded" && steps[1] !== "curies")) {
    const column = new Column(steps);
    if (!all.has(column.name)) all.set(column.name, column);
  }
  // Links are last.
  const isLink = (column) => column.steps[0] === "_links";
  return [...all.values()].toSorted((one, other) => isLink(one) - isLink(other));
}

/** Returns the default columns: an e-mail address, short fields, the date. */
function usual(all, records) {
  const isSeen = (column) => records.some((record) => column.textOf(record) !== "");
  const isShort = (column) => records.every((record) => column.textOf(record).length < 60);
  const fields = all.filter((column) => column.steps.length === 1 && !SELDOM.has(column.steps[0]) && column.name !== "created_date" && isSeen(column) && isShort(column));
  const named = (name) => all.filter((column) => column.name === name);
  const first = [...named("email_addresses[0].address"), ...fields].slice(0, FIRST - 1);
  return [...first, ...named("created_date")];
}

/** The browser may refuse to store anything. A choice then lasts as long as the page. */
function kept(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}

/** Returns the steps of a name such as `email_addresses[0].address`. */
const stepsOf = (name) => [...name.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([step, index]) => (index === undefined ? step : Number(index)));

/** The columns of a kind: all, and the chosen ones. Only their names are stored, no values. */
export class Columns {
  constructor(kind, records) {
    this.kind = kind;
    this.place = `explorer-columns ${new URL(base).pathname} ${kind}`;
    this.paths = records.flatMap((record) => [...seenIn(record)]);
    this.all = columnsOf(this.paths);
    this.usual = usual(this.all, records);
    const names = this.read();
    const named = (name) => this.all.find((column) => column.name === name) ?? new Column(stepsOf(String(name)));
    this.chosen = names === null ? this.usual : names.map(named);
  }

  /** Adds the columns that the schema of the kind declares. */
  async complete() {
    const schema = await schemaOf(this.kind);
    if (schema === null) return;
    this.all = columnsOf([...this.paths, ...declaredIn(new Forms(schema), schema)]);
  }

  /** Returns the columns of a file: the id, and the names and the address of a person, before the chosen columns. */
  ofFile() {
    const names = this.kind === "person" ? FIRST_OF_PERSON : [];
    const chosen = this.chosen.filter(({ name }) => name !== ID.name && !names.includes(name));
    return [ID, ...names.map((name) => new Column(stepsOf(name))), ...chosen];
  }

  read() {
    try {
      const names = JSON.parse(kept((store) => store.getItem(this.place)) ?? "null");
      return Array.isArray(names) ? names : null;
    } catch {
      return null;
    }
  }

  choose(chosen) {
    this.chosen = chosen;
    if (chosen === this.usual) kept((store) => store.removeItem(this.place));
    else kept((store) => store.setItem(this.place, JSON.stringify(chosen.map((column) => column.name))));
  }

  /** Returns a form to choose columns; `changed` is called after each choice. */
  form(changed) {
    const count = el("span", {});
    const list = el("div", { class: "choice" });
    const show = () => fill(count, this.chosen.length);
    const isChosen = (column) => this.chosen.some(({ name }) => name === column.name);
    const box = (column) => {
      const id = newId();
      const tick = () => {
        const others = this.chosen.filter(({ name }) => name !== column.name);
        this.choose(control.checked ? [...others, column] : others);
        show();
        changed();
      };
      const control = el("input", { type: "checkbox", id, checked: isChosen(column), onchange: tick });
      return el("span", { class: "keep" }, control, el("label", { for: id }, column.name));
    };
    const boxes = () => fill(list, this.all.map(box));
    const reset = () => {
      this.choose(this.usual);
      boxes();
      show();
      changed();
    };
    show();
    const begin = () => during(async () => {
      try {
        await this.complete();
      } catch (error) {
        say(`The declaration of the server cannot be read: ${error.message}`);
      }
      boxes();
    });
    const node = el(
      "details",
      {},
      el("summary", {}, "Columns (", count, ")"),
      el("div", { role: "group", "aria-label": "Columns" }, list, el("button", { type: "button", class: "small", onclick: reset }, "Reset columns")),
    );
    node.addEventListener("toggle", begin, { once: true });
    return node;
  }
}
