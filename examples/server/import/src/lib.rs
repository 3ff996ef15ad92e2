//! Reads tables of people and their actions as spreadsheet programs and CRMs write them, and maps their columns to
//! members of a sign-up or of an action.
//!
//! ```
//! use svc_import::{ColumnMapping, MappingOptions, RowContent, Synonyms, Table};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("people.csv");
//! std::fs::write(&path, "Vorname;E-Mail;Land\nJosé;jose@example.org;Spanien\n")?;
//! let table = Table::open(&path)?;
//! let mapping = ColumnMapping::new(table.head(), &Synonyms::built_in()?, &MappingOptions::default())?;
//! for row in table.rows()? {
//!     if let RowContent::Cells(cells) = row?.content {
//!         let person = &mapping.row(&cells).body["person"];
//!         assert_eq!(person["given_name"], "José");
//!         assert_eq!(person["email_addresses"][0]["address"], "jose@example.org");
//!         assert_eq!(person["postal_addresses"][0]["country"], "ES");
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod action;
mod amounts;
mod dates;
mod export;
mod formulas;
mod mapping;
mod member;
mod names;
mod overview;
mod plan;
mod results;
mod saved;
mod table;
mod titles;
mod values;

pub use action::ActionKind;
pub use amounts::DecimalMark;
pub use dates::DateOrder;
pub use export::{
    Cell, ExportColumn, ExportColumns, ExportError, ExportFormat, ExportRecord, TableWriter,
    UnknownColumn, UsedColumns,
};
pub use mapping::{
    ColumnMapping, DroppedCell, MappedColumn, MappedRow, MappingError, MappingOptions, Synonyms,
    SynonymsError,
};
pub use member::{Member, RecordField};
pub use names::plain_name;
pub use overview::Overview;
pub use plan::{PlannedRow, RequestLines, RowPlan};
pub use results::{ImportCounts, ImportResults, ReportPaths, error_text, only_for_user};
pub use saved::SavedMapping;
pub use table::{
    FileFormat, Row, RowContent, RowFault, Rows, Table, TableError, TableLimits, column_letters,
};
pub use titles::MemberGroup;
