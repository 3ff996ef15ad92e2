// A request as a text to copy, in each language.

import { headersOf as sentHeaders } from "./http.js";

/** The placeholder for the key: the real one is written only on request. */
export const PLACEHOLDER = "YOUR_KEY";

const quoted = (text) => JSON.stringify(text);

/** Returns the headers that a copy of a request sends. */
const headersOf = (request, key) => [...(request.keyHeader ? [[request.keyHeader, key]] : []), ...Object.entries(sentHeaders(request))];

function curl(request, key) {
  const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const method = request.method === "GET" ? "" : `-X ${request.method} `;
  const lines = [`curl ${method}${shell(request.address)}`];
  for (const [name, value] of headersOf(request, key)) lines.push(`  -H ${shell(`${name}: ${value}`)}`);
  if (request.body !== undefined) lines.push(`  -d ${shell(request.body)}`);
  return lines.join(" \\\n");
}

function python(request, key) {
  const headers = headersOf(request, key).map(([name, value]) => `${quoted(name)}: ${quoted(value)}`);
  // A JSON string with every escape doubled is a Python string of the JSON.
  const body = request.body === undefined ? [] : [`body = ${quoted(request.body)}`, ""];
  const data = request.body === undefined ? "None" : "body.encode()";
  return [
    "import urllib.request",
    "",
    ...body,
    "request = urllib.request.Request(",
    `    ${quoted(request.address)},`,
    `    data=${data},`,
    `    headers={${headers.join(", ")}},`,
    `    method=${quoted(request.method)},`,
    ")",
    "with urllib.request.urlopen(request) as answer:",
    "    print(answer.status, answer.read().decode())",
  ].join("\n");
}

function javascript(request, key) {
  const headers = headersOf(request, key).map(([name, value]) => `${quoted(name)}: ${quoted(value)}`);
  const lines = [`const answer = await fetch(${quoted(request.address)}, {`, `  method: ${quoted(request.method)},`];
  if (headers.length > 0) lines.push(`  headers: { ${headers.join(", ")} },`);
  if (request.body !== undefined) lines.push(`  body: ${quoted(request.body)},`);
  return [...lines, "});", "console.log(answer.status, await answer.text());"].join("\n");
}

function rust(request, key) {
  const lines = [`let mut answer = ureq::${request.method.toLowerCase()}(${quoted(request.address)})`];
  for (const [name, value] of headersOf(request, key)) lines.push(`    .header(${quoted(name)}, ${quoted(value)})`);
  if (request.body === undefined) {
    lines.push("    .call()?;");
  } else {
    // As many marks as the body needs so as not to end early.
    let marks = "#";
    while (request.body.includes(`"${marks}`)) marks += "#";
    lines.push(`    .send(r${marks}"${request.body}"${marks})?;`);
  }
  return [...lines, 'println!("{} {}", answer.status(), answer.body_mut().read_to_string()?);'].join("\n");
}

/** A request in each language, from the request and the text for its key. */
export const LANGUAGES = { curl, Python: python, JavaScript: javascript, Rust: rust };
