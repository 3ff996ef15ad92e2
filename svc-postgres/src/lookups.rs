//! Fetches the lookups of the rules for all requests of a transaction in one round trip, with one
//! statement for each type of lookup.

use std::collections::HashMap;

use svc_core::{
    filter::name_key,
    helper::ONE_ACTION_KINDS,
    model::Kind,
    store::{
        HeldTickets, Lookup, LookupCache, LookupKey, MergeRecord, RecordLocation, StoredMerge,
        StoredRecord, StoredResponse, Totals,
    },
    value::{Id, Identifier, Timestamp},
};
use svc_store::lookup;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{
    error::{Result, StoreError},
    pipeline::{SqlQuery, SqlValue, columns, of_tenant, values},
    record_layout::{LINK_COLUMNS, SLOTS, layout},
    rows::{COLUMNS, code, stored},
    statements::Texts,
};

/// Represents a ticket whose position is no longer known.
const ANY: i64 = -1;

/// The type of the result of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResultKind {
    Record,
    Ties,
    Totals,
    Parts,
    Holdings,
    EmailHolders,
    Kept,
    LinkedCount,
    Forwarded,
    ForwardedTo,
    StoredMerge,
}

/// Lookups, and the statements that execute them.
pub(crate) struct LookupBatch<'a> {
    questions: Vec<Lookup>,
    gives: Vec<ResultKind>,
    queries: Vec<SqlQuery<'a>>,
}

/// The lookups by statement, each with its position in the batch.
#[derive(Default)]
struct GroupedLookups {
    ids: Vec<(i16, Uuid, i32)>,
    identifiers: Vec<(i16, Uuid, i32)>,
    emails: Vec<(Uuid, i32)>,
    names: Vec<(i16, String, String, String, i32)>,
    links: Vec<LinkLookup>,
    /// Members, and kind and id of the owner.
    totals: Vec<(i16, i16, Uuid, i32)>,
    parts: Vec<(Uuid, i32)>,
    holdings: Vec<(Uuid, i32)>,
    email_holders: Vec<(Uuid, i32)>,
    kept: Vec<(String, i32)>,
    /// Person, the number up to which is counted, and position.
    linked_counts: Vec<(Uuid, i64, i32)>,
    forwarded: Vec<(Uuid, i32)>,
    forwarded_to: Vec<(Uuid, i32)>,
    /// The person that remained, the merge, and position.
    stored_merges: Vec<(Uuid, Uuid, i32)>,
    /// Kind, target and position, by each of [`LINK_COLUMNS`].
    linked: [Vec<(i16, Uuid, i32)>; LINK_COLUMNS.len()],
    /// The largest number of records that a lookup of links can find.
    most_linked: u32,
    memberships: MembershipLookup,
    answers: MembershipLookup,
    /// By the position of the kind in [`ONE_ACTION_KINDS`].
    actions: [MembershipLookup; ONE_ACTION_KINDS.len()],
}

/// A link to follow: the source record, the target kind, and the column.
struct LinkLookup {
    kind: i16,
    id: Uuid,
    target: i16,
    slot: i16,
    place: i32,
}

/// Keys of records that a membership or an answer connects: side 0 is the group or question, side 1
/// the person.
#[derive(Default)]
struct MembershipLookup {
    ids: Vec<(i16, i32, Uuid)>,
    names: Vec<(i16, i32, i16, String, String, String)>,
    identifiers: Vec<(i16, i32, i16, Uuid)>,
    emails: Vec<(i16, i32, Uuid)>,
    asked: usize,
}

impl MembershipLookup {
    fn side(&mut self, side: i16, place: i32, keys: &[LookupKey]) {
        self.asked = self.asked.saturating_add(1);
        for key in keys {
            match key {
                LookupKey::Id(_, id) => self.ids.extend(id.as_uuid().map(|id| (side, place, id))),
                LookupKey::Name(kind, name) => {
                    let (field, text) = same_name(*kind, name);
                    let name = (side, place, code(*kind), name.clone(), field, text);
                    self.names.push(name);
                }
                LookupKey::Identifier(kind, it) => {
                    self.identifiers
                        .push((side, place, code(*kind), identifier(it)));
                }
                LookupKey::Email(address) => self.emails.push((side, place, email(address))),
                LookupKey::Link(..) => {}
            }
        }
    }

