//! Undoes a merge of two people.
//!
//! The merge has stored what both people and their records were before. What was changed since stays as it
//! is now.
//!
//! Requirements: MRG-20, MRG-21.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use bytes::Bytes;

use super::{
    RuleContext, RuleResult,
    initial_lookups::container_lookups,
    merge::{LinkedRecord, RenamedHolders, rename_ticket_holder},
};
use crate::{
    error::{Error, ErrorCode, Problem},
    helper::{MergeFields, separate_people},
    json::{Json, Object, is_same},
    link::{LinkValue, RecordAddress},
    model::Kind,
    record::{Identifiers, Meta, RawRecord},
    schema::fill_nested_computed,
    store::{
        ApartPeople, Change, ChangeTarget, FoldedRecord, IndexValues, InsertRecord, Lookup,
        LookupKey, MergeRecord, MergeRequest, RestoredPerson, StoredMerge, UndoMergeOutcome,
        UndoMergeRequest,
    },
    value::{Id, Identifier, Timestamp},
};

/// The link of a membership or an action to its person.
const PERSON: &str = "person";

/// A record as it was before a merge.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FormerRecord {
    id: Id,
    created: Timestamp,
    identifiers: Vec<Identifier>,
    fields: Object,
    links: Vec<(&'static str, RecordAddress)>,
}

impl FormerRecord {
    pub(super) fn new(record: &RawRecord, fields: &Object) -> Self {
        let links = record.links().iter().filter_map(|(name, to)| match to {
            LinkValue::Local(to) => Some((*name, to.clone())),
            LinkValue::Foreign(_) => None,
        });
        Self {
            id: record.meta().id.clone(),
            created: record.meta().created,
            identifiers: record.meta().identifiers.to_vec(),
            fields: fields.clone(),
            links: links.collect(),
        }
    }

    fn link(&self, name: &str) -> Option<&RecordAddress> {
        let mut links = self.links.iter();
        links.find(|(known, _)| *known == name).map(|(_, to)| to)
    }

    fn to_json(&self) -> Json {
        let links = self.links.iter().map(|(name, to)| {
            let texts = [*name, to.id.as_str()].into_iter();
            let texts = texts.chain(to.parent.as_ref().map(Id::as_str));
            Json::Array(texts.map(Json::from).collect())
        });
        let mut object = Object::new();
        object.insert("id", &self.id);
        object.insert("created", self.created.as_micros());
        object.insert("identifiers", texts(&self.identifiers));
        object.insert("fields", self.fields.clone());
        object.insert("links", Json::Array(links.collect()));
        Json::Object(object)
    }

    fn parse(kind: Kind, json: &Json) -> Option<Self> {
        let object = json.as_object()?;
        let links = array(object, "links")?.iter().map(|link| {
            let texts: Vec<&str> = link.as_array()?.iter().filter_map(Json::as_str).collect();
            let (name, id) = (texts.first()?, texts.get(1)?);
            let mut references = kind.schema().references().iter();
            let reference = references.find(|reference| reference.name == *name)?;
            let parent = texts.get(2).and_then(|parent| Id::new(parent));
            let to = RecordAddress::new(reference.kind, Id::new(id)?, parent);
            Some((reference.name, to))
        });
        Some(Self {
            id: id(object, "id")?,
            created: Timestamp::from_micros(object.get("created")?.as_i64()?),
            identifiers: identifiers(object, "identifiers")?,
            fields: object.get("fields")?.as_object()?.clone(),
            links: links.collect::<Option<_>>()?,
        })
    }
}

/// Records of a kind that were moved, with the links that pointed to the merged person.
#[derive(Debug, Clone, PartialEq)]
struct MovedRecords {
    kind: Kind,
    links: Vec<&'static str>,
    ids: Vec<Id>,
}

/// A record that was folded with one of the other person, and deleted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FormerFold {
    pub(super) kind: Kind,
    /// The record that remained, before the merge.
    pub(super) older: FormerRecord,
    /// The deleted record.
    pub(super) younger: FormerRecord,
    /// The fields and identifiers of the record that remained, after the merge.
    pub(super) after: Object,
    pub(super) identifiers: Vec<Identifier>,
}

/// A ticket that named the merged person.
#[derive(Debug, Clone, PartialEq)]
struct HeldTicket {
    attendance: Id,
    place: i64,
    /// The ticket after the merge.
    ticket: Json,
}

