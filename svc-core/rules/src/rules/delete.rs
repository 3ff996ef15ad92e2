//! Deletes a record together with its dependent records.
//!
//! Requirements: CRU-05, UND-26.

use super::{RuleContext, RuleResult, check};
use crate::{
    error::{Error, ErrorCode, Problem},
    link::RecordAddress,
    model::Kind,
    schema::OnDelete,
    store::{Change, IndexValues, RecordSet, StoredRecord},
};

impl RuleContext<'_> {
    /// Deletes the record at an address. Returns `false` if it does not exist.
    pub(super) fn delete_at(&mut self, at: &RecordAddress) -> RuleResult<bool> {
        let Some(stored) = self.own_record(at)? else {
            return Ok(false);
        };
        self.call.check(&stored.record)?;
        self.delete(&stored)?;
        Ok(true)
    }

    fn delete(&mut self, stored: &StoredRecord) -> RuleResult<()> {
        let record = &stored.record;
        let (kind, id) = (record.kind(), &record.meta().id);
        for member in Kind::ALL {
            for reference in member.schema().references() {
                if reference.kind == kind
                    && reference.on_delete == OnDelete::Restrict
                    && self.ledger.count(*member, kind, id)? > 0
                {
                    let text = format!("The {} still has {}.", kind.singular(), member.plural());
                    return Err(Error::invalid(Problem::for_request(
                        ErrorCode::HasDependents,
                        text,
                    ))
                    .into());
                }
            }
        }
        let mut index = IndexValues::default();
        let mut problems = Vec::new();
        self.ledger.note(stored);
        match (kind, record.parent().cloned()) {
            (Kind::Attendance, Some(event)) => {
                let before = self.fields(record)?;
                self.apply_attendance(&event, Some(&before), None, false, &mut problems)?;
            }
            (Kind::Person, _) => {
                let fields = self.fields(record)?;
                index = IndexValues::of(kind, &fields);
                self.erase_traces(id, &fields)?;
            }
            (Kind::Message, _) => self.recall(stored),
            _ => self.measure_deleted(record)?,
        }
        if kind.schema().unique_name().is_some() {
            // A damaged record is not in an index.
            let fields = self.fields(record).unwrap_or_default();
            index = IndexValues::of(kind, &fields);
        }
        check(problems)?;
        for change in removal(RecordSet::One(stored.at(), index)) {
            self.ledger.change(change);
        }
        Ok(())
    }
}

/// Returns the changes that delete a set of records.
///
/// Dependent records are deleted first, and links to the deleted records are cleared.
#[must_use]
pub fn removal(set: RecordSet) -> Vec<Change> {
    let kind = set.kind();
    let mut changes = Vec::new();
    for member in Kind::ALL {
        for reference in member
            .schema()
            .references()
            .iter()
            .filter(|reference| reference.kind == kind)
        {
            match reference.on_delete {
                OnDelete::Cascade => {
                    changes.extend(removal(RecordSet::Under(
                        *member,
                        reference.name,
                        Box::new(set.clone()),
                    )));
                }
                OnDelete::Clear => {
                    changes.push(Change::ClearLink {
                        kind: *member,
                        link: reference.name,
                        to: set.clone(),
                    });
                }
                // There are none: the count was checked before.
                OnDelete::Restrict => {}
            }
        }
    }
    changes.push(Change::Delete(set));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{filter::FilterField, store::ChangeTarget};

    /// FLT-14: records with texts in an index are only deleted by themselves, so a store gets the
    /// texts with the deletion.
    #[test]
    fn flt_14_texts_are_deleted_with_their_record() {
        for kind in Kind::ALL {
            let target = ChangeTarget::new(*kind, 1.into(), 1);
            for change in removal(RecordSet::One(target, IndexValues::default())) {
                if let Change::Delete(RecordSet::Under(under, ..)) = change {
                    assert_eq!(FilterField::of_index(under).next(), None, "{under:?}");
                }
            }
        }
    }
}
