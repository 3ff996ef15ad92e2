// The differences between the declarations of two servers: tables of rows, each with a verdict.

/** Verdicts. `HERE` and `THERE`: only one of the servers has it. */
export const [SAME, DIFFERS, HERE, THERE] = ["same", "differs", "here", "there"];

const row = (name, here, there, verdict) => ({ name, here, there, verdict });

/** Returns a row for something that each server either has or does not have. */
function has(name, here, there) {
  const text = (is) => (is ? "yes" : "no");
  return row(name, text(here), text(there), here && there ? SAME : here ? HERE : THERE);
}

const union = (one, other) => [...new Set([...one, ...other])];

/** Returns the rows of two sets. */
const ofSets = (here, there, name = (it) => it) => union(here, there).map((it) => has(name(it), here.has(it), there.has(it)));

/** The properties of a field, each as a text. */
const PROPERTIES = [
  (field) => field.type,
  (field) => (field.computed ? "set by the server" : field.writable ? "can be written" : "cannot be written"),
  (field) => (field.readable ? "can be read" : "cannot be read"),
  (field) => (field.required ? "required" : "not required"),
  (field) => (field.minimum === null ? "no minimum" : `at least ${field.minimum}`),
  (field) => (field.maximum === null ? "no maximum" : `at most ${field.maximum}`),
  (field) => (field.longest === null ? "any length" : `at most ${field.longest} characters`),
  (field) => (field.most === null ? "any number of entries" : `at most ${field.most} ${field.most === 1 ? "entry" : "entries"}`),
  (field) => (field.default === null ? "no default" : `default ${field.default}`),
];

/** Returns the values that only one of two fields lists. */
function values(one, other) {
  if (one.values === null) return other.values === null ? null : "lists no values";
  if (other.values === null) return `one of ${[...one.values].join(", ")}`;
  const more = [...one.values].filter((value) => !other.values.has(value));
  const isSame = more.length === 0 && one.values.size === other.values.size;
  return isSame ? null : more.length === 0 ? "no more values" : `also ${more.join(", ")}`;
}

function field(name, here, there) {
  if (here === undefined || there === undefined) {
    const text = (one) => (one === undefined ? "no" : [one.type, one.required ? "required" : null].filter(Boolean).join(", "));
    return row(name, text(here), text(there), there === undefined ? HERE : THERE);
  }
  const unlike = PROPERTIES.filter((property) => property(here) !== property(there));
  const all = (one, other) => [...unlike.map((property) => property(one)), values(one, other)].filter((text) => text !== null).join(", ");
  const [ours, theirs] = [all(here, there), all(there, here)];
  return ours === "" && theirs === "" ? row(name, here.type, there.type, SAME) : row(name, ours, theirs, DIFFERS);
}

/** Returns a kind in short. */
const gist = (kind) => (kind === undefined ? "no" : `${[...kind.operations].join(", ") || "no operations"}; ${kind.fields.size} fields`);

function kindRow(name, here, there) {
  if (here === undefined || there === undefined) return row(name, gist(here), gist(there), there === undefined ? HERE : THERE);
  return row(name, "yes", "yes", SAME);
}

const helperText = (helper) => (helper === undefined ? "no" : helper.anonymous ? "with or without a key" : "with a key");

function helper(name, here, there) {
  const [ours, theirs] = [helperText(here), helperText(there)];
  if (here === undefined || there === undefined) return row(name, ours, theirs, there === undefined ? HERE : THERE);
  return row(name, ours, theirs, ours === theirs ? SAME : DIFFERS);
}

/** Returns all tables. A kind has its own tables only if both servers have it; otherwise its one row is sufficient. */
export function compare(here, there) {
  const names = union(here.kinds.keys(), there.kinds.keys()).toSorted();
  const shared = names.filter((name) => here.kinds.has(name) && there.kinds.has(name));
  const each = (list) => shared.flatMap((name) => ofSets(here.kinds.get(name)[list], there.kinds.get(name)[list], (it) => `${name}: ${it}`));
  const tables = [
    { title: "Kinds", rows: names.map((name) => kindRow(name, here.kinds.get(name), there.kinds.get(name))) },
    { title: "Operations", rows: each("operations") },
    ...shared.map((name) => {
      const [ours, theirs] = [here.kinds.get(name).fields, there.kinds.get(name).fields];
      return { title: `Fields of ${name}`, kind: name, rows: union(ours.keys(), theirs.keys()).map((path) => field(path, ours.get(path), theirs.get(path))) };
    }),
    { title: "Links", rows: each("links") },
    { title: "Collections of records", rows: each("sub") },
    { title: "Filters", rows: each("filter") },
    { title: "Orders", rows: each("order") },
    { title: "Helpers", rows: union(here.helpers.keys(), there.helpers.keys()).toSorted().map((name) => helper(name, here.helpers.get(name), there.helpers.get(name))) },
    { title: "Action functions", rows: ofSets(here.functions, there.functions) },
    { title: "Behaviours", rows: ofSets(here.behaviours, there.behaviours) },
    { title: "Entry point", rows: ofSets(here.entry, there.entry) },
    { title: "Limits and names", rows: [...here.general].map(([name, ours]) => row(name, ours, there.general.get(name), ours === there.general.get(name) ? SAME : DIFFERS)) },
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

/** Returns the number of rows with each verdict. */
export function tally(tables) {
  const rows = tables.flatMap(({ rows }) => rows);
  return Object.fromEntries([SAME, DIFFERS, HERE, THERE].map((verdict) => [verdict, rows.filter((it) => it.verdict === verdict).length]));
}
