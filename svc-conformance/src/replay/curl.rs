//! The steps as a shell script of `curl` commands. It needs only `sed` and `tr`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Replay, ReplayStep, StepTextPart, parts};
use crate::values::display_text;

/// The shell function that extracts a link from a response: the `href` of a relation, made absolute
/// if it is only a path.
const LINK: &str = r#"link() {
  href=$(printf '%s' "$2" | tr -d '\n' | sed -n 's|.*"'"$1"'" *: *{[^}]*"href" *: *"\([^"]*\)".*|\1|p')
  case $href in /*) href=$(printf '%s' "$BASE" | sed 's|^\([a-z]*://[^/]*\).*|\1|')$href ;; esac
  printf '%s' "$href"
}
"#;

pub(super) fn script(replay: &Replay) -> String {
    let mut text = format!(
        "#!/bin/sh\n# {} by {}, seed {}\n",
        replay.row, replay.check, replay.seed
    );
    for line in wrapped(&display_text(&replay.message, 1000)) {
        let _ = writeln!(text, "# {line}");
    }
    for (number, step) in replay.smallest.iter().enumerate() {
        let _ = writeln!(
            text,
            "#   {} {}",
            number.saturating_add(1),
            display_text(step, 300)
        );
    }
    let _ = writeln!(
        text,
        "#\n# Keys: KEY, OTHER_KEY and RESTRICTED_KEY. Another URL: BASE.\n"
    );
    let _ = writeln!(text, "BASE=${{BASE:-{}}}", quoted(&replay.base));
    let texts = replay.steps.iter().flat_map(|step| [&step.url, &step.body]);
    if texts
        .flat_map(|text| parts(text))
        .any(|part| part == StepTextPart::Run)
    {
        text.push_str(
            "# Unique, so that no record of an earlier run matches.\nRUN=$(date +%s)$$\n",
        );
    }
    text.push_str(LINK);
    let used = used(replay);
    for (at, step) in replay.steps.iter().enumerate() {
        let number = at.saturating_add(1);
        line(&mut text, number, step, used.contains(&number), replay);
    }
    text
}

/// Returns the steps whose responses later steps need.
fn used(replay: &Replay) -> BTreeSet<usize> {
    let texts = replay.steps.iter().flat_map(|step| [&step.url, &step.body]);
    let of = |text: &String| parts(text).iter().filter_map(of).collect::<Vec<_>>();
    texts.flat_map(of).collect()
}

fn of(part: &StepTextPart<'_>) -> Option<usize> {
    match part {
        StepTextPart::Of(number, pointer) if relation(pointer).is_some() => Some(*number),
        _ => None,
    }
}

fn line(text: &mut String, number: usize, step: &ReplayStep, is_used: bool, replay: &Replay) {
    let status = step
        .status
        .map_or_else(|| "no response".to_owned(), |status| status.to_string());
    let _ = writeln!(text, "\n# {number}: {status}");
    let mut curl = format!(
        "curl -sS -X {} {}",
        quoted(&step.method),
        argument(&step.url, replay)
    );
    for (name, value) in &step.headers {
        let key = match value.as_str() {
            "<key>" => Some("$KEY"),
            "<other key>" => Some("$OTHER_KEY"),
            "<restricted key>" => Some("$RESTRICTED_KEY"),
            _ => None,
        };
        match key {
            Some(key) => {
                let _ = write!(curl, " -H {}\"{key}\"", quoted(&format!("{name}: ")));
            }
            None => {
                let _ = write!(curl, " -H {}", quoted(&format!("{name}: {value}")));
            }
        }
    }
    if !step.body.is_empty() {
        let _ = write!(curl, " \\\n  --data-raw {}", argument(&step.body, replay));
    }
    if is_used {
        let _ = writeln!(text, "A{number}=$({curl})\nprintf '%s\\n' \"$A{number}\"");
    } else {
        let _ = writeln!(text, "{curl} -w ' %{{http_code}}\\n'");
    }
}

/// Returns a text of a step as one shell argument.
fn argument(text: &str, replay: &Replay) -> String {
    let mut out = String::new();
    for part in parts(text) {
        match part {
            StepTextPart::Text(text) => out.push_str(&quoted(text)),
            StepTextPart::Base => out.push_str("\"$BASE\""),
            StepTextPart::Run => out.push_str("\"$RUN\""),
            StepTextPart::Of(step, pointer) => match relation(pointer) {
                Some(rel) => {
                    let _ = write!(out, "\"$(link {} \"$A{step}\")\"", quoted(&rel));
                }
                None => out.push_str(&quoted(&recorded(replay, step, pointer))),
            },
        }
    }
    out
}

/// Returns the relation of a top-level link of a document. Other positions are written as recorded.
fn relation(pointer: &str) -> Option<String> {
    let rel = pointer.strip_prefix("/_links/")?.strip_suffix("/href")?;
    let plain = rel
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-'));
    plain.then(|| rel.to_owned())
}

/// Returns the value at a position when the failure was found.
fn recorded(replay: &Replay, step: usize, pointer: &str) -> String {
    let step = step.checked_sub(1).and_then(|at| replay.steps.get(at));
    let json: serde_json::Value = step
        .and_then(|step| serde_json::from_str(&step.answer).ok())
        .unwrap_or_default();
    json.pointer(pointer)
        .and_then(serde_json::Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// Quotes a text for the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns lines of at most 110 characters.
fn wrapped(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars
        .chunks(110)
        .map(|line| line.iter().collect())
        .collect()
}
