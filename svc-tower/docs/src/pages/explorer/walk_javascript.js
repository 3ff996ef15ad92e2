// Recorded requests as a program in JavaScript, for Node.

import { about, expressions, quoted } from "./walk_program.js";

const HEAD = `import process from "node:process";

const fail = (why) => {
  console.error(why);
  process.exit(1);
};

const given = process.env.SVC_BASE ?? "";
const base = /^https?:/.test(given) && URL.canParse(given) ? new URL(given.replace(/\\/?$/, "/")).href : undefined;

/** Sends a request. The response must have this status and these error codes. */
async function send(step, status, method, address, { body, headers = {}, codes = [] } = {}) {
  // With its dot segments resolved, as it is sent.
  if (!URL.canParse(address) || !new URL(address).href.startsWith(base)) fail(\`Step \${step}: \${address} is not an address of \${base}\`);
  const strict = body === undefined ? {} : { "Content-Type": "application/json", Prefer: "handling=strict" };
  const request = { method, body, headers: { Accept: "application/hal+json", ...strict, ...headers }, redirect: "manual" };
  const answer = await fetch(address, request);
  const text = await answer.text();
  if (answer.status !== status || !codes.every((code) => text.includes(\`"\${code}"\`))) {
    fail(\`Step \${step}: \${method} \${address} returned \${answer.status}, expected \${status} \${codes.join(" ")}: \${text}\`);
  }
  return { step, json: text === "" ? {} : JSON.parse(text), tag: answer.headers.get("ETag") };
}

/** Returns the address at a path of a response. */
const at = ({ step, json }, ...names) =>
  names.reduce((found, name) => found?.[name], json) ?? fail(\`Step \${step}: the response has no \${names.join(" ")}\`);

/** Returns the item of a response with this identifier, or at this position. */
function item({ step, json }, relation, pick) {
  const has = (one, place) => (typeof pick === "number" ? place === pick : one.identifiers?.includes(pick));
  const found = json._embedded?.[relation]?.find(has);
  return found ? { step, json: found } : fail(\`Step \${step}: \${relation} has no item \${pick}\`);
}

/** Returns the last part of an address. */
const id = (address) => address.split("?")[0].replace(/\\/$/, "").split("/").at(-1);
`;

export const file = "recorded_walk.mjs";

export function write(program) {
  const read = ({ step, list, pick, path }) => {
    const answer = list === undefined ? `step${step}` : `item(step${step}, ${quoted(list)}, ${pick.identifier === undefined ? pick.place : quoted(pick.identifier)})`;
    return `at(${[answer, ...path.map(quoted)].join(", ")})`;
  };
  const { word, idOf, bodyOf } = expressions({ base: "base", quote: quoted, read });
  const lines = [];
  const keys = new Set();
  for (const step of program.steps) {
    lines.push("", `// ${step.number}. ${step.told}`);
    const headers = step.hasKey ? ["...key"] : [];
    if (step.tag) headers.push(`"If-Match": ${step.tag.step === undefined ? quoted(step.tag.text) : `step${step.tag.step}.tag`}`);
    if (step.repeat !== undefined) {
      if (!keys.has(step.repeat)) lines.push(`const key${step.repeat} = crypto.randomUUID();`);
      keys.add(step.repeat);
      headers.push(`"Idempotency-Key": key${step.repeat}`);
    }
    const given = [
      step.body ? `  body: ${bodyOf(step.body)},` : null,
      headers.length > 0 ? `  headers: { ${headers.join(", ")} },` : null,
      step.codes.length > 0 ? `  codes: [${step.codes.map(quoted).join(", ")}],` : null,
    ].filter((line) => line !== null);
    const call = `const step${step.number} = await send(${step.number}, ${step.status}, ${quoted(step.method)}, ${word(step.address)}`;
    lines.push(given.length === 0 ? `${call});` : [`${call}, {`, ...given, "});"].join("\n"));
  }
  if (program.records.length > 0) lines.push("", "// The records, with their relations.");
  for (const { rel, address } of program.records) lines.push(`console.log(\`\${${quoted(rel)}}\\t\${${idOf(address)}}\`);`);
  const key = program.needsKey ? [`const key = { ${quoted(program.keyHeader)}: process.env.SVC_KEY };`] : [];
  const known = program.needsKey ? "base === undefined || process.env.SVC_KEY === undefined" : "base === undefined";
  const asked = `if (${known}) fail("Set SVC_BASE to the URL of the entry point${program.needsKey ? " and SVC_KEY to an API key" : ""}.");`;
  return [...about(program).map((line) => `// ${line}`), HEAD, asked, ...key, ...lines, ""].join("\n");
}
