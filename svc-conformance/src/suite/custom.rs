//! Runs a custom check.

use super::{Suite, SuiteError};
use crate::check::Check;
use crate::report::Report;
use crate::selection::Selection;

impl Suite {
    /// Runs only a custom check ([`custom_check`](crate::custom_check)), in the same way as [`Suite::run`] runs the
    /// checks of the suite. Every response is also checked passively, and the records that it
    /// created (responses with 201) are deleted. [`Report::assert_complete`] fails a test if there are
    /// findings.
    ///
    /// ```no_run
    /// use svc_conformance::custom_check::{Check, CheckContext, CheckStop};
    /// use svc_conformance::{Keys, Remote, Suite, SuiteError};
    ///
    /// const TAGS_ARE_LISTED: Check = Check::custom("own/tags", |cx| Box::pin(tags_are_listed(cx)));
    ///
    /// async fn tags_are_listed(cx: &CheckContext) -> Result<(), CheckStop> {
    ///     let entry = cx.request(0, "GET", cx.base()).send_expecting(200, &[]).await?;
    ///     cx.request(1, "GET", &entry.url_at(&["_links", "svc:tags", "href"])?).send_expecting(200, &[]).await?;
    ///     Ok(())
    /// }
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let target = Remote::new("http://127.0.0.1:8080/api/v1/")?;
    /// Suite::new(target).keys(Keys::primary("k1")).run_custom(TAGS_ARE_LISTED).await?.assert_complete();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Same as [`Suite::run`].
    pub async fn run_custom(mut self, check: Check) -> Result<Report, SuiteError> {
        self.selection = Selection {
            alone: Some(check.id.to_owned()),
            ..Selection::default()
        };
        self.run_of(&[check]).await
    }
}
