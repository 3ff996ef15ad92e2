//! The media types of documents, and their headers.

use bytes::Bytes;
use http::{
    HeaderValue,
    header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY},
};
use svc_tower::DocsAnswer;

/// The media type of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MediaType {
    Hal,
    Json,
    Html,
    /// A page that scripts fill, and that must not be embedded in a frame.
    App,
    Css,
    Script,
    Svg,
}

impl MediaType {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Hal => "application/hal+json",
            Self::Json => "application/json",
            Self::Html | Self::App => "text/html; charset=utf-8",
            Self::Css => "text/css; charset=utf-8",
            Self::Script => "text/javascript; charset=utf-8",
            Self::Svg => "image/svg+xml",
        }
    }

    /// Returns the content security policy: a page loads and runs nothing from other servers.
    ///
    /// Requirements: ENT-22.
    const fn policy(self) -> Option<&'static str> {
        match self {
            Self::Html => Some(
                "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
            ),
            Self::App => Some(
                "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            ),
            _ => None,
        }
    }

    /// Returns the response with a page of the documentation, or a file that a page uses.
    ///
    /// Requirements: ENT-22.
    pub(crate) fn answer(self, body: impl Into<Bytes>) -> DocsAnswer {
        let mut answer = DocsAnswer::new(HeaderValue::from_static(self.as_str()), body);
        if let Some(policy) = self.policy() {
            let headers = &mut answer.headers;
            headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
            // Addresses contain ids, which linked sites must not see.
            headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        }
        answer
    }
}
