// Recorded requests as a check of the conformance suite.

import { about } from "./walk_program.js";
import { literal, statements } from "./walk_rust.js";

export const file = "recorded_check.rs";

export function write(program) {
  const key = program.needsKey ? ".keys(Keys::primary(key))" : "";
  const lines = statements(program, { waits: ".await", newKey: "walk.new_idempotency_key()" });
  const id = program.records.length > 0 || program.steps.some(({ body }) => body?.some((part) => part.isId)) ? ", id_from_url" : "";
  return [
    ...about(program).filter((line) => !line.startsWith("SVC_BASE")).map((line) => `//! ${line}`),
    `//! Run it with \`Suite::new(Remote::new(base)?)${key}.run_custom(RECORDED_WALK).await?.assert_complete()\`.`,
    "",
    `use svc_conformance::custom_check::{Check, CheckContext, CheckStop${id}};`,
    "",
    "/// The suite also applies its general checks to every response.",
    `pub(crate) const RECORDED_WALK: Check = Check::custom(${literal("own/recorded-walk")}, |walk| Box::pin(recorded_walk(walk)));`,
    "",
    "async fn recorded_walk(walk: &CheckContext) -> Result<(), CheckStop> {",
    ...lines,
    "}",
    "",
  ].join("\n");
}
