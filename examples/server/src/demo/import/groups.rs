//! Tags and lists that a table names and that do not exist.

use std::io::{self, IsTerminal};

use http::HeaderValue;
use svc_core::model::Kind;
use svc_declaration::visible;
use svc_import::Overview;

use super::server::ImportTarget;
use super::{Import, asks};
use crate::demo::run::say;
use crate::demo::startup_error::StartupError;

/// The number of names that are shown.
const SHOWN: usize = 10;

/// Creates the missing tags and lists of a table: with `--create-tags`, or after a question on a terminal. A row
/// with a missing one is imported without it.
///
/// # Errors
///
/// Returns an error if the server cannot be asked, or rejects one.
pub(super) async fn create(
    import: &Import,
    server: &ImportTarget,
    key: &HeaderValue,
    overview: &Overview,
) -> Result<(), StartupError> {
    let failed = |kind: Kind, why: String| {
        let remedy = format!(
            "Create the {} yourself, or use a key with the rights to read and create them.",
            kind.plural()
        );
        let text = format!(
            "The {} cannot be created: {}.",
            kind.plural(),
            why.trim_end_matches(['.', ' '])
        );
        StartupError::new(text, &import.to, remedy)
    };
    let can_ask = !import.yes && io::stdin().is_terminal();
    for (kind, names) in [(Kind::Tag, &overview.tags), (Kind::List, &overview.lists)] {
        if names.is_empty() || !(import.create_tags || can_ask) {
            continue;
        }
        let missing = server.missing(key, kind, names).await;
        let missing = missing.map_err(|why| failed(kind, why))?;
        if missing.is_empty() {
            continue;
        }
        let shown: Vec<&str> = missing.iter().take(SHOWN).map(String::as_str).collect();
        let more = match missing.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let shown = format!("{}{more}", visible(&shown.join(", ")));
        let (count, kinds) = (missing.len(), kind.plural());
        if !import.create_tags {
            let question = format!("{count} {kinds} do not exist: {shown}. Create them?");
            if !asks(&question).map_err(|error| failed(kind, error.to_string()))? {
                continue;
            }
        }
        for name in &missing {
            let created = server.create(key, kind, name).await;
            created.map_err(|why| failed(kind, why))?;
        }
        say(&format!("  {kinds:<11}  {count} created: {shown}\n"));
    }
    Ok(())
}
