//! `run --snapshots DIR`: the documents of a server beside those that a folder keeps. Why not by
//! insta, `tests/it/insta_in_programs.rs` shows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{ProgramError, settings};
use crate::snapshot::differences;
use crate::values::display_text;

/// What the name of a kept document ends with.
const SUFFIX: &str = ".snapshot.json";

/// Holds what was taken against what the folder keeps, and says what differs; with `update` keeps
/// what was taken instead.
pub(super) fn compared(
    taken: &BTreeMap<String, Value>,
    folder: &Path,
    update: bool,
) -> Result<String, ProgramError> {
    let kept = load(folder)?;
    if update {
        return updated(taken, &kept, folder);
    }
    let found = differences(&json!(kept), &json!(taken));
    let mut text = format!(
        "snapshots: {} documents, {} differences\n",
        taken.len(),
        found.len()
    );
    for line in &found {
        let _ = writeln!(text, "  {}", display_text(line, 300));
    }
    if !found.is_empty() {
        text.push_str("  to keep what this run saw: --update-snapshots\n");
    }
    Ok(text)
}

fn updated(
    taken: &BTreeMap<String, Value>,
    kept: &BTreeMap<String, Value>,
    folder: &Path,
) -> Result<String, ProgramError> {
    let broken =
        |error: std::io::Error| ProgramError::new(5, format!("{}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(broken)?;
    for (name, document) in taken {
        fs::write(
            folder.join(format!("{name}{SUFFIX}")),
            format!("{document:#}\n"),
        )
        .map_err(broken)?;
    }
    for name in kept.keys().filter(|name| !taken.contains_key(*name)) {
        fs::remove_file(folder.join(format!("{name}{SUFFIX}"))).map_err(broken)?;
    }
    Ok(format!(
        "snapshots: {} kept in {}\n",
        taken.len(),
        folder.display()
    ))
}

/// The documents that a folder keeps, by name; none where there is no folder.
fn load(folder: &Path) -> Result<BTreeMap<String, Value>, ProgramError> {
    let mut kept = BTreeMap::new();
    if !folder.exists() {
        return Ok(kept);
    }
    let broken = |error: std::io::Error| {
        ProgramError::usage(format!("{} cannot be read: {error}", folder.display()))
    };
    for file in fs::read_dir(folder).map_err(broken)? {
        let path = file.map_err(broken)?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str()?.strip_suffix(SUFFIX));
        let Some(name) = name else { continue };
        let document = serde_json::from_str(&settings::text(&path)?).map_err(|error| {
            ProgramError::usage(format!("{} is no JSON: {error}", path.display()))
        })?;
        kept.insert(name.to_owned(), document);
    }
    Ok(kept)
}
