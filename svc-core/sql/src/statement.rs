//! An SQL statement with its values.

use std::{fmt, sync::Arc};

/// One statement. Values are bound to the placeholders of its [`Dialect`](crate::Dialect), each as
/// a text or NULL; the statement casts them.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statement {
    /// The SQL. It holds names of the mapping, and never what a client sent; there are few
    /// different ones, so that they may be prepared and kept.
    pub text: Arc<str>,
    /// The values.
    pub values: Vec<Option<String>>,
}

impl Statement {
    /// A statement with its values.
    pub fn new(text: impl Into<Arc<str>>, values: Vec<Option<String>>) -> Self {
        Self {
            text: text.into(),
            values,
        }
    }
}

impl fmt::Debug for Statement {
    /// Without values: they are personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{} values]", self.text, self.values.len())
    }
}
