//! The base URL.

use std::{fmt, sync::Arc};

/// The absolute URL of the entry point, with a slash at the end.
///
/// Requirements: HAL-01.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Arc<str>);

impl Default for BaseUrl {
    fn default() -> Self {
        Self(Arc::from("http://localhost/"))
    }
}

impl BaseUrl {
    /// Parses a URL and adds a slash at the end if it is missing.
    ///
    /// Returns `None` unless it is an absolute http or https URL without query, fragment and user.
    #[must_use]
    pub fn new(url: &str) -> Option<Self> {
        let uri: http::Uri = url.parse().ok()?;
        let scheme = uri.scheme_str()?;
        let authority = uri.authority()?;
        let is_plain =
            uri.query().is_none() && !url.contains('#') && !authority.as_str().contains('@');
        if !matches!(scheme, "http" | "https") || authority.host().is_empty() || !is_plain {
            return None;
        }
        let slash = if uri.path().ends_with('/') { "" } else { "/" };
        Some(Self(
            format!("{scheme}://{authority}{}{slash}", uri.path()).into(),
        ))
    }

    /// Returns the URL, with a slash at the end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
