//! Whether the server takes the keys at all: with one that it refuses, nearly every row would fail
//! for that one cause.

use http::StatusCode;
use serde_json::Value;

use super::{Suite, SuiteError};
use crate::address;
use crate::run_context::RunContext;

/// Collections that are asked before a key counts as refused.
const ASKED: usize = 3;

impl Suite {
    /// Ends a run whose server refuses a key wherever it is asked. A key that is taken anywhere is
    /// left to the checks.
    pub(super) async fn verify_keys(&self, run: &RunContext) -> Result<(), SuiteError> {
        let lacking = run.keys.restricted.as_ref().map(|(key, _)| key);
        let keys = [
            (
                run.keys.primary.as_ref(),
                "the key",
                "--key",
                &[401, 403][..],
            ),
            (
                run.keys.other_tenant.as_ref(),
                "the key of another tenant",
                "--other-key",
                &[401, 403],
            ),
            // This one lacks a right: a 403 may be for that.
            (lacking, "the restricted key", "--restricted-key", &[401]),
        ];
        for (key, which, option, refusals) in keys {
            let Some(key) = key.filter(|_| run.declared.text.authentication.required) else {
                continue;
            };
            if let Some(status) = self.refusal(run, key, refusals).await {
                let header = &run.declared.text.dialect.key_header;
                return Err(refused((which, option), run.target.base(), header, status));
            }
        }
        Ok(())
    }

    /// The status of the entry point, if that and every collection that is asked refuse a key. What
    /// does not answer is left to the checks, too.
    async fn refusal(&self, run: &RunContext, key: &str, refusals: &[u16]) -> Option<u16> {
        let base = run.target.base();
        let key = Some((run.declared.text.dialect.key_header.clone(), key.to_owned()));
        let status = self.fetch(&run.recorder, base, key.clone()).await.ok()?.0;
        if !refusals.contains(&status) {
            return None;
        }
        // The links may be shown to strangers; the declaration may have the addresses, too.
        let (_, entry): (u16, Value) = self.fetch(&run.recorder, base, None).await.ok()?;
        let href = |many: &str| {
            let declared = run
                .declared
                .collection(many)
                .and_then(|collection| collection.href.as_deref());
            let link = entry
                .get("_links")
                .and_then(|links| links.get(run.declared.rel(many))?.get("href")?.as_str());
            address::resolve(base, link.or(declared)?)
        };
        let listed = run
            .declared
            .kinds()
            .filter(|kind| kind.under.is_none() && run.declared.offers(kind.one, "list"));
        for url in listed.filter_map(|kind| href(kind.many)).take(ASKED) {
            let status = self.fetch(&run.recorder, &url, key.clone()).await.ok()?.0;
            if !refusals.contains(&status) {
                return None;
            }
        }
        Some(status)
    }
}

/// Which key the server refuses, what it answered, and how to give another.
pub(super) fn refused(
    (which, option): (&str, &str),
    url: &str,
    header: &str,
    status: u16,
) -> SuiteError {
    let status = StatusCode::from_u16(status)
        .map_or_else(|_| status.to_string(), |status| status.to_string());
    SuiteError::KeyRefused(format!(
        "the server refuses {which}: GET {url} with the header {header} answers {status}. Give a key that it accepts with \
         {option}, or the name of the header with --key-header"
    ))
}
