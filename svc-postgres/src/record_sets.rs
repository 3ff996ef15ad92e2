//! Deletes a record with all dependent data in at most four statements, however many kinds there
//! are. `$1` is the tenant, `$2` the id of the record.
//!
//! A deletion from several tables is one statement with common table expressions. A cluster
//! executes those that delete in one hop, but none that inserts.

use svc_core::{
    backend::ChangeKind,
    filter::FilterField,
    model::Kind,
    store::{Change, ChangeTarget, IndexValues, RecordSet},
};

use crate::record_layout::{ALL, RecordLayout, SLOTS, layout};

/// Records that are deleted together, and links to them that are cleared. All of them depend on one
/// record.
#[derive(Debug, Default)]
pub(crate) struct Removal {
    /// The kinds of the records that match a condition.
    deleted: Vec<(Condition, Vec<Kind>)>,
    /// The same for links, with their columns.
    cleared: Vec<(Condition, &'static str, Vec<Kind>)>,
    /// Whether the record is a person, whose tickets, outbox entries and stored responses are also
    /// deleted.
    forgets: bool,
}

/// The condition for the records of a set, without their kind.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    /// The record itself.
    Itself,
    /// Records with a column that refers to a record of another set of this kind.
    LeadsTo(&'static str, Kind, Box<Condition>),
}

impl Condition {
    fn of(set: &RecordSet) -> Self {
        match set {
            RecordSet::Under(kind, link, inner) => {
                let column = layout(*kind)
                    .column(link)
                    .map(|(_, column)| column)
                    .unwrap_or_default();
                Self::leading_to(column, inner)
            }
            RecordSet::One(..) => Self::Itself,
        }
    }

    fn leading_to(column: &'static str, set: &RecordSet) -> Self {
        Self::LeadsTo(column, set.kind(), Box::new(Self::of(set)))
    }

    /// Returns the SQL of the condition for records with the alias `name`.
    fn text(&self, schema: &str, name: &str) -> String {
        match self {
            Self::Itself => format!("{name}.id = $2"),
            Self::LeadsTo(column, _, inner) if **inner == Self::Itself => {
                format!("{name}.{column} = $2")
            }
            Self::LeadsTo(column, kind, inner) => {
                let (within, code) = (format!("{name}i"), layout(*kind).code);
                let condition = inner.text(schema, &within);
                format!(
                    "{name}.{column} IN (SELECT {within}.id FROM {schema}.record {within} WHERE {within}.tenant = $1 \
                     AND {within}.kind = {code} AND {condition})"
                )
            }
        }
    }
}

impl Removal {
    /// Adds records to delete.
    pub(crate) fn delete(&mut self, set: &RecordSet) {
        let condition = Condition::of(set);
        match self
            .deleted
            .iter_mut()
            .find(|(other, _)| *other == condition)
        {
            Some((_, kinds)) => kinds.push(set.kind()),
            None => self.deleted.push((condition, vec![set.kind()])),
        }
    }

    /// Adds a link that is cleared if it refers to a record of a set.
    pub(crate) fn clear(&mut self, kind: Kind, column: &'static str, to: &RecordSet) {
        let condition = Condition::leading_to(column, to);
        match self
            .cleared
            .iter_mut()
            .find(|(other, ..)| *other == condition)
        {
            Some((_, _, kinds)) => kinds.push(kind),
            None => self.cleared.push((condition, column, vec![kind])),
        }
    }

    /// Adds tickets, outbox entries, dismissed pairs and stored responses of the person.
    pub(crate) fn forget(&mut self) {
        self.forgets = true;
    }

    /// Returns how many numbers of the ledger [`Removal::feed_sql`] uses.
    pub(crate) fn numbers(&self) -> i64 {
        i64::try_from(self.deleted.len()).unwrap_or(i64::MAX)
    }

    /// Writes a feed entry for each deleted record, with numbers from `$3` on and the time `$4`.
    /// Dependent records come before their record.
    pub(crate) fn feed_sql(&self, schema: &str) -> Option<String> {
        let what = ChangeKind::Deleted as i16;
        let parents = self.cases(|of, kind| {
            Some(format!(
                "d.{}",
                kind.schema().path_parent.and_then(|_| of.parent())?
            ))
        });
        let parent = parents.map_or("NULL::uuid".to_owned(), |cases| {
            format!("CASE d.kind{cases} END")
        });
        let records = self.records(schema, &format!("d.kind, d.id, d.seq, {parent} AS parent"))?;
        Some(format!(
            "INSERT INTO {schema}.feed (tenant, seq, step, kind, id, parent, what, at) \
             SELECT l.tenant, $3::bigint + x.place, x.seq, x.kind, x.id, x.parent, {what}::smallint, $4::bigint \
             FROM {schema}.ledger l, {records} x WHERE l.tenant = $1"
        ))
    }

