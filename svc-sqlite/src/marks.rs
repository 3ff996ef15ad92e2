//! Short texts that a program keeps in the data file for itself, such as how far it got with filling it.

use rusqlite::OptionalExtension;
use svc_core::error::Result;

use crate::store::Store;

/// Keeps a program's marks apart from what the store itself remembers.
fn stored_name(name: &str) -> String {
    format!("mark.{name}")
}

impl Store {
    /// Writes a mark, or replaces it.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn mark(&self, name: &str, value: &str) -> Result<()> {
        let (name, value) = (stored_name(name), value.to_owned());
        let write = move |job: &mut crate::writer::Job<'_>| {
            job.prepare_cached("INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)")?
                .execute([&name, &value])?;
            Ok(())
        };
        self.writer().run(None, write).await
    }

    /// Reads a mark; `None` when it was never written.
    ///
    /// # Errors
    /// Storage trouble.
    pub fn read_mark(&self, name: &str) -> Result<Option<String>> {
        self.readers().with(|file| {
            let mut mark = file.prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
            Ok(mark.query_row([stored_name(name)], |row| row.get(0)).optional()?)
        })
    }
}
