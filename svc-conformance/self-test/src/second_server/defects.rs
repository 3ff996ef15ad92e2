//! What can be wrong behind the second service's surface: faults of a backend rather than of
//! requests and responses.

use serde_json::{Map, Value};

use super::store::{RecordData, TenantData};

/// One fault of the backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Defect {
    /// The third update of a record drops a field that it did not send.
    ThirdUpdateDropsField,
    /// The second delete among the records of one container or person does nothing, though it
    /// answers as if.
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
    /// A caller without a key changes this field of somebody known.
    StrangersChange(&'static str),
    /// An anonymous caller subscribes the addresses of a known person.
    AnonymousSubscribes,
    /// A caller without a key changes the name of whom an identifier names.
    StrangersNameByIdentifier,
    /// An action that is named once more without a key lends its person to the functions of the
    /// call.
    RepeatsLendPeople,
    /// A call that fails in part shows the person to any caller.
    FailuresShowPeople,
    /// The total of a page lacks what was credited back to donors, which `amount` lacks already.
    CreditsTakenOffTwice,
    /// A person is looked up, and only a while later inserted: who was inserted meanwhile is not
    /// found.
    LooksUpBeforeInsert,
}

/// What faults do to a record that is about to be stored by an update.
pub(super) fn damage_update(
    has: impl Fn(Defect) -> bool,
    data: &TenantData,
    record: &mut RecordData,
    sent: &Map<String, Value>,
) {
    if has(Defect::ThirdUpdateDropsField) && record.updates == 3 {
        let unsent = record
            .body
            .keys()
            .find(|name| !sent.contains_key(*name))
            .cloned();
        if let Some(name) = unsent {
            record.body.remove(&name);
        }
    }
    if has(Defect::TaggedUpdateLosesIdentifiers) && record.kind.one == "person" {
        let mut all = data.records.values();
        if all
            .any(|one| one.kind.one == "tagging" && one.links.get("person") == Some(&record.number))
        {
            record.identifiers.clear();
        }
    }
    if has(Defect::UpdateAfterDeleteLost)
        && data.thinned.contains_key(&record.number)
        && let Some(stored) = data.records.get(&record.number)
    {
        record.body.clone_from(&stored.body);
    }
    if has(Defect::EmptiedFieldMovesCreation)
        && sent.values().any(Value::is_null)
        && record.updates > 1
    {
        record.created = record.modified;
    }
}

/// Whether a fault swallows a delete.
pub(super) fn damage_delete(
    has: impl Fn(Defect) -> bool,
    data: &mut TenantData,
    record: &RecordData,
) -> bool {
    if !has(Defect::SecondDeleteLost) {
        return false;
    }
    let lost = record
        .links
        .values()
        .any(|number| data.thinned.get(number) == Some(&1));
    if lost {
        data.thin(record);
    }
    lost
}
