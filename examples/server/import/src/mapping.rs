//! Maps the columns of a table to members of a sign-up or of an action.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value, json};
use svc_core::model::Kind;
use svc_core::schema::{COMMON, FieldSpec};

use crate::action::{ActionBuilder, ActionKind};
use crate::amounts::{AmountEvidence, DecimalMark};
use crate::dates::{DateEvidence, DateOrder};
use crate::formulas::unmarked;
use crate::member::{EntryKey, MOST_ENTRIES, Member, RecordField, ValueFormat};
use crate::names::{NameTable, plain_name};
use crate::table::column_letters;
use crate::values::{CellContext, identifiers, is_objection, names_in, stricter, texts, value_of};

/// The names of columns, by the member that they set.
#[derive(Debug, Clone, Default)]
pub struct Synonyms {
    names: NameTable<Member>,
    /// Names that count only in a table with this kind of action.
    of_actions: BTreeMap<&'static str, NameTable<Member>>,
    /// Names that count only in a table that also has another column, by its plain name.
    with_other: Vec<(String, NameTable<Member>)>,
}

impl Synonyms {
    /// Returns the names that the library knows.
    ///
    /// # Errors
    ///
    /// Returns an error if its file is wrong, which a test excludes.
    pub fn built_in() -> Result<Self, SynonymsError> {
        Self::default().and(include_str!("synonyms.toml"))
    }

    /// Returns the names in a file, followed by the built-in names. The file is TOML: members in the notation of
    /// [`Member::parse`], each with a list of names. `*.action_date` means this member of every kind of action that
    /// has it.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not such a file, or if a key is not a member.
    pub fn with_file(text: &str) -> Result<Self, SynonymsError> {
        Self::default()
            .and(text)?
            .and(include_str!("synonyms.toml"))
    }

    fn and(mut self, text: &str) -> Result<Self, SynonymsError> {
        let file: BTreeMap<String, Vec<String>> = toml::from_str(text)?;
        for (text, names) in &file {
            let members: Vec<Member> = match text.strip_prefix("*.") {
                Some(text) => ActionKind::ALL
                    .into_iter()
                    .filter_map(|kind| Member::parse_of_action(kind, text))
                    .collect(),
                None => Member::parse(text).into_iter().collect(),
            };
            if members.is_empty() {
                return Err(SynonymsError::NoMember(text.clone()));
            }
            let all = members.iter();
            for (member, name) in all.flat_map(|one| names.iter().map(move |name| (one, name))) {
                match name.split_once(" + ") {
                    Some((name, other)) => {
                        let mut table = NameTable::default();
                        table.add(name, member.clone());
                        self.with_other.push((plain_name(other), table));
                    }
                    None => self.names_of(member.action()).add(name, member.clone()),
                }
            }
        }
        Ok(self)
    }

    /// Returns the names of people, or those of a kind of action.
    fn names_of(&mut self, action: Option<ActionKind>) -> &mut NameTable<Member> {
        match action {
            Some(kind) => self.of_actions.entry(kind.singular()).or_default(),
            None => &mut self.names,
        }
    }

    /// Returns the member that a column with this name sets: the member itself if the name is written as one,
    /// or one with this name. A number at the end of the name selects an e-mail address or a phone number.
    /// `others` are the plain names of all columns. Members of an action precede those of its person.
    fn member(&self, name: &str, others: &[String], action: Option<ActionKind>) -> Option<Member> {
        let is_possible = |member: &&Member| member.action().is_none() || member.action() == action;
        let mut with_other = self.with_other.iter();
        let by_other = with_other.find_map(|(other, table)| {
            let member = table.get(name).filter(|_| others.contains(other));
            member.filter(is_possible)
        });
        let by_name = by_other
            .or_else(|| self.of_actions.get(action?.singular())?.get(name))
            .or_else(|| self.names.get(name));
        if let Some(member) = by_name {
            return Some(member.clone());
        }
        if let Some(member) = Member::parse(name).filter(|member| is_possible(&member)) {
            return Some(member);
        }
        // A field of the action, such as `amount`.
        if let Some(member) = action.and_then(|kind| Member::parse_of_action(kind, name.trim())) {
            return Some(member);
        }
        let name = plain_name(name);
        let base = name.trim_end_matches(|one: char| one.is_ascii_digit());
        let number: usize = name.strip_prefix(base)?.parse().ok()?;
        let member = self.names.get(base)?.of_entry(number)?;
        // Checks the number.
        Member::parse(&member.to_string())
    }
}

