//! The statements of a kind. Parameters: `?1` is the tenant, `?2` an id or a row. The fields
//! describe the others.

use svc_core::{filter::FilterField, model::Kind, schema::ComputedSource};
use svc_store::KindTable;

/// The statements about ranges of one date or text. They are empty for kinds without a collection
/// of all records.
#[derive(Debug, Default)]
pub(crate) struct RangeStatements {
    /// The number of records from `?2` to `?3`.
    pub(crate) count: String,
    /// Key and row of the record in the range with `?4` others before it.
    pub(crate) nth: String,
    /// The first `?4` records with the key `?2` after the row `?3`.
    pub(crate) same: String,
    /// The first `?4` records after the key `?2`, up to `?3`.
    pub(crate) later: String,
}

/// The statements of one table.
#[derive(Debug, Default)]
pub(crate) struct TableStatements {
    /// A record by id: `?2`.
    pub(crate) get: String,
    /// A record by row: `?2`.
    pub(crate) row: String,
    /// The first `?3` records after row `?2` in the collection of all records. Empty if there is no
    /// such collection.
    pub(crate) page: String,
    /// The same for every record, even without such a collection. It then reads the whole table.
    pub(crate) every: String,
    /// The same in the collection under `?4`, for each column.
    pub(crate) page_under: Vec<String>,
    /// The number of records whose link has the person `?2` as its target, for each link to a person.
    /// A record with several such links counts for the first one. It is counted up to `?3`.
    pub(crate) linked_count: Vec<String>,
    /// Ranges of the collection of all records by creation date and by modification date.
    pub(crate) created: RangeStatements,
    pub(crate) modified: RangeStatements,
    /// The same by each text that the records can be filtered by.
    pub(crate) texts: Vec<(FilterField, RangeStatements)>,
    /// Every row of the collection of all records, ascending.
    pub(crate) scan: String,
    /// Every row under `?2`, for each column, ascending.
    pub(crate) scan_under: Vec<String>,
    /// Row and parent of a record by id: `?2`.
    pub(crate) exists: String,
    /// Id and parent of a record by row: `?2`.
    pub(crate) place: String,
    /// Row, id and parent of a record by its unique name: `?2`. It is empty without unique names.
    pub(crate) place_of_name: String,
    /// Names of the tenants that have a record with the id `?1`. It is the only statement that does
    /// not start with the tenant.
    pub(crate) owners: String,
    /// The oldest `?3` people with an e-mail address, whose hash is `?2`. Empty for other kinds.
    pub(crate) by_email: String,
    /// A record by its unique name: `?2`. Empty if names are not unique.
    pub(crate) named: String,
    /// A membership, or the newest action: `?2` is the container, `?3` the person. Empty if the records
    /// have no container and person.
    pub(crate) membership: String,
    /// Inserts a row: `?2` id, `?3` created, `?4` modified, `?5` identifiers, `?6` body, then the
    /// columns, then the unique name.
    pub(crate) insert: String,
    /// Updates a row: `?2` row, `?3` modified, `?4` identifiers, `?5` body, then `modified_by`,
    /// then the unique name.
    pub(crate) update: String,
    /// Updates only the body of a row: `?2` row, `?3` body.
    pub(crate) set_body: String,
    /// Updates one column of a row, for each column: `?2` row, `?3` id or null.
    pub(crate) set_column: Vec<String>,
}

