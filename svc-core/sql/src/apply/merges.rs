//! Writes what a merge of two people changes besides the records that the rules know.
//!
//! Requirements: MRG-06, MRG-09.

use svc_core::{
    model::Kind,
    store::{Change, LookupKey},
    value::Id,
};

use super::StatementBuilder;
use crate::select::FORWARDS;

/// Returns the changes of a request in the order in which they are written.
///
/// The remaining person gets its new values after the merged person is deleted, because a table can
/// require that a value, such as an e-mail address, is unique.
pub(crate) fn in_order(mut changes: Vec<Change>) -> Vec<Change> {
    let remaining = changes.iter().find_map(|change| match change {
        Change::ForwardPerson { to, .. } => Some(to.clone()),
        _ => None,
    });
    if let Some(remaining) = remaining {
        let is_last = |change: &Change| match change {
            Change::Replace(replace) => {
                replace.target.kind == Kind::Person && replace.target.id == remaining
            }
            _ => false,
        };
        changes.sort_by_key(is_last);
    }
    changes
}

impl StatementBuilder<'_> {
    /// Records that a person was merged into another one. Everything outside of the rules that refers to
    /// the merged person then refers to the other one.
    pub(super) fn forward_person(&mut self, from: &Id, to: &Id) {
        let mut sql = self.sql();
        sql.push(&format!("UPDATE {FORWARDS} SET remaining = "))
            .text(to.as_str())
            .push(" WHERE tenant = ")
            .tenant(None)
            .push(" AND remaining = ")
            .text(from.as_str());
        self.statements.push(sql.finish());
        let mut sql = self.sql();
        sql.push(&format!(
            "INSERT INTO {FORWARDS} (tenant, person, remaining) VALUES ("
        ))
        .tenant(None)
        .push(", ")
        .text(from.as_str())
        .push(", ")
        .text(to.as_str())
        .push(")");
        // Another program can have inserted a person with the id of an earlier one.
        let dialect = sql.dialect();
        let changes = [("remaining", dialect.proposed("remaining"))];
        sql.push(&dialect.upsert("tenant, person", &changes));
        self.statements.push(sql.finish());
        let mut sql = self.sql();
        sql.push("UPDATE svc_dispatches SET person = ")
            .text(to.as_str())
            .push(" WHERE tenant = ")
            .tenant(None)
            .push(" AND person = ")
            .text(from.as_str());
        self.statements.push(sql.finish());
        self.move_columns(from, to);
    }

    /// Changes the columns that refer to the merged person: those that the mapping declares, and the links
    /// of the two people, which the rules do not change.
    fn move_columns(&mut self, from: &Id, to: &Id) {
        let mapping = self.mapping;
        let Some(people) = mapping.of(Kind::Person) else {
            return;
        };
        let links = people.links.iter();
        let links = links.filter(|link| link.kind == Kind::Person);
        let links = links.map(|link| (&people.name, &link.column.name, &link.target.name));
        let moved = mapping.moved.iter();
        let moved = moved.map(|moved| (&moved.table, &moved.name, &moved.target));
        for (table, column, target) in links.chain(moved) {
            let value = format!("k.{target}");
            let [from, to] = [from, to].map(|id| LookupKey::Id(Kind::Person, id.clone()));
            let mut sql = self.sql();
            sql.push(&mapping.dialect.update(table))
                .push(&format!(" SET {column} = "));
            mapping.of_record(&mut sql, people, &value, &to);
            sql.push(&format!(" WHERE {column} = "));
            mapping.of_record(&mut sql, people, &value, &from);
            self.statements.push(sql.finish());
        }
    }

    /// Deletes the record of everyone who was merged into a person.
    pub(super) fn forget_forwards(&mut self, person: &Id) {
        let mut sql = self.sql();
        sql.push(&format!("DELETE FROM {FORWARDS} WHERE tenant = "))
            .tenant(None)
            .push(" AND remaining = ")
            .text(person.as_str());
        self.statements.push(sql.finish());
    }
}
