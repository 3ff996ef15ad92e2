// Reads the capability document of any server into one form, or reports its problems. Its content is only used as text.

/** The maximum number of characters of a document; that of a complete server has about 70 000. */
export const LONGEST = 4_000_000;

/** The version of the document that this page supports. */
const VERSION = 1;
const MOST_PROBLEMS = 8;
const MOST_FIELDS = 20_000;
const DEEPEST = 8;

/** A text that is not a capability document; `problems` are sentences. */
export class Unreadable extends Error {
  constructor(...problems) {
    super(problems.join(" "));
    this.problems = problems;
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const kindOf = (value) => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return { object: "an object", string: "a text", number: "a number", boolean: "true or false" }[typeof value];
};

/** Reads values of the expected types from a document, and records those of another type. */
class Reader {
  problems = [];
  fields = 0;

  wrong(where, value, wanted) {
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(`“${where}” is ${kindOf(value)}, but must be ${wanted}.`);
  }

  take(object, name, where, is, wanted, otherwise) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (value === undefined || value === null) return otherwise;
    if (is(value)) return value;
    this.wrong(where === "" ? name : `${where}.${name}`, value, wanted);
    return otherwise;
  }

  text(object, name, where, otherwise = "") {
    return this.take(object, name, where, (value) => typeof value === "string", "a text", otherwise);
  }

  flag(object, name, where, otherwise) {
    return this.take(object, name, where, (value) => typeof value === "boolean", "true or false", otherwise);
  }

  count(object, name, where) {
    return this.take(object, name, where, (value) => Number.isSafeInteger(value) && value >= 0, "a whole number that is not negative", null);
  }

  texts(object, name, where) {
    const is = (value) => Array.isArray(value) && value.every((item) => typeof item === "string");
    return new Set(this.take(object, name, where, is, "a list of texts", []));
  }

  object(object, name, where) {
    return this.take(object, name, where, isObject, "an object", {});
  }

  /** Returns objects with free names. */
  objects(object, name, where) {
    const all = Object.entries(this.object(object, name, where));
    const path = where === "" ? name : `${where}.${name}`;
    return all.filter(([key, value]) => isObject(value) || this.wrong(`${path}.${key}`, value, "an object"));
  }

  /** Reads fields with their members, by their path. */
  allFields(object, where, prefix, depth, into, names) {
    for (const [name, field] of this.objects(object, "fields", where)) {
      this.fields += 1;
      if (this.fields > MOST_FIELDS || depth > DEEPEST) throw new Unreadable("The document has more fields than this page can compare.");
      const path = `${prefix}${names.get(name) ?? name}`;
      const at = `${where}.fields.${name}`;
      into.set(path, {
        type: this.text(field, "type", at, "no type declared"),
        readable: this.flag(field, "readable", at, true),
        writable: this.flag(field, "writable", at, true),
        computed: this.flag(field, "computed", at, false),
        required: this.flag(field, "required", at, false),
        values: field.values === undefined || field.values === null ? null : this.texts(field, "values", at),
        default: this.text(field, "default", at, null),
        minimum: this.text(field, "minimum", at, null),
        maximum: this.text(field, "maximum", at, null),
        longest: this.count(field, "max_length", at),
        most: this.count(field, "max_items", at),
      });
      this.allFields(field, at, `${path}.`, depth + 1, into, names);
    }
    return into;
  }
}

/** Returns a message about a document that is often mistaken for the capability document. */
function mistaken(document) {
  if (typeof document.openapi === "string" && isObject(document.paths)) return "This is an OpenAPI document.";
  if (document.$schema !== undefined || document.$defs !== undefined) return "This is a JSON Schema.";
  if (Object.keys(document).some((name) => name.endsWith(":error"))) return "This is an error response of a server.";
  if (isObject(document._links)) return "This is a HAL document of a server, such as its entry point.";
  return "This is JSON, but not a capability document: it has neither “collections” nor “helpers”.";
}

/** Returns the declaration in a text. */
export function read(text) {
  if (text.length > LONGEST) throw new Unreadable(`The text is longer than ${LONGEST.toLocaleString("en")} characters. A capability document has about 70,000.`);
  let document;
  try {
    document = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new Unreadable(text.trim() === "" ? "The field is empty: paste the document, or choose its file." : `This is not JSON: ${error.message}`);
  }
  if (!isObject(document)) throw new Unreadable(`This is ${kindOf(document)}, but a capability document is an object.`);
  if (document.collections === undefined && document.helpers === undefined) {
    throw new Unreadable(mistaken(document), "The capability document is the target of the link “service-meta” in the entry point, on most servers “docs/capabilities”.");
  }
  const reader = new Reader();
  const declared = normal(document, reader);
  if (reader.problems.length > 0) throw new Unreadable(...reader.problems);
  return declared;
}

/** Returns the document with the same names for all dialects. */
function normal(document, reader) {
  const version = reader.count(document, "declaration_version", "");
  const notes = [];
  if (version === null || version === 0) notes.push(`The document does not declare its version. It is read as version ${VERSION}.`);
  if (version > VERSION) notes.push(`The document has version ${version}, but this page supports version ${VERSION}: newer members are not compared.`);
  const dialect = reader.object(document, "dialect", "");
  const own = (name, otherwise) => reader.text(dialect, name, "dialect", otherwise);
  const [prefix, versionField] = [own("prefix", "svc"), own("version_field", "svc_version")];
  const names = new Map([[own("network_a_share", "network_a_share"), "network_a_share"], [own("network_b_share", "network_b_share"), "network_b_share"]]);
  const limits = reader.object(document, "limits", "");
  const entry = reader.object(document, "entry_point", "");
  const entryFields = [...reader.texts(entry, "fields", "entry_point")].map((name) => (name === versionField ? "version of the API" : name));
  const kinds = new Map(reader.objects(document, "collections", "").map(([name, kind]) => {
    const at = `collections.${name}`;
    const [operations, sub, links, filter, order] = ["operations", "sub", "links", "filter", "order"].map((list) => reader.texts(kind, list, at));
    return [name, { operations, sub, links, filter, order, fields: reader.allFields(kind, at, "", 1, new Map(), names) }];
  }));
  const helpers = new Map(reader.objects(document, "helpers", "").map(([name, helper]) => {
    const at = `helpers.${name}`;
    return [name, { anonymous: reader.flag(helper, "anonymous", at, false) }];
  }));
  return {
    notes,
    address: reader.text(document, "base_url", "", ""),
    general: new Map(Object.entries({
      "version of the API": reader.text(document, "interface_version", "", "not declared"),
      "prefix of relations": prefix,
      "header of the key": own("key_header", "SVC-API-Token"),
      "field of the version": versionField,
      "response style": reader.text(document, "response_style", "", "not declared"),
      "keys": reader.flag(reader.object(document, "authentication", ""), "required", "authentication", true) ? "needed" : "not needed",
      "maximum records on a page": number(reader.count(limits, "max_pagesize", "limits")),
      "default records on a page": number(reader.count(limits, "per_page", "limits")),
      "prefix of custom fields": reader.text(document, "custom_field_prefix", "", "") || "none",
      "person matching": reader.text(document, "person_matching", "", "") || "none",
    })),
    entry: new Set([...entryFields, ...reader.texts(entry, "links", "entry_point")]),
    kinds,
    helpers,
    functions: reader.texts(document, "action_functions", ""),
    behaviours: reader.texts(document, "behaviours", ""),
  };
}

const number = (count) => (count === null || count === 0 ? "not declared" : String(count));
