//! Checks a data file that no server has open, and reports what is damaged by kind and id.

use std::fmt;
use std::path::Path;

use rusqlite::{Connection, ErrorCode, Row};
use svc_core::{
    backend::ChangeKind,
    model::Kind,
    raw::RawRecord,
    record::{Identifiers, Meta},
    value::{Id, Timestamp},
};

use crate::{
    file::{FileError, io, log_of, open_unserved, sqlite},
    migrate::{MIGRATIONS, migrate},
    record_id::RecordId,
    recount::recount_if_changed,
    schema::{SqliteTable, table},
    wal::unreadable_frames,
};

/// Damage found by [`check`](check()).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The write-ahead log has frames that SQLite does not read. The commits in them are lost.
    Log {
        /// The number of frames from the first unreadable one to the last readable one after it.
        frames: u64,
    },
    /// A message of SQLite's own integrity check.
    Integrity(String),
    /// Not all records of a kind can be read, because pages of their table are damaged.
    Table {
        /// The kind.
        kind: Kind,
        /// The last record that was read.
        after: Option<Id>,
    },
    /// The stored body of a record is not JSON.
    Body {
        /// The tenant.
        tenant: String,
        /// The kind.
        kind: Kind,
        /// The id.
        id: Id,
    },
    /// The stored total of a collection differs from the number of its records.
    Total {
        /// The tenant.
        tenant: String,
        /// The kind of the records that are counted.
        kind: Kind,
        /// The record that the collection is under, or `None` for the collection of all records.
        under: Option<(Kind, Id)>,
        /// The stored total.
        stored: i64,
        /// The number of records.
        counted: i64,
    },
    /// The last entry of a record in the change feed does not agree with the record.
    Feed {
        /// The tenant.
        tenant: String,
        /// The kind.
        kind: Kind,
        /// The id.
        id: Id,
        /// Whether the record is stored, although the feed has it as deleted.
        is_stored: bool,
    },
}

impl Damage {
    /// Returns what to do about the damage.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Body {
                kind: Kind::Attendance | Kind::Donation,
                ..
            } => "Restore a backup.",
            Self::Body { .. } => "PUT the whole record, or restore a backup.",
            _ => "Restore a backup.",
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log { frames } => {
                write!(
                    f,
                    "{frames} frames of the write-ahead log cannot be read; the commits in them are lost"
                )
            }
            Self::Integrity(what) => write!(f, "the file: {what}"),
            Self::Table { kind, after: None } => {
                write!(f, "{}: no record can be read", kind.plural())
            }
            Self::Table {
                kind,
                after: Some(id),
            } => write!(f, "{}: no record after {id} can be read", kind.plural()),
            Self::Body { tenant, kind, id } => {
                write!(
                    f,
                    "{}/{id} of tenant {tenant}: the stored body is not JSON",
                    kind.plural()
                )
            }
            Self::Total {
                tenant,
                kind,
                under,
                stored,
                counted,
            } => {
                write!(f, "{}", kind.plural())?;
                if let Some((owner, id)) = under {
                    write!(f, " under {}/{id}", owner.plural())?;
                }
                write!(
                    f,
                    " of tenant {tenant}: the stored total is {stored}, the number of records is {counted}"
                )
            }
            Self::Feed {
                tenant,
                kind,
                id,
                is_stored,
            } => {
                let (feed, record) = if *is_stored {
                    ("deleted", "is stored")
                } else {
                    ("stored", "does not exist")
                };
                write!(
                    f,
                    "{}/{id} of tenant {tenant}: {feed} according to the feed, but it {record}",
                    kind.plural()
                )
            }
        }
    }
}

/// Checks the data file at `path` and passes each damage to `report`.
///
/// The check covers SQLite's own check, the write-ahead log, the JSON of each body, totals, and the
/// change feed. The file and its log are not changed.
///
/// # Errors
///
/// Returns [`FileError::Missing`] if the file does not exist, and [`FileError::InUse`] if a server
/// has it open. Returns [`FileError::UnknownMeasure`] if a newer program has derived totals
/// or texts that this program does not know. Also returns an error if the file cannot be opened as a data file.
///
/// Totals that another version has counted are not an error: [`FileError::Uncounted`] is never
/// returned.
pub fn check(path: &Path, report: &mut dyn FnMut(Damage)) -> Result<(), FileError> {
    let (mut file, path, _lock) = open_unserved(path)?;
    let frames = unreadable_frames(&path, &log_of(&path)).map_err(io(&path))?;
    if frames > 0 {
        report(Damage::Log { frames });
    }
    match migrate(&mut file, &path, MIGRATIONS, false, Timestamp::MIN) {
        // The commits that created the tables are among the lost ones. Nothing is left to check.
        Err(FileError::Older { .. }) if frames > 0 => return Ok(()),
        migrated => migrated?,
    }
    match recount_if_changed(&mut file, &path, false) {
        // Measures are not checked.
        Err(FileError::Uncounted { .. }) => {}
        counted => counted?,
    }
    file.pragma_update(None, "query_only", true)
        .map_err(sqlite(&path))?;
    integrity(&file, report).map_err(sqlite(&path))?;
    for kind in Kind::ALL {
        let table = table(*kind);
        readable(bodies(&file, table, report)).map_err(sqlite(&path))?;
        readable(totals(&file, table, report)).map_err(sqlite(&path))?;
        readable(feed(&file, table, report)).map_err(sqlite(&path))?;
    }
    Ok(())
}

