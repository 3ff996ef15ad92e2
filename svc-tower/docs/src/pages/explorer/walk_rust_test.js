// Recorded requests as a Rust test.

import { about } from "./walk_program.js";
import { literal, statements } from "./walk_rust.js";

const HELPERS = `
/// Sends the requests to one server.
struct Walk {
    agent: ureq::Agent,
    base: String,
    key: String,
}

/// A request before it is sent.
struct Step<'w> {
    walk: &'w Walk,
    number: u32,
    method: &'w str,
    address: String,
    headers: Vec<(&'w str, String)>,
    body: Option<String>,
}

/// A response, or an item of one.
struct Answer {
    number: u32,
    json: Value,
    tag: String,
}

impl Walk {
    fn new() -> Result<Self, Box<dyn Error>> {
        let variable = |name: &str| std::env::var(name).map_err(|_| format!("{name} is not set"));
        // Redirects are not followed: no other server may get the key.
        let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).build();
        Ok(Self { agent: config.into(), base: format!("{}/", variable("SVC_BASE")?.trim_end_matches('/')), key: KEY })
    }

    fn base(&self) -> &str {
        &self.base
    }

    fn request<'w>(&'w self, number: u32, method: &'w str, address: &str) -> Step<'w> {
        let headers = vec![("Accept", "application/hal+json".to_owned()), (KEY_HEADER, self.key.clone())];
        Step { walk: self, number, method, address: address.to_owned(), headers, body: None }
    }
}

impl<'w> Step<'w> {
    fn without_key(mut self) -> Self {
        self.headers.retain(|(name, _)| *name != KEY_HEADER);
        self
    }

    fn header(mut self, name: &'w str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    fn body(mut self, body: &str) -> Self {
        self.body = Some(body.to_owned());
        self.header("Content-Type", "application/json").header("Prefer", "handling=strict")
    }

    /// Sends the request. The response must have this status and these error codes.
    fn send_expecting(self, status: u16, codes: &[&str]) -> Result<Answer, Box<dyn Error>> {
        let Self { walk, number, method, address, headers, body } = self;
        // A dot segment, also as %2e, could change the target.
        let path = address.split('?').next().unwrap_or_default().to_ascii_lowercase().replace("%2e", ".");
        if !address.starts_with(&walk.base) || path.split(['/', '\\\\']).any(|part| matches!(part, "." | "..")) {
            return Err(format!("Step {number}: {address} is not an address of {}", walk.base).into());
        }
        let mut request = Request::builder().method(method).uri(&address);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let mut answer = match body {
            Some(body) => walk.agent.run(request.body(body)?)?,
            None => walk.agent.run(request.body(())?)?,
        };
        let (found, text) = (answer.status().as_u16(), answer.body_mut().read_to_string()?);
        if found != status || !codes.iter().all(|code| text.contains(&format!("\\"{code}\\""))) {
            let wanted = format!("{status} {}", codes.join(" "));
            return Err(format!("Step {number}: {method} {address} returned {found}, expected {wanted}: {text}").into());
        }
        let json = if text.is_empty() { Value::Null } else { serde_json::from_str(&text)? };
        let tag = answer.headers().get("ETag").and_then(|tag| tag.to_str().ok()).unwrap_or_default().to_owned();
        Ok(Answer { number, json, tag })
    }
}

impl Answer {
    /// Returns the address at this path.
    fn url_at(&self, names: &[&str]) -> Result<String, Box<dyn Error>> {
        let found = names.iter().try_fold(&self.json, |found, name| found.get(name)).and_then(Value::as_str);
        Ok(found.ok_or_else(|| format!("Step {}: the response has no {}", self.number, names.join(" ")))?.to_owned())
    }

    /// Returns the item with this identifier.
    fn item(&self, relation: &str, identifier: &str) -> Result<Self, Box<dyn Error>> {
        let items = self.json["_embedded"][relation].as_array().into_iter().flatten();
        let has = |item: &&Value| item["identifiers"].as_array().is_some_and(|all| all.iter().any(|one| one == identifier));
        let found = { items }.find(has).ok_or_else(|| format!("Step {}: {relation} has no item {identifier}", self.number))?;
        Ok(Self { number: self.number, json: found.clone(), tag: String::new() })
    }

    /// Returns the item at this position.
    fn nth(&self, relation: &str, place: usize) -> Result<Self, Box<dyn Error>> {
        let found = self.json["_embedded"][relation].get(place);
        let found = found.ok_or_else(|| format!("Step {}: {relation} has no item at {place}", self.number))?;
        Ok(Self { number: self.number, json: found.clone(), tag: String::new() })
    }
}

/// Returns a unique value for \`Idempotency-Key\`.
fn new_key() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Returns the last part of an address.
fn id_from_url(address: &str) -> &str {
    let path = address.split('?').next().unwrap_or_default().trim_end_matches('/');
    path.rsplit('/').next().unwrap_or_default()
}
`;

export const file = "recorded_walk.rs";

export function write(program) {
  const variables = program.needsKey ? "SVC_BASE and SVC_KEY" : "SVC_BASE";
  const key = program.needsKey ? 'variable("SVC_KEY")?' : "String::new()";
  const head = [
    ...[...about(program, "`"), "It needs the crates `serde_json`, `ureq` 3, and `uuid` with `v4`. Run it with", "`cargo test -- --ignored --nocapture`."].map((line) => `//! ${line}`),
    "",
    `#![allow(dead_code, reason = "a program uses only some of these helpers")]`,
    "",
    "use std::error::Error;",
    "",
    "use serde_json::Value;",
    "use ureq::http::Request;",
    "",
    `const KEY_HEADER: &str = ${literal(program.keyHeader)};`,
    "",
    "#[test]",
    `#[ignore = "needs ${variables}"]`,
    "fn recorded_walk() -> Result<(), Box<dyn Error>> {",
    "    let walk = Walk::new()?;",
    ...statements(program, { waits: "", newKey: "new_key()" }),
    "}",
    "",
  ].join("\n");
  return head + HELPERS.replace("key: KEY }", `key: ${key} }`);
}
