// Reads a capability document of any server into one form, or says what is wrong with it. Whatever it holds is only a text here.

/** Characters of a document at most: one of a server that has everything has some 70 000. */
export const LONGEST = 4_000_000;

/** The version of the form that this page knows. */
const VERSION = 1;
const MOST_PROBLEMS = 8;
const MOST_FIELDS = 20_000;
const DEEPEST = 8;

/** A text that is no capability document; `problems` are sentences. */
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

/** Takes values of the wanted types out of a document, and remembers what has another one. */
class Reader {
  problems = [];
  fields = 0;

  wrong(where, value, wanted) {
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(`“${where}” is ${kindOf(value)}, and has to be ${wanted}.`);
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

  /** Objects under free names. */
  objects(object, name, where) {
    const all = Object.entries(this.object(object, name, where));
    const path = where === "" ? name : `${where}.${name}`;
    return all.filter(([key, value]) => isObject(value) || this.wrong(`${path}.${key}`, value, "an object"));
  }

  /** Fields with those inside them, by their path. */
  allFields(object, where, prefix, depth, into, names) {
    for (const [name, field] of this.objects(object, "fields", where)) {
      this.fields += 1;
      if (this.fields > MOST_FIELDS || depth > DEEPEST) throw new Unreadable("It has more fields than this page compares.");
      const path = `${prefix}${names.get(name) ?? name}`;
      const at = `${where}.fields.${name}`;
      into.set(path, {
        type: this.text(field, "type", at, "type not named"),
        readable: this.flag(field, "readable", at, true),
        writable: this.flag(field, "writable", at, true),
        computed: this.flag(field, "computed", at, false),
        required: this.flag(field, "required", at, false),
        values: field.values === undefined || field.values === null ? null : this.texts(field, "values", at),
        default: this.text(field, "default", at, null),
        minimum: this.text(field, "minimum", at, null),
        maximum: this.text(field, "maximum", at, null),
        longest: this.count(field, "max_length", at),
      });
      this.allFields(field, at, `${path}.`, depth + 1, into, names);
    }
    return into;
  }
}

/** What somebody may have taken for the capability document. */
function mistaken(document) {
  if (typeof document.openapi === "string" && isObject(document.paths)) return "This is an OpenAPI document.";
  if (document.$schema !== undefined || document.$defs !== undefined) return "This is a JSON Schema.";
  if (Object.keys(document).some((name) => name.endsWith(":error"))) return "This is an error that a server answered with.";
  if (isObject(document._links)) return "This is another document of a server, such as its entry point.";
  return "This is JSON, but no capability document: it has neither “collections” nor “helpers”.";
}

/** What a text declares. */
export function read(text) {
  if (text.length > LONGEST) throw new Unreadable(`This is longer than ${LONGEST.toLocaleString("en")} characters. A capability document has some 70,000.`);
  let document;
  try {
    document = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new Unreadable(text.trim() === "" ? "Nothing is there yet: paste the document, or choose its file." : `This is no JSON: ${error.message}`);
  }
  if (!isObject(document)) throw new Unreadable(`This is ${kindOf(document)}, and a capability document is an object.`);
  if (document.collections === undefined && document.helpers === undefined) {
    throw new Unreadable(mistaken(document), "The capability document is what the entry point's link “service-meta” leads to, “docs/capabilities” on most servers.");
  }
  const reader = new Reader();
  const declared = normal(document, reader);
  if (reader.problems.length > 0) throw new Unreadable(...reader.problems);
  return declared;
}

/** The document with the names of all dialects made the same. */
function normal(document, reader) {
  const version = reader.count(document, "declaration_version", "");
  const notes = [];
  if (version === null || version === 0) notes.push(`It does not say which version of the form it has, and is read as version ${VERSION}.`);
  if (version > VERSION) notes.push(`It has version ${version} of the form, and this page knows version ${VERSION}: what is new in it is not compared.`);
  const dialect = reader.object(document, "dialect", "");
  const own = (name, otherwise) => reader.text(dialect, name, "dialect", otherwise);
  const [prefix, versionField] = [own("prefix", "svc"), own("version_field", "svc_version")];
  const names = new Map([[own("network_a_share", "network_a_share"), "network_a_share"], [own("network_b_share", "network_b_share"), "network_b_share"]]);
  const limits = reader.object(document, "limits", "");
  const entry = reader.object(document, "entry_point", "");
  const entryFields = [...reader.texts(entry, "fields", "entry_point")].map((name) => (name === versionField ? "version of the interface" : name));
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
      "version of the interface": reader.text(document, "interface_version", "", "not named"),
      "prefix of relations": prefix,
      "header of the key": own("key_header", "SVC-API-Token"),
      "field of the version": versionField,
      "response style": reader.text(document, "response_style", "", "not named"),
      "keys": reader.flag(reader.object(document, "authentication", ""), "required", "authentication", true) ? "needed" : "not needed",
      "records on a page at most": number(reader.count(limits, "max_pagesize", "limits")),
      "records on a page unless a number is named": number(reader.count(limits, "per_page", "limits")),
      "prefix of custom fields": reader.text(document, "custom_field_prefix", "", "") || "none",
      "matching of persons": reader.text(document, "person_matching", "", "") || "none",
    })),
    entry: new Set([...entryFields, ...reader.texts(entry, "links", "entry_point")]),
    kinds,
    helpers,
    functions: reader.texts(document, "action_functions", ""),
    behaviours: reader.texts(document, "behaviours", ""),
  };
}

const number = (count) => (count === null || count === 0 ? "not named" : String(count));
