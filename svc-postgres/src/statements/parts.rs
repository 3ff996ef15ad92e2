//! Parts that several statements share.

use svc_core::model::Kind;

use crate::record_layout::{LINK_COLUMNS, RecordLayout, SLOTS, layout};

/// Returns the columns of a record as [`rows`](crate::rows) reads them.
pub(super) fn columns(schema: &str) -> String {
    let homes = SLOTS
        .iter()
        .map(|slot| home(schema, slot))
        .collect::<Vec<_>>()
        .join(", ");
    format!(
        "r.kind, r.seq, r.id, r.created, r.modified, r.identifiers, r.body, r.l1, r.l2, r.l3, r.l4, r.modified_by, \
         r.scheduled_start, r.scheduled_stop, t.records, t.measures, {homes}"
    )
}

/// Returns the container of the record that a link column refers to, if its address needs one.
///
/// Requirements: COL-19.
pub(super) fn home(schema: &str, slot: &str) -> String {
    let of_kind = |kind: &Kind| {
        let (reference, _) = layout(*kind)
            .columns()
            .find(|(_, column)| *column == slot)?;
        reference.container_link()?;
        let (here, to) = (layout(*kind).code, layout(reference.kind));
        let (there, container) = (to.code, to.parent()?);
        Some(format!(
            " WHEN {here} THEN (SELECT h.{container} FROM {schema}.record h \
             WHERE h.tenant = $1 AND h.kind = {there} AND h.id = r.{slot})"
        ))
    };
    let cases: String = Kind::ALL.iter().filter_map(of_kind).collect();
    if cases.is_empty() {
        format!("NULL::uuid AS home_{slot}")
    } else {
        format!("CASE r.kind{cases} END AS home_{slot}")
    }
}

/// Returns the join of a record with the totals of its members.
pub(super) fn totals(schema: &str) -> String {
    let of_kind = |kind: &Kind| {
        let members = layout(*kind).table.counts?;
        Some(format!(
            " WHEN {} THEN {}",
            layout(*kind).code,
            layout(members).code
        ))
    };
    let cases: String = Kind::ALL.iter().filter_map(of_kind).collect();
    format!(
        "LEFT JOIN LATERAL (SELECT t.records, t.measures FROM {schema}.total t WHERE t.tenant = $1 \
         AND t.kind = (CASE r.kind{cases} END)::smallint AND t.scope = r.kind AND t.owner = r.id OFFSET 0) t ON true"
    )
}

/// More tickets than any attendance has.
pub(super) const POSITION_OFFSET: i64 = 1 << 40;

/// Joins the rows of a table that match a previous row. They are looked up for each row, whatever
/// statistics the planner has.
pub(super) fn each(s: &str, table: &str, alias: &str, condition: &str) -> String {
    format!(
        "CROSS JOIN LATERAL (SELECT * FROM {s}.{table} {alias} WHERE {alias}.tenant = $1 AND {condition} OFFSET 0) {alias}"
    )
}

/// Joins the oldest person with each address, by the hash of a previous row.
pub(super) fn oldest(s: &str, hash: &str) -> String {
    format!(
        "CROSS JOIN LATERAL (SELECT min(o.seq) AS seq FROM (SELECT m.seq FROM {s}.email m WHERE m.tenant = $1 \
         AND m.hash = {hash} OFFSET 0) o) e"
    )
}

/// Joins the rows of the two oldest people with each address, by the hash of a previous row.
pub(super) fn two_oldest(s: &str, hash: &str) -> String {
    format!(
        "CROSS JOIN LATERAL (SELECT o.seq FROM (SELECT m.seq FROM {s}.email m WHERE m.tenant = $1 \
         AND m.hash = {hash} OFFSET 0) o ORDER BY o.seq LIMIT 2) e"
    )
}

/// Joins the record with each name `n` of a previous row. If no record has exactly this name, it is
/// the oldest record whose name has the same key.
pub(super) fn named(s: &str, alias: &str) -> String {
    let record = each(
        s,
        "record",
        alias,
        &format!("{alias}.kind::int = n.kind AND {alias}.seq = e.seq"),
    );
    format!(
        "CROSS JOIN LATERAL (SELECT coalesce((SELECT w.seq FROM {s}.record w WHERE w.tenant = $1 AND w.name = n.name \
         AND w.kind = n.kind), (SELECT min(o.seq) FROM (SELECT m.seq FROM {s}.text_key m WHERE m.tenant = $1 \
         AND m.field = n.field AND m.text = n.text OFFSET 0) o)) AS seq OFFSET 0) e {record}"
    )
}

