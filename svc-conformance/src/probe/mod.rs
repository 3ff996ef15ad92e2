//! `probe`: finds out the declaration of a server that publishes none, by sending requests to it.

mod candidate_fields;
mod reading;
mod writing;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use svc_declaration::{Declaration, EXTENSIONS};

use crate::check::{Check, CheckContext};
use crate::clean_up::{self, CleanUpReport};
use crate::declared::DeclarationSource;
use crate::error::SuiteError;
use crate::linked_resources::meaning;
use crate::outcome::CheckStop;
use crate::run_context::RunContext;
use crate::suite::Suite;
use crate::target::TargetError;
use crate::values::display_text;

/// The result of probing a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProbeReport {
    /// What the server seems to support.
    pub declaration: Declaration,
    /// What could not be found out, or is unusual.
    pub notes: Vec<String>,
    /// The number of requests sent.
    pub requests: usize,
    /// The result of deleting the created records.
    pub clean_up: CleanUpReport,
}

/// What is known so far.
#[derive(Debug, Default)]
struct ProbeState {
    text: Declaration,
    notes: Vec<String>,
}

impl Suite {
    /// Finds out what the server supports, from links, `OPTIONS` and the records that it returns.
    /// If this suite may write, it also creates records, which it deletes afterwards. The result is
    /// a draft, which the vendor must review and complete.
    ///
    /// # Errors
    /// Returns an error if the target does not respond, or if its response is not an entry point.
    pub async fn probe(&self) -> Result<ProbeReport, SuiteError> {
        let mut found = ProbeState::default();
        found.text.declaration_version = 1;
        self.dialect(&mut found).await?;
        let reading = self
            .clone()
            .without_journal()
            .declaration_from(found.text.clone(), DeclarationSource::Probed);
        let run = Arc::new(reading.prepare().await?);
        run.target.base().clone_into(&mut found.text.base_url);
        let cx = prober(&run);
        reading::read(&cx, &mut found)
            .await
            .map_err(|stop| unreadable(&cx, stop))?;
        let mut requests = run.recorder.count();
        let mut clean_up = CleanUpReport::default();
        if run.settings.writes {
            let writing = self
                .clone()
                .declaration_from(writing::assumed(&found), DeclarationSource::Probed);
            let run = Arc::new(writing.prepare().await?);
            let cx = prober(&run);
            writing::write(&cx, &mut found)
                .await
                .map_err(|stop| unreadable(&cx, stop))?;
            clean_up = clean_up::clean(&run).await;
            requests = requests.saturating_add(run.recorder.count());
        } else {
            found.notes.push(
                "nothing was written: what can be created, changed and deleted is known only from \
                 `Allow` headers, and the fields that a client may set are guessed from the \
                 catalogue; use --allow-writes to find out"
                    .to_owned(),
            );
        }
        Ok(ProbeReport {
            declaration: found.text,
            notes: found.notes,
            requests,
            clean_up,
        })
    }

    /// Determines the prefix of relations and the key header from the links of the entry point.
    async fn dialect(&self, found: &mut ProbeState) -> Result<(), SuiteError> {
        let bare = self
            .clone()
            .without_journal()
            .declaration_from(found.text.clone(), DeclarationSource::Probed);
        let run = Arc::new(bare.prepare().await?);
        let cx = prober(&run);
        let start = run.target.base().to_owned();
        let mut answer = cx
            .anonymous()
            .get(&start)
            .await
            .map_err(|stop| unreadable(&cx, stop))?;
        if !answer.is_success() {
            answer = cx
                .api()
                .get(&start)
                .await
                .map_err(|stop| unreadable(&cx, stop))?;
        }
        found.text.dialect = run.declared.text.dialect.clone();
        let links = answer
            .json
            .get("_links")
            .and_then(|links| links.as_object())
            .cloned()
            .unwrap_or_default();
        let mut prefixes: BTreeMap<&str, usize> = BTreeMap::new();
        let named = links.keys().filter_map(|rel| rel.split_once(':'));
        for (prefix, _) in named.filter(|(_, name)| meaning(name, None).is_some()) {
            let count = prefixes.entry(prefix).or_default();
            *count = count.saturating_add(1);
        }
        let most = prefixes
            .into_iter()
            .max_by_key(|(_, count)| *count)
            .map(|(prefix, _)| prefix.to_owned());
        let extension =
            links
                .keys()
                .filter_map(|rel| rel.split_once(':'))
                .find(|(prefix, name)| {
                    EXTENSIONS.contains(name)
                        && most.as_deref() != Some(*prefix)
                        && answer["namespace"] != **prefix
                });
        if let Some((prefix, _)) = extension {
            prefix.clone_into(&mut found.text.dialect.extension_prefix);
        }
        let Some(prefix) = most.filter(|prefix| *prefix != found.text.dialect.prefix) else {
            return Ok(());
        };
        if !self.names_header() {
            found.text.dialect.key_header = format!("{}-API-Token", prefix.to_ascii_uppercase());
            found.notes.push(format!(
                "the key header is guessed from the prefix {prefix}: {}; set another one with --key-header NAME",
                found.text.dialect.key_header
            ));
        }
        found.text.dialect.prefix = prefix;
        Ok(())
    }
}

/// Returns the context under whose name the requests are recorded.
fn prober(run: &Arc<RunContext>) -> CheckContext {
    CheckContext::new(
        Arc::clone(run),
        Check::new("probe", &[], |_| Box::pin(async { Ok(()) })),
        0,
    )
}

/// Returns the error for a server that cannot be probed.
fn unreadable(cx: &CheckContext, stop: CheckStop) -> SuiteError {
    let found = || {
        cx.first_finding()
            .unwrap_or_else(|| "no response".to_owned())
    };
    if let Some(gone) = cx.run.gone.get() {
        return SuiteError::Gone(gone.clone());
    }
    match stop {
        CheckStop::Failed => SuiteError::Target(TargetError::Broken(found())),
        CheckStop::Inconclusive(reason)
        | CheckStop::Disabled(reason)
        | CheckStop::UnexpectedResponse(reason) => SuiteError::NotPublished(reason),
    }
}

impl ProbeReport {
    /// Returns the declaration as a TOML file, with a note for the reader at its top.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = "# What a server was found to support. Review and complete it: what is not \
                        declared is not judged, and what\n# is declared must exist. Without the \
                        line `source`, a report states a file as the source.\n"
            .to_owned();
        for note in &self.notes {
            let _ = writeln!(text, "# - {}", display_text(note, usize::MAX));
        }
        text.push_str("\nsource = \"probed\"\n");
        text.push_str(&self.declaration.to_toml().unwrap_or_default());
        text
    }

    /// Returns the declaration as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut value = serde_json::to_value(&self.declaration).unwrap_or_default();
        if let Some(members) = value.as_object_mut() {
            members.insert("source".to_owned(), "probed".into());
        }
        serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
    }
}
