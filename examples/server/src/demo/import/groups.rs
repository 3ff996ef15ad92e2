//! Tags and lists that a table names and that do not exist.

use std::collections::BTreeSet;

use http::HeaderValue;
use svc_core::model::Kind;
use svc_declaration::visible;
use svc_import::Overview;

use super::server::ImportTarget;
use crate::demo::run::say;
use crate::demo::startup_error::StartupError;

/// The number of names that are shown.
const SHOWN: usize = 10;

/// The tags and lists of a table that do not exist.
#[derive(Debug, Default)]
pub(super) struct MissingGroups(Vec<(Kind, BTreeSet<String>)>);

impl MissingGroups {
    /// Finds the missing tags and lists.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not return all tags and lists.
    pub(super) async fn find(
        server: &ImportTarget,
        key: &HeaderValue,
        overview: &Overview,
    ) -> Result<Self, StartupError> {
        let mut missing = Self::default();
        for (kind, names) in [(Kind::Tag, &overview.tags), (Kind::List, &overview.lists)] {
            if names.is_empty() {
                continue;
            }
            let found = server.missing(key, kind, names).await;
            let found = found.map_err(|why| failed(server, kind, "read", &why))?;
            if !found.is_empty() {
                missing.0.push((kind, found));
            }
        }
        Ok(missing)
    }

    /// Returns them as lines.
    pub(super) fn text(&self) -> String {
        let lines = self.0.iter().map(|(kind, names)| {
            let kinds = kind.plural();
            format!("  {kinds:<11}  {} missing: {}\n", names.len(), shown(names))
        });
        lines.collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Creates them.
    ///
    /// # Errors
    ///
    /// Returns an error if the server rejects one.
    pub(super) async fn create(
        &self,
        server: &ImportTarget,
        key: &HeaderValue,
    ) -> Result<(), StartupError> {
        for (kind, names) in &self.0 {
            for name in names {
                let created = server.create(key, *kind, name).await;
                created.map_err(|why| failed(server, *kind, "create", &why))?;
            }
            let (kinds, count) = (kind.plural(), names.len());
            say(&format!(
                "  {kinds:<11}  {count} created: {}\n",
                shown(names)
            ));
        }
        Ok(())
    }
}

/// Returns names as text, at most some of them.
fn shown(names: &BTreeSet<String>) -> String {
    let all: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", visible(&all.join(", ")))
}

fn failed(server: &ImportTarget, kind: Kind, right: &str, why: &str) -> StartupError {
    let kinds = kind.plural();
    StartupError::new(
        format!(
            "The {kinds} cannot be used: {}.",
            why.trim_end_matches(['.', ' '])
        ),
        server.entry_point(),
        format!("Use a key with the right {kinds}.{right}."),
    )
}
