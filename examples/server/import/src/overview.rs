//! What a table contains, before it is imported.

use std::collections::BTreeSet;
use std::io;

use crate::{ColumnMapping, RowContent, Table};

/// The number of rows whose values are shown.
const EXAMPLES: usize = 3;
/// The maximum length of a collected name in bytes. Servers reject longer names.
const MAX_NAME: usize = 1_000;
/// The maximum number of names of tags, and of names of lists, that are collected.
const MAX_NAMES: usize = 1_000;

/// The rows of a table.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overview {
    /// The number of rows with values.
    pub rows: u64,
    /// The number of rows without values.
    pub empty: u64,
    /// The number of rows that cannot be read.
    pub damaged: u64,
    /// The first rows with values.
    pub examples: Vec<Vec<String>>,
    /// The names of tags that people get, at most 1 000.
    pub tags: BTreeSet<String>,
    /// The names of lists that people get, at most 1 000.
    pub lists: BTreeSet<String>,
}

impl Overview {
    /// Reads all rows. The mapping learns the order of dates.
    ///
    /// # Errors
    ///
    /// Returns an error if the table cannot be read.
    pub fn read(table: &Table, mapping: &mut ColumnMapping) -> io::Result<Self> {
        let mut overview = Self::default();
        for row in table.rows()? {
            match row?.content {
                RowContent::Cells(cells) => {
                    overview.rows = overview.rows.saturating_add(1);
                    mapping.learn(&cells);
                    for (is_tag, name) in mapping.names_of_groups(&cells) {
                        let names = if is_tag {
                            &mut overview.tags
                        } else {
                            &mut overview.lists
                        };
                        if names.len() < MAX_NAMES && name.len() <= MAX_NAME {
                            names.insert(name);
                        }
                    }
                    if overview.examples.len() < EXAMPLES {
                        overview.examples.push(cells);
                    }
                }
                RowContent::Empty => overview.empty = overview.empty.saturating_add(1),
                RowContent::Fault { .. } => overview.damaged = overview.damaged.saturating_add(1),
            }
        }
        Ok(overview)
    }

    /// Returns the number of all rows.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.rows
            .saturating_add(self.empty)
            .saturating_add(self.damaged)
    }
}