/// Why a file has no synonyms.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SynonymsError {
    /// The file is not TOML of this form.
    #[error(
        "it must be TOML with a list of names for each member, such as `given_name = [\"First\"]`: {0}"
    )]
    NotToml(#[from] toml::de::Error),
    /// A key is not the notation of a member.
    #[error("`{0}` is not a member that a column can set")]
    NoMember(String),
}

/// How columns are mapped.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct MappingOptions {
    /// Members, each with the name or the letters of its column. They precede the names of columns.
    pub pairs: Vec<(String, String)>,
    /// Members of a [saved mapping](crate::SavedMapping), each with the name or the letters of its column. The
    /// pairs precede them.
    pub saved: Vec<(String, String)>,
    /// Whether all other columns become custom fields.
    pub rest_custom: bool,
    /// The order of day and month, if it is known.
    pub dates: DateOrder,
    /// The decimal mark of amounts, if it is known.
    pub decimal_mark: DecimalMark,
    /// The kind of action that each row has in addition to its person.
    pub action: Option<ActionKind>,
}

/// Why columns cannot be mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MappingError {
    /// No column has this name or these letters.
    NoColumn {
        /// What was given.
        column: String,
        /// The columns of the table, as text.
        known: String,
    },
    /// No column can set such a member.
    NoMember(String),
    /// Two columns set one member.
    TwoColumns {
        /// The member.
        member: String,
        /// The columns.
        columns: [String; 2],
    },
    /// One column sets two members.
    TwoMembers {
        /// The column.
        column: String,
        /// The members.
        members: [String; 2],
    },
    /// The member belongs to a kind of action that is not imported.
    OtherAction {
        /// The member.
        member: String,
        /// The kind of action, in the plural.
        action: &'static str,
    },
    /// No column has a value without which the action has no meaning.
    NoDecisive {
        /// The member.
        member: String,
        /// The columns of the table, as text.
        known: String,
    },
    /// No column has a member. It has the columns of the table, as text.
    Nothing(String),
}

impl fmt::Display for MappingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoColumn { column, known } => {
                write!(f, "there is no column `{column}`, only {known}")
            }
            Self::NoMember(member) => write!(
                f,
                "`{member}` is not a member that a column can set; allowed are {}",
                Member::all().join(", ")
            ),
            Self::TwoColumns {
                member,
                columns: [one, other],
            } => write!(f, "the columns `{one}` and `{other}` both set `{member}`"),
            Self::TwoMembers {
                column,
                members: [one, other],
            } => write!(
                f,
                "the column `{column}` has two members: `{one}` and `{other}`"
            ),
            Self::OtherAction { member, action } => {
                write!(f, "`{member}` can be set only if {action} are imported")
            }
            Self::NoDecisive { member, known } => {
                write!(f, "no column sets `{member}`: {known}")
            }
            Self::Nothing(known) => write!(
                f,
                "no name in the first row that is not empty is the name of a member: {known}"
            ),
        }
    }
}

impl std::error::Error for MappingError {}

/// Parts of plain names of columns that probably contain objections.
const OBJECTIONS: [&str; 11] = [
    "unsub",
    "optout",
    "optedout",
    "donot",
    "dont",
    "bounce",
    "deceased",
    "verstorben",
    "abbestell",
    "widerruf",
    "desinscri",
];

/// Whether a column with this plain name probably contains objections.
fn names_objection(plain: &str) -> bool {
    OBJECTIONS.iter().any(|part| plain.contains(part))
}

/// The member that a column sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedColumn {
    /// The index of the column, from 0.
    pub column: usize,
    /// The member.
    pub member: Member,
}

