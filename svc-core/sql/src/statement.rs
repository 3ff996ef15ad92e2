//! An SQL statement with its values.

use std::{fmt, sync::Arc};

/// One SQL statement. Its values are bound to the placeholders of its [`SqlDialect`](crate::SqlDialect),
/// each as text or NULL. The statement casts them.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statement {
    /// The SQL. It contains names of the mapping and no data of clients. The number of different
    /// statements is small, so a client can cache them as prepared statements.
    pub text: Arc<str>,
    /// The values.
    pub values: Vec<Option<String>>,
}

impl Statement {
    /// Creates a statement with its values.
    pub fn new(text: impl Into<Arc<str>>, values: Vec<Option<String>>) -> Self {
        Self {
            text: text.into(),
            values,
        }
    }
}

impl fmt::Debug for Statement {
    /// Omits the values, because they are personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{} values]", self.text, self.values.len())
    }
}
