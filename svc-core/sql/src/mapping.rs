//! A vendor's tables as data.

use svc_core::model::Kind;

/// Which of a vendor's tables are what of the interface.
///
/// ```
/// use svc_sql::{Mapping, ListMapping, TableMapping, TenantMapping};
/// use svc_core::model::Kind;
///
/// let mapping = Mapping::new(TenantMapping::numbered("orgs"))
///     .table(
///         TableMapping::new(Kind::Person, "contacts")
///             .tenant("org_id")
///             .id("public_id")
///             .dates("created_at", "updated_at")
///             .field("given_name", "first_name")
///             .field("family_name", "last_name")
///             .list("email_addresses", ListMapping::new("contact_emails", "contact_id").field("address", "address")),
///     )
///     .table(
///         TableMapping::new(Kind::Tag, "groups")
///             .tenant("org_id")
///             .id("public_id")
///             .dates("created_at", "updated_at")
///             .field("name", "name"),
///     );
/// ```
#[derive(Debug, Clone)]
pub struct Mapping {
    pub(super) tenants: TenantMapping,
    pub(super) tables: Vec<TableMapping>,
}

impl Mapping {
    /// A mapping without tables.
    #[must_use]
    pub fn new(tenants: TenantMapping) -> Self {
        Self {
            tenants,
            tables: Vec::new(),
        }
    }

    /// Adds the table of a kind.
    #[must_use]
    pub fn table(mut self, table: TableMapping) -> Self {
        self.tables.push(table);
        self
    }
}

/// Whose a record is.
///
/// Requirements: COL-02.
#[derive(Debug, Clone)]
pub struct TenantMapping(pub(super) TenantSource);

#[derive(Debug, Clone)]
pub(super) enum TenantSource {
    /// Everything belongs to one tenant.
    One(String),
    /// A table of tenants: its name, what the tables of records refer to, and what a tenant is
    /// called.
    Table {
        table: String,
        key: String,
        name: String,
    },
}

impl TenantMapping {
    /// Everything in the tables belongs to this tenant; others see nothing.
    pub fn one(name: impl Into<String>) -> Self {
        Self(TenantSource::One(name.into()))
    }

    /// Each tenant is a row of a table, and called by its number in the column `id`, as
    /// `Tenant::from(7)` is.
    pub fn numbered(table: impl Into<String>) -> Self {
        Self::named(table, "id", "id")
    }

    /// Each tenant is a row of a table: other tables refer to its column `key`, and it is called by
    /// its column `name`, such as a slug.
    pub fn named(
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

/// One table: its rows are the records of a kind. Columns that are not named here are left as they
/// are.
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
    /// Its path in the interface: names with dots.
    pub(super) path: String,
    pub(super) column: String,
    /// Values of the interface and those of the column.
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
    /// The table of a kind: `contacts`, or with its schema `crm.contacts`. Unless told otherwise
    /// its ids are in the column `id`, its dates in `created_at` and `updated_at`.
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

    /// The column that says whose a record is. Without one it is whose the container is.
    #[must_use]
    pub fn tenant(mut self, column: impl Into<String>) -> Self {
        self.tenant = Some(column.into());
        self
    }

    /// The column with the ids that clients see: a `uuid` or a text, different in every row.
    ///
    /// Requirements: UND-41.
    #[must_use]
    pub fn id(mut self, column: impl Into<String>) -> Self {
        self.id = column.into();
        self
    }

    /// The column that other tables refer to; by default the primary key.
    #[must_use]
    pub fn key(mut self, column: impl Into<String>) -> Self {
        self.key = Some(column.into());
        self
    }

    /// A column of whole numbers that rise from record to record; by default the primary key.
    ///
    /// Requirements: UND-20.
    #[must_use]
    pub fn order(mut self, column: impl Into<String>) -> Self {
        self.order = Some(column.into());
        self
    }

    /// The columns that say when a record was created and changed; one column for both is possible.
    ///
    /// Requirements: TYP-15, TYP-16.
    #[must_use]
    pub fn dates(mut self, created: impl Into<String>, modified: impl Into<String>) -> Self {
        (self.created, self.modified) = (created.into(), modified.into());
        self
    }

    /// A field and its column. Members of an object have names with dots: `location.venue`. A
    /// column of type `json` or `jsonb` (`SQLite`: a text column named so) may hold any field.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>, column: impl Into<String>) -> Self {
        self.fields.push(FieldMapping::new(field, column));
        self
    }

    /// A field with listed values: each with what the column has for it. Others are not taken.
    #[must_use]
    pub fn values<const N: usize>(
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

    /// A field that is a list, in the rows of a table of its own.
    #[must_use]
    pub fn list(mut self, field: impl Into<String>, rows: ListMapping) -> Self {
        self.lists.push((field.into(), rows));
        self
    }

    /// A link to one record: the column that refers to the other table's key.
    #[must_use]
    pub fn link(mut self, link: impl Into<String>, column: impl Into<String>) -> Self {
        self.links.push((link.into(), column.into()));
        self
    }

    /// What a column of a new record is set to besides, as text.
    #[must_use]
    pub fn new_rows_have(mut self, column: impl Into<String>, value: impl Into<String>) -> Self {
        self.constants.push((column.into(), value.into()));
        self
    }

    /// What a field is where a create leaves it out, and where a change empties it, if the column
    /// has no default of its own: a value of the interface.
    ///
    /// Requirements: CAP-08.
    #[must_use]
    pub fn otherwise(mut self, field: impl Into<String>, value: impl Into<String>) -> Self {
        self.defaults.push((field.into(), value.into()));
        self
    }

    /// The table has one record for each person in a container: a second call changes the one that
    /// is there.
    #[must_use]
    pub fn once_per_person(mut self) -> Self {
        self.once_per_person = true;
        self
    }
}

/// The rows of a table that are the list of a record, such as its e-mail addresses: in the order of
/// its primary key.
#[derive(Debug, Clone)]
pub struct ListMapping {
    pub(super) table: String,
    pub(super) parent: String,
    pub(super) order: Option<String>,
    pub(super) fields: Vec<FieldMapping>,
}

impl ListMapping {
    /// The rows of `table` whose column `parent` refers to the record.
    pub fn new(table: impl Into<String>, parent: impl Into<String>) -> Self {
        Self {
            table: table.into(),
            parent: parent.into(),
            order: None,
            fields: Vec::new(),
        }
    }

    /// The column that orders and names the rows; by default the primary key.
    #[must_use]
    pub fn order(mut self, column: impl Into<String>) -> Self {
        self.order = Some(column.into());
        self
    }

    /// A member of an entry, and its column.
    #[must_use]
    pub fn field(mut self, member: impl Into<String>, column: impl Into<String>) -> Self {
        self.fields.push(FieldMapping::new(member, column));
        self
    }

    /// A member with listed values: each with what the column has for it. Others are not taken.
    #[must_use]
    pub fn values<const N: usize>(
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
