//! Statements about a [`RecordSet`]. `?1` is the tenant, `?2` the id of the root record of the set.

use svc_core::{model::Kind, store::RecordSet};

use crate::schema::{SqliteTable, table};

/// Reads row and identifiers of each record, and its references that place it in collections.
pub(crate) fn select_set_sql(table: &SqliteTable, set: &RecordSet) -> String {
    let columns = ["seq", "identifiers"]
        .into_iter()
        .chain(table.scopes().map(|column| column.name));
    let columns: Vec<&str> = columns.collect();
    format!(
        "SELECT {} FROM {} WHERE tenant = ?1 AND {}",
        columns.join(", "),
        table.name,
        condition(set)
    )
}

/// Writes a feed entry for each record: it is deleted (`?3`) at this time (`?4`).
pub(crate) fn feed_sql(table: &SqliteTable, set: &RecordSet) -> String {
    let (name, code, condition) = (table.name, table.code, condition(set));
    let home = table
        .kind
        .schema()
        .path_parent
        .and(table.parent)
        .and_then(|parent| table.columns.get(parent));
    let parent = home.map_or("NULL", |column| column.name);
    format!(
        "INSERT INTO feed (tenant, seq, kind, id, parent, what, at)
         SELECT ?1, (SELECT coalesce(max(seq), 0) FROM feed WHERE tenant = ?1) + row_number() OVER (ORDER BY seq),
         {code}, id, {parent}, ?3, ?4 FROM {name} WHERE tenant = ?1 AND {condition}"
    )
}

/// Deletes the records. First the totals of other records are reduced, then the totals under the
/// deleted records are removed, then the records themselves.
pub(crate) fn delete_sql(table: &SqliteTable, set: &RecordSet) -> Vec<String> {
    let (name, code, condition) = (table.name, table.code, condition(set));
    let these =
        |column: &str| format!("(SELECT {column} FROM {name} WHERE tenant = ?1 AND {condition})");
    let mut texts: Vec<String> = table
        .scopes()
        .map(|column| {
            let (column, scope) = (column.name, column.kind.code());
            format!(
                "INSERT INTO total (tenant, kind, scope, owner, records)
                 SELECT ?1, {code}, {scope}, {column}, -count(*) FROM {name}
                 WHERE tenant = ?1 AND {condition} AND {column} IS NOT NULL GROUP BY {column}
                 ON CONFLICT DO UPDATE SET records = records + excluded.records"
            )
        })
        .collect();
    for members in Kind::ALL.iter().map(|kind| crate::schema::table(*kind)) {
        if members.scope_column(table.kind).is_some() {
            let (kind, ids) = (members.code, these("id"));
            texts.push(format!(
                "DELETE FROM total WHERE tenant = ?1 AND kind = {kind} AND scope = {code} AND owner IN {ids}"
            ));
        }
    }
    if table.kind.schema().has_parts() {
        texts.push(format!(
            "DELETE FROM part WHERE tenant = ?1 AND owner IN {}",
            these("id")
        ));
    }
    if table.kind == Kind::Attendance {
        texts.push(format!(
            "DELETE FROM holder WHERE tenant = ?1 AND attendance IN {}",
            these("seq")
        ));
    }
    texts.push(format!(
        "DELETE FROM {name} WHERE tenant = ?1 AND {condition}"
    ));
    texts
}

/// Reads row and owner of the records of a kind whose link refers to a set.
pub(crate) fn select_by_link_sql(table: &SqliteTable, link: &str, to: &RecordSet) -> String {
    format!(
        "SELECT seq, {link} FROM {} WHERE tenant = ?1 AND {}",
        table.name,
        link_condition(link, to)
    )
}

/// Clears a link of the records of a kind that refer to a set.
pub(crate) fn clear_link_sql(kind: Kind, link: &str, to: &RecordSet) -> String {
    format!(
        "UPDATE {} SET {link} = NULL WHERE tenant = ?1 AND {}",
        table(kind).name,
        link_condition(link, to)
    )
}

/// Returns the condition for the rows of a set.
fn condition(set: &RecordSet) -> String {
    match set {
        RecordSet::Under(_, link, inner) => link_condition(link, inner),
        RecordSet::One(..) => "id = ?2".to_owned(),
    }
}

/// Returns the condition for rows whose column refers to a record of a set.
fn link_condition(column: &str, set: &RecordSet) -> String {
    match set {
        RecordSet::Under(kind, ..) => {
            let (name, condition) = (table(*kind).name, condition(set));
            format!("{column} IN (SELECT id FROM {name} WHERE tenant = ?1 AND {condition})")
        }
        RecordSet::One(..) => format!("{column} = ?2"),
    }
}

#[cfg(test)]
mod tests {
    use svc_core::{
        store::{ChangeTarget, IndexValues},
        value::Id,
    };

    use super::*;
    use crate::schema::tests::{file, plan};

    /// Returns the references of every kind that point to a kind.
    fn leading_to(kind: Kind) -> impl Iterator<Item = (Kind, &'static str)> {
        Kind::ALL.iter().flat_map(move |member| {
            let references = member
                .schema()
                .references()
                .iter()
                .filter(move |reference| reference.kind == kind);
            references.map(|reference| (*member, reference.name))
        })
    }

    fn one(kind: Kind) -> RecordSet {
        RecordSet::One(
            ChangeTarget::new(
                kind,
                Id::new("018f8d9e-0000-7000-8000-000000000001").unwrap(),
                1,
            ),
            IndexValues::default(),
        )
    }

    fn under(set: &RecordSet) -> impl Iterator<Item = RecordSet> {
        leading_to(set.kind())
            .map(|(kind, link)| RecordSet::Under(kind, link, Box::new(set.clone())))
    }

    /// CRU-05: the statements of every set that the rules use fit the file, name the tenant, and
    /// use an index.
    #[test]
    fn every_set_goes_by_an_index() {
        let (file, mut texts) = (file(), 0);
        for kind in Kind::ALL {
            let first = one(*kind);
            let second: Vec<RecordSet> = under(&first).collect();
            let third: Vec<RecordSet> = second.iter().flat_map(under).collect();
            for set in [first].iter().chain(&second).chain(&third) {
                let table = table(set.kind());
                let clear =
                    leading_to(set.kind()).map(|(kind, link)| clear_link_sql(kind, link, set));
                for text in delete_sql(table, set)
                    .into_iter()
                    .chain(clear)
                    .chain([select_set_sql(table, set), feed_sql(table, set)])
                {
                    assert!(text.contains("tenant = ?1"), "{text}");
                    let steps = plan(&file, &text);
                    // Rows that were found by an index are scanned once more to be numbered.
                    assert!(
                        !steps.replace("SCAN (subquery", "").contains("SCAN"),
                        "{text}\n{steps}"
                    );
                    texts += 1;
                }
            }
        }
        assert!(texts > 500, "{texts}");
    }
}
