//! What can be wrong behind the second service's surface: faults of a backend rather than of requests and responses.

use serde_json::{Map, Value};

use super::store::Record;
use super::write::Work;

/// One fault of the backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bug {
    /// The third update of a record drops a field that it did not send.
    ThirdUpdateDropsField,
    /// The second delete among the records of one container or person does nothing, though it answers as if.
    SecondDeleteLost,
    /// An update of a person who has a tagging loses its foreign identifiers.
    TaggedUpdateLosesIdentifiers,
    /// An update of a record that another, deleted one belonged to does not store.
    UpdateAfterDeleteLost,
    /// Once a record has been emptied of a field, its creation date moves with the next update.
    EmptiedFieldMovesCreation,
    /// One more attendance than the event's capacity is taken.
    CapacityOffByOne,
    /// Tickets are sold beyond the level's limit.
    TicketLimitIgnored,
    /// A cancelled schedule stays.
    ScheduleNotCancelled,
    /// A helper records its action but not the taggings and items.
    HelperWithoutTagging,
    /// Only the first foreign identifier is kept.
    DropsSecondIdentifier,
}

impl Work<'_> {
    /// What a fault does to a record that is about to be stored by an update.
    pub(super) fn damage_update(&self, record: &mut Record, sent: &Map<String, Value>) {
        let has = |bug: Bug| self.options.has(bug);
        if has(Bug::ThirdUpdateDropsField) && record.updates == 3 {
            let unsent = record.body.keys().find(|name| !sent.contains_key(*name)).cloned();
            if let Some(name) = unsent {
                record.body.remove(&name);
            }
        }
        if has(Bug::TaggedUpdateLosesIdentifiers) && record.kind.one == "person" {
            let mut all = self.data.records.values();
            if all.any(|one| one.kind.one == "tagging" && one.links.get("person") == Some(&record.number)) {
                record.identifiers.clear();
            }
        }
        if has(Bug::UpdateAfterDeleteLost)
            && self.data.thinned.contains_key(&record.number)
            && let Some(stored) = self.data.records.get(&record.number)
        {
            record.body.clone_from(&stored.body);
        }
        if has(Bug::EmptiedFieldMovesCreation) && sent.values().any(Value::is_null) && record.updates > 1 {
            record.created = record.modified;
        }
    }

    /// Whether a fault swallows a delete.
    pub(super) fn damage_delete(&mut self, record: &Record) -> bool {
        if !self.options.has(Bug::SecondDeleteLost) {
            return false;
        }
        let lost = record.links.values().any(|number| self.data.thinned.get(number) == Some(&1));
        if lost {
            self.data.thin(record);
        }
        lost
    }
}
