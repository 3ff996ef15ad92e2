// Reads what the server declares: the list of its routes at first, and the rest when it is needed.

import { Route, capabilities, routes, server } from "./server.js";

/** The document at an address of this server; one that the browser has is not sent again. */
async function read(address) {
  const how = { headers: { Accept: "application/json" }, cache: "no-cache", redirect: "error", credentials: "omit" };
  const response = await fetch(address, how);
  if (!response.ok) throw new Error(`${response.status} for ${address}`);
  return response.json();
}

const known = new Map();

/** The same, read once; whoever needs it after a failure tries again. */
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
  // A path without ids counts before one with them.
  server.routes.sort((one, other) => one.ids - other.ids);
}

/** Sees that the operations of a route have their bodies and parameters. */
export async function describe(route) {
  if (!route?.form) return;
  const { item, components } = await once(route.form);
  Object.assign(server.schemas, components.schemas);
  for (const [method, operation] of Object.entries(item)) Object.assign((route.item[method] ??= {}), operation);
}

/** The capability document: what the server is able to do beside its routes. */
export const readCapabilities = () => once(capabilities);

/** The JSON Schema of a kind; null where the server declares none. */
export async function schemaOf(kind) {
  const { schemas } = await readCapabilities();
  return schemas?.[kind] === undefined ? null : once(schemas[kind]);
}
