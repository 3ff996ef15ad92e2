//! Every statement of this crate. `$1` is the tenant, in each but those of the directories of tenants and keys.
//!
//! Only the name of the schema and constants of the interface's tables go into a text; values are always bound.

use svc_core::{model::Kind, schema::Source};

use crate::layout::{SLOTS, layout};

/// The texts for one schema.
#[derive(Debug)]
pub(crate) struct Statements {
    pub(crate) by_id: String,
    pub(crate) by_identifier: String,
    pub(crate) by_email: String,
    pub(crate) by_name: String,
    pub(crate) by_link: String,
    pub(crate) members: String,
    pub(crate) answered: String,
    pub(crate) totals: String,
    pub(crate) parts: String,
    pub(crate) holdings: String,
    /// A page of all records of a kind, and of those under a record by each of [`SLOTS`].
    pub(crate) page: String,
    pub(crate) page_under: [String; 4],
    /// The row with so many members before it.
    pub(crate) nth: String,
    pub(crate) nth_under: [String; 4],
    pub(crate) lock: String,
    pub(crate) guard: String,
    pub(crate) insert_records: String,
    pub(crate) free_identifiers: String,
    pub(crate) tie_identifiers: String,
    pub(crate) free_emails: String,
    pub(crate) tie_emails: String,
    pub(crate) count: String,
    pub(crate) replace: String,
    pub(crate) set_body: String,
    pub(crate) set_link: [String; 4],
    pub(crate) set_modified_by: String,
    pub(crate) set_schedule: String,
    pub(crate) set_sum: String,
    pub(crate) set_part: String,
    pub(crate) hold: String,
    pub(crate) unplace_holders: String,
    pub(crate) place_holders: String,
    pub(crate) forget_holdings: String,
    pub(crate) forget_outbox: String,
    pub(crate) outbox: String,
    pub(crate) tenant: String,
    pub(crate) tenants: String,
    pub(crate) make_tenant: String,
    pub(crate) make_ledger: String,
    pub(crate) owners: String,
    pub(crate) clock: String,
}

/// Columns of a record as [`rows`](crate::rows) reads them.
fn columns(schema: &str) -> String {
    let homes = SLOTS.iter().map(|slot| home(schema, slot)).collect::<Vec<_>>().join(", ");
    format!(
        "r.kind, r.seq, r.id, r.created, r.modified, r.identifiers, r.body, r.l1, r.l2, r.l3, r.l4, r.modified_by, \
         r.scheduled_start, r.scheduled_stop, t.records, t.accepted, t.number, t.amount, {homes}"
    )
}

/// The container of the record that a place leads to, where its address needs one (COL-19).
fn home(schema: &str, slot: &str) -> String {
    let mut cases = String::new();
    for kind in Kind::ALL {
        for (reference, column) in layout(*kind).columns() {
            let to = layout(reference.kind);
            if let (true, Some(_), Some(container)) = (column == slot, reference.home_link(), to.parent()) {
                let (here, there) = (layout(*kind).code, to.code);
                cases.push_str(&format!(
                    " WHEN {here} THEN (SELECT h.{container} FROM {schema}.record h \
                     WHERE h.tenant = r.tenant AND h.kind = {there} AND h.id = r.{slot})"
                ));
            }
        }
    }
    if cases.is_empty() {
        format!("NULL::uuid AS home_{slot}")
    } else {
        format!("CASE r.kind{cases} END AS home_{slot}")
    }
}

/// What the members of a record come to, joined to the record.
fn totals(schema: &str) -> String {
    let mut cases = String::new();
    for kind in Kind::ALL {
        let has = layout(*kind).table.computed.iter().any(|(_, source): &(_, Source)| source.adds_up().is_some());
        if let (true, Some(members)) = (has, layout(*kind).table.counts) {
            cases.push_str(&format!(" WHEN {} THEN {}", layout(*kind).code, layout(members).code));
        }
    }
    format!(
        "LEFT JOIN {schema}.total t ON t.tenant = r.tenant AND t.kind = (CASE r.kind{cases} END)::smallint \
         AND t.scope = r.kind AND t.owner = r.id"
    )
}

