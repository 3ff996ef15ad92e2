//! `results`: a page of result files, "Who conforms".

mod page;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::cli::ResultsOptions;
use super::{ProgramError, note, say, settings};
use crate::outcome::RequirementOutcome;
use crate::result::ResultFile;
use crate::values::display_text;

pub(super) fn results(options: &ResultsOptions) -> Result<u8, ProgramError> {
    let (mut results, mut refused) = (Vec::new(), String::new());
    for path in files(&options.folder)? {
        match ResultFile::read(&settings::text(&path)?) {
            Ok(result) => results.push(Named::new(&path, result)),
            Err(error) => {
                let _ = writeln!(refused, "{} is skipped: {error}", path.display());
            }
        }
    }
    results.sort_by(|one, other| one.key().cmp(&other.key()));
    if let Some(path) = &options.html {
        let broken =
            |error| ProgramError::new(5, format!("{} cannot be written: {error}", path.display()));
        fs::write(path, page::written(&results)).map_err(broken)?;
    }
    say(&text(&results));
    note(&refused);
    Ok(u8::from(!refused.is_empty()))
}

/// A result with the name under which it is listed.
struct Named {
    name: String,
    result: ResultFile,
}

impl Named {
    /// Names a result. Without the name of a server, it has the name of its file.
    fn new(path: &Path, result: ResultFile) -> Self {
        let file = || {
            path.file_stem()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default()
        };
        Self {
            name: display_text(&result.name.clone().unwrap_or_else(file), 100),
            result,
        }
    }

    /// Returns the sort key: by name, then the newest first.
    fn key(&self) -> (String, std::cmp::Reverse<&str>) {
        (
            self.name.to_lowercase(),
            std::cmp::Reverse(&self.result.date),
        )
    }
}

/// Returns the JSON files of a folder, sorted by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, ProgramError> {
    let broken = |error: std::io::Error| {
        ProgramError::usage(format!("{} cannot be read: {error}", folder.display()))
    };
    let entries = fs::read_dir(folder).map_err(broken)?;
    let paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(broken)?;
    let is_json = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    };
    let mut paths: Vec<PathBuf> = paths.into_iter().filter(is_json).collect();
    paths.sort();
    Ok(paths)
}

fn text(results: &[Named]) -> String {
    let mut text = String::new();
    for Named { name, result } in results {
        let (passed, failed) = (
            result.count(RequirementOutcome::Pass),
            result.count(RequirementOutcome::Fail),
        );
        let (profile, date) = (result.profile.as_str(), display_text(&result.date, 10));
        let verdict = display_text(&result.verdict, 40);
        let _ = writeln!(
            text,
            "{name:<30} {profile:<14} {verdict:<28} {passed:>4} pass {failed:>4} fail  {date}"
        );
    }
    let _ = writeln!(text, "{} results", results.len());
    text
}