    /// Clears the links.
    pub(crate) fn clear_link_sql(&self, schema: &str) -> Option<String> {
        let links = || {
            self.cleared
                .iter()
                .map(|(condition, _, kinds)| (condition, &**kinds))
        };
        let set = |column: &str| {
            let of_column = self.cleared.iter().filter(|(_, of, _)| *of == column);
            let emptied = any(
                schema,
                "t",
                of_column.map(|(condition, _, kinds)| (condition, &**kinds)),
            )?;
            Some(format!(
                "{column} = CASE WHEN {emptied} THEN NULL ELSE t.{column} END"
            ))
        };
        let columns: Vec<String> = SLOTS
            .into_iter()
            .chain(["modified_by"])
            .filter_map(set)
            .collect();
        let (records, condition) = (
            records(schema, "d.id", links())?,
            any(schema, "t", links())?,
        );
        Some(format!(
            "UPDATE {schema}.record t SET {} WHERE t.tenant = $1 AND t.id = ANY (ARRAY(SELECT x.id FROM {records} x)) \
             AND ({condition})",
            columns.join(", ")
        ))
    }

    /// Deletes the records, their totals, and their index entries.
    pub(crate) fn delete_sql(&self, schema: &str) -> Option<String> {
        let s = schema;
        let mut deletes = Vec::new();
        if self.forgets {
            deletes.extend(["holder", "outbox"].map(|table| {
                format!("DELETE FROM {s}.{table} t WHERE t.tenant = $1 AND t.person = $2")
            }));
            deletes.push(format!(
                "UPDATE {s}.feed t SET target = NULL WHERE t.tenant = $1 AND t.target = $2"
            ));
            deletes.push(format!(
                "DELETE FROM {s}.merge t WHERE t.tenant = $1 AND t.remaining = ANY ($2::uuid || ARRAY( \
                 SELECT o.id FROM {s}.alias o WHERE o.tenant = $1 AND o.target = $2))"
            ));
            deletes.push(format!(
                "DELETE FROM {s}.alias t WHERE t.tenant = $1 AND t.target = $2"
            ));
            deletes.extend(["one", "other"].map(|column| {
                format!("DELETE FROM {s}.apart t WHERE t.tenant = $1 AND t.{column} = $2")
            }));
            deletes.push(format!(
                "DELETE FROM {s}.kept t WHERE t.tenant = $1 AND t.key = ANY (ARRAY( \
                 SELECT o.key FROM {s}.kept o WHERE o.tenant = $1 AND o.person = $2))"
            ));
        }
        if let Some(records) = self.records(s, "d.kind, d.id, d.seq") {
            deletes.extend(self.deletes(s, &records));
        }
        let last = deletes.pop()?;
        let first = deletes
            .iter()
            .enumerate()
            .map(|(place, delete)| format!("d{place} AS ({delete})"));
        let first = first.collect::<Vec<_>>().join(", ");
        Some(if first.is_empty() {
            last
        } else {
            format!("WITH {first} {last}")
        })
    }

