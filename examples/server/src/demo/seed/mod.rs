//! The data of the demo: invented, realistic, and always the same for the same arguments.
//!
//! [`SeedRecords`] returns the records of one tenant one by one, containers before the actions on
//! them. A million people therefore need no memory.

mod actions;
mod containers;
mod people;
mod random;
mod row;
mod word_lists;

use std::collections::VecDeque;

use svc_core::link::RecordAddress;
use svc_core::model::Kind;
use svc_core::raw::RawDraft;
use svc_core::read::Object;
use svc_core::value::{Id, Timestamp};
use uuid::Builder;

use containers::Containers;
use random::Random;
pub use row::SeedRow;

/// Creation date of the first record: 2026-01-05T09:00:00Z.
const BEGIN: i64 = 1_767_603_600_000_000;

/// Time between the first and the last record: 270 days.
const SPAN: i64 = 270 * 86_400 * 1_000_000;

/// Approximate number of records for each person, which determines the time between two records.
const ROWS_PER_PERSON: i64 = 4;

/// The name of the system that the records name as their origin.
const ORIGIN: &str = "svc-demo";

/// The records of one tenant, in the order of their creation.
#[derive(Debug)]
pub struct SeedRecords {
    maker: SeedBuilder,
    people: u32,
    made: u32,
    containers: Containers,
    ready: VecDeque<SeedRow>,
}

impl SeedRecords {
    /// Creates the records of a tenant with `people` people.
    ///
    /// There is always one person, the owner of the keys of the tenant, and at least one of every
    /// container. With at least one person, there is also at least one action of every kind.
    #[must_use]
    pub fn new(tenant: &str, people: u32) -> Self {
        let mut maker = SeedBuilder::new(tenant, people);
        let mut ready = VecDeque::new();
        let owner = maker.person(0, &mut ready);
        let mut containers = Containers::new(owner.clone(), &mut maker, &mut ready);
        if people > 0 {
            actions::one_of_each(&owner, &mut containers, &mut maker, &mut ready);
        }
        Self {
            maker,
            people,
            made: 1,
            containers,
            ready,
        }
    }

    /// Returns the owner of the keys of the tenant: the first record.
    #[must_use]
    pub fn owner(&self) -> &RecordAddress {
        &self.containers.owner
    }

    /// Returns the number of people returned so far.
    #[must_use]
    pub fn people_made(&self) -> u32 {
        self.made
    }
}

impl Iterator for SeedRecords {
    type Item = SeedRow;

    fn next(&mut self) -> Option<SeedRow> {
        if self.ready.is_empty() && self.made < self.people {
            let person = self.maker.person(self.made, &mut self.ready);
            actions::some(
                &person,
                &mut self.containers,
                &mut self.maker,
                &mut self.ready,
            );
            self.made += 1;
        }
        let mut row = self.ready.pop_front()?;
        row.draft.fields = in_table_order(row.address.kind, std::mem::take(&mut row.draft.fields));
        Some(row)
    }
}

/// Returns the fields in the order of the table of the kind, which is that of a created record.
fn in_table_order(kind: Kind, fields: Object) -> Object {
    let table = kind.schema().fields.fields;
    let mut fields: Vec<_> = fields.into_iter().collect();
    fields.sort_by_cached_key(|(name, _)| table.iter().position(|field| field.name == name));
    fields.into_iter().collect()
}

/// Creates rows with the next id and the next date.
#[derive(Debug)]
struct SeedBuilder {
    random: Random,
    clock: i64,
    step: u32,
}

impl SeedBuilder {
    fn new(tenant: &str, people: u32) -> Self {
        let rows = i64::from(people.max(1)) * ROWS_PER_PERSON;
        // Twice the average step, because steps are between one microsecond and this value.
        let step = u32::try_from(SPAN / rows * 2).unwrap_or(u32::MAX);
        Self {
            random: Random::named(tenant),
            clock: BEGIN,
            step,
        }
    }

    /// Creates a row with a new id and the next date.
    fn row(&mut self, kind: Kind, parent: Option<&RecordAddress>, fields: Object) -> SeedRow {
        self.clock += 1 + i64::from(self.random.below(self.step));
        let id = self.id();
        SeedRow {
            address: RecordAddress::new(kind, id, parent.map(|parent| parent.id.clone())),
            created: Timestamp::from_micros(self.clock),
            draft: RawDraft::empty(kind).with_fields(fields),
        }
    }

