//! The SQL of `SQLite`, for mapped tables.

use std::time::Duration;

use svc_core::schema::ValueType;
use svc_sql::{ColumnType, RowLock, SqlDialect, Statement};

/// The SQL of `SQLite` 3.38 and later, for a [`Database`](svc_sql::Database) around another client.
pub static DIALECT: &dyn SqlDialect = &Sqlite;

#[derive(Debug)]
struct Sqlite;

impl SqlDialect for Sqlite {
    fn name(&self) -> &'static str {
        "SQLite"
    }

    fn placeholder(&self, place: usize) -> String {
        format!("?{place}")
    }

    fn text(&self, placeholder: &str) -> String {
        placeholder.to_owned()
    }

    fn value(&self, placeholder: &str, class: ColumnType, _: &str) -> String {
        match class {
            ColumnType::Integer(_) | ColumnType::Boolean => {
                format!("CAST({placeholder} AS INTEGER)")
            }
            ColumnType::Decimal => format!("CAST({placeholder} AS NUMERIC)"),
            _ => placeholder.to_owned(),
        }
    }

    fn cast_text(&self, expression: &str, _: &str) -> String {
        expression.to_owned()
    }

    fn as_text(&self, expression: &str) -> String {
        format!("CAST({expression} AS TEXT)")
    }

    fn read(&self, name: &str, class: ColumnType, _: &str) -> String {
        match class {
            ColumnType::Text
            | ColumnType::Uuid
            | ColumnType::Moment
            | ColumnType::Date
            | ColumnType::Json => name.to_owned(),
            _ => self.as_text(name),
        }
    }

    fn json_list(&self, value: &str, order: &str) -> [String; 2] {
        [
            format!("(SELECT json_group_array(a) FROM (SELECT {value} AS a"),
            format!(" ORDER BY {order}))"),
        ]
    }

    fn json_rows(&self, columns: &str, order: &str) -> [String; 2] {
        [
            format!("(SELECT json_group_array(json(a)) FROM (SELECT json_array({columns}) AS a"),
            format!(" ORDER BY {order}))"),
        ]
    }

    fn boolean(&self, truth: bool) -> &'static str {
        if truth { "1" } else { "0" }
    }

    fn larger(&self) -> &'static str {
        "max"
    }

    /// Returns nothing: a write transaction holds the lock of the file.
    fn lock(&self, _: RowLock) -> &'static str {
        ""
    }

    fn statement_timeout(&self, _: Duration) -> Option<Statement> {
        None
    }

    fn default_value(&self, default: Option<&str>) -> Option<String> {
        default.map(|default| format!("({default})"))
    }

    fn has_nul(&self) -> bool {
        true
    }

    fn has_loose_types(&self) -> bool {
        true
    }

    fn fills_primary_key(&self) -> bool {
        true
    }

    fn knows_expressions(&self) -> bool {
        false
    }

    fn catalog(&self) -> [&'static str; 4] {
        CATALOG
    }

    /// Returns `false`: a trigger of a view does not see the alias of the changed table.
    fn changes_views(&self) -> bool {
        false
    }

    fn next_id(&self, table: &str, column: &str, _: Option<&str>) -> Vec<String> {
        // A number is not used again after its row is deleted.
        let name = table.replace('\'', "''");
        let last = format!("coalesce((SELECT max({column}) FROM {table}), 0)");
        vec![format!(
            "INSERT INTO svc_numbers (name, last) VALUES ('{name}', {last} + 1) \
             ON CONFLICT (name) DO UPDATE SET last = max(svc_numbers.last, {last}) + 1 \
             RETURNING CAST(last AS TEXT)"
        )]
    }

    fn library_tables(&self) -> &'static [&'static str] {
        &OWN_TABLES
    }

    fn column_type(&self, ty: &ValueType) -> &'static str {
        match ty {
            ValueType::Integer => "INTEGER",
            ValueType::Float | ValueType::Amount => "numeric",
            ValueType::Boolean | ValueType::Flag => "boolean",
            ValueType::Timestamp => "TIMESTAMP",
            ValueType::Date => "date",
            ValueType::Array(_)
            | ValueType::Object(_)
            | ValueType::OneOrMany(_)
            | ValueType::StringMap => "JSON",
            _ => "text",
        }
    }

    fn date_column(&self) -> &'static str {
        "TEXT NOT NULL"
    }

    /// Returns the type of an added id column. It is nullable; a trigger fills it for programs that
    /// do not know it.
    fn id_column(&self, table: &str, column: &str) -> String {
        format!(
            "TEXT; UPDATE {table} SET {column} = lower(hex(randomblob(16))); CREATE TRIGGER svc_{table}_{column} AFTER INSERT ON {table} \
             WHEN new.{column} IS NULL BEGIN UPDATE {table} SET {column} = lower(hex(randomblob(16))) WHERE rowid = new.rowid; END"
        )
    }

    fn has_nullable_ids(&self) -> bool {
        true
    }

    fn order_advice(&self, _: &str) -> String {
        "recreate it with an INTEGER PRIMARY KEY".to_owned()
    }

    fn not_null_advice(&self, _: &str, _: &str) -> String {
        "recreate the table with NOT NULL".to_owned()
    }

    fn set_default(&self, _: &str, _: &str) -> Option<String> {
        None
    }

    fn index_name(&self, table: &str, columns: &str) -> String {
        let words = columns.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        format!("svc_{}_{}", table.replace('.', "_"), words.join("_"))
    }
}