/// Everything that is needed to undo a merge.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FormerPeople {
    pub(super) merged: FormerRecord,
    /// The fields and identifiers of the remaining person before the merge.
    pub(super) before: (Object, Vec<Identifier>),
    /// The fields and identifiers of the remaining person after the merge.
    pub(super) after: (Object, Vec<Identifier>),
    /// Everyone who was merged into the merged person before.
    pub(super) forwarded: Vec<Id>,
    moved: Vec<MovedRecords>,
    pub(super) folds: Vec<FormerFold>,
    tickets: Vec<HeldTicket>,
}

impl FormerPeople {
    pub(super) fn new(merged: FormerRecord) -> Self {
        Self {
            merged,
            before: Default::default(),
            after: Default::default(),
            forwarded: Vec::new(),
            moved: Vec::new(),
            folds: Vec::new(),
            tickets: Vec::new(),
        }
    }

    pub(super) fn add_moved(&mut self, record: &LinkedRecord) {
        let (kind, links) = (record.stored.record.kind(), &record.links);
        let id = record.stored.record.meta().id.clone();
        let mut known = self.moved.iter_mut();
        match known.find(|known| known.kind == kind && known.links == *links) {
            Some(known) => known.ids.push(id),
            None => self.moved.push(MovedRecords {
                kind,
                links: links.clone(),
                ids: vec![id],
            }),
        }
    }

    /// Adds the tickets at these positions, with the fields of their attendance after the merge.
    pub(super) fn add_tickets(&mut self, attendance: &Id, places: &BTreeSet<i64>, after: &Object) {
        let tickets = after.get("tickets").and_then(Json::as_array);
        let tickets = tickets.unwrap_or_default();
        let held = places.iter().filter_map(|place| {
            Some(HeldTicket {
                attendance: attendance.clone(),
                place: *place,
                ticket: tickets.get(usize::try_from(*place).ok()?)?.clone(),
            })
        });
        self.tickets.extend(held);
    }

    fn to_bytes(&self) -> Bytes {
        let side = |(fields, identifiers): &(Object, Vec<Identifier>)| {
            let mut object = Object::new();
            object.insert("fields", fields.clone());
            object.insert("identifiers", texts(identifiers));
            Json::Object(object)
        };
        let moved = self.moved.iter().map(|moved| {
            let mut object = Object::new();
            object.insert("kind", moved.kind.plural());
            object.insert("links", list(&moved.links, |link| Json::from(*link)));
            object.insert("ids", texts(&moved.ids));
            Json::Object(object)
        });
        let folds = self.folds.iter().map(|fold| {
            let mut object = Object::new();
            object.insert("kind", fold.kind.plural());
            object.insert("older", fold.older.to_json());
            object.insert("younger", fold.younger.to_json());
            object.insert("after", fold.after.clone());
            object.insert("identifiers", texts(&fold.identifiers));
            Json::Object(object)
        });
        let tickets = self.tickets.iter().map(|held| {
            let mut object = Object::new();
            object.insert("attendance", &held.attendance);
            object.insert("place", held.place);
            object.insert("ticket", held.ticket.clone());
            Json::Object(object)
        });
        let mut object = Object::new();
        object.insert("merged", self.merged.to_json());
        object.insert("before", side(&self.before));
        object.insert("after", side(&self.after));
        object.insert("forwarded", texts(&self.forwarded));
        object.insert("moved", Json::Array(moved.collect()));
        object.insert("folds", Json::Array(folds.collect()));
        object.insert("tickets", Json::Array(tickets.collect()));
        Json::Object(object).to_vec().into()
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let json = Json::read_kept(bytes)?;
        let object = json.as_object()?;
        let side = |name| {
            let side = object.get(name)?.as_object()?;
            let fields = side.get("fields")?.as_object()?.clone();
            Some((fields, identifiers(side, "identifiers")?))
        };
        let moved = array(object, "moved")?.iter().map(|moved| {
            let moved = moved.as_object()?;
            let kind = kind(moved)?;
            let link = |link: &Json| {
                let mut references = kind.schema().references().iter();
                let reference = references.find(|it| link.as_str() == Some(it.name));
                reference.map(|reference| reference.name)
            };
            Some(MovedRecords {
                kind,
                links: array(moved, "links")?
                    .iter()
                    .map(link)
                    .collect::<Option<_>>()?,
                ids: ids(moved, "ids")?,
            })
        });
        let folds = array(object, "folds")?.iter().map(|fold| {
            let fold = fold.as_object()?;
            let kind = kind(fold)?;
            Some(FormerFold {
                kind,
                older: FormerRecord::parse(kind, fold.get("older")?)?,
                younger: FormerRecord::parse(kind, fold.get("younger")?)?,
                after: fold.get("after")?.as_object()?.clone(),
                identifiers: identifiers(fold, "identifiers")?,
            })
        });
        let tickets = array(object, "tickets")?.iter().map(|held| {
            let held = held.as_object()?;
            Some(HeldTicket {
                attendance: id(held, "attendance")?,
                place: held.get("place")?.as_i64()?,
                ticket: held.get("ticket")?.clone(),
            })
        });
        Some(Self {
            merged: FormerRecord::parse(Kind::Person, object.get("merged")?)?,
            before: side("before")?,
            after: side("after")?,
            forwarded: ids(object, "forwarded")?,
            moved: moved.collect::<Option<_>>()?,
            folds: folds.collect::<Option<_>>()?,
            tickets: tickets.collect::<Option<_>>()?,
        })
    }

