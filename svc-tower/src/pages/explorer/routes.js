// What the server declares of its routes: the list of them at first, and what the forms of one have to know when they are needed.

import { Forms } from "./form.js";

/** The document at an address of this server; one that the browser has is not sent again. */
async function read(address) {
  const how = { headers: { Accept: "application/json" }, cache: "no-cache", redirect: "error", credentials: "omit" };
  const response = await fetch(address, how);
  if (!response.ok) throw new Error(`${response.status} for ${address}`);
  return response.json();
}

/** Which paths a template such as `/people/{person_id}` stands for. */
function patternOf(template) {
  const path = template.replace(/^\//, "").replace(/\/$/, "");
  return new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+")}$`);
}

/** The routes of a server, each with its operations; `forms` makes forms of those that are described. */
export class Routes {
  constructor(list) {
    this.header = list.key_header;
    this.routes = list.routes.map(({ path, item, form }) => ({ pattern: patternOf(path), item, form, ids: path.split("{").length }));
    // A path without ids counts before one with them.
    this.routes.sort((one, other) => one.ids - other.ids);
    this.schemas = {};
    this.forms = new Forms({ components: { schemas: this.schemas } });
  }

  /** Reads the list of routes. */
  static async at(address) {
    return new Routes(await read(address));
  }

  /** The route of a path below the entry point; undefined where none is declared. */
  find(path) {
    return this.routes.find((route) => route.pattern.test(path));
  }

  /** Sees that the operations of a route have their bodies and parameters. */
  async describe(route) {
    if (!route?.form) return;
    route.described ??= read(route.form).then(({ item, components }) => {
      Object.assign(this.schemas, components.schemas);
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
}
