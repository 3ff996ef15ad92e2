#!/usr/bin/env node
// Starts the program in the optional package of this platform, and exits with its exit code.
"use strict";

const { spawn } = require("node:child_process");

const name = `svc-conformance-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "svc-conformance.exe" : "svc-conformance";

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`svc-conformance: the package ${name} is not installed. Install without --omit=optional, or build the program from source.`);
  process.exit(5);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The terminal also sends Ctrl-C to the program, which then reports the records that are left.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("error", (error) => {
  console.error(`svc-conformance: ${program} cannot be started: ${error.message}`);
  process.exit(5);
});
child.on("exit", (code) => process.exit(code ?? 5));
