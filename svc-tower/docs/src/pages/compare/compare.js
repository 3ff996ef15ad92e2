// Compares this server with another one: reads the capability document of the other one, and shows the result. Nothing leaves the
// browser.

import { el, fill, newId } from "./dom.js";
import { compare } from "./compare_diff.js";
import { LONGEST, Unreadable, read } from "./compare_read.js";
import { map, sentence, tables, text } from "./compare_view.js";
import { label } from "./picture.js";

const root = document.getElementById("compare");
const { capabilities } = root.dataset;

/** The declaration of this server, read once. */
let ours = null;

async function own() {
  if (ours === null) {
    const answer = await fetch(capabilities, { credentials: "omit", headers: { Accept: "application/hal+json" } });
    if (!answer.ok) throw new Unreadable(`The capability document of this server cannot be read: ${answer.status} ${answer.statusText}`);
    ours = read(await answer.text());
  }
  return ours;
}

const id = newId();
const paper = el("textarea", { id, rows: "8", spellcheck: "false", autocomplete: "off", "aria-describedby": `${id}-hint` });
const file = el("input", { id: `${id}-file`, type: "file", accept: ".json,application/json" });
const wrong = el("div", { class: "errors", role: "alert" });
const found = el("div", { class: "found" });

/** Shows problems at the field that has them. */
function refuse(problems) {
  paper.setAttribute("aria-invalid", "true");
  fill(wrong, el("p", {}, "This document cannot be compared."), el("ul", {}, problems.slice(0, 10).map((problem) => el("li", {}, problem))));
}

let turn = 0;

async function show(document_) {
  turn += 1;
  const mine = turn;
  root.setAttribute("aria-busy", "true");
  fill(wrong);
  fill(found);
  paper.removeAttribute("aria-invalid");
  try {
    const there = read(document_);
    const here = await own();
    const all = compare(here, there);
    const picture = await map(all, here, there);
    if (mine === turn) result(all, here, there, picture);
  } catch (error) {
    if (mine === turn) refuse(error instanceof Unreadable ? error.problems : [`The comparison failed: ${error.message}`]);
  } finally {
    if (mine === turn) root.removeAttribute("aria-busy");
  }
}

function result(all, here, there, picture) {
  const heading = el("h2", { tabindex: "-1" }, "Differences");
  const place = el("div", {}, tables(all, false));
  const whole = el("input", { type: "checkbox", onchange: () => fill(place, tables(all, whole.checked)) });
  const plain = el("pre", { tabindex: "0", role: "region", "aria-label": "The comparison as text" }, text(all, here, there));
  const said = el("span", { role: "status" });
  const details = el("details", {}, el("summary", {}, "As text"), plain);
  const take = async () => {
    try {
      await navigator.clipboard.writeText(plain.textContent);
      said.textContent = " Copied.";
    } catch {
      details.open = true;
      getSelection().selectAllChildren(plain);
      said.textContent = " The browser does not allow access to the clipboard: copy the text below.";
    }
  };
  fill(
    found,
    heading,
    el("p", { class: "summary" }, sentence(all)),
    el("p", {}, "This server: ", el("code", {}, label(here.address, 200)), ". Other server: ", there.address === "" ? "no address declared" : el("code", {}, label(there.address, 200)), "."),
    there.notes.map((note) => el("p", { class: "note" }, note)),
    el("p", {}, el("button", { type: "button", onclick: take }, "Copy as text"), said),
    picture,
    el("p", {}, el("label", {}, whole, " Also show equal rows")),
    place,
    details,
  );
  heading.focus();
}

/** Reads the text of a file that was chosen or dropped. */
async function open(chosen) {
  if (chosen === undefined || chosen === null) return;
  if (chosen.size > LONGEST) {
    fill(found);
    refuse([`The file has ${chosen.size.toLocaleString("en")} bytes; the maximum is ${LONGEST.toLocaleString("en")}. A capability document has about 70,000.`]);
    return;
  }
  paper.value = await chosen.text();
  show(paper.value);
}

/** Rejects a text that is too long for the field. */
function pasted(event) {
  const length = event.clipboardData?.getData("text/plain").length ?? 0;
  if (length <= LONGEST) return;
  event.preventDefault();
  refuse([`The text has ${length.toLocaleString("en")} characters; the maximum is ${LONGEST.toLocaleString("en")}.`]);
}

function begin() {
  const form = el(
    "form",
    { class: "other", "aria-label": "The other server", onsubmit: (event) => { event.preventDefault(); show(paper.value); } },
    el("label", { for: id }, "Capability document of the other server"),
    el("p", { class: "note", id: `${id}-hint` }, "Its entry point links to it as “service-meta”. Paste it, choose its file, or drop the file here. The comparison runs in this browser; nothing is sent."),
    paper,
    el("p", { class: "choose" }, el("label", { for: file.id }, "File"), file),
    el("button", { type: "submit" }, "Compare"),
    wrong,
  );
  paper.addEventListener("paste", pasted);
  file.addEventListener("change", () => open(file.files[0]));
  const over = (is) => (event) => {
    event.preventDefault();
    form.classList.toggle("over", is);
  };
  form.addEventListener("dragover", over(true));
  form.addEventListener("dragleave", over(false));
  form.addEventListener("drop", (event) => {
    over(false)(event);
    const dropped = event.dataTransfer.files[0];
    if (dropped !== undefined) open(dropped);
    else show((paper.value = event.dataTransfer.getData("text/plain")));
  });
  fill(root, form, found);
}

begin();
