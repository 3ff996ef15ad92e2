//! Clean-up: deletes what the run created, and nothing else. Its outcome is not part of the
//! verdict.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use http::Request;
use serde::{Deserialize, Serialize};

use crate::check::{Check, CheckContext};
use crate::client::CheckClient;
use crate::declared::{Declaration, DeclarationSource, DeclaredApi};
use crate::error::SuiteError;
use crate::fixtures::helper_address;
use crate::journal::{Journal, JournalLine, LeftoverRecord};
use crate::keys::Keys;
use crate::kinds::KINDS;
use crate::outcome::CheckStop;
use crate::recorder::Recorder;
use crate::response::Representation;
use crate::run_context::RunContext;
use crate::settings::RunSettings;
use crate::target::Target;

/// The maximum number of rounds over the remaining records. A container is deleted after its
/// contents.
const ROUNDS: usize = 4;

/// The result of the clean-up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CleanUpReport {
    /// The number of records that the run created and did not delete itself.
    pub created: usize,
    /// The number of those that are deleted.
    pub removed: usize,
    /// The URLs of the remaining records, each with the reason.
    pub left: Vec<(String, String)>,
    /// Whether a record remains that could have been deleted (exit code 6).
    pub failed: bool,
}

/// Returns the result if clean-up was not requested.
pub(crate) fn skipped(run: &RunContext) -> CleanUpReport {
    let left = run.journal.left();
    CleanUpReport {
        created: left.len(),
        removed: 0,
        left: left
            .into_iter()
            .map(|left| (left.own, "clean-up was turned off".to_owned()))
            .collect(),
        failed: false,
    }
}

/// Deletes what an earlier run left, from its journal. Requires a tokio runtime with time enabled.
///
/// # Errors
/// Returns an error if the file is not a journal, or if the target does not respond.
pub async fn clean_up_from_journal(
    journal: &Path,
    keys: Keys,
    target: impl FnOnce(&str) -> Result<Arc<dyn Target>, SuiteError>,
) -> Result<CleanUpReport, SuiteError> {
    let journal = Journal::resume(journal)?;
    let started = journal.started();
    let target = target(&started.base)?;
    let mut text = Declaration::default();
    text.dialect.prefix.clone_from(&started.prefix);
    text.dialect.key_header.clone_from(&started.key_header);
    let recorder = Arc::new(Recorder::new(keys.secrets()));
    let declared = DeclaredApi::new(text, DeclarationSource::Given);
    let run = Arc::new(RunContext::new(
        target,
        declared,
        keys,
        recorder,
        RunSettings::default(),
        journal,
    ));
    let request = Request::get(run.target.base()).body(Bytes::new());
    let request = request.map_err(|error| {
        SuiteError::Usage(format!(
            "`{}` is not a valid URL: {error}",
            run.target.base()
        ))
    })?;
    run.target
        .send(request, run.settings.body_limit, run.settings.timeout)
        .await?;
    Ok(clean(&run).await)
}

fn cleaner(run: &Arc<RunContext>) -> CheckContext {
    CheckContext::new(
        Arc::clone(run),
        Check::new("clean-up", &[], |_| Box::pin(async { Ok(()) })),
        0,
    )
}

/// Deletes every record of the journal, newest first.
pub(crate) async fn clean(run: &Arc<RunContext>) -> CleanUpReport {
    let cx = cleaner(run);
    if !run.journal.open_markers().is_empty() && search(&cx).await.is_err() {
        // What cannot be searched is left. The markers remain in the journal.
    }
    let mut left = run.journal.left();
    let created = left.len();
    let mut reasons = Vec::new();
    let mut failed = false;
    for _ in 0..ROUNDS {
        let before = left.len();
        reasons.clear();
        failed = false;
        let mut still = Vec::new();
        for one in left {
            match remove(&cx, &one).await {
                RemovalResult::Gone => run.journal.write(JournalLine::Removed { own: one.own }),
                RemovalResult::Left(reason, possible) => {
                    failed |= possible;
                    reasons.push((one.own.clone(), reason));
                    still.push(one);
                }
            }
        }
        left = still;
        if left.is_empty() || left.len() == before {
            break;
        }
    }
    CleanUpReport {
        created,
        removed: created.saturating_sub(left.len()),
        left: reasons,
        failed,
    }
}

/// Searches for records whose creation was requested but not confirmed. Helpers show no URL to
/// anonymous callers, and a crash can occur before a response.
///
/// Requirements: AUT-06.
async fn search(cx: &CheckContext) -> Result<(), CheckStop> {
    let (api, journal) = (cx.api(), &cx.run.journal);
    let mut searched = BTreeSet::new();
    search_below(cx, &api, &api.entry().await?, &mut searched).await?;
    let asked = journal.open_markers();
    let mut containers = journal.left();
    // On most servers, the URL of a container is a prefix of the URLs of its contents. These are
    // read first, and are often sufficient.
    containers.sort_by_key(|container| !asked.values().any(|url| url.starts_with(&container.own)));
    for container in containers {
        if journal
            .open_markers()
            .values()
            .all(|url| searched.contains(url))
        {
            break;
        }
        let answer = client(cx, container.key).get(&container.own).await?;
        if answer.status == 200 {
            search_below(cx, &api, &answer.record(), &mut searched).await?;
        }
    }
    Ok(())
}

