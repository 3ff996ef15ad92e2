// What this server declares, and how its addresses stand in the explorer.

/** What the page is told: all addresses are made by the server. */
export const { base, routes, capabilities, docs, aboutKeys, pages } = document.body.dataset;

/** What is declared, as far as it was read: `schemas` are those of the routes that are described. */
export const server = { header: "", prefix: "", extensionPrefix: "", pageSize: 0, routes: [], schemas: {} };

const QUERY = new Set(["filter", "order"]);

/** A path that is declared, with its operations; `form` is where their bodies and parameters are described. */
export class Route {
  constructor({ path, item, form }) {
    this.form = form;
    this.parts = path.split("/").filter((part) => part !== "");
    this.item = item;
    this.ids = this.parts.filter(isId).length;
    const pattern = this.parts.map((part) => part.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+"));
    this.pattern = new RegExp(`^${pattern.join("/")}$`);
  }

  /** The route of its first parts: what its records lie in. */
  above(count) {
    const path = this.parts.slice(0, -count).join("/");
    return server.routes.find((route) => route.parts.join("/") === path);
  }

  /** The kind that a method answers with: the name of its schema. */
  kind(method, status) {
    const content = this.item[method]?.responses?.[status]?.content ?? {};
    const schema = Object.values(content)[0]?.schema;
    return (schema?.$ref ?? schema?.anyOf?.[0]?.$ref ?? "").split("/").at(-1);
  }

  /** The schema of the body that a method takes; undefined where it takes none. */
  body(method) {
    return Object.values(this.item[method]?.requestBody?.content ?? {})[0]?.schema;
  }

  /** The parameters of the query that people fill in: a filter and an order, where they are declared. */
  query() {
    return (this.item.get?.parameters ?? []).filter(({ name, in: where }) => where === "query" && QUERY.has(name));
  }

  /** Its address, with the ids of another address of which it is a part or a sibling. */
  addressFrom(address) {
    const known = plainPath(address).split("/");
    return base + this.parts.map((part, at) => (isId(part) ? known[at] : part)).join("/");
  }
}

/** What an operation does, as a request: "Create a person" for "Creates a person.". */
export const request = (about) => about.summary.replace(/\.$/, "").replace(/^(\w+)s /, "$1 ");

const isId = (part) => part.startsWith("{");

/** What the server declares of an address. */
export function routeOf(address) {
  const path = plainPath(address);
  return server.routes.find((route) => route.pattern.test(path));
}

/** Whether an address is one of this interface, also when its dots are resolved: no other is ever asked for. */
export function isOurs(address) {
  if (typeof address !== "string" || !URL.canParse(address)) return false;
  const { href } = new URL(address);
  return href.startsWith(base) || `${href}/` === base;
}

export const hashOf = (address) => `#/${address.slice(base.length)}`;
export const addressOf = (hash) => base + hash.replace(/^#?\/?/, "");
export const plainPath = (address) => address.slice(base.length).split("?")[0].replace(/\/$/, "");
export const nameOf = (address) => plainPath(address).split("/").at(-1) || "Entry point";

/** A relation of the specification with the prefix of this server. */
export const relation = (name) => `${server.prefix}:${name}`;

/** The page of a relation; null for a relation without a page, or text that is not a relation. */
export function pageOfRelation(name) {
  const [prefix, rel] = String(name).split(":");
  return [server.prefix, server.extensionPrefix].includes(prefix) && /^\w+$/.test(rel ?? "") ? pages + rel : null;
}

/** The page of an error code; null for what is no code. */
export const pageOfCode = (code) => (/^[A-Z0-9]+(_[A-Z0-9]+)*$/.test(code) ? pages + code : null);
