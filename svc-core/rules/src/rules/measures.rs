//! Measures: the totals of a record over the records under it. They are updated with each of these
//! records, in exact decimals.
//!
//! Requirements: RES-event-16 to RES-event-20, RES-fundraising_page-09, RES-fundraising_page-10.

use std::{collections::BTreeMap, fmt::Write as _, iter, sync::LazyLock};

use super::{
    RuleContext, RuleResult,
    lists::list,
    stored_forms::{self, FormerValue, FormerValues, VALUE_FORM},
};
use crate::{
    duplicates::KEYS_VERSION,
    error::Error,
    filter::{FilterField, TEXT_FORM},
    json::{Json, Object},
    link::{RecordAddress, ShareNames},
    model::{Kind, PerKind},
    record::{ComputedValue, RawRecord},
    schema::{Aggregate, ComputedSource, Measure, MeasureCondition, MeasureParts, measures_text},
    store::{Change, IndexValues, LookupKey, StoredRecord, Totals},
    value::{Amount, Id, forms},
};

/// Returns the measures of a kind over the records of another.
fn measures_over(container: Kind, members: Kind) -> impl Iterator<Item = (&'static str, Measure)> {
    let measures = container.schema().measures();
    measures.filter(move |(_, measure)| measure.of == members)
}

/// Returns the kind of the container of these records if it has measures over them.
pub(super) fn measuring_kind(members: Kind) -> Option<Kind> {
    let container = members.schema().parent_kind()?;
    let mut measures = measures_over(container, members);
    measures.next().is_some().then_some(container)
}

/// Returns the container of a record if it has measures over the record.
fn measuring_container(record: &RawRecord) -> Option<(Kind, &Id)> {
    measuring_kind(record.kind()).zip(record.parent())
}

/// What one record adds to the totals of its container, or what several records add.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Contribution {
    /// The values, except of measures that are sums of their parts.
    pub(super) whole: Totals,
    /// The values in each part.
    pub(super) parts: BTreeMap<String, Totals>,
}

impl Contribution {
    /// Returns what a record of the kind `members` adds. No record adds nothing.
    pub(super) fn of(container: Kind, members: Kind, fields: Option<&Object>) -> Self {
        let mut all = Self::default();
        let Some(fields) = fields else { return all };
        for (field, measure) in measures_over(container, members) {
            if !meets(measure.condition, fields) {
                continue;
            }
            for (element, value) in values(measure, fields) {
                let part = match measure.parts {
                    MeasureParts::Whole => None,
                    MeasureParts::Each(member) => {
                        element.map(|element| text(element, member).to_owned())
                    }
                    MeasureParts::Of(member) => Some(capitals(fields, member)),
                };
                if let Some(part) = part {
                    all.parts.entry(part).or_default().add(field, value);
                }
                if !matches!(measure.parts, MeasureParts::Of(_)) {
                    all.whole.add(field, value);
                }
            }
        }
        all
    }

    fn plus(&mut self, other: &Self) {
        self.whole.plus(&other.whole);
        for (name, part) in &other.parts {
            self.parts.entry(name.clone()).or_default().plus(part);
        }
    }
}

fn meets(condition: MeasureCondition, fields: &Object) -> bool {
    match condition {
        MeasureCondition::All => true,
        MeasureCondition::Is {
            field,
            value,
            or_absent,
        } => match fields.get(field).and_then(Json::as_str) {
            Some(known) => known == value,
            None => or_absent,
        },
        MeasureCondition::Unless(flag) => fields.get(flag).and_then(Json::as_bool) != Some(true),
    }
}

/// Returns the values of a record that a measure counts or sums, with the element of each.
fn values(measure: Measure, fields: &Object) -> Vec<(Option<&Object>, Amount)> {
    let one = Amount::new(1, 0).unwrap_or_default();
    let elements = |name| list(fields, name).iter().filter_map(Json::as_object);
    match (measure.aggregate, measure.path) {
        (Aggregate::Count, [elements_of, ..]) => elements(elements_of)
            .map(|element| (Some(element), one))
            .collect(),
        (Aggregate::Count, []) => vec![(None, one)],
        (Aggregate::Sum, [elements_of, member, ..]) => elements(elements_of)
            .map(|element| (Some(element), amount(element, member)))
            .collect(),
        (Aggregate::Sum, [member]) => vec![(None, amount(fields, member))],
        (Aggregate::Sum, []) => Vec::new(),
    }
}

