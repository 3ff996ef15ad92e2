// Requests: sent, measured, and shown as something to paste.

/** What stands for the key in copies of a request: the real one stays in memory. */
const KEY = "YOUR_KEY";

/** What is sent with a body: a mistake in it is an error, not passed over. */
const BODY_HEADERS = { "Content-Type": "application/json", Prefer: "handling=strict" };

/** The entity tag of what was read last from each address. */
const tags = new Map();

/** That of an address; undefined where none is known. */
export const tagOf = (address) => tags.get(address);

/**
 * Sends a request and reads its answer as text and, where it is JSON, as a value.
 * `guards` are headers that guard a write, `key` is a header's name and value, or null.
 */
export async function send({ method, address, body, guards = {} }, key) {
  const headers = { Accept: "application/hal+json", ...guards };
  if (key) headers[key.header] = key.value;
  if (body !== undefined) Object.assign(headers, BODY_HEADERS);
  const begun = performance.now();
  // What anybody may read is kept by the browser, and asked for by its tag; nothing else is.
  const cache = key ? "no-store" : "no-cache";
  const response = await fetch(address, { method, headers, body, cache, redirect: "error", credentials: "omit" });
  const text = await response.text();
  const milliseconds = performance.now() - begun;
  const tag = response.headers.get("ETag");
  if (response.ok && tag !== null) tags.set(response.headers.get("Content-Location") ?? address, tag);
  let json = null;
  try {
    json = text === "" ? null : JSON.parse(text);
  } catch {
    // Something else than JSON is shown as it is.
  }
  return {
    request: { method, address, body, keyHeader: key?.header, guards },
    status: response.status,
    reason: response.statusText,
    headers: [...response.headers.entries()],
    milliseconds,
    text,
    json,
    tag,
  };
}

const quoted = (text) => JSON.stringify(text);

/** The headers that a copy of a request sends. */
function headersOf(request) {
  const headers = [];
  if (request.keyHeader) headers.push([request.keyHeader, KEY]);
  headers.push(...Object.entries(request.guards));
  if (request.body !== undefined) headers.push(...Object.entries(BODY_HEADERS));
  return headers;
}

function curl(request) {
  const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const method = request.method === "GET" ? "" : `-X ${request.method} `;
  const lines = [`curl ${method}${shell(request.address)}`];
  for (const [name, value] of headersOf(request)) lines.push(`  -H ${shell(`${name}: ${value}`)}`);
  if (request.body !== undefined) lines.push(`  -d ${shell(request.body)}`);
  return lines.join(" \\\n");
}

function python(request) {
  const headers = headersOf(request).map(([name, value]) => `${quoted(name)}: ${quoted(value)}`);
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

function javascript(request) {
  const headers = headersOf(request).map(([name, value]) => `${quoted(name)}: ${quoted(value)}`);
  const lines = [`const answer = await fetch(${quoted(request.address)}, {`, `  method: ${quoted(request.method)},`];
  if (headers.length > 0) lines.push(`  headers: { ${headers.join(", ")} },`);
  if (request.body !== undefined) lines.push(`  body: ${quoted(request.body)},`);
  return [...lines, "});", "console.log(answer.status, await answer.text());"].join("\n");
}

function rust(request) {
  const lines = [`let mut answer = ureq::${request.method.toLowerCase()}(${quoted(request.address)})`];
  for (const [name, value] of headersOf(request)) lines.push(`    .header(${quoted(name)}, ${quoted(value)})`);
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

/** A request in each language. */
export const LANGUAGES = { curl, Python: python, JavaScript: javascript, Rust: rust };
