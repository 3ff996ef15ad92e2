// Reads what the server declares: first the list of its routes, the rest when needed.

import { Route, capabilities, routes, server } from "./server.js";

/** Returns the document at an address of this server; the browser revalidates a cached one. */
async function read(address) {
  const how = { headers: { Accept: "application/json" }, cache: "no-cache", redirect: "error", credentials: "omit" };
  const response = await fetch(address, how);
  if (!response.ok) throw new Error(`${response.status} for ${address}`);
  return response.json();
}

const known = new Map();

/** Returns the document, which is read once. After a failure the next call tries again. */
function once(address) {
  if (!known.has(address)) known.set(address, read(address).catch((error) => { known.delete(address); throw error; }));
  return known.get(address);
}

export async function readRoutes() {
  const list = await read(routes);
  server.header = list.key_header;
  server.prefix = list.prefix;
  server.extensionPrefix = list.extension_prefix;
  server.pageSize = list.max_pagesize;
  server.routes = list.routes.map((listed) => new Route(listed));
  // A path without ids has priority over one with ids.
  server.routes.sort((one, other) => one.ids - other.ids);
}

/** Loads the bodies and parameters of the operations of a route. */
export async function describe(route) {
  if (!route?.form) return;
  const { item, components } = await once(route.form);
  Object.assign(server.schemas, components.schemas);
  for (const [method, operation] of Object.entries(item)) Object.assign((route.item[method] ??= {}), operation);
}

/** Returns the capability document, which declares more than the routes. */
export const readCapabilities = () => once(capabilities);

/** Returns the JSON Schema of a kind; null if the server declares none. */
export async function schemaOf(kind) {
  const { schemas } = await readCapabilities();
  return schemas?.[kind] === undefined ? null : once(schemas[kind]);
}
