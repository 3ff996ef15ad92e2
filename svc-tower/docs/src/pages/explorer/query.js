// The form for the query of a collection: a filter and an order, if the server declares them.

import { el } from "./dom.js";
import { forms } from "./form.js";
import { go } from "./go.js";

/** Returns the form for declared parameters; `problems` are shown at their fields. */
export function queryForm(declared, address, problems) {
  const { searchParams } = new URL(address);
  const properties = Object.fromEntries(declared.map(({ name, description, schema }) => [name, { ...schema, description }]));
  const asked = Object.fromEntries(Object.keys(properties).filter((name) => searchParams.has(name)).map((name) => [name, searchParams.get(name)]));
  const form = forms.make({ type: "object", properties }, asked);
  const all = () => Object.assign(new URL(address), { search: "" });
  const submit = (event) => {
    event.preventDefault();
    const wanted = all();
    for (const [name, text] of Object.entries(form.body())) wanted.searchParams.set(name, text);
    go(wanted.href);
  };
  const clear = el("button", { type: "button", onclick: () => go(all().href) }, "Show all");
  const isOpen = Object.keys(asked).length > 0;
  const node = el(
    "details",
    { class: "query", open: isOpen },
    el("summary", {}, "Filter"),
    el("form", { onsubmit: submit, "aria-label": "Filter", novalidate: true }, form.node, el("button", { type: "submit" }, "Apply"), " ", isOpen ? clear : null),
  );
  return { node, shown: () => form.show(problems) };
}