/// A value of a cell that its person does not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedCell {
    /// The index of the column, from 0.
    pub column: usize,
    /// Why, as the end of a sentence about the cell.
    pub reason: String,
}

/// The sign-up or the action of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct MappedRow {
    /// The body of a request to the helper.
    pub body: Value,
    /// The values that it does not contain.
    pub dropped: Vec<DroppedCell>,
    /// The values because of which the row must not be sent: its action would say something else without them.
    pub rejected: Vec<DroppedCell>,
    /// Whether it has an e-mail address, a phone number or an identifier, by which the person is found.
    pub identifies: bool,
}

/// The members that the columns of a table set.
#[derive(Debug, Clone)]
pub struct ColumnMapping {
    columns: Vec<MappedColumn>,
    /// The columns without a member.
    left_out: Vec<usize>,
    /// The columns that are left out on purpose.
    ignored: Vec<usize>,
    /// The columns without a member that probably contain objections.
    objections: Vec<usize>,
    evidence: BTreeMap<usize, DateEvidence>,
    dates: DateOrder,
    amounts: BTreeMap<usize, AmountEvidence>,
    decimal_mark: DecimalMark,
    action: Option<ActionKind>,
    /// Whether the table was exported.
    is_export: bool,
}

impl ColumnMapping {
    /// Maps the columns with these names.
    ///
    /// If two columns have names of one entry of a list, such as `Phone` and `Telephone`, the second one sets
    /// the next entry. If they have names of another member, the first one sets it.
    ///
    /// # Errors
    ///
    /// Returns an error if a pair is wrong, or if no column sets a member.
    pub fn new(
        head: &[String],
        synonyms: &Synonyms,
        options: &MappingOptions,
    ) -> Result<Self, MappingError> {
        let plain: Vec<String> = head.iter().map(|name| plain_name(name)).collect();
        let given = given_columns(head, &plain, synonyms, options)?;
        let mut taken: Vec<Member> = given.values().cloned().collect();
        let mut mapping = Self {
            columns: Vec::new(),
            left_out: Vec::new(),
            ignored: Vec::new(),
            objections: Vec::new(),
            evidence: BTreeMap::new(),
            dates: options.dates,
            amounts: BTreeMap::new(),
            decimal_mark: options.decimal_mark,
            action: options.action,
            is_export: is_export(head),
        };
        for (column, name) in head.iter().enumerate() {
            let chosen = match given.get(&column) {
                Some(member) => Some(member.clone()),
                // The other columns of an export have values that the server sets.
                None if mapping.is_export => {
                    let member = Member::parse(name).unwrap_or(Member::Ignored);
                    let action = member.action();
                    let is_possible = action.is_none() || action == options.action;
                    is_possible.then_some(member)
                }
                None => synonyms
                    .member(name, &plain, options.action)
                    .and_then(|member| free(member, &taken)),
            };
            let rest = (options.rest_custom && !name.is_empty()).then(|| custom(name, &taken));
            match chosen.or(rest) {
                Some(Member::Ignored) => mapping.ignored.push(column),
                Some(member) => {
                    taken.push(member.clone());
                    mapping.columns.push(MappedColumn { column, member });
                }
                None if name.is_empty() => {}
                None => {
                    if plain
                        .get(column)
                        .is_some_and(|plain| names_objection(plain))
                    {
                        mapping.objections.push(column);
                    }
                    mapping.left_out.push(column);
                }
            }
        }
        mapping.resolve_full_name(&plain);
        if mapping.columns.is_empty() {
            return Err(MappingError::Nothing(shown_columns(head)));
        }
        mapping.check_amount(head)?;
        let births = mapping.columns_with(ValueFormat::Birthdate);
        let dates = births.chain(mapping.columns_with(ValueFormat::Timestamp));
        mapping.evidence = dates
            .map(|column| (column, DateEvidence::default()))
            .collect();
        let amounts = mapping.columns_with(ValueFormat::Amount);
        mapping.amounts = amounts
            .map(|column| (column, AmountEvidence::default()))
            .collect();
        Ok(mapping)
    }

