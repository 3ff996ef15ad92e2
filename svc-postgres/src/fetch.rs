//! What the rulebook asks, fetched: all questions of a batch in one round trip.

use std::collections::HashMap;

use futures_util::future::try_join_all;
use svc_core::{
    model::Kind,
    store::{Answer, Found, Holding, Key, Question, Stored, Sum, lookup},
    value::Amount,
};
use tokio_postgres::{Row, types::ToSql};
use uuid::Uuid;

use crate::{
    error::{Result, StoreError},
    layout::{SLOTS, layout},
    pool::Lent,
    rows::{code, stored, uuid},
    statements::Statements,
};

/// Stands for a ticket whose place is not known any more.
pub(crate) const ANY: i64 = -1;

/// One statement to run, with its values.
pub(crate) struct Query<'a> {
    pub(crate) text: &'a str,
    pub(crate) values: Vec<Box<dyn ToSql + Sync + Send>>,
}

impl<'a> Query<'a> {
    pub(crate) fn new(text: &'a str, values: Vec<Box<dyn ToSql + Sync + Send>>) -> Self {
        Self { text, values }
    }
}

/// Boxes the values of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$(Box::new($value) as Box<dyn tokio_postgres::types::ToSql + Sync + Send>),*] };
}
pub(crate) use values;