impl TableStatements {
    pub(crate) fn of(table: &KindTable) -> Self {
        let name = table.name;
        let select = select(table);
        let each = |text: &dyn Fn(&str) -> String| {
            table
                .columns
                .iter()
                .map(|column| text(column.name))
                .collect()
        };
        let parent = table
            .parent
            .and_then(|parent| table.columns.get(parent))
            .map_or("NULL", |column| column.name);
        let name_of = table.kind.schema().unique_name().map(|field| field.name);
        let of_all = |text: String| {
            if table.kind.schema().has_collection() {
                text
            } else {
                String::new()
            }
        };
        let of_people = |text: String| {
            if table.kind == Kind::Person {
                text
            } else {
                String::new()
            }
        };
        let fence = if table.kind.schema().has_collection() {
            ""
        } else {
            "+"
        };
        let every =
            format!("{select} WHERE {fence}r.tenant = ?1 AND r.seq > ?2 ORDER BY r.seq LIMIT ?3");
        Self {
            get: format!("{select} WHERE r.tenant = ?1 AND r.id = ?2"),
            row: format!("{select} WHERE r.tenant = ?1 AND r.seq = ?2"),
            page: of_all(every.clone()),
            every,
            page_under: each(&|column| {
                format!(
                    "{select} WHERE r.tenant = ?1 AND r.{column} = ?4 AND r.seq > ?2 ORDER BY r.seq LIMIT ?3"
                )
            }),
            linked_count: linked_count(table),
            created: dated(table, &select, "created"),
            modified: dated(table, &select, "modified"),
            texts: FilterField::of_texts(table.kind)
                .map(|field| (field, by_text(&select, field)))
                .collect(),
            scan: of_all(format!(
                "SELECT seq FROM {name} WHERE tenant = ?1 ORDER BY seq"
            )),
            scan_under: each(&|column| {
                format!("SELECT seq FROM {name} WHERE tenant = ?1 AND {column} = ?2 ORDER BY seq")
            }),
            exists: format!("SELECT seq, {parent} FROM {name} WHERE tenant = ?1 AND id = ?2"),
            place: format!("SELECT id, {parent} FROM {name} WHERE tenant = ?1 AND seq = ?2"),
            place_of_name: name_of.map_or_else(String::new, |field| {
                format!("SELECT seq, id, {parent} FROM {name} WHERE tenant = ?1 AND {field} = ?2")
            }),
            owners: format!(
                "SELECT t.name FROM {name} r JOIN tenant t ON t.id = r.tenant WHERE r.id = ?1 LIMIT 2"
            ),
            by_email: of_people(format!(
                "{select} JOIN email e ON e.tenant = r.tenant AND e.seq = r.seq WHERE e.tenant = ?1 AND e.hash = ?2 \
                 ORDER BY e.seq LIMIT ?3"
            )),
            named: name_of.map_or_else(String::new, |field| {
                format!("{select} WHERE r.tenant = ?1 AND r.{field} = ?2")
            }),
            membership: membership(table, &select),
            insert: insert(table),
            update: update(table),
            set_body: format!("UPDATE {name} SET body = ?3 WHERE tenant = ?1 AND seq = ?2"),
            set_column: each(&|column| {
                format!("UPDATE {name} SET {column} = ?3 WHERE tenant = ?1 AND seq = ?2")
            }),
        }
    }

    /// Returns every statement.
    #[cfg(test)]
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        let reads = [
            &self.get,
            &self.row,
            &self.page,
            &self.every,
            &self.scan,
            &self.exists,
            &self.place,
            &self.place_of_name,
            &self.owners,
            &self.by_email,
            &self.named,
            &self.membership,
        ];
        let writes = [&self.insert, &self.update, &self.set_body];
        let each = [
            &self.page_under,
            &self.scan_under,
            &self.linked_count,
            &self.set_column,
        ];
        let texts = self.texts.iter().map(|(_, range)| range);
        let ranges = [&self.created, &self.modified].into_iter().chain(texts);
        let all = reads
            .into_iter()
            .chain(ranges.flat_map(|of| [&of.count, &of.nth, &of.same, &of.later]))
            .chain(writes)
            .chain(each.into_iter().flatten());
        all.map(String::as_str).filter(|text| !text.is_empty())
    }
}

fn linked_count(table: &KindTable) -> Vec<String> {
    let columns = table.columns.iter();
    let people = columns.filter(|column| column.kind == Kind::Person);
    let (mut texts, mut counted) = (Vec::new(), String::new());
    for column in people.map(|column| column.name) {
        texts.push(format!(
            "SELECT count(*) FROM (SELECT 1 FROM {} WHERE tenant = ?1 AND {column} = ?2{counted} LIMIT ?3)",
            table.name
        ));
        // Without its index, which is not the one to read.
        counted = format!("{counted} AND +{column} IS NOT ?2");
    }
    texts
}

/// Returns the statement for the record of a person in a container. A container can have a million
/// actions, so the newest action is searched among those of the person.
fn membership(table: &KindTable, select: &str) -> String {
    if let Some([container, person]) = table.kind.schema().unique_links() {
        return format!("{select} WHERE r.tenant = ?1 AND r.{container} = ?2 AND r.{person} = ?3");
    }
    let person = Kind::Person.singular();
    let has_person = table.columns.iter().any(|column| column.name == person);
    let parent = table.parent.and_then(|parent| table.columns.get(parent));
    parent.filter(|_| has_person).map_or_else(String::new, |parent| {
        let container = parent.name;
        format!(
            "{select} WHERE r.tenant = ?1 AND +r.{container} = ?2 AND r.{person} = ?3 ORDER BY r.seq DESC LIMIT 1"
        )
    })
}

