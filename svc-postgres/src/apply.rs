//! What the rulebook changes, collected over the calls of a batch and written in one round trip.

use std::collections::{BTreeMap, HashMap};

use svc_core::{
    model::Kind,
    store::{At, Change, Counts, Insert, Outbox, Replace, Set, Stored, lookup},
    value::{Id, Timestamp},
};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::{
    error::{Result, StoreError},
    fetch::{ANY, Query, values},
    layout::{SLOTS, layout},
    rows::{code, known},
    sets,
    statements::Statements,
};

/// The owner of the collection of all records.
const ALL: Uuid = Uuid::nil();

type Values = Vec<Box<dyn ToSql + Sync + Send>>;

/// The changes of a batch that are not written yet.
pub(crate) struct Apply<'a> {
    texts: &'a Statements,
    schema: &'a str,
    tenant: i64,
    /// The number that the last new record got.
    pub(crate) seq: i64,
    /// Numbers of records that this batch has made.
    made: HashMap<(Kind, Id), i64>,
    records: Records,
    /// Whom each identifier and address that was touched leads to in the end.
    identifiers: BTreeMap<(i16, Uuid), Option<i64>>,
    emails: BTreeMap<(Uuid, i64), bool>,
    counts: Counts,
    /// Everything else, in its order.
    steps: Vec<(String, Values)>,
}

/// New records, column by column.
#[derive(Default)]
struct Records {
    kinds: Vec<i16>,
    ids: Vec<Uuid>,
    seqs: Vec<i64>,
    created: Vec<i64>,
    modified: Vec<i64>,
    links: [Vec<Option<Uuid>>; 4],
    modified_by: Vec<Option<Uuid>>,
    names: Vec<Option<String>>,
    identifiers: Vec<String>,
    bodies: Vec<Vec<u8>>,
}

impl<'a> Apply<'a> {
    pub(crate) fn new(texts: &'a Statements, schema: &'a str, tenant: i64, seq: i64) -> Self {
        Self {
            texts,
            schema,
            tenant,
            seq,
            made: HashMap::new(),
            records: Records::default(),
            identifiers: BTreeMap::new(),
            emails: BTreeMap::new(),
            counts: Counts::default(),
            steps: Vec::new(),
        }
    }

    pub(crate) fn change(&mut self, change: &Change) -> Result<()> {
        let tenant = self.tenant;
        match change {
            Change::Insert(insert) => self.insert(insert)?,
            Change::Replace(replace) => self.replace(replace)?,
            Change::SetFields { at, fields } => {
                let row = self.row(at)?;
                self.step(&self.texts.set_body, values![tenant, code(at.kind), row, fields.to_vec()]);
            }
            Change::SetLink { at, link, from, to } => self.set_link(at, link, from.as_ref(), to.as_ref())?,
            Change::SetSchedule { at, start, stop } => {
                let (row, start, stop) = (self.row(at)?, start.map(Timestamp::micros), stop.map(Timestamp::micros));
                self.step(&self.texts.set_schedule, values![tenant, code(at.kind), row, start, stop]);
            }
            Change::Delete(set) => self.delete(set)?,
            Change::ClearLink { kind, link, to } => {
                let Some((_, column)) = layout(*kind).column(link) else { return Err(no_link()) };
                let text = sets::clearing(self.schema, *kind, column, to);
                self.steps.push((text, values![tenant, bottom(to)?]));
            }
            Change::SetSum { of, members, sum } => {
                let owner = known(&of.1)?;
                let values = values![
                    tenant,
                    code(*members),
                    code(of.0),
                    owner,
                    sum.accepted,
                    sum.number,
                    sum.amount.to_string()
                ];
                self.step(&self.texts.set_sum, values);
            }
            Change::SetPart { of: (_, id), name, sum } => {
                let owner = known(id)?;
                self.step(
                    &self.texts.set_part,
                    values![tenant, owner, name.clone(), sum.number, sum.amount.to_string()],
                );
            }
            Change::Hold { at, place, person } => {
                let (row, person) = (self.row(at)?, known(person)?);
                self.step(&self.texts.hold, values![tenant, person, row, *place]);
            }
            Change::MoveHolders { at, places } => {
                let row = self.row(at)?;
                let (old, now): (Vec<i64>, Vec<i64>) = places.iter().copied().unzip();
                self.step(&self.texts.place_holders, values![tenant, row, old, now]);
            }
            Change::Forget(person) => {
                let person = known(person)?;
                self.step(&self.texts.forget_holdings, values![tenant, person]);
                self.step(&self.texts.forget_outbox, values![tenant, person]);
            }
            Change::Outbox(outbox) => self.outbox(outbox)?,
            other => return Err(StoreError::unexpected(format!("this store does not know the change {other:?}"))),
        }
        Ok(())
    }

