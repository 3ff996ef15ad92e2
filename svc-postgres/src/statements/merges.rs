//! Statements about the merges of people that can be undone.

use svc_core::{model::Kind, store::StoredMerge};

use super::parts::{arrays, each};
use crate::record_layout::layout;

/// The columns of a stored merge in the table `m`.
const COLUMNS: &str = "m.id, m.merged, m.at, m.until, m.key_name";

/// Finds everyone who was merged into a person, finds a stored merge, lists those of a person, stores one,
/// and limits the time in which earlier merges into the person can be undone.
pub(super) fn of_merges(s: &str) -> [String; 5] {
    [
        format!(
            "SELECT k.place, a.id FROM unnest({}) k(id, place) {}",
            arrays(2, "uuid int"),
            each(s, "alias", "a", "a.target = k.id")
        ),
        format!(
            "SELECT k.place, m.remaining, {COLUMNS}, m.body, NOT EXISTS (SELECT 1 FROM {s}.merge o WHERE o.tenant = $1 \
             AND o.remaining = m.remaining AND o.at > m.at) FROM unnest({}) k(remaining, id, place) {}",
            arrays(2, "uuid uuid int"),
            each(s, "merge", "m", "m.remaining = k.remaining AND m.id = k.id")
        ),
        format!(
            "SELECT {COLUMNS} FROM {s}.merge m WHERE m.tenant = $1 AND m.remaining = $2 ORDER BY m.at DESC LIMIT {}",
            StoredMerge::MAX_LISTED
        ),
        format!(
            "INSERT INTO {s}.merge (tenant, id, remaining, merged, at, until, key_name, body) \
             SELECT l.tenant, $2::uuid, $3::uuid, $4::uuid, $5::bigint, $6::bigint, $7::text, $8::bytea \
             FROM {s}.ledger l WHERE l.tenant = $1 ON CONFLICT (tenant, id) DO NOTHING"
        ),
        format!(
            "UPDATE {s}.merge SET until = $4 WHERE tenant = $1 AND remaining = $2 AND at < $3 AND until > $4"
        ),
    ]
}

/// Undoes a merge: deletes the stored merge and the forwarding, gives the restored person the people who
/// were merged into it and the feed entries of their deletion, its tickets (in two steps, because both
/// people can hold the same ticket) and its outbox entries, and records that stored responses of the other
/// person may be about both.
pub(super) fn of_restored(s: &str) -> [String; 8] {
    let person = layout(Kind::Person).code;
    let tickets =
        |first: &str, second: &str| format!("unnest({first}::bigint[], {second}::bigint[])");
    [
        format!("DELETE FROM {s}.merge WHERE tenant = $1 AND remaining = $2 AND id = $3"),
        format!("DELETE FROM {s}.alias WHERE tenant = $1 AND id = $2"),
        format!(
            "UPDATE {s}.alias SET target = $3 WHERE tenant = $1 AND target = $2 AND id = ANY ($4)"
        ),
        format!(
            "UPDATE {s}.feed SET target = $3 WHERE tenant = $1 AND target = $2 AND kind = {person} AND id = ANY ($4)"
        ),
        format!(
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
        format!(
            "DELETE FROM {s}.holder h USING {} x(attendance, place) WHERE h.tenant = $1 AND h.person = $2 \
             AND h.attendance = x.attendance AND h.place = x.place",
            tickets("$3", "$4")
        ),
        // The text of an entry contains the id of its action.
        format!(
            "UPDATE {s}.outbox SET person = $3, body = replace(body, ($2::uuid)::text, ($3::uuid)::text) \
             WHERE tenant = $1 AND person = $2 AND body LIKE ANY ($4::text[])"
        ),
        format!(
            "INSERT INTO {s}.kept (tenant, key, person, at) \
             SELECT o.tenant, o.key, $3::uuid, o.at FROM {s}.kept o WHERE o.tenant = $1 AND o.person = $2 \
             ON CONFLICT (tenant, key, person) DO NOTHING"
        ),
    ]
}
