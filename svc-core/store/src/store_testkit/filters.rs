//! The contract of filters: a filtered or ordered collection is equal to an evaluation of each
//! record.

use svc_core::{
    auth::Caller,
    context::{Context, Tenant},
    draft::{RawDraft, RawPatch},
    error::Result,
    filter::{Filter, FilterField, FilterSource, Operator, matches},
    json::{Json, Object},
    model::Kind,
    page::{ListRequest, PageRequest},
    record::RawRecord,
    store::{ImportedRecord, Store, WriteOperation, WriteRequest},
    value::{Id, Identifier, Timestamp},
};

use super::{ContractViolation, generator::Rng};

/// The number of records of each kind and tenant.
const RECORDS: usize = 60;
/// The number of different timestamps, addresses and identifiers.
const SOME: usize = 9;
/// The namespace of the server's own identifiers.
const NAMESPACE: &str = "laws";

/// Checks that generated filters and orders return the same records as an evaluation of each
/// record.
///
/// The order and the total must also be equal, both for pages that follow `next` links and for
/// pages by number. The tenants must have no records.
///
/// # Errors
///
/// Returns the first filter with a different result. `step` is its number.
///
/// Requirements: FLT-01, FLT-02, FLT-05, FLT-08, FLT-09, FLT-11.
pub async fn check_filters<S: Store>(
    store: &S,
    tenants: [Tenant; 2],
    filters: usize,
) -> Result<(), ContractViolation> {
    let mut law = FilterTest {
        store,
        dice: Rng::new(5),
        step: 0,
        text: String::new(),
    };
    let [one, two] =
        tenants.map(|tenant| Context::new(tenant, Caller::anonymous(), Timestamp::now()));
    for (place, cx) in [&one, &two].into_iter().enumerate() {
        for kind in [Kind::Person, Kind::Tag] {
            law.fill(cx, kind, place)
                .await
                .map_err(|error| law.broken(&error.to_string()))?;
        }
    }
    while law.step < filters {
        let kind = if law.dice.one_in(3) {
            Kind::Tag
        } else {
            Kind::Person
        };
        law.step = law.step.saturating_add(1);
        law.one(&one, kind).await?;
    }
    law.overlapping(&two).await
}

struct FilterTest<'s, S> {
    store: &'s S,
    dice: Rng,
    step: usize,
    text: String,
}