    /// Returns a UUID of version 7 with the time of the clock.
    ///
    /// Requirements: HAL-12.
    fn id(&mut self) -> Id {
        loop {
            let mut bytes = [0; 10];
            let random = [self.random.next(), self.random.next()].map(u64::to_be_bytes);
            for (byte, random) in bytes.iter_mut().zip(random.iter().flatten()) {
                *byte = *random;
            }
            let millis = u64::try_from(self.clock / 1000).unwrap_or_default();
            let uuid = Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid();
            if let Some(id) = Id::new(&uuid.hyphenated().to_string()) {
                return id;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet, HashSet};

    use super::{SeedRecords, SeedRow};
    use svc_core::context::BaseUrl;
    use svc_core::field_set::{FieldBits, FieldSet};
    use svc_core::link::{ConventionalLayout, Dialect, Layout, Target};
    use svc_core::model::*;
    use svc_core::read::{BodyReader, ContentLimits, Json, JsonLimits, LinkReader, Object};
    use svc_core::value::Timestamp;

    const CONTAINERS: [Kind; 11] = [
        Kind::Petition,
        Kind::Event,
        Kind::Form,
        Kind::FundraisingPage,
        Kind::Tag,
        Kind::List,
        Kind::Query,
        Kind::Question,
        Kind::SharePage,
        Kind::AdvocacyCampaign,
        Kind::Message,
    ];

    fn counts(people: u32) -> BTreeMap<Kind, usize> {
        let mut counts = BTreeMap::new();
        for row in SeedRecords::new("demo", people) {
            *counts.entry(row.address.kind).or_default() += 1;
        }
        counts
    }

    #[test]
    fn the_same_arguments_give_the_same_records_and_another_tenant_others() {
        let told = |row: &SeedRow| {
            let draft = &row.draft;
            (
                row.address.clone(),
                row.created,
                draft.fields.clone(),
                draft.links.clone(),
                draft.identifiers.clone(),
            )
        };
        let rows: Vec<_> = SeedRecords::new("demo", 50).collect();
        assert!(
            rows.iter()
                .map(told)
                .eq(SeedRecords::new("demo", 50).map(|row| told(&row)))
        );
        let ids: BTreeSet<_> = rows.iter().map(|row| row.address.id.clone()).collect();
        assert_eq!(ids.len(), rows.len(), "every id is new");
        assert!(SeedRecords::new("other", 50).all(|row| !ids.contains(&row.address.id)));
    }

    #[test]
    fn without_people_there_is_the_owner_and_every_container() {
        let counts = counts(0);
        assert_eq!(counts.get(&Kind::Person), Some(&1));
        let kinds: BTreeSet<_> = counts.into_keys().collect();
        assert_eq!(
            kinds,
            CONTAINERS.into_iter().chain([Kind::Person]).collect()
        );
    }

    #[test]
    fn with_people_there_is_one_of_every_kind() {
        assert_eq!(counts(1).len(), 21);
        assert_eq!(counts(1).get(&Kind::Person), Some(&1));
        assert_eq!(counts(2000).get(&Kind::Person), Some(&2000));
    }

    #[test]
    fn records_come_in_the_order_of_their_dates_and_after_those_they_name() {
        let mut known = BTreeSet::new();
        let mut last = None;
        for row in SeedRecords::new("demo", 300) {
            assert!(last < Some(row.created), "dates grow");
            last = Some(row.created);
            let named = row
                .draft
                .links
                .iter()
                .map(|(_, address)| address)
                .chain(&row.draft.recorded_by);
            let itself = (row.address.kind, row.address.id.clone());
            for address in named.filter(|address| **address != row.address) {
                assert!(
                    known.contains(&(address.kind, address.id.clone())),
                    "{address:?} of {itself:?} is known"
                );
            }
            known.insert(itself);
        }
        assert!(
            last.is_some_and(|last| last.to_string().as_str() < "2026-11-01"),
            "{last:?}"
        );
    }

    #[test]
    fn everyone_can_be_reached_and_addresses_are_of_example_org() {
        let mut addresses = BTreeSet::new();
        for row in SeedRecords::new("demo", 500).filter(|row| row.address.kind == Kind::Person) {
            let first = |list: &str, member: &str| {
                let list = row
                    .draft
                    .fields
                    .get(list)
                    .and_then(Json::as_array)
                    .and_then(<[Json]>::first);
                list.and_then(Json::as_object)
                    .and_then(|first| first.get(member))
                    .and_then(Json::as_str)
            };
            let address = first("email_addresses", "address").expect("there is an e-mail address");
            assert!(address.ends_with("@example.org"), "{address}");
            assert!(
                addresses.insert(address.to_owned()),
                "{address} is of one person only"
            );
            let number = first("phone_numbers", "number").expect("there is a phone number");
            assert!(
                number.starts_with("1555010") && number.len() == 11,
                "{number}"
            );
        }
    }

    #[test]
    fn the_first_fundraising_page_is_in_dollars_and_others_are_not() {
        let pages =
            SeedRecords::new("demo", 0).filter(|row| row.address.kind == Kind::FundraisingPage);
        let currencies: Vec<_> = pages
            .filter_map(|row| {
                row.draft
                    .fields
                    .get("currency")
                    .and_then(Json::as_str)
                    .map(str::to_owned)
            })
            .collect();
        assert_eq!(currencies.first().map(String::as_str), Some("USD"));
        assert!(
            currencies.len() > 1 && currencies.iter().skip(1).all(|currency| currency != "USD"),
            "{currencies:?}"
        );
    }

    #[test]
    fn no_event_is_oversold_and_nobody_is_tagged_twice() {
        let mut capacities = BTreeMap::new();
        let mut taken: BTreeMap<_, i64> = BTreeMap::new();
        let mut taggings = BTreeSet::new();
        for row in SeedRecords::new("demo", 4000) {
            match row.address.kind {
                Kind::Event => {
                    let capacity = row
                        .draft
                        .fields
                        .get("capacity")
                        .and_then(Json::as_i64)
                        .unwrap_or(i64::MAX);
                    capacities.insert(row.address.id, capacity);
                }
                Kind::Attendance => {
                    let places = match row.draft.fields.get("tickets").and_then(Json::as_array) {
                        Some(tickets) => i64::try_from(tickets.len()).expect("few tickets"),
                        None => 1,
                    };
                    *taken
                        .entry(row.address.parent.expect("an event"))
                        .or_default() += places;
                }
                Kind::Tagging | Kind::Item => {
                    let person = row
                        .draft
                        .links
                        .iter()
                        .find(|(name, _)| *name == "person")
                        .expect("a person");
                    assert!(
                        taggings.insert((row.address.parent, person.1.id.clone())),
                        "once only"
                    );
                }
                _ => {}
            }
        }
        for (event, places) in taken {
            assert!(
                places <= capacities[&event],
                "{places} places of {}",
                capacities[&event]
            );
        }
    }

    /// Returns the fields that a client may write.
    fn writable(kind: Kind) -> FieldBits {
        macro_rules! of {
            (($kind:expr) $($name:ident)+) => {
                match $kind { $(Kind::$name => FieldSet::<$name>::writable().bits(),)+ _ => unreachable!("{:?}", $kind) }
            };
        }
        svc_core::each_kind!(of(kind))
    }

    /// Returns the body with which a client would create the record.
    fn body(row: &SeedRow, layout: &dyn Layout) -> Object {
        let mut links = Object::new();
        for (name, address) in row
            .draft
            .links
            .iter()
            .filter(|(name, _)| *name != "modified_by")
        {
            let mut href = "http://localhost/".to_owned();
            layout.path(&Target::Record(address.clone()), &mut href);
            let mut link = Object::new();
            link.insert("href", href);
            links.insert(format!("svc:{name}"), link);
        }
        let mut body = row.draft.fields.clone();
        let identifiers = row
            .draft
            .identifiers
            .iter()
            .map(|identifier| Json::from(identifier.as_str()));
        body.insert("identifiers", Json::Array(identifiers.collect()));
        body.insert("_links", links);
        body
    }

    #[test]
    fn every_record_is_one_that_a_client_could_create() {
        let (dialect, layout, base) = (Dialect::default(), ConventionalLayout, BaseUrl::default());
        let links = LinkReader {
            base: &base,
            layout: &layout,
            dialect: &dialect,
        };
        let bodies = BodyReader {
            links,
            namespace: "demo",
            limits: &JsonLimits::default(),
            caps: &ContentLimits::default(),
            now: Timestamp::now(),
            reports_ignored: false,
        };
        for row in SeedRecords::new("demo", 400) {
            let kind = row.address.kind;
            let container = row.draft.container();
            let body = body(&row, &layout);
            let (draft, report) = bodies.draft(kind, writable(kind), &body, container);
            let problems = report.problems;
            assert!(problems.is_empty(), "{kind:?}: {problems:?}");
            assert_eq!(
                Json::Object(draft.fields.clone()),
                Json::Object(row.draft.fields.clone()),
                "{kind:?}"
            );
            let sent = |draft: &svc_core::raw::RawDraft| {
                let named = draft
                    .links
                    .iter()
                    .filter(|(name, _)| *name != "modified_by");
                named.cloned().collect::<HashSet<_>>()
            };
            assert_eq!(sent(&draft), sent(&row.draft), "{kind:?}");
        }
    }
}
