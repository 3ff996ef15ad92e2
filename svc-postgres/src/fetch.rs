//! What the rulebook asks, fetched: the questions of all calls of a turn in one round trip, a statement for each sort of them.

use std::collections::HashMap;

use svc_core::{
    model::Kind,
    store::{Answer, Fetched, Holding, Key, Question, Stored, Sum, lookup},
    value::Amount,
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{
    error::{Result, StoreError},
    layout::{SLOTS, layout},
    pipeline::{Query, Value, values},
    rows::{COLUMNS, code, stored, uuid},
    texts::Texts,
};

/// Stands for a ticket whose place is not known any more.
const ANY: i64 = -1;

/// What a statement gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gives {
    Record,
    Ties,
    Totals,
    Parts,
    Holdings,
}

/// Questions, and the statements that answer them.
pub(crate) struct Fetch<'a> {
    questions: Vec<Question>,
    gives: Vec<Gives>,
    queries: Vec<Query<'a>>,
}

/// The questions by the statement that answers them, each with its place among all.
#[derive(Default)]
struct Sorted {
    ids: (Vec<i16>, Vec<Uuid>, Vec<i32>),
    identifiers: (Vec<i16>, Vec<Uuid>, Vec<i32>),
    emails: (Vec<Uuid>, Vec<i32>),
    names: (Vec<i16>, Vec<String>, Vec<i32>),
    links: Links,
    totals: (Vec<i16>, Vec<i16>, Vec<Uuid>, Vec<i32>),
    parts: (Vec<Uuid>, Vec<i32>),
    holdings: (Vec<Uuid>, Vec<i32>),
    memberships: Ties,
    answers: Ties,
}

/// Links to follow: from which record, to which kind, by which place.
#[derive(Default)]
struct Links {
    kinds: Vec<i16>,
    ids: Vec<Uuid>,
    targets: Vec<i16>,
    slots: Vec<i16>,
    places: Vec<i32>,
}

/// Keys of records that others tie together: side 0 is the group or question, side 1 the person.
#[derive(Default)]
struct Ties {
    ids: (Vec<i16>, Vec<i32>, Vec<Uuid>),
    names: (Vec<i16>, Vec<i32>, Vec<i16>, Vec<String>),
    identifiers: (Vec<i16>, Vec<i32>, Vec<i16>, Vec<Uuid>),
    emails: (Vec<i16>, Vec<i32>, Vec<Uuid>),
    is_asked: bool,
}

impl Ties {
    fn side(&mut self, side: i16, place: i32, keys: &[Key]) {
        self.is_asked = true;
        for key in keys {
            match key {
                Key::Id(_, id) => {
                    if let Some(id) = uuid(id) {
                        self.ids.0.push(side);
                        self.ids.1.push(place);
                        self.ids.2.push(id);
                    }
                }
                Key::Name(kind, name) => {
                    self.names.0.push(side);
                    self.names.1.push(place);
                    self.names.2.push(code(*kind));
                    self.names.3.push(name.clone());
                }
                Key::Identifier(kind, identifier) => {
                    self.identifiers.0.push(side);
                    self.identifiers.1.push(place);
                    self.identifiers.2.push(code(*kind));
                    self.identifiers.3.push(Uuid::from_bytes(lookup::identifier(identifier)));
                }
                Key::Email(address) => {
                    self.emails.0.push(side);
                    self.emails.1.push(place);
                    self.emails.2.push(Uuid::from_bytes(lookup::email(address)));
                }
                _ => {}
            }
        }
    }

    /// The values of the statement; `None` when nothing is asked.
    fn values(self, tenant: i64) -> Option<Vec<Value>> {
        let Self { ids, names, identifiers, emails, is_asked } = self;
        is_asked.then(|| {
            values![
                tenant,
                ids.0,
                ids.1,
                ids.2,
                names.0,
                names.1,
                names.2,
                names.3,
                identifiers.0,
                identifiers.1,
                identifiers.2,
                identifiers.3,
                emails.0,
                emails.1,
                emails.2,
            ]
        })
    }
}

