//! The error that the demo ends with: what is wrong, where, and how to fix it.

use std::error::Error;
use std::fmt;

use svc_declaration::visible;

/// An error for the person who runs the demo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartupError {
    what: String,
    place: String,
    remedy: String,
}

impl StartupError {
    /// Creates an error: what is wrong, where (an option, a file, an address), and a hint.
    pub fn new(
        what: impl Into<String>,
        place: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            what: what.into(),
            place: place.into(),
            remedy: remedy.into(),
        }
    }

    /// Returns what is wrong.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Returns where it is wrong: an option, a file, an address.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns the hint.
    #[must_use]
    pub fn remedy(&self) -> &str {
        &self.remedy
    }
}

impl fmt::Display for StartupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", visible(&self.what))?;
        writeln!(f, "  where: {}", visible(&self.place))?;
        write!(f, "  hint:  {}", visible(&self.remedy))
    }
}

impl Error for StartupError {}

#[cfg(test)]
mod tests {
    use super::StartupError;

    #[test]
    fn says_what_where_and_what_to_do() {
        let trouble =
            StartupError::new("The port is in use.", "--port 8080", "Choose another port.");
        assert_eq!(
            trouble.to_string(),
            "The port is in use.\n  where: --port 8080\n  hint:  Choose another port."
        );
    }
}