    /// Returns the values of the statement.
    fn values(&mut self) -> Vec<SqlValue> {
        let (ids, names) = (
            columns!(self.ids; 0, 1, 2),
            columns!(self.names; 0, 1, 2, 3, 4, 5),
        );
        let (identifiers, emails) = (
            columns!(self.identifiers; 0, 1, 2, 3),
            columns!(self.emails; 0, 1, 2),
        );
        [ids, names, identifiers, emails]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// Returns the field and the text of the key of a name; empty for a name without a key.
fn same_name(kind: Kind, name: &str) -> (String, String) {
    let key = name_key(kind, name);
    key.map(|key| (key.field().as_str().to_owned(), key.text().to_owned()))
        .unwrap_or_default()
}

fn identifier(identifier: &Identifier) -> Uuid {
    Uuid::from_bytes(lookup::hash_identifier(identifier))
}

fn email(address: &str) -> Uuid {
    Uuid::from_bytes(lookup::hash_email(address))
}

impl<'a> LookupBatch<'a> {
    /// Creates the statements for these lookups of a tenant.
    pub(crate) fn new(texts: &'a Texts, tenant: i64, questions: Vec<Lookup>) -> Self {
        let mut sorted = GroupedLookups::default();
        for (at, question) in questions.iter().enumerate() {
            sorted.take(question, i32::try_from(at).unwrap_or(i32::MAX));
        }
        let (gives, queries) = sorted.queries(texts, tenant).into_iter().unzip();
        Self {
            questions,
            gives,
            queries,
        }
    }

    /// Creates the statement that reads one record.
    pub(crate) fn one(texts: &'a Texts, tenant: i64, key: LookupKey) -> Self {
        let query = match &key {
            LookupKey::Id(kind, id) => id
                .as_uuid()
                .map(|id| SqlQuery::new(&*texts.one, values![tenant, code(*kind), id])),
            _ => return Self::new(texts, tenant, vec![Lookup::Record(key)]),
        };
        Self {
            questions: vec![Lookup::Record(key)],
            gives: vec![ResultKind::Record],
            queries: query.into_iter().collect(),
        }
    }

    /// Returns the statements, to be executed in this order.
    pub(crate) fn take_queries(&mut self) -> Vec<SqlQuery<'a>> {
        std::mem::take(&mut self.queries)
    }

    /// Decodes the results of the statements, in their order.
    fn decode(&self, given: &[Vec<Row>]) -> Result<DecodedRows> {
        let mut read = DecodedRows::default();
        for (gives, rows) in self.gives.iter().zip(given) {
            for row in rows {
                read.take(*gives, row)?;
            }
        }
        Ok(read)
    }

    /// Returns the found records, in the order of their lookups.
    pub(crate) fn records(self, given: &[Vec<Row>]) -> Result<Vec<StoredRecord>> {
        let mut read = self.decode(given)?;
        Ok((0..self.questions.len())
            .filter_map(|at| read.records.remove(&at))
            .collect())
    }

    /// Stores the results for the rules.
    pub(crate) fn store_results(self, given: &[Vec<Row>], fetched: &mut LookupCache) -> Result<()> {
        let mut read = self.decode(given)?;
        for (at, question) in self.questions.into_iter().enumerate() {
            read.store(at, question, fetched);
        }
        Ok(())
    }
}

impl GroupedLookups {
    fn take(&mut self, question: &Lookup, place: i32) {
        match question {
            Lookup::Find(key) | Lookup::Record(key) => self.key(key, place),
            Lookup::Members {
                kind,
                groups,
                people,
            } => {
                let mut actions = ONE_ACTION_KINDS.iter().zip(&mut self.actions);
                let action = actions.find(|(action, _)| *action == kind);
                let lookup = action.map_or(&mut self.memberships, |(_, lookup)| lookup);
                lookup.side(0, place, groups);
                lookup.side(1, place, people);
            }
            Lookup::Answers { people, questions } => {
                self.answers.side(0, place, questions);
                self.answers.side(1, place, people);
            }
            Lookup::Count {
                kind,
                of: LookupKey::Id(of, id),
            } => self.total(*kind, *of, id.as_uuid(), place),
            Lookup::Totals(LookupKey::Id(of, id)) => {
                if let Some(members) = layout(*of).table.counts {
                    self.total(members, *of, id.as_uuid(), place);
                }
            }
            Lookup::PartTotals(LookupKey::Id(_, id)) => {
                self.parts.extend(id.as_uuid().map(|id| (id, place)));
            }
            Lookup::HeldTickets(person) => {
                self.holdings.extend(person.as_uuid().map(|id| (id, place)));
            }
            Lookup::Linked {
                kind,
                link,
                person,
                most,
            } => {
                self.most_linked = self.most_linked.max(*most);
                let column = layout(*kind).column(link).map(|(_, column)| column);
                let number = LINK_COLUMNS.iter().position(|it| Some(*it) == column);
                let lookups = number.and_then(|number| self.linked.get_mut(number));
                if let (Some(lookups), Some(id)) = (lookups, person.as_uuid()) {
                    lookups.push((code(*kind), id, place));
                }
            }
            Lookup::LinkedCount { person, most } => {
                let person = person.as_uuid();
                self.linked_counts
                    .extend(person.map(|id| (id, i64::from(*most), place)));
            }
            Lookup::ForwardedPerson(id) => {
                self.forwarded.extend(id.as_uuid().map(|id| (id, place)));
            }
            Lookup::ForwardedTo(id) => {
                self.forwarded_to.extend(id.as_uuid().map(|id| (id, place)));
            }
            Lookup::StoredMerge { remaining, merge } => {
                let ids = remaining.as_uuid().zip(merge.as_uuid());
                let ids = ids.map(|(remaining, merge)| (remaining, merge, place));
                self.stored_merges.extend(ids);
            }
            Lookup::EmailHolders(address) => self.email_holders.push((email(address), place)),
            Lookup::StoredResponse(key) => self.kept.push((key.to_string(), place)),
            // Looked up again by its id, when that is known.
            _ => {}
        }
    }

