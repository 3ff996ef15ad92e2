//! The statements for people who may be the same person.

use svc_core::{model::Kind, store::ApartPeople};
use svc_store::duplicates::MAX_COUNT;

use super::parts::{arrays, columns, each, text_group, totals};
use crate::{
    error::Result,
    pipeline::{SqlValue, values},
    record_layout::layout,
    rows::try_parse,
};

text_group! {
    /// The statements for keys of people and for dismissed pairs.
    DuplicateTexts {
        tie_keys,
        free_keys,
        /// Deletes the counts of keys that were removed from people.
        unshare_keys,
        /// Counts the people with keys, after keys were added or removed. A key with the highest count that is
        /// stored is not counted again.
        share_keys,
        clear_keys,
        clear_shared_keys,
        /// The shared keys from a key on, in order.
        shared_from,
        /// The counts of some keys.
        shared,
        /// The people with some keys.
        people_of_keys,
        people,
        apart,
        set_apart,
        drop_apart,
        forward_apart,
        leave_apart,
        leave_other_apart,
    }
}

impl DuplicateTexts {
    /// Returns the texts for the tables in a schema. `from_ledger` selects rows of arrays together with
    /// the tenant.
    pub(super) fn of(s: &str, from_ledger: &dyn Fn(&str) -> String) -> Self {
        let (cols, tot) = (columns(s), totals(s));
        let person = layout(Kind::Person).code;
        let keys = arrays(2, "smallint bigint");
        Self {
            tie_keys: format!(
                "INSERT INTO {s}.person_key (tenant, sort, hash, seq) {} ON CONFLICT (tenant, hash, sort, seq) DO NOTHING",
                from_ledger("smallint bigint bigint")
            ),
            free_keys: format!(
                "DELETE FROM {s}.person_key k USING unnest({}) x(sort, hash, seq) \
                 WHERE k.tenant = $1 AND k.hash = ANY($3) AND k.sort = x.sort AND k.hash = x.hash \
                 AND k.seq = x.seq",
                arrays(2, "smallint bigint bigint")
            ),
            unshare_keys: format!(
                "DELETE FROM {s}.shared_key o USING unnest({keys}) x(sort, hash) \
                 WHERE o.tenant = $1 AND o.hash = ANY($3) AND o.sort = x.sort AND o.hash = x.hash"
            ),
            share_keys: format!(
                "INSERT INTO {s}.shared_key AS o (tenant, sort, hash, members) \
                 SELECT x.tenant, x.sort, x.hash, x.members FROM (SELECT l.tenant, q.sort, q.hash, \
                 (SELECT count(*) FROM (SELECT 1 FROM {s}.person_key k WHERE k.tenant = $1 AND k.sort = q.sort \
                 AND k.hash = q.hash LIMIT {MAX_COUNT}) k) AS members \
                 FROM {s}.ledger l, unnest({keys}) q(sort, hash) WHERE l.tenant = $1 \
                 AND NOT EXISTS (SELECT 1 FROM {s}.shared_key f WHERE f.tenant = $1 AND f.sort = q.sort \
                 AND f.hash = q.hash AND f.members >= {MAX_COUNT})) x WHERE x.members > 1 \
                 ON CONFLICT (tenant, sort, hash) DO UPDATE SET members = excluded.members \
                 WHERE o.members <> excluded.members"
            ),
            clear_keys: format!("DELETE FROM {s}.person_key WHERE tenant = $1"),
            clear_shared_keys: format!("DELETE FROM {s}.shared_key WHERE tenant = $1"),
            shared_from: format!(
                "SELECT o.sort, o.hash, o.members FROM {s}.shared_key o WHERE o.tenant = $1 AND (o.sort, o.hash) >= ($2, $3) \
                 ORDER BY o.sort, o.hash LIMIT (SELECT $4::bigint)"
            ),
            shared: format!(
                "SELECT o.sort, o.hash, o.members FROM unnest({keys}) x(sort, hash) {} ORDER BY o.sort, o.hash",
                each(s, "shared_key", "o", "o.sort = x.sort AND o.hash = x.hash")
            ),
            people_of_keys: format!(
                "SELECT k.sort, k.hash, k.seq FROM unnest({keys}) x(sort, hash) {} ORDER BY k.sort, k.hash, k.seq",
                each(s, "person_key", "k", "k.sort = x.sort AND k.hash = x.hash")
            ),
            people: format!(
                "SELECT {cols} FROM unnest({}) x(seq) {} {tot}",
                arrays(2, "bigint"),
                each(
                    s,
                    "record",
                    "r",
                    &format!("r.kind::int = {person} AND r.seq = x.seq")
                )
            ),
            apart: format!(
                "SELECT a.one, a.other FROM unnest({}) x(one, other) {}",
                arrays(2, "uuid uuid"),
                each(s, "apart", "a", "a.one = x.one AND a.other = x.other")
            ),
            set_apart: format!(
                "INSERT INTO {s}.apart AS o (tenant, one, other, at) {} \
                 ON CONFLICT (tenant, one, other) DO UPDATE SET at = excluded.at",
                from_ledger("uuid uuid bigint")
            ),
            drop_apart: format!(
                "DELETE FROM {s}.apart WHERE tenant = $1 AND one = $2 AND other = $3"
            ),
            // The pair of the two people is dismissed no longer.
            forward_apart: format!(
                "INSERT INTO {s}.apart (tenant, one, other, at) \
                 SELECT a.tenant, least(a.person, $3::uuid), greatest(a.person, $3::uuid), a.at FROM \
                 (SELECT o.tenant, o.other AS person, o.at FROM {s}.apart o WHERE o.tenant = $1 AND o.one = $2 \
                 UNION ALL SELECT p.tenant, p.one, p.at FROM {s}.apart p WHERE p.tenant = $1 AND p.other = $2) a \
                 WHERE a.person <> $3::uuid \
                 ON CONFLICT (tenant, one, other) DO NOTHING"
            ),
            leave_apart: format!("DELETE FROM {s}.apart WHERE tenant = $1 AND one = $2"),
            leave_other_apart: format!("DELETE FROM {s}.apart WHERE tenant = $1 AND other = $2"),
        }
    }

    /// Returns the statement that records or deletes that two people are not the same person.
    pub(crate) fn apart_change(
        &self,
        tenant: i64,
        apart: &ApartPeople,
    ) -> Result<(&str, Vec<SqlValue>)> {
        let [one, other] = &apart.people;
        let (one, other) = (try_parse(one)?, try_parse(other)?);
        Ok(match apart.since {
            Some(since) => {
                let since = since.as_micros();
                let values = values![tenant, vec![one], vec![other], vec![since]];
                (&self.set_apart, values)
            }
            None => (&self.drop_apart, values![tenant, one, other]),
        })
    }
}