    /// Returns the lookups for the records that the undo changes.
    fn lookups(&self) -> Vec<Lookup> {
        let record = |kind, id: &Id| Lookup::Record(LookupKey::Id(kind, id.clone()));
        let moved = self.moved.iter();
        let moved = moved.flat_map(|moved| moved.ids.iter().map(move |id| record(moved.kind, id)));
        let tickets = self.tickets.iter();
        let tickets = tickets.map(|held| record(Kind::Attendance, &held.attendance));
        let former = self.merged.identifiers.iter().chain(&self.before.1);
        let former = former.map(|it| Lookup::Find(LookupKey::Identifier(Kind::Person, it.clone())));
        let folds = self.folds.iter().flat_map(|fold| {
            let container = fold
                .kind
                .schema()
                .parent
                .and_then(|it| fold.younger.link(it));
            let container = container.map(LookupKey::from);
            let container = container
                .iter()
                .flat_map(|container| container_lookups(fold.kind, container))
                .collect::<Vec<_>>();
            let others = fold.younger.links.iter();
            let others = others.filter(|(name, _)| *name != PERSON);
            let others = others.map(|(_, to)| Lookup::Find(to.into()));
            let identifiers = fold.younger.identifiers.iter();
            let identifiers =
                identifiers.map(|it| Lookup::Find(LookupKey::Identifier(fold.kind, it.clone())));
            let older = record(fold.kind, &fold.older.id);
            let all = container.into_iter().chain([older]);
            all.chain(others).chain(identifiers)
        });
        moved.chain(tickets).chain(former).chain(folds).collect()
    }
}

fn list<T>(items: &[T], json: impl Fn(&T) -> Json) -> Json {
    Json::Array(items.iter().map(json).collect())
}

fn texts<'a, T>(items: &'a [T]) -> Json
where
    &'a T: Into<Json>,
{
    Json::Array(items.iter().map(Into::into).collect())
}

fn array<'a>(object: &'a Object, name: &str) -> Option<&'a [Json]> {
    object.get(name)?.as_array()
}

fn id(object: &Object, name: &str) -> Option<Id> {
    Id::new(object.get(name)?.as_str()?)
}

fn ids(object: &Object, name: &str) -> Option<Vec<Id>> {
    let ids = array(object, name)?.iter();
    ids.map(|id| Id::new(id.as_str()?)).collect()
}

fn identifiers(object: &Object, name: &str) -> Option<Vec<Identifier>> {
    let identifiers = array(object, name)?.iter();
    identifiers
        .map(|identifier| Identifier::parse(identifier.as_str()?))
        .collect()
}

fn kind(object: &Object) -> Option<Kind> {
    Kind::from_plural(object.get("kind")?.as_str()?)
}

/// The two people of an undone merge.
struct People {
    remaining: RecordAddress,
    restored: RecordAddress,
}

