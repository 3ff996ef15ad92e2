//! Every statement of this crate, except those that delete records (`record_sets`) and change tables
//! (`migrate`). `$1` is the tenant, except in statements about the directories of tenants and keys.
//!
//! A text contains only the name of the schema and constants from the tables of `svc-core`. Values
//! are always bound. Statements are limited to what a cluster that shards by tenant can execute in
//! one hop. The rules are in the tests of this file.

mod duplicates;
mod expiring;
mod merges;
mod parts;
mod ranges;
mod webhooks;

use duplicates::DuplicateTexts;
use expiring::{of_outbox, stored_response_sql};
use merges::MergeTexts;
use parts::{
    POSITION_OFFSET, Selection, arrays, columns, each, linked_count, named, oldest, ties, totals,
    two_oldest,
};
use ranges::RangeStatements;
use svc_core::{helper::ONE_ACTION_KINDS, model::Kind};
use webhooks::of_webhooks;

use crate::record_layout::{LINK_COLUMNS, SLOTS, layout};
pub(crate) use parts::containers;

/// Defines the names of the texts, and lists them for the tests.
macro_rules! texts {
    ($($(#[$note:meta])* $name:ident),+ $(,)?) => {
        /// The texts for one schema.
        #[derive(Debug)]
        pub(crate) struct Texts { $($(#[$note])* pub(crate) $name: String,)+
            /// The worker of a tenant, from the tables of Citus. Only for Citus.
            pub(crate) worker: String,
            /// The newest action of a person in a container, for each of [`ONE_ACTION_KINDS`].
            pub(crate) actions: [String; ONE_ACTION_KINDS.len()],
            /// Pages in the order of `created_date`, of `modified_date` and of a text: see
            /// [`ranges`].
            pub(crate) range_after: [String; 3],
            pub(crate) range_first: [String; 3],
            pub(crate) range_jump: [String; 3],
            /// A page of the records under a record, by each of [`SLOTS`].
            pub(crate) page_under: [String; 4],
            /// The same by position: see `page_at`.
            pub(crate) page_at_under: [String; 4],
            /// Only its records.
            pub(crate) rows_under: [String; 4],
            /// The members of a collection after a row.
            pub(crate) members_under: [String; 4],
            /// The records whose link has a record as its target, by each of [`LINK_COLUMNS`].
            pub(crate) linked: [String; 5],
            /// Keys of people and dismissed pairs.
            pub(crate) duplicates: DuplicateTexts,
            /// Merges of people that can be undone.
            pub(crate) merges: MergeTexts,
        }

        impl Texts {
            /// Returns the name of a text. The texts of removals exist for each kind, and share one
            /// name.
            pub(crate) fn name_of(&self, text: &str) -> Option<&'static str> {
                let named = self.all().into_iter().find(|(_, of)| *of == text).map(|(name, _)| name);
                named.or_else(|| (self.worker == text).then_some("worker")).or(Some("removal"))
            }

            /// Returns every text with its name.
            pub(crate) fn all(&self) -> Vec<(&'static str, &str)> {
                let mut all = vec![$((stringify!($name), self.$name.as_str())),+];
                for (name, under) in [
                    ("actions", &self.actions[..]),
                    ("range_after", &self.range_after),
                    ("range_first", &self.range_first),
                    ("range_jump", &self.range_jump),
                    ("page_under", &self.page_under),
                    ("page_at_under", &self.page_at_under),
                    ("rows_under", &self.rows_under),
                    ("members_under", &self.members_under),
                    ("linked", &self.linked),
                ] {
                    all.extend(under.iter().map(|text| (name, text.as_str())));
                }
                all.extend(self.duplicates.all());
                all.extend(self.merges.all());
                all
            }
        }
    };
}

texts! {
    // Lookups of the rules.
    by_id, one, by_identifier, by_email, by_emails, by_texts, by_name, by_link, memberships, answers, totals, parts, holdings,
    email_holders, kept, linked_count, forwarded,
    // Pages.
    /// A page of all records of a kind: total, existence of the owner, and records, from one
    /// snapshot.
    page,
    /// The same, starting after a number of records, through which it counts.
    page_at,
    /// Only the records of a page of the collection of all records.
    rows_of_all,
    /// Only the total, and the owner.
    total_of,
    /// The members of a collection of all records after a row.
    members_of_all,
    /// When a member last left a collection.
    moved,
    // Transactions.
    lock,
    /// Fails if another process has written since the lock.
    guard,
    /// Shows after a lost response whether a transaction was committed.
    note_turn, turn_noted, forget_turns,
    /// Changes nothing, but is a write.
    touch,
    // The change feed.
    feed_last, feed_behind, feed_at, tell, expire_feed,
    // Changes.
    insert_records, update_records, tie_identifiers, free_identifiers, tie_emails, free_emails, tie_texts, free_texts, count, set_sums, set_parts,
    clear_totals, clear_parts, clear_emails, clear_texts,
    forward_aliases, add_alias, forward_holders, leave_holders, forward_kept, leave_kept, forward_feed,
    hold, lift_holders, drop_holders, lower_holders, keep, expire_kept, tenants_to_sweep,
    // The outbox.
    outbox, forward_outbox, recall_outbox, outbox_due, outbox_next, outbox_claim, outbox_done, outbox_again,
    // Webhooks.
    webhooks, webhook, make_webhook, write_webhook, delete_webhook, due_webhooks, next_webhook,
    // Directories.
    tenant, tenants, make_tenant, make_ledger, owners, merged_owners, seq, key, keys, add_key, revoke_key, meta, set_meta, make_meta,
    lease, take_lease, end_lease, ask_lease,
}

impl Texts {
    /// Returns the texts for the tables in a schema.
    #[expect(clippy::too_many_lines, reason = "a table of texts")]
    pub(crate) fn of(s: &str) -> Self {
        let (cols, tot) = (&*columns(s), &*totals(s));
        let [
            webhooks,
            webhook,
            make_webhook,
            write_webhook,
            delete_webhook,
            due_webhooks,
            next_webhook,
        ] = of_webhooks(s);
        let (person, attendance) = (layout(Kind::Person).code, layout(Kind::Attendance).code);
        let rows = |condition: &str| {
            format!(
                "SELECT {cols} FROM {s}.record r {tot} WHERE r.tenant = $1 AND {condition} AND r.seq > $3 ORDER BY r.seq \
                 LIMIT (SELECT $4::bigint)"
            )
        };
        // Two forms of the condition on the kind for two indexes: see the tables.
        let of_all = "r.kind::int = $2";
        let under = |slot: &str, owner: &str| format!("r.{slot} = {owner} AND r.kind = $2");
        let total_of = format!(
            "SELECT coalesce((SELECT o.records FROM {s}.total o WHERE o.tenant = $1 AND o.kind = $2 AND o.scope = $5 \
             AND o.owner = $6), 0) AS n, (SELECT ARRAY[p.l1, p.l2, p.l3, p.l4] FROM {s}.record p WHERE p.tenant = $1 \
             AND p.kind = $5 AND p.id = $6) AS there"
        );
        let page = |condition: &str| {
            format!(
                "WITH c AS ({total_of}) SELECT c.n, c.there, x.* FROM c LEFT JOIN LATERAL ({}) x ON true ORDER BY x.seq",
                rows(condition)
            )
        };
        let page_at = |condition: &str| {
            let same = condition.replace("r.", "m.");
            let first = format!(
                "r.seq >= (SELECT CASE WHEN count(*) > $3::bigint THEN max(m.seq) END FROM (SELECT m.seq FROM {s}.record m \
                 WHERE m.tenant = $1 AND {same} ORDER BY m.seq LIMIT (SELECT $3::bigint + 1)) m)"
            );
            page(condition).replace("r.seq > $3", &first)
        };
        let created =
            RangeStatements::by_date(s, cols, tot, "created", "-r.kind = -($2::smallint)");
        let modified = RangeStatements::by_date(s, cols, tot, "modified", "r.kind::bigint = $2");
        let by_text = RangeStatements::by_text(s, cols, tot);
        let members = |condition: &str| {
            format!(
                "SELECT r.seq FROM {s}.record r WHERE r.tenant = $1 AND {condition} AND r.seq > $3 ORDER BY r.seq"
            )
        };
        // Selects from the tenant's own row. A cluster takes the tenant, and therefore the shard,
        // from it.
        let from_ledger = |types: &str| {
            format!(
                "SELECT l.tenant, x.* FROM {s}.ledger l, unnest({}) x WHERE l.tenant = $1",
                arrays(2, types)
            )
        };
        let [keep, expire_feed, expire_kept, tenants_to_sweep] =
            stored_response_sql(s, &from_ledger);
        let [
            outbox,
            recall_outbox,
            outbox_due,
            outbox_next,
            outbox_claim,
            outbox_done,
            outbox_again,
        ] = of_outbox(s, &from_ledger);
        let key = format!(
            "SELECT k.id, t.name, k.hint, k.label, k.rights, k.read_only, k.person, k.created, k.expires, k.revoked, k.hash \
             FROM {s}.api_key k JOIN {s}.tenant t ON t.id = k.tenant"
        );
        Self {
            duplicates: DuplicateTexts::of(s, &from_ledger),
            merges: MergeTexts::of(s),
            by_id: format!(
                "SELECT k.place, {cols} FROM unnest({}) k(kind, id, place) {} {tot}",
                arrays(2, "smallint uuid int"),
                each(s, "record", "r", "r.id = k.id AND r.kind = k.kind")
            ),
            // Without arrays, so that the server caches its plan.
            one: format!(
                "SELECT 0, {cols} FROM {s}.record r {tot} WHERE r.tenant = $1 AND r.kind = $2 AND r.id = $3"
            ),
            by_identifier: format!(
                "SELECT k.place, {cols} FROM unnest({}) k(kind, hash, place) {} {} {tot}",
                arrays(2, "smallint uuid int"),
                each(s, "identifier", "i", "i.hash = k.hash AND i.kind = k.kind"),
                each(s, "record", "r", "r.kind::int = i.kind AND r.seq = i.seq")
            ),
            by_email: format!(
                "SELECT k.place, {cols} FROM unnest({}) k(hash, place) {} {} {tot}",
                arrays(2, "uuid int"),
                oldest(s, "k.hash"),
                each(
                    s,
                    "record",
                    "r",
                    &format!("r.kind::int = {person} AND r.seq = e.seq")
                )
            ),
            email_holders: format!(
                "SELECT k.place, r.id, r.seq FROM unnest({}) k(hash, place) {} {} ORDER BY k.place, r.seq",
                arrays(2, "uuid int"),
                two_oldest(s, "k.hash"),
                each(
                    s,
                    "record",
                    "r",
                    &format!("r.kind::int = {person} AND r.seq = e.seq")
                )
            ),
            // All of them, not only the oldest.
            by_emails: format!(
                "SELECT {cols} FROM (SELECT DISTINCT e.seq FROM unnest($2::uuid[]) k(hash) CROSS JOIN LATERAL \
                 (SELECT o.seq FROM {s}.email o WHERE o.tenant = $1 AND o.hash = k.hash LIMIT (SELECT $3::bigint)) e \
                 LIMIT (SELECT $3::bigint)) e {} {tot}",
                each(
                    s,
                    "record",
                    "r",
                    &format!("r.kind::int = {person} AND r.seq = e.seq")
                )
            ),
            by_texts: format!(
                "SELECT {cols} FROM (SELECT DISTINCT x.seq FROM unnest({}) k(field, first, last) CROSS JOIN LATERAL \
                 (SELECT o.seq FROM {s}.text_key o WHERE o.tenant = $1 AND o.field = k.field AND o.text >= k.first \
                 AND o.text <= k.last LIMIT (SELECT $6::bigint)) x LIMIT (SELECT $6::bigint)) x {} {tot}",
                arrays(2, "text text text"),
                each(s, "record", "r", "r.kind::int = $5 AND r.seq = x.seq")
            ),
            by_name: format!(
                "SELECT n.place, {cols} FROM unnest({}) n(kind, name, field, text, place) {} {tot}",
                arrays(2, "smallint text text text int"),
                named(s, "r")
            ),
            by_link: format!(
                "SELECT k.place, {cols} FROM unnest({}) k(kind, id, target, slot, place) {} {} {tot}",
                arrays(2, "smallint uuid smallint smallint int"),
                each(s, "record", "f", "f.id = k.id AND f.kind = k.kind"),
                each(
                    s,
                    "record",
                    "r",
                    "r.kind = k.target AND r.id = CASE k.slot WHEN 1 THEN f.l1 WHEN 2 THEN f.l2 WHEN 3 THEN f.l3 \
                     WHEN 4 THEN f.l4 ELSE f.modified_by END"
                )
            ),
            // Taggings and items have the same layout, which a test of `record_layout` checks.
            memberships: ties(s, cols, tot, &[Kind::Tagging, Kind::Item], Selection::All),
            answers: ties(s, cols, tot, &[Kind::Answer], Selection::All),
            actions: ONE_ACTION_KINDS.map(|kind| ties(s, cols, tot, &[kind], Selection::Newest)),
            totals: format!(
                "SELECT k.place, t.records, t.measures \
                 FROM unnest({}) k(kind, scope, owner, place) {}",
                arrays(2, "smallint smallint uuid int"),
                each(
                    s,
                    "total",
                    "t",
                    "t.kind = k.kind AND t.scope = k.scope AND t.owner = k.owner"
                )
            ),
            parts: format!(
                "SELECT k.place, p.name, p.measures FROM unnest({}) k(owner, place) {} \
                 ORDER BY k.place, p.name COLLATE \"C\"",
                arrays(2, "uuid int"),
                each(s, "part", "p", "p.owner = k.owner")
            ),
            holdings: format!(
                "SELECT k.place, {cols}, h.place AS ticket FROM unnest({}) k(person, place) {} {} {tot} \
                 ORDER BY k.place, h.attendance, h.place",
                arrays(2, "uuid int"),
                each(s, "holder", "h", "h.person = k.person"),
                each(
                    s,
                    "record",
                    "r",
                    &format!("r.kind::int = {attendance} AND r.seq = h.attendance")
                )
            ),
            kept: format!(
                "SELECT k.place, o.key, o.at, o.answer FROM unnest({}) k(key, place) {}",
                arrays(2, "text int"),
                each(
                    s,
                    "kept",
                    "o",
                    "o.key = k.key AND o.person = '00000000-0000-0000-0000-000000000000'"
                )
            ),
            forwarded: format!(
                "SELECT k.place, a.target FROM unnest({}) k(id, place) {}",
                arrays(2, "uuid int"),
                each(s, "alias", "a", "a.id = k.id")
            ),
            linked_count: linked_count(s),
            linked: LINK_COLUMNS.map(|column| {
                format!(
                    "SELECT k.place, {cols} FROM unnest({}) k(kind, id, place) CROSS JOIN LATERAL (SELECT * FROM {s}.record r \
                     WHERE r.tenant = $1 AND r.{column} = k.id AND r.kind = k.kind ORDER BY r.seq \
                     LIMIT (SELECT $5::bigint)) r {tot} ORDER BY k.place, r.seq",
                    arrays(2, "smallint uuid int")
                )
            }),
            forward_aliases: format!(
                "UPDATE {s}.alias SET target = $3 WHERE tenant = $1 AND target = $2"
            ),
            add_alias: format!(
                "INSERT INTO {s}.alias (tenant, id, target) SELECT l.tenant, $2::uuid, $3::uuid FROM {s}.ledger l \
                 WHERE l.tenant = $1 ON CONFLICT (tenant, id) DO UPDATE SET target = excluded.target"
            ),
            // In two steps, because both people can hold the same ticket.
            forward_holders: format!(
                "INSERT INTO {s}.holder (tenant, person, attendance, place) \
                 SELECT h.tenant, $3::uuid, h.attendance, h.place FROM {s}.holder h WHERE h.tenant = $1 AND h.person = $2 \
                 ON CONFLICT (tenant, person, attendance, place) DO NOTHING"
            ),
            leave_holders: format!("DELETE FROM {s}.holder WHERE tenant = $1 AND person = $2"),
            forward_kept: format!(
                "INSERT INTO {s}.kept (tenant, key, person, at, answer) \
                 SELECT o.tenant, o.key, $3::uuid, o.at, o.answer FROM {s}.kept o WHERE o.tenant = $1 AND o.person = $2 \
                 ON CONFLICT (tenant, key, person) DO NOTHING"
            ),
            leave_kept: format!("DELETE FROM {s}.kept WHERE tenant = $1 AND person = $2"),
            forward_feed: format!(
                "UPDATE {s}.feed SET target = $3 WHERE tenant = $1 AND target = $2"
            ),
            forward_outbox: format!(
                "UPDATE {s}.outbox SET person = $3, body = replace(body, ($2::uuid)::text, ($3::uuid)::text) \
                 WHERE tenant = $1 AND person = $2"
            ),
            worker: format!(
                "SELECT n.nodename, n.nodeport FROM pg_dist_placement p JOIN pg_dist_node n ON n.groupid = p.groupid \
                 WHERE p.shardid = get_shard_id_for_distribution_column('{s}.ledger', $1) AND n.noderole = 'primary' \
                 AND n.isactive"
            ),
            range_after: [created.after, modified.after, by_text.after],
            range_first: [created.first, modified.first, by_text.first],
            range_jump: [created.jump, modified.jump, by_text.jump],
            page: page(of_all),
            page_under: SLOTS.map(|slot| page(&under(slot, "$6"))),
            page_at: page_at(of_all),
            page_at_under: SLOTS.map(|slot| page_at(&under(slot, "$6"))),
            rows_of_all: rows(of_all),
            rows_under: SLOTS.map(|slot| rows(&under(slot, "$5"))),
            total_of: total_of.replace("$5", "$3").replace("$6", "$4"),
            members_of_all: members(of_all),
            moved: format!(
                "SELECT o.moved FROM {s}.total o WHERE o.tenant = $1 AND o.kind = $2 AND o.scope = $3 AND o.owner = $4"
            ),
            members_under: SLOTS.map(|slot| members(&under(slot, "$4"))),
            lock: format!("SELECT seq, clock FROM {s}.ledger WHERE tenant = $1 FOR NO KEY UPDATE"),
            // `seq` may not be null.
            guard: format!(
                "UPDATE {s}.ledger SET seq = CASE WHEN seq = $4 THEN $2::bigint END, clock = $3 WHERE tenant = $1"
            ),
            note_turn: format!(
                "INSERT INTO {s}.turn (tenant, seq, id) SELECT l.tenant, l.seq, $2::uuid FROM {s}.ledger l WHERE l.tenant = $1"
            ),
            turn_noted: format!("SELECT id FROM {s}.turn WHERE tenant = $1 AND seq = $2"),
            touch: format!("UPDATE {s}.ledger SET clock = clock WHERE tenant = $1"),
            forget_turns: format!("DELETE FROM {s}.turn WHERE tenant = $1 AND seq < $2"),
            feed_last: format!(
                "SELECT f.seq, f.step, f.at FROM {s}.feed f WHERE f.tenant = $1 AND (f.seq, f.step) > ($2, $3) \
                 ORDER BY f.seq DESC, f.step DESC LIMIT 1"
            ),
            feed_behind: format!(
                "SELECT f.seq, f.step, f.at, f.kind, f.id, f.parent, f.what, f.target FROM {s}.feed f WHERE f.tenant = $1 \
                 AND (f.seq, f.step) > ($2, $3) ORDER BY f.seq, f.step LIMIT (SELECT $4::bigint)"
            ),
            feed_at: format!(
                "SELECT f.seq, f.step, f.at FROM {s}.feed f WHERE f.tenant = $1 AND f.seq = $2 AND f.step = $3"
            ),
            tell: format!(
                "INSERT INTO {s}.feed (tenant, seq, step, kind, id, parent, what, at, target) {}",
                from_ledger("bigint bigint smallint uuid uuid smallint bigint uuid")
            ),
            insert_records: format!(
                "INSERT INTO {s}.record (tenant, kind, id, seq, created, modified, l1, l2, l3, l4, modified_by, name, \
                 identifiers, body) {}",
                from_ledger(
                    "smallint uuid bigint bigint bigint uuid uuid uuid uuid uuid text text bytea"
                )
            ),
            // A null leaves a column unchanged, unless `flags` clears it: see
            // `apply_changes::records::RowUpdate`.
            update_records: format!(
                "UPDATE {s}.record r SET modified = coalesce(x.modified, r.modified), \
                 identifiers = coalesce(x.identifiers, r.identifiers), body = coalesce(x.body, r.body), \
                 l1 = CASE WHEN x.flags & 1 > 0 THEN x.l1 ELSE r.l1 END, \
                 l2 = CASE WHEN x.flags & 2 > 0 THEN x.l2 ELSE r.l2 END, \
                 l3 = CASE WHEN x.flags & 4 > 0 THEN x.l3 ELSE r.l3 END, \
                 l4 = CASE WHEN x.flags & 8 > 0 THEN x.l4 ELSE r.l4 END, \
                 modified_by = CASE WHEN x.flags & 16 > 0 THEN x.modified_by ELSE r.modified_by END, \
                 name = CASE WHEN x.flags & 32 > 0 THEN x.name ELSE r.name END, \
                 scheduled_start = CASE WHEN x.flags & 64 > 0 THEN x.start ELSE r.scheduled_start END, \
                 scheduled_stop = CASE WHEN x.flags & 64 > 0 THEN x.stop ELSE r.scheduled_stop END \
                 FROM (SELECT q.id, x.* FROM unnest({}) x(kind, seq, flags, modified, l1, l2, l3, l4, modified_by, name, \
                 identifiers, body, start, stop) {} OFFSET 0) x WHERE r.tenant = $1 AND r.id = x.id AND r.kind = x.kind",
                arrays(
                    2,
                    "smallint bigint int bigint uuid uuid uuid uuid uuid text text bytea bigint bigint"
                ),
                each(s, "record", "q", "q.kind::int = x.kind AND q.seq = x.seq")
            ),
            tie_identifiers: format!(
                "INSERT INTO {s}.identifier AS o (tenant, kind, hash, seq) {} \
                 ON CONFLICT (tenant, hash, kind) DO UPDATE SET seq = excluded.seq",
                from_ledger("smallint uuid bigint")
            ),
            free_identifiers: format!(
                "DELETE FROM {s}.identifier i USING unnest({}) x(kind, hash) \
                 WHERE i.tenant = $1 AND i.hash = ANY($3) AND i.kind = x.kind AND i.hash = x.hash",
                arrays(2, "smallint uuid")
            ),
            tie_emails: format!(
                "INSERT INTO {s}.email (tenant, hash, seq) {} ON CONFLICT (tenant, hash, seq) DO NOTHING",
                from_ledger("uuid bigint")
            ),
            free_emails: format!(
                "DELETE FROM {s}.email e USING unnest({}) x(hash, seq) \
                 WHERE e.tenant = $1 AND e.hash = ANY($2) AND e.hash = x.hash AND e.seq = x.seq",
                arrays(2, "uuid bigint")
            ),
            tie_texts: format!(
                "INSERT INTO {s}.text_key (tenant, field, text, seq) {} ON CONFLICT (tenant, field, text, seq) DO NOTHING",
                from_ledger("text text bigint")
            ),
            free_texts: format!(
                "DELETE FROM {s}.text_key k USING unnest({}) x(field, text, seq) \
                 WHERE k.tenant = $1 AND k.seq = ANY($4) AND k.field = x.field AND k.text = x.text AND k.seq = x.seq",
                arrays(2, "text text bigint")
            ),
            // `moved` is the number of the last transaction in which a member left, or an older
            // record joined.
            count: format!(
                "INSERT INTO {s}.total AS o (tenant, kind, scope, owner, records, moved) \
                 SELECT l.tenant, x.kind, x.scope, x.owner, x.records, CASE WHEN x.moves THEN l.seq ELSE 0 END \
                 FROM {s}.ledger l, unnest({}) x(kind, scope, owner, records, moves) WHERE l.tenant = $1 \
                 ON CONFLICT (tenant, kind, scope, owner) DO UPDATE SET records = o.records + excluded.records, \
                 moved = greatest(o.moved, excluded.moved)",
                arrays(2, "smallint smallint uuid bigint boolean")
            ),
            set_sums: format!(
                "INSERT INTO {s}.total AS o (tenant, kind, scope, owner, measures) {} \
                 ON CONFLICT (tenant, kind, scope, owner) DO UPDATE SET measures = excluded.measures",
                from_ledger("smallint smallint uuid text")
            ),
            clear_totals: format!(
                "UPDATE {s}.total SET measures = '' WHERE tenant = $1 AND measures <> ''"
            ),
            clear_parts: format!("DELETE FROM {s}.part WHERE tenant = $1"),
            clear_emails: format!("DELETE FROM {s}.email WHERE tenant = $1"),
            clear_texts: format!("DELETE FROM {s}.text_key WHERE tenant = $1"),
            set_parts: format!(
                "INSERT INTO {s}.part AS o (tenant, owner, name, measures) {} \
                 ON CONFLICT (tenant, owner, name) DO UPDATE SET measures = excluded.measures",
                from_ledger("uuid text text")
            ),
            hold: format!(
                "INSERT INTO {s}.holder (tenant, person, attendance, place) {} \
                 ON CONFLICT (tenant, person, attendance, place) DO NOTHING",
                from_ledger("uuid bigint bigint")
            ),
            // Positions are changed in three steps, so that two tickets of a person never have the
            // same one. Each moves up out of range, the old ones are deleted, and the new ones move
            // down.
            lift_holders: format!(
                "INSERT INTO {s}.holder (tenant, person, attendance, place) \
                 SELECT DISTINCT h.tenant, h.person, h.attendance, coalesce(m.now, -1) + {POSITION_OFFSET} FROM {s}.holder h \
                 LEFT JOIN unnest($3::bigint[], $4::bigint[]) m(old, now) ON m.old = h.place \
                 WHERE h.tenant = $1 AND h.attendance = $2"
            ),
            drop_holders: format!(
                "DELETE FROM {s}.holder WHERE tenant = $1 AND attendance = $2 AND place < {POSITION_OFFSET} - 1"
            ),
            lower_holders: format!(
                "UPDATE {s}.holder SET place = place - {POSITION_OFFSET} WHERE tenant = $1 AND attendance = $2"
            ),
            keep,
            expire_feed,
            expire_kept,
            tenants_to_sweep,
            outbox,
            recall_outbox,
            outbox_due,
            outbox_next,
            outbox_claim,
            outbox_done,
            outbox_again,
            webhooks,
            webhook,
            make_webhook,
            write_webhook,
            delete_webhook,
            due_webhooks,
            next_webhook,
            tenant: format!("SELECT id FROM {s}.tenant WHERE name = $1"),
            tenants: format!("SELECT name FROM {s}.tenant ORDER BY created, id"),
            make_tenant: format!(
                "INSERT INTO {s}.tenant (id, name, created) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING"
            ),
            make_ledger: format!(
                "INSERT INTO {s}.ledger (tenant, seq, clock) VALUES ($1, 0, 0) ON CONFLICT (tenant) DO NOTHING"
            ),
            // The only lookup of records that does not start with the tenant, because it returns
            // the tenant.
            owners: format!(
                "SELECT t.name FROM {s}.record r JOIN {s}.tenant t ON t.id = r.tenant WHERE r.id = $1 AND r.kind = $2 \
                 AND r.kind IN ({}) LIMIT 2",
                containers()
            ),
            merged_owners: format!(
                "SELECT t.name FROM {s}.alias a JOIN {s}.tenant t ON t.id = a.tenant WHERE a.id = $1 LIMIT 2"
            ),
            seq: format!("SELECT seq FROM {s}.ledger WHERE tenant = $1"),
            key: format!("{key} WHERE k.prefix = $1"),
            keys: format!("{key} WHERE $1::text IS NULL OR t.name = $1 ORDER BY k.created, k.id"),
            add_key: format!(
                "INSERT INTO {s}.api_key (id, tenant, prefix, hash, hint, label, rights, read_only, person, created, expires, \
                 revoked) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (hash) DO NOTHING RETURNING id"
            ),
            // The same time again is a repeated call whose response was lost.
            revoke_key: format!(
                "UPDATE {s}.api_key SET revoked = $2 WHERE id = $1 AND (revoked IS NULL OR revoked = $2) RETURNING id"
            ),
            meta: format!("SELECT value FROM {s}.meta WHERE name = $1"),
            set_meta: format!(
                "INSERT INTO {s}.meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
            ),
            make_meta: format!(
                "INSERT INTO {s}.meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING"
            ),
            lease: format!("SELECT holder, until, asked FROM {s}.lease WHERE name = $1"),
            take_lease: format!(
                "INSERT INTO {s}.lease AS l (name, holder, until) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE \
                 SET holder = excluded.holder, until = excluded.until WHERE l.holder = excluded.holder OR l.until <= $4 \
                 OR l.until > $5 RETURNING name"
            ),
            end_lease: format!("UPDATE {s}.lease SET until = 0 WHERE name = $1 AND holder = $2"),
            ask_lease: format!("UPDATE {s}.lease SET asked = asked + 1 WHERE name = $1"),
        }
    }
}

#[cfg(test)]
mod tests;
