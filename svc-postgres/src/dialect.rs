//! The SQL of PostgreSQL, for mapped tables.

use std::time::Duration;

use svc_core::schema::ValueType;
use svc_sql::{ColumnType, RowLock, SqlDialect, Statement};

/// The SQL of PostgreSQL 12 and later, for a [`Database`](svc_sql::Database) around another client.
pub static DIALECT: &dyn SqlDialect = &Postgres;

#[derive(Debug)]
struct Postgres;

impl SqlDialect for Postgres {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn placeholder(&self, place: usize) -> String {
        format!("${place}")
    }

    fn text(&self, placeholder: &str) -> String {
        format!("{placeholder}::text")
    }

    fn value(&self, placeholder: &str, _: ColumnType, sql_type: &str) -> String {
        format!("{placeholder}::text::{sql_type}")
    }

    fn cast_text(&self, expression: &str, sql_type: &str) -> String {
        format!("{expression}::{sql_type}")
    }

    fn as_text(&self, expression: &str) -> String {
        format!("({expression})::text")
    }

    fn read(&self, name: &str, class: ColumnType, sql_type: &str) -> String {
        match class {
            ColumnType::Moment => {
                let zone = if sql_type.contains("without") {
                    " AT TIME ZONE 'UTC'"
                } else {
                    ""
                };
                format!(
                    "CASE WHEN isfinite({name}) THEN (extract(epoch FROM {name}{zone}) * 1000000)::bigint::text END"
                )
            }
            ColumnType::Texts => format!("array_to_json({name})::text"),
            _ => format!("{name}::text"),
        }
    }

    fn json_list(&self, value: &str, order: &str) -> [String; 2] {
        [
            format!("(SELECT json_agg({value} ORDER BY {order})::text"),
            ")".to_owned(),
        ]
    }

    fn json_rows(&self, columns: &str, order: &str) -> [String; 2] {
        self.json_list(&format!("json_build_array({columns})"), order)
    }

    fn boolean(&self, truth: bool) -> &'static str {
        if truth { "true" } else { "false" }
    }

    fn larger(&self) -> &'static str {
        "greatest"
    }

    fn lock(&self, lock: RowLock) -> &'static str {
        match lock {
            RowLock::Reference => " FOR KEY SHARE OF t",
            RowLock::Change => " FOR NO KEY UPDATE OF t",
            RowLock::Deletion => " FOR UPDATE OF t",
        }
    }

    fn statement_timeout(&self, left: Duration) -> Option<Statement> {
        let text = "SELECT set_config('statement_timeout', $1::text, true)";
        let left = left.as_millis().max(1).to_string();
        Some(Statement::new(text, vec![Some(left)]))
    }

    fn default_value(&self, _: Option<&str>) -> Option<String> {
        Some("DEFAULT".to_owned())
    }

    fn has_nul(&self) -> bool {
        false
    }

    fn has_loose_types(&self) -> bool {
        false
    }

    fn fills_primary_key(&self) -> bool {
        false
    }

    fn knows_expressions(&self) -> bool {
        true
    }

    fn catalog(&self) -> [&'static str; 4] {
        CATALOG
    }

    fn next_id(&self, table: &str, column: &str, default: Option<&str>) -> Vec<String> {
        vec![match default {
            Some(default) => format!("SELECT ({default})::text"),
            None => format!(
                "SELECT nextval(pg_get_serial_sequence({}, {}))::text",
                literal(table),
                literal(column)
            ),
        }]
    }

    fn with_given_ids(&self) -> &'static str {
        " OVERRIDING SYSTEM VALUE"
    }

    fn library_tables(&self) -> &'static [&'static str] {
        &OWN_TABLES
    }

    fn column_type(&self, ty: &ValueType) -> &'static str {
        match ty {
            ValueType::Integer => "bigint",
            ValueType::Float | ValueType::Amount => "numeric",
            ValueType::Boolean | ValueType::Flag => "boolean",
            ValueType::Timestamp => "timestamptz",
            ValueType::Date => "date",
            ValueType::Array(_)
            | ValueType::Object(_)
            | ValueType::OneOrMany(_)
            | ValueType::StringMap => "jsonb",
            _ => "text",
        }
    }

    fn date_column(&self) -> &'static str {
        "timestamptz NOT NULL DEFAULT now()"
    }

    fn id_column(&self, _: &str, _: &str) -> String {
        "uuid NOT NULL UNIQUE DEFAULT gen_random_uuid()".to_owned()
    }

    fn has_nullable_ids(&self) -> bool {
        false
    }

    fn order_advice(&self, table: &str) -> String {
        format!(
            "name such a column with `.order_column(...)`, or run\n      ALTER TABLE {table} ADD COLUMN svc_order bigserial \
             UNIQUE;"
        )
    }

    fn not_null_advice(&self, table: &str, column: &str) -> String {
        format!("run\n      ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL;")
    }

    fn set_default(&self, table: &str, column: &str) -> Option<String> {
        Some(format!(
            "ALTER TABLE {table} ALTER COLUMN {column} SET DEFAULT ...;"
        ))
    }

    fn index_name(&self, _: &str, _: &str) -> String {
        String::new()
    }
}

