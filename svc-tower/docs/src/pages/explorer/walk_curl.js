// Recorded requests as a shell script with curl and jq.

import { about, visible } from "./walk_program.js";

const octal = (text) => Array.from(new TextEncoder().encode(text), (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

/** Returns a text as a quoted word; invisible characters are written by `printf`. */
function text(inner) {
  const runs = [{ isSeen: true, letters: "" }];
  for (const letter of inner) {
    const isSeen = visible(letter, () => "") !== "";
    if (runs.at(-1).isSeen !== isSeen) runs.push({ isSeen, letters: "" });
    runs.at(-1).letters += letter;
  }
  const word = ({ isSeen, letters }) => (isSeen ? `'${letters.replaceAll("'", "'\\''")}'` : `"$(printf '${octal(letters)}')"`);
  return runs.filter(({ letters }) => letters !== "" || runs.length === 1).map(word).join("");
}

const HEAD = `set -eu
answers=$(mktemp -d)
trap 'rm -rf "$answers"' EXIT

fail() { printf '%s\\n' "$1" >&2; exit 1; }

# send STEP STATUS METHOD ADDRESS [OPTION OF CURL]...: sends a request and stores the response, which must have this status.
send() {
  step=$1 wanted=$2 method=$3 address=$4
  shift 4
  # A dot segment, also as %2e, could change the target.
  resolved=$(printf '%s/' "\${address%%[?#]*}" | sed 's/%2[Ee]/./g')
  case $resolved in *'\\'* | */./* | */../*) fail "Step $step: $address is not an address of $SVC_BASE" ;; esac
  case $address in "$SVC_BASE"*) ;; *) fail "Step $step: $address is not an address of $SVC_BASE" ;; esac
  : >"$answers/$step"
  status=$(curl --silent --show-error --globoff --request "$method" --header 'Accept: application/hal+json' --output "$answers/$step" \\
    --dump-header "$answers/$step.head" --write-out '%{http_code}' "$@" "$address")
  [ "$status" = "$wanted" ] || fail "Step $step: $method $address returned $status, expected $wanted: $(cat "$answers/$step")"
}`;

const PARTS = {
  at: `# at STEP NAME...: prints the address at a path of a response.
at() {
  step=$1
  shift
  jq --exit-status --raw-output 'getpath($ARGS.positional) | strings' "$answers/$step" --args -- "$@" ||
    fail "Step $step: the response has no $*"
}`,
  item: `# item STEP RELATION IDENTIFIER NAME...: the same for the item with this identifier.
item() {
  step=$1
  shift
  jq --exit-status --raw-output '$ARGS.positional as [$rel, $identifier] |
    first(._embedded[$rel][] | select(any(.identifiers[]?; . == $identifier))) | getpath($ARGS.positional[2:]) | strings' \\
    "$answers/$step" --args -- "$@" || fail "Step $step: $1 has no item $2"
}`,
  nth: `# nth STEP RELATION PLACE NAME...: the same for the item at this position.
nth() {
  step=$1
  shift
  jq --exit-status --raw-output '$ARGS.positional as [$rel, $place] |
    ._embedded[$rel][$place | tonumber] | getpath($ARGS.positional[2:]) | strings' \\
    "$answers/$step" --args -- "$@" || fail "Step $step: $1 has no item at $2"
}`,
  tag: `# tag STEP: prints the ETag of a response.
tag() {
  found=$(tr -d '\\r' <"$answers/$1.head" | sed -n 's/^[Ee][Tt][Aa][Gg]: *//p')
  [ -n "$found" ] || fail "Step $1: the response has no ETag"
  printf '%s' "$found"
}`,
  names: `# names STEP CODE: checks that the response has this error code.
names() { grep -qF "\\"$2\\"" "$answers/$1" || fail "Step $1: the response does not have the error code $2"; }`,
  new_key: `new_key() { od -An -N16 -tx1 /dev/urandom | tr -d ' \\n'; }`,
  id: `# id ADDRESS: prints its last part.
id() { printf '%s' "\${1%%\\?*}" | sed 's|/$||; s|.*/||'; }`,
};

export const file = "recorded_walk.sh";

export function write(program) {
  const used = new Set();
  const use = (name) => used.add(name) && name;
  const lines = [];
  const variables = new Map();
  /** Returns an address as a word of the shell. A value from a response is first assigned to a variable, so that a failure ends the script. */
  const word = ({ step, list, pick, path, isBase, fixed, query }) => {
    const rest = query === "" ? "" : text(query);
    if (isBase) return `"$SVC_BASE"${rest}`;
    if (fixed !== undefined) return `"$SVC_BASE"${text(fixed)}${rest}`;
    const names = path.map(text).join(" ");
    const call = list === undefined ? `${use("at")} ${step} ${names}`
      : pick.identifier === undefined ? `${use("nth")} ${step} ${text(list)} ${pick.place} ${names}`
      : `${use("item")} ${step} ${text(list)} ${text(pick.identifier)} ${names}`;
    if (!variables.has(call)) {
      variables.set(call, `address_${variables.size + 1}`);
      lines.push(`${variables.get(call)}=$(${call})`);
    }
    return `"$${variables.get(call)}"${rest}`;
  };
  const bodyOf = (body) => body.map((part) => {
    if (typeof part === "string") return part === "" ? "" : text(part);
    const address = word(part.address);
    return part.isId ? `"$(${use("id")} ${address})"` : address;
  }).join("");
  const keys = new Set();
  for (const step of program.steps) {
    lines.push("", `# ${step.number}. ${step.told}`);
    const options = step.hasKey ? [`--header "$key"`] : [];
    if (step.tag?.step !== undefined) {
      lines.push(`tag=$(${use("tag")} ${step.tag.step})`);
      options.push('--header "If-Match: $tag"');
    }
    if (step.tag && step.tag.step === undefined) options.push(`--header ${text(`If-Match: ${step.tag.text}`)}`);
    if (step.repeat !== undefined) {
      if (!keys.has(step.repeat)) lines.push(`key_${step.repeat}=$(${use("new_key")})`);
      keys.add(step.repeat);
      options.push(`--header "Idempotency-Key: $key_${step.repeat}"`);
    }
    if (step.body) options.push("--header 'Content-Type: application/json'", "--header 'Prefer: handling=strict'", `--data-raw ${bodyOf(step.body)}`);
    lines.push([`send ${step.number} ${step.status} ${step.method} ${word(step.address)}`, ...options].join(" \\\n  "));
    for (const code of step.codes) lines.push(`${use("names")} ${step.number} ${text(code)}`);
  }
  if (program.records.length > 0) lines.push("", "# The records, with their relations.");
  for (const { rel, address } of program.records) {
    const known = word(address);
    lines.push(`printf '%s\\t%s\\n' ${text(rel)} "$(${use("id")} ${known})"`);
  }
  const asked = `: "\${SVC_BASE:?is the URL of the entry point}"${program.needsKey ? ' "${SVC_KEY:?is an API key}"' : ""}`;
  const slash = "SVC_BASE=${SVC_BASE%/}/";
  const key = program.needsKey ? [`key=${text(`${program.keyHeader}: `)}"$SVC_KEY"`] : [];
  const comments = [...about(program), "It needs curl and jq."].map((line) => `# ${line}`);
  const parts = Object.entries(PARTS).filter(([name]) => used.has(name)).flatMap(([, part]) => ["", part]);
  return ["#!/bin/sh", ...comments, HEAD, ...parts, "", asked, slash, ...key, ...lines, ""].join("\n");
}