    fn key(&mut self, key: &LookupKey, place: i32) {
        match key {
            LookupKey::Id(kind, id) => self
                .ids
                .extend(id.as_uuid().map(|id| (code(*kind), id, place))),
            LookupKey::Name(kind, name) => {
                let (field, text) = same_name(*kind, name);
                let name = (code(*kind), name.clone(), field, text, place);
                self.names.push(name);
            }
            LookupKey::Identifier(kind, it) => {
                self.identifiers.push((code(*kind), identifier(it), place));
            }
            LookupKey::Email(address) => self.emails.push((email(address), place)),
            LookupKey::Link(kind, id, link) => {
                if let (Some(id), Some((reference, column))) =
                    (id.as_uuid(), layout(*kind).column(link))
                {
                    let slot = SLOTS
                        .iter()
                        .position(|slot| *slot == column)
                        .map_or(0, |slot| slot.saturating_add(1));
                    let slot = i16::try_from(slot).unwrap_or_default();
                    self.links.push(LinkLookup {
                        kind: code(*kind),
                        id,
                        target: code(reference.kind),
                        slot,
                        place,
                    });
                }
            }
        }
    }

    fn total(&mut self, members: Kind, of: Kind, owner: Option<Uuid>, place: i32) {
        self.totals
            .extend(owner.map(|owner| (code(members), code(of), owner, place)));
    }

