//! The mapping of a vendor's tables, as data.

use svc_core::model::Kind;

/// Maps the tables of a vendor to kinds.
///
/// ```
/// use svc_sql::{Mapping, ListMapping, TableMapping, TenantMapping};
/// use svc_core::model::Kind;
///
/// let mapping = Mapping::new(TenantMapping::by_number("orgs"))
///     .table(
///         TableMapping::new(Kind::Person, "contacts")
///             .tenant("org_id")
///             .id("public_id")
///             .date_columns("created_at", "updated_at")
///             .field("given_name", "first_name")
///             .field("family_name", "last_name")
///             .list("email_addresses", ListMapping::new("contact_emails", "contact_id").field("address", "address")),
///     )
///     .table(
///         TableMapping::new(Kind::Tag, "groups")
///             .tenant("org_id")
///             .id("public_id")
///             .date_columns("created_at", "updated_at")
///             .field("name", "name"),
///     );
/// ```
#[derive(Debug, Clone)]
pub struct Mapping {
    pub(super) tenants: TenantMapping,
    pub(super) tables: Vec<TableMapping>,
    /// The columns that a merge of two people changes in addition, each with its table.
    pub(super) moved: Vec<(String, String)>,
    /// The tables that a merge of two people does not change.
    pub(super) ignored: Vec<String>,
}

impl Mapping {
    /// Creates a mapping without tables.
    #[must_use]
    pub fn new(tenants: TenantMapping) -> Self {
        Self {
            tenants,
            tables: Vec::new(),
            moved: Vec::new(),
            ignored: Vec::new(),
        }
    }

    /// Adds the table of a kind.
    #[must_use]
    pub fn table(mut self, table: TableMapping) -> Self {
        self.tables.push(table);
        self
    }

    /// Declares a column that refers to people and is not mapped. A merge of two people changes it
    /// from the merged person to the remaining one, in the transaction of the merge.
    ///
    /// Merges are only offered if the mapping declares what happens to every foreign key to the table
    /// of people: see [`MappedStore`](crate::MappedStore#merges-of-people). References without a
    /// foreign key cannot be found, so declare them also.
    ///
    /// Requirements: MRG-06.
    #[must_use]
    pub fn move_in_merges(mut self, table: impl Into<String>, column: impl Into<String>) -> Self {
        self.moved.push((table.into(), column.into()));
        self
    }

    /// Declares that a merge of two people does not change a table, except its mapped links. The
    /// foreign keys of the table decide what happens to the rows that refer to the merged person,
    /// which is deleted: `ON DELETE CASCADE` deletes them, and `ON DELETE SET NULL` clears the reference. Without
    /// an action, the foreign key rejects the merge.
    ///
    /// Requirements: MRG-06.
    #[must_use]
    pub fn ignore_in_merges(mut self, table: impl Into<String>) -> Self {
        self.ignored.push(table.into());
        self
    }
}

/// Defines the tenant of each record.
///
/// Requirements: COL-02.
#[derive(Debug, Clone)]
pub struct TenantMapping(pub(super) TenantSource);

#[derive(Debug, Clone)]
pub(super) enum TenantSource {
    /// All records belong to one tenant.
    One(String),
    /// A table of tenants: its name, the column that other tables refer to, and the column with the
    /// name of the tenant.
    Table {
        table: String,
        key: String,
        name: String,
    },
}

impl TenantMapping {
    /// Creates a mapping in which all records belong to this tenant. Other tenants have no records.
    pub fn single(name: impl Into<String>) -> Self {
        Self(TenantSource::One(name.into()))
    }

    /// Creates a mapping in which each tenant is a row of a table. Its name is the number in the
    /// column `id`, like `Tenant::from(7)`.
    pub fn by_number(table: impl Into<String>) -> Self {
        Self::by_name(table, "id", "id")
    }

    /// Creates a mapping in which each tenant is a row of a table. Other tables refer to the column
    /// `key`. The column `name` contains the name of the tenant, such as a slug.
    pub fn by_name(
        table: impl Into<String>,
        key: impl Into<String>,
        name: impl Into<String>,
    ) -> Self {
        Self(TenantSource::Table {
            table: table.into(),
            key: key.into(),
            name: name.into(),
        })
    }
}

/// A table whose rows are the records of a kind. Columns that are not named here are not changed.
#[derive(Debug, Clone)]
pub struct TableMapping {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) tenant: Option<String>,
    pub(super) key: Option<String>,
    pub(super) order: Option<String>,
    pub(super) id: String,
    pub(super) created: String,
    pub(super) modified: String,
    pub(super) fields: Vec<FieldMapping>,
    pub(super) lists: Vec<(String, ListMapping)>,
    pub(super) links: Vec<(String, String)>,
    pub(super) constants: Vec<(String, String)>,
    pub(super) once_per_person: bool,
    pub(super) defaults: Vec<(String, String)>,
}

/// A field in a column.
#[derive(Debug, Clone)]
pub(super) struct FieldMapping {
    /// The path of the field in the API: names separated by dots.
    pub(super) path: String,
    pub(super) column: String,
    /// Pairs of a value in the API and its value in the column.
    pub(super) values: Vec<(String, String)>,
}

impl FieldMapping {
    fn new(path: impl Into<String>, column: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            column: column.into(),
            values: Vec::new(),
        }
    }
}

