//! Pages of a collection in the order of a date. `$2` is the kind, `$3` and `$4` are the date and
//! row after which the page begins, and `$5` is the last date.

/// The statements about one date.
pub(super) struct DateRangeStatements {
    /// The first `$6` records after a record.
    pub(super) after: String,
    /// The same, and before it the number of records from `$3` to `$5`, or of all records if `$7`.
    pub(super) first: String,
    /// The same after the first `$4` records, for a jump to a page.
    pub(super) jump: String,
}

impl DateRangeStatements {
    /// Returns the statements in the order of `date`, with the index for this condition on the
    /// kind.
    pub(super) fn of(s: &str, cols: &str, tot: &str, date: &str, kind: &str) -> Self {
        let rows = |time: &str, row: &str| {
            format!(
                "SELECT {cols} FROM {s}.record r {tot} WHERE r.tenant = $1 AND {kind} AND (r.{date}, r.seq) > ({time}, {row}) \
                 AND r.{date} <= $5 ORDER BY r.{date}, r.seq LIMIT (SELECT $6::bigint)"
            )
        };
        let between = format!("r.tenant = $1 AND {kind} AND r.{date} >= $3 AND r.{date} <= $5");
        // The number of all records is already stored. Only one branch is executed.
        let counted = format!(
            "c AS (SELECT CASE WHEN $7::boolean THEN coalesce((SELECT o.records FROM {s}.total o WHERE o.tenant = $1 \
             AND o.kind = $2 AND o.scope = 0 AND o.owner = '00000000-0000-0000-0000-000000000000'), 0) \
             ELSE (SELECT count(*) FROM {s}.record r WHERE {between}) END AS n)"
        );
        let page = format!(
            "LEFT JOIN LATERAL ({}) x ON true ORDER BY x.{date}, x.seq",
            rows("b.time", "b.seq")
        );
        // Reads only the index, like the count. If there are fewer records than it skips, it ends
        // at the last record, and the page is empty.
        let passed = format!(
            "b AS (SELECT m.time, m.seq FROM (SELECT r.{date} AS time, r.seq FROM {s}.record r WHERE {between} \
             ORDER BY r.{date}, r.seq LIMIT (SELECT $4::bigint)) m ORDER BY m.time DESC, m.seq DESC LIMIT 1)"
        );
        Self {
            after: rows("$3", "$4"),
            first: format!(
                "WITH {counted}, b AS (SELECT $3::bigint AS time, $4::bigint AS seq) SELECT c.n, x.* FROM c CROSS JOIN b {page}"
            ),
            jump: format!(
                "WITH {counted}, {passed} SELECT c.n, x.* FROM c LEFT JOIN b ON true {page}"
            ),
        }
    }
}
