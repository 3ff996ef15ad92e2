//! What the rulebook changes, collected over the calls of a turn: each table is written by one statement, however many calls
//! there are.

mod records;

use std::collections::{BTreeMap, HashMap};

use svc_core::{
    model::Kind,
    store::{At, Change, Insert, Outbox, Replace, Set, Stored, Sum, lookup},
    value::{Id, Timestamp},
};
use uuid::Uuid;

use crate::{
    error::{Result, StoreError},
    layout::{SLOTS, layout},
    pipeline::{Query, Value, values},
    rows::{code, known},
    sets,
    texts::Texts,
};
use records::{Edit, Inserts, Updates};

/// The owner of the collection of all records.
pub(crate) const ALL: Uuid = Uuid::nil();

/// The changes of a turn that are not written yet.
pub(crate) struct Apply<'a> {
    texts: &'a Texts,
    schema: &'a str,
    tenant: i64,
    /// The number that the last new record got.
    seq: i64,
    /// Numbers of records that this turn has made.
    made: HashMap<(Kind, Id), i64>,
    inserts: Inserts,
    updates: Updates,
    /// Whom each identifier and address that was touched leads to in the end.
    identifiers: BTreeMap<(i16, Uuid), Option<i64>>,
    emails: BTreeMap<(Uuid, i64), bool>,
    /// What each collection wins: members, kind and id of the owner.
    counts: BTreeMap<(i16, i16, Uuid), Won>,
    sums: BTreeMap<(i16, i16, Uuid), Sum>,
    parts: BTreeMap<(Uuid, String), Sum>,
    holders: Vec<(Uuid, i64, i64)>,
    outbox: Vec<Outgoing>,
    /// What has its place in an order.
    steps: Vec<(String, Vec<Value>)>,
}

/// What a collection wins, and whether a jump into it begins anew: see `jumps`.
#[derive(Default)]
struct Won {
    records: i64,
    is_moved: bool,
}

/// A server response to send.
struct Outgoing {
    seq: i64,
    created: i64,
    helper: String,
    person: Option<Uuid>,
    action: Option<Uuid>,
    body: Vec<u8>,
}

