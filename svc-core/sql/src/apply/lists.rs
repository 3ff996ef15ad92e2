//! Writes a list of a record to the rows of another table.
//!
//! A row stays assigned to its entry, so that columns outside of the mapping keep their values. It
//! is updated if the entry has changed, and deleted with the entry. Rows that another program has
//! added since the list was read have no entry. They are not changed.

use std::ops::Range;

use svc_core::{
    helper::{entry_key, entry_number},
    json::{Json, Object},
    store::LookupKey,
    value::Id,
};

use super::{SqlBuilder, StatementBuilder, assign, changed, is_written};
use crate::{
    resolved_mapping::{FieldStorage, ResolvedColumn, ResolvedField, ResolvedTable},
    row::at,
};

/// The table of a list, and the record that the list belongs to.
struct ListTable<'m> {
    of: &'m ResolvedTable,
    id: &'m Id,
    table: &'m str,
    parent: &'m ResolvedColumn,
    order: &'m ResolvedColumn,
    members: &'m [ResolvedField],
}

impl StatementBuilder<'_> {
    /// Writes the changes of a list from `before` to `now`.
    pub(super) fn rows(
        &mut self,
        of: &ResolvedTable,
        id: &Id,
        member: &ResolvedField,
        before: Option<&Object>,
        now: Option<&Json>,
    ) {
        let FieldStorage::Rows {
            table,
            parent,
            order,
            members,
        } = &member.stored
        else {
            return;
        };
        let rows = ListTable {
            of,
            id,
            table,
            parent,
            order,
            members,
        };
        let field = member.field().map_or("", |field| field.name);
        let (was, now) = (
            entries(before.and_then(|before| at(before, member))),
            entries(now),
        );
        let changes = ListDiff::between(field, &was, &now);
        for (place, entry) in &changes.kept {
            if let Some((was, now)) = was
                .get(*place)
                .zip(now.get(*entry))
                .filter(|(was, now)| was != now)
            {
                self.change_row(&rows, *place, was, now);
            }
        }
        // Deletes from the end, so that earlier positions stay valid.
        for gone in changes.gone.iter().rev() {
            self.delete_rows(&rows, gone);
        }
        for entry in now.get(changes.kept.len()..).unwrap_or_default() {
            self.insert_row(&rows, entry);
        }
    }

    fn change_row(&mut self, rows: &ListTable<'_>, place: usize, was: &Object, now: &Object) {
        let mut sql = self.sql();
        sql.push(&self.mapping.dialect.update(rows.table))
            .push(" SET ");
        let has_any = assign(
            &mut sql,
            &[],
            changed(self.mapping.dialect, rows.members, now, Some(was)),
        );
        self.at_places(&mut sql, rows, place..place.saturating_add(1));
        if has_any {
            self.statements.push(sql.finish());
        }
    }

    fn delete_rows(&mut self, rows: &ListTable<'_>, places: &Range<usize>) {
        let mut sql = self.sql();
        sql.push(&self.mapping.dialect.delete_from(rows.table));
        self.at_places(&mut sql, rows, places.clone());
        self.statements.push(sql.finish());
    }

    fn insert_row(&mut self, rows: &ListTable<'_>, entry: &Object) {
        let dialect = self.mapping.dialect;
        let columns = rows
            .members
            .iter()
            .filter_map(|member| match &member.stored {
                FieldStorage::Column(stored) => {
                    Some((&stored.column, stored.text(dialect, at(entry, member))))
                }
                _ => None,
            });
        let columns: Vec<_> = columns
            .filter(|(column, value)| is_written(column, value.as_deref()))
            .collect();
        let mut sql = self.sql();
        sql.push("INSERT INTO ")
            .push(rows.table)
            .push(" (")
            .push(&rows.parent.name);
        for (column, _) in &columns {
            sql.push(", ").push(&column.name);
        }
        sql.push(") VALUES (");
        self.record_of(&mut sql, rows);
        for (column, value) in columns {
            sql.push(", ").value(column, value);
        }
        sql.push(")");
        self.statements.push(sql.finish());
    }

    /// Adds ` WHERE` for the rows at these positions of the record's list.
    fn at_places(&self, sql: &mut SqlBuilder, rows: &ListTable<'_>, places: Range<usize>) {
        let (table, parent, order) = (rows.table, &rows.parent.name, &rows.order.name);
        let [before, after] = sql.subquery();
        sql.push(&format!(
            " WHERE {order} IN ({before}SELECT r.{order} FROM {table} r WHERE r.{parent} = "
        ));
        self.record_of(sql, rows);
        let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        sql.push(&format!(" ORDER BY r.{order} LIMIT "))
            .limit(number(places.len()));
        sql.push(" OFFSET ")
            .limit(number(places.start))
            .push(&format!("{after}) AND {parent} = "));
        self.record_of(sql, rows);
    }

    fn record_of(&self, sql: &mut SqlBuilder, rows: &ListTable<'_>) {
        self.mapping
            .key_of(sql, rows.of, &LookupKey::Id(rows.of.kind, rows.id.clone()));
    }
}

