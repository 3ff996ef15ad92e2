//! Checks which columns refer to people. A merge of two people must change all of them.
//!
//! Requirements: MRG-06.

use svc_core::{model::Kind, store::person_links};

use super::{MappingChecker, plain};
use crate::{
    introspect::{DatabaseTable, ForeignKey, ForeignKeyColumn},
    mapping::{LinkMapping, TableMapping},
    resolved_mapping::MovedColumn,
    sql::quoted_table,
};

impl<'a> MappingChecker<'a> {
    /// Returns the columns that a merge of two people changes in addition to the mapped links.
    pub(super) fn moved_in_merges(&mut self) -> Vec<MovedColumn> {
        let mapping = self.mapping;
        for table in &mapping.ignored {
            self.live_table(table);
        }
        let people = self.people();
        let mut moved = Vec::new();
        for (table, column) in &mapping.moved {
            let Some((people, of_people)) = people else {
                self.wrong(format!(
                    "`.move_in_merges(\"{table}\", ...)` has no effect without a table of people: map it, or remove the declaration"
                ));
                continue;
            };
            let Some(live) = self.live_table(table) else {
                continue;
            };
            let Some(resolved) = self.column(table, live, column, "bigint") else {
                continue;
            };
            if self.is_mapped(&self.quoted(table), column) {
                self.wrong(format!(
                    "`{table}.{column}` is mapped, and a merge already changes it: remove `.move_in_merges(\"{table}\", \"{column}\")`"
                ));
                continue;
            }
            let target = self.target(people, of_people, table, column);
            let Some(target) = target.filter(|target| is_key(of_people, target)) else {
                self.wrong(format!(
                    "`{table}.{column}` does not refer to a column of `{}` that is unique and not NULL: remove `.move_in_merges(\"{table}\", \"{column}\")`",
                    people.name
                ));
                continue;
            };
            moved.push(MovedColumn {
                table: self.quoted(table),
                name: resolved.name,
                target: self.dialect.quote(&target),
            });
        }
        moved
    }

    /// Returns why people cannot be merged: the foreign keys to the table of people for which the mapping
    /// does not declare what a merge does.
    pub(super) fn merge_problems(&self) -> Vec<String> {
        let Some((_, people)) = self.people() else {
            return vec!["the mapping has no table of people".to_owned()];
        };
        let unknown = people
            .referenced_by
            .iter()
            .filter(|key| !self.is_declared(people, key));
        let problem = |key: &ForeignKey| {
            let mut columns = key.columns.iter();
            let movable = columns.find(|column| refers_to_key(people, column));
            let column = movable.or(key.columns.first())?;
            let (table, name) = (&column.table, plain(self.dialect, &column.name));
            let raw = &column.name;
            let moved = match movable {
                Some(_) => format!(
                    " Call `.move_in_merges(\"{table}\", \"{raw}\")` if its rows then belong to the remaining person."
                ),
                None => String::new(),
            };
            let text = format!(
                "`{table}.{name}` refers to people and is not mapped.{moved} Call `.ignore_in_merges(\"{table}\")` if the \
                 foreign key decides what happens to them"
            );
            Some(text)
        };
        unknown.filter_map(problem).collect()
    }

    /// Returns the table of people, and its columns in the database.
    fn people(&self) -> Option<(&'a TableMapping, &'a DatabaseTable)> {
        let mut tables = self.mapping.tables.iter();
        let people = tables.find(|table| table.kind == Kind::Person)?;
        Some((people, self.live.table(&people.name)?))
    }

    /// Returns the column of the table of people that a column refers to: that of its foreign key, or the
    /// key that links refer to.
    fn target(
        &self,
        people: &TableMapping,
        of_people: &DatabaseTable,
        table: &str,
        column: &str,
    ) -> Option<String> {
        let primary = || of_people.primary().map(|primary| primary.name.clone());
        let table = self.quoted(table);
        let columns = of_people.referenced_by.iter().flat_map(|key| &key.columns);
        let mut of_key = columns.filter(|it| is(it, &table, column));
        match of_key.next() {
            Some(of_key) => of_key.target.clone().or_else(primary),
            None => people
                .key
                .clone()
                .or_else(primary)
                .or_else(|| people.order.clone()),
        }
    }

    /// Returns whether the mapping declares what a merge does with the rows of a foreign key to people.
    fn is_declared(&self, people: &DatabaseTable, key: &ForeignKey) -> bool {
        key.columns.iter().any(|column| {
            let Some(table) = &column.mapped_table else {
                return false;
            };
            let mut moved = self.mapping.moved.iter();
            let mut ignored = self.mapping.ignored.iter();
            let is_moved = |(of, name): &(String, String)| {
                self.quoted(of) == *table && *name == column.name && refers_to_key(people, column)
            };
            self.is_mapped(table, &column.name)
                || moved.any(is_moved)
                || ignored.any(|of| self.quoted(of) == *table)
        })
    }

    /// Returns whether a column is that of a link to people, or assigns the entries of a list to people.
    fn is_mapped(&self, quoted_table: &str, column: &str) -> bool {
        self.mapping.tables.iter().any(|table| {
            let is_link = |link: &LinkMapping| {
                link.column == column
                    && person_links().any(|it| it == (table.kind, link.name.as_str()))
            };
            let of_list = |(_, rows): &(String, crate::mapping::ListMapping)| {
                rows.parent == column && self.quoted(&rows.table) == quoted_table
            };
            self.quoted(&table.name) == quoted_table && table.links.iter().any(is_link)
                || table.kind == Kind::Person && table.lists.iter().any(of_list)
        })
    }

    fn quoted(&self, table: &str) -> String {
        quoted_table(self.dialect, table)
    }
}

/// Returns whether a column of the table of people identifies a person alone.
fn is_key(people: &DatabaseTable, column: &str) -> bool {
    let is_primary = people
        .primary()
        .is_some_and(|primary| primary.name == column);
    let is_filled = people.column(column).is_some_and(|column| !column.nullable);
    is_primary || is_filled && people.is_unique(&[column])
}

/// Returns whether a column refers to one that identifies a person alone.
fn refers_to_key(people: &DatabaseTable, column: &ForeignKeyColumn) -> bool {
    match &column.target {
        Some(target) => is_key(people, target),
        None => people.primary().is_some(),
    }
}

/// Returns whether this is a column of a table.
fn is(column: &ForeignKeyColumn, quoted_table: &str, name: &str) -> bool {
    column.mapped_table.as_deref() == Some(quoted_table) && column.name == name
}