fn amount(fields: &Object, name: &str) -> Amount {
    let number = fields.get(name).and_then(Json::as_number);
    number
        .and_then(|number| Amount::parse(number.as_str()))
        .unwrap_or(Amount::ZERO)
}

fn text<'a>(fields: &'a Object, name: &str) -> &'a str {
    fields.get(name).and_then(Json::as_str).unwrap_or_default()
}

fn capitals(fields: &Object, name: &str) -> String {
    text(fields, name).to_ascii_uppercase()
}

/// Sets the measures that are sums of their parts: of the parts with the value of the record, and
/// of those without one.
fn add_sums_of_parts(
    whole: &mut Totals,
    container: Kind,
    fields: &Object,
    parts: &BTreeMap<String, Totals>,
) {
    for (field, measure) in container.schema().measures() {
        let MeasureParts::Of(member) = measure.parts else {
            continue;
        };
        let own = capitals(fields, member);
        let counted = parts
            .iter()
            .filter(|(name, _)| own.is_empty() || name.is_empty() || **name == own)
            .map(|(_, part)| part.value(field));
        whole.set(field, counted.fold(Amount::ZERO, Amount::plus));
    }
}

/// The array of a kind whose elements show the parts of its measures, such as the ticket levels of
/// an event.
pub(super) struct PartList {
    /// The field of the array.
    pub(super) field: &'static str,
    /// The member of the elements with the name of the part.
    name: &'static str,
    /// The member of the elements with former names. An element also shows the parts with these.
    pub(super) former: Option<&'static str>,
    /// The computed members of the elements.
    members: Vec<PartMember>,
}

/// A member of an element that shows a part of a measure.
struct PartMember {
    name: &'static str,
    /// The field of the measure.
    of: &'static str,
    measure: Measure,
}

impl PartList {
    /// Returns the array of a kind, or `None` if it has none.
    pub(super) fn of(kind: Kind) -> Option<&'static Self> {
        static LISTS: LazyLock<PerKind<Option<PartList>>> =
            LazyLock::new(|| PerKind::new(PartList::from_schema));
        LISTS.get(kind).as_ref()
    }

    fn from_schema(kind: Kind) -> Option<Self> {
        let schema = kind.schema();
        schema.fields.fields.iter().find_map(|field| {
            let elements = field.ty.object()?.fields;
            let members: Vec<PartMember> = elements
                .iter()
                .filter_map(|member| {
                    let Some(ComputedSource::Part(of)) = member.source() else {
                        return None;
                    };
                    let (_, measure) = schema.measures().find(|(name, _)| *name == of)?;
                    let name = member.name;
                    Some(PartMember { name, of, measure })
                })
                .collect();
            let MeasureParts::Each(name) = members.first()?.measure.parts else {
                return None;
            };
            let former = elements
                .iter()
                .find(|member| member.source() == Some(ComputedSource::Former(name)));
            Some(Self {
                field: field.name,
                name,
                former: former.map(|member| member.name),
                members,
            })
        })
    }

    /// Returns the names of the parts that an element shows: its own name and its former ones.
    pub(super) fn names<'e>(&self, element: &'e Object) -> impl Iterator<Item = &'e str> {
        let former = self.former.map_or(&[][..], |former| list(element, former));
        iter::once(text(element, self.name)).chain(former.iter().filter_map(Json::as_str))
    }

    /// Removes the parts that an element shows from those that are left, and returns them. Of several
    /// elements with one name, the first is used.
    pub(super) fn take(
        &self,
        element: &Object,
        left: &mut BTreeMap<String, Totals>,
    ) -> BTreeMap<String, Totals> {
        let names = self.names(element);
        names.filter_map(|name| left.remove_entry(name)).collect()
    }

    /// Shows the parts on the elements.
    pub(super) fn show_all(&self, fields: &mut Object, mut parts: BTreeMap<String, Totals>) {
        let list = fields.get_mut(self.field).and_then(Json::as_array_mut);
        for element in list.into_iter().flatten().filter_map(Json::as_object_mut) {
            let own = self.take(element, &mut parts);
            self.show(element, &own);
        }
    }

    /// Shows the sum of its parts on an element.
    pub(super) fn show(&self, element: &mut Object, parts: &BTreeMap<String, Totals>) {
        for PartMember { name, of, measure } in &self.members {
            let values = parts.values().map(|part| part.value(of));
            let sum = values.fold(Amount::ZERO, Amount::plus);
            let value = match ComputedValue::of_measure(*measure, sum) {
                ComputedValue::Count(count) => Json::integer(count),
                ComputedValue::Amount(amount) => Json::from(amount),
                ComputedValue::Timestamp(_) | ComputedValue::Relation(_) => continue,
            };
            element.insert(*name, value);
        }
    }
}