const OWN_TABLES: [&str; 11] = [
    "CREATE TABLE IF NOT EXISTS svc_turns (tenant TEXT PRIMARY KEY, clock INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS svc_identifiers (tenant TEXT NOT NULL, kind TEXT NOT NULL, identifier TEXT NOT NULL, \
             record TEXT NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (tenant, kind, identifier)) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS svc_identifiers_record ON svc_identifiers (tenant, kind, record)",
    "CREATE TABLE IF NOT EXISTS svc_numbers (name TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS svc_secrets (name TEXT PRIMARY KEY, secret TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS svc_forwards (tenant TEXT NOT NULL, person TEXT NOT NULL, remaining TEXT NOT NULL, \
             PRIMARY KEY (tenant, person)) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS svc_forwards_remaining ON svc_forwards (tenant, remaining)",
    // Ids are never reused, so a late acknowledgement cannot settle another entry.
    "CREATE TABLE IF NOT EXISTS svc_dispatches (id INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, \
             person TEXT, due INTEGER NOT NULL, attempts INTEGER NOT NULL, body TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS svc_dispatches_person ON svc_dispatches (tenant, person)",
    "CREATE INDEX IF NOT EXISTS svc_dispatches_due ON svc_dispatches (due)",
    // Earlier versions stored data there that is not erased with its people.
    "DROP TABLE IF EXISTS svc_outbox",
];

/// SQLite has no constraints of single columns: the third statement returns nothing.
const CATALOG: [&str; 4] = [
    "SELECT n.value, p.name, p.type, NULL, CAST(p.\"notnull\" = 0 AND p.pk = 0 AS TEXT), \
     CAST(p.dflt_value IS NOT NULL OR (p.pk = 1 AND upper(p.type) = 'INTEGER') AS TEXT), NULL, NULL, p.dflt_value, \
     CAST(p.hidden IN (2, 3) AS TEXT), \
     CAST(EXISTS (SELECT 1 FROM sqlite_master v WHERE v.type = 'view' AND v.name = replace(n.value, '\"', '') COLLATE NOCASE) \
     AS TEXT) FROM json_each(?1) n JOIN pragma_table_xinfo(replace(n.value, '\"', '')) p ORDER BY n.value, p.cid",
    "SELECT n.value, (SELECT json_group_array(coalesce(i.name, '')) FROM pragma_index_info(l.name) i), \
     CAST(l.\"unique\" AS TEXT), CAST(l.origin = 'pk' AS TEXT), CAST(l.partial = 0 AS TEXT) \
     FROM json_each(?1) n JOIN pragma_index_list(replace(n.value, '\"', '')) l \
     UNION ALL SELECT n.value, json_group_array(p.name), '1', '1', '1' \
     FROM json_each(?1) n JOIN pragma_table_info(replace(n.value, '\"', '')) p WHERE p.pk > 0 GROUP BY n.value",
    "SELECT NULL, NULL, NULL FROM json_each(?1) WHERE 0",
    "SELECT n.value, s.name || ' ' || f.id, m.value, s.name, f.\"from\", f.\"to\" \
     FROM json_each(?1) n JOIN sqlite_master s ON s.type = 'table' \
     JOIN pragma_foreign_key_list(s.name) f ON f.\"table\" = replace(n.value, '\"', '') COLLATE NOCASE \
     LEFT JOIN json_each(?1) m ON replace(m.value, '\"', '') = s.name COLLATE NOCASE \
     ORDER BY n.value, s.name, f.id, f.seq",
];