    /// Returns an error if the action needs an amount, and no column has one.
    fn check_amount(&self, head: &[String]) -> Result<(), MappingError> {
        let Some((action, amount)) = self.action.and_then(|kind| Some((kind, kind.amount()?)))
        else {
            return Ok(());
        };
        if self.columns_with(ValueFormat::Amount).next().is_some() {
            return Ok(());
        }
        Err(MappingError::NoDecisive {
            member: format!("{}.{amount}", action.singular()),
            known: shown_columns(head),
        })
    }

    fn columns_with(&self, format: ValueFormat) -> impl Iterator<Item = usize> {
        let columns = self.columns.iter();
        let columns = columns.filter(move |mapped| mapped.member.format() == Some(format));
        columns.map(|mapped| mapped.column)
    }

    /// Decides what a column with a full name sets in a table with a column of given names: the family name if
    /// the column is only called `Name` and no other has it, and otherwise nothing.
    fn resolve_full_name(&mut self, plain: &[String]) {
        let field = |name: &str| Member::parse(name);
        let has = |columns: &[MappedColumn], member: &Option<Member>| {
            columns
                .iter()
                .any(|mapped| Some(&mapped.member) == member.as_ref())
        };
        let (given, family) = (field("given_name"), field("family_name"));
        let has_given = has(&self.columns, &given);
        let has_family = has(&self.columns, &family);
        if !has_given {
            return;
        }
        let is_full = |mapped: &MappedColumn| mapped.member == Member::FullName;
        let full = self.columns.iter_mut().find(|mapped| is_full(mapped));
        let Some((full, family)) = full.zip(family) else {
            return;
        };
        if !has_family && plain.get(full.column).is_some_and(|name| name == "name") {
            full.member = family;
            return;
        }
        self.left_out.push(full.column);
        self.left_out.sort_unstable();
        self.columns.retain(|mapped| !is_full(mapped));
    }

    /// Returns the columns that set a member, in the order of the table.
    #[must_use]
    pub fn columns(&self) -> &[MappedColumn] {
        &self.columns
    }

    /// Returns the indexes of the columns that set nothing.
    #[must_use]
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// Returns the indexes of the columns that are left out on purpose, such as the date of an export.
    #[must_use]
    pub fn ignored(&self) -> &[usize] {
        &self.ignored
    }

    /// Returns the indexes of the columns with these names that probably contain objections, such as `Unsubscribed`.
    #[must_use]
    pub fn objections_in(head: &[String]) -> Vec<usize> {
        let names = head.iter().map(|name| plain_name(name)).enumerate();
        let found = names.filter(|(_, plain)| names_objection(plain));
        found.map(|(column, _)| column).collect()
    }

    /// Returns the indexes of the columns that set nothing, and whose names say that they contain objections, such
    /// as `Unsubscribed from events`.
    #[must_use]
    pub fn unread_objections(&self) -> &[usize] {
        &self.objections
    }

    /// Returns the kind of action that each row has in addition to its person.
    #[must_use]
    pub fn action(&self) -> Option<ActionKind> {
        self.action
    }

    /// Whether a column can identify a person: by an e-mail address, a phone number or an identifier.
    #[must_use]
    pub fn identifies(&self) -> bool {
        self.columns.iter().any(|mapped| mapped.member.identifies())
    }

    /// Returns the names of tags (`true`) and lists (`false`) in a row.
    pub(crate) fn names_of_groups(&self, cells: &[String]) -> impl Iterator<Item = (bool, String)> {
        let groups = self.columns.iter().filter_map(|mapped| {
            let is_tag = match mapped.member {
                Member::Tags => true,
                Member::Lists => false,
                _ => return None,
            };
            Some((is_tag, cells.get(mapped.column)?))
        });
        groups.flat_map(|(is_tag, cell)| {
            texts(unmarked(cell.trim()))
                .into_iter()
                .map(move |name| (is_tag, name))
        })
    }

    /// Learns from a row in which order its dates have day and month, and which decimal mark its amounts have.
    pub fn learn(&mut self, cells: &[String]) {
        for (column, evidence) in &mut self.evidence {
            if let Some(cell) = cells.get(*column) {
                evidence.add(cell);
            }
        }
        for (column, evidence) in &mut self.amounts {
            if let Some(cell) = cells.get(*column) {
                evidence.add(cell);
            }
        }
    }