/// Counts the records that name each person of a previous row: those with a link to it, and attendances
/// with a ticket that names it. A record counts for the first column with the person. No more records
/// are read than are counted: the order makes the server read the entries of an index one by one, where
/// equality would let it read all of them first.
pub(super) fn linked_count(s: &str) -> String {
    let of_people = |kind: &Kind, column: &str| {
        let mut columns = layout(*kind).columns();
        columns.any(|(reference, of)| reference.kind == Kind::Person && of == column)
    };
    let (mut parts, mut counted) = (Vec::new(), String::new());
    for column in LINK_COLUMNS {
        let kinds: Vec<String> = Kind::ALL
            .iter()
            .filter(|kind| of_people(kind, column))
            .map(|kind| layout(*kind).code.to_string())
            .collect();
        if kinds.is_empty() {
            continue;
        }
        parts.push(format!(
            "(SELECT 1 FROM {s}.record r WHERE r.tenant = $1 AND r.{column} >= k.id AND r.{column} <= k.id \
             AND r.kind IN ({}){counted} ORDER BY r.{column} LIMIT k.most)",
            kinds.join(", ")
        ));
        counted = format!("{counted} AND (r.{column} = k.id) IS NOT TRUE");
    }
    let attendance = layout(Kind::Attendance);
    let person = attendance.scope(Kind::Person).unwrap_or_default();
    parts.push(format!(
        "(SELECT 1 FROM {s}.holder h WHERE h.tenant = $1 AND h.person = k.id \
         AND h.place = (SELECT e.place FROM {s}.holder e WHERE e.tenant = $1 AND e.person = k.id \
         AND e.attendance = h.attendance ORDER BY e.place LIMIT 1) \
         AND ((SELECT r.{person} = k.id FROM {s}.record r WHERE r.tenant = $1 AND r.kind::int = {} \
         AND r.seq = h.attendance)) IS NOT TRUE LIMIT k.most)",
        attendance.code
    ));
    format!(
        "SELECT k.place, n.records FROM unnest({}) k(id, most, place) CROSS JOIN LATERAL (SELECT count(*) AS records \
         FROM ({} LIMIT k.most) x OFFSET 0) n",
        arrays(2, "uuid bigint int"),
        parts.join(" UNION ALL ")
    )
}

/// Returns parameters of this many arrays from `first` on: `$2::smallint[], $3::uuid[]`.
pub(super) fn arrays(first: usize, types: &str) -> String {
    let one = |(place, name): (usize, &str)| format!("${}::{name}[]", first.saturating_add(place));
    types
        .split(' ')
        .enumerate()
        .map(one)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The selected records of the same two others.
#[derive(Debug, Clone, Copy)]
pub(super) enum Selection {
    All,
    Newest,
}

/// Reads records of a layout that connect two others, such as taggings: the first by keys of one side,
/// the second by keys of the other. A key is an id, a name, an identifier or an e-mail address. Each
/// has the position of its lookup and its side.
pub(super) fn ties(s: &str, cols: &str, tot: &str, of: &[Kind], selection: Selection) -> String {
    let layouts = of.first().map(|kind| layout(*kind));
    let one = layouts.and_then(RecordLayout::parent).unwrap_or_default();
    let other = layouts
        .and_then(|it| it.scope(Kind::Person))
        .unwrap_or_default();
    let person = layout(Kind::Person).code;
    let kinds = of
        .iter()
        .map(|kind| layout(*kind).code.to_string())
        .collect::<Vec<_>>()
        .join(", ");
    let by_name = named(s, "q");
    let by_hash = each(s, "identifier", "i", "i.hash = n.hash AND i.kind = n.kind");
    let by_seq = each(s, "record", "q", "q.kind::int = i.kind AND q.seq = i.seq");
    let (oldest, person) = (
        oldest(s, "n.hash"),
        each(
            s,
            "record",
            "q",
            &format!("q.kind::int = {person} AND q.seq = e.seq"),
        ),
    );
    // The condition on the first side does not use an index, because a group can have a million
    // members.
    let tied = format!("r.{other} = b.id AND (r.{one} = a.id) IS TRUE");
    let tie = match selection {
        Selection::All => each(s, "record", "r", &format!("r.kind IN ({kinds}) AND {tied}")),
        Selection::Newest => format!(
            "CROSS JOIN LATERAL (SELECT * FROM {s}.record r WHERE r.tenant = $1 AND r.kind = {kinds} AND {tied} \
             ORDER BY r.seq DESC LIMIT 1) r"
        ),
    };
    format!(
        "WITH k AS (SELECT i.side, i.place, i.id FROM unnest({ids}) i(side, place, id) UNION ALL \
         SELECT n.side, n.place, q.id FROM unnest({names}) n(side, place, kind, name, field, text) {by_name} UNION ALL \
         SELECT n.side, n.place, q.id FROM unnest({identifiers}) n(side, place, kind, hash) {by_hash} {by_seq} UNION ALL \
         SELECT n.side, n.place, q.id FROM unnest({emails}) n(side, place, hash) {oldest} {person}) \
         SELECT a.place, {cols} FROM k a JOIN k b ON b.place = a.place AND b.side = 1 {tie} {tot} WHERE a.side = 0",
        ids = arrays(2, "smallint int uuid"),
        names = arrays(5, "smallint int smallint text text text"),
        identifiers = arrays(11, "smallint int smallint uuid"),
        emails = arrays(15, "smallint int uuid"),
    )
}

/// Returns the kinds that requests without a key may address.
///
/// Requirements: HLP-07.
pub(crate) fn containers() -> String {
    let kinds = Kind::ALL
        .iter()
        .map(|kind| layout(*kind))
        .filter(|layout| layout.table.is_container());
    kinds
        .map(|layout| layout.code.to_string())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Defines a struct of statement texts, and lists them with their names for the tests.
macro_rules! text_group {
    ($(#[$about:meta])* $group:ident { $($(#[$note:meta])* $name:ident),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug)]
        pub(crate) struct $group { $($(#[$note])* pub(crate) $name: String),+ }

        impl $group {
            /// Returns every text with its name.
            pub(crate) fn all(&self) -> Vec<(&'static str, &str)> {
                vec![$((stringify!($name), self.$name.as_str())),+]
            }
        }
    };
}
pub(crate) use text_group;