impl<'a> Apply<'a> {
    pub(crate) fn new(texts: &'a Texts, schema: &'a str, tenant: i64, seq: i64) -> Self {
        Self {
            texts,
            schema,
            tenant,
            seq,
            made: HashMap::new(),
            inserts: Inserts::default(),
            updates: Updates::default(),
            identifiers: BTreeMap::new(),
            emails: BTreeMap::new(),
            counts: BTreeMap::new(),
            sums: BTreeMap::new(),
            parts: BTreeMap::new(),
            holders: Vec::new(),
            outbox: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Takes a change of a call up.
    pub(crate) fn change(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::Insert(insert) => self.insert(insert)?,
            Change::Replace(replace) => self.replace(replace)?,
            Change::SetFields { at, fields } => self.edit(at, |row| row.body = Some(fields.to_vec()))?,
            Change::SetLink { at, link, from, to } => self.set_link(at, link, from.as_ref(), to.as_ref())?,
            Change::SetSchedule { at, start, stop } => {
                let schedule = (start.map(Timestamp::micros), stop.map(Timestamp::micros));
                self.edit(at, |row| row.schedule = Some(schedule))?;
            }
            Change::Delete(set) => self.set(set, sets::deleting(self.schema, set))?,
            Change::ClearLink { kind, link, to } => {
                let (_, column) = layout(*kind).column(link).ok_or_else(no_link)?;
                self.set(to, vec![sets::clearing(self.schema, *kind, column, to)])?;
            }
            Change::SetSum { of, members, sum } => {
                self.sums.insert((code(*members), code(of.0), known(&of.1)?), *sum);
            }
            Change::SetPart { of: (_, id), name, sum } => {
                self.parts.insert((known(id)?, name.clone()), *sum);
            }
            Change::Hold { at, place, person } => {
                let held = (known(person)?, self.row(at)?, *place);
                self.holders.push(held);
            }
            Change::MoveHolders { at, places } => {
                let row = self.row(at)?;
                let (old, now): (Vec<i64>, Vec<i64>) = places.iter().copied().unzip();
                self.settle();
                self.step(&self.texts.move_holders, values![self.tenant, row, old, now]);
            }
            Change::Forget(person) => {
                let person = known(person)?;
                self.settle();
                self.step(&self.texts.forget_holdings, values![self.tenant, person]);
                self.step(&self.texts.forget_outbox, values![self.tenant, person]);
            }
            Change::Outbox(outbox) => self.outbox(outbox)?,
            other => return Err(StoreError::unexpected(format!("this store does not know the change {other:?}"))),
        }
        Ok(())
    }

    /// Hands over what is to be written, in its order, and the number that the ledger has from then on.
    pub(crate) fn take(&mut self) -> (i64, Vec<(String, Vec<Value>)>) {
        // Each transaction has a number of its own, also one that makes no record.
        let seq = self.next();
        self.settle();
        (seq, std::mem::take(&mut self.steps))
    }

    fn step(&mut self, text: &str, values: Vec<Value>) {
        self.steps.push((text.to_owned(), values));
    }

    fn next(&mut self) -> i64 {
        self.seq = self.seq.saturating_add(1);
        self.seq
    }

    /// The number of the record that a change is about.
    fn row(&self, at: &At) -> Result<i64> {
        if at.row != Stored::NEW {
            return Ok(at.row);
        }
        let made = self.made.get(&(at.kind, at.id.clone()));
        made.copied().ok_or_else(|| StoreError::unexpected("a change of a record that was not made"))
    }

    fn edit(&mut self, at: &At, edit: impl FnOnce(&mut records::Update)) -> Result<()> {
        let row = self.row(at)?;
        edit(self.updates.of(code(at.kind), row));
        Ok(())
    }

    fn count(&mut self, members: Kind, of: Option<(Kind, &Id)>, by: i64, is_moved: bool) -> Result<()> {
        let (scope, owner) = match of {
            Some((kind, id)) => (code(kind), known(id)?),
            None => (0, ALL),
        };
        let won = self.counts.entry((code(members), scope, owner)).or_default();
        won.records = won.records.saturating_add(by);
        won.is_moved |= is_moved;
        Ok(())
    }

    fn insert(&mut self, insert: &Insert) -> Result<()> {
        let (record, row) = (&insert.record, self.next());
        let kind = record.kind();
        self.inserts.push(insert, row)?;
        self.made.insert((kind, record.meta().id.clone()), row);
        for identifier in &insert.identifiers {
            self.identifiers.insert((code(kind), Uuid::from_bytes(lookup::identifier(identifier))), Some(row));
        }
        for email in &insert.emails {
            self.emails.insert((Uuid::from_bytes(lookup::email(email)), row), true);
        }
        if kind.schema().has_collection() {
            self.count(kind, None, 1, false)?;
        }
        for (reference, _) in layout(kind).scopes() {
            if let Some(owner) = record.link(reference.name) {
                self.count(kind, Some((reference.kind, &owner.id)), 1, false)?;
            }
        }
        Ok(())
    }

    fn replace(&mut self, replace: &Replace) -> Result<()> {
        let (row, kind) = (self.row(&replace.at)?, code(replace.at.kind));
        let update = self.updates.of(kind, row);
        update.modified = Some(replace.modified.micros());
        update.identifiers = Some(replace.identifiers.as_json().to_owned());
        update.body = Some(replace.fields.to_vec());
        update.modified_by = Edit::To(replace.modified_by.as_ref().map(known).transpose()?);
        update.name = Edit::To(replace.name.clone());
        for (identifiers, to) in [(&replace.identifiers_freed, None), (&replace.identifiers_tied, Some(row))] {
            for identifier in identifiers {
                self.identifiers.insert((kind, Uuid::from_bytes(lookup::identifier(identifier))), to);
            }
        }
        for (emails, is_tied) in [(&replace.emails_freed, false), (&replace.emails_tied, true)] {
            for email in emails {
                self.emails.insert((Uuid::from_bytes(lookup::email(email)), row), is_tied);
            }
        }
        Ok(())
    }

    fn set_link(&mut self, at: &At, link: &str, from: Option<&Id>, to: Option<&Id>) -> Result<()> {
        let (reference, column) = layout(at.kind).column(link).ok_or_else(no_link)?;
        let to_id = to.map(known).transpose()?;
        let slot = SLOTS.iter().position(|slot| *slot == column);
        self.edit(at, |row| match slot.and_then(|slot| row.links.get_mut(slot)) {
            Some(link) => *link = Edit::To(to_id),
            None => row.modified_by = Edit::To(to_id),
        })?;
        if reference.is_scope {
            for (owner, by) in [(from, -1), (to, 1)] {
                if let Some(owner) = owner {
                    self.count(at.kind, Some((reference.kind, owner)), by, true)?;
                }
            }
        }
        Ok(())
    }

    /// Statements about a set of records see everything that came before.
    fn set(&mut self, set: &Set, texts: Vec<String>) -> Result<()> {
        let bottom = bottom(set)?;
        self.settle();
        for text in texts {
            self.steps.push((text, values![self.tenant, bottom]));
        }
        Ok(())
    }

    fn outbox(&mut self, outbox: &Outbox) -> Result<()> {
        let (person, action) = (outbox.person.as_ref(), outbox.action.as_ref());
        let outgoing = Outgoing {
            seq: self.next(),
            created: outbox.received.micros(),
            helper: outbox.helper.as_str().to_owned(),
            person: person.map(known).transpose()?,
            action: action.map(known).transpose()?,
            body: outbox.body.to_vec(),
        };
        self.outbox.push(outgoing);
        Ok(())
    }
}

/// The statements that write what was collected: one a table.
impl Apply<'_> {
    fn settle(&mut self) {
        let (texts, tenant) = (self.texts, self.tenant);
        let (inserts, updates) = (std::mem::take(&mut self.inserts), std::mem::take(&mut self.updates));
        // New records first that an update is about. A name that an update frees is free in the next turn.
        if let Some(values) = inserts.values(tenant) {
            self.step(&texts.insert_records, values);
        }
        if let Some(values) = updates.values(tenant) {
            self.step(&texts.update_records, values);
        }
        self.settle_identifiers();
        self.settle_emails();
        self.settle_counts();
        self.settle_sums();
        let holders = std::mem::take(&mut self.holders);
        if !holders.is_empty() {
            let people: Vec<Uuid> = holders.iter().map(|held| held.0).collect();
            let (attendances, places): (Vec<i64>, Vec<i64>) = holders.iter().map(|held| (held.1, held.2)).unzip();
            self.step(&texts.hold, values![tenant, people, attendances, places]);
        }
        self.settle_outbox();
    }

