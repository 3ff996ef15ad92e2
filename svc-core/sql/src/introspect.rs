//! The columns and indexes that the tables of a mapping have in the database.

use std::collections::BTreeMap;

use svc_core::json::Json;

use super::{
    database::TextRow,
    dialect::{ColumnType, SqlDialect},
    sql::quoted_table,
    statement::Statement,
};

/// A column of a table.
#[derive(Debug, Clone)]
pub(super) struct DatabaseColumn {
    pub(super) name: String,
    /// The type as used in a cast.
    pub(super) sql_type: String,
    pub(super) class: ColumnType,
    pub(super) nullable: bool,
    pub(super) has_default: bool,
    /// The default of the column, if it is constant.
    pub(super) default: Option<String>,
    /// The same as SQL, for a database without `DEFAULT` as a value.
    pub(super) default_sql: Option<String>,
    /// Whether the database computes the value from other columns.
    pub(super) is_generated: bool,
    pub(super) longest: Option<u32>,
    /// The only values that the column accepts.
    pub(super) values: Option<Vec<String>>,
}

/// An index of a table: its columns in order, or expressions in the notation of the database.
#[derive(Debug, Clone)]
pub(super) struct DatabaseIndex {
    pub(super) columns: Vec<String>,
    pub(super) is_unique: bool,
    pub(super) is_primary: bool,
    /// Whether the index contains every row.
    pub(super) is_whole: bool,
}

/// A foreign key of any table.
#[derive(Debug, Clone)]
pub(super) struct ForeignKey {
    /// Identifies the foreign key.
    id: String,
    pub(super) columns: Vec<ForeignKeyColumn>,
}

/// A column of a foreign key. If the mapping has several names for the table, there is one for each
/// name.
#[derive(Debug, Clone)]
pub(super) struct ForeignKeyColumn {
    /// The quoted name of the table, if the mapping names it.
    pub(super) mapped_table: Option<String>,
    /// The name of the table without quotes.
    pub(super) table: String,
    pub(super) name: String,
    /// The column that it refers to; `None` for the primary key.
    pub(super) target: Option<String>,
}

/// A table.
#[derive(Debug, Clone, Default)]
pub(super) struct DatabaseTable {
    pub(super) columns: Vec<DatabaseColumn>,
    pub(super) indexes: Vec<DatabaseIndex>,
    /// The foreign keys that refer to this table.
    pub(super) referenced_by: Vec<ForeignKey>,
    pub(super) is_view: bool,
}

impl DatabaseTable {
    pub(super) fn column(&self, name: &str) -> Option<&DatabaseColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Returns the column of a primary key with a single column.
    pub(super) fn primary(&self) -> Option<&DatabaseColumn> {
        let index = self.indexes.iter().find(|index| index.is_primary)?;
        match index.columns.as_slice() {
            [only] => self.column(only),
            _ => None,
        }
    }

    /// Returns whether an index starts with these columns. The order of two columns does not
    /// matter.
    pub(super) fn finds_by(&self, columns: &[&str]) -> bool {
        self.indexes.iter().any(|index| {
            let begins = index.columns.get(..columns.len());
            index.is_whole
                && begins
                    .is_some_and(|begins| columns.iter().all(|it| begins.iter().any(|of| of == it)))
        })
    }

    /// Returns whether these columns are unique.
    pub(super) fn is_unique(&self, columns: &[&str]) -> bool {
        let within = |index: &DatabaseIndex| {
            index
                .columns
                .iter()
                .all(|column| columns.contains(&column.as_str()))
        };
        self.indexes
            .iter()
            .any(|index| index.is_unique && index.is_whole && within(index))
    }
}

/// The tables of a database.
#[derive(Debug, Clone)]
pub(super) struct DatabaseTables {
    dialect: &'static dyn SqlDialect,
    /// By their quoted names.
    by_name: BTreeMap<String, DatabaseTable>,
}

impl DatabaseTables {
    pub(super) fn table(&self, name: &str) -> Option<&DatabaseTable> {
        self.by_name
            .get(&quoted_table(self.dialect, name))
            .filter(|table| !table.columns.is_empty())
    }

