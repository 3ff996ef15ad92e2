//! A resolved mapping, from which all statements are built.

use svc_core::{
    model::Kind,
    schema::{self, ValueType},
};

use super::{
    column::Conversion,
    dialect::{ColumnType, SqlDialect},
};

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
    /// Whether the database computes the value from other columns.
    pub(crate) is_generated: bool,
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
    pub(crate) deleted: Option<ResolvedDeletion>,
    /// Whether helpers restore deleted records.
    pub(crate) is_restored: bool,
    /// The column of new rows with the title and the id.
    pub(crate) slug: Option<ResolvedColumn>,
}

/// How rows are marked as deleted.
#[derive(Debug)]
pub(crate) struct ResolvedDeletion {
    pub(crate) column: ResolvedColumn,
    /// The value of deleted rows; `None` for the date of deletion.
    pub(crate) value: Option<String>,
    /// The value of a row that is restored; `None` for NULL.
    pub(crate) restored: Option<String>,
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
    /// The column of the other table that it refers to.
    pub(crate) target: ResolvedColumn,
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
    /// In a column.
    Column(StoredColumn),
    /// In the rows of another table.
    Rows {
        table: String,
        parent: ResolvedColumn,
        order: ResolvedColumn,
        members: Vec<ResolvedField>,
    },
    /// In columns of the same row: the members of each entry. Each of them is a column or a constant.
    Entries(Vec<Vec<ResolvedField>>),
    /// Nowhere: it has the same value in each entry.
    Constant(String),
}

/// A column, and how it stores the values of a member.
#[derive(Debug)]
pub(crate) struct StoredColumn {
    pub(crate) column: ResolvedColumn,
    pub(crate) conversion: Conversion,
}

impl ResolvedField {
    /// Returns the field of the member.
    pub(crate) fn field(&self) -> Option<&'static schema::FieldSpec> {
        self.path.last().copied()
    }

    /// Returns the columns of the row itself.
    pub(crate) fn columns(&self) -> Box<dyn Iterator<Item = &StoredColumn> + '_> {
        match &self.stored {
            FieldStorage::Column(column) => Box::new(std::iter::once(column)),
            FieldStorage::Entries(entries) => {
                Box::new(entries.iter().flatten().flat_map(Self::columns))
            }
            FieldStorage::Rows { .. } | FieldStorage::Constant(_) => Box::new(std::iter::empty()),
        }
    }

    /// Returns whether a row has an entry of a list if this member of it has a value. A flag, and a
    /// column with a list of values, can have one without an entry.
    pub(crate) fn shows_entry(&self) -> bool {
        let is_flag = self
            .field()
            .is_some_and(|field| matches!(field.ty, ValueType::Boolean | ValueType::Flag));
        match &self.stored {
            FieldStorage::Column(stored) => !is_flag && stored.conversion.values().is_empty(),
            _ => false,
        }
    }

    /// Returns the number of columns with which a statement selects the member.
    pub(crate) fn width(&self) -> usize {
        match &self.stored {
            FieldStorage::Column(_) | FieldStorage::Rows { .. } => 1,
            FieldStorage::Entries(entries) => entries.iter().flatten().map(Self::width).sum(),
            FieldStorage::Constant(_) => 0,
        }
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
    /// Returns whether the database numbers the records.
    pub(crate) fn has_numbers(&self) -> bool {
        matches!(self.id.class, ColumnType::Integer(_))
    }

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

    /// Returns where the e-mail addresses of people are.
    pub(crate) fn emails(&self) -> Option<EmailColumns<'_>> {
        match &self.member("email_addresses")?.stored {
            FieldStorage::Rows {
                table,
                parent,
                members,
                ..
            } => Some(EmailColumns::Rows {
                table,
                parent,
                column: address_column(members)?,
            }),
            FieldStorage::Entries(entries) => {
                let columns = entries.iter().filter_map(|members| address_column(members));
                let columns: Vec<&ResolvedColumn> = columns.collect();
                (!columns.is_empty()).then_some(EmailColumns::Own(columns))
            }
            FieldStorage::Column(_) | FieldStorage::Constant(_) => None,
        }
    }

    /// Returns the column of a top-level field.
    pub(crate) fn column(&self, field: &str) -> Option<&StoredColumn> {
        match &self.member(field)?.stored {
            FieldStorage::Column(column) => Some(column),
            _ => None,
        }
    }
}

/// Where the e-mail addresses of people are.
pub(crate) enum EmailColumns<'t> {
    /// In the rows of another table.
    Rows {
        table: &'t str,
        parent: &'t ResolvedColumn,
        column: &'t ResolvedColumn,
    },
    /// In columns of the table of people.
    Own(Vec<&'t ResolvedColumn>),
}

/// Returns the column with the address of an entry.
fn address_column(members: &[ResolvedField]) -> Option<&ResolvedColumn> {
    let member = members.iter().find(|member| member.is("address"))?;
    member.columns().next().map(|stored| &stored.column)
}