    fn step(&mut self, text: &str, values: Values) {
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

    fn insert(&mut self, insert: &Insert) -> Result<()> {
        let (record, row) = (&insert.record, self.next());
        let (kind, meta) = (record.kind(), record.meta());
        let layout = layout(kind);
        let mut links = [None; 4];
        let mut modified_by = None;
        for (reference, column) in layout.columns() {
            let to = record.link(reference.name).map(|to| known(&to.id)).transpose()?;
            match SLOTS.iter().position(|slot| *slot == column).and_then(|slot| links.get_mut(slot)) {
                Some(link) => *link = to,
                None => modified_by = to,
            }
        }
        let records = &mut self.records;
        records.kinds.push(layout.code);
        records.ids.push(known(&meta.id)?);
        records.seqs.push(row);
        records.created.push(meta.created.micros());
        records.modified.push(meta.modified.micros());
        for (column, link) in records.links.iter_mut().zip(links) {
            column.push(link);
        }
        records.modified_by.push(modified_by);
        records.names.push(insert.name.clone());
        records.identifiers.push(meta.identifiers.as_json().to_owned());
        records.bodies.push(record.stored_fields().to_vec());
        self.made.insert((kind, meta.id.clone()), row);
        for identifier in &insert.identifiers {
            self.identifiers.insert((layout.code, Uuid::from_bytes(lookup::identifier(identifier))), Some(row));
        }
        for email in &insert.emails {
            self.emails.insert((Uuid::from_bytes(lookup::email(email)), row), true);
        }
        if kind.schema().has_collection() {
            self.counts.add(kind, None, 1);
        }
        for (reference, _) in layout.scopes() {
            if let Some(owner) = record.link(reference.name) {
                self.counts.add(kind, Some((reference.kind, &owner.id)), 1);
            }
        }
        Ok(())
    }

    fn replace(&mut self, replace: &Replace) -> Result<()> {
        let (row, kind) = (self.row(&replace.at)?, code(replace.at.kind));
        let modified_by = replace.modified_by.as_ref().map(known).transpose()?;
        let identifiers = replace.identifiers.as_json().to_owned();
        self.step(
            &self.texts.replace,
            values![
                self.tenant,
                kind,
                row,
                replace.modified.micros(),
                identifiers,
                replace.fields.to_vec(),
                modified_by,
                replace.name.clone()
            ],
        );
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
        let row = self.row(at)?;
        let Some((reference, column)) = layout(at.kind).column(link) else { return Err(no_link()) };
        let slot = SLOTS.iter().position(|slot| *slot == column).and_then(|slot| self.texts.set_link.get(slot));
        let text = slot.unwrap_or(&self.texts.set_modified_by);
        let to_id = to.map(known).transpose()?;
        self.step(text, values![self.tenant, code(at.kind), row, to_id]);
        if reference.is_scope {
            for (owner, by) in [(from, -1), (to, 1)] {
                if let Some(owner) = owner {
                    self.counts.add(at.kind, Some((reference.kind, owner)), by);
                }
            }
        }
        Ok(())
    }

    fn delete(&mut self, set: &Set) -> Result<()> {
        let bottom = bottom(set)?;
        for text in sets::deleting(self.schema, set) {
            self.steps.push((text, values![self.tenant, bottom]));
        }
        Ok(())
    }

    fn outbox(&mut self, outbox: &Outbox) -> Result<()> {
        let (person, action) = (outbox.person.as_ref(), outbox.action.as_ref());
        let (person, action) = (person.map(known).transpose()?, action.map(known).transpose()?);
        let seq = self.next();
        let helper = outbox.helper.as_str().to_owned();
        self.step(
            &self.texts.outbox,
            values![self.tenant, seq, outbox.received.micros(), helper, person, action, outbox.body.to_vec()],
        );
        Ok(())
    }

    /// The statements that write all of it, in their order; nothing is left.
    pub(crate) fn take(&mut self) -> Result<Vec<(String, Values)>> {
        let (texts, tenant) = (self.texts, self.tenant);
        let mut all: Vec<(String, Values)> = Vec::new();
        let records = std::mem::take(&mut self.records);
        if !records.ids.is_empty() {
            let [l1, l2, l3, l4] = records.links;
            let values = values![
                tenant,
                records.kinds,
                records.ids,
                records.seqs,
                records.created,
                records.modified,
                l1,
                l2,
                l3,
                l4,
                records.modified_by,
                records.names,
                records.identifiers,
                records.bodies
            ];
            all.push((texts.insert_records.clone(), values));
        }
        self.take_identifiers(&mut all);
        self.take_emails(&mut all);
        self.take_counts(&mut all)?;
        all.append(&mut self.steps);
        Ok(all)
    }

    fn take_identifiers(&mut self, all: &mut Vec<(String, Values)>) {
        let touched = std::mem::take(&mut self.identifiers);
        if touched.is_empty() {
            return;
        }
        let (kinds, hashes): (Vec<i16>, Vec<Uuid>) = touched.keys().copied().unzip();
        all.push((self.texts.free_identifiers.clone(), values![self.tenant, kinds, hashes]));
        let mut tied = (Vec::new(), Vec::new(), Vec::new());
        for ((kind, hash), row) in touched {
            if let Some(row) = row {
                tied.0.push(kind);
                tied.1.push(hash);
                tied.2.push(row);
            }
        }
        all.push((self.texts.tie_identifiers.clone(), values![self.tenant, tied.0, tied.1, tied.2]));
    }

    fn take_emails(&mut self, all: &mut Vec<(String, Values)>) {
        let touched = std::mem::take(&mut self.emails);
        if touched.is_empty() {
            return;
        }
        let (hashes, rows): (Vec<Uuid>, Vec<i64>) = touched.keys().copied().unzip();
        all.push((self.texts.free_emails.clone(), values![self.tenant, hashes, rows]));
        let tied = touched.into_iter().filter(|(_, is_tied)| *is_tied).map(|(email, _)| email);
        let (hashes, rows): (Vec<Uuid>, Vec<i64>) = tied.unzip();
        all.push((self.texts.tie_emails.clone(), values![self.tenant, hashes, rows]));
    }

    fn take_counts(&mut self, all: &mut Vec<(String, Values)>) -> Result<()> {
        let mut columns = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for ((members, under), by) in self.counts.take() {
            let (scope, owner) = match &under {
                Some((kind, id)) => (code(*kind), known(id)?),
                None => (0, ALL),
            };
            columns.0.push(code(members));
            columns.1.push(scope);
            columns.2.push(owner);
            columns.3.push(by);
        }
        if !columns.0.is_empty() {
            let values = values![self.tenant, columns.0, columns.1, columns.2, columns.3];
            all.push((self.texts.count.clone(), values));
        }
        Ok(())
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
pub(crate) fn queries(all: &mut [(String, Values)]) -> Vec<Query<'_>> {
    all.iter_mut().map(|(text, values)| Query::new(text, std::mem::take(values))).collect()
}

const _: i64 = ANY;