/// Ends one part of the check at a damaged page or value, which SQLite's own check has reported.
fn readable(part: rusqlite::Result<()>) -> rusqlite::Result<()> {
    match part {
        Err(
            rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..),
        ) => Ok(()),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => Ok(()),
        part => part,
    }
}

fn integrity(file: &Connection, report: &mut dyn FnMut(Damage)) -> rusqlite::Result<()> {
    let mut check = file.prepare("PRAGMA integrity_check")?;
    let mut rows = check.query(())?;
    loop {
        match rows.next() {
            Ok(Some(row)) => {
                let text: String = row.get(0)?;
                text.lines()
                    .filter(|line| *line != "ok")
                    .for_each(|line| report(Damage::Integrity(line.to_owned())));
            }
            Ok(None) => return Ok(()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
                report(Damage::Integrity(error.to_string()));
                return Ok(());
            }
            Err(error) => return Err(error),
        }
    }
}

/// Checks that each body is JSON.
fn bodies(
    file: &Connection,
    table: &SqliteTable,
    report: &mut dyn FnMut(Damage),
) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT r.id, coalesce(t.name, 'number ' || r.tenant), r.identifiers, r.body FROM {} r LEFT JOIN tenant t ON t.id = r.tenant ORDER BY r.seq",
        table.name
    );
    let mut statement = file.prepare(&sql)?;
    let (mut rows, mut after) = (statement.query(())?, None);
    loop {
        let checked = match rows.next() {
            Ok(Some(row)) => body(table.kind, row),
            Ok(None) => return Ok(()),
            Err(error) => Err(error),
        };
        match checked {
            Ok((id, damage)) => {
                damage.into_iter().for_each(&mut *report);
                after = Some(id);
            }
            Err(error) => {
                report(Damage::Table {
                    kind: table.kind,
                    after,
                });
                return Err(error);
            }
        }
    }
}

/// Returns the id of a record, and its damage.
fn body(kind: Kind, row: &Row<'_>) -> rusqlite::Result<(Id, Option<Damage>)> {
    let id = row.get::<_, RecordId>(0)?.to_id();
    let mut meta = Meta::new(id.clone(), Timestamp::MIN);
    meta.identifiers =
        Identifiers::from_stored(String::from_utf8_lossy(row.get_ref(2)?.as_bytes()?).into_owned());
    let record = RawRecord::from_wire(kind, meta, row.get_ref(3)?.as_bytes()?.to_vec());
    let damage = if record.is_well_formed() {
        None
    } else {
        Some(Damage::Body {
            tenant: row.get(1)?,
            kind,
            id: id.clone(),
        })
    };
    Ok((id, damage))
}

/// Compares the stored totals of the collections of a kind with its rows.
fn totals(
    file: &Connection,
    table: &SqliteTable,
    report: &mut dyn FnMut(Damage),
) -> rusqlite::Result<()> {
    let (name, code) = (table.name, table.code);
    let all = table
        .kind
        .schema()
        .has_collection()
        .then_some((0, "x''", "tenant", None));
    let under = table.scopes().map(|scope| {
        let owner = crate::schema::table(scope.kind);
        (owner.code, scope.name, scope.name, Some(scope.kind))
    });
    for (scope, owner, not_null, kind) in all.into_iter().chain(under) {
        let sql = format!(
            "SELECT coalesce(t.name, 'number ' || x.tenant), x.owner, sum(x.stored), sum(x.counted)
             FROM (SELECT tenant, owner, records AS stored, 0 AS counted FROM total WHERE kind = {code} AND scope = {scope}
                   UNION ALL
                   SELECT tenant, {owner}, 0, count(*) FROM {name} WHERE {not_null} IS NOT NULL GROUP BY 1, 2) x
             LEFT JOIN tenant t ON t.id = x.tenant
             GROUP BY x.tenant, x.owner HAVING sum(x.stored) <> sum(x.counted)"
        );
        let mut statement = file.prepare(&sql)?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            let under = match kind {
                Some(kind) => Some((kind, row.get::<_, RecordId>(1)?.to_id())),
                None => None,
            };
            let (tenant, stored, counted) = (row.get(0)?, row.get(2)?, row.get(3)?);
            report(Damage::Total {
                tenant,
                kind: table.kind,
                under,
                stored,
                counted,
            });
        }
    }
    Ok(())
}

/// Compares the last feed entry of each record with the table.
fn feed(
    file: &Connection,
    table: &SqliteTable,
    report: &mut dyn FnMut(Damage),
) -> rusqlite::Result<()> {
    let (name, code, deleted) = (table.name, table.code, ChangeKind::Deleted as i64);
    // SQLite takes the other columns from the row with the maximum.
    let sql = format!(
        "SELECT coalesce(t.name, 'number ' || f.tenant), f.id, r.seq IS NOT NULL
         FROM (SELECT tenant, id, what, max(seq) FROM feed WHERE kind = {code} GROUP BY tenant, id) f
         LEFT JOIN {name} r ON r.id = f.id AND r.tenant = f.tenant LEFT JOIN tenant t ON t.id = f.tenant
         WHERE (f.what = {deleted}) = (r.seq IS NOT NULL)"
    );
    let entry = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, RecordId>(1)?.to_id(), row.get(2)?));
    let mut statement = file.prepare(&sql)?;
    for entry in statement.query_map((), entry)? {
        let (tenant, id, is_stored) = entry?;
        report(Damage::Feed {
            tenant,
            kind: table.kind,
            id,
            is_stored,
        });
    }
    Ok(())
}
