//! The names of the two share objects, which a deployment chooses.
//!
//! Requirements: HAL-11.

use crate::json::{Json, Object};

/// The names of the two network share objects in JSON.
///
/// Requirements: HAL-11.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareNames {
    network_a: String,
    network_b: String,
}

const NETWORK_A: &str = "network_a_share";
const NETWORK_B: &str = "network_b_share";

impl Default for ShareNames {
    fn default() -> Self {
        Self {
            network_a: NETWORK_A.to_owned(),
            network_b: NETWORK_B.to_owned(),
        }
    }
}

impl ShareNames {
    /// Creates the names for the first and the second network.
    ///
    /// Returns `None` unless both consist of 1 to 64 characters of `[A-Za-z0-9_]` and differ from
    /// each other and from `email_share`.
    #[must_use]
    pub fn new(network_a: &str, network_b: &str) -> Option<Self> {
        let good = |name: &str| {
            (1..=64).contains(&name.len())
                && name != "email_share"
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        let names = Self {
            network_a: network_a.to_owned(),
            network_b: network_b.to_owned(),
        };
        (good(network_a) && good(network_b) && network_a != network_b).then_some(names)
    }

    /// Returns the name of the share object of the first network.
    #[must_use]
    pub fn network_a(&self) -> &str {
        &self.network_a
    }

    /// Returns the name of the share object of the second network.
    #[must_use]
    pub fn network_b(&self) -> &str {
        &self.network_b
    }

    /// Converts a name of the tables to the name in JSON; any other name remains unchanged.
    #[must_use]
    pub fn to_wire<'a>(&'a self, name: &'a str) -> &'a str {
        match name {
            NETWORK_A => &self.network_a,
            NETWORK_B => &self.network_b,
            other => other,
        }
    }

    /// Converts a name in JSON to the name of the tables; any other name remains unchanged.
    #[must_use]
    pub fn from_wire<'a>(&self, name: &'a str) -> &'a str {
        if name == self.network_a {
            NETWORK_A
        } else if name == self.network_b {
            NETWORK_B
        } else {
            name
        }
    }

    /// Returns whether the names are those of the tables, so that no renaming is necessary.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.network_a == NETWORK_A && self.network_b == NETWORK_B
    }

    /// Renames the share objects in the fields of a record from the names of the tables to the
    /// names in JSON.
    pub fn rename_to_wire(&self, fields: &mut Object) {
        self.rename(fields, |names, name| names.to_wire(name).to_owned());
    }

    /// Writes the members of an object as `"name":value` pairs separated by commas, without braces,
    /// with the share objects named as in JSON.
    #[must_use]
    pub fn wire_members(&self, object: &Object) -> bytes::Bytes {
        let mut members = Vec::with_capacity(512);
        if self.is_default() {
            object.write_members(&mut members);
        } else {
            let mut renamed = object.clone();
            self.rename_to_wire(&mut renamed);
            renamed.write_members(&mut members);
        }
        members.into()
    }

    /// Renames the share objects in the fields of a record from the names in JSON to the names of
    /// the tables.
    pub fn rename_from_wire(&self, fields: &mut Object) {
        self.rename(fields, |names, name| names.from_wire(name).to_owned());
    }

    fn rename(&self, fields: &mut Object, name_of: impl Fn(&Self, &str) -> String) {
        if self.is_default() {
            return;
        }
        let Some(Json::Array(options)) = fields.get_mut("share_options") else {
            return;
        };
        for option in options {
            if let Json::Object(members) = option {
                let renamed = std::mem::take(members)
                    .into_iter()
                    .map(|(name, value)| (name_of(self, &name), value));
                *members = renamed.collect();
            }
        }
    }
}
