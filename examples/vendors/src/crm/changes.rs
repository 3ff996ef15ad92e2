//! The change feed. Each change of a row gets a number in its transaction, and deletions are
//! logged.
//!
//! The database assigns the numbers, so that the feed also contains changes by other programs of
//! the vendor. A transaction that takes a number locks the row of its company until the commit, so
//! that numbers are committed in order. The number is also the version of the row.

use async_trait::async_trait;
use svc_core::backend::{ChangeKind, FeedEntry, FeedPage, RecordChange};
use svc_core::model::{Kind, Person, Petition, Signature, Tag, Tagging};
use svc_core::{
    ChangeFeed, Context, FeedRequest, FeedResponse, Result, link::RecordAddress, value::Timestamp,
};

use super::client::Row;
use super::existing::Crm;
use super::mapping::TableKind;

/// Only ids, and no other data of deleted people.
const DELETIONS: &str = "
CREATE TABLE IF NOT EXISTS deletions (
    company_no INTEGER NOT NULL REFERENCES companies,
    change_no  INTEGER NOT NULL,
    kept_in    TEXT NOT NULL,
    row_no     INTEGER NOT NULL,
    above_no   INTEGER,
    deleted_at INTEGER NOT NULL,
    PRIMARY KEY (company_no, change_no)
);
";

/// A table with a change feed, and its column that references the parent record.
struct FeedTable {
    table: &'static str,
    kind: Kind,
    above: Option<&'static str>,
}

impl FeedTable {
    fn of<R: TableKind>() -> Self {
        let mut links = R::LINKS
            .iter()
            .filter(|(link, ..)| R::SCHEMA.parent == Some(link.name()));
        Self {
            table: R::TABLE,
            kind: R::KIND,
            above: links.next().map(|(_, column, ..)| *column),
        }
    }

    fn all() -> [Self; 5] {
        [
            Self::of::<Person>(),
            Self::of::<Petition>(),
            Self::of::<Signature>(),
            Self::of::<Tag>(),
            Self::of::<Tagging>(),
        ]
    }

    /// Returns the triggers that number the changes of the table, including cascaded deletions.
    fn triggers(&self) -> String {
        let (table, above) = (
            self.table,
            self.above
                .map_or("NULL".to_owned(), |it| format!("OLD.{it}")),
        );
        let next = "UPDATE companies SET last_change = last_change + 1 WHERE company_no =";
        let last = "(SELECT last_change FROM companies WHERE company_no =";
        let number = format!(
            "BEGIN {next} NEW.company_no;
             UPDATE {table} SET change_no = {last} NEW.company_no) WHERE rowid = NEW.rowid; END;"
        );
        format!(
            "CREATE TRIGGER IF NOT EXISTS {table}_made AFTER INSERT ON {table} {number}
             CREATE TRIGGER IF NOT EXISTS {table}_edited AFTER UPDATE OF edited_at ON {table} {number}
             CREATE TRIGGER IF NOT EXISTS {table}_gone AFTER DELETE ON {table} BEGIN {next} OLD.company_no;
             INSERT INTO deletions VALUES (OLD.company_no, {last} OLD.company_no), '{table}', OLD.rowid, {above},
                 max(OLD.edited_at, CAST(unixepoch('subsec') * 1000000 AS INTEGER))); END;"
        )
    }

    /// Returns the rows that were changed after a number.
    fn rows(&self) -> String {
        let (table, above) = (self.table, self.above.unwrap_or("NULL"));
        format!(
            "SELECT change_no, '{table}' AS kept_in, rowid AS row_no, {above} AS above_no, edited_at AS at,
             CASE WHEN edited_at > entered_at THEN 'changed' ELSE 'created' END AS what
             FROM {table} WHERE company_no = ?1 AND change_no > ?2"
        )
    }

    fn address(&self, row: &Row) -> Result<RecordAddress> {
        let no = row.get::<i64>("row_no")?.into();
        Ok(match self.above {
            Some(_) => {
                RecordAddress::with_parent(self.kind, row.get::<i64>("above_no")?.into(), no)
            }
            None => RecordAddress::without_parent(self.kind, no),
        })
    }
}

/// Returns the tables and triggers of the feed.
pub(super) fn schema() -> String {
    FeedTable::all()
        .iter()
        .fold(DELETIONS.to_owned(), |schema, told| {
            schema + &told.triggers()
        })
}

#[async_trait]
impl ChangeFeed for Crm {
    async fn read(&self, cx: &Context, request: &FeedRequest) -> Result<FeedResponse> {
        let (tx, company) = (self.tx(cx).await?, cx.tenant().as_number());
        let last = "SELECT last_change FROM companies WHERE company_no = ?1";
        let last: i64 = tx.query_one(last, &[&company]).await?.get("last_change")?;
        // A cursor consists of the company and a number. The cursor of another company is invalid.
        let cursor = |no: i64| format!("{}-{no}", company.unwrap_or_default());
        let after = request
            .after
            .as_deref()
            .unwrap_or_default()
            .rsplit('-')
            .next()
            .and_then(|no| no.parse().ok());
        let after = match &request.after {
            None => 0,
            Some(given) => {
                match after.filter(|no| (0..=last).contains(no) && cursor(*no) == *given) {
                    Some(no) => no,
                    None => return Ok(FeedResponse::UnknownCursor),
                }
            }
        };
        let tables = FeedTable::all();
        let deleted = "SELECT change_no, kept_in, row_no, above_no, deleted_at AS at, 'deleted' AS what FROM deletions
                       WHERE company_no = ?1 AND change_no > ?2";
        let rows = tables.iter().fold(deleted.to_owned(), |sql, told| {
            sql + " UNION ALL " + &told.rows()
        });
        // One more row than requested shows whether there are more.
        let rows = format!("{rows} ORDER BY change_no LIMIT ?3 + 1");
        let mut rows = tx.query(&rows, &[&company, &after, &request.size]).await?;
        let has_more = rows.len() > usize::try_from(request.size)?;
        rows.truncate(usize::try_from(request.size)?);
        let next = rows
            .last()
            .filter(|_| has_more)
            .map(|row| row.get("change_no"))
            .transpose()?
            .unwrap_or(last);
        let mut entries = Vec::new();
        for row in &rows {
            let (table, what): (String, String) = (row.get("kept_in")?, row.get("what")?);
            let told = tables
                .iter()
                .find(|told| told.table == table && request.kinds.contains(&told.kind));
            let what = ChangeKind::ALL
                .into_iter()
                .find(|known| known.as_str() == what);
            if let (Some(told), Some(what)) = (told, what) {
                let no: i64 = row.get("change_no")?;
                let change = RecordChange::new(
                    what,
                    Timestamp::from_micros(row.get("at")?),
                    told.address(row)?,
                );
                entries.push(FeedEntry::new(cursor(no - 1), change));
            }
        }
        Ok(FeedResponse::Page(FeedPage::new(
            entries,
            cursor(next),
            cursor(last),
            has_more,
        )))
    }
}