    fn deletes(&self, s: &str, records: &str) -> Vec<String> {
        // As an array, so that the index of the table is used whatever statistics the planner has.
        let delete = |table: &str, key: &str, of: &str, kinds: &[Kind]| {
            let codes = codes(kinds);
            format!(
                "DELETE FROM {s}.{table} t WHERE t.tenant = $1 AND t.{key} = ANY (ARRAY(SELECT x.{of} FROM {records} x \
                 WHERE x.kind IN ({codes})))"
            )
        };
        let all: Vec<Kind> = self.kinds().collect();
        let mut texts = Vec::new();
        let is_counted = |kind: &Kind| {
            Kind::ALL
                .iter()
                .any(|member| layout(*member).scope(*kind).is_some())
        };
        let members = |member: &Kind| {
            self.kinds()
                .any(|kind| layout(*member).scope(kind).is_some())
        };
        if all.iter().any(is_counted) {
            let members: Vec<Kind> = Kind::ALL.iter().copied().filter(members).collect();
            texts.push(format!(
                "DELETE FROM {s}.total t USING {records} x WHERE t.tenant = $1 AND t.kind IN ({}) AND t.scope = x.kind \
                 AND t.owner = x.id",
                codes(&members)
            ));
        }
        let with_parts: Vec<Kind> = all
            .iter()
            .copied()
            .filter(|kind| kind.schema().has_parts())
            .collect();
        if !with_parts.is_empty() {
            texts.push(delete("part", "owner", "id", &with_parts));
        }
        if all.contains(&Kind::Attendance) {
            texts.push(delete("holder", "attendance", "seq", &[Kind::Attendance]));
        }
        if all.contains(&Kind::Person) {
            texts.push(delete("email", "seq", "seq", &[Kind::Person]));
        }
        let has_texts = |kind: &Kind| FilterField::of_index(*kind).next().is_some();
        let with_texts: Vec<Kind> = all.iter().copied().filter(has_texts).collect();
        if !with_texts.is_empty() {
            texts.push(delete("text_key", "seq", "seq", &with_texts));
        }
        texts.push(delete("identifier", "seq", "seq", &all));
        let condition = any(
            s,
            "t",
            self.deleted
                .iter()
                .map(|(condition, kinds)| (condition, &**kinds)),
        );
        texts.extend(
            condition.map(|condition| {
                format!("{} AND ({condition})", delete("record", "id", "id", &all))
            }),
        );
        texts
    }

    /// Removes the records from the totals of other records, and of the collections of all records.
    pub(crate) fn discounting(&self, s: &str) -> Option<String> {
        let records = self.records(s, "d.kind, d.l1, d.l2, d.l3, d.l4")?;
        let of_slot = |slot: &&str| {
            let cases = self.cases(|of, _| {
                let (reference, _) = of.scopes().find(|(_, column)| column == slot)?;
                Some(layout(reference.kind).code.to_string())
            })?;
            Some(format!("(CASE x.kind{cases} END, x.{slot})"))
        };
        let of_all = self.cases(|_, kind| kind.schema().has_collection().then(|| "0".to_owned()));
        let of_all = of_all.map(|cases| format!("(CASE x.kind{cases} END, '{ALL}'::uuid)"));
        let counted: Vec<String> = SLOTS.iter().filter_map(of_slot).chain(of_all).collect();
        (!counted.is_empty()).then(|| {
            format!(
                "INSERT INTO {s}.total AS o (tenant, kind, scope, owner, records, moved) \
                 SELECT l.tenant, x.kind, c.scope::smallint, c.owner, -count(*), l.seq FROM {s}.ledger l, {records} x \
                 CROSS JOIN LATERAL (VALUES {}) c(scope, owner) WHERE l.tenant = $1 AND c.scope IS NOT NULL \
                 AND c.owner IS NOT NULL GROUP BY l.tenant, l.seq, x.kind, c.scope, c.owner \
                 ON CONFLICT (tenant, kind, scope, owner) DO UPDATE SET records = o.records + excluded.records, \
                 moved = excluded.moved",
                counted.join(", ")
            )
        })
    }

    /// Returns the deleted records: these columns, and the position of the condition.
    fn records(&self, schema: &str, columns: &str) -> Option<String> {
        records(
            schema,
            columns,
            self.deleted
                .iter()
                .map(|(condition, kinds)| (condition, &**kinds)),
        )
    }

    /// Returns the kinds of the deleted records.
    fn kinds(&self) -> impl Iterator<Item = Kind> {
        self.deleted
            .iter()
            .flat_map(|(_, kinds)| kinds.iter().copied())
    }