    /// Reads the results of [`statements`].
    pub(super) fn read(dialect: &'static dyn SqlDialect, answers: &[Vec<TextRow>]) -> Self {
        let mut live = Self {
            dialect,
            by_name: BTreeMap::new(),
        };
        let [columns, indexes, checks, foreign_keys] = answers else {
            return live;
        };
        for row in columns {
            let text = |place: usize| row.get(place).cloned().flatten();
            let (Some(table), Some(name), Some(sql_type)) = (text(0), text(1), text(2)) else {
                continue;
            };
            let is = |place: usize| {
                text(place).is_some_and(|it| matches!(it.as_str(), "true" | "t" | "1"))
            };
            let base = text(3).unwrap_or_else(|| sql_type.clone());
            let labels = text(7).map(|labels| texts(&labels));
            let found = live.by_name.entry(table).or_default();
            found.is_view = is(10);
            found.columns.push(DatabaseColumn {
                name,
                class: if labels.is_some() {
                    ColumnType::Text
                } else {
                    class(&base)
                },
                longest: text(6)
                    .or_else(|| declared_length(&sql_type))
                    .and_then(|it| it.parse().ok()),
                sql_type,
                nullable: is(4),
                has_default: is(5),
                default: text(8).as_deref().and_then(constant),
                default_sql: text(8),
                is_generated: is(9),
                values: labels,
            });
        }
        for row in indexes {
            let text = |place: usize| row.get(place).cloned().flatten();
            let (Some(table), Some(columns)) = (text(0), text(1)) else {
                continue;
            };
            let is = |place: usize| {
                text(place).is_some_and(|it| matches!(it.as_str(), "true" | "t" | "1"))
            };
            let columns = texts(&columns)
                .into_iter()
                .map(|column| unquoted(&column))
                .collect();
            let index = DatabaseIndex {
                columns,
                is_unique: is(2),
                is_primary: is(3),
                is_whole: is(4),
            };
            live.by_name.entry(table).or_default().indexes.push(index);
        }
        for row in checks {
            let text = |place: usize| row.get(place).cloned().flatten();
            let (Some(table), Some(column), Some(rule)) = (text(0), text(1), text(2)) else {
                continue;
            };
            let found = live.by_name.get_mut(&table);
            let column =
                found.and_then(|table| table.columns.iter_mut().find(|it| it.name == column));
            if let (Some(column), Some(listed)) = (column, listed(&rule)) {
                column.values = Some(listed);
            }
        }
        for row in foreign_keys {
            let text = |place: usize| row.get(place).cloned().flatten();
            let (Some(target), Some(id), Some(table), Some(name)) =
                (text(0), text(1), text(3), text(4))
            else {
                continue;
            };
            let known = &mut live.by_name.entry(target).or_default().referenced_by;
            let column = ForeignKeyColumn {
                mapped_table: text(2),
                table,
                name,
                target: text(5),
            };
            match known.last_mut().filter(|last| last.id == id) {
                Some(last) => last.columns.push(column),
                None => known.push(ForeignKey {
                    id,
                    columns: vec![column],
                }),
            }
        }
        live
    }
}

/// Returns the statements that read the columns, indexes, checks and foreign keys of these tables.
pub(super) fn statements<'a>(
    dialect: &'static dyn SqlDialect,
    tables: impl Iterator<Item = &'a str>,
) -> Vec<Statement> {
    let mut names: Vec<String> = tables.map(|name| quoted_table(dialect, name)).collect();
    names.sort_unstable();
    names.dedup();
    let mut json = Vec::new();
    json.push(b'[');
    for (place, name) in names.iter().enumerate() {
        if place > 0 {
            json.push(b',');
        }
        svc_core::json::write_string(name, &mut json);
    }
    json.push(b']');
    let values = vec![Some(String::from_utf8(json).unwrap_or_default())];
    dialect
        .catalog()
        .map(|text| Statement::new(text, values.clone()))
        .into()
}