    /// Returns the indexes of the columns with dates whose order of day and month is not known. The rows must have
    /// been [learned](Self::learn).
    #[must_use]
    pub fn ambiguous_dates(&self) -> Vec<usize> {
        if self.dates != DateOrder::Unknown {
            return Vec::new();
        }
        let evidence = self.evidence.iter();
        let ambiguous = evidence.filter(|(_, evidence)| evidence.is_ambiguous());
        ambiguous.map(|(column, _)| *column).collect()
    }

    /// Returns the sign-up or the action of a row. Empty cells are left out, and values that their member cannot have
    /// are dropped.
    #[must_use]
    pub fn row(&self, cells: &[String]) -> MappedRow {
        let mut row = RowBuilder::default();
        // The region and the postal code of an address depend on its country.
        for is_late in [false, true] {
            for MappedColumn { column, member } in &self.columns {
                let cell = cells
                    .get(*column)
                    .map(|cell| unmarked(cell.trim()))
                    .unwrap_or_default();
                if member.depends_on_country() != is_late {
                    continue;
                }
                if cell.is_empty() {
                    if member.is_required() {
                        row.action.reject(*column, "is empty");
                    }
                    continue;
                }
                if let Err(reason) = row.set(member, cell, *column, self.context(*column)) {
                    let column = *column;
                    row.dropped.push(DroppedCell { column, reason });
                }
            }
        }
        if let Some(action) = self.action {
            let is_complete = action.amount().is_none() || row.action.has_amount();
            if !is_complete && row.action.rejected.is_empty() {
                let column = self.columns_with(ValueFormat::Amount).next();
                row.action.reject(column.unwrap_or_default(), "is empty");
            }
            row.action.check_amounts(action);
        }
        row.finish()
    }

    fn context(&self, column: usize) -> CellContext<'static> {
        let mark = match self.decimal_mark {
            DecimalMark::Unknown if self.is_export => DecimalMark::Point,
            DecimalMark::Unknown => {
                let evidence = self.amounts.get(&column).copied();
                evidence.unwrap_or_default().mark()
            }
            known => known,
        };
        CellContext {
            dates: self.order(column),
            decimal_mark: mark,
            country: None,
            is_export: self.is_export,
        }
    }

    fn order(&self, column: usize) -> DateOrder {
        match self.dates {
            DateOrder::Unknown => {
                let evidence = self.evidence.get(&column).copied();
                evidence.unwrap_or_default().order()
            }
            known => known,
        }
    }
}

impl Member {
    fn format(&self) -> Option<ValueFormat> {
        match self {
            Self::Field(field) | Self::Action(_, field) => Some(field.format),
            _ => None,
        }
    }

    /// Whether each row needs a value, because without one the action would say something else: that a person attends.
    fn is_required(&self) -> bool {
        matches!(self, Self::Action(_, field) if matches!(field.format, ValueFormat::Listed(_)))
    }

    fn depends_on_country(&self) -> bool {
        let Self::Field(field) = self else {
            return false;
        };
        field.format == ValueFormat::Region || field.member == Some("postal_code")
    }
}

/// Whether columns have the names of an export: an id, and members in their notation.
fn is_export(head: &[String]) -> bool {
    let is_member = |name: &String| {
        let member = Member::parse(name);
        member.is_some_and(|member| member.to_string() == *name) || is_of_server(name)
    };
    head.len() > 1
        && head
            .split_first()
            .is_some_and(|(first, rest)| first == "id" && rest.iter().all(is_member))
}

/// Whether an exported column has a value that a server sets: the id of a linked record, or a date.
pub(crate) fn is_of_server(name: &str) -> bool {
    let is_kind = |name: &str| Kind::ALL.iter().any(|kind| kind.singular() == name);
    let name = match name.split_once('.') {
        Some((kind, "id")) if is_kind(kind) => return true,
        Some((kind, name)) if is_kind(kind) => name,
        _ => name,
    };
    COMMON.field(name).is_some_and(FieldSpec::is_computed)
}

