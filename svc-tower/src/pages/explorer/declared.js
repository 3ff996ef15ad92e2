// Reads what the server declares: its capabilities, and its paths and schemas.

import { send } from "./http.js";
import { Route, capabilities, server } from "./server.js";

export async function readDeclared() {
  const read = async (address) => JSON.parse((await send({ method: "GET", address }, null)).text);
  const declared = await read(capabilities);
  const openapi = await read(declared.openapi);
  server.header = declared.dialect.key_header;
  server.prefix = declared.dialect.prefix;
  server.matching = declared.person_matching ?? "";
  server.functions = declared.action_functions ?? [];
  server.pageSize = declared.limits?.max_pagesize ?? 0;
  server.routes = Object.entries(openapi.paths).map(([template, item]) => new Route(template, item));
  // A path without ids counts before one with them.
  server.routes.sort((one, other) => one.ids - other.ids);
  server.openapi = openapi;
}
