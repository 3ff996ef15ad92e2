//! New and changed records of a turn, column by column.

use std::collections::BTreeMap;

use svc_core::store::Insert;
use uuid::Uuid;

use crate::{
    error::Result,
    layout::{SLOTS, layout},
    pipeline::{Value, values},
    rows::known,
};

/// New records.
#[derive(Default)]
pub(super) struct Inserts {
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

impl Inserts {
    pub(super) fn push(&mut self, insert: &Insert, row: i64) -> Result<()> {
        let record = &insert.record;
        let (meta, layout) = (record.meta(), layout(record.kind()));
        let (mut links, mut modified_by) = ([None; 4], None);
        for (reference, column) in layout.columns() {
            let to = record.link(reference.name).map(|to| known(&to.id)).transpose()?;
            match SLOTS.iter().position(|slot| *slot == column).and_then(|slot| links.get_mut(slot)) {
                Some(link) => *link = to,
                None => modified_by = to,
            }
        }
        self.ids.push(known(&meta.id)?);
        self.kinds.push(layout.code);
        self.seqs.push(row);
        self.created.push(meta.created.micros());
        self.modified.push(meta.modified.micros());
        for (column, link) in self.links.iter_mut().zip(links) {
            column.push(link);
        }
        self.modified_by.push(modified_by);
        self.names.push(insert.name.clone());
        self.identifiers.push(meta.identifiers.as_json().to_owned());
        self.bodies.push(record.stored_fields().to_vec());
        Ok(())
    }

    /// The values of `insert_records`; `None` when there are none.
    pub(super) fn values(self, tenant: i64) -> Option<Vec<Value>> {
        if self.ids.is_empty() {
            return None;
        }
        let [l1, l2, l3, l4] = self.links;
        Some(values![
            tenant,
            self.kinds,
            self.ids,
            self.seqs,
            self.created,
            self.modified,
            l1,
            l2,
            l3,
            l4,
            self.modified_by,
            self.names,
            self.identifiers,
            self.bodies,
        ])
    }
}

/// What becomes of a column that may be empty.
#[derive(Default)]
pub(super) enum Edit<T> {
    /// It stays as it is.
    #[default]
    Kept,
    /// This.
    To(Option<T>),
}

impl<T> Edit<T> {
    fn is_set(&self) -> bool {
        matches!(self, Self::To(_))
    }

    fn value(self) -> Option<T> {
        match self {
            Self::Kept => None,
            Self::To(value) => value,
        }
    }
}

/// What has become of one record; `None` stays as it is.
#[derive(Default)]
pub(super) struct Update {
    pub(super) modified: Option<i64>,
    pub(super) links: [Edit<Uuid>; 4],
    pub(super) modified_by: Edit<Uuid>,
    pub(super) name: Edit<String>,
    pub(super) identifiers: Option<String>,
    pub(super) body: Option<Vec<u8>>,
    /// Start and stop of a message.
    pub(super) schedule: Option<(Option<i64>, Option<i64>)>,
}

impl Update {
    /// Which of the columns that may be null are set: the bits that `update_records` reads.
    fn flags(&self) -> i32 {
        let [l1, l2, l3, l4] = self.links.each_ref().map(Edit::is_set);
        let set = [l1, l2, l3, l4, self.modified_by.is_set(), self.name.is_set(), self.schedule.is_some()];
        set.into_iter().rev().fold(0, |flags, is_set| (flags << 1) | i32::from(is_set))
    }
}

/// Changed records, each once.
#[derive(Default)]
pub(super) struct Updates(BTreeMap<(i16, i64), Update>);

impl Updates {
    /// What has become of a record so far.
    pub(super) fn of(&mut self, kind: i16, row: i64) -> &mut Update {
        self.0.entry((kind, row)).or_default()
    }

    /// The values of `update_records`; `None` when there are none.
    pub(super) fn values(self, tenant: i64) -> Option<Vec<Value>> {
        if self.0.is_empty() {
            return None;
        }
        let (mut kinds, mut seqs, mut flags, mut modified) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut links: [Vec<Option<Uuid>>; 4] = Default::default();
        let (mut modified_by, mut names, mut identifiers) = (Vec::new(), Vec::new(), Vec::new());
        let (mut bodies, mut starts, mut stops) = (Vec::new(), Vec::new(), Vec::new());
        for ((kind, seq), update) in self.0 {
            kinds.push(kind);
            seqs.push(seq);
            flags.push(update.flags());
            modified.push(update.modified);
            for (column, link) in links.iter_mut().zip(update.links) {
                column.push(link.value());
            }
            modified_by.push(update.modified_by.value());
            names.push(update.name.value());
            identifiers.push(update.identifiers);
            bodies.push(update.body);
            let (start, stop) = update.schedule.unwrap_or_default();
            starts.push(start);
            stops.push(stop);
        }
        let [l1, l2, l3, l4] = links;
        Some(values![
            tenant,
            kinds,
            seqs,
            flags,
            modified,
            l1,
            l2,
            l3,
            l4,
            modified_by,
            names,
            identifiers,
            bodies,
            starts,
            stops,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits are those that `update_records` names.
    #[test]
    fn flags_say_what_is_set() {
        assert_eq!(Update::default().flags(), 0);
        let mut update = Update { name: Edit::To(None), schedule: Some((None, None)), ..Update::default() };
        assert_eq!(update.flags(), 32 + 64);
        update.links[0] = Edit::To(None);
        update.links[3] = Edit::To(Some(Uuid::nil()));
        update.modified_by = Edit::To(None);
        assert_eq!(update.flags(), 1 + 8 + 16 + 32 + 64);
    }
}