/// Returns the statements by a text. The name of a field has no quotes.
fn by_text(select: &str, field: FilterField) -> RangeStatements {
    let of_field = format!("x.tenant = ?1 AND x.field = '{}'", field.as_str());
    let between = format!("FROM text_key x WHERE {of_field} AND x.text BETWEEN ?2 AND ?3");
    let joined = format!("{select} JOIN text_key x ON x.tenant = r.tenant AND x.seq = r.seq");
    RangeStatements {
        count: format!("SELECT count(*) {between}"),
        nth: format!("SELECT x.text, x.seq {between} ORDER BY x.text, x.seq LIMIT 1 OFFSET ?4"),
        same: format!(
            "{joined} WHERE {of_field} AND x.text = ?2 AND x.seq > ?3 ORDER BY x.seq LIMIT ?4"
        ),
        later: format!(
            "{joined} WHERE {of_field} AND x.text > ?2 AND x.text <= ?3 ORDER BY x.text, x.seq LIMIT ?4"
        ),
    }
}

fn dated(table: &KindTable, select: &str, date: &str) -> RangeStatements {
    if !table.kind.schema().has_collection() {
        return RangeStatements::default();
    }
    let name = table.name;
    RangeStatements {
        count: format!(
            "SELECT count(*) FROM {name} WHERE tenant = ?1 AND {date} BETWEEN ?2 AND ?3"
        ),
        // Reads only the index, like the count.
        nth: format!(
            "SELECT {date}, seq FROM {name} WHERE tenant = ?1 AND {date} BETWEEN ?2 AND ?3 ORDER BY {date}, seq \
             LIMIT 1 OFFSET ?4"
        ),
        // Two statements: one for both would read the index from the first record of the timestamp.
        same: format!(
            "{select} WHERE r.tenant = ?1 AND r.{date} = ?2 AND r.seq > ?3 ORDER BY r.seq LIMIT ?4"
        ),
        later: format!(
            "{select} WHERE r.tenant = ?1 AND r.{date} > ?2 AND r.{date} <= ?3 ORDER BY r.{date}, r.seq LIMIT ?4"
        ),
    }
}

/// Returns the columns and tables of a record, in the order in which they are read.
fn select(table: &KindTable) -> String {
    let mut parts = vec!["r.seq, r.id, r.created, r.modified, r.identifiers, r.body".to_owned()];
    parts.extend(
        table
            .columns
            .iter()
            .map(|column| format!("r.{}", column.name)),
    );
    for column in table.columns {
        if let Some(home) = column.container_link() {
            let (there, here) = (column.kind.plural(), column.name);
            parts.push(format!(
                "(SELECT {home} FROM {there} WHERE tenant = r.tenant AND id = r.{here})"
            ));
        }
    }
    parts.extend(table.computed.iter().filter_map(|(_, source)| {
        let column = match source {
            ComputedSource::Count(_) => "s.records",
            ComputedSource::Measure(_) => "s.measures",
            ComputedSource::ScheduledStart => "r.scheduled_start",
            ComputedSource::ScheduledStop => "r.scheduled_stop",
            ComputedSource::AlwaysZero
            | ComputedSource::AlwaysAbsent
            | ComputedSource::Relation(_)
            | ComputedSource::Part(_)
            | ComputedSource::Former(_)
            | ComputedSource::Clock => {
                return None;
            }
        };
        Some(column.to_owned())
    }));
    let (parts, name) = (parts.join(", "), table.name);
    let has_totals = table
        .computed
        .iter()
        .any(|(_, source)| source.measured_kind().is_some());
    let totals = table.counts.filter(|_| has_totals).map_or_else(String::new, |counted| {
        let (kind, scope) = (counted.code(), table.code);
        format!(
            " LEFT JOIN total s ON s.tenant = r.tenant AND s.kind = {kind} AND s.scope = {scope} AND s.owner = r.id"
        )
    });
    format!("SELECT {parts} FROM {name} r{totals}")
}

fn insert(table: &KindTable) -> String {
    let mut names = vec!["tenant", "id", "created", "modified", "identifiers", "body"];
    names.extend(table.columns.iter().map(|column| column.name));
    names.extend(table.kind.schema().unique_name().map(|field| field.name));
    let marks: Vec<String> = (1..=names.len())
        .map(|number| format!("?{number}"))
        .collect();
    format!(
        "INSERT INTO {} ({}) VALUES ({})",
        table.name,
        names.join(", "),
        marks.join(", ")
    )
}

fn update(table: &KindTable) -> String {
    let modified_by = table.column("modified_by").map(|_| "modified_by");
    let name = table.kind.schema().unique_name().map(|field| field.name);
    let columns = ["modified", "identifiers", "body"]
        .into_iter()
        .chain(modified_by)
        .chain(name);
    let sets: Vec<String> = (3..)
        .zip(columns)
        .map(|(number, column)| format!("{column} = ?{number}"))
        .collect();
    format!(
        "UPDATE {} SET {} WHERE tenant = ?1 AND seq = ?2",
        table.name,
        sets.join(", ")
    )
}