impl Statements {
    /// The texts for the tables in a schema.
    pub(crate) fn of(s: &str) -> Self {
        let (cols, tot) = (columns(s), totals(s));
        let (person, attendance, answer) =
            (layout(Kind::Person).code, layout(Kind::Attendance).code, layout(Kind::Answer).code);
        let (by_person, by_question) = (
            layout(Kind::Answer).scope(Kind::Person).unwrap_or_default(),
            layout(Kind::Answer).scope(Kind::Question).unwrap_or_default(),
        );
        // Taggings and items lie alike: a test of `layout.rs` says so.
        let (group, member) = (
            layout(Kind::Tagging).parent().unwrap_or_default(),
            layout(Kind::Tagging).scope(Kind::Person).unwrap_or_default(),
        );
        // The ids that keys of a kind lead to: ids, names, identifiers, e-mail addresses.
        let keyed = |kind: &str, first: usize| {
            let [ids, names, identifiers, emails] = [first, first + 1, first + 2, first + 3];
            format!(
                "SELECT unnest(${ids}::uuid[]) UNION ALL \
                 SELECT k.id FROM {s}.record k WHERE k.tenant = $1 AND k.kind = {kind} AND k.name = ANY(${names}::text[]) UNION ALL \
                 SELECT k.id FROM {s}.identifier i JOIN {s}.record k ON k.tenant = $1 AND k.kind = i.kind AND k.seq = i.seq \
                 WHERE i.tenant = $1 AND i.kind = {kind} AND i.hash = ANY(${identifiers}::uuid[]) UNION ALL \
                 SELECT k.id FROM (SELECT min(m.seq) AS seq FROM {s}.email m WHERE m.tenant = $1 \
                 AND m.hash = ANY(${emails}::uuid[]) GROUP BY m.hash OFFSET 0) e \
                 JOIN {s}.record k ON k.tenant = $1 AND k.kind = {person} AND k.seq = e.seq"
            )
        };
        let page = |condition: &str| {
            format!(
                "WITH c AS (SELECT coalesce((SELECT records FROM {s}.total WHERE tenant = $1 AND kind = $2 AND scope = $5 \
                 AND owner = $6), 0) AS n, (SELECT ARRAY[p.l1, p.l2, p.l3, p.l4] FROM {s}.record p WHERE p.tenant = $1 \
                 AND p.kind = $5 AND p.id = $6) AS there) \
                 SELECT c.n, c.there, x.* FROM c LEFT JOIN LATERAL (SELECT {cols} FROM {s}.record r {tot} \
                 WHERE r.tenant = $1 AND r.kind = $2{condition} AND r.seq > $3 ORDER BY r.seq LIMIT $4) x ON true \
                 ORDER BY x.seq"
            )
        };
        let nth = |condition: &str| {
            format!(
                "SELECT r.seq FROM {s}.record r WHERE r.tenant = $1 AND r.kind = $2{condition} ORDER BY r.seq \
                 OFFSET $3 LIMIT 1"
            )
        };
        Self {
            by_id: format!(
                "SELECT k.place, {cols} FROM unnest($2::smallint[], $3::uuid[], $4::int[]) k(kind, id, place) \
                 JOIN {s}.record r ON r.tenant = $1 AND r.kind = k.kind AND r.id = k.id {tot}"
            ),
            by_identifier: format!(
                "SELECT k.place, {cols} FROM unnest($2::smallint[], $3::uuid[], $4::int[]) k(kind, hash, place) \
                 JOIN {s}.identifier i ON i.tenant = $1 AND i.kind = k.kind AND i.hash = k.hash \
                 JOIN {s}.record r ON r.tenant = $1 AND r.kind = i.kind AND r.seq = i.seq {tot}"
            ),
            by_email: format!(
                "SELECT e.place, {cols} FROM (SELECT k.place, min(m.seq) AS seq \
                 FROM unnest($2::uuid[], $3::int[]) k(hash, place) JOIN {s}.email m ON m.tenant = $1 AND m.hash = k.hash \
                 GROUP BY k.place OFFSET 0) e \
                 JOIN {s}.record r ON r.tenant = $1 AND r.kind = {person} AND r.seq = e.seq {tot}"
            ),
            by_name: format!(
                "SELECT k.place, {cols} FROM unnest($2::smallint[], $3::text[], $4::int[]) k(kind, name, place) \
                 JOIN {s}.record r ON r.tenant = $1 AND r.kind = k.kind AND r.name = k.name {tot}"
            ),
            by_link: format!(
                "SELECT k.place, {cols} FROM unnest($2::smallint[], $3::uuid[], $4::smallint[], $5::smallint[], $6::int[]) \
                 k(kind, id, target, slot, place) \
                 JOIN {s}.record f ON f.tenant = $1 AND f.kind = k.kind AND f.id = k.id \
                 JOIN {s}.record r ON r.tenant = $1 AND r.kind = k.target AND r.id = CASE k.slot WHEN 1 THEN f.l1 \
                 WHEN 2 THEN f.l2 WHEN 3 THEN f.l3 WHEN 4 THEN f.l4 ELSE f.modified_by END {tot}"
            ),
            members: format!(
                "SELECT 0, {cols} FROM {s}.record r {tot} WHERE r.tenant = $1 AND r.kind = $2 \
                 AND r.{group} IN ({}) AND r.{member} IN ({})",
                keyed("$3", 4),
                keyed(&person.to_string(), 8)
            ),
            answered: format!(
                "SELECT 0, {cols} FROM {s}.record r {tot} WHERE r.tenant = $1 AND r.kind = {answer} \
                 AND r.{by_person} IN ({}) AND r.{by_question} IN ({})",
                keyed(&person.to_string(), 2),
                keyed(&layout(Kind::Question).code.to_string(), 6)
            ),
            totals: format!(
                "SELECT k.place, t.records, t.accepted, t.number, t.amount \
                 FROM unnest($2::smallint[], $3::smallint[], $4::uuid[], $5::int[]) k(kind, scope, owner, place) \
                 JOIN {s}.total t ON t.tenant = $1 AND t.kind = k.kind AND t.scope = k.scope AND t.owner = k.owner"
            ),
            parts: format!(
                "SELECT k.place, p.name, p.number, p.amount FROM unnest($2::uuid[], $3::int[]) k(owner, place) \
                 JOIN {s}.part p ON p.tenant = $1 AND p.owner = k.owner ORDER BY k.place, p.name COLLATE \"C\""
            ),
            holdings: format!(
                "SELECT h.place::int, {cols} FROM {s}.holder h \
                 JOIN {s}.record r ON r.tenant = $1 AND r.kind = {attendance} AND r.seq = h.attendance {tot} \
                 WHERE h.tenant = $1 AND h.person = $2 ORDER BY h.attendance, h.place"
            ),
            page: page(""),
            page_under: SLOTS.map(|slot| page(&format!(" AND r.{slot} = $6"))),
            nth: nth(""),
            nth_under: SLOTS.map(|slot| nth(&format!(" AND r.{slot} = $4"))),
            lock: format!("SELECT seq, clock FROM {s}.ledger WHERE tenant = $1 FOR NO KEY UPDATE"),
            // Fails by itself where somebody else has written meanwhile: `seq` may not be null.
            guard: format!(
                "UPDATE {s}.ledger SET seq = CASE WHEN seq = $5 THEN $2::bigint END, clock = $3, batch = $4 WHERE tenant = $1"
            ),
            insert_records: format!(
                "INSERT INTO {s}.record (tenant, kind, id, seq, created, modified, l1, l2, l3, l4, modified_by, name, \
                 identifiers, body) SELECT l.tenant, x.* FROM {s}.ledger l, unnest($2::smallint[], $3::uuid[], $4::bigint[], \
                 $5::bigint[], $6::bigint[], $7::uuid[], $8::uuid[], $9::uuid[], $10::uuid[], $11::uuid[], $12::text[], \
                 $13::text[], $14::bytea[]) x WHERE l.tenant = $1"
            ),
            free_identifiers: format!(
                "DELETE FROM {s}.identifier i USING unnest($2::smallint[], $3::uuid[]) x(kind, hash) \
                 WHERE i.tenant = $1 AND i.kind = x.kind AND i.hash = x.hash"
            ),
            tie_identifiers: format!(
                "INSERT INTO {s}.identifier (tenant, kind, hash, seq) SELECT l.tenant, x.* FROM {s}.ledger l, \
                 unnest($2::smallint[], $3::uuid[], $4::bigint[]) x WHERE l.tenant = $1"
            ),
            free_emails: format!(
                "DELETE FROM {s}.email e USING unnest($2::uuid[], $3::bigint[]) x(hash, seq) \
                 WHERE e.tenant = $1 AND e.hash = x.hash AND e.seq = x.seq"
            ),
            tie_emails: format!(
                "INSERT INTO {s}.email (tenant, hash, seq) SELECT l.tenant, x.* FROM {s}.ledger l, \
                 unnest($2::uuid[], $3::bigint[]) x WHERE l.tenant = $1"
            ),
            count: format!(
                "INSERT INTO {s}.total AS o (tenant, kind, scope, owner, records) SELECT l.tenant, x.* FROM {s}.ledger l, \
                 unnest($2::smallint[], $3::smallint[], $4::uuid[], $5::bigint[]) x WHERE l.tenant = $1 \
                 ON CONFLICT (tenant, kind, scope, owner) DO UPDATE SET records = o.records + excluded.records"
            ),
            replace: format!(
                "UPDATE {s}.record SET modified = $4, identifiers = $5, body = $6, modified_by = $7, name = $8 \
                 WHERE tenant = $1 AND kind = $2 AND seq = $3"
            ),
            set_body: format!("UPDATE {s}.record SET body = $4 WHERE tenant = $1 AND kind = $2 AND seq = $3"),
            set_link: SLOTS
                .map(|slot| format!("UPDATE {s}.record SET {slot} = $4 WHERE tenant = $1 AND kind = $2 AND seq = $3")),
            set_modified_by: format!(
                "UPDATE {s}.record SET modified_by = $4 WHERE tenant = $1 AND kind = $2 AND seq = $3"
            ),
            set_schedule: format!(
                "UPDATE {s}.record SET scheduled_start = $4, scheduled_stop = $5 WHERE tenant = $1 AND kind = $2 AND seq = $3"
            ),
            set_sum: format!(
                "INSERT INTO {s}.total AS o (tenant, kind, scope, owner, accepted, number, amount) \
                 SELECT l.tenant, $2::smallint, $3::smallint, $4::uuid, $5::bigint, $6::bigint, $7::text FROM {s}.ledger l \
                 WHERE l.tenant = $1 ON CONFLICT (tenant, kind, scope, owner) DO UPDATE \
                 SET accepted = excluded.accepted, number = excluded.number, amount = excluded.amount"
            ),
            set_part: format!(
                "INSERT INTO {s}.part AS o (tenant, owner, name, number, amount) \
                 SELECT l.tenant, $2::uuid, $3::text, $4::bigint, $5::text FROM {s}.ledger l WHERE l.tenant = $1 \
                 ON CONFLICT (tenant, owner, name) DO UPDATE SET number = excluded.number, amount = excluded.amount"
            ),
            hold: format!(
                "INSERT INTO {s}.holder (tenant, person, attendance, place) \
                 SELECT l.tenant, $2::uuid, $3::bigint, $4::bigint FROM {s}.ledger l WHERE l.tenant = $1 \
                 ON CONFLICT (tenant, person, attendance, place) DO NOTHING"
            ),
            unplace_holders: String::new(),
            place_holders: format!(
                "WITH gone AS (DELETE FROM {s}.holder h WHERE h.tenant = $1 AND h.attendance = $2 \
                 RETURNING h.tenant, h.person, h.place) \
                 INSERT INTO {s}.holder (tenant, person, attendance, place) \
                 SELECT DISTINCT g.tenant, g.person, $2::bigint, coalesce(m.now, -1) FROM gone g \
                 LEFT JOIN unnest($3::bigint[], $4::bigint[]) m(old, now) ON m.old = g.place"
            ),
            forget_holdings: format!("DELETE FROM {s}.holder WHERE tenant = $1 AND person = $2"),
            forget_outbox: format!("DELETE FROM {s}.outbox WHERE tenant = $1 AND person = $2"),
            outbox: format!(
                "INSERT INTO {s}.outbox (tenant, seq, created, helper, person, action, body) \
                 SELECT l.tenant, $2::bigint, $3::bigint, $4::text, $5::uuid, $6::uuid, $7::bytea FROM {s}.ledger l \
                 WHERE l.tenant = $1"
            ),
            tenant: format!("SELECT id FROM {s}.tenant WHERE name = $1"),
            tenants: format!("SELECT name FROM {s}.tenant ORDER BY id"),
            make_tenant: format!(
                "INSERT INTO {s}.tenant (id, name, created) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
            ),
            make_ledger: format!(
                "INSERT INTO {s}.ledger (tenant, seq, clock) SELECT t.id, 0, 0 FROM {s}.tenant t WHERE t.name = $1 \
                 ON CONFLICT (tenant) DO NOTHING"
            ),
            owners: format!(
                "SELECT t.name FROM {s}.record r JOIN {s}.tenant t ON t.id = r.tenant WHERE r.id = $1 AND r.kind = $2 LIMIT 2"
            ),
            clock: format!("SELECT seq FROM {s}.ledger WHERE tenant = $1"),
        }
    }
}
