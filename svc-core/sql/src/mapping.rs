//! The mapping of a vendor's tables, as data.

use svc_core::model::Kind;

use super::column::{Column, Conversion};

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
    pub(super) entries: Vec<(String, Vec<EntryMapping>)>,
    pub(super) links: Vec<LinkMapping>,
    pub(super) constants: Vec<(String, String)>,
    pub(super) once_per_person: bool,
    pub(super) defaults: Vec<(String, String)>,
    pub(super) deleted: Option<DeletionMark>,
    pub(super) is_restored: bool,
    pub(super) is_view: bool,
    pub(super) slug: Option<String>,
}

/// A link in a column.
#[derive(Debug, Clone)]
pub(super) struct LinkMapping {
    pub(super) name: String,
    pub(super) column: String,
    /// The column of the other table, if it is not its key.
    pub(super) target: Option<String>,
}

/// A field in a column.
#[derive(Debug, Clone)]
pub(super) struct FieldMapping {
    /// The path of the field in the API: names separated by dots.
    pub(super) path: String,
    pub(super) column: String,
    pub(super) conversion: Conversion,
}

impl FieldMapping {
    fn new(path: impl Into<String>, column: impl Into<Column>) -> Self {
        let Column { name, conversion } = column.into();
        Self {
            path: path.into(),
            column: name,
            conversion,
        }
    }
}

/// Which rows of a table are deleted, although they are still there.
#[derive(Debug, Clone)]
pub(super) enum DeletionMark {
    /// Those with a date in this column.
    Date(String),
    /// Those with this value in the column.
    Value(String, String),
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
            entries: Vec::new(),
            links: Vec::new(),
            constants: Vec::new(),
            once_per_person: false,
            defaults: Vec::new(),
            deleted: None,
            is_restored: false,
            is_view: false,
            slug: None,
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

    /// Maps a field to a column: its name, or a [`Column`] that stores the values in another way.
    /// Members of an object have names with dots: `location.venue`. A column of type `json` or
    /// `jsonb` (in `SQLite` a text column with this type name) can contain any field.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>, column: impl Into<Column>) -> Self {
        self.fields.push(FieldMapping::new(field, column));
        self
    }

    /// Maps a field that is a list to the rows of another table.
    #[must_use]
    pub fn list(mut self, field: impl Into<String>, rows: ListMapping) -> Self {
        self.lists.push((field.into(), rows));
        self
    }

    /// Maps a field that is a list to columns of the same row: one [`EntryMapping`] for each entry, in the
    /// order of the list. The list then has at most as many entries.
    ///
    /// ```
    /// use svc_sql::{Column, EntryMapping, TableMapping};
    /// use svc_core::model::Kind;
    ///
    /// let number = |column| EntryMapping::new().field("number", Column::new(column).phone("US"));
    /// TableMapping::new(Kind::Person, "supporters")
    ///     .entries("email_addresses", [
    ///         EntryMapping::new().field("address", "email").constant("primary", "true"),
    ///         EntryMapping::new().field("address", "email2"),
    ///     ])
    ///     .entries("phone_numbers", [
    ///         number("phone_mobile").constant("number_type", "Mobile"),
    ///         number("phone_home").constant("number_type", "Home"),
    ///     ]);
    /// ```
    #[must_use]
    pub fn entries<const N: usize>(
        mut self,
        field: impl Into<String>,
        entries: [EntryMapping; N],
    ) -> Self {
        self.entries.push((field.into(), entries.into()));
        self
    }

    /// Maps a link to the column that refers to the key of the other table.
    #[must_use]
    pub fn link(mut self, link: impl Into<String>, column: impl Into<String>) -> Self {
        self.links.push(LinkMapping {
            name: link.into(),
            column: column.into(),
            target: None,
        });
        self
    }

    /// Maps a link to the column that refers to another column than the key of the other table, such as
    /// a slug. That column must be unique, within a tenant if both tables have a column with the tenant.
    #[must_use]
    pub fn link_by(
        mut self,
        link: impl Into<String>,
        column: impl Into<String>,
        target: impl Into<String>,
    ) -> Self {
        self.links.push(LinkMapping {
            name: link.into(),
            column: column.into(),
            target: Some(target.into()),
        });
        self
    }

    /// Sets the column with the date of deletion. A row with a date is not a record. A deletion sets the
    /// date, and the row remains with its list entries.
    #[must_use]
    pub fn deleted_at(mut self, column: impl Into<String>) -> Self {
        self.deleted = Some(DeletionMark::Date(column.into()));
        self
    }

    /// Sets a column and its value, given as text, in rows that are deleted, such as `active` and `false`.
    /// Such a row is not a record. A deletion sets the value, and the row remains with its list entries.
    #[must_use]
    pub fn deleted_if(mut self, column: impl Into<String>, value: impl Into<String>) -> Self {
        self.deleted = Some(DeletionMark::Value(column.into(), value.into()));
        self
    }

    /// Declares that a deleted person is restored if a helper request contains one of their e-mail
    /// addresses, and no other person matches. The oldest of several deleted people is restored. The key
    /// of the request must be allowed to change people. Without this declaration, the request creates a
    /// new row.
    ///
    /// Requirements: HLP-04.
    #[must_use]
    pub fn restored_by_helpers(mut self) -> Self {
        self.is_restored = true;
        self
    }

    /// Declares that this is a view. Its [key](Self::key) and [order](Self::order_column) must be given,
    /// and the database does not report whether they are unique, which columns can be NULL, and whether lookups
    /// have an index. To change records, the view must be updatable, or have triggers.
    #[must_use]
    pub fn view(mut self) -> Self {
        self.is_view = true;
        self
    }

    /// Sets a column of each new row to a constant, given as text.
    #[must_use]
    pub fn insert_constant(mut self, column: impl Into<String>, value: impl Into<String>) -> Self {
        self.constants.push((column.into(), value.into()));
        self
    }

    /// Sets a column that each new row needs for its address in the program, such as `slug`. It gets the
    /// title or name of the record and its id, in lower case with hyphens: `clean-air-17`.
    #[must_use]
    pub fn slug(mut self, column: impl Into<String>) -> Self {
        self.slug = Some(column.into());
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
    pub fn field(mut self, member: impl Into<String>, column: impl Into<Column>) -> Self {
        self.fields.push(FieldMapping::new(member, column));
        self
    }
}

/// The columns of one entry of a list, such as the second e-mail address in `email2`.
///
/// An entry is read if one of its columns has a value, apart from columns with a
/// [list of values](Column::values). If the columns of an entry with a constant are free, an entry of
/// a request with this value is stored there. The other entries fill the remaining columns in their
/// order.
#[derive(Debug, Clone, Default)]
pub struct EntryMapping {
    pub(super) fields: Vec<FieldMapping>,
    pub(super) constants: Vec<(String, String)>,
}

impl EntryMapping {
    /// Creates an entry without columns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Maps a member of the entry to a column.
    #[must_use]
    pub fn field(mut self, member: impl Into<String>, column: impl Into<Column>) -> Self {
        self.fields.push(FieldMapping::new(member, column));
        self
    }

    /// Sets the value, given as text, of a member that the columns of this entry always have, such as
    /// `number_type` and `Mobile`, or `primary` and `true`.
    #[must_use]
    pub fn constant(mut self, member: impl Into<String>, value: impl Into<String>) -> Self {
        self.constants.push((member.into(), value.into()));
        self
    }
}
