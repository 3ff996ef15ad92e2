//! `compare`: a comparison of two servers.

use std::path::Path;

use super::cli::{CompareArgs, TableFormat};
use super::{ProgramError, say, settings, write};
use crate::compare::{ComparedServer, Comparison};

pub(super) fn compare(options: &CompareArgs) -> Result<u8, ProgramError> {
    let comparison = Comparison::of(&side(&options.a)?, &side(&options.b)?);
    match options.format {
        TableFormat::Text => say(&comparison.tables(false)),
        TableFormat::Markdown => say(&comparison.tables(true)),
        TableFormat::Json => {
            let json = serde_json::to_string_pretty(&comparison);
            write(&(json.map_err(|error| ProgramError::new(5, error.to_string()))? + "\n"));
        }
    }
    Ok(0)
}

/// Reads one side of the comparison. The server has the name of its file.
fn side(path: &Path) -> Result<ComparedServer, ProgramError> {
    let name = path.file_stem().map_or_else(
        || "-".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    );
    let broken = |why| {
        ProgramError::usage(format!(
            "{} is neither a capability document nor a report: {why}",
            path.display()
        ))
    };
    ComparedServer::read(&name, &settings::text(path)?).map_err(broken)
}
