//! How each kind lies in the file: its table, its columns, and its statements, composed once from the interface's tables.
//!
//! Only constant names go into the text of a statement; values are always bound.

use std::sync::LazyLock;

use svc_core::{
    each_kind,
    model::Kind,
    schema::{KindSchema, LinkTarget},
};

use crate::statements::Statements;

/// The table of a kind.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) kind: Kind,
    /// Stands for the kind in the file, for ever.
    pub(crate) code: i64,
    /// Its name is that of the collection.
    pub(crate) name: &'static str,
    /// Columns that hold the id of another record.
    pub(crate) columns: Vec<Column>,
    /// The column of the container that a record is created under.
    pub(crate) parent: Option<usize>,
    /// The computed fields of the top level.
    pub(crate) computed: Vec<(&'static str, Source)>,
    /// The kind whose records this one counts, such as signatures for a petition.
    pub(crate) counts: Option<Kind>,
    pub(crate) sql: Statements,
}

/// A column that holds the id of another record.
#[derive(Debug)]
pub(crate) struct Column {
    /// Name of the column; a link's name where there is one.
    pub(crate) name: &'static str,
    /// The kind it leads to.
    pub(crate) kind: Kind,
    /// Whether it is sent as a link.
    pub(crate) is_link: bool,
    /// Whether the records are listed under what it leads to (COL-04 to COL-18).
    pub(crate) is_scope: bool,
}

impl Column {
    /// The column with the parent of the record it leads to, when that is part of its address (COL-19).
    pub(crate) fn home_column(&self) -> Option<&'static str> {
        let schema = self.kind.schema();
        schema.home.and(schema.parent).filter(|_| self.is_link)
    }
}

/// Where a computed field comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nothing is ever counted: the thing is outside of the interface.
    Zero,
    /// The relation of a person (UND-05, UND-06).
    Person,
    /// The number of members of the counted collection.
    Records,
    /// The attendances that count (RES-event-18).
    Accepted,
    /// The tickets sold (RES-event-19).
    Tickets,
    /// The sum of money (RES-event-20, RES-fundraising_page-10).
    Amount,
    /// When sending starts (RES-message-01).
    ScheduledStart,
    /// When sending stops (RES-message-02).
    ScheduledStop,
}

impl Source {
    /// Whether it comes from the row of totals.
    pub(crate) fn is_total(self) -> bool {
        matches!(self, Self::Records | Self::Accepted | Self::Tickets | Self::Amount)
    }
}

/// The table of a kind.
pub(crate) fn table(kind: Kind) -> &'static Table {
    macro_rules! one_of {
        (($kind:expr) $($name:ident)+) => {
            match $kind {
                $(Kind::$name => {
                    static TABLE: LazyLock<Table> = LazyLock::new(|| Table::of(Kind::$name));
                    &TABLE
                })+
            }
        };
    }
    each_kind!(one_of(kind))
}

impl Table {
    fn of(kind: Kind) -> Self {
        let schema = kind.schema();
        let columns = columns(schema);
        let parent = schema.parent.and_then(|parent| columns.iter().position(|column| column.name == parent));
        let counts = counted(kind);
        let computed = schema.fields.fields.iter().filter(|field| field.is_computed());
        let computed = computed.map(|field| (field.name, source(field.name))).collect();
        let mut table = Self {
            kind,
            code: code(kind),
            name: kind.plural(),
            columns,
            parent,
            computed,
            counts,
            sql: Statements::default(),
        };
        table.sql = Statements::of(&table);
        table
    }

    /// The column that the collection under a record of `parent` goes by; `None` when there is no such collection.
    pub(crate) fn scope(&self, parent: Kind) -> Option<usize> {
        self.columns.iter().position(|column| column.kind == parent && column.is_scope)
    }

    /// The place of a column.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Whether records have a name that no other of the tenant may have (UND-02, UND-03).
    pub(crate) fn has_unique_name(&self) -> bool {
        matches!(self.kind, Kind::Tag | Kind::List)
    }

    /// Whether a record ties a person to a tag or a list, once (UND-38).
    pub(crate) fn is_membership(&self) -> bool {
        matches!(self.kind, Kind::Tagging | Kind::Item)
    }

    /// Whether helper calls without a key may address its records (HLP-07).
    pub(crate) fn is_container(&self) -> bool {
        svc_core::helper::HelperName::ALL
            .iter()
            .any(|helper| helper.may_be_anonymous() && helper.container() == Some(self.kind))
    }

    /// A column that only this table has, with a value for look-ups: the name of tags and lists, the page's currency.
    pub(crate) fn typed_column(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Tag | Kind::List => Some("name"),
            Kind::FundraisingPage => Some("currency"),
            _ => None,
        }
    }
}

