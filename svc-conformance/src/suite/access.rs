//! Verifies that the server accepts the keys. If it rejects one, nearly every requirement would
//! fail for that one cause.

use http::StatusCode;
use serde_json::Value;

use super::{Suite, SuiteError};
use crate::address;
use crate::run_context::RunContext;

/// The number of collections that are requested before a key counts as rejected.
const ASKED: usize = 3;

impl Suite {
    /// Ends a run whose server rejects a key for everything that is requested. If a key is accepted
    /// anywhere, the checks decide.
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
                "--other-tenant-key",
                &[401, 403],
            ),
            // This key lacks a right, which can be the reason for a 403.
            (lacking, "the restricted key", "--restricted-key", &[401]),
        ];
        for (key, which, option, refusals) in keys {
            let Some(key) = key.filter(|_| run.declared.text.authentication.required) else {
                continue;
            };
            if let Some(status) = self.refusal(run, key, refusals).await {
                let header = &run.declared.text.dialect.key_header;
                return Err(refused(which, option, run.target.base(), header, status));
            }
        }
        Ok(())
    }

    /// Returns the status of the entry point, if that and every requested collection reject a key.
    /// If there is no response, the checks decide.
    async fn refusal(&self, run: &RunContext, key: &str, refusals: &[u16]) -> Option<u16> {
        let base = run.target.base();
        let key = Some((run.declared.text.dialect.key_header.clone(), key.to_owned()));
        let status = self.fetch(&run.recorder, base, key.clone()).await.ok()?.0;
        if !refusals.contains(&status) {
            return None;
        }
        // The entry point may show its links to anonymous callers. The declaration may also contain
        // the URLs.
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

/// Returns the message about a rejected key: which key, what the server returned, and how to pass
/// another key.
pub(super) fn refused(
    which: &str,
    option: &str,
    url: &str,
    header: &str,
    status: u16,
) -> SuiteError {
    let status = StatusCode::from_u16(status)
        .map_or_else(|_| status.to_string(), |status| status.to_string());
    SuiteError::KeyRefused(format!(
        "the server rejects {which}: GET {url} with the header {header} returns {status}. Pass a \
         key that it accepts with {option}, or the name of the header with --key-header"
    ))
}