impl RuleContext<'_> {
    /// Stores what is needed to undo a merge. Returns the stored merge.
    pub(super) fn store_merge(
        &mut self,
        request: &MergeRequest,
        undo_for: Duration,
        former: &FormerPeople,
    ) -> StoredMerge {
        let mut merge = StoredMerge::new(
            self.next_id(),
            request.remaining.id.clone(),
            former.merged.id.clone(),
            self.turn.timestamp,
            self.turn.timestamp.saturating_add(undo_for),
        );
        merge.key_name.clone_from(&request.key_name);
        let record = MergeRecord::new(merge.clone(), former.to_bytes());
        self.ledger.change(Change::StoreMerge(Box::new(record)));
        merge
    }

    /// Undoes a merge.
    pub(super) fn undo_merge(
        &mut self,
        request: &UndoMergeRequest,
    ) -> RuleResult<UndoMergeOutcome> {
        let of = &request.remaining;
        let remaining = self.ledger.record(&of.into())?;
        let stored = self.ledger.stored_merge(&of.id, &request.merge)?;
        let (Some(mut remaining), Some(stored)) = (remaining, stored) else {
            return Err(Error::not_found().into());
        };
        let is_merged = remaining.record.meta().id != of.id;
        if let Some(reason) = not_undoable(&stored.merge, is_merged, self.turn.timestamp) {
            let problem = Problem::for_request(ErrorCode::MergeNotUndoable, reason);
            return Err(Error::invalid(problem).into());
        }
        self.call.check(&remaining.record)?;
        let former = FormerPeople::parse(&stored.body);
        let former = former
            .ok_or_else(|| Error::unexpected("a stored merge was written by another version"))?;
        self.ledger.require(former.lookups())?;
        let people = People {
            remaining: remaining.record.address(),
            restored: RecordAddress::without_parent(Kind::Person, former.merged.id.clone()),
        };

        let now = self.fields(&remaining.record)?;
        let mut separated = separate_people(
            &now,
            MergeFields {
                before: &former.before.0,
                after: &former.after.0,
                merged: &former.merged.fields,
            },
        );
        let schema = Kind::Person.schema();
        fill_nested_computed(schema.fields, &mut separated.remaining);
        fill_nested_computed(schema.fields, &mut separated.merged);
        let had = remaining.record.meta().identifiers.to_vec();
        let (kept, given) = self.separated_identifiers(&people, &had, &former)?;
        let (mut renamed, tickets) = self.returned_tickets(&people, &former)?;
        let moved = self.returned_records(&people, &former)?;

        self.ledger.note(&remaining);
        self.replace(
            &mut remaining,
            &now,
            &separated.remaining,
            Some(&kept),
            None,
        );
        let restored = self.insert_restored(&former.merged, &separated.merged, &given);
        let mut changed = RestoredPerson::new(
            people.restored.id.clone(),
            people.remaining.id.clone(),
            stored.merge.id,
        );
        changed.forwarded.clone_from(&former.forwarded);
        changed.tickets = tickets;
        let ids = moved.iter().map(|it| it.stored.record.meta().id.clone());
        changed.actions = ids.collect();
        self.ledger.change(Change::RestorePerson(Box::new(changed)));
        self.ledger.change(Change::SetApart(ApartPeople::new(
            people.remaining.id.clone(),
            people.restored.id.clone(),
            Some(self.turn.timestamp),
        )));
        let mut counts: BTreeMap<Kind, u64> = BTreeMap::new();
        for record in moved {
            let kind = record.stored.record.kind();
            let count = counts.entry(kind).or_default();
            *count = count.saturating_add(1);
            let fields = match kind {
                Kind::Attendance => renamed.remove(&record.stored.record.meta().id),
                _ => None,
            };
            let fields = fields.map(|(_, fields)| fields);
            self.move_record(record, &people.remaining.id, &people.restored, fields);
        }
        for (attendance, fields) in renamed.into_values() {
            self.ledger.change(Change::SetFields {
                at: attendance.at(),
                fields,
            });
        }
        let mut folded = Vec::new();
        for fold in &former.folds {
            folded.extend(self.separate_fold(fold, &people)?);
        }
        Ok(UndoMergeOutcome {
            person: remaining.record,
            restored,
            moved: counts.into_iter().collect(),
            folded,
            left: separated.left,
        })
    }

    /// Returns the identifiers of the remaining person, and of the restored one. An identifier that
    /// another person got since stays there.
    fn separated_identifiers(
        &mut self,
        people: &People,
        had: &[Identifier],
        former: &FormerPeople,
    ) -> RuleResult<(Vec<Identifier>, Vec<Identifier>)> {
        let (before, after) = (&former.before.1, &former.after.1);
        let is_left = |it: &&Identifier| before.contains(it) || !after.contains(it);
        let mut kept: Vec<Identifier> = had.iter().filter(is_left).cloned().collect();
        // The merge can have removed an identifier by its changes of the remaining person.
        for identifier in before.iter().filter(|it| !after.contains(it)) {
            let is_free = self.is_free(Kind::Person, identifier, &people.remaining.id)?;
            if is_free && !kept.contains(identifier) {
                kept.push(identifier.clone());
            }
        }
        let mut given = Vec::new();
        for identifier in &former.merged.identifiers {
            let is_free = self.is_free(Kind::Person, identifier, &people.remaining.id)?;
            if is_free && !kept.contains(identifier) {
                given.push(identifier.clone());
            }
        }
        Ok((kept, given))
    }

    /// Returns whether no record other than this one has an identifier.
    fn is_free(&mut self, kind: Kind, identifier: &Identifier, own: &Id) -> RuleResult<bool> {
        let key = LookupKey::Identifier(kind, identifier.clone());
        let owner = self.ledger.find(&key)?;
        Ok(owner.is_none_or(|owner| owner.id == *own))
    }

    /// Inserts the restored person.
    fn insert_restored(
        &mut self,
        former: &FormerRecord,
        fields: &Object,
        identifiers: &[Identifier],
    ) -> RawRecord {
        let mut record = self.former_record(Kind::Person, former, fields, identifiers);
        if let Some(link) = Kind::Person.schema().link("modified_by") {
            record.set_link(link.name, self.link_to_caller());
        }
        let mut insert = InsertRecord::new(record.clone());
        insert.identifiers = identifiers.to_vec();
        insert.index = IndexValues::of(Kind::Person, fields);
        self.ledger.change(Change::Insert(Box::new(insert)));
        record
    }

    /// Returns a record with its former id and creation date, and without links.
    fn former_record(
        &self,
        kind: Kind,
        former: &FormerRecord,
        fields: &Object,
        identifiers: &[Identifier],
    ) -> RawRecord {
        let mut meta = Meta::new(former.id.clone(), former.created);
        meta.modified = self.turn.timestamp;
        meta.identifiers = Identifiers::from_slice(identifiers);
        let mut record = RawRecord::from_wire(kind, meta, self.names().wire_members(fields));
        record.reset_computed();
        record
    }

    /// Returns the tickets that the restored person holds again, and the attendances whose tickets name
    /// the restored person again, with their fields. A ticket whose person was changed since stays.
    fn returned_tickets(
        &mut self,
        people: &People,
        former: &FormerPeople,
    ) -> RuleResult<(RenamedHolders, Vec<(ChangeTarget, i64)>)> {
        let namespace = self.call.namespace.clone();
        let (mut renamed, mut held) = (BTreeMap::new(), Vec::new());
        let mut by_attendance: BTreeMap<&Id, Vec<&HeldTicket>> = BTreeMap::new();
        for ticket in &former.tickets {
            by_attendance
                .entry(&ticket.attendance)
                .or_default()
                .push(ticket);
        }
        for (id, former) in by_attendance {
            let key = LookupKey::Id(Kind::Attendance, id.clone());
            let Some(attendance) = self.ledger.record(&key)? else {
                continue;
            };
            let mut fields = self.fields(&attendance.record)?;
            let mut is_renamed = false;
            let tickets = fields.get_mut("tickets").and_then(Json::as_array_mut);
            let tickets = tickets.map(Vec::as_mut_slice).unwrap_or_default();
            let mut places = BTreeSet::new();
            for HeldTicket { place, ticket, .. } in former {
                let is_it = |place: &usize| {
                    let now = tickets.get(*place).and_then(holder);
                    let is_same = now.zip(holder(ticket)).is_some_and(|(a, b)| is_same(a, b));
                    is_same && !places.contains(place)
                };
                // A ticket can have another place now.
                let first = usize::try_from(*place).ok().filter(is_it);
                let Some(place) = first.or_else(|| (0..tickets.len()).find(is_it)) else {
                    continue;
                };
                places.insert(place);
                let (from, to) = (&people.remaining.id, &people.restored.id);
                if let Some(now) = tickets.get_mut(place) {
                    is_renamed |= rename_ticket_holder(now, &namespace, from, to);
                }
                held.push((attendance.at(), i64::try_from(place).unwrap_or(i64::MAX)));
            }
            if is_renamed {
                let fields = self.names().wire_members(&fields);
                renamed.insert(id.clone(), (attendance, fields));
            }
        }
        Ok((renamed, held))
    }

    /// Returns the moved records that still point to the remaining person, with the links that do.
    fn returned_records(
        &mut self,
        people: &People,
        former: &FormerPeople,
    ) -> RuleResult<Vec<LinkedRecord>> {
        let mut records = Vec::new();
        for moved in &former.moved {
            for id in &moved.ids {
                let key = LookupKey::Id(moved.kind, id.clone());
                let stored = self.ledger.record(&key)?;
                // A person can have been merged since.
                let stored = stored.filter(|stored| stored.record.meta().id == *id);
                let Some(stored) = stored else { continue };
                let is_own = |link: &&&'static str| {
                    let to = stored.record.link(link);
                    to.is_some_and(|to| to.id == people.remaining.id)
                };
                let links: Vec<&'static str> = moved.links.iter().filter(is_own).copied().collect();
                if !links.is_empty() {
                    records.push(LinkedRecord { stored, links });
                }
            }
        }
        Ok(records)
    }

    /// Separates two folded records. They stay folded if the record that remained was deleted or moved
    /// since.
    fn separate_fold(
        &mut self,
        fold: &FormerFold,
        people: &People,
    ) -> RuleResult<Option<FoldedRecord>> {
        let kind = fold.kind;
        let key = LookupKey::Id(kind, fold.older.id.clone());
        let Some(mut older) = self.ledger.record(&key)? else {
            return Ok(None);
        };
        let container = kind.schema().parent.and_then(|it| fold.younger.link(it));
        let is_own = |to: &RecordAddress| to.id == people.remaining.id;
        if !older.record.link(PERSON).is_some_and(is_own)
            || older.record.parent() != container.map(|to| &to.id)
        {
            return Ok(None);
        }
        let is_of_restored = |former: &FormerRecord| {
            let person = former.link(PERSON);
            person.is_some_and(|to| to.id == people.restored.id)
        };
        let younger_person = if is_of_restored(&fold.older) {
            &people.remaining
        } else {
            &people.restored
        };
        let mut given = Vec::new();
        for identifier in &fold.younger.identifiers {
            if self.is_free(kind, identifier, &fold.older.id)? {
                given.push(identifier.clone());
            }
        }
        let now = self.fields(&older.record)?;
        let mut before = reverted(&now, &fold.after, &fold.older.fields);
        let mut fields = fold.younger.fields.clone();
        let mut younger = self.former_record(kind, &fold.younger, &fields, &given);
        for (name, to) in &fold.younger.links {
            let to = match *name {
                PERSON => Some(younger_person.clone()),
                // The record can have another address since.
                _ => self.ledger.find(&to.into())?.map(|found| found.address()),
            };
            younger.set_link(name, to.map(LinkValue::Local));
        }
        if let (Kind::Attendance, Some(event)) = (kind, older.record.parent().cloned()) {
            // The places were counted before the merge, so the capacity does not reject them.
            let mut ignored = Vec::new();
            let after = Some(&mut before);
            self.apply_attendance(&event, Some(&now), after, false, &mut ignored)?;
            let after = Some(&mut fields);
            self.apply_attendance(&event, None, after, false, &mut ignored)?;
        } else {
            self.measure(&older.record, Some(&now), Some(&before))?;
            self.measure(&younger, None, Some(&fields))?;
        }
        younger.set_fields(self.names().wire_members(&fields));

        if is_of_restored(&fold.older) {
            let from = Some(people.remaining.id.clone());
            self.point_to(&mut older, PERSON, from.as_ref(), Some(&people.restored));
        }
        for (name, to) in &fold.younger.links {
            // The merge can have added the link to the record that remained.
            let now = older
                .record
                .link(name)
                .filter(|now| now.kind != Kind::Person);
            if fold.older.link(name).is_none() && now.is_some_and(|now| now.id == to.id) {
                self.point_to(&mut older, name, Some(&to.id), None);
            }
        }
        let had = older.record.meta().identifiers.to_vec().into_iter();
        let is_left =
            |it: &Identifier| fold.older.identifiers.contains(it) || !fold.identifiers.contains(it);
        let identifiers: Vec<Identifier> = had.filter(is_left).collect();
        given.retain(|identifier| !identifiers.contains(identifier));
        younger.meta_mut().identifiers = Identifiers::from_slice(&given);
        older.record.set_fields(self.names().wire_members(&before));
        self.replace_whole(&mut older, &identifiers);
        let pair = FoldedRecord::new(older.record.address(), younger.address());
        let mut insert = InsertRecord::new(younger);
        insert.identifiers = given;
        insert.index = IndexValues::of(kind, &fields);
        self.ledger.change(Change::Insert(Box::new(insert)));
        Ok(Some(pair))
    }
}

