// A walk as a script of the shell, with curl and jq.

import { about, visible } from "./walk_program.js";

const octal = (text) => Array.from(new TextEncoder().encode(text), (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

/** A text as a word: within quotes; what is not seen in it is written by `printf`. */
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

# send STEP STATUS METHOD ADDRESS [OPTION OF CURL]...: keeps the answer, which has to have this status.
send() {
  step=$1 wanted=$2 method=$3 address=$4
  shift 4
  # A step up in a path, written out or as %2e, would lead elsewhere.
  resolved=$(printf '%s/' "\${address%%[?#]*}" | sed 's/%2[Ee]/./g')
  case $resolved in *'\\'* | */./* | */../*) fail "Step $step: $address is no address of $SVC_BASE" ;; esac
  case $address in "$SVC_BASE"*) ;; *) fail "Step $step: $address is no address of $SVC_BASE" ;; esac
  : >"$answers/$step"
  status=$(curl --silent --show-error --globoff --request "$method" --header 'Accept: application/hal+json' --output "$answers/$step" \\
    --dump-header "$answers/$step.head" --write-out '%{http_code}' "$@" "$address")
  [ "$status" = "$wanted" ] || fail "Step $step: $method $address was answered with $status, expected $wanted: $(cat "$answers/$step")"
}`;

const PARTS = {
  at: `# at STEP NAME...: the address that stands there in an answer.
at() {
  step=$1
  shift
  jq --exit-status --raw-output 'getpath($ARGS.positional) | strings' "$answers/$step" --args -- "$@" ||
    fail "Step $step: the answer has no $*"
}`,
  item: `# item STEP RELATION IDENTIFIER NAME...: the same of the item that has this identifier.
item() {
  step=$1
  shift
  jq --exit-status --raw-output '$ARGS.positional as [$rel, $identifier] |
    first(._embedded[$rel][] | select(any(.identifiers[]?; . == $identifier))) | getpath($ARGS.positional[2:]) | strings' \\
    "$answers/$step" --args -- "$@" || fail "Step $step: $1 has no item $2"
}`,
  nth: `# nth STEP RELATION PLACE NAME...: the same of the item at this place.
nth() {
  step=$1
  shift
  jq --exit-status --raw-output '$ARGS.positional as [$rel, $place] |
    ._embedded[$rel][$place | tonumber] | getpath($ARGS.positional[2:]) | strings' \\
    "$answers/$step" --args -- "$@" || fail "Step $step: $1 has no item at $2"
}`,
  tag: `# tag STEP: the ETag of an answer.
tag() {
  found=$(tr -d '\\r' <"$answers/$1.head" | sed -n 's/^[Ee][Tt][Aa][Gg]: *//p')
  [ -n "$found" ] || fail "Step $1: the answer has no ETag"
  printf '%s' "$found"
}`,
  names: `# names STEP CODE: the answer names this error.
names() { grep -qF "\\"$2\\"" "$answers/$1" || fail "Step $1: the answer does not name $2"; }`,
  new_key: `new_key() { od -An -N16 -tx1 /dev/urandom | tr -d ' \\n'; }`,
  id: `# id ADDRESS: its last part.
id() { printf '%s' "\${1%%\\?*}" | sed 's|/$||; s|.*/||'; }`,
};

export const file = "recorded_walk.sh";

export function write(program) {
  const used = new Set();
  const use = (name) => used.add(name) && name;
  const lines = [];
  const variables = new Map();
  /** An address as a word of the shell; what is read from an answer is put into a variable first: a failure ends the script there. */
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
  if (program.records.length > 0) lines.push("", "# The records, by their relations.");
  for (const { rel, address } of program.records) {
    const known = word(address);
    lines.push(`printf '%s\\t%s\\n' ${text(rel)} "$(${use("id")} ${known})"`);
  }
  const asked = `: "\${SVC_BASE:?is the address of the entry point}"${program.needsKey ? ' "${SVC_KEY:?is an API key}"' : ""}`;
  const slash = "SVC_BASE=${SVC_BASE%/}/";
  const key = program.needsKey ? [`key=${text(`${program.keyHeader}: `)}"$SVC_KEY"`] : [];
  const comments = [...about(program), "It needs curl and jq."].map((line) => `# ${line}`);
  const parts = Object.entries(PARTS).filter(([name]) => used.has(name)).flatMap(([, part]) => ["", part]);
  return ["#!/bin/sh", ...comments, HEAD, ...parts, "", asked, slash, ...key, ...lines, ""].join("\n");
}