/// Returns the elements of a JSON array of text.
fn texts(json: &str) -> Vec<String> {
    match Json::read_kept(json.as_bytes()) {
        Some(Json::Array(list)) => list
            .iter()
            .filter_map(Json::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the name of a column without quotes. In an expression, casts to text are removed:
/// PostgreSQL adds them for a column of another text type.
fn unquoted(column: &str) -> String {
    let inner = column
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let Some(inner) = inner else {
        return without_casts(column);
    };
    inner.replace("\"\"", "\"")
}

/// Removes casts to text, and the parentheses around what is cast: `lower((mail)::text)` becomes
/// `lower(mail)`.
fn without_casts(expression: &str) -> String {
    let mut text = expression.replace('"', "");
    for cast in ["::text", "::character varying", "::citext"] {
        while let Some((before, after)) = text.split_once(cast) {
            let (begin, operand) = match before.rsplit_once('(') {
                // `f((name)::text)`: the operand has parentheses of its own.
                Some((begin, operand)) if operand.ends_with(')') => {
                    (begin, operand.trim_end_matches(')'))
                }
                _ => (before, ""),
            };
            text = format!("{begin}{operand}{after}");
        }
    }
    text
}

/// Returns the values of `CHECK ((answer = ANY (ARRAY['yes'::text, 'no'::text])))`; `None` for any
/// other condition.
fn listed(rule: &str) -> Option<Vec<String>> {
    let (_, list) = rule.split_once("= ANY ")?;
    let mut values = Vec::new();
    let mut parts = list.split('\'').skip(1);
    while let Some(value) = parts.next() {
        values.push(value.to_owned());
        parts.next();
    }
    Some(values)
}

/// Returns the value of a constant default: `'yes'::text`, `0`, `false`.
fn constant(default: &str) -> Option<String> {
    if let Some(rest) = default.strip_prefix('\'') {
        let (value, behind) = rest.split_once('\'')?;
        return (behind.is_empty() || behind.starts_with("::")).then(|| value.to_owned());
    }
    let is_number = default.parse::<i64>().is_ok();
    (is_number || matches!(default, "true" | "false")).then(|| default.to_owned())
}

/// Returns the length of a type, such as 20 for `varchar(20)`.
fn declared_length(sql_type: &str) -> Option<String> {
    let (_, rest) = sql_type.split_once('(')?;
    let (length, _) = rest.split_once(')')?;
    (class(sql_type) == ColumnType::Text).then(|| length.trim().to_owned())
}

/// Returns the class of a type by its name in one of the databases.
fn class(sql_type: &str) -> ColumnType {
    let name = sql_type.to_ascii_lowercase();
    let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    match name.as_str() {
        "int1" => ColumnType::Integer(i64::from(i8::MAX)),
        "smallint" => ColumnType::Integer(i64::from(i16::MAX)),
        "int3" => ColumnType::Integer(8_388_607),
        "integer" => ColumnType::Integer(i64::from(i32::MAX)),
        "text[]" | "character varying[]" => ColumnType::Texts,
        _ if name.ends_with("[]") => ColumnType::Other,
        "int" | "bigint" | "int2" | "int8" | "tinyint" | "mediumint" => {
            ColumnType::Integer(i64::MAX)
        }
        _ if begins(&[
            "text",
            "character",
            "bpchar",
            "varchar",
            "char",
            "nvarchar",
            "citext",
            "clob",
        ]) =>
        {
            ColumnType::Text
        }
        _ if begins(&["uuid"]) => ColumnType::Uuid,
        _ if begins(&["bool"]) => ColumnType::Boolean,
        _ if begins(&["timestamp", "datetime"]) => ColumnType::Moment,
        "date" => ColumnType::Date,
        _ if begins(&["json"]) => ColumnType::Json,
        _ if begins(&["numeric", "decimal", "double", "real", "float"]) => ColumnType::Decimal,
        _ => ColumnType::Other,
    }
}

impl DatabaseColumn {
    /// Returns the maximum of an integer column.
    pub(super) fn max_value(&self, dialect: &'static dyn SqlDialect) -> i64 {
        match self.class {
            ColumnType::Integer(most) if !dialect.has_loose_types() => most,
            _ => i64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_on_an_expression_is_recognized_with_casts() {
        for (definition, expected) in [
            ("lower(address)", "lower(address)"),
            ("lower(address::text)", "lower(address)"),
            ("lower((address)::text)", "lower(address)"),
            ("lower(address::character varying::text)", "lower(address)"),
            ("\"Mail\"", "Mail"),
            ("mail", "mail"),
        ] {
            assert_eq!(unquoted(definition), expected, "{definition}");
        }
    }
}
