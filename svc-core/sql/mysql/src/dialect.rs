//! The SQL of MySQL and MariaDB.

use std::time::Duration;

use svc_core::schema::ValueType;
use svc_sql::{ColumnType, RowLock, SqlDialect, Statement};

use crate::catalog::{CATALOG, LIBRARY_TABLES};

/// The SQL of MySQL 8.0.20 and later and of MariaDB 10.6 and later, for a
/// [`Database`](svc_sql::Database) around another client.
///
/// Each connection must execute [`SESSION_STATEMENTS`] first.
pub static DIALECT: &dyn SqlDialect = &Mysql;

/// The statements that each connection executes before those of [`DIALECT`].
///
/// They set the isolation level READ COMMITTED and the time zone UTC. `||` concatenates text, values
/// that a column cannot store are errors, and lists are not truncated. MySQL truncates the digits of a
/// second that a column cannot store, like MariaDB.
pub const SESSION_STATEMENTS: [&str; 2] = [
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION time_zone = '+00:00', group_concat_max_len = 16777216, \
     sql_mode = CONCAT('STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,PIPES_AS_CONCAT', \
     CASE WHEN VERSION() LIKE '%MariaDB%' THEN '' ELSE ',TIME_TRUNCATE_FRACTIONAL' END)",
];

#[derive(Debug)]
struct Mysql;

/// Returns an expression as text that is compared character by character. Its collation is explicit,
/// so that it can be compared with a column of any collation.
fn exact(expression: &str) -> String {
    format!("CONVERT({expression} USING utf8mb4) COLLATE utf8mb4_bin")
}

/// Returns the collation in the type of a text column.
fn collation(sql_type: &str) -> Option<&str> {
    let (_, collation) = sql_type.rsplit_once(" COLLATE ")?;
    Some(collation)
}

/// Returns whether a text column is compared without regard to case.
fn ignores_case(sql_type: &str) -> bool {
    collation(sql_type).is_some_and(|name| name.ends_with("_ci"))
}

