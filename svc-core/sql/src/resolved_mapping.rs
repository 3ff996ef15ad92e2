//! A mapping that was found in the tables: everything that statements are written from.

use svc_core::{model::Kind, schema};

use super::dialect::{ColumnType, Dialect};

/// A mapping and what the tables say of it.
#[derive(Debug)]
pub(crate) struct ResolvedMapping {
    pub(crate) dialect: &'static dyn Dialect,
    /// The only tenant, where everything is one's.
    pub(crate) only: Option<String>,
    pub(crate) tables: Vec<ResolvedTable>,
}

/// A column, under its quoted name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResolvedColumn {
    pub(crate) name: String,
    /// The name without quotes.
    pub(crate) raw: String,
    pub(crate) sql_type: String,
    pub(crate) class: ColumnType,
    pub(crate) nullable: bool,
    pub(crate) has_default: bool,
    /// What a row has that says nothing, where that is always the same.
    pub(crate) default: Option<String>,
    /// The same as SQL, in a database that cannot be asked for it by `DEFAULT`.
    pub(crate) default_sql: Option<String>,
    pub(crate) longest: Option<u32>,
    /// The largest number that it holds.
    pub(crate) most: i64,
}

/// The table of a kind.
#[derive(Debug)]
pub(crate) struct ResolvedTable {
    pub(crate) kind: Kind,
    /// Its quoted name.
    pub(crate) name: String,
    pub(crate) whose: RowTenant,
    pub(crate) key: ResolvedColumn,
    pub(crate) order: ResolvedColumn,
    pub(crate) id: ResolvedColumn,
    pub(crate) created: ResolvedColumn,
    pub(crate) modified: ResolvedColumn,
    pub(crate) links: Vec<ResolvedLink>,
    /// What its records are made of, in the order in which it is sent.
    pub(crate) members: Vec<ResolvedField>,
    /// What new rows have besides.
    pub(crate) constants: Vec<(ResolvedColumn, String)>,
    pub(crate) once_per_person: bool,
    /// What fields are that nobody sends.
    pub(crate) defaults: Vec<(Vec<&'static str>, String)>,
}

/// Whose the rows of a table are.
#[derive(Debug)]
pub(crate) enum RowTenant {
    /// The only tenant's.
    Fixed,
    /// Theirs that a column names.
    Column {
        column: ResolvedColumn,
        /// Where the column refers to something else than the tenant's name: table, its key, and
        /// the name.
        via: Option<Box<TenantTable>>,
    },
    /// Whose the record is that the link at this place leads to.
    Container(usize),
}

/// The table of tenants.
#[derive(Debug)]
pub(crate) struct TenantTable {
    pub(crate) table: String,
    /// What other tables refer to.
    pub(crate) key: ResolvedColumn,
    /// What a tenant is called.
    pub(crate) name: ResolvedColumn,
}

/// A link to one record.
#[derive(Debug)]
pub(crate) struct ResolvedLink {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) column: ResolvedColumn,
}

/// A part of a record.
#[derive(Debug)]
pub(crate) struct ResolvedField {
    /// The places in the tables of the interface that lead to it.
    pub(crate) places: Vec<usize>,
    /// The fields that lead to it.
    pub(crate) path: Vec<&'static schema::FieldSpec>,
    pub(crate) stored: FieldStorage,
}

/// Where a part of a record is.
#[derive(Debug)]
pub(crate) enum FieldStorage {
    /// In a column; with the values of the interface and those of the column, where they are
    /// listed.
    Column {
        column: ResolvedColumn,
        values: Vec<(String, String)>,
    },
    /// In the rows of another table.
    Rows {
        table: String,
        parent: ResolvedColumn,
        order: ResolvedColumn,
        members: Vec<ResolvedField>,
    },
}

impl ResolvedField {
    /// The field itself.
    pub(crate) fn field(&self) -> Option<&'static schema::FieldSpec> {
        self.path.last().copied()
    }

    /// Whether it is the field of this name at the top.
    pub(crate) fn is(&self, name: &str) -> bool {
        matches!(self.path.as_slice(), [field] if field.name == name)
    }
}

impl ResolvedMapping {
    pub(crate) fn of(&self, kind: Kind) -> Option<&ResolvedTable> {
        self.tables.iter().find(|table| table.kind == kind)
    }
}

impl ResolvedMapping {
    /// Whether a tenant is called by a number.
    pub(crate) fn numbers_tenants(&self) -> bool {
        self.tables.iter().any(|table| match &table.whose {
            RowTenant::Column { column, via } => {
                let name = via.as_ref().map_or(column, |via| &via.name);
                matches!(name.class, ColumnType::Integer(_))
            }
            RowTenant::Fixed | RowTenant::Container(_) => false,
        })
    }

    /// The kinds of which a container has one record for each person.
    pub(crate) fn one_per_person(&self) -> Vec<Kind> {
        self.tables
            .iter()
            .filter(|table| table.once_per_person)
            .map(|table| table.kind)
            .collect()
    }
}

impl ResolvedTable {
    pub(crate) fn link(&self, name: &str) -> Option<&ResolvedLink> {
        self.links.iter().find(|link| link.name == name)
    }

    pub(crate) fn member(&self, name: &str) -> Option<&ResolvedField> {
        self.members.iter().find(|member| member.is(name))
    }

    /// The link to what a record is created under.
    pub(crate) fn container(&self) -> Option<&ResolvedLink> {
        self.link(self.kind.schema().parent?)
    }

    /// The link by which it is listed under records of another kind.
    pub(crate) fn scope(&self, of: Kind) -> Option<&ResolvedLink> {
        let references = self.kind.schema().references().iter();
        let mut names = references
            .filter(|it| it.is_scope && it.kind == of)
            .map(|it| it.name);
        names.find_map(|name| self.link(name))
    }

    /// The rows and the column in which the e-mail addresses of people are.
    pub(crate) fn emails(&self) -> Option<(&str, &ResolvedColumn, &ResolvedColumn)> {
        match &self.member("email_addresses")?.stored {
            FieldStorage::Rows {
                table,
                parent,
                members,
                ..
            } => match &members.iter().find(|member| member.is("address"))?.stored {
                FieldStorage::Column { column, .. } => Some((table, parent, column)),
                FieldStorage::Rows { .. } => None,
            },
            FieldStorage::Column { .. } => None,
        }
    }

    /// The column of a field at the top, and its listed values.
    pub(crate) fn column(&self, field: &str) -> Option<(&ResolvedColumn, &[(String, String)])> {
        match &self.member(field)?.stored {
            FieldStorage::Column { column, values } => Some((column, values)),
            FieldStorage::Rows { .. } => None,
        }
    }
}
