// Reports each requirement of the conformance suite as a test of Node.js:
//
//     node --test examples/javascript/conformance.test.mjs
//
// For Jest, remove the import of `node:test`: its global functions `test` and `test.skip` do the same.
//
// The program runs once, with the options of `svc-conformance.toml` in the current folder and those in the environment variable
// SVC_CONFORMANCE_ARGUMENTS, separated by spaces. SVC_CONFORMANCE is the path of the program if it is not in PATH.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

// The exit codes of a run that ends with a report.
const REPORTED = [0, 1, 3, 6, 7];

// Runs the suite and returns every requirement with its outcome.
function requirements() {
  const program = process.env.SVC_CONFORMANCE ?? "svc-conformance";
  const given = (process.env.SVC_CONFORMANCE_ARGUMENTS ?? "").split(" ").filter(Boolean);
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  try {
    const report = join(folder, "report.json");
    const ended = spawnSync(program, ["run", ...given, "--quiet", "--report", `json=${report}`], { encoding: "utf8" });
    if (!REPORTED.includes(ended.status)) {
      throw ended.error ?? new Error(ended.stderr);
    }
    return JSON.parse(readFileSync(report, "utf8")).rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const { id, level, outcome, reason } of requirements()) {
  const isOptional = outcome === "inconclusive" && level !== "MUST";
  const define = isOptional || ["not_applicable", "disabled", "waived"].includes(outcome) ? test.skip : test;
  define(`${id} ${level}`, () => {
    if (!["pass", "warn"].includes(outcome)) {
      throw new Error(reason);
    }
  });
}
