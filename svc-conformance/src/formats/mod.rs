//! The formats of a report.

mod badge;
mod costs;
mod html;
mod junit;
mod markdown;
mod markup;
mod matrix;
mod picture;
mod tap;

use std::fmt;
use std::str::FromStr;

use crate::report::Report;

#[cfg(feature = "cli")]
pub(crate) use html::STYLE;
#[cfg(feature = "cli")]
pub(crate) use markup::{escaped, marked};

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// The text that the program prints.
    Text,
    /// Everything, as JSON. [`Format::SCHEMA`] is its schema.
    Json,
    /// `JUnit` XML, one test case per requirement.
    Junit,
    /// TAP, one test point per requirement.
    Tap,
    /// One HTML page, with the traffic of failed checks.
    Html,
    /// A summary for a pull request.
    Markdown,
    /// CSV: requirement, checks, observations, outcome.
    Matrix,
    /// JSON for a badge.
    Badge,
    /// CSV: requests and records of each check, which `plan` reads.
    Costs,
}

/// Error returned when a name is not a report format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a report format. Allowed: text, json, junit, tap, html, markdown, matrix, badge, costs."
)]
pub struct ParseFormatError(String);

impl Format {
    /// Every format.
    pub const ALL: [Self; 9] = [
        Self::Text,
        Self::Json,
        Self::Junit,
        Self::Tap,
        Self::Html,
        Self::Markdown,
        Self::Matrix,
        Self::Badge,
        Self::Costs,
    ];

    /// The JSON schema of [`Format::Json`].
    pub const SCHEMA: &'static str = include_str!("../../report.schema.json");

    /// Returns the name of the format, such as `junit`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Junit => "junit",
            Self::Tap => "tap",
            Self::Html => "html",
            Self::Markdown => "markdown",
            Self::Matrix => "matrix",
            Self::Badge => "badge",
            Self::Costs => "costs",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = ParseFormatError;

    fn from_str(text: &str) -> Result<Self, ParseFormatError> {
        Self::ALL
            .into_iter()
            .find(|format| format.as_str() == text)
            .ok_or_else(|| ParseFormatError(text.to_owned()))
    }
}

impl Report {
    /// Returns the report in a format.
    #[must_use]
    pub fn to_format(&self, format: Format) -> String {
        match format {
            Format::Text => format!("{self}\n"),
            Format::Json => {
                let text = serde_json::to_string_pretty(self);
                text.unwrap_or_else(|error| {
                    serde_json::json!({ "error": error.to_string() }).to_string()
                }) + "\n"
            }
            Format::Junit => junit::written(self),
            Format::Tap => tap::written(self),
            Format::Html => html::written(self),
            Format::Markdown => markdown::written(self),
            Format::Matrix => matrix::written(self),
            Format::Badge => badge::written(self),
            Format::Costs => costs::written(self),
        }
    }
}
