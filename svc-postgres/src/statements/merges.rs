//! Statements about the merges of people that can be undone.

use svc_core::{model::Kind, store::StoredMerge};

use super::parts::{arrays, each, text_group};
use crate::record_layout::layout;

text_group! {
    /// The statements for stored merges, and for their undo.
    MergeTexts {
        /// Everyone who was merged into some people.
        forwarded_to,
        /// Some stored merges, and whether they are the latest of their people.
        stored_merge,
        /// The stored merges of a person, the latest first.
        of_person,
        insert_merge,
        /// Limits the time in which earlier merges into the person can be undone.
        limit_merges,
        drop_merge,
        drop_alias,
        /// Gives the restored person the people who were merged into it.
        return_aliases,
        /// Gives the restored person the feed entries of the deletion of these people.
        return_feed,
        /// Gives the restored person its tickets. The remaining person loses them in a second statement,
        /// because both people can hold the same ticket.
        return_holders,
        release_holders,
        /// Gives the restored person its outbox entries.
        return_outbox,
        /// Records that stored responses about the remaining person may be about both people.
        share_kept,
        /// The tenants with stored merges that have expired. It does not start with the tenant, because it
        /// returns the tenant.
        merges_to_sweep,
        expire_merges,
    }
}

impl MergeTexts {
    /// Returns the texts for the tables in a schema.
    pub(super) fn of(s: &str) -> Self {
        // The columns of a stored merge.
        let columns = "m.id, m.merged, m.at, m.until, m.key_name";
        let person = layout(Kind::Person).code;
        let tickets =
            |first: &str, second: &str| format!("unnest({first}::bigint[], {second}::bigint[])");
        Self {
            forwarded_to: format!(
                "SELECT k.place, a.id FROM unnest({}) k(id, place) {}",
                arrays(2, "uuid int"),
                each(s, "alias", "a", "a.target = k.id")
            ),
            stored_merge: format!(
                "SELECT k.place, m.remaining, {columns}, m.body, NOT EXISTS (SELECT 1 FROM {s}.merge o WHERE o.tenant = $1 \
                 AND o.remaining = m.remaining AND o.at > m.at) FROM unnest({}) k(remaining, id, place) {}",
                arrays(2, "uuid uuid int"),
                each(s, "merge", "m", "m.remaining = k.remaining AND m.id = k.id")
            ),
            of_person: format!(
                "SELECT {columns} FROM {s}.merge m WHERE m.tenant = $1 AND m.remaining = $2 ORDER BY m.at DESC LIMIT {}",
                StoredMerge::MAX_LISTED
            ),
            insert_merge: format!(
                "INSERT INTO {s}.merge (tenant, id, remaining, merged, at, until, key_name, body) \
                 SELECT l.tenant, $2::uuid, $3::uuid, $4::uuid, $5::bigint, $6::bigint, $7::text, $8::bytea \
                 FROM {s}.ledger l WHERE l.tenant = $1 ON CONFLICT (tenant, id) DO NOTHING"
            ),
            limit_merges: format!(
                "UPDATE {s}.merge SET until = $4 WHERE tenant = $1 AND remaining = $2 AND at < $3 AND until > $4"
            ),
            drop_merge: format!(
                "DELETE FROM {s}.merge WHERE tenant = $1 AND remaining = $2 AND id = $3"
            ),
            drop_alias: format!("DELETE FROM {s}.alias WHERE tenant = $1 AND id = $2"),
            return_aliases: format!(
                "UPDATE {s}.alias SET target = $3 WHERE tenant = $1 AND target = $2 AND id = ANY ($4)"
            ),
            return_feed: format!(
                "UPDATE {s}.feed SET target = $3 WHERE tenant = $1 AND target = $2 AND kind = {person} AND id = ANY ($4)"
            ),
            return_holders: format!(
                "INSERT INTO {s}.holder (tenant, person, attendance, place) SELECT h.tenant, $3::uuid, h.attendance, h.place \
                 FROM {} x(attendance, place) {} ON CONFLICT (tenant, person, attendance, place) DO NOTHING",
                tickets("$4", "$5"),
                each(
                    s,
                    "holder",
                    "h",
                    "h.person = $2 AND h.attendance = x.attendance AND h.place = x.place"
                )
            ),
            release_holders: format!(
                "DELETE FROM {s}.holder h USING {} x(attendance, place) WHERE h.tenant = $1 AND h.person = $2 \
                 AND h.attendance = x.attendance AND h.place = x.place",
                tickets("$3", "$4")
            ),
            // The text of an entry contains the id of its action.
            return_outbox: format!(
                "UPDATE {s}.outbox SET person = $3, body = replace(body, ($2::uuid)::text, ($3::uuid)::text) \
                 WHERE tenant = $1 AND person = $2 AND body LIKE ANY ($4::text[])"
            ),
            share_kept: format!(
                "INSERT INTO {s}.kept (tenant, key, person, at) \
                 SELECT o.tenant, o.key, $3::uuid, o.at FROM {s}.kept o WHERE o.tenant = $1 AND o.person = $2 \
                 ON CONFLICT (tenant, key, person) DO NOTHING"
            ),
            merges_to_sweep: format!(
                "SELECT l.tenant FROM {s}.ledger l WHERE EXISTS (SELECT 1 FROM {s}.merge m WHERE m.tenant = l.tenant AND m.until < $1) \
                 LIMIT $2"
            ),
            expire_merges: format!(
                "DELETE FROM {s}.merge WHERE tenant = $1 AND id = ANY (ARRAY( \
                 SELECT m.id FROM {s}.merge m WHERE m.tenant = $1 AND m.until < $2 ORDER BY m.until LIMIT 64))"
            ),
        }
    }
}
