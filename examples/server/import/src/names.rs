//! Values by the names of columns as people write them.

use std::collections::HashMap;

pub use svc_core::value::plain_name;

/// Values by their names.
#[derive(Debug, Clone)]
pub(crate) struct NameTable<T>(HashMap<String, T>);

impl<T> Default for NameTable<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> NameTable<T> {
    /// Adds a name, if no earlier value has it.
    pub(crate) fn add(&mut self, name: &str, value: T) {
        let name = plain_name(name);
        if !name.is_empty() {
            self.0.entry(name).or_insert(value);
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.0.get(&plain_name(name))
    }
}