    /// Returns the branches of a `CASE` by the kind, for the kinds that have one.
    fn cases(&self, branch: impl Fn(&RecordLayout, Kind) -> Option<String>) -> Option<String> {
        let case = |kind: Kind| {
            Some(format!(
                " WHEN {} THEN {}",
                layout(kind).code,
                branch(layout(kind), kind)?
            ))
        };
        let mut kinds: Vec<Kind> = self.kinds().collect();
        kinds.sort_unstable_by_key(|kind| layout(*kind).code);
        kinds.dedup();
        let cases: String = kinds.into_iter().filter_map(case).collect();
        (!cases.is_empty()).then_some(cases)
    }
}

/// Returns the records that match one of these conditions: these columns, and the position of the
/// condition.
fn records<'a>(
    schema: &str,
    columns: &str,
    conditions: impl Iterator<Item = (&'a Condition, &'a [Kind])>,
) -> Option<String> {
    let select = |(place, (condition, kinds)): (usize, (&Condition, &[Kind]))| {
        let (codes, condition) = (codes(kinds), condition.text(schema, "d"));
        format!(
            "SELECT {columns}, {place} AS place FROM {schema}.record d WHERE d.tenant = $1 AND d.kind IN ({codes}) \
             AND {condition}"
        )
    };
    let selects: Vec<String> = conditions.enumerate().map(select).collect();
    (!selects.is_empty()).then(|| format!("({} OFFSET 0)", selects.join(" UNION ALL ")))
}

/// Returns the SQL that checks these conditions for a record with the alias `name`.
fn any<'a>(
    schema: &str,
    name: &str,
    conditions: impl Iterator<Item = (&'a Condition, &'a [Kind])>,
) -> Option<String> {
    let text = |(condition, kinds): (&Condition, &[Kind])| {
        format!(
            "{name}.kind IN ({}) AND {}",
            codes(kinds),
            condition.text(schema, name)
        )
    };
    let texts: Vec<String> = conditions.map(text).collect();
    (!texts.is_empty()).then(|| texts.join(" OR "))
}

fn codes(kinds: &[Kind]) -> String {
    let codes: Vec<String> = kinds
        .iter()
        .map(|kind| layout(*kind).code.to_string())
        .collect();
    codes.join(", ")
}

/// Returns every text with a name, for the removal of a record of each kind. For tests.
pub(crate) fn all(schema: &str) -> Vec<(String, String)> {
    let texts = |kind: &Kind| {
        let removal = removal_of(*kind);
        let texts = [
            removal.clear_link_sql(schema),
            removal.feed_sql(schema),
            removal.discounting(schema),
            removal.delete_sql(schema),
        ];
        texts
            .into_iter()
            .flatten()
            .map(|text| (format!("removing a {}", kind.singular()), text))
            .collect::<Vec<_>>()
    };
    Kind::ALL.iter().flat_map(texts).collect()
}

/// Returns what the rules delete with a record of a kind.
fn removal_of(kind: Kind) -> Removal {
    let mut removal = Removal::default();
    if kind == Kind::Person {
        removal.forget();
    }
    for change in svc_core::rules::removal(RecordSet::One(
        ChangeTarget::new(kind, ALL.into(), 1),
        IndexValues::default(),
    )) {
        match change {
            Change::Delete(set) => removal.delete(&set),
            Change::ClearLink { kind, link, to } => {
                if let Some((_, column)) = layout(kind).column(link) {
                    removal.clear(kind, column, &to);
                }
            }
            _ => {}
        }
    }
    removal
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deleting a record takes a few statements, however many kinds refer to it.
    #[test]
    fn a_removal_is_a_few_statements() {
        let of = |kind: &Kind| {
            let name = format!("removing a {}", kind.singular());
            all("s")
                .into_iter()
                .filter(|(text_name, _)| *text_name == name)
                .count()
        };
        assert_eq!(of(&Kind::Person), 4);
        assert_eq!(of(&Kind::Petition), 3);
        assert!(Kind::ALL.iter().all(|kind| (3..=4).contains(&of(kind))));
        let person = removal_of(Kind::Person).delete_sql("s").unwrap();
        for table in [
            "holder",
            "outbox",
            "merge",
            "alias",
            "kept",
            "total",
            "email",
            "text_key",
            "identifier",
            "record",
        ] {
            assert_eq!(
                person.matches(&format!("DELETE FROM s.{table} t")).count(),
                1,
                "{table}: {person}"
            );
        }
    }

    #[test]
    fn kinds_with_the_same_condition_share_it() {
        let removal = removal_of(Kind::Person);
        let clearing = removal.clear_link_sql("s").unwrap();
        // Each of l1, l2 and modified_by refers to the person, and two columns to the canvasses of
        // the person.
        assert_eq!(clearing.matches("SELECT d.id").count(), 5, "{clearing}");
        assert_eq!(clearing.matches(" = CASE WHEN").count(), 5, "{clearing}");
        // Dependent records of the person come first.
        assert_eq!(removal.deleted.last().unwrap().0, Condition::Itself);
        assert_eq!(removal.numbers(), 3);
    }
}