impl SqlDialect for Mysql {
    fn name(&self) -> &'static str {
        "MySQL"
    }

    fn quote(&self, name: &str) -> String {
        format!("`{}`", name.replace('`', "``"))
    }

    fn upsert(&self, key: &str, changes: &[(&str, String)]) -> String {
        let mut changes: Vec<String> = changes
            .iter()
            .map(|(column, value)| format!("{column} = {value}"))
            .collect();
        if changes.is_empty() {
            // An assignment without effect.
            let first = key.split(',').next().unwrap_or_default().trim();
            changes.push(format!("{first} = {first}"));
        }
        format!(" ON DUPLICATE KEY UPDATE {}", changes.join(", "))
    }

    fn proposed(&self, column: &str) -> String {
        format!("VALUES({column})")
    }

    fn has_returning(&self) -> bool {
        false
    }

    /// Returns a derived table: MySQL reads the changed table only there, if it does not merge it, and both
    /// databases accept `LIMIT` in a list of `IN` only there.
    fn changing_subquery(&self) -> [&'static str; 2] {
        ["SELECT /*+ NO_MERGE(changed) */ * FROM (", ") changed"]
    }

    /// Returns the form for several tables: MariaDB uses no index for a subquery in the other form.
    fn update(&self, table: &str) -> String {
        format!("UPDATE {table} AS t JOIN (SELECT 1) AS one")
    }

    /// Returns the form for several tables, like [`update`](Self::update).
    fn delete_from(&self, table: &str) -> String {
        format!("DELETE t FROM {table} AS t")
    }

    fn placeholder(&self, _: usize) -> String {
        "?".to_owned()
    }

    fn reuses_placeholders(&self) -> bool {
        false
    }

    fn has_id(
        &self,
        name: &str,
        class: ColumnType,
        sql_type: &str,
        bind: &mut dyn FnMut() -> String,
    ) -> String {
        let found = format!("{name} = {}", self.value(&bind(), class, sql_type));
        if class != ColumnType::Text || !ignores_case(sql_type) {
            return found;
        }
        // The first condition uses the index.
        format!("{found} AND {} = {}", exact(name), bind())
    }

    fn has_address(
        &self,
        name: &str,
        sql_type: &str,
        count: usize,
        bind: &mut dyn FnMut(usize) -> String,
    ) -> String {
        let mut list = |expression: &str| {
            let addresses: Vec<String> = (0..count).map(&mut *bind).collect();
            format!("{expression} IN ({})", addresses.join(", "))
        };
        if !ignores_case(sql_type) {
            return list(&format!("lower({name})"));
        }
        // The first condition uses the index. It can also ignore accents.
        let found = list(name);
        format!("{found} AND {}", list(&format!("lower({})", exact(name))))
    }

    /// Returns the column if its collation ignores case. Otherwise the index has an expression, which
    /// MariaDB does not support.
    fn address_index(&self, column: &str, sql_type: &str) -> String {
        if ignores_case(sql_type) {
            column.to_owned()
        } else {
            format!("(lower({column}))")
        }
    }

    fn limit(&self, placeholder: &str) -> String {
        placeholder.to_owned()
    }

    fn text(&self, placeholder: &str) -> String {
        placeholder.to_owned()
    }

    fn value(&self, placeholder: &str, class: ColumnType, _: &str) -> String {
        match class {
            ColumnType::Integer(_) => format!("CAST({placeholder} AS SIGNED)"),
            ColumnType::Boolean => format!("({placeholder} IN ('1', 'true'))"),
            ColumnType::Moment => {
                format!("CAST(REPLACE(REPLACE({placeholder}, 'T', ' '), 'Z', '') AS DATETIME(6))")
            }
            _ => placeholder.to_owned(),
        }
    }

    fn cast_text(&self, expression: &str, sql_type: &str) -> String {
        // With the collation of the column, its index is used.
        match collation(sql_type) {
            Some(collation) => {
                let (charset, _) = collation.split_once('_').unwrap_or((collation, ""));
                format!("CONVERT({expression} USING {charset}) COLLATE {collation}")
            }
            None if ["bigint", "int", "mediumint", "smallint", "tinyint"]
                .iter()
                .any(|name| sql_type.starts_with(name)) =>
            {
                format!("CAST({expression} AS SIGNED)")
            }
            None => expression.to_owned(),
        }
    }

    fn as_text(&self, expression: &str) -> String {
        exact(expression)
    }

    fn read(&self, name: &str, class: ColumnType, _: &str) -> String {
        match class {
            ColumnType::Moment => {
                exact(&format!("TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {name})"))
            }
            // The column can be `bit(1)`.
            ColumnType::Boolean => exact(&format!("{name} + 0")),
            _ => exact(name),
        }
    }

    fn json_list(&self, value: &str, order: &str) -> [String; 2] {
        let item = format!("JSON_QUOTE({})", exact(value));
        json_array(&item, order)
    }

    fn json_rows(&self, columns: &str, order: &str) -> [String; 2] {
        json_array(&format!("JSON_ARRAY({columns})"), order)
    }

    fn boolean(&self, truth: bool) -> &'static str {
        if truth { "1" } else { "0" }
    }

    fn larger(&self) -> &'static str {
        "greatest"
    }

    /// Locks the rows of joined tables also: MariaDB has no `OF`.
    fn lock(&self, lock: RowLock) -> &'static str {
        match lock {
            RowLock::Reference => " LOCK IN SHARE MODE",
            RowLock::Change | RowLock::Deletion => " FOR UPDATE",
        }
    }

    /// Limits how long a statement waits for locks, in seconds: both databases have no limit for
    /// statements that change rows.
    fn statement_timeout(&self, left: Duration) -> Option<Statement> {
        let text = "SET SESSION innodb_lock_wait_timeout = CAST(? AS SIGNED)";
        let left = left.as_secs().max(1).to_string();
        Some(Statement::new(text, vec![Some(left)]))
    }

    fn default_value(&self, _: Option<&str>) -> Option<String> {
        Some("DEFAULT".to_owned())
    }

    fn has_nul(&self) -> bool {
        true
    }

    fn has_loose_types(&self) -> bool {
        false
    }

    fn fills_primary_key(&self) -> bool {
        false
    }

    fn knows_expressions(&self) -> bool {
        false
    }

    fn catalog(&self) -> [&'static str; 4] {
        CATALOG
    }

    /// Returns statements that store the number in the session: MySQL has neither sequences nor `RETURNING`.
    fn next_id(&self, table: &str, column: &str, _: Option<&str>) -> Vec<String> {
        let column = self.quote(column);
        // A number is not used again after its row is deleted.
        let name = table.replace('\\', "\\\\").replace('\'', "''");
        vec![
            format!(
                "INSERT INTO svc_numbers (name, last) \
                 SELECT '{name}', LAST_INSERT_ID(COALESCE(MAX(t.{column}), 0) + 1) FROM {table} t ON DUPLICATE KEY UPDATE \
                 last = LAST_INSERT_ID(greatest(svc_numbers.last + 1, VALUES(last)))"
            ),
            format!("SELECT {}", exact("LAST_INSERT_ID()")),
        ]
    }

    fn library_tables(&self) -> &'static [&'static str] {
        &LIBRARY_TABLES
    }

    fn column_type(&self, ty: &ValueType) -> &'static str {
        match ty {
            ValueType::Integer => "bigint",
            ValueType::Float | ValueType::Amount => "decimal(20, 6)",
            ValueType::Boolean | ValueType::Flag => "boolean",
            ValueType::Timestamp => "datetime(6)",
            ValueType::Date => "date",
            ValueType::Array(_)
            | ValueType::Object(_)
            | ValueType::OneOrMany(_)
            | ValueType::StringMap => "json",
            _ => "text",
        }
    }

    fn date_column(&self) -> &'static str {
        "datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)"
    }

    fn id_column(&self, _: &str, _: &str) -> String {
        "char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL UNIQUE DEFAULT (uuid())"
            .to_owned()
    }

    fn has_nullable_ids(&self) -> bool {
        false
    }

    fn order_advice(&self, table: &str) -> String {
        format!(
            "name such a column with `.order(...)`, or run\n      ALTER TABLE {table} ADD COLUMN svc_order bigint NOT NULL \
             AUTO_INCREMENT UNIQUE;"
        )
    }

    fn not_null_advice(&self, table: &str, column: &str) -> String {
        format!("run\n      ALTER TABLE {table} MODIFY {column} ... NOT NULL;")
    }

    fn set_default(&self, table: &str, column: &str) -> Option<String> {
        Some(format!(
            "ALTER TABLE {table} ALTER COLUMN {column} SET DEFAULT ...;"
        ))
    }

    fn index_name(&self, table: &str, columns: &str) -> String {
        let words = columns.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let name = format!("svc_{}_{}", table.replace('.', "_"), words.join("_"));
        name.chars().take(64).collect()
    }
}

/// Returns the text before and after ` FROM ...` of a subquery that returns an array of these items.
/// It is NULL without rows. MySQL has no order in `JSON_ARRAYAGG`.
fn json_array(item: &str, order: &str) -> [String; 2] {
    [
        format!("(SELECT CONCAT('[', GROUP_CONCAT({item} ORDER BY {order} SEPARATOR ','), ']')"),
        ")".to_owned(),
    ]
}
