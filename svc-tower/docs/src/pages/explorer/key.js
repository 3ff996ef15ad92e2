// The key: in memory, and in this tab only if the user chooses that.

import { el } from "./dom.js";
import { base, server } from "./server.js";

/** Tabs of another API on this machine store another key. */
const KEPT = `explorer-key ${new URL(base).pathname}`;

/** The browser may refuse to store anything: the key then stays in memory. */
function kept(use) {
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}

/** The number of the current key: responses that are stored for one key are not used for another. */
let turn = 0;

let key = kept((store) => store.getItem(KEPT)) ?? "";

/** Returns the header of a request, with the key; null without a key. */
export const auth = () => (key === "" || server.header === "" ? null : { header: server.header, value: key, turn });

/** Returns the form at the top of the page; `use` is called with each new key. */
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
    el("span", { class: "keep" }, keep, el("label", { for: "keep" }, "Remember in this tab")),
    forget,
  );
}
