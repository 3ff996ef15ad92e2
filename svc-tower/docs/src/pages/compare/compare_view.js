// The comparison as tables, on the map, and as a text to copy.

import { el } from "./dom.js";
import { DIFFERS, HERE, SAME, THERE, tally } from "./compare_diff.js";
import { badge, copy, label } from "./picture.js";

/** The maximum number of rows of a table, and of characters of a text: a document may be very long. */
const MOST_ROWS = 400;
const LONGEST = 1000;

const WORDS = { [SAME]: "the same", [DIFFERS]: "differs", [HERE]: "only here", [THERE]: "only there" };

const shown = (text) => label(text, LONGEST);

/** Returns a table with the rows that differ, or with all. */
function table({ title, rows }, isWhole) {
  const wanted = isWhole ? rows : rows.filter(({ verdict }) => verdict !== SAME);
  if (wanted.length === 0) return null;
  const line = ({ name, here, there, verdict }) =>
    el("tr", { class: verdict }, el("th", { scope: "row" }, shown(name)), el("td", {}, shown(here)), el("td", {}, shown(there)), el("td", { class: "verdict" }, WORDS[verdict]));
  const more = wanted.length - MOST_ROWS;
  return el("section", {},
    el("h3", {}, shown(title)),
    el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": shown(title) },
      el("table", {},
        el("caption", {}, isWhole ? `All ${rows.length}` : `${wanted.length} of ${rows.length} differ`),
        el("thead", {}, el("tr", {}, ["", "Here", "There", "Verdict"].map((head) => (head === "" ? el("td", {}) : el("th", { scope: "col" }, head))))),
        el("tbody", {}, wanted.slice(0, MOST_ROWS).map(line)))),
    more > 0 ? el("p", { class: "note" }, `${more} more are not shown.`) : null);
}

export const tables = (all, isWhole) => all.map((one) => table(one, isWhole));

/** Returns the result as one sentence. */
export function sentence(all) {
  const count = tally(all);
  const unlike = count[DIFFERS] + count[HERE] + count[THERE];
  if (unlike === 0) return `Both servers declare the same: ${count[SAME]} equal rows.`;
  return `${count[HERE]} only here, ${count[THERE]} only there, ${count[DIFFERS]} differ, ${count[SAME]} the same.`;
}

/** Returns the whole comparison as a text. */
export function text(all, here, there) {
  const lines = ["Capabilities compared", `here:  ${shown(here.address)}`, `there: ${shown(there.address) || "no address declared"}`, sentence(all)];
  for (const { title, rows } of all) {
    const unlike = rows.filter(({ verdict }) => verdict !== SAME);
    if (unlike.length === 0) continue;
    lines.push("", shown(title));
    for (const verdict of [HERE, THERE]) {
      const names = unlike.filter((row) => row.verdict === verdict).map(({ name }) => shown(name));
      if (names.length > 0) lines.push(`- ${WORDS[verdict]}: ${names.slice(0, MOST_ROWS).join(", ")}`);
    }
    for (const row of unlike.filter(({ verdict }) => verdict === DIFFERS).slice(0, MOST_ROWS)) {
      lines.push(`- ${shown(row.name)}: here ${shown(row.here)}; there ${shown(row.there)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** Marks a node on the map: by its style, and by a word if only one of the servers has it. */
function mark(node, here, there, unlike = 0) {
  node.classList.remove("off");
  node.removeAttribute("aria-label");
  node.classList.add(here && there ? "both" : here ? "here" : there ? "there" : "off");
  const name = node.querySelector("text").textContent;
  const badged = here && there ? (unlike > 0 ? `≠ ${unlike}` : null) : here ? "only here" : there ? "only there" : null;
  if (badged !== null) badge(node, badged);
  // The label contains what is visible, and its meaning.
  const seen = badged === null ? name : `${name} ${badged}`;
  const meant = !here ? "on neither" : unlike === 0 ? "the same" : unlike === 1 ? "one difference" : `${unlike} differences`;
  node.setAttribute("aria-label", here === there ? `${seen}: ${meant}` : seen);
}

/** Returns the map of both servers. */
export async function map(all, here, there) {
  const svg = await copy();
  const unlike = (isOf) => all.reduce((sum, { kind, rows }) => sum + rows.filter((row) => row.verdict !== SAME && isOf(kind, row.name)).length, 0);
  for (const node of svg.querySelectorAll("a[data-kind]")) {
    const { kind } = node.dataset;
    const isOf = (of, name) => of === kind || name.startsWith(`${kind}: `);
    mark(node, here.kinds.has(kind), there.kinds.has(kind), unlike(isOf));
  }
  const has = (declared, name) => declared.helpers.has(name);
  for (const node of svg.querySelectorAll("a[data-helper]")) {
    const { helper } = node.dataset;
    mark(node, has(here, helper), has(there, helper), here.helpers.get(helper)?.anonymous !== there.helpers.get(helper)?.anonymous ? 1 : 0);
  }
  const look = (path, ours, theirs) => {
    path.classList.remove("off");
    path.classList.add(ours && theirs ? "both" : ours ? "here" : theirs ? "there" : "off");
  };
  for (const path of svg.querySelectorAll("path[data-of]")) look(path, has(here, path.dataset.of), has(there, path.dataset.of));
  for (const path of svg.querySelectorAll("path[data-links]")) {
    const isIn = (declared) => path.dataset.links.split(" ").some((link) => declared.kinds.get(link.split(".")[0])?.links.has(link.split(".")[1]));
    look(path, isIn(here), isIn(there));
  }
  const legend = [["both", "on both; ≠ with the number of differences"], ["here", "only here: on this server, not on the other one"], ["there", "only there: on the other one, not on this server"], ["off", "on neither"]];
  return el("figure", { class: "map" },
    el("div", { class: "map-box", tabindex: "0", role: "region", "aria-label": "Both servers on the map" }, svg),
    el("figcaption", {}, el("ul", { class: "map-legend" }, legend.map(([name, said]) => el("li", {}, el("span", { class: `tint ${name}`, "aria-hidden": "true" }), ` ${said}`)))));
}