/// Returns the members that are given for columns.
fn given_columns(
    head: &[String],
    plain: &[String],
    synonyms: &Synonyms,
    options: &MappingOptions,
) -> Result<BTreeMap<usize, Member>, MappingError> {
    let mut given: BTreeMap<usize, Member> = BTreeMap::new();
    for (text, column) in &options.pairs {
        let place = place_of(head, column)?;
        let member = Member::parse(text).or_else(|| synonyms.member(text, plain, options.action));
        let member = possible(member, text, options)?;
        let name = |place: usize| head.get(place).cloned().unwrap_or_default();
        let is_same = |known: &Member| *known == member && !member.is_list();
        if let Some(known) = given.get(&place).filter(|known| **known != member) {
            return Err(MappingError::TwoMembers {
                column: name(place),
                members: [known.to_string(), member.to_string()],
            });
        }
        let other = given
            .iter()
            .find(|(other, known)| **other != place && is_same(known));
        if let Some((other, _)) = other {
            return Err(MappingError::TwoColumns {
                member: member.to_string(),
                columns: [name(*other), name(place)],
            });
        }
        given.insert(place, member);
    }
    for (text, column) in &options.saved {
        let place = place_of(head, column)?;
        let member = possible(Member::parse(text), text, options)?;
        let is_taken = given.values().any(|known| *known == member) && !member.is_list();
        if !is_taken {
            given.entry(place).or_insert(member);
        }
    }
    Ok(given)
}

/// Returns the member of a notation, if rows can have it.
fn possible(
    member: Option<Member>,
    text: &str,
    options: &MappingOptions,
) -> Result<Member, MappingError> {
    let member = member.ok_or_else(|| MappingError::NoMember(text.to_owned()))?;
    match member.action() {
        Some(kind) if Some(kind) != options.action => Err(MappingError::OtherAction {
            member: member.to_string(),
            action: kind.plural(),
        }),
        _ => Ok(member),
    }
}

/// Returns the custom field with a name. A second column with the name gets another key.
fn custom(name: &str, taken: &[Member]) -> Member {
    let first = Member::Custom(name.to_owned());
    let others = (2..).map(|number: u32| Member::Custom(format!("{name} {number}")));
    let mut all = std::iter::once(first.clone()).chain(others);
    all.find(|member| !taken.contains(member)).unwrap_or(first)
}

/// Returns the columns of a table as text, with their letters.
fn shown_columns(head: &[String]) -> String {
    let named = head.iter().enumerate().filter(|(_, name)| !name.is_empty());
    let shown = named.map(|(column, name)| format!("{} ({name})", column_letters(column)));
    shown.collect::<Vec<_>>().join(", ")
}

/// Returns the index of the column with a name or letters.
fn place_of(head: &[String], column: &str) -> Result<usize, MappingError> {
    let column = column.trim();
    let exact = head.iter().position(|name| name == column);
    let plain = || {
        let wanted = plain_name(column);
        let is_named = |name: &String| !wanted.is_empty() && plain_name(name) == wanted;
        head.iter().position(is_named)
    };
    let is_lettered = |place: &usize| column_letters(*place).eq_ignore_ascii_case(column);
    let by_letters = || (0..head.len()).find(is_lettered);
    exact
        .or_else(plain)
        .or_else(by_letters)
        .ok_or_else(|| MappingError::NoColumn {
            column: column.to_owned(),
            known: shown_columns(head),
        })
}

/// Returns the member, or the same of the next free entry, if no other column sets it.
fn free(member: Member, taken: &[Member]) -> Option<Member> {
    if member.is_list() || !taken.contains(&member) {
        return Some(member);
    }
    // Only the value that makes an entry has further entries: a second column with a status has none.
    let makes_entry = matches!(
        &member,
        Member::Field(field) if matches!(field.format, ValueFormat::Email | ValueFormat::Phone)
    );
    let mut others = (2..=MOST_ENTRIES).filter_map(|number| member.of_entry(number));
    others.find(|other| makes_entry && !taken.contains(other))
}

