//! The document as text: JSON as a server publishes it, TOML as a vendor writes it.

use crate::Declaration;

impl Declaration {
    /// Reads a declaration from JSON.
    ///
    /// # Errors
    /// Returns the error in the text, with its line and column.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Reads a declaration from TOML.
    ///
    /// # Errors
    /// Returns the error in the text, with a copy of the line.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Writes the declaration as TOML.
    ///
    /// # Errors
    /// Returns an error if a number does not fit into TOML, which is not possible in this format.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}
