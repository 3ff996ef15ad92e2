//! Pages of a collection in the order of a date or a text. `$2` is the kind, `$3` and `$4` are the
//! key and row after which the page begins, and `$5` is the last key.

use super::parts::each;

/// The statements about one date, or about texts.
pub(super) struct RangeStatements {
    /// The first `$6` records after a record. `$7` is the field of a text.
    pub(super) after: String,
    /// The same, and before it the number of records from `$3` to `$5`. For a date, `$7` is whether
    /// these are all records.
    pub(super) first: String,
    /// The same after the first `$4` records, for a jump to a page.
    pub(super) jump: String,
}

impl RangeStatements {
    /// Returns the statements in the order of `date`, with the index for this condition on the
    /// kind.
    pub(super) fn by_date(s: &str, cols: &str, tot: &str, date: &str, kind: &str) -> Self {
        let rows = |key: &str, row: &str| {
            format!(
                "SELECT {cols} FROM {s}.record r {tot} WHERE r.tenant = $1 AND {kind} AND (r.{date}, r.seq) > ({key}, {row}) \
                 AND r.{date} <= $5 ORDER BY r.{date}, r.seq LIMIT (SELECT $6::bigint)"
            )
        };
        let between = format!(
            "{s}.record r WHERE r.tenant = $1 AND {kind} AND r.{date} >= $3 AND r.{date} <= $5"
        );
        // The number of all records is already stored. Only one branch is executed.
        let count = format!(
            "CASE WHEN $7::boolean THEN coalesce((SELECT o.records FROM {s}.total o WHERE o.tenant = $1 \
             AND o.kind = $2 AND o.scope = 0 AND o.owner = '00000000-0000-0000-0000-000000000000'), 0) \
             ELSE (SELECT count(*) FROM {between}) END"
        );
        Self {
            after: rows("$3", "$4"),
            first: first(&count, "$3::bigint", date, &rows("b.key", "b.seq")),
            jump: jump(
                &count,
                &format!("r.{date}"),
                "r.seq",
                &between,
                date,
                &rows("b.key", "b.seq"),
            ),
        }
    }

    /// Returns the statements in the order of a text.
    pub(super) fn by_text(s: &str, cols: &str, tot: &str) -> Self {
        let record = each(s, "record", "r", "r.kind::int = $2 AND r.seq = k.seq");
        // The inner limit, so that only the records of the page are read.
        let rows = |key: &str, row: &str| {
            format!(
                "SELECT {cols}, k.text FROM (SELECT i.text, i.seq FROM {s}.text_key i WHERE i.tenant = $1 AND i.field = $7 \
                 AND (i.text, i.seq) > ({key}, {row}) AND i.text <= $5 ORDER BY i.text, i.seq LIMIT (SELECT $6::bigint)) k \
                 {record} {tot} ORDER BY k.text, k.seq"
            )
        };
        let between = format!(
            "{s}.text_key i WHERE i.tenant = $1 AND i.field = $7 AND i.text >= $3 AND i.text <= $5"
        );
        let count = format!("(SELECT count(*) FROM {between})");
        let page = rows("b.key", "b.seq");
        Self {
            after: rows("$3", "$4"),
            first: first(&count, "$3::text", "text", &page),
            jump: jump(&count, "i.text", "i.seq", &between, "text", &page),
        }
    }
}

/// Returns the statement of a first page.
fn first(count: &str, from: &str, by: &str, rows: &str) -> String {
    format!(
        "WITH c AS (SELECT {count} AS n), b AS (SELECT {from} AS key, $4::bigint AS seq) SELECT c.n, x.* FROM c CROSS JOIN b \
         LEFT JOIN LATERAL ({rows}) x ON true ORDER BY x.{by}, x.seq"
    )
}

/// Returns the statement of a jump to a page.
fn jump(count: &str, key: &str, row: &str, between: &str, by: &str, rows: &str) -> String {
    // Reads only the index, like the count. If there are fewer records than it skips, it ends at
    // the last record, and the page is empty.
    format!(
        "WITH c AS (SELECT {count} AS n), b AS (SELECT m.key, m.seq FROM (SELECT {key} AS key, {row} AS seq FROM {between} \
         ORDER BY {key}, {row} LIMIT (SELECT $4::bigint)) m ORDER BY m.key DESC, m.seq DESC LIMIT 1) \
         SELECT c.n, x.* FROM c LEFT JOIN b ON true LEFT JOIN LATERAL ({rows}) x ON true ORDER BY x.{by}, x.seq"
    )
}