/// Searches the collections of the entry point or of a container, and records which create URLs are
/// resolved by it.
async fn search_below(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    from: &Representation,
    searched: &mut BTreeSet<String>,
) -> Result<(), CheckStop> {
    for kind in KINDS.iter() {
        let Some(place) = from.href(kind.many) else {
            continue;
        };
        if searched.insert(place.clone()) && !cx.run.journal.open_markers().is_empty() {
            search_in(cx, api, &place).await?;
        }
        searched.extend(
            kind.helper
                .and_then(|helper| helper_address(from, helper).ok()),
        );
    }
    Ok(())
}

/// Searches one collection, from its first page along the `next` links.
async fn search_in(cx: &CheckContext, api: &CheckClient<'_>, place: &str) -> Result<(), CheckStop> {
    let mut people = Vec::new();
    let walked = api.walk(place, |page| {
        let open = cx.run.journal.open_markers();
        for member in page.embedded() {
            let marker = member
                .identifiers()
                .into_iter()
                .find(|marker| open.contains_key(*marker))
                .map(ToOwned::to_owned);
            if let (Some(marker), Some(own)) = (marker, member.link("self")) {
                cx.run.journal.created_at(own, Some(marker), 0);
                people.extend(member.href("person"));
            }
        }
        true
    });
    // What cannot be read is left.
    walked.await?;
    for person in people {
        own_up(cx, &api.get(&person).await?.record());
    }
    Ok(())
}

/// Records the person that an action of the run created, even if the server stored no marker. A
/// server may ignore identifiers of an anonymous caller.
///
/// Requirements: HLP-04.
pub(crate) fn own_up(cx: &CheckContext, person: &Representation) {
    if let (Some(own), false) = (person.link("self"), was_there_before(cx, person)) {
        cx.run
            .journal
            .created_at(own, cx.run.journal.marker(&person.json), 0);
    }
}

enum RemovalResult {
    Gone,
    /// The reason why the record is left, and whether it could have been deleted.
    Left(String, bool),
}

/// Returns the caller that created a record.
fn client(cx: &CheckContext, key: usize) -> CheckClient<'_> {
    let keys = &cx.run.keys;
    let key = match key {
        1 => keys.other_tenant.as_ref(),
        2 => keys.restricted.as_ref().map(|(key, _)| key),
        _ => None,
    };
    key.map_or_else(|| cx.api(), |key| cx.with_key(key))
}

/// Deletes one record, after it has verified that this is the record that the run created.
async fn remove(cx: &CheckContext, left: &LeftoverRecord) -> RemovalResult {
    let api = client(cx, left.key);
    let failed = |stop: CheckStop| match stop {
        CheckStop::Failed => RemovalResult::Left(
            cx.first_finding()
                .unwrap_or_else(|| "no response".to_owned()),
            true,
        ),
        CheckStop::Inconclusive(reason)
        | CheckStop::Disabled(reason)
        | CheckStop::UnexpectedResponse(reason) => RemovalResult::Left(reason, true),
    };
    let answer = match api.get(&left.own).await {
        Ok(answer) => answer,
        Err(stop) => return failed(stop),
    };
    if matches!(answer.status, 404 | 410) {
        return RemovalResult::Gone;
    }
    let record = answer.record();
    if let Some(marker) = &left.marker {
        if answer.status != 200 {
            return RemovalResult::Left(
                format!("its marker cannot be read again: {}", answer.status),
                false,
            );
        }
        if !record.carries(marker) {
            return RemovalResult::Left(
                "it no longer has the marker of this run".to_owned(),
                false,
            );
        }
    }
    if was_there_before(cx, &record) {
        return RemovalResult::Left(
            "its `created_date` is earlier than this run".to_owned(),
            false,
        );
    }
    let deleted = match api.delete(&left.own).await {
        // The connection may have been closed.
        Err(_) => api.delete(&left.own).await,
        answer => answer,
    };
    match deleted {
        Ok(answer) if matches!(answer.status, 200 | 204 | 404 | 410) => RemovalResult::Gone,
        Ok(answer) if matches!(answer.status, 403 | 405 | 500 | 501) => RemovalResult::Left(
            format!("the server does not support deletion: {}", answer.status),
            false,
        ),
        Ok(answer) => RemovalResult::Left(answer.to_string(), true),
        Err(stop) => failed(stop),
    }
}

/// Whether a record with a marker is older than the run. A helper may have matched an existing
/// person and added the marker to it. The tolerance allows for clock differences.
fn was_there_before(cx: &CheckContext, record: &Representation) -> bool {
    let time = |text: &str| {
        DateTime::parse_from_rfc3339(text)
            .map(|time| time.with_timezone(&Utc))
            .ok()
    };
    let began = time(&cx.run.journal.started().began);
    let created = record["created_date"].as_str().and_then(time);
    let tolerance = TimeDelta::from_std(cx.run.settings.clock_tolerance).unwrap_or_default();
    match (
        created,
        began.and_then(|began| began.checked_sub_signed(tolerance)),
    ) {
        (Some(created), Some(began)) => created < began,
        _ => false,
    }
}
