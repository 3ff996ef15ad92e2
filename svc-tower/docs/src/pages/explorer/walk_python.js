// Recorded requests as a program in Python that uses only its standard library.

import { about, expressions, quotedForPython as quoted } from "./walk_program.js";

const HEAD = `import json, os, sys, urllib.error, urllib.request, uuid

BASE = os.environ["SVC_BASE"].rstrip("/") + "/"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Redirects are not followed: no other server may get the key."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirect)


class Answer:
    def __init__(self, step, text, tag):
        self.step, self.tag = step, tag
        self.json = json.loads(text) if text else {}

    def at(self, *names, within=None):
        """Returns the address at this path."""
        found = self.json if within is None else within
        for name in names:
            if not isinstance(found, dict) or name not in found:
                sys.exit(f"Step {self.step}: the response has no {' '.join(names)}")
            found = found[name]
        return found

    def item(self, relation, pick):
        """Returns the item with this identifier, or at this position."""
        items = self.json.get("_embedded", {}).get(relation, [])
        has = lambda at, one: at == pick if isinstance(pick, int) else pick in (one.get("identifiers") or [])
        for at, one in enumerate(items):
            if has(at, one):
                return one
        sys.exit(f"Step {self.step}: {relation} has no item {pick}")


def send(step, status, method, address, body=None, headers={}, codes=()):
    """Sends a request. The response must have this status and these error codes."""
    # A dot segment, also as %2e, could change the target.
    parts = address.split("?")[0].lower().replace("%2e", ".").replace("\\\\", "/").split("/")
    if not address.startswith(BASE) or "." in parts or ".." in parts:
        sys.exit(f"Step {step}: {address} is not an address of {BASE}")
    headers = {"Accept": "application/hal+json", **headers}
    if body is not None:
        headers |= {"Content-Type": "application/json", "Prefer": "handling=strict"}
    request = urllib.request.Request(address, body and body.encode(), headers, method=method)
    try:
        answer = opener.open(request, timeout=60)
    except urllib.error.HTTPError as error:
        answer = error
    text = answer.read().decode()
    if answer.status != status or not all(f'"{code}"' in text for code in codes):
        sys.exit(f"Step {step}: {method} {address} returned {answer.status}, expected {status} {' '.join(codes)}: {text}")
    return Answer(step, text, answer.headers["ETag"])


def id(address):
    """Returns the last part of an address."""
    return address.split("?")[0].rstrip("/").split("/")[-1]

`;

export const file = "recorded_walk.py";

export function write(program) {
  const read = ({ step, list, pick, path }) => {
    const within = list === undefined ? "" : `, within=step_${step}.item(${quoted(list)}, ${pick.identifier === undefined ? pick.place : quoted(pick.identifier)})`;
    return `step_${step}.at(${path.map(quoted).join(", ")}${within})`;
  };
  const { word, idOf, bodyOf } = expressions({ base: "BASE", quote: quoted, read });
  const lines = [];
  const keys = new Set();
  for (const step of program.steps) {
    lines.push("", `# ${step.number}. ${step.told}`);
    const headers = step.hasKey ? ["**KEY"] : [];
    if (step.tag) headers.push(`"If-Match": ${step.tag.step === undefined ? quoted(step.tag.text) : `step_${step.tag.step}.tag`}`);
    if (step.repeat !== undefined) {
      if (!keys.has(step.repeat)) lines.push(`key_${step.repeat} = str(uuid.uuid4())`);
      keys.add(step.repeat);
      headers.push(`"Idempotency-Key": key_${step.repeat}`);
    }
    const given = [
      step.body ? `    body=${bodyOf(step.body)},` : null,
      headers.length > 0 ? `    headers={${headers.join(", ")}},` : null,
      step.codes.length > 0 ? `    codes=[${step.codes.map(quoted).join(", ")}],` : null,
    ].filter((line) => line !== null);
    const call = `step_${step.number} = send(${step.number}, ${step.status}, ${quoted(step.method)}, ${word(step.address)}`;
    lines.push(given.length === 0 ? `${call})` : [`${call},`, ...given, ")"].join("\n"));
  }
  if (program.records.length > 0) lines.push("", "# The records, with their relations.");
  for (const { rel, address } of program.records) lines.push(`print(${quoted(rel)}, ${idOf(address)}, sep="\\t")`);
  const key = program.needsKey ? [`KEY = {${quoted(program.keyHeader)}: os.environ["SVC_KEY"]}`] : [];
  return [...about(program).map((line) => `# ${line}`), HEAD, ...key, ...lines, ""].join("\n");
}
