// Reads what the server declares: its capabilities and the list of its routes at first, and what the forms of one have to know when
// they are needed.

import { send } from "./http.js";
import { Route, capabilities, routes, server } from "./server.js";

/** The document at an address of this server. */
async function read(address) {
  const done = await send({ method: "GET", address }, null);
  if (done.status !== 200) throw new Error(`${done.status} for ${address}`);
  return JSON.parse(done.text);
}

export async function readDeclared() {
  const [declared, list] = await Promise.all([read(capabilities), read(routes)]);
  server.header = declared.dialect.key_header;
  server.prefix = declared.dialect.prefix;
  server.matching = declared.person_matching ?? "";
  server.functions = declared.action_functions ?? [];
  server.pageSize = declared.limits?.max_pagesize ?? 0;
  server.routes = list.routes.map(({ path, item, form }) => new Route(path, item, form));
  // A path without ids counts before one with them.
  server.routes.sort((one, other) => one.ids - other.ids);
}

/** Sees that the operations of a route have their bodies and parameters. */
export async function describe(route) {
  if (!route?.form) return;
  route.described ??= read(route.form).then(({ item, components }) => {
    Object.assign(server.components.schemas, components.schemas);
    for (const [method, operation] of Object.entries(item)) Object.assign((route.item[method] ??= {}), operation);
  });
  try {
    await route.described;
  } catch (error) {
    // The next one who needs it tries again.
    route.described = undefined;
    throw error;
  }
}
