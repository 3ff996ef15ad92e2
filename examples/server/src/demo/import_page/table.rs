//! A table that was uploaded, and what its columns contain according to the user.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::Arc;

use serde_json::{Value, json};
use svc_declaration::visible;
use svc_import::{
    ColumnMapping, DateOrder, FileFormat, ImportCounts, MappingError, MappingOptions, Member,
    Overview, Synonyms, Table, TableError, TableLimits, column_letters,
};

use super::job::shown_counts;
use crate::demo::import::MAX_PREVIEW;

/// The maximum size of the text in a compressed file.
const MAX_TEXT: u64 = 1024 * 1024 * 1024;
/// The maximum size of a spreadsheet without its compression. It is read into memory.
const MAX_SPREADSHEET: u64 = 128 * 1024 * 1024;
/// The maximum number of letters of a shown cell.
const WIDTH: usize = 60;
/// The maximum number of shown names of tags and lists.
const MAX_NAMES: usize = 20;

/// The member of a column without a decision.
const UNDECIDED: &str = "";
/// The member of a column that becomes a custom field with its name.
const CUSTOM: &str = "custom";

/// A table, with its rows counted.
#[derive(Debug)]
pub(super) struct ReadTable {
    pub(super) table: Arc<Table>,
    pub(super) overview: Overview,
    pub(super) choice: ImportChoice,
    questions: ImportQuestions,
    /// What the import would change, if the server was asked.
    pub(super) preview: Option<ImportCounts>,
    /// Why the last import or preview has not begun, for the user.
    pub(super) problem: Option<String>,
}

/// What the user has decided.
#[derive(Debug, Clone, Default)]
pub(super) struct ImportChoice {
    /// The member of each column, in the notation of [`Member::parse`].
    members: Vec<String>,
    dates: DateOrder,
    pub(super) is_strict: bool,
    pub(super) accepts_unknown: bool,
    pub(super) creates_groups: bool,
}

/// What must be decided before the rows are sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ImportQuestions {
    /// No column identifies people.
    identity: bool,
    /// The columns with dates that can be two dates.
    dates: Vec<usize>,
    /// The columns that probably contain objections.
    objections: Vec<usize>,
}

impl ImportQuestions {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ReadTable {
    /// Reads a file, and guesses what its columns contain.
    ///
    /// # Errors
    ///
    /// Returns why the file cannot be used, for the user.
    pub(super) fn open(file: File) -> Result<Self, String> {
        let limits = TableLimits::default()
            .text(MAX_TEXT)
            .spreadsheet(MAX_SPREADSHEET);
        let table = Table::read_within(file, limits).map_err(|error| unusable(&error))?;
        let synonyms = Synonyms::built_in().unwrap_or_default();
        let mut options = MappingOptions::default();
        let guess = ColumnMapping::new(table.head(), &synonyms, &options);
        let is_guessed = guess.is_ok();
        let mut mapping = if let Ok(mapping) = guess {
            mapping
        } else {
            // Only to count the rows.
            options.rest_custom = true;
            let counted = ColumnMapping::new(table.head(), &synonyms, &options);
            counted.map_err(|_| unusable(&TableError::Empty))?
        };
        let overview = Overview::read(&table, &mut mapping);
        let overview = overview.map_err(|error| unusable(&error.into()))?;
        let mut members = vec![UNDECIDED.to_owned(); table.head().len()];
        if is_guessed {
            let known = mapping.columns().iter();
            let known = known.map(|mapped| (mapped.column, mapped.member.to_string()));
            let ignored = mapping.ignored().iter();
            let ignored = ignored.map(|column| (*column, Member::Ignored.to_string()));
            for (column, member) in known.chain(ignored) {
                if let Some(place) = members.get_mut(column) {
                    *place = member;
                }
            }
        }
        let choice = ImportChoice {
            members,
            ..ImportChoice::default()
        };
        let questions = if is_guessed {
            questions(&mapping, mapping.unread_objections(), &choice)
        } else {
            ImportQuestions {
                objections: ColumnMapping::objections_in(table.head()),
                ..ImportQuestions::default()
            }
        };
        let mut table = Self {
            table: Arc::new(table),
            overview: Overview::default(),
            choice,
            questions,
            preview: None,
            problem: None,
        };
        table.set_overview(overview);
        Ok(table)
    }

    /// Stores an overview without long cells.
    fn set_overview(&mut self, mut overview: Overview) {
        for cell in overview.examples.iter_mut().flatten() {
            *cell = shown(cell);
        }
        self.overview = overview;
    }

