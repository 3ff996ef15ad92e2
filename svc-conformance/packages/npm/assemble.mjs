// Assembles the npm packages from built programs: `node assemble.mjs VERSION FOLDER OS-CPU=PROGRAM...`, such as
// `linux-x64=target/release/svc-conformance`. Each platform becomes a package, and an optional dependency of the main one.
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [version, folder, ...programs] = process.argv.slice(2);
if (programs.length === 0) {
  console.error("usage: node assemble.mjs VERSION FOLDER OS-CPU=PROGRAM...");
  process.exit(2);
}
const here = fileURLToPath(new URL(".", import.meta.url));
const suite = join(here, "../..");
const documents = (target) => {
  for (const name of ["README.md", "LICENSE-MIT", "LICENSE-APACHE"]) cpSync(join(suite, name), join(target, name));
};
const write = (target, manifest) => writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);

const main = join(folder, "svc-conformance");
cpSync(join(here, "svc-conformance"), main, { recursive: true });
documents(main);
const manifest = { ...JSON.parse(readFileSync(join(main, "package.json"), "utf8")), version, optionalDependencies: {} };

for (const one of programs) {
  const [, os, cpu, program] = /^([a-z0-9]+)-([a-z0-9]+)=(.+)$/.exec(one) ?? [];
  if (!program) {
    console.error(`${one} must have the form OS-CPU=PROGRAM`);
    process.exit(2);
  }
  const name = `svc-conformance-${os}-${cpu}`;
  const target = join(folder, name);
  const file = os === "win32" ? "svc-conformance.exe" : "svc-conformance";
  mkdirSync(join(target, "bin"), { recursive: true });
  cpSync(program, join(target, "bin", file));
  chmodSync(join(target, "bin", file), 0o755);
  documents(target);
  const description = `The svc-conformance program for ${os} on ${cpu}.`;
  write(target, { name, version, description, license: manifest.license, os: [os], cpu: [cpu], files: ["bin"] });
  manifest.optionalDependencies[name] = version;
}
write(main, manifest);