    fn settle_identifiers(&mut self) {
        let touched = std::mem::take(&mut self.identifiers);
        let (mut tied, mut freed) = ((Vec::new(), Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        for ((kind, hash), row) in touched {
            if let Some(row) = row {
                tied.0.push(kind);
                tied.1.push(hash);
                tied.2.push(row);
            } else {
                freed.0.push(kind);
                freed.1.push(hash);
            }
        }
        if !freed.0.is_empty() {
            self.step(&self.texts.free_identifiers, values![self.tenant, freed.0, freed.1]);
        }
        if !tied.0.is_empty() {
            self.step(&self.texts.tie_identifiers, values![self.tenant, tied.0, tied.1, tied.2]);
        }
    }

    fn settle_emails(&mut self) {
        let touched = std::mem::take(&mut self.emails);
        let (tied, freed): (Vec<_>, Vec<_>) = touched.into_iter().partition(|(_, is_tied)| *is_tied);
        for (emails, text) in [(freed, &self.texts.free_emails), (tied, &self.texts.tie_emails)] {
            if !emails.is_empty() {
                let (hashes, rows): (Vec<Uuid>, Vec<i64>) = emails.into_iter().map(|(email, _)| email).unzip();
                self.steps.push((text.clone(), values![self.tenant, hashes, rows]));
            }
        }
    }

    fn settle_counts(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        let (mut members, mut scopes, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        let (mut records, mut moved) = (Vec::new(), Vec::new());
        for ((member, scope, owner), won) in counts.into_iter().filter(|(_, won)| won.records != 0 || won.is_moved) {
            members.push(member);
            scopes.push(scope);
            owners.push(owner);
            records.push(won.records);
            moved.push(won.is_moved);
        }
        if !members.is_empty() {
            self.step(&self.texts.count, values![self.tenant, members, scopes, owners, records, moved]);
        }
    }

    fn settle_sums(&mut self) {
        let (mut members, mut scopes, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        let (mut accepted, mut numbers, mut amounts) = (Vec::new(), Vec::new(), Vec::new());
        for ((member, scope, owner), sum) in std::mem::take(&mut self.sums) {
            members.push(member);
            scopes.push(scope);
            owners.push(owner);
            accepted.push(sum.accepted);
            numbers.push(sum.number);
            amounts.push(sum.amount.to_string());
        }
        if !members.is_empty() {
            self.step(&self.texts.set_sums, values![self.tenant, members, scopes, owners, accepted, numbers, amounts]);
        }
        let (mut owners, mut names, mut numbers, mut amounts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for ((owner, name), sum) in std::mem::take(&mut self.parts) {
            owners.push(owner);
            names.push(name);
            numbers.push(sum.number);
            amounts.push(sum.amount.to_string());
        }
        if !owners.is_empty() {
            self.step(&self.texts.set_parts, values![self.tenant, owners, names, numbers, amounts]);
        }
    }

    fn settle_outbox(&mut self) {
        let outbox = std::mem::take(&mut self.outbox);
        if outbox.is_empty() {
            return;
        }
        let (mut seqs, mut created, mut helpers) = (Vec::new(), Vec::new(), Vec::new());
        let (mut people, mut actions, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
        for one in outbox {
            seqs.push(one.seq);
            created.push(one.created);
            helpers.push(one.helper);
            people.push(one.person);
            actions.push(one.action);
            bodies.push(one.body);
        }
        self.step(&self.texts.outbox, values![self.tenant, seqs, created, helpers, people, actions, bodies]);
    }
}

/// The record that a set begins with.
fn bottom(set: &Set) -> Result<Uuid> {
    match set {
        Set::One(at, _) => known(&at.id),
        Set::Under(_, _, inner) => bottom(inner),
        other => Err(StoreError::unexpected(format!("this store does not know the set {other:?}"))),
    }
}

fn no_link() -> StoreError {
    StoreError::unexpected("a change of a link that the kind does not have")
}

/// The statements as they are run.
pub(crate) fn queries<'a>(all: Vec<(String, Vec<Value>)>) -> impl Iterator<Item = Query<'a>> {
    all.into_iter().map(|(text, values)| Query::new(text, values))
}