/// The number that stands for a kind in the file. Numbers are never given to another kind.
pub(crate) fn code(kind: Kind) -> i64 {
    match kind {
        Kind::Person => 1,
        Kind::Petition => 2,
        Kind::Event => 3,
        Kind::Form => 4,
        Kind::FundraisingPage => 5,
        Kind::Donation => 6,
        Kind::Tag => 7,
        Kind::List => 8,
        Kind::Query => 9,
        Kind::Question => 10,
        Kind::SharePage => 11,
        Kind::AdvocacyCampaign => 12,
        Kind::Message => 13,
        Kind::Signature => 14,
        Kind::Submission => 15,
        Kind::Attendance => 16,
        Kind::Outreach => 17,
        Kind::Answer => 18,
        Kind::Tagging => 19,
        Kind::Item => 20,
        Kind::Canvass => 21,
    }
}

/// Every link to one record, and behind them the records whose helper call made this one (UND-01).
fn columns(schema: &'static KindSchema) -> Vec<Column> {
    let scopes: Vec<Kind> = schema.scopes().collect();
    let links = schema.links.iter().filter_map(|link| match link.target {
        LinkTarget::One { kind, .. } => Some((link.name, kind)),
        _ => None,
    });
    let mut columns: Vec<Column> = links
        .map(|(name, kind)| {
            // A canvass is listed under its target, not under the canvasser.
            let names_scope = Some(name) == schema.parent || (name == kind.singular() && scopes.contains(&kind));
            Column { name, kind, is_link: true, is_scope: names_scope && scopes.contains(&kind) }
        })
        .collect();
    for kind in scopes {
        if !columns.iter().any(|column| column.kind == kind && column.is_scope) {
            columns.push(Column { name: kind.singular(), kind, is_link: false, is_scope: true });
        }
    }
    columns
}

/// The kind whose records are counted in those of `kind`.
fn counted(kind: Kind) -> Option<Kind> {
    Kind::ALL.iter().copied().find(|member| *member != Kind::Canvass && member.schema().parent_kind() == Some(kind))
}

fn source(field: &str) -> Source {
    match field {
        "total_shares" | "total_results" => Source::Zero,
        "item_type" => Source::Person,
        "scheduled_start_date" => Source::ScheduledStart,
        "scheduled_stop_date" => Source::ScheduledStop,
        "total_accepted" => Source::Accepted,
        "total_tickets" => Source::Tickets,
        "total_amount" => Source::Amount,
        _ => Source::Records,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rusqlite::Connection;

    use super::*;
    use crate::migrate::MIGRATIONS;

    fn file() -> Connection {
        let file = Connection::open_in_memory().unwrap();
        for migration in MIGRATIONS {
            file.execute_batch(migration.sql).unwrap();
        }
        file
    }

    #[test]
    fn every_kind_has_its_own_number() {
        let codes: BTreeSet<i64> = Kind::ALL.iter().map(|kind| code(*kind)).collect();
        assert_eq!(codes.len(), Kind::ALL.len());
        assert!(!codes.contains(&0), "0 stands for no container");
    }

    /// COL-04 to COL-18: each collection of the interface goes by one column.
    #[test]
    fn every_scope_has_its_column() {
        for kind in Kind::ALL {
            for parent in kind.schema().scopes() {
                assert!(table(*kind).scope(parent).is_some(), "{kind:?} under {parent:?}");
            }
        }
        let canvasses = table(Kind::Canvass);
        assert_eq!(canvasses.scope(Kind::Person), canvasses.column("target"));
        assert_eq!(table(Kind::Petition).scope(Kind::Person), None, "a creator is no container");
    }

    #[test]
    fn every_statement_fits_the_file_and_names_the_tenant() {
        let file = file();
        for kind in Kind::ALL {
            for text in table(*kind).sql.all() {
                assert!(text.contains("tenant"), "{text}");
                file.prepare(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            }
        }
    }

    /// Pages, point reads, look-ups and changes go by an index, never through a table or a sort.
    #[test]
    fn nothing_scans_or_sorts() {
        let file = file();
        for kind in Kind::ALL {
            for text in table(*kind).sql.all() {
                let mut plan = file.prepare(&format!("EXPLAIN QUERY PLAN {text}")).unwrap();
                let nothing = rusqlite::params_from_iter(vec![rusqlite::types::Null; plan.parameter_count()]);
                let steps = plan.query_map(nothing, |row| row.get(3)).unwrap();
                let steps: Vec<String> = steps.collect::<rusqlite::Result<_>>().unwrap();
                let steps = steps.join("; ");
                assert!(!steps.contains("SCAN") && !steps.contains("TEMP B-TREE"), "{text}\n{steps}");
            }
        }
    }
}