impl RuleContext<'_> {
    /// Updates the totals of the container of a record that is created, updated or deleted.
    pub(super) fn measure(
        &mut self,
        record: &RawRecord,
        before: Option<&Object>,
        after: Option<&Object>,
    ) -> RuleResult<()> {
        let Some((kind, id)) = measuring_container(record) else {
            return Ok(());
        };
        let before = Contribution::of(kind, record.kind(), before);
        let after = Contribution::of(kind, record.kind(), after);
        if before == after {
            return Ok(());
        }
        let container = self.container(kind, id)?;
        let fields = self.fields(&container.record)?;
        self.change_totals(&container, &fields, &before, &after)?;
        Ok(())
    }

    /// Updates the totals of the container of a record that is deleted.
    pub(super) fn measure_deleted(&mut self, record: &RawRecord) -> RuleResult<()> {
        if measuring_container(record).is_none() {
            return Ok(());
        }
        let before = self.fields(record)?;
        self.measure(record, Some(&before), None)
    }

    /// Returns the container of a record.
    pub(super) fn container(&mut self, kind: Kind, id: &Id) -> RuleResult<StoredRecord> {
        let container = self.ledger.record(&LookupKey::Id(kind, id.clone()))?;
        Ok(container.ok_or_else(|| Error::unexpected("a record without its container"))?)
    }

    /// Replaces what a record adds to the totals of its container. Returns the new totals and the new
    /// parts; no parts if nothing changes.
    pub(super) fn change_totals(
        &mut self,
        container: &StoredRecord,
        fields: &Object,
        before: &Contribution,
        after: &Contribution,
    ) -> RuleResult<(Totals, BTreeMap<String, Totals>)> {
        let (kind, id) = (container.record.kind(), &container.record.meta().id);
        let mut whole = if has_own_values(kind) {
            self.ledger.sum(kind, id)?
        } else {
            Totals::default()
        };
        if before == after {
            return Ok((whole, BTreeMap::new()));
        }
        whole.plus(&after.whole);
        whole.minus(&before.whole);
        let mut parts = if kind.schema().has_parts() {
            self.ledger.parts(kind, id)?
        } else {
            BTreeMap::new()
        };
        for (name, part) in &before.parts {
            parts.entry(name.clone()).or_default().minus(part);
        }
        for (name, part) in &after.parts {
            parts.entry(name.clone()).or_default().plus(part);
        }
        add_sums_of_parts(&mut whole, kind, fields, &parts);
        let changed = before.parts.keys().chain(after.parts.keys());
        let changed = changed.filter_map(|name| Some((name.clone(), parts.get(name)?.clone())));
        let changed: BTreeMap<String, Totals> = changed.collect();
        self.ledger.note(container);
        for change in changes(kind, id, &changed, whole.clone()) {
            self.ledger.change(change);
        }
        Ok((whole, parts))
    }

    /// Computes the totals of a record again when the value changes that selects their parts, and
    /// shows the parts when a client replaced the array that shows them.
    pub(super) fn measure_again(
        &mut self,
        own: &mut StoredRecord,
        before: &Object,
        after: &mut Object,
    ) -> RuleResult<()> {
        let (kind, id) = (own.record.kind(), own.record.meta().id.clone());
        if let Some(list) = PartList::of(kind)
            && before.get(list.field) != after.get(list.field)
        {
            list.show_all(after, self.ledger.parts(kind, &id)?);
        }
        let changes = |member: &str| capitals(before, member) != capitals(after, member);
        if selecting(kind).any(changes) {
            let parts = self.ledger.parts(kind, &id)?;
            let mut whole = if has_own_values(kind) {
                self.ledger.sum(kind, &id)?
            } else {
                Totals::default()
            };
            add_sums_of_parts(&mut whole, kind, after, &parts);
            whole.show_on(&mut own.record);
            let of = (kind, id);
            self.ledger.change(Change::SetTotals { of, sum: whole });
        }
        Ok(())
    }
}