    /// Returns the statements for the lookups that the batch contains.
    fn queries(mut self, texts: &Texts, tenant: i64) -> Vec<(ResultKind, SqlQuery<'_>)> {
        let asked = [
            (
                self.ids.len(),
                ResultKind::Record,
                &texts.by_id,
                columns!(self.ids; 0, 1, 2),
            ),
            (
                self.identifiers.len(),
                ResultKind::Record,
                &texts.by_identifier,
                columns!(self.identifiers; 0, 1, 2),
            ),
            (
                self.emails.len(),
                ResultKind::Record,
                &texts.by_email,
                columns!(self.emails; 0, 1),
            ),
            (
                self.names.len(),
                ResultKind::Record,
                &texts.by_name,
                columns!(self.names; 0, 1, 2, 3, 4),
            ),
            (
                self.links.len(),
                ResultKind::Record,
                &texts.by_link,
                columns!(self.links; kind, id, target, slot, place),
            ),
            (
                self.memberships.asked,
                ResultKind::Ties,
                &texts.memberships,
                self.memberships.values(),
            ),
            (
                self.answers.asked,
                ResultKind::Ties,
                &texts.answers,
                self.answers.values(),
            ),
            (
                self.totals.len(),
                ResultKind::Totals,
                &texts.totals,
                columns!(self.totals; 0, 1, 2, 3),
            ),
            (
                self.parts.len(),
                ResultKind::Parts,
                &texts.parts,
                columns!(self.parts; 0, 1),
            ),
            (
                self.holdings.len(),
                ResultKind::Holdings,
                &texts.holdings,
                columns!(self.holdings; 0, 1),
            ),
            (
                self.email_holders.len(),
                ResultKind::EmailHolders,
                &texts.email_holders,
                columns!(self.email_holders; 0, 1),
            ),
            (
                self.kept.len(),
                ResultKind::Kept,
                &texts.kept,
                columns!(self.kept; 0, 1),
            ),
            (
                self.linked_counts.len(),
                ResultKind::LinkedCount,
                &texts.linked_count,
                columns!(self.linked_counts; 0, 1, 2),
            ),
            (
                self.forwarded.len(),
                ResultKind::Forwarded,
                &texts.forwarded,
                columns!(self.forwarded; 0, 1),
            ),
            (
                self.forwarded_to.len(),
                ResultKind::ForwardedTo,
                &texts.merges.forwarded_to,
                columns!(self.forwarded_to; 0, 1),
            ),
            (
                self.stored_merges.len(),
                ResultKind::StoredMerge,
                &texts.merges.stored_merge,
                columns!(self.stored_merges; 0, 1, 2),
            ),
        ];
        let actions = self.actions.iter_mut().zip(&texts.actions);
        let actions =
            actions.map(|(lookup, text)| (lookup.asked, ResultKind::Ties, text, lookup.values()));
        let most = i64::from(self.most_linked);
        let linked = self.linked.iter_mut().zip(&texts.linked);
        let linked = linked.map(|(rows, text)| {
            let mut values = columns!(rows; 0, 1, 2);
            values.extend(values![most]);
            (rows.len(), ResultKind::Ties, text, values)
        });
        let asked = asked.into_iter().chain(actions).chain(linked);
        let asked = asked.filter(|(questions, ..)| *questions > 0);
        asked
            .map(|(_, gives, text, values)| {
                (gives, SqlQuery::new(text, of_tenant(tenant, [values])))
            })
            .collect()
    }
}

/// The decoded rows of a fetch, by the position of the lookup.
#[derive(Default)]
struct DecodedRows {
    records: HashMap<usize, StoredRecord>,
    ties: HashMap<usize, Vec<StoredRecord>>,
    sums: HashMap<usize, (i64, Totals)>,
    parts: HashMap<usize, Vec<(String, Totals)>>,
    holdings: HashMap<usize, Vec<HeldTickets>>,
    email_holders: HashMap<usize, Vec<RecordLocation>>,
    kept: HashMap<usize, StoredResponse>,
    linked_counts: HashMap<usize, i64>,
    forwarded: HashMap<usize, Uuid>,
    forwarded_to: HashMap<usize, Vec<Id>>,
    stored_merges: HashMap<usize, MergeRecord>,
}

impl DecodedRows {
    fn take(&mut self, gives: ResultKind, row: &Row) -> Result<()> {
        let place = usize::try_from(row.try_get::<_, i32>(0)?).unwrap_or(usize::MAX);
        match gives {
            ResultKind::Record => {
                self.records.insert(place, stored(row, 1)?);
            }
            ResultKind::Ties => self.ties.entry(place).or_default().push(stored(row, 1)?),
            ResultKind::Totals => {
                let sum = totals(row.try_get(2)?)?;
                self.sums.insert(place, (row.try_get(1)?, sum));
            }
            ResultKind::Parts => {
                let sum = totals(row.try_get(2)?)?;
                self.parts
                    .entry(place)
                    .or_default()
                    .push((row.try_get(1)?, sum));
            }
            ResultKind::LinkedCount => {
                self.linked_counts.insert(place, row.try_get(1)?);
            }
            ResultKind::Forwarded => {
                self.forwarded.insert(place, row.try_get(1)?);
            }
            ResultKind::ForwardedTo => {
                let from = row.try_get::<_, Uuid>(1)?;
                self.forwarded_to
                    .entry(place)
                    .or_default()
                    .push(from.into());
            }
            ResultKind::StoredMerge => {
                let remaining: Uuid = row.try_get(1)?;
                let mut merge = merge(row, 2, remaining.into())?;
                let body: Vec<u8> = row.try_get(7)?;
                merge.is_latest = row.try_get(8)?;
                self.stored_merges
                    .insert(place, MergeRecord::new(merge, body.into()));
            }
            ResultKind::EmailHolders => {
                let (id, row) = (row.try_get::<_, Uuid>(1)?.into(), row.try_get(2)?);
                let person = RecordLocation::new(Kind::Person, id, row, None);
                self.email_holders.entry(place).or_default().push(person);
            }
            ResultKind::Kept => {
                let (key, at) = (
                    row.try_get::<_, &str>(1)?.into(),
                    Timestamp::from_micros(row.try_get(2)?),
                );
                let answer: Vec<u8> = row.try_get(3)?;
                self.kept.insert(
                    place,
                    StoredResponse::new(key, at, Vec::new(), answer.into()),
                );
            }
            ResultKind::Holdings => {
                let ticket: i64 = row.try_get(COLUMNS.saturating_add(1))?;
                let ticket = (ticket != ANY).then_some(ticket);
                let attendance = stored(row, 1)?;
                let held = self.holdings.entry(place).or_default();
                match held.last_mut() {
                    Some(last) if last.attendance.row == attendance.row => {
                        last.positions.push(ticket);
                    }
                    _ => held.push(HeldTickets {
                        attendance,
                        positions: vec![ticket],
                    }),
                }
            }
        }
        Ok(())
    }