/// Returns the person of a ticket.
fn holder(ticket: &Json) -> Option<&Json> {
    ticket.as_object()?.get(PERSON)
}

/// Returns the reason why a merge cannot be undone, if there is one.
fn not_undoable(merge: &StoredMerge, is_merged: bool, now: Timestamp) -> Option<&'static str> {
    if is_merged {
        Some("The person was merged into another one. Undo that merge first.")
    } else if !merge.is_latest {
        Some("Another person was merged into this one later. Undo that merge first.")
    } else if !merge.is_undoable(now) {
        Some("The time in which the merge could be undone is over.")
    } else {
        None
    }
}

/// Returns the fields of a record: each as it was before, unless it was changed after the merge.
fn reverted(now: &Object, after: &Object, before: &Object) -> Object {
    let mut fields = now.clone();
    let all = [now, after, before];
    let names: BTreeSet<&str> = all.into_iter().flat_map(Object::keys).collect();
    for name in names {
        let is_unchanged = match (now.get(name), after.get(name)) {
            (Some(now), Some(after)) => is_same(now, after),
            (None, None) => true,
            _ => false,
        };
        match before.get(name).filter(|_| is_unchanged) {
            Some(value) => _ = fields.insert(name, value.clone()),
            None if is_unchanged => _ = fields.remove(name),
            None => {}
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Object {
        match Json::read_kept(text.as_bytes()) {
            Some(Json::Object(fields)) => fields,
            other => panic!("{other:?}"),
        }
    }

    /// A stored merge is read as it was written.
    #[test]
    fn a_stored_merge_is_read_as_it_was_written() {
        let id = |number: i64| Id::from(number);
        let identifiers = vec![Identifier::parse("crm:1").unwrap()];
        let record = |kind: Kind, number| {
            let references = kind.schema().references().iter();
            let links = references.map(|it| {
                let parent = it.kind.schema().path_parent.map(|_| id(7));
                (it.name, RecordAddress::new(it.kind, id(8), parent))
            });
            FormerRecord {
                id: id(number),
                created: Timestamp::from_micros(-5),
                identifiers: identifiers.clone(),
                fields: object(r#"{"comments":"x","count":1.50}"#),
                links: links.collect(),
            }
        };
        let mut former = FormerPeople::new(record(Kind::Person, 1));
        former.before = (object(r#"{"given_name":"Ada"}"#), Vec::new());
        former.after = (object(r#"{"given_name":"Eve"}"#), identifiers.clone());
        former.forwarded = vec![id(2)];
        former.moved = vec![MovedRecords {
            kind: Kind::Canvass,
            links: vec!["target", "canvasser"],
            ids: vec![id(3), id(4)],
        }];
        former.folds = vec![FormerFold {
            kind: Kind::Tagging,
            older: record(Kind::Tagging, 5),
            younger: record(Kind::Tagging, 6),
            after: Object::new(),
            identifiers,
        }];
        let attendance = object(r#"{"tickets":[{"title":"A"},{"title":"B"}]}"#);
        former.add_tickets(&id(9), &[1, 5].into(), &attendance);
        assert_eq!(former.tickets.len(), 1);
        assert_eq!(FormerPeople::parse(&former.to_bytes()), Some(former));
    }

    #[test]
    fn fields_that_were_changed_since_stay() {
        let [now, after, before] = [
            r#"{"a":"now","b":"after","d":"added"}"#,
            r#"{"a":"after","b":"after","c":"removed"}"#,
            r#"{"a":"before","c":"before","e":"old"}"#,
        ]
        .map(object);
        let expected = object(r#"{"a":"now","d":"added","e":"old"}"#);
        assert_eq!(reverted(&now, &after, &before), expected);
    }
}
