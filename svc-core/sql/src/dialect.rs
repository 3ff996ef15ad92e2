//! The SQL dialects of databases.

use std::{fmt, time::Duration};

use svc_core::schema::ValueType;

use super::statement::Statement;

/// The class of values that a column can store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Text.
    Text,
    /// UUIDs.
    Uuid,
    /// Integers up to this maximum, and down to its negative.
    Integer(i64),
    /// Numbers with a fractional part.
    Decimal,
    /// Boolean values.
    Boolean,
    /// Timestamps.
    Moment,
    /// Dates without a time.
    Date,
    /// JSON.
    Json,
    /// An array of text.
    Texts,
    /// Any other type, which no field has.
    Other,
}

/// What a transaction does with the rows that it locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowLock {
    /// It refers to the rows. No other transaction may delete them.
    Reference,
    /// It changes the rows. No other transaction may change them, but it may refer to them.
    Change,
    /// It deletes the rows. No other transaction may change them or refer to them.
    Deletion,
}

/// The SQL dialect of a database.
///
/// Implementations are `svc_sqlite::DIALECT`, `svc_postgres::DIALECT` and `svc_mysql::DIALECT`. The returned text becomes
/// part of statements without changes. Names are [quoted](SqlDialect::quote) before they are passed
/// to a method.
///
/// A database needs no change of this crate: implement this trait and
/// [`Database`](super::Database). In all statements, `||` concatenates text.
pub trait SqlDialect: fmt::Debug + Send + Sync + 'static {
    /// Returns the name of the database, such as `PostgreSQL`.
    fn name(&self) -> &'static str;

    /// Returns the quoted name of a table or a column. The default is that of standard SQL.
    fn quote(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    /// Returns the clause after `INSERT ... VALUES (...)` that changes the row with the same key
    /// instead. `key` names the columns of the key. `changes` has columns with their new values; if
    /// there are none, the row stays unchanged.
    ///
    /// The default is `ON CONFLICT`.
    fn upsert(&self, key: &str, changes: &[(&str, String)]) -> String {
        if changes.is_empty() {
            return format!(" ON CONFLICT ({key}) DO NOTHING");
        }
        let changes: Vec<String> = changes
            .iter()
            .map(|(column, value)| format!("{column} = {value}"))
            .collect();
        format!(" ON CONFLICT ({key}) DO UPDATE SET {}", changes.join(", "))
    }

    /// Returns the value of a column in the row that was not inserted, for
    /// [`upsert`](Self::upsert).
    fn proposed(&self, column: &str) -> String {
        format!("excluded.{column}")
    }

    /// Returns whether statements that change rows can return them with `RETURNING`. Otherwise, a
    /// `SELECT` in the same transaction reads them.
    ///
    /// The default is `true`.
    fn has_returning(&self) -> bool {
        true
    }

    /// Returns the text before and after a subquery that is part of a statement that changes rows.
    /// The subquery can read the changed table, and can be the list of `IN` with a `LIMIT`.
    ///
    /// By default there is none.
    fn changing_subquery(&self) -> [&'static str; 2] {
        ["", ""]
    }

    /// Returns the text before ` SET` of a statement that changes rows of a table, which is `t` in the
    /// condition.
    fn update(&self, table: &str) -> String {
        format!("UPDATE {table} AS t")
    }

    /// Returns the text before ` WHERE` of a statement that deletes rows of a table, which is `t` in
    /// the condition.
    fn delete_from(&self, table: &str) -> String {
        format!("DELETE FROM {table} AS t")
    }

    /// Returns the placeholder of the value at this position, counted from 1.
    fn placeholder(&self, place: usize) -> String;

    /// Returns whether a statement can contain a placeholder more than once. Otherwise, its value is
    /// bound again for each use.
    ///
    /// The default is `true`.
    fn reuses_placeholders(&self) -> bool {
        true
    }

    /// Returns the condition that a column has an id. Ids are equal only if all their characters are.
    ///
    /// `bind` binds the id, and returns its placeholder. It can be called several times.
    fn has_id(
        &self,
        name: &str,
        class: ColumnType,
        sql_type: &str,
        bind: &mut dyn FnMut() -> String,
    ) -> String {
        format!("{name} = {}", self.value(&bind(), class, sql_type))
    }

    /// Returns the condition that the e-mail address in a text column is one of a number of addresses
    /// in lower case. The case of the address in the column does not matter.
    ///
    /// `bind` binds the address at a position, and returns its placeholder.
    fn has_address(
        &self,
        name: &str,
        _sql_type: &str,
        count: usize,
        bind: &mut dyn FnMut(usize) -> String,
    ) -> String {
        let addresses: Vec<String> = (0..count).map(|place| self.text(&bind(place))).collect();
        format!("lower({name}) IN ({})", addresses.join(", "))
    }

    /// Returns what an index for [`has_address`](Self::has_address) must start with: the column, or
    /// an expression of it in the notation of the catalog.
    fn address_index(&self, column: &str, _sql_type: &str) -> String {
        format!("lower({column})")
    }

    /// Converts bound text to the number after `LIMIT` or `OFFSET`.
    fn limit(&self, placeholder: &str) -> String {
        self.value(placeholder, ColumnType::Integer(i64::MAX), "bigint")
    }

    /// Converts bound text to text.
    fn text(&self, placeholder: &str) -> String;

    /// Converts bound text to a value of a column of this class and type.
    fn value(&self, placeholder: &str, class: ColumnType, sql_type: &str) -> String;

    /// Converts text from a column to a value of a column of this type.
    fn cast_text(&self, expression: &str, sql_type: &str) -> String;

    /// Converts an expression to text.
    fn as_text(&self, expression: &str) -> String;

    /// Converts a column to the text that a mapped store reads.
    ///
    /// A timestamp is given in microseconds since 1970, or as RFC 3339 text. An array is JSON.
    fn read(&self, name: &str, class: ColumnType, sql_type: &str) -> String;

    /// Returns the text before and after ` FROM ... WHERE ...` of a subquery that returns the
    /// values as one JSON array, in this order.
    fn json_list(&self, value: &str, order: &str) -> [String; 2];

    /// Like [`json_list`](Self::json_list), with one array of columns for each row.
    fn json_rows(&self, columns: &str, order: &str) -> [String; 2];

    /// Returns the text of a boolean value.
    fn boolean(&self, truth: bool) -> &'static str;

    /// Returns the function for the larger of two values.
    fn larger(&self) -> &'static str;

    /// Returns the clause that locks the selected rows of `t`.
    fn lock(&self, lock: RowLock) -> &'static str;

    /// Returns the statement that limits the duration of later statements in a transaction.
    fn statement_timeout(&self, left: Duration) -> Option<Statement>;

    /// Returns the expression that sets a column to its default, which is `default` in the table
    /// definition.
    fn default_value(&self, default: Option<&str>) -> Option<String>;

    /// Returns whether text can contain U+0000.
    fn has_nul(&self) -> bool;

    /// Returns whether a column accepts values of other types: 64-bit integers in every integer
    /// column, 0 and 1 as boolean values, text as dates.
    fn has_loose_types(&self) -> bool;

    /// Returns whether the database fills a primary key without a default.
    fn fills_primary_key(&self) -> bool;

    /// Returns whether the catalog contains the definition of an index on an expression.
    fn knows_expressions(&self) -> bool;

    /// Returns the statements that read the columns, indexes and checks of tables, and the foreign keys
    /// of all tables to these tables. Their only value is a JSON array of the quoted table names.
    ///
    /// | Statement | Columns |
    /// |---|---|
    /// | columns | table, name, type, base type, nullable, has a default, length, labels as a JSON array, default, generated from other columns, column of a view |
    /// | indexes | table, columns as a JSON array, unique, primary key, whole |
    /// | checks | table, column, condition |
    /// | foreign keys | table that the key refers to, text that identifies the key, quoted name of the table of the key if it is in the array, its name without quotes, column, column that it refers to (none for the primary key) |
    ///
    /// A foreign key has a row for each of its columns.
    fn catalog(&self) -> [&'static str; 4];

    /// Returns whether statements that change rows work with views. The default is `true`.
    fn changes_views(&self) -> bool {
        true
    }

    /// Returns the statements that draw the next number of a column with numbered ids. The last one
    /// returns it in one row with one column of text. `default` is the default of the column.
    fn next_id(&self, table: &str, column: &str, default: Option<&str>) -> Vec<String>;

    /// Returns the clause between the columns of a new row and `VALUES` with which a column accepts a
    /// [number](Self::next_id) that it usually generates.
    fn with_given_ids(&self) -> &'static str {
        ""
    }

    /// Returns the SQL of the library's own tables. Repeated execution changes nothing.
    fn library_tables(&self) -> &'static [&'static str];

    /// Returns the column type for a field.
    fn column_type(&self, ty: &ValueType) -> &'static str;

    /// Returns the type of a new column for the creation or modification date of records.
    fn date_column(&self) -> &'static str;

    /// Returns the type of a new column for the ids of records, and further statements that fill
    /// it.
    fn id_column(&self, table: &str, column: &str) -> String;

    /// Returns whether an id column can be nullable, because a trigger fills it.
    fn has_nullable_ids(&self) -> bool;

    /// Returns how to add a column that defines the order of records.
    fn order_advice(&self, table: &str) -> String;

    /// Returns how to make a column `NOT NULL`.
    fn not_null_advice(&self, table: &str, column: &str) -> String;

    /// Returns the statement that sets the default of a column, with `...` for the value, if there
    /// is one.
    fn set_default(&self, table: &str, column: &str) -> Option<String>;

    /// Returns the name of a new index for `CREATE INDEX`; empty if the database generates one.
    fn index_name(&self, table: &str, columns: &str) -> String;
}
