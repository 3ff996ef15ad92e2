//! `run --snapshots DIR`: the documents of a server beside those that a folder keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Trouble, settings};
use crate::snapshot::differences;
use crate::values::shown;

/// What the name of a kept document ends with.
const SUFFIX: &str = ".snapshot.json";

/// Holds what was taken against what the folder keeps, and says what differs; with `update` keeps what was taken instead.
pub(super) fn compared(taken: &BTreeMap<String, Value>, folder: &Path, update: bool) -> Result<String, Trouble> {
    let kept = kept(folder)?;
    if update {
        return updated(taken, &kept, folder);
    }
    let (mut same, mut text) = (0_usize, String::new());
    let (mut differ, mut added, mut missing) = (0_usize, 0_usize, 0_usize);
    let names: BTreeSet<&String> = taken.keys().chain(kept.keys()).collect();
    for name in names {
        match (kept.get(name), taken.get(name)) {
            (Some(before), Some(after)) => {
                let found = differences(before, after);
                if found.is_empty() {
                    same = same.saturating_add(1);
                } else {
                    differ = differ.saturating_add(1);
                }
                for line in found {
                    let _ = writeln!(text, "  {name}: {}", shown(&line, 300));
                }
            }
            (None, _) => {
                added = added.saturating_add(1);
                let _ = writeln!(text, "  {name}: is not kept yet");
            }
            (Some(_), None) => {
                missing = missing.saturating_add(1);
                let _ = writeln!(text, "  {name}: is kept, and was not to be had in this run");
            }
        }
    }
    let head = format!("snapshots: {same} as kept, {differ} differ, {added} new, {missing} missing\n");
    let tail = if text.is_empty() { "" } else { "  to keep what this run saw: --update-snapshots\n" };
    Ok(format!("{head}{text}{tail}"))
}

fn updated(taken: &BTreeMap<String, Value>, kept: &BTreeMap<String, Value>, folder: &Path) -> Result<String, Trouble> {
    let broken = |error: std::io::Error| Trouble::new(5, format!("{}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(broken)?;
    for (name, document) in taken {
        fs::write(folder.join(format!("{name}{SUFFIX}")), format!("{document:#}\n")).map_err(broken)?;
    }
    for name in kept.keys().filter(|name| !taken.contains_key(*name)) {
        fs::remove_file(folder.join(format!("{name}{SUFFIX}"))).map_err(broken)?;
    }
    Ok(format!("snapshots: {} kept in {}\n", taken.len(), folder.display()))
}

/// The documents that a folder keeps, by name; none where there is no folder.
fn kept(folder: &Path) -> Result<BTreeMap<String, Value>, Trouble> {
    let mut kept = BTreeMap::new();
    if !folder.exists() {
        return Ok(kept);
    }
    let broken = |error: std::io::Error| Trouble::usage(format!("{} cannot be read: {error}", folder.display()));
    for file in fs::read_dir(folder).map_err(broken)? {
        let path = file.map_err(broken)?.path();
        let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(SUFFIX));
        let Some(name) = name else { continue };
        let document = serde_json::from_str(&settings::text(&path)?)
            .map_err(|error| Trouble::usage(format!("{} is no JSON: {error}", path.display())))?;
        kept.insert(name.to_owned(), document);
    }
    Ok(kept)
}