/// Runs statements one behind the other without waiting in between; what each gave.
pub(crate) async fn run(lent: &mut Lent, queries: &[Query<'_>]) -> Result<Vec<Vec<Row>>> {
    let texts: Vec<&str> = queries.iter().map(|query| query.text).collect();
    lent.prepare(&texts).await?;
    let lent = &*lent;
    let mut sent = Vec::with_capacity(queries.len());
    for query in queries {
        sent.push(one(lent, query));
    }
    try_join_all(sent).await
}

async fn one(lent: &Lent, query: &Query<'_>) -> Result<Vec<Row>> {
    let statement = lent.statement(query.text)?;
    let values: Vec<&(dyn ToSql + Sync)> = query.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
    Ok(lent.client().query(statement, &values).await?)
}

/// The questions of one fetch by the statement that answers them, each with its place among all.
#[derive(Default)]
struct Sorted {
    ids: (Vec<i16>, Vec<Uuid>, Vec<i32>),
    identifiers: (Vec<i16>, Vec<Uuid>, Vec<i32>),
    emails: (Vec<Uuid>, Vec<i32>),
    names: (Vec<i16>, Vec<String>, Vec<i32>),
    links: (Vec<i16>, Vec<Uuid>, Vec<i16>, Vec<i16>, Vec<i32>),
    totals: (Vec<i16>, Vec<i16>, Vec<Uuid>, Vec<i32>),
    parts: (Vec<Uuid>, Vec<i32>),
}

/// Keys of one kind by what they are.
#[derive(Default)]
struct Keyed {
    ids: Vec<Uuid>,
    names: Vec<String>,
    identifiers: Vec<Uuid>,
    emails: Vec<Uuid>,
}

impl Keyed {
    fn of(keys: &[Key]) -> Self {
        let mut keyed = Self::default();
        for key in keys {
            match key {
                Key::Id(_, id) => keyed.ids.extend(uuid(id)),
                Key::Name(_, name) => keyed.names.push(name.clone()),
                Key::Identifier(_, identifier) => {
                    keyed.identifiers.push(Uuid::from_bytes(lookup::identifier(identifier)))
                }
                Key::Email(address) => keyed.emails.push(Uuid::from_bytes(lookup::email(address))),
                _ => {}
            }
        }
        keyed
    }

    fn values(self) -> Vec<Box<dyn ToSql + Sync + Send>> {
        values![self.ids, self.names, self.identifiers, self.emails]
    }
}

/// The answers to these questions, all of one moment.
pub(crate) async fn fetch(
    lent: &mut Lent,
    texts: &Statements,
    tenant: i64,
    questions: Vec<Question>,
) -> Result<Vec<(Question, Answer)>> {
    let mut sorted = Sorted::default();
    // Those that have a statement of their own, by their place.
    let mut own: Vec<(usize, Query<'_>)> = Vec::new();
    for (at, question) in questions.iter().enumerate() {
        let place = i32::try_from(at).unwrap_or(i32::MAX);
        match question {
            Question::Find(key) | Question::Record(key) => sorted.key(key, place),
            Question::Members { kind, groups, people } => {
                let of = kind.schema().parent_kind().map(code).unwrap_or_default();
                let mut values = values![tenant, code(*kind), of];
                values.extend(Keyed::of(groups).values());
                values.extend(Keyed::of(people).values());
                own.push((at, Query::new(&texts.members, values)));
            }
            Question::Answered { people, questions } => {
                let mut values = values![tenant];
                values.extend(Keyed::of(people).values());
                values.extend(Keyed::of(questions).values());
                own.push((at, Query::new(&texts.answered, values)));
            }
            Question::Count { kind, of: Key::Id(of, id) } => sorted.total(*kind, *of, uuid(id), place),
            Question::Sum(Key::Id(of, id)) => {
                if let Some(members) = layout(*of).table.counts {
                    sorted.total(members, *of, uuid(id), place);
                }
            }
            Question::Parts(Key::Id(_, id)) => {
                if let Some(id) = uuid(id) {
                    sorted.parts.0.push(id);
                    sorted.parts.1.push(place);
                }
            }
            Question::Holdings(person) => {
                if let Some(person) = uuid(person) {
                    own.push((at, Query::new(&texts.holdings, values![tenant, person])));
                }
            }
            // Asked again by its id, once that is known.
            _ => {}
        }
    }
    let (places, queries): (Vec<usize>, Vec<Query<'_>>) = own.into_iter().unzip();
    let mut all = sorted.queries(texts, tenant);
    let first_own = all.len();
    all.extend(queries);
    let mut rows = run(lent, &all).await?;
    let own: HashMap<usize, Vec<Row>> = places.into_iter().zip(rows.split_off(first_own)).collect();
    answers(questions, rows, own)
}

impl Sorted {
    fn key(&mut self, key: &Key, place: i32) {
        match key {
            Key::Id(kind, id) => {
                if let Some(id) = uuid(id) {
                    self.ids.0.push(code(*kind));
                    self.ids.1.push(id);
                    self.ids.2.push(place);
                }
            }
            Key::Name(kind, name) => {
                self.names.0.push(code(*kind));
                self.names.1.push(name.clone());
                self.names.2.push(place);
            }
            Key::Identifier(kind, identifier) => {
                self.identifiers.0.push(code(*kind));
                self.identifiers.1.push(Uuid::from_bytes(lookup::identifier(identifier)));
                self.identifiers.2.push(place);
            }
            Key::Email(address) => {
                self.emails.0.push(Uuid::from_bytes(lookup::email(address)));
                self.emails.1.push(place);
            }
            Key::Link(kind, id, link) => {
                if let (Some(id), Some((reference, column))) = (uuid(id), layout(*kind).column(link)) {
                    let slot = SLOTS.iter().position(|slot| *slot == column).map_or(0, |slot| slot.saturating_add(1));
                    self.links.0.push(code(*kind));
                    self.links.1.push(id);
                    self.links.2.push(code(reference.kind));
                    self.links.3.push(i16::try_from(slot).unwrap_or_default());
                    self.links.4.push(place);
                }
            }
            _ => {}
        }
    }

    fn total(&mut self, members: Kind, of: Kind, owner: Option<Uuid>, place: i32) {
        if let Some(owner) = owner {
            self.totals.0.push(code(members));
            self.totals.1.push(code(of));
            self.totals.2.push(owner);
            self.totals.3.push(place);
        }
    }

    /// The statements, those of records first: see [`RECORDS`].
    fn queries<'a>(self, texts: &'a Statements, tenant: i64) -> Vec<Query<'a>> {
        let (ids, identifiers, emails, names, links) =
            (self.ids, self.identifiers, self.emails, self.names, self.links);
        vec![
            Query::new(&texts.by_id, values![tenant, ids.0, ids.1, ids.2]),
            Query::new(&texts.by_identifier, values![tenant, identifiers.0, identifiers.1, identifiers.2]),
            Query::new(&texts.by_email, values![tenant, emails.0, emails.1]),
            Query::new(&texts.by_name, values![tenant, names.0, names.1, names.2]),
            Query::new(&texts.by_link, values![tenant, links.0, links.1, links.2, links.3, links.4]),
            Query::new(&texts.totals, values![tenant, self.totals.0, self.totals.1, self.totals.2, self.totals.3]),
            Query::new(&texts.parts, values![tenant, self.parts.0, self.parts.1]),
        ]
    }
}

/// How many of the statements of [`Sorted::queries`] give records.
const RECORDS: usize = 5;

fn answers(
    questions: Vec<Question>,
    mut rows: Vec<Vec<Row>>,
    own: HashMap<usize, Vec<Row>>,
) -> Result<Vec<(Question, Answer)>> {
    let parts = rows.pop().unwrap_or_default();
    let totals = rows.pop().unwrap_or_default();
    let mut records: HashMap<usize, Stored> = HashMap::new();
    for row in rows.iter().take(RECORDS).flatten() {
        records.insert(place_of(row)?, stored(row, 1)?);
    }
    let mut sums: HashMap<usize, (i64, Sum)> = HashMap::new();
    for row in &totals {
        let sum = Sum::new(row.try_get(2)?, row.try_get(3)?, amount(row.try_get(4)?)?);
        sums.insert(place_of(row)?, (row.try_get(1)?, sum));
    }
    let mut named: HashMap<usize, Vec<(String, Sum)>> = HashMap::new();
    for row in &parts {
        let sum = Sum::new(0, row.try_get(2)?, amount(row.try_get(3)?)?);
        named.entry(place_of(row)?).or_default().push((row.try_get(1)?, sum));
    }
    let mut answered = Vec::with_capacity(questions.len());
    for (at, question) in questions.into_iter().enumerate() {
        let sum = || sums.get(&at).map(|(_, sum)| *sum).unwrap_or_default();
        let answer = match &question {
            Question::Find(_) => Answer::Found(records.get(&at).map(Stored::found)),
            Question::Record(_) => Answer::Record(records.get(&at).cloned()),
            Question::Members { .. } | Question::Answered { .. } => {
                let rows = own.get(&at).into_iter().flatten();
                Answer::Records(rows.map(|row| stored(row, 1)).collect::<Result<_>>()?)
            }
            Question::Count { of: Key::Id(..), .. } => {
                let records = sums.get(&at).map_or(0, |(records, _)| *records);
                Answer::Number(u64::try_from(records).unwrap_or_default())
            }
            Question::Sum(Key::Id(..)) => Answer::Sum(sum()),
            Question::Parts(Key::Id(..)) => Answer::Parts(named.remove(&at).unwrap_or_default()),
            Question::Holdings(_) => Answer::Holdings(holdings(own.get(&at).map_or(&[][..], Vec::as_slice))?),
            _ => continue,
        };
        answered.push((question, answer));
    }
    Ok(answered)
}

fn holdings(rows: &[Row]) -> Result<Vec<Holding>> {
    let mut holdings: Vec<Holding> = Vec::new();
    for row in rows {
        let place = i64::from(row.try_get::<_, i32>(0)?);
        let place = (place != ANY).then_some(place);
        let attendance = stored(row, 1)?;
        match holdings.last_mut() {
            Some((last, places)) if last.row == attendance.row => places.push(place),
            _ => holdings.push((attendance, vec![place])),
        }
    }
    Ok(holdings)
}

fn place_of(row: &Row) -> Result<usize> {
    Ok(usize::try_from(row.try_get::<_, i32>(0)?).unwrap_or(usize::MAX))
}

fn amount(text: &str) -> Result<Amount> {
    Amount::parse(text).ok_or_else(|| StoreError::unexpected("a stored sum is not an amount"))
}

/// What is known of a record without reading it.
pub(crate) fn found(stored: &Stored) -> Found {
    stored.found()
}