impl<'a> Fetch<'a> {
    /// The statements that answer these questions of a tenant.
    pub(crate) fn new(texts: &'a Texts, tenant: i64, questions: Vec<Question>) -> Self {
        let mut sorted = Sorted::default();
        for (at, question) in questions.iter().enumerate() {
            sorted.take(question, i32::try_from(at).unwrap_or(i32::MAX));
        }
        let (gives, queries) = sorted.queries(texts, tenant).into_iter().unzip();
        Self { questions, gives, queries }
    }

    /// The statements, to be run in this order.
    pub(crate) fn take_queries(&mut self) -> Vec<Query<'a>> {
        std::mem::take(&mut self.queries)
    }

    /// Reads what the statements gave, in their order.
    pub(crate) fn answers(self, given: &[Vec<Row>]) -> Result<Vec<(Question, Answer)>> {
        let mut read = Read::default();
        for (gives, rows) in self.gives.iter().zip(given) {
            for row in rows {
                read.take(*gives, row)?;
            }
        }
        let questions = self.questions.into_iter().enumerate();
        Ok(questions.filter_map(|(at, question)| read.answer(at, &question).map(|answer| (question, answer))).collect())
    }

    /// The same, kept for the rulebook.
    pub(crate) fn keep(self, given: &[Vec<Row>], fetched: &mut Fetched) -> Result<()> {
        for (question, answer) in self.answers(given)? {
            fetched.insert(question, answer);
        }
        Ok(())
    }
}