impl<S: Store> FilterTest<'_, S> {
    fn broken(&self, text: &str) -> ContractViolation {
        ContractViolation {
            law: "filters",
            seed: 5,
            step: self.step,
            text: format!("{}: {text}", self.text),
        }
    }

    /// Creates records with common dates and addresses, and changes some of them.
    async fn fill(&mut self, cx: &Context, kind: Kind, place: usize) -> Result<()> {
        for number in 0..RECORDS {
            let mut draft = RawDraft::empty(kind);
            if kind == Kind::Tag {
                draft.fields.insert("name", name(number));
            } else {
                let mut entry = Object::new();
                entry.insert("address", address(self.dice.below(SOME)));
                draft
                    .fields
                    .insert("email_addresses", Json::Array(vec![Json::Object(entry)]));
                if !self.dice.one_in(5) {
                    let family = family(self.dice.below(SOME));
                    draft.fields.insert("family_name", family);
                }
            }
            if !self.dice.one_in(3) {
                draft
                    .identifiers
                    .extend(Identifier::parse(&format!("crm:{number}")));
            }
            let Some(id) = Id::new(&id(kind, place, number)) else {
                continue;
            };
            let load = ImportedRecord::new(id, moment(self.dice.below(SOME)), draft);
            self.store
                .write(
                    cx,
                    WriteRequest::new(cx, WriteOperation::Import(Box::new(load))),
                )
                .await?;
        }
        let all = self.all(cx, kind).await?;
        for record in all
            .iter()
            .filter(|_| self.dice.one_in(4))
            .map(RawRecord::address)
            .collect::<Vec<_>>()
        {
            let mut fields = Object::new();
            fields.insert("origin_system", "changed");
            if kind == Kind::Person && self.dice.one_in(2) {
                fields.insert("family_name", family(self.dice.below(SOME)));
            }
            let patch = RawPatch::new(kind, fields);
            let work = if self.dice.one_in(4) {
                WriteOperation::Delete(record)
            } else {
                WriteOperation::Update(record, patch)
            };
            self.store.write(cx, WriteRequest::new(cx, work)).await?;
        }
        Ok(())
    }

    /// Checks keys that find the same records and together almost the maximum number.
    async fn overlapping(&mut self, cx: &Context) -> Result<(), ContractViolation> {
        const ALIKE: usize = 700;
        const LONGER: usize = 50;
        for number in 0..ALIKE + LONGER {
            let name = if number < ALIKE { "Smith" } else { "Smithers" };
            let mut draft = RawDraft::empty(Kind::Person);
            draft.fields.insert("family_name", name);
            let work = WriteOperation::Create(draft);
            let made = self.store.write(cx, WriteRequest::new(cx, work)).await;
            made.map_err(|error| self.broken(&error.to_string()))?;
        }
        let fields: Vec<FilterField> = FilterField::of_records(Kind::Person).collect();
        for (text, expected) in [
            (
                "family_name eq 'smith' or family_name sw 'smith'",
                ALIKE + LONGER,
            ),
            (
                "family_name sw 'smithe' or family_name in ('smith', 'SMITH')",
                ALIKE + LONGER,
            ),
            ("family_name sw 'smithe' and family_name ne 'x'", LONGER),
            ("family_name sw 's'", ALIKE + LONGER),
        ] {
            text.clone_into(&mut self.text);
            let filter = Filter::parse(text, &fields, NAMESPACE);
            let filter = filter.map_err(|wrong| self.broken(&wrong.to_string()))?;
            let request = ListRequest::all(PageRequest::new(1, 10)).with_filter(filter);
            let page = self.store.list(cx, Kind::Person, &request).await;
            let page = page.map_err(|error| self.broken(&error.to_string()))?;
            if page.total != expected as u64 {
                let total = page.total;
                return Err(self.broken(&format!("the total is {total} instead of {expected}")));
            }
        }
        Ok(())
    }

    /// Returns every record, in creation order.
    async fn all(&self, cx: &Context, kind: Kind) -> Result<Vec<RawRecord>> {
        Ok(self
            .store
            .list(cx, kind, &ListRequest::all(PageRequest::new(1, 1_000)))
            .await?
            .records)
    }

    /// Checks one filter or one order against each record.
    async fn one(&mut self, cx: &Context, kind: Kind) -> Result<(), ContractViolation> {
        let all = self
            .all(cx, kind)
            .await
            .map_err(|error| self.broken(&error.to_string()))?;
        let fields: Vec<FilterField> = FilterField::of_records(kind).collect();
        let dates: Vec<FilterField> = fields
            .iter()
            .copied()
            .filter(|field| field.is_date())
            .collect();
        let size = u32::try_from(self.dice.below(7))
            .unwrap_or_default()
            .saturating_add(1);
        let mut request = ListRequest::all(PageRequest::new(1, size));
        self.text = if self.dice.one_in(10) {
            String::new()
        } else {
            self.any(&fields, &all, 2)
        };
        if !self.text.is_empty() {
            let filter = Filter::parse(&self.text, &fields, NAMESPACE)
                .map_err(|wrong| self.broken(&wrong.to_string()))?;
            request = request.with_filter(filter);
        }
        if request.filter.is_none() || self.dice.one_in(3) {
            request.order = dates.get(self.dice.below(dates.len())).copied();
        }
        // A filter without an index is rejected before the store is called.
        if request.query_plan().is_err() {
            return Ok(());
        }
        let mut meant = Vec::new();
        for record in &all {
            let fits = request
                .filter
                .as_ref()
                .map_or(Ok(true), |filter| matches(filter.tree(), record));
            if fits.map_err(|error| self.broken(&error.to_string()))? {
                let key = request.sort_key(record);
                let key = key.map_err(|error| self.broken(&error.to_string()))?;
                meant.push((key, record.meta().id.clone()));
            }
        }
        meant.sort_by(|(one, _), (other, _)| one.cmp(other));
        let meant: Vec<Id> = meant.into_iter().map(|(_, id)| id).collect();
        let mut walked = Vec::new();
        loop {
            let page = self
                .store
                .list(cx, kind, &request)
                .await
                .map_err(|error| self.broken(&error.to_string()))?;
            if page.total != meant.len() as u64 {
                return Err(self.broken(&format!(
                    "the total is {}, but {} records match",
                    page.total,
                    meant.len()
                )));
            }
            walked.extend(page.records.iter().map(|record| record.meta().id.clone()));
            match page.next_request(&request.page) {
                Some(next) => request.page = next,
                None => break,
            }
        }
        if walked != meant {
            return Err(self.broken(&format!("the pages contain {walked:?}, expected {meant:?}")));
        }
        let number = self.dice.below(meant.len().saturating_add(1));
        request.page = PageRequest::new(
            u64::try_from(number).unwrap_or_default().saturating_add(1),
            size,
        );
        let page = self
            .store
            .list(cx, kind, &request)
            .await
            .map_err(|error| self.broken(&error.to_string()))?;
        let jumped: Vec<Id> = page
            .records
            .into_iter()
            .map(|record| record.meta().id.clone())
            .collect();
        let there: Vec<Id> = request.page.select(meant.into_iter()).collect();
        if jumped == there {
            Ok(())
        } else {
            Err(self.broken(&format!(
                "page {} with size {size} contains {jumped:?}",
                number + 1
            )))
        }
    }

    /// Returns a random filter in the filter grammar.
    fn any(&mut self, fields: &[FilterField], all: &[RawRecord], depth: usize) -> String {
        let parts = if depth == 0 {
            1
        } else {
            self.dice.below(3).saturating_add(1)
        };
        let joint = if self.dice.one_in(2) { " and " } else { " or " };
        let mut text = String::new();
        for part in 0..parts {
            if part > 0 {
                text.push_str(joint);
            }
            if depth > 0 && self.dice.one_in(3) {
                let inner = self.any(fields, all, depth.saturating_sub(1));
                text.extend(["(", &inner, ")"]);
            } else {
                text.push_str(&self.term(fields, all));
            }
        }
        text
    }

    fn term(&mut self, fields: &[FilterField], all: &[RawRecord]) -> String {
        let Some(field) = fields.get(self.dice.below(fields.len())).copied() else {
            return String::new();
        };
        let operators: Vec<Operator> = field.operators().collect();
        let operator = operators
            .get(self.dice.below(operators.len()))
            .copied()
            .unwrap_or(Operator::Eq);
        let count = if operator == Operator::In {
            self.dice.below(4).saturating_add(1)
        } else {
            1
        };
        let values: Vec<String> = (0..count)
            .map(|_| format!("'{}'", self.value(field, all)))
            .collect();
        let values = values.join(", ");
        if operator == Operator::In {
            format!("{} in ({values})", field.as_str())
        } else {
            format!("{} {} {values}", field.as_str(), operator.as_str())
        }
    }

    /// Returns a value that some record has, or another one.
    fn value(&mut self, field: FilterField, all: &[RawRecord]) -> String {
        let known = all.get(self.dice.below(all.len()));
        match field.source() {
            FilterSource::Identifiers => match known {
                Some(record) if self.dice.one_in(4) => format!("{NAMESPACE}:{}", record.meta().id),
                _ => format!("crm:{}", self.dice.below(RECORDS.saturating_add(5))),
            },
            FilterSource::Date => match known {
                Some(record) if self.dice.one_in(2) => record.meta().modified.to_string(),
                _ => moment(self.dice.below(SOME.saturating_add(1))).to_string(),
            },
            FilterSource::EmailAddresses => {
                let address = address(self.dice.below(SOME.saturating_add(1)));
                if self.dice.one_in(2) {
                    address.to_uppercase()
                } else {
                    address
                }
            }
            FilterSource::Text { .. } => {
                let whole = family(self.dice.below(SOME.saturating_add(1)));
                let length = self.dice.below(7).saturating_add(1);
                if self.dice.one_in(2) {
                    whole.chars().take(length).collect()
                } else {
                    whole.to_lowercase()
                }
            }
            _ => name(self.dice.below(RECORDS.saturating_add(5))),
        }
    }
}

fn moment(number: usize) -> Timestamp {
    let micros = i64::try_from(number)
        .unwrap_or_default()
        .saturating_mul(86_400_000_000);
    Timestamp::from_micros(micros.saturating_add(1_700_000_000_000_000))
}

fn address(number: usize) -> String {
    format!("person{number}@example.org")
}

/// Returns a name that starts like others, in other cases and compositions.
fn family(number: usize) -> String {
    let start = ["Östby", "O\u{308}st", "ÖSTBERG"].get(number % 3);
    format!("{}{}", start.unwrap_or(&"Ö"), number / 3)
}

fn name(number: usize) -> String {
    format!("Tag {number}")
}

fn id(kind: Kind, place: usize, number: usize) -> String {
    let kind = u8::from(kind == Kind::Tag);
    format!("0198f000-0000-7000-8{kind}0{place}-{number:012}")
}