    /// Returns the mapping of a choice. Its columns are called by their letters.
    ///
    /// # Errors
    ///
    /// Returns why the columns cannot be mapped, for the user.
    pub(super) fn mapping(&self, choice: &ImportChoice) -> Result<ColumnMapping, String> {
        let head: Vec<String> = (0..self.table.head().len()).map(column_letters).collect();
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        let mut options = MappingOptions::default();
        options.dates = choice.dates;
        for (column, (letters, member)) in head.iter().zip(&choice.members).enumerate() {
            let member = match member.as_str() {
                UNDECIDED => continue,
                CUSTOM => {
                    let name = self.table.head().get(column).map(String::as_str);
                    let name = name.filter(|name| !name.is_empty());
                    let name = name.map_or_else(|| format!("Column {letters}"), str::to_owned);
                    let same = taken.entry(name.clone()).or_default();
                    *same = same.saturating_add(1);
                    match same {
                        1 => format!("custom_fields.{name}"),
                        more => format!("custom_fields.{name} {more}"),
                    }
                }
                other => other.to_owned(),
            };
            options.pairs.push((member, letters.clone()));
        }
        // No column has a name, so that nothing is guessed.
        ColumnMapping::new(&head, &Synonyms::default(), &options).map_err(|error| reason(&error))
    }

    /// Counts the rows again for another choice, and finds what is still to decide.
    ///
    /// # Errors
    ///
    /// Returns an error if the table cannot be read.
    pub(super) fn decide(
        table: &Table,
        choice: &ImportChoice,
        mapping: &mut ColumnMapping,
    ) -> io::Result<(Overview, ImportQuestions)> {
        let overview = Overview::read(table, mapping)?;
        // A column is undecided if the user has left it as it was.
        let synonyms = Synonyms::built_in().unwrap_or_default();
        let guess = ColumnMapping::new(table.head(), &synonyms, &MappingOptions::default());
        let objections = match guess {
            Ok(guess) => guess.unread_objections().to_vec(),
            Err(_) => ColumnMapping::objections_in(table.head()),
        };
        let questions = questions(mapping, &objections, choice);
        Ok((overview, questions))
    }

    /// Stores what [`decide`](Self::decide) has returned.
    pub(super) fn update(&mut self, overview: Overview, questions: ImportQuestions) {
        self.set_overview(overview);
        self.questions = questions;
        self.preview = None;
        self.problem = None;
    }

