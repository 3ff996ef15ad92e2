//! Why the demo did not start: what went wrong, where, and what to do about it.

use std::error::Error;
use std::fmt;

use svc_declaration::visible;

/// A reason not to start, for the person at the keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartupError {
    what: String,
    place: String,
    remedy: String,
}

impl StartupError {
    /// What went wrong, where (an option, a file, an address), and what to do.
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

    /// What went wrong.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Where it went wrong: an option, a file, an address.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// What to do about it.
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