impl Sorted {
    fn take(&mut self, question: &Question, place: i32) {
        match question {
            Question::Find(key) | Question::Record(key) => self.key(key, place),
            Question::Members { groups, people, .. } => {
                self.memberships.side(0, place, groups);
                self.memberships.side(1, place, people);
            }
            Question::Answered { people, questions } => {
                self.answers.side(0, place, questions);
                self.answers.side(1, place, people);
            }
            Question::Count { kind, of: Key::Id(of, id) } => self.total(*kind, *of, uuid(id), place),
            Question::Sum(Key::Id(of, id)) => {
                if let Some(members) = layout(*of).table.counts {
                    self.total(members, *of, uuid(id), place);
                }
            }
            Question::Parts(Key::Id(_, id)) => self.parts.extend(uuid(id).map(|id| (id, place))),
            Question::Holdings(person) => self.holdings.extend(uuid(person).map(|id| (id, place))),
            // Asked again by its id, once that is known.
            _ => {}
        }
    }

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
            Key::Email(address) => self.emails.extend([(Uuid::from_bytes(lookup::email(address)), place)]),
            Key::Link(kind, id, link) => {
                if let (Some(id), Some((reference, column))) = (uuid(id), layout(*kind).column(link)) {
                    let slot = SLOTS.iter().position(|slot| *slot == column).map_or(0, |slot| slot.saturating_add(1));
                    self.links.kinds.push(code(*kind));
                    self.links.ids.push(id);
                    self.links.targets.push(code(reference.kind));
                    self.links.slots.push(i16::try_from(slot).unwrap_or_default());
                    self.links.places.push(place);
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

    /// The statements for what is asked, and only for that.
    fn queries(self, texts: &Texts, tenant: i64) -> Vec<(Gives, Query<'_>)> {
        let Self { ids, identifiers, emails, names, links, totals, parts, holdings, memberships, answers } = self;
        let asked = [
            (!ids.0.is_empty()).then(|| (Gives::Record, &texts.by_id, values![tenant, ids.0, ids.1, ids.2])),
            (!identifiers.0.is_empty()).then(|| {
                (Gives::Record, &texts.by_identifier, values![tenant, identifiers.0, identifiers.1, identifiers.2])
            }),
            (!emails.0.is_empty()).then(|| (Gives::Record, &texts.by_email, values![tenant, emails.0, emails.1])),
            (!names.0.is_empty()).then(|| (Gives::Record, &texts.by_name, values![tenant, names.0, names.1, names.2])),
            (!links.kinds.is_empty()).then(|| {
                (
                    Gives::Record,
                    &texts.by_link,
                    values![tenant, links.kinds, links.ids, links.targets, links.slots, links.places],
                )
            }),
            memberships.values(tenant).map(|values| (Gives::Ties, &texts.memberships, values)),
            answers.values(tenant).map(|values| (Gives::Ties, &texts.answers, values)),
            (!totals.0.is_empty())
                .then(|| (Gives::Totals, &texts.totals, values![tenant, totals.0, totals.1, totals.2, totals.3])),
            (!parts.0.is_empty()).then(|| (Gives::Parts, &texts.parts, values![tenant, parts.0, parts.1])),
            (!holdings.0.is_empty())
                .then(|| (Gives::Holdings, &texts.holdings, values![tenant, holdings.0, holdings.1])),
        ];
        asked.into_iter().flatten().map(|(gives, text, values)| (gives, Query::new(text, values))).collect()
    }
}

/// What the rows of a fetch say, by the place of the question.
#[derive(Default)]
struct Read {
    records: HashMap<usize, Stored>,
    ties: HashMap<usize, Vec<Stored>>,
    sums: HashMap<usize, (i64, Sum)>,
    parts: HashMap<usize, Vec<(String, Sum)>>,
    holdings: HashMap<usize, Vec<Holding>>,
}

impl Read {
    fn take(&mut self, gives: Gives, row: &Row) -> Result<()> {
        let place = usize::try_from(row.try_get::<_, i32>(0)?).unwrap_or(usize::MAX);
        match gives {
            Gives::Record => {
                self.records.insert(place, stored(row, 1)?);
            }
            Gives::Ties => self.ties.entry(place).or_default().push(stored(row, 1)?),
            Gives::Totals => {
                let sum = Sum::new(row.try_get(2)?, row.try_get(3)?, amount(row.try_get(4)?)?);
                self.sums.insert(place, (row.try_get(1)?, sum));
            }
            Gives::Parts => {
                let sum = Sum::new(0, row.try_get(2)?, amount(row.try_get(3)?)?);
                self.parts.entry(place).or_default().push((row.try_get(1)?, sum));
            }
            Gives::Holdings => {
                let ticket: i64 = row.try_get(COLUMNS.saturating_add(1))?;
                let ticket = (ticket != ANY).then_some(ticket);
                let attendance = stored(row, 1)?;
                let held = self.holdings.entry(place).or_default();
                match held.last_mut() {
                    Some((last, tickets)) if last.row == attendance.row => tickets.push(ticket),
                    _ => held.push((attendance, vec![ticket])),
                }
            }
        }
        Ok(())
    }

    fn answer(&mut self, at: usize, question: &Question) -> Option<Answer> {
        Some(match question {
            Question::Find(_) => Answer::Found(self.records.get(&at).map(Stored::found)),
            Question::Record(_) => Answer::Record(self.records.remove(&at)),
            Question::Members { kind, .. } => {
                let mut ties = self.ties.remove(&at).unwrap_or_default();
                ties.retain(|tie| tie.record.kind() == *kind);
                Answer::Records(ties)
            }
            Question::Answered { .. } => Answer::Records(self.ties.remove(&at).unwrap_or_default()),
            Question::Count { of: Key::Id(..), .. } => {
                let records = self.sums.get(&at).map_or(0, |(records, _)| *records);
                Answer::Number(u64::try_from(records).unwrap_or_default())
            }
            Question::Sum(Key::Id(..)) => Answer::Sum(self.sums.get(&at).map(|(_, sum)| *sum).unwrap_or_default()),
            Question::Parts(Key::Id(..)) => Answer::Parts(self.parts.remove(&at).unwrap_or_default()),
            Question::Holdings(_) => Answer::Holdings(self.holdings.remove(&at).unwrap_or_default()),
            _ => return None,
        })
    }
}

fn amount(text: &str) -> Result<Amount> {
    Amount::parse(text).ok_or_else(|| StoreError::unexpected("a stored sum is not an amount"))
}
