//! The document as text: JSON as a server publishes it, TOML as it is written by hand.

use crate::Declaration;

impl Declaration {
    /// Reads a declaration from JSON.
    ///
    /// # Errors
    /// What is wrong in the text, with its line and column.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Reads a declaration from TOML.
    ///
    /// # Errors
    /// What is wrong in the text, with the line as it stands there.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Writes the declaration as TOML.
    ///
    /// # Errors
    /// None for a declaration whose numbers fit TOML, which those of this form do.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}