/// Returns the fields of a record that select the parts of its totals.
pub(super) fn selecting(kind: Kind) -> impl Iterator<Item = &'static str> {
    let measures = kind.schema().measures();
    measures.filter_map(|(_, measure)| match measure.parts {
        MeasureParts::Of(member) => Some(member),
        MeasureParts::Whole | MeasureParts::Each(_) => None,
    })
}

/// Returns whether a measure of the kind is not a sum of parts.
pub(super) fn has_own_values(kind: Kind) -> bool {
    let mut measures = kind.schema().measures();
    measures.any(|(_, measure)| !matches!(measure.parts, MeasureParts::Of(_)))
}

fn changes(
    kind: Kind,
    id: &Id,
    parts: &BTreeMap<String, Totals>,
    whole: Totals,
) -> impl Iterator<Item = Change> {
    let of = (kind, id.clone());
    let all = Change::SetTotals {
        of: of.clone(),
        sum: whole,
    };
    parts
        .iter()
        .map(move |(name, part)| Change::SetPartTotals {
            of: of.clone(),
            name: name.clone(),
            sum: part.clone(),
        })
        .chain([all])
}

/// Counts the totals of a tenant again, brings its values into the form of this version, and rebuilds
/// its indexes of e-mail addresses, texts and keys. It takes one record at a time, in the order of
/// [`Recount::kinds`]. The store must first remove its totals and the values of these indexes.
///
/// A store does this when [`Recount::basis`] differs from the text with which it last counted.
#[derive(Debug, Default)]
pub struct Recount {
    members: BTreeMap<(Kind, Id), Contribution>,
    damaged: Vec<RecordAddress>,
    former: FormerValues,
}

impl Recount {
    /// Returns the definitions of all measures, of the form of values, and of the indexes of addresses
    /// and texts. A store saves them with what it has derived.
    #[must_use]
    pub fn basis() -> String {
        let mut text = measures_text();
        // Writing to a string cannot fail.
        _ = writeln!(
            text,
            "Person.email_addresses = addresses in form {0}\nPerson.keys = keys {KEYS_VERSION} in form {0}\n\
             values = in form {VALUE_FORM}",
            forms::VERSION
        );
        for kind in Kind::ALL {
            for field in FilterField::of_index(*kind) {
                _ = writeln!(
                    text,
                    "{kind:?}.{} = texts in form {TEXT_FORM}",
                    field.as_str()
                );
            }
        }
        text
    }

    /// Returns the kinds to read, in this order: records before the records that show their totals.
    #[must_use]
    pub fn kinds() -> Vec<Kind> {
        let measured = |kind: &&Kind| kind.schema().measures().next().is_some();
        let containers = Kind::ALL.iter().filter(measured);
        let mut kinds: Vec<Kind> = containers
            .clone()
            .flat_map(|kind| kind.schema().measures())
            .map(|(_, measure)| measure.of)
            .chain(containers.copied())
            .collect();
        kinds.dedup();
        let others = |kind: &&Kind| IndexValues::has_any(**kind) || stored_forms::has_any(**kind);
        let missing: Vec<Kind> = Kind::ALL
            .iter()
            .filter(others)
            .filter(|kind| !kinds.contains(kind))
            .copied()
            .collect();
        kinds.extend(missing);
        kinds
    }