    /// Returns the table for the page.
    pub(super) fn view(&self) -> Value {
        let head = self.table.head().iter().zip(&self.choice.members);
        let columns = head.enumerate().map(|(column, (name, member))| {
            let cells = self.overview.examples.iter();
            let cells = cells.filter_map(|row| row.get(column));
            let cells: Vec<&String> = cells.filter(|cell| !cell.is_empty()).collect();
            json!({
                "letters": column_letters(column),
                "name": shown(name),
                "examples": cells,
                "member": member,
                "title": Member::parse(member).map(|member| member.title()),
            })
        });
        let columns: Vec<Value> = columns.collect();
        let letters = |columns: &[usize]| -> Vec<String> {
            columns
                .iter()
                .map(|column| column_letters(*column))
                .collect()
        };
        let groups = self.overview.tags.iter().chain(&self.overview.lists);
        let groups: Vec<String> = groups.take(MAX_NAMES).map(|name| shown(name)).collect();
        json!({
            "format": format(&self.table),
            "rows": self.overview.rows,
            "empty": self.overview.empty,
            "damaged": self.overview.damaged,
            "columns": columns,
            "groups": groups,
            "can_preview": self.overview.total() <= MAX_PREVIEW,
            "preview": self.preview.as_ref().map(shown_counts),
            "problem": self.problem,
            "dates": self.choice.dates,
            "is_strict": self.choice.is_strict,
            "accepts_unknown": self.choice.accepts_unknown,
            "creates_groups": self.choice.creates_groups,
            "questions": {
                "identity": self.questions.identity,
                "dates": letters(&self.questions.dates),
                "objections": letters(&self.questions.objections),
            },
        })
    }
}

impl ImportChoice {
    /// Reads the choice of a user for a table with this number of columns.
    pub(super) fn from_json(body: &[u8], columns: usize) -> Option<Self> {
        let body: Value = serde_json::from_slice(body).ok()?;
        let members = body.get("members")?.as_array()?;
        let members = members.iter().map(|one| one.as_str().map(str::to_owned));
        let members: Vec<String> = members.collect::<Option<_>>()?;
        let is_set = |name: &str| body.get(name).and_then(Value::as_bool).unwrap_or_default();
        let dates = body.get("dates").filter(|dates| !dates.is_null());
        let dates = dates.map(|dates| serde_json::from_value(dates.clone()));
        (members.len() == columns).then_some(Self {
            members,
            dates: dates.transpose().ok()?.unwrap_or_default(),
            is_strict: is_set("is_strict"),
            accepts_unknown: is_set("accepts_unknown"),
            creates_groups: is_set("creates_groups"),
        })
    }
}

fn questions(
    mapping: &ColumnMapping,
    objections: &[usize],
    choice: &ImportChoice,
) -> ImportQuestions {
    let is_undecided = |column: &&usize| {
        let member = choice.members.get(**column);
        member.is_some_and(|member| member == UNDECIDED)
    };
    ImportQuestions {
        identity: !mapping.identifies() && !choice.accepts_unknown,
        dates: mapping.ambiguous_dates(),
        objections: objections.iter().filter(is_undecided).copied().collect(),
    }
}

/// Returns why columns cannot be mapped, in plain words.
fn reason(error: &MappingError) -> String {
    match error {
        MappingError::TwoColumns {
            member,
            columns: [one, other],
        } => {
            let title = Member::parse(member).map_or_else(|| member.clone(), |one| one.title());
            format!(
                "The columns {one} and {other} both contain “{title}”, but a person has only one. Choose something else for one of them."
            )
        }
        MappingError::Nothing(_) => "Choose what at least one column contains.".to_owned(),
        _ => {
            "The choice for a column is not possible. Reload the page, and choose again.".to_owned()
        }
    }
}

/// Returns why a file is not a usable table, in plain words.
fn unusable(error: &TableError) -> String {
    let text = match error {
        TableError::Spreadsheet(_) | TableError::Zip(_) => {
            "The file cannot be opened. It may be damaged, or protected with a password. Open it in your spreadsheet program, save it as CSV, and choose the new file."
        }
        TableError::Archive => {
            "The archive must contain exactly one table. Unpack it, and choose the table."
        }
        TableError::TooLarge(_) => {
            "The table is too large for this page. Save it as CSV, or divide it into several tables."
        }
        TableError::Empty => {
            "The file contains no table. Its first row must have the names of the columns."
        }
        TableError::Head(_) => {
            "The first row of the table cannot be read. It must have the names of the columns."
        }
        TableError::TooManyColumns => {
            "The table has more than 1 000 columns. Delete those that you do not need."
        }
        _ => "The server cannot read the file. Try again.",
    };
    text.to_owned()
}

/// Returns what a file is, in plain words.
fn format(table: &Table) -> String {
    match table.format() {
        FileFormat::Excel => "Excel spreadsheet".to_owned(),
        FileFormat::OpenDocument => "OpenDocument spreadsheet".to_owned(),
        _ => {
            let separator = match table.separator() {
                '\t' => "tabs",
                ';' => "semicolons",
                '|' => "vertical bars",
                _ => "commas",
            };
            format!("CSV table, columns separated by {separator}")
        }
    }
}

/// Returns a text on one line, with invisible characters shown by name, and cut if it is long.
fn shown(text: &str) -> String {
    let text: String = text.trim().chars().take(WIDTH.saturating_add(1)).collect();
    let mut text = visible(&text).replace(['\n', '\r', '\t'], " ");
    if let Some((end, _)) = text.char_indices().nth(WIDTH) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use super::*;

    fn read(text: &str) -> ReadTable {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(text.as_bytes()).expect("it is written");
        file.rewind().expect("its start");
        ReadTable::open(file).expect("a table")
    }

    fn choice(members: &[&str]) -> ImportChoice {
        let body = json!({ "members": members });
        let body = body.to_string();
        ImportChoice::from_json(body.as_bytes(), members.len()).expect("a choice")
    }

    fn asked(table: &ReadTable, choice: &ImportChoice) -> ImportQuestions {
        let mut mapping = table.mapping(choice).expect("a mapping");
        let decided = ReadTable::decide(&table.table, choice, &mut mapping);
        decided.expect("a table").1
    }

    #[test]
    fn columns_are_named_by_their_place() {
        // The names of the columns are letters of others.
        let table = read("B,A,B\nAda,ada@example.org,x\n");
        let chosen = choice(&["given_name", "email_addresses[1].address", "custom"]);
        let mapping = table.mapping(&chosen).expect("a mapping");
        let cells = ["Ada", "ada@example.org", "x"].map(str::to_owned);
        let body = mapping.row(&cells).body;
        assert_eq!(body["person"]["given_name"], "Ada");
        assert_eq!(body["person"]["custom_fields"], json!({ "B": "x" }));
        let same = table.mapping(&choice(&["given_name", "given_name", ""]));
        let why = same.expect_err("two columns");
        assert!(why.contains("A and B both contain “First name”"), "{why}");
        assert!(table.mapping(&choice(&["", "", ""])).is_err());
        assert!(table.mapping(&choice(&["no_such", "", ""])).is_err());
        assert!(ImportChoice::from_json(b"{\"members\":[\"\"]}", 3).is_none());
    }

    #[test]
    fn what_must_be_decided_is_asked() {
        let table = read("Vorname,geboren am,Unsubscribed from events\nAda,3/4/1990,yes\n");
        let view = table.view();
        let questions = &view["questions"];
        assert_eq!(
            *questions,
            json!({ "identity": true, "dates": ["B"], "objections": ["C"] })
        );
        assert_eq!(view["columns"][0]["title"], "First name");
        let mut chosen = choice(&["given_name", "birthdate", "ignored"]);
        chosen.accepts_unknown = true;
        let asks = asked(&table, &chosen);
        assert_eq!((asks.identity, &*asks.dates), (false, &[1][..]));
        assert!(asks.objections.is_empty(), "the user has left it out");
        chosen.dates = DateOrder::DayFirst;
        assert!(asked(&table, &chosen).is_empty());
    }

    #[test]
    fn a_table_with_unknown_names_is_shown() {
        let table = read("x,y\n1,2\n,\n");
        let view = table.view();
        assert_eq!((&view["rows"], &view["empty"]), (&json!(1), &json!(1)));
        assert_eq!(view["columns"][1]["member"], "");
        assert_eq!(view["questions"]["identity"], false);
    }
}
