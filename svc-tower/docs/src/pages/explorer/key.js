// The key: in memory, and in this tab only where somebody asks for it.

import { el } from "./dom.js";
import { base, server } from "./server.js";

/** Tabs of another interface on this machine keep another one. */
const KEPT = `explorer-key ${new URL(base).pathname}`;

/** The browser may keep nothing at all: then the key stays in memory. */
function kept(use) {
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}

/** How many keys there were: an answer that is kept for one is not given to another. */
let turn = 0;

let key = kept((store) => store.getItem(KEPT)) ?? "";

/** The header of a request, and the key in it; null without one. */
export const auth = () => (key === "" || server.header === "" ? null : { header: server.header, value: key, turn });

/** The form at the head of the page; `use` is called with each other key. */
export function keyForm(use) {
  const field = el("input", { id: "key", type: "password", autocomplete: "off", spellcheck: "false", placeholder: "none" });
  const keep = el("input", { id: "keep", type: "checkbox", onchange: () => store() });
  const forget = el("button", { type: "button", class: "small", onclick: () => take("", false) }, "Forget key");
  const store = () => kept((session) => (keep.checked && key !== "" ? session.setItem(KEPT, key) : session.removeItem(KEPT)));
  const take = (text, isKept) => {
    turn += text === key ? 0 : 1;
    key = text;
    field.value = text;
    keep.checked = isKept;
    forget.hidden = text === "";
    store();
    use();
  };
  field.value = key;
  keep.checked = key !== "";
  forget.hidden = key === "";
  return el(
    "form",
    { class: "key", onsubmit: (event) => { event.preventDefault(); take(field.value.trim(), keep.checked); } },
    el("label", { for: "key" }, "API key"),
    field,
    el("button", { type: "submit" }, "Use key"),
    el("span", { class: "keep" }, keep, el("label", { for: "keep" }, "Keep in this tab")),
    forget,
  );
}
