//! Transcripts: requests, each followed by the response of the reference server. They contain only
//! choices of the server and effects of its set-up. The conformance suite proves what every server
//! must do.
//!
//! `= WORDS` starts a section with a service of its own, whose set-up the words define. A request
//! is `[CALLER] METHOD ADDRESS [<header: value>]... [BODY] [-> NAME]`. `$people` is a collection of
//! the entry point. `$NAME` is the record of an earlier response, `$NAME.rel` the target of its
//! link, and `$NAME.id` its id. Consecutive requests with equal responses share the response.
//! `UPDATE_PINS=1` writes the responses.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use http::Method;
use serde_json::Value;

use crate::requirements::fixture::Fixture;

/// Runs a transcript. Returns an error for a response that differs from the written one.
pub(crate) fn run(path: &Path, update: bool) -> Result<(), String> {
    let written =
        fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (mut seen, mut last) = (String::new(), Vec::new());
    let mut section = Section::open(&[]);
    for line in written.lines().filter(|line| !line.starts_with("  ")) {
        let is_request = !line.is_empty() && !line.starts_with(['#', '=']);
        let answer = if is_request {
            section.ask(line)
        } else {
            Vec::new()
        };
        if answer != last {
            seen.extend(last.iter().map(|line| format!("  {line}\n")));
        }
        last = answer;
        seen.extend([line, "\n"]);
        if let Some(words) = line.strip_prefix("= ") {
            section = Section::open(&words.split(' ').collect::<Vec<_>>());
        }
    }
    seen.extend(last.iter().map(|line| format!("  {line}\n")));
    if update {
        return fs::write(path, seen).map_err(|error| error.to_string());
    }
    let differs = written
        .lines()
        .zip(seen.lines())
        .enumerate()
        .find(|(_, (one, other))| one != other);
    match differs {
        None if written.lines().count() == seen.lines().count() => Ok(()),
        None => Err(format!(
            "{}: a response has more or fewer lines at the end",
            path.display()
        )),
        Some((at, (pinned, got))) => Err(format!(
            "{}:{}: the response differs\n  pinned: {pinned}\n  got:    {got}\nto accept it, run with UPDATE_PINS=1",
            path.display(),
            at + 1
        )),
    }
}

struct Section {
    /// The time at which the service was created, or slightly earlier. Timestamps of the service
    /// are not before it.
    begun: DateTime<Utc>,
    fixture: Fixture,
    entry: Value,
    named: BTreeMap<String, Value>,
}

impl Section {
    fn open(set_up: &[&str]) -> Self {
        let begun = Utc::now() - TimeDelta::seconds(1);
        let fixture = Fixture::open(set_up);
        let entry = fixture.get(&fixture.base);
        Self {
            begun,
            fixture,
            entry,
            named: BTreeMap::new(),
        }
    }

    /// Sends the request of a line.
    fn ask(&mut self, line: &str) -> Vec<String> {
        let (line, name) = line
            .rsplit_once(" -> ")
            .map_or((line, None), |(line, name)| (line, Some(name)));
        let (first, rest) = line
            .split_once(' ')
            .unwrap_or_else(|| panic!("no request: {line}"));
        let has_caller = first.bytes().all(|byte| byte.is_ascii_lowercase());
        let (who, rest) = if has_caller {
            (first, rest)
        } else {
            ("api", line)
        };
        let (method, rest) = rest
            .split_once(' ')
            .unwrap_or_else(|| panic!("no address: {line}"));
        let (address, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let (mut headers, mut body) = (Vec::new(), self.filled(rest));
        while let Some((header, after)) =
            body.strip_prefix('<').and_then(|rest| rest.split_once('>'))
        {
            let (name, value) = header.split_once(": ").unwrap_or((header, ""));
            headers.push((name.to_owned(), value.to_owned()));
            body = after.trim_start().to_owned();
        }
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let answer = self
            .fixture
            .send(who, &method, &self.filled(address), &headers, &body);
        if let Some(name) = name {
            self.named.insert(name.to_owned(), answer.json());
        }
        answer
            .shown()
            .iter()
            .map(|line| self.stable(line))
            .collect()
    }

    /// Replaces the names in a text with their values.
    fn filled(&self, text: &str) -> String {
        let mut out = String::new();
        let mut parts = text.split('$');
        out.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            let end = part.find(|c: char| !is_name(c)).unwrap_or(part.len());
            let (name, mut rest) = part.split_at(end);
            let relation = rest.strip_prefix('.').map(|after| {
                let end = after.find(|c: char| !is_name(c)).unwrap_or(after.len());
                after.split_at(end)
            });
            let value = match (self.named.get(name), relation) {
                (Some(record), Some((relation, after))) => {
                    rest = after;
                    let own = record["identifiers"][0].as_str().unwrap_or_default();
                    match relation {
                        "identifier" => own.to_owned(),
                        "id" => own.rsplit(':').next().unwrap_or_default().to_owned(),
                        relation => self.fixture.href(record, relation),
                    }
                }
                (Some(record), None) => match record["_links"]["self"]["href"].as_str() {
                    Some(own) => own.to_owned(),
                    None => panic!("${name} has no address: {record}"),
                },
                (None, _) => self.known(name),
            };
            out.extend([value.as_str(), rest]);
        }
        out
    }

    fn known(&self, name: &str) -> String {
        match name {
            "base" => self.fixture.base.trim_end_matches('/').to_owned(),
            "deep" => format!("{}1{}", r#"{"a":"#.repeat(70), "}".repeat(70)),
            "many" => format!("[{}1]", "1,".repeat(200_000)),
            "large" => "x".repeat(1_200_000),
            "x64" | "x65" => "x".repeat(name[1..].parse().expect("a number")),
            many => self.fixture.href(&self.entry, many),
        }
    }

    /// Replaces the values that differ in each run: addresses by their names, ids, and times of the
    /// clock.
    fn stable(&self, line: &str) -> String {
        let mut line = line.to_owned();
        let mut named: Vec<_> = self.named.iter().collect();
        // A record under another one has a longer address.
        named.sort_by_key(|(_, record)| {
            std::cmp::Reverse(
                record["_links"]["self"]["href"]
                    .as_str()
                    .map_or(0, str::len),
            )
        });
        for (name, record) in named {
            if let Some(own) = record["_links"]["self"]["href"].as_str() {
                line = line.replace(own, &format!("${name}"));
            }
        }
        let mut out = String::new();
        for word in line
            .replace(&self.fixture.base, "$base/")
            .split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || "-.:".contains(c)))
        {
            let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let is_id = bare.len() == 36 && bare.matches('-').count() == 4;
            let is_time = DateTime::parse_from_rfc3339(bare)
                .is_ok_and(|time| (self.begun..=Utc::now()).contains(&time.to_utc()));
            let shown = if is_id {
                "<id>"
            } else if is_time {
                "<time>"
            } else {
                bare
            };
            out.extend([shown, &word[bare.len()..]]);
        }
        out
    }
}