    /// Stores the result of the lookup at a position. A lookup below a key without a known id has
    /// none.
    fn store(&mut self, at: usize, question: Lookup, fetched: &mut LookupCache) {
        match question {
            Lookup::Find(key) => {
                let found = self.records.get(&at).map(StoredRecord::location);
                fetched.insert_location(&key, found.as_ref());
            }
            Lookup::Record(key) => fetched.insert_record(&key, self.records.remove(&at)),
            Lookup::Members { kind, .. } => {
                let mut ties = self.ties.remove(&at).unwrap_or_default();
                ties.retain(|tie| tie.record.kind() == kind);
                fetched.insert_related(question, ties);
            }
            Lookup::Answers { .. } => {
                fetched.insert_related(question, self.ties.remove(&at).unwrap_or_default());
            }
            Lookup::Count {
                kind,
                of: of @ LookupKey::Id(..),
            } => {
                let records = self.sums.get(&at).map_or(0, |(records, _)| *records);
                fetched.insert_count(kind, &of, u64::try_from(records).unwrap_or_default());
            }
            Lookup::Totals(of @ LookupKey::Id(..)) => {
                let sum = self.sums.get(&at).map(|(_, sum)| sum.clone());
                fetched.insert_totals(&of, sum.unwrap_or_default());
            }
            Lookup::PartTotals(of @ LookupKey::Id(..)) => {
                fetched.insert_part_totals(&of, self.parts.remove(&at).unwrap_or_default());
            }
            Lookup::HeldTickets(person) => {
                let held = self.holdings.remove(&at).unwrap_or_default();
                fetched.insert_held_tickets(&person, held);
            }
            Lookup::Linked { most, .. } => {
                let mut linked = self.ties.remove(&at).unwrap_or_default();
                linked.truncate(usize::try_from(most).unwrap_or(usize::MAX));
                fetched.insert_related(question, linked);
            }
            Lookup::LinkedCount { person, most } => {
                let count = self.linked_counts.get(&at).copied().unwrap_or_default();
                let count = u64::try_from(count).unwrap_or_default();
                fetched.insert_linked_count(&person, most, count);
            }
            Lookup::ForwardedPerson(id) => {
                let to = self.forwarded.remove(&at).map(Id::from);
                fetched.insert_forwarded_person(&id, to);
            }
            Lookup::ForwardedTo(id) => {
                let from = self.forwarded_to.remove(&at).unwrap_or_default();
                fetched.insert_forwarded_to(&id, from);
            }
            Lookup::StoredMerge { remaining, merge } => {
                let found = self.stored_merges.remove(&at);
                fetched.insert_stored_merge(&remaining, &merge, found);
            }
            Lookup::EmailHolders(address) => {
                let holders = self.email_holders.remove(&at).unwrap_or_default();
                fetched.insert_email_holders(&address, holders);
            }
            Lookup::StoredResponse(key) => {
                fetched.insert_stored_response(&key, self.kept.remove(&at));
            }
            Lookup::Count { .. } | Lookup::Totals(_) | Lookup::PartTotals(_) => {}
        }
    }
}

/// Returns the stored merge in a row whose columns begin at a position.
pub(crate) fn merge(row: &Row, first: usize, remaining: Id) -> Result<StoredMerge> {
    let column = |number: usize| first.saturating_add(number);
    let [id, merged] = [row.try_get::<_, Uuid>(column(0))?, row.try_get(column(1))?].map(Id::from);
    let [at, until] =
        [row.try_get(column(2))?, row.try_get(column(3))?].map(Timestamp::from_micros);
    let mut merge = StoredMerge::new(id, remaining, merged, at, until);
    merge.key_name = row.try_get(column(4))?;
    Ok(merge)
}

fn totals(text: &str) -> Result<Totals> {
    Totals::parse(text).ok_or_else(|| StoreError::unexpected("a stored total is not a number"))
}
