//! The text of statements about a [`Set`] of records. `$1` is the tenant, `$2` the id of the record that the set begins with.

use svc_core::{
    model::Kind,
    ops::What,
    schema::Source,
    store::{At, Set},
};

use crate::layout::{ALL, Layout, layout};

/// Tells under a number (`$3`) of each record that it is deleted at this moment (`$4`).
pub(crate) fn telling(schema: &str, set: &Set) -> String {
    let (of, condition) = (layout(set.kind()), condition(schema, "r", set));
    let home = set.kind().schema().home.and_then(|_| of.parent());
    let parent = home.map_or("NULL::uuid".to_owned(), |column| format!("r.{column}"));
    let what = What::Deleted as i16;
    format!(
        "INSERT INTO {schema}.feed (tenant, seq, step, kind, id, parent, what, at) \
         SELECT r.tenant, $3::bigint, r.seq, r.kind, r.id, {parent}, {what}::smallint, $4::bigint \
         FROM {schema}.record r WHERE {condition}"
    )
}

/// Removes the records: from what other records count, then all that was counted of them, then themselves.
pub(crate) fn deleting(schema: &str, set: &Set) -> Vec<String> {
    let (s, of, kind) = (schema, layout(set.kind()), set.kind());
    let code = of.code;
    let condition = condition(schema, "r", set);
    let these = |column: &str| format!("(SELECT r.{column} FROM {s}.record r WHERE {condition})");
    let from = format!("FROM {s}.record r JOIN {s}.ledger l ON l.tenant = $1 WHERE {condition}");
    let taken_out = "ON CONFLICT (tenant, kind, scope, owner) DO UPDATE SET records = o.records + excluded.records, \
                     moved = excluded.moved";
    let mut texts: Vec<String> = of
        .scopes()
        .map(|(reference, column)| {
            let scope = layout(reference.kind).code;
            format!(
                "INSERT INTO {s}.total AS o (tenant, kind, scope, owner, records, moved) \
                 SELECT r.tenant, {code}::smallint, {scope}::smallint, r.{column}, -count(*), max(l.seq) {from} \
                 AND r.{column} IS NOT NULL GROUP BY r.tenant, r.{column} {taken_out}"
            )
        })
        .collect();
    if kind.schema().has_collection() {
        texts.push(format!(
            "INSERT INTO {s}.total AS o (tenant, kind, scope, owner, records, moved) \
             SELECT r.tenant, {code}::smallint, 0::smallint, '{ALL}'::uuid, -count(*), max(l.seq) {from} GROUP BY r.tenant \
             {taken_out}"
        ));
    }
    let members = Kind::ALL.iter().filter(|member| layout(**member).scope(kind).is_some());
    let members: Vec<String> = members.map(|member| layout(*member).code.to_string()).collect();
    if !members.is_empty() {
        texts.push(format!(
            "DELETE FROM {s}.total t WHERE t.tenant = $1 AND t.kind IN ({}) AND t.scope = {code} AND t.owner IN {}",
            members.join(", "),
            these("id")
        ));
    }
    if has_parts(of) {
        texts.push(format!("DELETE FROM {s}.part p WHERE p.tenant = $1 AND p.owner IN {}", these("id")));
    }
    if kind == Kind::Attendance {
        texts.push(format!("DELETE FROM {s}.holder h WHERE h.tenant = $1 AND h.attendance IN {}", these("seq")));
    }
    if kind == Kind::Person {
        texts.push(format!("DELETE FROM {s}.email e WHERE e.tenant = $1 AND e.seq IN {}", these("seq")));
    }
    texts.push(format!(
        "DELETE FROM {s}.identifier i WHERE i.tenant = $1 AND i.kind = {code} AND i.seq IN {}",
        these("seq")
    ));
    texts.push(format!("DELETE FROM {s}.record r WHERE {condition}"));
    texts
}

/// Empties a link of the records of a kind that lead to a set.
pub(crate) fn clearing(schema: &str, kind: Kind, column: &str, to: &Set) -> String {
    let code = layout(kind).code;
    let leads = leads_to(schema, "r", column, to);
    format!("UPDATE {schema}.record r SET {column} = NULL WHERE r.tenant = $1 AND r.kind = {code} AND {leads}")
}

fn has_parts(layout: &Layout) -> bool {
    layout.table.computed.iter().any(|(_, source)| matches!(source, Source::Number(_) | Source::Sum(_)))
}

/// What holds for the records of a set.
fn condition(schema: &str, name: &str, set: &Set) -> String {
    let code = layout(set.kind()).code;
    let which = match set {
        Set::Under(kind, link, inner) => {
            let column = layout(*kind).column(link).map(|(_, column)| column).unwrap_or_default();
            leads_to(schema, name, column, inner)
        }
        _ => format!("{name}.id = $2"),
    };
    format!("{name}.tenant = $1 AND {name}.kind = {code} AND {which}")
}

/// What holds for records whose column leads to a record of a set.
fn leads_to(schema: &str, name: &str, column: &str, set: &Set) -> String {
    match set {
        Set::Under(..) => {
            let inner = format!("{name}i");
            let condition = condition(schema, &inner, set);
            format!("{name}.{column} IN (SELECT {inner}.id FROM {schema}.record {inner} WHERE {condition})")
        }
        _ => format!("{name}.{column} = $2"),
    }
}

/// Every text with a name, of sets with up to two steps: for tests.
pub(crate) fn all(schema: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for kind in Kind::ALL {
        let one = || Set::One(At::new(*kind, ALL.into(), 1), Vec::new());
        all.push((format!("telling {kind:?}"), telling(schema, &one())));
        all.extend(deleting(schema, &one()).into_iter().map(|text| (format!("deleting {kind:?}"), text)));
        for member in Kind::ALL {
            for (reference, column) in layout(*member).columns().filter(|(reference, _)| reference.kind == *kind) {
                let name = format!("{member:?} under {kind:?}");
                let under = Set::Under(*member, reference.name, Box::new(one()));
                all.push((format!("telling {name}"), telling(schema, &under)));
                all.extend(deleting(schema, &under).into_iter().map(|text| (name.clone(), text)));
                all.push((format!("clearing {name}"), clearing(schema, *member, column, &one())));
            }
        }
    }
    all
}
