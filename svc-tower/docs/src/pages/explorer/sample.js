// The request next to its form, in a chosen language, updated while the user types.

import { el, newId } from "./dom.js";
import { copy } from "./exchange.js";
import { during } from "./frame.js";
import { auth } from "./key.js";
import { LANGUAGES, PLACEHOLDER } from "./languages.js";

/** The language that was chosen last. */
let chosen = Object.keys(LANGUAGES)[0];

/** Returns the sample for a form, updated with each change; `request` returns the request to send. */
export function sample(form, request) {
  const ids = [newId(), newId()];
  const out = el("pre", { tabindex: "0", role: "group", "aria-label": "Code of the request" });
  const withKey = el("input", { id: ids[1], type: "checkbox" });
  const write = () => {
    const key = withKey.checked ? auth()?.value : undefined;
    out.textContent = LANGUAGES[chosen]({ ...request(), keyHeader: auth()?.header }, key ?? PLACEHOLDER);
  };
  const choose = () => {
    chosen = language.value;
    write();
  };
  const language = el("select", { id: ids[0], onchange: choose }, Object.keys(LANGUAGES).map((name) => el("option", { selected: name === chosen }, name)));
  withKey.addEventListener("change", write);
  for (const event of ["input", "change"]) form.addEventListener(event, write);
  // Buttons that add and remove elements change the form after this event.
  form.addEventListener("click", () => queueMicrotask(write));
  write();
  return el(
    "section",
    { class: "sample", "aria-label": "This request as code" },
    el("h2", {}, "This request as code"),
    el(
      "div",
      { class: "copies" },
      el("label", { for: ids[0] }, "Language"),
      language,
      auth() === null ? null : el("span", { class: "keep" }, withKey, el("label", { for: ids[1] }, "With my key")),
      el("button", { type: "button", class: "small", onclick: () => during(() => copy(out.textContent, "The request", out)) }, "Copy code"),
    ),
    out,
  );
}