/// Returns text as an SQL literal.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

const OWN_TABLES: [&str; 11] = [
    // Of several processes that start at the same time, one creates the tables, and the others wait
    // until they are visible. The number is arbitrary: the bytes of `svc_sql`.
    "SELECT pg_advisory_xact_lock(32499791496966508)::text",
    "CREATE TABLE IF NOT EXISTS svc_turns (tenant text PRIMARY KEY, clock bigint NOT NULL)",
    "CREATE TABLE IF NOT EXISTS svc_identifiers (tenant text NOT NULL, kind text NOT NULL, identifier text NOT NULL, \
             record text NOT NULL, place bigint NOT NULL, PRIMARY KEY (tenant, kind, identifier))",
    "CREATE INDEX IF NOT EXISTS svc_identifiers_record ON svc_identifiers (tenant, kind, record)",
    "CREATE TABLE IF NOT EXISTS svc_secrets (name text PRIMARY KEY, secret text NOT NULL)",
    "CREATE TABLE IF NOT EXISTS svc_forwards (tenant text NOT NULL, person text NOT NULL, remaining text NOT NULL, \
             PRIMARY KEY (tenant, person))",
    "CREATE INDEX IF NOT EXISTS svc_forwards_remaining ON svc_forwards (tenant, remaining)",
    "CREATE TABLE IF NOT EXISTS svc_dispatches (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, \
             tenant text NOT NULL, person text, due bigint NOT NULL, attempts bigint NOT NULL, body text NOT NULL)",
    "CREATE INDEX IF NOT EXISTS svc_dispatches_person ON svc_dispatches (tenant, person)",
    "CREATE INDEX IF NOT EXISTS svc_dispatches_due ON svc_dispatches (due)",
    // Earlier versions stored data there that is not erased with its people.
    "DROP TABLE IF EXISTS svc_outbox",
];

const CATALOG: [&str; 4] = [
    "SELECT n.value, a.attname::text, format_type(a.atttypid, CASE WHEN t.typname = 'bpchar' THEN -1 END), \
     format_type(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, NULL), (NOT a.attnotnull)::text, \
     (d.adbin IS NOT NULL OR a.attidentity <> '')::text, \
     CASE WHEN t.typname IN ('varchar', 'bpchar') AND a.atttypmod > 4 THEN (a.atttypmod - 4)::text END, \
     CASE WHEN t.typtype = 'e' THEN (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder)::text FROM pg_enum e \
     WHERE e.enumtypid = t.oid) END, pg_get_expr(d.adbin, d.adrelid), \
     (a.attgenerated <> '')::text, (c.relkind = 'v')::text FROM json_array_elements_text($1::text::json) n(value) JOIN pg_class c ON c.oid = to_regclass(n.value) \
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
     JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum \
     ORDER BY n.value, a.attnum",
    "SELECT n.value, (SELECT json_agg(pg_get_indexdef(i.indexrelid, k, true) ORDER BY k)::text \
     FROM generate_series(1, i.indnkeyatts) k), i.indisunique::text, i.indisprimary::text, (i.indpred IS NULL)::text \
     FROM json_array_elements_text($1::text::json) n(value) JOIN pg_index i ON i.indrelid = to_regclass(n.value) \
     WHERE i.indisvalid ORDER BY n.value, i.indexrelid",
    "SELECT n.value, a.attname::text, pg_get_constraintdef(k.oid) \
     FROM json_array_elements_text($1::text::json) n(value) \
     JOIN pg_constraint k ON k.conrelid = to_regclass(n.value) AND k.contype = 'c' AND array_length(k.conkey, 1) = 1 \
     JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1] ORDER BY n.value, a.attnum",
    "SELECT n.value, k.oid::text, m.value, CASE WHEN pg_table_is_visible(c.oid) THEN c.relname::text \
     ELSE s.nspname || '.' || c.relname END, a.attname::text, b.attname::text \
     FROM json_array_elements_text($1::text::json) n(value) \
     JOIN pg_constraint k ON k.confrelid = to_regclass(n.value) AND k.contype = 'f' AND k.conparentid = 0 \
     JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace s ON s.oid = c.relnamespace \
     CROSS JOIN LATERAL unnest(k.conkey, k.confkey) p(own, other) \
     JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = p.own \
     JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = p.other \
     LEFT JOIN json_array_elements_text($1::text::json) m(value) ON to_regclass(m.value) = k.conrelid \
     ORDER BY n.value, k.oid, a.attnum",
];
