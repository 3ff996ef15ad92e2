//! A resolved mapping, from which all statements are built.

use svc_core::{model::Kind, schema};

use super::dialect::{ColumnType, SqlDialect};

/// A mapping together with the properties of the tables.
#[derive(Debug)]
pub(crate) struct ResolvedMapping {
    pub(crate) dialect: &'static dyn SqlDialect,
    /// The tenant, if all records belong to one.
    pub(crate) only: Option<String>,
    pub(crate) tables: Vec<ResolvedTable>,
    /// The columns outside of the mapped links that a merge of two people changes.
    pub(crate) moved: Vec<MovedColumn>,
    /// Why people cannot be merged: one sentence for each reason.
    pub(crate) merge_problems: Vec<String>,
}

/// A column that refers to people and is not a mapped link.
#[derive(Debug)]
pub(crate) struct MovedColumn {
    /// The quoted name of the table.
    pub(crate) table: String,
    /// The quoted name of the column.
    pub(crate) name: String,
    /// The quoted name of the column of the table of people that it refers to.
    pub(crate) target: String,
}

/// A column under its quoted name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResolvedColumn {
    pub(crate) name: String,
    /// The name without quotes.
    pub(crate) raw: String,
    pub(crate) sql_type: String,
    pub(crate) class: ColumnType,
    pub(crate) nullable: bool,
    pub(crate) has_default: bool,
    /// The default of the column, if it is constant.
    pub(crate) default: Option<String>,
    /// The same as SQL, for a database without `DEFAULT` as a value.
    pub(crate) default_sql: Option<String>,
    pub(crate) longest: Option<u32>,
    /// The maximum of an integer column.
    pub(crate) most: i64,
}

/// The table of a kind.
#[derive(Debug)]
pub(crate) struct ResolvedTable {
    pub(crate) kind: Kind,
    /// The quoted name.
    pub(crate) name: String,
    pub(crate) whose: RowTenant,
    pub(crate) key: ResolvedColumn,
    pub(crate) order: ResolvedColumn,
    pub(crate) id: ResolvedColumn,
    pub(crate) created: ResolvedColumn,
    pub(crate) modified: ResolvedColumn,
    pub(crate) links: Vec<ResolvedLink>,
    /// The members of the records, in the order of responses.
    pub(crate) members: Vec<ResolvedField>,
    /// Constant columns of new rows.
    pub(crate) constants: Vec<(ResolvedColumn, String)>,
    pub(crate) once_per_person: bool,
    /// The defaults of fields.
    pub(crate) defaults: Vec<(Vec<&'static str>, String)>,
}

/// The tenant of the rows of a table.
#[derive(Debug)]
pub(crate) enum RowTenant {
    /// The only tenant.
    Fixed,
    /// A column contains the tenant.
    Column {
        column: ResolvedColumn,
        /// The table of tenants, if the column refers to a column other than the tenant's name.
        via: Option<Box<TenantTable>>,
    },
    /// The tenant of the target of the link at this position.
    Container(usize),
}

/// The table of tenants.
#[derive(Debug)]
pub(crate) struct TenantTable {
    pub(crate) table: String,
    /// The column that other tables refer to.
    pub(crate) key: ResolvedColumn,
    /// The column with the name of the tenant.
    pub(crate) name: ResolvedColumn,
}

/// A link to one record.
#[derive(Debug)]
pub(crate) struct ResolvedLink {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) column: ResolvedColumn,
}

/// A member of a record.
#[derive(Debug)]
pub(crate) struct ResolvedField {
    /// The positions of the member in the schema.
    pub(crate) places: Vec<usize>,
    /// The fields on the path to the member.
    pub(crate) path: Vec<&'static schema::FieldSpec>,
    pub(crate) stored: FieldStorage,
}

/// Where a member is stored.
#[derive(Debug)]
pub(crate) enum FieldStorage {
    /// In a column. `values` are pairs of a value in the API and its value in the column, if they
    /// are mapped.
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
    /// Returns the field of the member.
    pub(crate) fn field(&self) -> Option<&'static schema::FieldSpec> {
        self.path.last().copied()
    }

    /// Returns whether this is the top-level field with this name.
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
    /// Returns whether tenants are identified by a number.
    pub(crate) fn numbers_tenants(&self) -> bool {
        self.tables.iter().any(|table| match &table.whose {
            RowTenant::Column { column, via } => {
                let name = via.as_ref().map_or(column, |via| &via.name);
                matches!(name.class, ColumnType::Integer(_))
            }
            RowTenant::Fixed | RowTenant::Container(_) => false,
        })
    }

    /// Returns the kinds of which a container has one record for each person.
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

    /// Returns the link to the container of a record.
    pub(crate) fn container(&self) -> Option<&ResolvedLink> {
        self.link(self.kind.schema().parent?)
    }

    /// Returns the link by which a record is listed under records of another kind.
    pub(crate) fn scope(&self, of: Kind) -> Option<&ResolvedLink> {
        let references = self.kind.schema().references().iter();
        let mut names = references
            .filter(|it| it.is_scope && it.kind == of)
            .map(|it| it.name);
        names.find_map(|name| self.link(name))
    }

    /// Returns the table and columns with the e-mail addresses of people.
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

    /// Returns the column of a top-level field, and its mapped values.
    pub(crate) fn column(&self, field: &str) -> Option<(&ResolvedColumn, &[(String, String)])> {
        match &self.member(field)?.stored {
            FieldStorage::Column { column, values } => Some((column, values)),
            FieldStorage::Rows { .. } => None,
        }
    }
}
