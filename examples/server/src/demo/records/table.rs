//! Writes the records of an export as a table.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use svc_core::model::Kind;
use svc_import::{
    ExportColumns, ExportError, ExportFormat, ExportRecord, TableWriter, UsedColumns, only_for_user,
};

use super::memberships::Memberships;

/// How the records become a table.
#[derive(Debug)]
pub(super) struct TableBuilder {
    pub(super) kind: Kind,
    pub(super) format: ExportFormat,
    pub(super) tags: Memberships,
    pub(super) lists: Memberships,
    pub(super) namespace: Option<String>,
    /// The columns, if they do not depend on the records.
    pub(super) chosen: Option<ExportColumns>,
}

impl TableBuilder {
    /// Writes the table. Returns the number of its columns.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read or written, or if the format cannot have such records.
    pub(super) fn build(self, records: &Path, to: &Path) -> Result<usize, ExportError> {
        let columns = if let Some(columns) = &self.chosen {
            columns.clone().without_namespace(self.namespace.clone())
        } else {
            let mut used = UsedColumns::new(self.kind, self.namespace.clone());
            self.each(records, |record| {
                used.add(record);
                Ok(())
            })?;
            used.finish()?
        };
        // One that remains from an interrupted export can have other rights.
        let _ = std::fs::remove_file(to);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let file = only_for_user(&mut options).open(to)?;
        let mut table = match self.format {
            ExportFormat::Excel => {
                let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
                TableWriter::excel(file, folder.unwrap_or(Path::new(".")))?
            }
            _ => TableWriter::csv(file)?,
        };
        table.add(&columns.head())?;
        self.each(records, |record| table.add(&columns.row(record)))?;
        table.finish()?.sync_all()?;
        Ok(columns.columns().len())
    }

    /// Reads the records one by one.
    fn each(
        &self,
        records: &Path,
        mut use_record: impl FnMut(&ExportRecord) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let mut lines = BufReader::new(File::open(records)?);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            let mut record = ExportRecord::from_line(&line).ok_or(ExportError::NoRecord)?;
            let id = record.id().map(str::to_owned).unwrap_or_default();
            record.tags = self.tags.names_of(&id);
            record.lists = self.lists.names_of(&id);
            use_record(&record)?;
            line.clear();
        }
        Ok(())
    }
}
