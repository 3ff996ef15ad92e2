// Recorded requests as Rust statements: those of the test and of the check differ in how they wait for a response.

import { plain } from "./dom.js";

const isSeen = (text) => plain(text) === text && !/[\n\r\t\u200c\u200d]/.test(text);

function escaped(letter) {
  if (letter === '"' || letter === "\\") return `\\${letter}`;
  return isSeen(letter) ? letter : `\\u{${letter.codePointAt(0).toString(16)}}`;
}

/** Returns a text as a literal without invisible characters: a raw one if the text has quotes. */
export function literal(text) {
  if (!isSeen(text)) return `"${Array.from(text, escaped).join("")}"`;
  if (!/["\\]/.test(text)) return `"${text}"`;
  let marks = "";
  while (text.includes(`"${marks}`)) marks += "#";
  // Rust allows no more marks.
  if (marks.length > 255) return `"${Array.from(text, escaped).join("")}"`;
  return `r${marks}"${text}"${marks}`;
}

/** Returns several texts, joined, as a `&str`. */
const joined = (parts) => (parts.length === 1 ? parts[0] : `&[${parts.join(", ")}].concat()`);

const list = (texts) => `&[${texts.map(literal).join(", ")}]`;

/** Returns an address as a `String`; that of the entry point is borrowed. */
function owned({ step, list: items, pick, path, isBase, fixed, query }) {
  if (isBase && query === "") return "walk.base()";
  if (path === undefined) return `[walk.base(), ${literal((fixed ?? "") + query)}].concat()`;
  const item = items === undefined ? ""
    : pick.identifier === undefined ? `.nth(${literal(items)}, ${pick.place})?`
    : `.item(${literal(items)}, ${literal(pick.identifier)})?`;
  return `step_${step}${item}.url_at(${list(path)})?${query === "" ? "" : ` + ${literal(query)}`}`;
}

/** Returns an address as a `&str`. */
function word(address) {
  const text = owned(address);
  if (address.isBase && address.query === "") return text;
  return address.path !== undefined && address.query !== "" ? `&(${text})` : `&${text}`;
}

const piece = (part) => (typeof part === "string" ? literal(part) : part.isId ? `id_from_url(${word(part.address)})` : word(part.address));

/** Returns the steps whose response a later step, or a record, reads. */
function readIn({ steps, records }) {
  const bodies = steps.flatMap(({ body }) => body ?? []).map((part) => part.address);
  const all = [...steps.map(({ address }) => address), ...bodies, ...steps.map(({ tag }) => tag), ...records.map(({ address }) => address)];
  return new Set(all.map((one) => one?.step));
}

/** Returns the lines of a function, in which `walk` sends; `waits` follows each request, `newKey` creates a new key. */
export function statements(program, { waits, newKey }) {
  const read = readIn(program);
  const keys = new Set();
  const lines = [];
  for (const step of program.steps) {
    lines.push("", `// ${step.number}. ${step.told}`);
    if (step.repeat !== undefined && !keys.has(step.repeat)) lines.push(`let key_${step.repeat} = ${newKey};`);
    keys.add(step.repeat);
    const name = read.has(step.number) ? `let step_${step.number} = ` : "";
    lines.push(`${name}walk`, `    .request(${step.number}, ${literal(step.method)}, ${word(step.address)})`);
    if (!step.hasKey) lines.push("    .without_key()");
    if (step.tag) lines.push(`    .header("If-Match", ${step.tag.step === undefined ? literal(step.tag.text) : `&step_${step.tag.step}.tag`})`);
    if (step.repeat !== undefined) lines.push(`    .header("Idempotency-Key", &key_${step.repeat})`);
    if (step.body) lines.push(`    .body(${joined(step.body.filter((part) => part !== "").map(piece))})`);
    lines.push(`    .send_expecting(${step.status}, ${list(step.codes)})${waits}?;`);
  }
  if (program.records.length > 0) {
    const records = program.records.map(({ rel, address }) => `    (${literal(rel)}, ${owned(address)}),`);
    lines.push("", "// The records, with their relations.", "let records = [", ...records, "];");
    lines.push("for (relation, address) in records {", '    println!("{relation}\\t{}", id_from_url(&address));', "}");
  }
  return [...lines.slice(1), "Ok(())"].map((line) => (line === "" ? "" : `    ${line}`));
}
