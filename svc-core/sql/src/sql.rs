//! SQL with its values: names come from the mapping and are quoted, values are always bound.

use std::fmt::Write as _;

use super::{
    class::Class,
    database::{Engine, Statement},
    resolved::Column,
};

/// A name as SQL writes it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The name of a table, with its schema where it names one.
pub(super) fn quoted_table(name: &str) -> String {
    name.split('.').map(quoted).collect::<Vec<_>>().join(".")
}

/// A statement that grows.
pub(super) struct Sql {
    engine: Engine,
    text: String,
    values: Vec<Option<String>>,
    tenant: String,
    /// Where the tenant is bound.
    bound: Option<usize>,
}

impl Sql {
    /// A statement about what a tenant has.
    pub(super) fn new(engine: Engine, tenant: &str) -> Self {
        Self {
            engine,
            text: String::with_capacity(512),
            values: Vec::new(),
            tenant: tenant.to_owned(),
            bound: None,
        }
    }

    pub(super) fn engine(&self) -> Engine {
        self.engine
    }

    /// SQL of this library, or names that are quoted already.
    pub(super) fn push(&mut self, sql: &str) -> &mut Self {
        self.text.push_str(sql);
        self
    }

    /// The tenant, as a value of this column.
    pub(super) fn tenant(&mut self, column: Option<&Column>) -> &mut Self {
        let place = self.bound.unwrap_or_else(|| {
            self.values.push(Some(self.tenant.clone()));
            self.values.len()
        });
        self.bound = Some(place);
        let mark = self.mark(place);
        let is_number = column.is_some_and(|column| matches!(column.class, Class::Integer(_)));
        match (self.engine, column) {
            (Engine::Postgres, Some(column)) => {
                _ = write!(self.text, "{mark}::text::{}", column.sql_type);
            }
            (Engine::Postgres, None) => _ = write!(self.text, "{mark}::text"),
            (Engine::Sqlite, _) if is_number => _ = write!(self.text, "CAST({mark} AS INTEGER)"),
            (Engine::Sqlite, _) => self.text.push_str(&mark),
        }
        self
    }

    fn mark(&self, place: usize) -> String {
        if self.engine == Engine::Postgres {
            format!("${place}")
        } else {
            format!("?{place}")
        }
    }

    /// A text to compare with texts.
    pub(super) fn text(&mut self, value: impl Into<String>) -> &mut Self {
        self.bind(Some(value.into()));
        if self.engine == Engine::Postgres {
            self.text.push_str("::text");
        }
        self
    }

    /// A whole number.
    pub(super) fn number(&mut self, value: i64) -> &mut Self {
        self.cast(Some(value.to_string()), "bigint", Class::Integer(i64::MAX))
    }

    /// A value of a column, as its text.
    pub(super) fn value(&mut self, column: &Column, value: Option<String>) -> &mut Self {
        self.cast(value, &column.sql_type, column.class)
    }

    fn cast(&mut self, value: Option<String>, sql_type: &str, class: Class) -> &mut Self {
        match (self.engine, class) {
            (Engine::Postgres, _) => {
                self.bind(value);
                _ = write!(self.text, "::text::{sql_type}");
            }
            (Engine::Sqlite, Class::Integer(_) | Class::Boolean) => {
                self.text.push_str("CAST(");
                self.bind(value);
                self.text.push_str(" AS INTEGER)");
            }
            (Engine::Sqlite, Class::Decimal) => {
                self.text.push_str("CAST(");
                self.bind(value);
                self.text.push_str(" AS NUMERIC)");
            }
            (Engine::Sqlite, _) => self.bind(value),
        }
        self
    }

    fn bind(&mut self, value: Option<String>) {
        // PostgreSQL has no text with U+0000: nothing is found by one, and none is written (see
        // `apply.rs`).
        let value = value.filter(|value| self.engine == Engine::Sqlite || !value.contains('\0'));
        self.values.push(value);
        let mark = self.mark(self.values.len());
        self.text.push_str(&mark);
    }

    pub(super) fn finish(self) -> Statement {
        Statement::new(self.text, self.values)
    }
}

/// A number that the database computes, as text.
pub(super) fn counted(engine: Engine, number: &str) -> String {
    match engine {
        Engine::Postgres => format!("({number})::text"),
        Engine::Sqlite => format!("CAST({number} AS TEXT)"),
    }
}

/// What a column reads as, as text: see `row.rs` for the way back.
pub(super) fn read(engine: Engine, alias: &str, column: &Column) -> String {
    let name = format!("{alias}.{}", column.name);
    match (engine, column.class) {
        (Engine::Postgres, Class::Moment) => {
            let zone = if column.sql_type.contains("without") {
                " AT TIME ZONE 'UTC'"
            } else {
                ""
            };
            format!(
                "CASE WHEN isfinite({name}) THEN (extract(epoch FROM {name}{zone}) * 1000000)::bigint::text END"
            )
        }
        (Engine::Postgres, Class::Texts) => format!("array_to_json({name})::text"),
        (Engine::Postgres, _) => format!("{name}::text"),
        (Engine::Sqlite, Class::Text | Class::Uuid | Class::Moment | Class::Date | Class::Json) => {
            name
        }
        (Engine::Sqlite, _) => format!("CAST({name} AS TEXT)"),
    }
}