impl TableMapping {
    /// Creates the mapping of a kind to a table: `contacts`, or with a schema `crm.contacts`. By
    /// default, the ids are in the column `id`, and the dates are in `created_at` and `updated_at`.
    pub fn new(kind: Kind, name: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            tenant: None,
            key: None,
            order: None,
            id: "id".to_owned(),
            created: "created_at".to_owned(),
            modified: "updated_at".to_owned(),
            fields: Vec::new(),
            lists: Vec::new(),
            links: Vec::new(),
            constants: Vec::new(),
            once_per_person: false,
            defaults: Vec::new(),
        }
    }

    /// Sets the column with the tenant of a record. Without it, a record has the tenant of its
    /// container.
    #[must_use]
    pub fn tenant(mut self, column: impl Into<String>) -> Self {
        self.tenant = Some(column.into());
        self
    }

    /// Sets the column with the ids that clients see. It must be a unique `uuid` or text column.
    ///
    /// Requirements: UND-41.
    #[must_use]
    pub fn id(mut self, column: impl Into<String>) -> Self {
        self.id = column.into();
        self
    }

    /// Sets the column that other tables refer to. The default is the primary key.
    #[must_use]
    pub fn key(mut self, column: impl Into<String>) -> Self {
        self.key = Some(column.into());
        self
    }

    /// Sets an integer column whose values increase with each new record. The default is the
    /// primary key.
    ///
    /// Requirements: UND-20.
    #[must_use]
    pub fn order_column(mut self, column: impl Into<String>) -> Self {
        self.order = Some(column.into());
        self
    }

    /// Sets the columns with the creation and modification dates. Both can be the same column.
    ///
    /// Requirements: TYP-15, TYP-16.
    #[must_use]
    pub fn date_columns(mut self, created: impl Into<String>, modified: impl Into<String>) -> Self {
        (self.created, self.modified) = (created.into(), modified.into());
        self
    }

    /// Maps a field to a column. Members of an object have names with dots: `location.venue`. A
    /// column of type `json` or `jsonb` (in `SQLite` a text column with this type name) can contain
    /// any field.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>, column: impl Into<String>) -> Self {
        self.fields.push(FieldMapping::new(field, column));
        self
    }

    /// Maps a field with a list of values to a column: each API value with its column value. Other
    /// values are rejected.
    #[must_use]
    pub fn field_with_values<const N: usize>(
        mut self,
        field: impl Into<String>,
        column: impl Into<String>,
        values: [(&str, &str); N],
    ) -> Self {
        let values = values
            .map(|(value, stored)| (value.to_owned(), stored.to_owned()))
            .into();
        self.fields.push(FieldMapping {
            values,
            ..FieldMapping::new(field, column)
        });
        self
    }

    /// Maps a field that is a list to the rows of another table.
    #[must_use]
    pub fn list(mut self, field: impl Into<String>, rows: ListMapping) -> Self {
        self.lists.push((field.into(), rows));
        self
    }

    /// Maps a link to the column that refers to the key of the other table.
    #[must_use]
    pub fn link(mut self, link: impl Into<String>, column: impl Into<String>) -> Self {
        self.links.push((link.into(), column.into()));
        self
    }

    /// Sets a column of each new row to a constant, given as text.
    #[must_use]
    pub fn insert_constant(mut self, column: impl Into<String>, value: impl Into<String>) -> Self {
        self.constants.push((column.into(), value.into()));
        self
    }

    /// Sets the default of a field whose column has no default of its own. It applies if a create
    /// omits the field, and if a change clears it. `value` is a value of the API.
    ///
    /// Requirements: CAP-08.
    #[must_use]
    pub fn default_value(mut self, field: impl Into<String>, value: impl Into<String>) -> Self {
        self.defaults.push((field.into(), value.into()));
        self
    }

    /// Declares that a container has one record of the table for each person. A second request
    /// changes the existing record.
    #[must_use]
    pub fn one_per_person(mut self) -> Self {
        self.once_per_person = true;
        self
    }
}

/// A table whose rows are a list of a record, such as its e-mail addresses. The default order is
/// that of the primary key.
#[derive(Debug, Clone)]
pub struct ListMapping {
    pub(super) table: String,
    pub(super) parent: String,
    pub(super) order: Option<String>,
    pub(super) fields: Vec<FieldMapping>,
}

impl ListMapping {
    /// Creates the mapping of a list to the rows of `table` whose column `parent` refers to the
    /// record.
    pub fn new(table: impl Into<String>, parent: impl Into<String>) -> Self {
        Self {
            table: table.into(),
            parent: parent.into(),
            order: None,
            fields: Vec::new(),
        }
    }

    /// Sets the column that orders and identifies the rows. The default is the primary key.
    #[must_use]
    pub fn order_column(mut self, column: impl Into<String>) -> Self {
        self.order = Some(column.into());
        self
    }

    /// Maps a member of an entry to a column.
    #[must_use]
    pub fn field(mut self, member: impl Into<String>, column: impl Into<String>) -> Self {
        self.fields.push(FieldMapping::new(member, column));
        self
    }

    /// Maps a member with a list of values to a column: each API value with its column value. Other
    /// values are rejected.
    #[must_use]
    pub fn field_with_values<const N: usize>(
        mut self,
        member: impl Into<String>,
        column: impl Into<String>,
        values: [(&str, &str); N],
    ) -> Self {
        let values = values
            .map(|(value, stored)| (value.to_owned(), stored.to_owned()))
            .into();
        self.fields.push(FieldMapping {
            values,
            ..FieldMapping::new(member, column)
        });
        self
    }
}
