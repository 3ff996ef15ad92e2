//! Faults in the backend of the second service, independent of its requests and responses.

use serde_json::{Map, Value};

use super::store::{RecordData, TenantData};

/// One fault of the backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Defect {
    /// The third update of a record removes a field that it did not contain.
    ThirdUpdateDropsField,
    /// The second delete among the records of one container or person has no effect, but its
    /// response reports success.
    SecondDeleteLost,
    /// An update of a person with a tagging removes its foreign identifiers.
    TaggedUpdateLosesIdentifiers,
    /// An update of a record is not stored if a record that belonged to it was deleted.
    UpdateAfterDeleteLost,
    /// If a field of a record was emptied, the next update changes its creation date.
    EmptiedFieldMovesCreation,
    /// One attendance more than the event's capacity is accepted.
    CapacityOffByOne,
    /// Tickets are sold beyond the level's limit.
    TicketLimitIgnored,
    /// A cancelled schedule stays active.
    ScheduleNotCancelled,
    /// A helper records its action but not the taggings and items.
    HelperWithoutTagging,
    /// Only the first foreign identifier is stored.
    DropsSecondIdentifier,
    /// An anonymous caller changes this field of a known person.
    StrangersChange(&'static str),
    /// An anonymous caller subscribes the addresses of a known person.
    AnonymousSubscribes,
    /// An anonymous caller changes the name of the person that an identifier names.
    StrangersNameByIdentifier,
    /// An anonymous caller that names an existing action applies the functions of the request to
    /// the person of that action.
    RepeatsLendPeople,
    /// A partly failed request returns the person to every caller.
    FailuresShowPeople,
    /// The total of a page subtracts the credits to donors, which `amount` already excludes.
    CreditsTakenOffTwice,
    /// A person is looked up and inserted later. A person that was inserted in between is not
    /// found.
    LooksUpBeforeInsert,
}

/// Applies the faults to a record that an update is about to store.
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

/// Returns whether a fault ignores a delete.
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
