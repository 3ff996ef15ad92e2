//! `run --snapshots DIR`: compares the documents of a server with the snapshots in a folder.
//! `tests/it/insta_in_programs.rs` shows why insta is not used.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{ProgramError, settings};
use crate::snapshot::differences;
use crate::values::display_text;

/// The suffix of the name of a snapshot file.
const SUFFIX: &str = ".snapshot.json";

/// Compares the documents with the snapshots of the folder, and returns the differences as text.
/// With `update`, writes the documents as snapshots instead.
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
        text.push_str("  to accept the documents of this run: --update-snapshots\n");
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
        "snapshots: {} written to {}\n",
        taken.len(),
        folder.display()
    ))
}

/// Returns the snapshots of a folder by name. Empty if there is no folder.
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
            ProgramError::usage(format!("{} is not valid JSON: {error}", path.display()))
        })?;
        kept.insert(name.to_owned(), document);
    }
    Ok(kept)
}
