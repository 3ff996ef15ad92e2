// The declaration of this server, and its addresses in the explorer.

/** Settings from the page; the server creates all addresses. */
export const { base, routes, capabilities, docs, aboutKeys, pages } = document.body.dataset;

/** The declaration, as far as it has been read: `schemas` are those of the described routes. */
export const server = { header: "", prefix: "", extensionPrefix: "", pageSize: 0, routes: [], schemas: {} };

const QUERY = new Set(["filter", "order"]);

/** A declared path with its operations; `form` is the address that describes their bodies and parameters. */
export class Route {
  constructor({ path, item, form }) {
    this.form = form;
    this.parts = path.split("/").filter((part) => part !== "");
    this.item = item;
    this.ids = this.parts.filter(isId).length;
    const pattern = this.parts.map((part) => part.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+"));
    this.pattern = new RegExp(`^${pattern.join("/")}$`);
  }

  /** Returns the route of the first parts of the path, which contains its records. */
  above(count) {
    const path = this.parts.slice(0, -count).join("/");
    return server.routes.find((route) => route.parts.join("/") === path);
  }

  /** Returns the kind in the response to a method: the name of its schema. */
  kind(method, status) {
    const content = this.item[method]?.responses?.[status]?.content ?? {};
    const schema = Object.values(content)[0]?.schema;
    return (schema?.$ref ?? schema?.anyOf?.[0]?.$ref ?? "").split("/").at(-1);
  }

  /** Returns the schema of the request body of a method; undefined if it has none. */
  body(method) {
    return Object.values(this.item[method]?.requestBody?.content ?? {})[0]?.schema;
  }

  /** Returns the query parameters that people fill in: a filter and an order, if they are declared. */
  query() {
    return (this.item.get?.parameters ?? []).filter(({ name, in: where }) => where === "query" && QUERY.has(name));
  }

  /** Returns its address, with the ids of another address that contains it or is next to it. */
  addressFrom(address) {
    const known = plainPath(address).split("/");
    return base + this.parts.map((part, at) => (isId(part) ? known[at] : part)).join("/");
  }
}

/** Returns the summary of an operation as a request: "Create a person" for "Creates a person.". */
export const request = (about) => about.summary.replace(/\.$/, "").replace(/^(\w+)s /, "$1 ");

const isId = (part) => part.startsWith("{");

/** Returns the route that the server declares for an address. */
export function routeOf(address) {
  const path = plainPath(address);
  return server.routes.find((route) => route.pattern.test(path));
}

/** Returns whether an address belongs to this API, also after its dots are resolved. No other address is requested. */
export function isOurs(address) {
  if (typeof address !== "string" || !URL.canParse(address)) return false;
  const { href } = new URL(address);
  return href.startsWith(base) || `${href}/` === base;
}

export const hashOf = (address) => `#/${address.slice(base.length)}`;
export const addressOf = (hash) => base + hash.replace(/^#?\/?/, "");
export const plainPath = (address) => address.slice(base.length).split("?")[0].replace(/\/$/, "");
export const nameOf = (address) => plainPath(address).split("/").at(-1) || "Entry point";

/** Returns a relation of the specification with the prefix of this server. */
export const relation = (name) => `${server.prefix}:${name}`;

/** Returns a relation of an extension with the prefix of this server. */
export const extension = (name) => `${server.extensionPrefix}:${name}`;

/** Returns the page of a relation; null for a relation without a page, or text that is not a relation. */
export function pageOfRelation(name) {
  const [prefix, rel] = String(name).split(":");
  return [server.prefix, server.extensionPrefix].includes(prefix) && /^\w+$/.test(rel ?? "") ? pages + rel : null;
}

/** Returns the page of an error code; null if the text is not a code. */
export const pageOfCode = (code) => (/^[A-Z0-9]+(_[A-Z0-9]+)*$/.test(code) ? pages + code : null);