pub(super) fn entries(list: Option<&Json>) -> Vec<&Object> {
    let entries = list.and_then(Json::as_array).unwrap_or_default();
    entries.iter().filter_map(Json::as_object).collect()
}

/// The changes of the rows of a list.
struct ListDiff {
    /// The positions of the remaining rows, each with the position of its entry. The entries after
    /// them are new.
    kept: Vec<(usize, usize)>,
    /// The positions of the rows to delete.
    gone: Vec<Range<usize>>,
}

impl ListDiff {
    /// Compares two lists. New rows are appended to the table, so no existing row can follow a new
    /// entry.
    fn between(field: &str, was: &[&Object], now: &[&Object]) -> Self {
        let keys_of = |list: &[&Object]| -> Vec<_> {
            let keys = list.iter().map(|entry| entry_key(field, entry));
            keys.collect()
        };
        let (keys, new_keys) = (keys_of(was), keys_of(now));
        // A row with the number of an entry remains even if its extension changes.
        let is_renamed = |known: &Result<_, _>, key: &Result<_, _>| {
            let number = entry_number(field, key);
            number.is_some() && number == entry_number(field, known) && !new_keys.contains(known)
        };
        let (mut kept, mut gone, mut next) = (Vec::new(), Vec::new(), 0_usize);
        for (place, key) in new_keys.iter().enumerate() {
            let rest = keys.get(next..).unwrap_or_default();
            let exact = rest.iter().position(|known| known == key);
            let found = exact.or_else(|| rest.iter().position(|known| is_renamed(known, key)));
            let Some(skipped) = found else {
                break;
            };
            let found = next.saturating_add(skipped);
            gone.push(next..found);
            kept.push((found, place));
            next = found.saturating_add(1);
        }
        gone.push(next..was.len());
        gone.retain(|places| !places.is_empty());
        Self { kept, gone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The remaining positions with those of their entries, and the start and end of each deleted
    /// range.
    type Places = (Vec<(usize, usize)>, Vec<(usize, usize)>);

    fn changes(was: &[&str], now: &[&str]) -> Places {
        let list = |addresses: &[&str]| -> Vec<Object> {
            addresses
                .iter()
                .map(|address| [("address", Json::from(*address))].into_iter().collect())
                .collect()
        };
        changed("email_addresses", &list(was), &list(now))
    }

    fn changed(field: &str, was: &[Object], now: &[Object]) -> Places {
        let (was, now): (Vec<&Object>, Vec<&Object>) = (was.iter().collect(), now.iter().collect());
        let ListDiff { kept, gone } = ListDiff::between(field, &was, &now);
        (
            kept,
            gone.into_iter()
                .map(|places| (places.start, places.end))
                .collect(),
        )
    }

    /// RES-person-29: the row of a phone number remains if only its extension changes.
    #[test]
    fn res_person_29_a_row_stays_with_its_number() {
        let list = |extensions: &[&str]| -> Vec<Object> {
            let entry = |extension: &&str| {
                let number = ("number", Json::from("441632960001"));
                let extension = ("extension", Json::from(*extension));
                [number, extension].into_iter().collect()
            };
            extensions.iter().map(entry).collect()
        };
        let diff = |was: &[&str], now: &[&str]| changed("phone_numbers", &list(was), &list(now));
        assert_eq!(diff(&["", "7"], &["7"]), (vec![(1, 0)], vec![(0, 1)]));
        assert_eq!(diff(&[""], &["7"]), (vec![(0, 0)], vec![]));
        assert_eq!(
            diff(&["7", "8"], &["9", "8"]),
            (vec![(0, 0), (1, 1)], vec![])
        );
    }

    #[test]
    fn res_person_29_a_row_stays_with_its_entry() {
        let same = changes(&["a", "b", "c"], &["A", "b", "c"]);
        assert_eq!(
            same,
            (vec![(0, 0), (1, 1), (2, 2)], vec![]),
            "addresses are compared without case"
        );
        assert_eq!(
            changes(&["a", "b", "c", "d"], &["b", "d", "e"]),
            (vec![(1, 0), (3, 1)], vec![(0, 1), (2, 3)])
        );
        let before = changes(&["a", "b"], &["x", "a", "b"]);
        assert_eq!(
            before,
            (vec![], vec![(0, 2)]),
            "what follows a new entry is new"
        );
        assert_eq!(changes(&["a", "b"], &[]), (vec![], vec![(0, 2)]));
        assert_eq!(changes(&["a", "a"], &["a"]), (vec![(0, 0)], vec![(1, 2)]));
    }
}