/// The body of a sign-up or of an action while it is made.
#[derive(Debug, Default)]
struct RowBuilder {
    person: Map<String, Value>,
    /// The entries of each list, in the order of their keys.
    entries: BTreeMap<&'static str, BTreeMap<EntryKey, Map<String, Value>>>,
    /// The lines of texts in entries, by their place.
    lines: BTreeMap<(&'static str, Option<EntryKey>, &'static str), BTreeMap<usize, String>>,
    /// The consents for all entries of a list, each with the column of the last value.
    consents: BTreeMap<(&'static str, &'static str), (usize, Value)>,
    tags: Vec<String>,
    lists: Vec<String>,
    full_name: Option<String>,
    dropped: Vec<DroppedCell>,
    action: ActionBuilder,
}

impl RowBuilder {
    fn set(
        &mut self,
        member: &Member,
        cell: &str,
        column: usize,
        context: CellContext<'static>,
    ) -> Result<(), String> {
        match member {
            Member::Ignored => Ok(()),
            Member::FullName => {
                self.full_name = Some(cell.to_owned());
                Ok(())
            }
            Member::Tags => {
                add_new(&mut self.tags, texts(cell));
                Ok(())
            }
            Member::Lists => {
                add_new(&mut self.lists, texts(cell));
                Ok(())
            }
            Member::Identifiers(system) => {
                let (found, wrong) = identifiers(cell, system.as_deref());
                if !found.is_empty() {
                    let all = self
                        .person
                        .entry("identifiers")
                        .or_insert_with(|| json!([]));
                    if let Some(all) = all.as_array_mut() {
                        all.extend(found.into_iter().map(Value::from));
                    }
                }
                wrong.map_or(Ok(()), Err)
            }
            Member::Custom(key) => {
                let fields = self
                    .person
                    .entry("custom_fields")
                    .or_insert_with(|| json!({}));
                if let Some(fields) = fields.as_object_mut() {
                    fields.insert(key.clone(), cell.into());
                }
                Ok(())
            }
            Member::Field(field) => self.set_field(field, cell, column, context),
            Member::ActionIdentifiers(_, system) => {
                self.action.add_identifiers(cell, system.as_deref())
            }
            Member::Action(action, field) => self.action.set(*action, field, cell, column, context),
        }
    }

