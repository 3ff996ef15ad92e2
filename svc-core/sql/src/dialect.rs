//! The SQL of one database: what differs from one database to another.

use std::{fmt, time::Duration};

use svc_core::schema::ValueType;

use super::statement::Statement;

/// What a column can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Texts.
    Text,
    /// UUIDs.
    Uuid,
    /// Whole numbers up to this one, and down to its negative.
    Integer(i64),
    /// Numbers with a fraction.
    Decimal,
    /// Truth values.
    Boolean,
    /// Dates with a time.
    Moment,
    /// Dates without a time.
    Date,
    /// JSON.
    Json,
    /// An array of texts.
    Texts,
    /// Values that no field has.
    Other,
}

/// The SQL of one database.
///
/// `svc_sqlite::DIALECT` and `svc_postgres::DIALECT` are two of them. Every text that a method
/// returns goes into a statement as it is; names are quoted before they are given to a method.
pub trait Dialect: fmt::Debug + Send + Sync + 'static {
    /// The name of the database, such as `PostgreSQL`.
    fn name(&self) -> &'static str;

    /// The placeholder of the value at this place; the first is 1.
    fn placeholder(&self, place: usize) -> String;

    /// A bound text, as a text.
    fn text(&self, placeholder: &str) -> String;

    /// A bound text, as a value of a column of this class and type.
    fn value(&self, placeholder: &str, class: ColumnType, sql_type: &str) -> String;

    /// A text that is read from a column, as a value of a column of this type.
    fn cast_text(&self, expression: &str, sql_type: &str) -> String;

    /// An expression as a text.
    fn as_text(&self, expression: &str) -> String;

    /// A column as the text that a mapped store reads.
    ///
    /// A timestamp is microseconds since 1970, or a text of RFC 3339; an array is JSON.
    fn read(&self, name: &str, class: ColumnType, sql_type: &str) -> String;

    /// The text before and after ` FROM ... WHERE ...` of a subquery that returns the values as
    /// one JSON array, in this order.
    fn json_list(&self, value: &str, order: &str) -> [String; 2];

    /// As [`json_list`](Self::json_list), with one array of columns for each row.
    fn json_rows(&self, columns: &str, order: &str) -> [String; 2];

    /// A truth value as the text of a column that has one.
    fn boolean(&self, truth: bool) -> &'static str;

    /// The function that returns the larger of two values.
    fn larger(&self) -> &'static str;

    /// What locks the rows of `t` that a query reads, so that they can be changed. `whole` is
    /// whether the row itself is changed, and not only referred to.
    fn lock(&self, whole: bool) -> &'static str;

    /// The statement that limits the duration of the statements after it in a transaction.
    fn statement_timeout(&self, left: Duration) -> Option<Statement>;

    /// What sets a column to its default, which is `default` in the definition of the table.
    fn default_value(&self, default: Option<&str>) -> Option<String>;

    /// Whether a text can have U+0000.
    fn has_nul(&self) -> bool;

    /// Whether a column takes values of other types: whole numbers of 64 bits in every integer
    /// column, 0 and 1 for truth values, texts for dates.
    fn has_loose_types(&self) -> bool;

    /// Whether a primary key without a default is filled by the database.
    fn fills_primary_key(&self) -> bool;

    /// Whether the definition of an index is known if it is an expression.
    fn knows_expressions(&self) -> bool;

    /// The statements that read columns, indexes and checks of tables. Their one value is a JSON
    /// array of the quoted names of the tables.
    ///
    /// | Statement | Columns |
    /// |---|---|
    /// | columns | table, name, type, base type, nullable, has a default, length, labels as a JSON array, default |
    /// | indexes | table, columns as a JSON array, unique, primary key, whole |
    /// | checks | table, column, condition |
    fn catalog(&self) -> [&'static str; 3];

    /// The SQL of the library's own tables. Running it again changes nothing.
    fn own_tables(&self) -> &'static [&'static str];

    /// The type of a column for a field.
    fn column_type(&self, ty: &ValueType) -> &'static str;

    /// The type of a new column for the creation or change date of records.
    fn date_column(&self) -> &'static str;

    /// The type of a new column for the ids of records, and further statements that fill it.
    fn id_column(&self, table: &str, column: &str) -> String;

    /// Whether a column of ids may be nullable, because a trigger fills it.
    fn has_nullable_ids(&self) -> bool;

    /// How to add a column that orders the records.
    fn order_advice(&self, table: &str) -> String;

    /// How to make a column `NOT NULL`.
    fn not_null_advice(&self, table: &str, column: &str) -> String;

    /// The statement that gives a column a default, with `...` for the value, if there is one.
    fn set_default(&self, table: &str, column: &str) -> Option<String>;

    /// The name of a new index, for `CREATE INDEX`; empty if the database makes one.
    fn index_name(&self, table: &str, columns: &str) -> String;
}
