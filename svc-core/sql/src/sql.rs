//! SQL with its values. Names come from the mapping and are quoted; values are always bound.

use super::{
    dialect::{ColumnType, SqlDialect},
    resolved_mapping::ResolvedColumn,
    statement::Statement,
};

/// Returns the quoted name of a table, with its schema if it has one.
pub(super) fn quoted_table(dialect: &dyn SqlDialect, name: &str) -> String {
    let parts = name.split('.').map(|part| dialect.quote(part));
    parts.collect::<Vec<_>>().join(".")
}

/// A builder for a statement.
pub(super) struct SqlBuilder {
    dialect: &'static dyn SqlDialect,
    text: String,
    values: Vec<Option<String>>,
    tenant: String,
    /// The position of the bound tenant.
    bound: Option<usize>,
    /// Whether the statement changes rows.
    changes_rows: bool,
}

impl SqlBuilder {
    /// Creates a builder for a statement about the records of a tenant.
    pub(super) fn new(dialect: &'static dyn SqlDialect, tenant: &str) -> Self {
        Self {
            dialect,
            text: String::with_capacity(512),
            values: Vec::new(),
            tenant: tenant.to_owned(),
            bound: None,
            changes_rows: false,
        }
    }

    /// Creates a builder for a statement that changes rows.
    pub(super) fn changing(dialect: &'static dyn SqlDialect, tenant: &str) -> Self {
        Self {
            changes_rows: true,
            ..Self::new(dialect, tenant)
        }
    }

    /// Returns the text before and after each subquery that can read the changed table.
    pub(super) fn subquery(&self) -> [&'static str; 2] {
        if self.changes_rows {
            self.dialect.changing_subquery()
        } else {
            ["", ""]
        }
    }

    pub(super) fn dialect(&self) -> &'static dyn SqlDialect {
        self.dialect
    }

    /// Adds SQL of this library, or names that are already quoted.
    pub(super) fn push(&mut self, sql: &str) -> &mut Self {
        self.text.push_str(sql);
        self
    }

    /// Adds the tenant as a value of this column.
    pub(super) fn tenant(&mut self, column: Option<&ResolvedColumn>) -> &mut Self {
        let bound = self.bound.filter(|_| self.dialect.reuses_placeholders());
        let place = bound.unwrap_or_else(|| {
            self.values.push(Some(self.tenant.clone()));
            self.values.len()
        });
        self.bound = Some(place);
        let placeholder = self.dialect.placeholder(place);
        let sql = match column {
            Some(column) => self
                .dialect
                .value(&placeholder, column.class, &column.sql_type),
            None => self.dialect.text(&placeholder),
        };
        self.push(&sql)
    }

    /// Adds text to compare with text.
    pub(super) fn text(&mut self, value: impl Into<String>) -> &mut Self {
        let placeholder = self.bind(Some(value.into()));
        let sql = self.dialect.text(&placeholder);
        self.push(&sql)
    }

    /// Adds an integer.
    pub(super) fn number(&mut self, value: i64) -> &mut Self {
        self.cast(
            Some(value.to_string()),
            "bigint",
            ColumnType::Integer(i64::MAX),
        )
    }

    /// Adds the number after `LIMIT` or `OFFSET`.
    pub(super) fn limit(&mut self, value: i64) -> &mut Self {
        let placeholder = self.bind(Some(value.to_string()));
        let sql = self.dialect.limit(&placeholder);
        self.push(&sql)
    }

    /// Adds the condition that a column has an id. Without a value, it is not met.
    pub(super) fn has_id(
        &mut self,
        alias: &str,
        column: &ResolvedColumn,
        id: Option<&str>,
    ) -> &mut Self {
        let name = format!("{alias}.{}", column.name);
        let dialect = self.dialect;
        let mut bind = || self.bind(id.map(str::to_owned));
        let sql = dialect.has_id(&name, column.class, &column.sql_type, &mut bind);
        self.push(&sql)
    }

    /// Adds the condition that the e-mail address in a column is one of these, which are in lower
    /// case.
    pub(super) fn has_address(
        &mut self,
        alias: &str,
        column: &ResolvedColumn,
        addresses: &[String],
    ) -> &mut Self {
        let name = format!("{alias}.{}", column.name);
        let dialect = self.dialect;
        let mut bind = |place: usize| self.bind(addresses.get(place).cloned());
        let sql = dialect.has_address(&name, &column.sql_type, addresses.len(), &mut bind);
        self.push(&sql)
    }

    /// Adds a value of a column, given as text.
    pub(super) fn value(&mut self, column: &ResolvedColumn, value: Option<String>) -> &mut Self {
        self.cast(value, &column.sql_type, column.class)
    }

    fn cast(&mut self, value: Option<String>, sql_type: &str, class: ColumnType) -> &mut Self {
        let placeholder = self.bind(value);
        let sql = self.dialect.value(&placeholder, class, sql_type);
        self.push(&sql)
    }

    /// Binds a value, and returns its placeholder.
    fn bind(&mut self, value: Option<String>) -> String {
        // Text that the database does not support is in no row and is never written: see
        // `value_checks.rs`.
        let value = value.filter(|value| self.dialect.has_nul() || !value.contains('\0'));
        self.values.push(value);
        self.dialect.placeholder(self.values.len())
    }

    pub(super) fn finish(self) -> Statement {
        Statement::new(self.text, self.values)
    }
}

/// Returns the expression that reads a column as text. `row.rs` has the opposite conversion.
pub(super) fn read(dialect: &dyn SqlDialect, alias: &str, column: &ResolvedColumn) -> String {
    let name = format!("{alias}.{}", column.name);
    dialect.read(&name, column.class, &column.sql_type)
}