    fn set_field(
        &mut self,
        field: &RecordField,
        cell: &str,
        column: usize,
        context: CellContext<'static>,
    ) -> Result<(), String> {
        let country = field.entry.as_ref().and_then(|key| {
            let entry = self.entries.get(field.field)?.get(key)?;
            entry.get("country")?.as_str()
        });
        let context = CellContext { country, ..context };
        let Some(value) = value_of(field, cell, context)? else {
            return Ok(());
        };
        match (&field.entry, field.member, field.line) {
            (Some(EntryKey::All), Some(member), _) => {
                let known = self.consents.remove(&(field.field, member));
                let value = match known {
                    Some((_, known)) => stricter(member, known, value),
                    None => value,
                };
                self.consents.insert((field.field, member), (column, value));
            }
            (key, Some(member), Some(line)) => {
                let lines = self.lines.entry((field.field, key.clone(), member));
                let text = lines.or_default().entry(line).or_default();
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(value.as_str().unwrap_or_default());
            }
            (Some(key), Some(member), None) => {
                let entries = self.entries.entry(field.field).or_default();
                let entry = entries.entry(key.clone()).or_default();
                match value {
                    // A region whose name also names the country.
                    Value::Object(both) => entry.extend(both),
                    value => insert(entry, member, field.inner, value),
                }
            }
            (None, Some(member), None) => {
                let object = self.person.entry(field.field).or_insert_with(|| json!({}));
                match (object.as_object_mut(), value) {
                    (Some(object), Value::Object(both)) => object.extend(both),
                    (Some(object), value) => insert(object, member, field.inner, value),
                    (None, _) => {}
                }
            }
            _ => {
                let known = self
                    .person
                    .get_mut(field.field)
                    .and_then(Value::as_array_mut);
                match (known, value) {
                    (Some(known), Value::Array(more)) => known.extend(more),
                    (_, value) => drop(self.person.insert(field.field.to_owned(), value)),
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> MappedRow {
        let has_name = ["given_name", "family_name"]
            .iter()
            .any(|name| self.person.contains_key(*name));
        if let Some(name) = self.full_name.take().filter(|_| !has_name) {
            let name = names_in(&name);
            for (member, part) in [
                ("given_name", name.given),
                ("family_name", name.family),
                ("honorific_suffix", name.suffix),
            ] {
                if let Some(part) = part {
                    self.person.insert(member.to_owned(), part.into());
                }
            }
        }
        for ((field, key, member), lines) in std::mem::take(&mut self.lines) {
            let object = if let Some(key) = key {
                let entries = self.entries.entry(field).or_default();
                Some(entries.entry(key).or_default())
            } else {
                let object = self.person.entry(field).or_insert_with(|| json!({}));
                object.as_object_mut()
            };
            let lines: Vec<Value> = lines.into_values().map(Value::from).collect();
            if let Some(object) = object {
                insert(object, member, None, lines.into());
            }
        }
        self.apply_consents();
        for (list, entries) in self.entries {
            let entries = entries.into_iter().filter_map(|(key, mut entry)| {
                // A status alone does not make an address.
                let needed = match list {
                    "email_addresses" => Some("address"),
                    "phone_numbers" => Some("number"),
                    _ => None,
                };
                if needed.is_some_and(|needed| !entry.contains_key(needed)) {
                    return None;
                }
                if let EntryKey::Type(member, value) = key {
                    entry.entry(member).or_insert_with(|| value.into());
                }
                Some(Value::Object(entry))
            });
            let entries: Vec<Value> = entries.collect();
            if !entries.is_empty() {
                self.person.insert(list.to_owned(), entries.into());
            }
        }
        let identifies = ["email_addresses", "phone_numbers", "identifiers"]
            .iter()
            .any(|list| self.person.contains_key(*list));
        let rejected = std::mem::take(&mut self.action.rejected);
        let mut body = self.action.finish();
        body.insert("person".to_owned(), Value::Object(self.person));
        for (member, names) in [("add_tags", self.tags), ("add_lists", self.lists)] {
            if !names.is_empty() {
                body.insert(member.to_owned(), names.into());
            }
        }
        self.dropped.sort_by_key(|cell| cell.column);
        MappedRow {
            body: Value::Object(body),
            dropped: self.dropped,
            rejected,
            identifies,
        }
    }

    /// Applies the consents of the row: an objection to every entry, and anything else to the first entry without
    /// a value of its own.
    fn apply_consents(&mut self) {
        for ((list, member), (column, value)) in std::mem::take(&mut self.consents) {
            let entries = self.entries.get_mut(list).into_iter().flatten();
            let needed = if list == "email_addresses" {
                "address"
            } else {
                "number"
            };
            let mut entries = entries
                .map(|(_, entry)| entry)
                .filter(|entry| entry.contains_key(needed))
                .peekable();
            if entries.peek().is_none() {
                if is_objection(member, &value) {
                    let reason = "is not stored, because the row has no address or number that it belongs to".to_owned();
                    self.dropped.push(DroppedCell { column, reason });
                }
                continue;
            }
            let applies_to_all = is_objection(member, &value);
            for entry in entries {
                let value = match entry.remove(member) {
                    Some(own) => stricter(member, own, value.clone()),
                    None => value.clone(),
                };
                entry.insert(member.to_owned(), value);
                if !applies_to_all {
                    break;
                }
            }
        }
    }
}

/// Sets a member of an object, or a member of the object in it.
fn insert(object: &mut Map<String, Value>, member: &str, inner: Option<&str>, value: Value) {
    let Some(inner) = inner else {
        object.insert(member.to_owned(), value);
        return;
    };
    let object = object.entry(member).or_insert_with(|| json!({}));
    if let Some(object) = object.as_object_mut() {
        object.insert(inner.to_owned(), value);
    }
}

fn add_new(all: &mut Vec<String>, more: Vec<String>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

#[cfg(test)]
mod tests;
