//! A mapping that was found in the tables: everything that statements are written from.

use svc_core::{model::Kind, schema};

use super::dialect::{Class, Dialect};

/// A mapping and what the tables say of it.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) dialect: &'static dyn Dialect,
    /// The only tenant, where everything is one's.
    pub(crate) only: Option<String>,
    pub(crate) tables: Vec<Mapped>,
}

/// A column, under its quoted name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The name without quotes.
    pub(crate) raw: String,
    pub(crate) sql_type: String,
    pub(crate) class: Class,
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
pub(crate) struct Mapped {
    pub(crate) kind: Kind,
    /// Its quoted name.
    pub(crate) name: String,
    pub(crate) whose: Whose,
    pub(crate) key: Column,
    pub(crate) order: Column,
    pub(crate) id: Column,
    pub(crate) created: Column,
    pub(crate) modified: Column,
    pub(crate) links: Vec<Link>,
    /// What its records are made of, in the order in which it is sent.
    pub(crate) members: Vec<Member>,
    /// What new rows have besides.
    pub(crate) constants: Vec<(Column, String)>,
    pub(crate) once_per_person: bool,
    /// What fields are that nobody sends.
    pub(crate) defaults: Vec<(Vec<&'static str>, String)>,
}

/// Whose the rows of a table are.
#[derive(Debug)]
pub(crate) enum Whose {
    /// The only tenant's.
    Only,
    /// Theirs that a column names.
    Column {
        column: Column,
        /// Where the column refers to something else than the tenant's name: table, its key, and
        /// the name.
        via: Option<Box<Via>>,
    },
    /// Whose the record is that the link at this place leads to.
    Container(usize),
}

/// The table of tenants.
#[derive(Debug)]
pub(crate) struct Via {
    pub(crate) table: String,
    /// What other tables refer to.
    pub(crate) key: Column,
    /// What a tenant is called.
    pub(crate) name: Column,
}

/// A link to one record.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) column: Column,
}

/// A part of a record.
#[derive(Debug)]
pub(crate) struct Member {
    /// The places in the tables of the interface that lead to it.
    pub(crate) places: Vec<usize>,
    /// The fields that lead to it.
    pub(crate) path: Vec<&'static schema::FieldSpec>,
    pub(crate) stored: Stored,
}

/// Where a part of a record is.
#[derive(Debug)]
pub(crate) enum Stored {
    /// In a column; with the values of the interface and those of the column, where they are
    /// listed.
    Column {
        column: Column,
        values: Vec<(String, String)>,
    },
    /// In the rows of another table.
    Rows {
        table: String,
        parent: Column,
        order: Column,
        members: Vec<Member>,
    },
}

impl Member {
    /// The field itself.
    pub(crate) fn field(&self) -> Option<&'static schema::FieldSpec> {
        self.path.last().copied()
    }

    /// Whether it is the field of this name at the top.
    pub(crate) fn is(&self, name: &str) -> bool {
        matches!(self.path.as_slice(), [field] if field.name == name)
    }
}

impl Resolved {
    pub(crate) fn of(&self, kind: Kind) -> Option<&Mapped> {
        self.tables.iter().find(|table| table.kind == kind)
    }
}

impl Resolved {
    /// Whether a tenant is called by a number.
    pub(crate) fn numbers_tenants(&self) -> bool {
        self.tables.iter().any(|table| match &table.whose {
            Whose::Column { column, via } => {
                let name = via.as_ref().map_or(column, |via| &via.name);
                matches!(name.class, Class::Integer(_))
            }
            Whose::Only | Whose::Container(_) => false,
        })
    }

    /// The kinds of which a container has one record for each person.
    pub(crate) fn once(&self) -> Vec<Kind> {
        self.tables
            .iter()
            .filter(|table| table.once_per_person)
            .map(|table| table.kind)
            .collect()
    }
}

impl Mapped {
    pub(crate) fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
    }

    pub(crate) fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.is(name))
    }

    /// The link to what a record is created under.
    pub(crate) fn container(&self) -> Option<&Link> {
        self.link(self.kind.schema().parent?)
    }

    /// The link by which it is listed under records of another kind.
    pub(crate) fn scope(&self, of: Kind) -> Option<&Link> {
        let references = self.kind.schema().references().iter();
        let mut names = references
            .filter(|it| it.is_scope && it.kind == of)
            .map(|it| it.name);
        names.find_map(|name| self.link(name))
    }

    /// The rows and the column in which the e-mail addresses of people are.
    pub(crate) fn emails(&self) -> Option<(&str, &Column, &Column)> {
        match &self.member("email_addresses")?.stored {
            Stored::Rows {
                table,
                parent,
                members,
                ..
            } => match &members.iter().find(|member| member.is("address"))?.stored {
                Stored::Column { column, .. } => Some((table, parent, column)),
                Stored::Rows { .. } => None,
            },
            Stored::Column { .. } => None,
        }
    }

    /// The column of a field at the top, and its listed values.
    pub(crate) fn column(&self, field: &str) -> Option<(&Column, &[(String, String)])> {
        match &self.member(field)?.stored {
            Stored::Column { column, values } => Some((column, values)),
            Stored::Rows { .. } => None,
        }
    }
}