    /// Returns the records whose fields cannot be read. They do not count, and their own totals are
    /// those of a record without fields.
    #[must_use]
    pub fn damaged(&self) -> &[RecordAddress] {
        &self.damaged
    }

    /// Returns values that were not in the form of this version: the first 1 000 that were converted,
    /// and the first 1 000 that are unchanged.
    pub fn former_values(&self) -> impl Iterator<Item = &FormerValue> {
        self.former.listed()
    }

    /// Writes which records are damaged, and which values were not in the form of this version, to the
    /// log. It contains no values. Call it after the changes are committed.
    pub fn log(&self) {
        self.former.log();
        for damaged in &self.damaged {
            tracing::warn!(
                "{} {} is damaged: it is not in totals, it is not found by addresses and texts, and its \
                 values are unchanged",
                damaged.kind.singular(),
                damaged.id
            );
        }
    }

    /// Takes the next record. Returns the changes with its values, totals, addresses and texts, if there
    /// are any.
    pub fn record(&mut self, stored: &StoredRecord) -> Vec<Change> {
        // The fields are written under the names they were read with, even if the share objects
        // have other names.
        let names = ShareNames::default();
        let record = &stored.record;
        let readable = record.to_fields(&names);
        let is_damaged = readable.is_err();
        if is_damaged {
            self.damaged.push(record.address());
        }
        let mut fields = readable.unwrap_or_default();
        let (kind, id) = (record.kind(), &record.meta().id);
        let stored_fields = fields.clone();
        if !is_damaged {
            self.former.convert(&record.address(), &mut fields);
        }
        if let Some((container, parent)) = measuring_container(record).filter(|_| !is_damaged) {
            let added = Contribution::of(container, kind, Some(&fields));
            let members = self.members.entry((container, parent.clone()));
            members.or_default().plus(&added);
        }
        let mut values = Vec::new();
        let added = IndexValues::of(kind, &fields);
        if !added.is_empty() {
            let at = stored.at();
            values.push(Change::AddIndexValues { at, added });
        }
        if kind.schema().measures().next().is_none() {
            values.extend(changed_fields(stored, &stored_fields, &fields));
            return values;
        }
        let counted = self.members.remove(&(kind, id.clone())).unwrap_or_default();
        let mut whole = counted.whole;
        add_sums_of_parts(&mut whole, kind, &fields, &counted.parts);
        let mut all: Vec<Change> = changes(kind, id, &counted.parts, whole)
            .filter(|change| match change {
                Change::SetTotals { sum, .. } | Change::SetPartTotals { sum, .. } => {
                    !sum.is_empty()
                }
                _ => true,
            })
            .chain(values)
            .collect();
        if let Some(list) = PartList::of(kind).filter(|_| !is_damaged) {
            list.show_all(&mut fields, counted.parts);
        }
        all.extend(changed_fields(stored, &stored_fields, &fields));
        all
    }
}

/// Returns the change of the fields of a record, if they differ.
fn changed_fields(stored: &StoredRecord, before: &Object, after: &Object) -> Option<Change> {
    (before != after).then(|| Change::SetFields {
        at: stored.at(),
        fields: ShareNames::default().wire_members(after),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_before_their_containers() {
        let kinds = Recount::kinds();
        let start = [
            Kind::Attendance,
            Kind::Donation,
            Kind::Event,
            Kind::FundraisingPage,
        ];
        assert!(kinds.starts_with(&start), "{kinds:?}");
        let others: Vec<&Kind> = Kind::ALL
            .iter()
            .filter(|kind| stored_forms::has_any(**kind) && !start.contains(kind))
            .collect();
        assert!(kinds.iter().skip(start.len()).eq(others), "{kinds:?}");
    }
}
