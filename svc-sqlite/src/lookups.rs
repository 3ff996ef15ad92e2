//! Executes the lookups of the rules on the file, in the transaction of the writer or in a read.

use std::{collections::HashSet, sync::Arc};

use rusqlite::{Connection, OptionalExtension};
use svc_core::{
    Error,
    filter::name_key,
    model::Kind,
    store::{
        HeldTickets, LookupKey, LookupSource, MergeRecord, RecordLocation, RuleError, StoredRecord,
        StoredResponse, Totals,
    },
    value::Id,
};
use svc_store::lookup;

use crate::{
    aliases,
    error::{Result, StoreError},
    merges,
    record_id::RecordId,
    rows::{by_id, by_row, find, one, place, place_of_name, stored, under},
    schema::{SqliteTable, table},
    stored_responses,
};

/// Represents a ticket whose position is no longer known.
pub(crate) const ANY: i64 = -1;

/// The number of attendances with a ticket that names a person, and without a link to it.
const HELD_COUNT: &str = "SELECT count(*) FROM (SELECT DISTINCT h.attendance FROM holder h WHERE h.tenant = ?1 AND h.person = ?2
     AND NOT EXISTS (SELECT 1 FROM attendances a WHERE a.tenant = ?1 AND a.seq = h.attendance AND a.person = ?2) LIMIT ?3)";

/// The owner of the collection of all records.
pub(crate) const ALL: &[u8] = &[];

/// The file, as a source of lookups for the rules.
pub(crate) struct SqliteLookups<'a> {
    pub(crate) file: &'a Connection,
    pub(crate) tenant: i64,
    /// The error of the last lookup. The rules get only the fact that it failed.
    failure: Option<StoreError>,
}

impl LookupSource for SqliteLookups<'_> {
    fn find(&mut self, key: &LookupKey) -> RuleResult<Option<RecordLocation>> {
        let found = self.location(key);
        self.known(found)
    }

    fn record(&mut self, key: &LookupKey) -> RuleResult<Option<StoredRecord>> {
        let stored = record(self.file, self.tenant, key);
        self.known(stored.map_err(StoreError::from))
    }

    fn members(
        &mut self,
        kind: Kind,
        groups: &[LookupKey],
        people: &[LookupKey],
    ) -> RuleResult<Vec<StoredRecord>> {
        let members = self.memberships(kind, groups, people);
        self.known(members)
    }

    fn answers(
        &mut self,
        people: &[LookupKey],
        questions: &[LookupKey],
    ) -> RuleResult<Vec<StoredRecord>> {
        let answers = self.answered(people, questions);
        self.known(answers)
    }

    fn count(&mut self, kind: Kind, of: &LookupKey) -> RuleResult<u64> {
        let (file, tenant) = (self.file, self.tenant);
        let count = self.owner(of).and_then(|owner| match owner {
            Some((owner, id)) => Ok(records(file, tenant, table(kind), Some((owner, id)))?),
            None => Ok(0),
        });
        self.known(count)
    }

    fn totals(&mut self, of: &LookupKey) -> RuleResult<Totals> {
        let totals = self.owner(of).and_then(|owner| match owner {
            Some((owner, id)) => self.sum(owner, id),
            None => Ok(Totals::default()),
        });
        self.known(totals)
    }

    fn part_totals(&mut self, of: &LookupKey) -> RuleResult<Vec<(String, Totals)>> {
        let parts = self.owner(of).and_then(|owner| match owner {
            Some((_, id)) => self.parts(id),
            None => Ok(Vec::new()),
        });
        self.known(parts)
    }

    fn held_tickets(&mut self, person: &Id) -> RuleResult<Vec<HeldTickets>> {
        let held = self.holdings(person);
        self.known(held)
    }

    fn linked(
        &mut self,
        kind: Kind,
        link: &'static str,
        person: &Id,
        most: u32,
    ) -> RuleResult<Vec<StoredRecord>> {
        let linked = self.linked_to(kind, link, person, most);
        self.known(linked.map_err(StoreError::from))
    }

    fn linked_count(&mut self, person: &Id, most: u32) -> RuleResult<u64> {
        let count = self.count_linked(person, most);
        self.known(count)
    }

    fn forwarded_person(&mut self, id: &Id) -> RuleResult<Option<Id>> {
        let target = forwarded_person(self.file, self.tenant, id);
        self.known(target.map_err(StoreError::from))
    }

    fn forwarded_to(&mut self, id: &Id) -> RuleResult<Vec<Id>> {
        let found = RecordId::parse(id).map(|id| aliases::of(self.file, self.tenant, id));
        let found = found.transpose().map_err(StoreError::from);
        let found = self.known(found)?.into_iter().flatten();
        Ok(found.map(RecordId::to_id).collect())
    }

    fn stored_merge(&mut self, remaining: &Id, merge: &Id) -> RuleResult<Option<MergeRecord>> {
        let found = merges::get(self.file, self.tenant, remaining, merge);
        self.known(found)
    }

    fn email_holders(&mut self, address: &str) -> RuleResult<Vec<RecordLocation>> {
        let holders = self.people_with(address);
        self.known(holders)
    }

    fn stored_response(&mut self, key: &Arc<str>) -> RuleResult<Option<StoredResponse>> {
        let stored = stored_responses::get(self.file, self.tenant, key);
        self.known(stored)
    }
}

type RuleResult<T> = std::result::Result<T, RuleError>;

impl<'a> SqliteLookups<'a> {
    pub(crate) fn new(file: &'a Connection, tenant: i64) -> Self {
        Self {
            file,
            tenant,
            failure: None,
        }
    }

    /// Returns whether no lookup has failed.
    pub(crate) fn is_complete(&self) -> bool {
        self.failure.is_none()
    }

    /// Returns why the rules made no decision: the error of the file, or the rejection, converted
    /// with `refused`.
    pub(crate) fn failure(
        &mut self,
        pause: RuleError,
        refused: impl FnOnce(Error) -> Error,
    ) -> StoreError {
        match (self.failure.take(), pause) {
            (Some(failure), _) => failure,
            (None, RuleError::Failed(error)) => refused(error).into(),
            (None, other) => StoreError::unexpected(other.to_string()),
        }
    }

    /// Returns a result to the rules, and keeps an error.
    fn known<T>(&mut self, result: Result<T>) -> RuleResult<T> {
        result.map_err(|failure| {
            self.failure = Some(failure);
            RuleError::Failed(Error::unexpected("the data file cannot be read"))
        })
    }

    fn location(&self, key: &LookupKey) -> Result<Option<RecordLocation>> {
        match key {
            LookupKey::Id(kind, id) => Ok(find(self.file, self.tenant, *kind, id)?),
            LookupKey::Identifier(..) | LookupKey::Email(_) => {
                match (row_of(self.file, self.tenant, key)?, key.kind()) {
                    (Some(row), Some(kind)) => Ok(place(self.file, self.tenant, kind, row)?),
                    _ => Ok(None),
                }
            }
            LookupKey::Name(kind, name) => Ok(self.location_of_name(*kind, name)?),
            LookupKey::Link(..) => {
                Ok(record(self.file, self.tenant, key)?.map(|stored| stored.location()))
            }
        }
    }

    /// Returns the location of the record with a unique name, or of the oldest one whose name has the
    /// same key.
    fn location_of_name(&self, kind: Kind, name: &str) -> rusqlite::Result<Option<RecordLocation>> {
        if let Some(found) = place_of_name(self.file, self.tenant, kind, name)? {
            return Ok(Some(found));
        }
        match row_with_same_name(self.file, self.tenant, kind, name)? {
            Some(row) => place(self.file, self.tenant, kind, row),
            None => Ok(None),
        }
    }

    /// Returns the id of the record that a key refers to.
    fn id(&self, key: &LookupKey) -> Result<Option<RecordId>> {
        match key {
            LookupKey::Id(_, id) => Ok(RecordId::parse(id)),
            key => Ok(self
                .location(key)?
                .and_then(|found| RecordId::parse(&found.id))),
        }
    }

    fn owner(&self, key: &LookupKey) -> Result<Option<(&'static SqliteTable, RecordId)>> {
        Ok(key.kind().map(table).zip(self.id(key)?))
    }

    fn memberships(
        &self,
        kind: Kind,
        groups: &[LookupKey],
        people: &[LookupKey],
    ) -> Result<Vec<StoredRecord>> {
        let (table, mut members) = (table(kind), Vec::new());
        if table.sql.membership.is_empty() {
            return Ok(members);
        }
        for group in groups {
            let Some(group) = self.id(group)? else {
                continue;
            };
            for person in people {
                let Some(person) = self.id(person)? else {
                    continue;
                };
                members.extend(one(
                    self.file,
                    table,
                    &table.sql.membership,
                    &[&self.tenant, &group, &person],
                )?);
            }
        }
        Ok(members)
    }

    fn answered(&self, people: &[LookupKey], questions: &[LookupKey]) -> Result<Vec<StoredRecord>> {
        let answers = table(Kind::Answer);
        let Some(column) = answers.scope_column(Kind::Person) else {
            return Ok(Vec::new());
        };
        let mut wanted = HashSet::new();
        for question in questions {
            wanted.extend(self.id(question)?.map(RecordId::to_id));
        }
        let mut answered = Vec::new();
        for person in people {
            let Some(person) = self.id(person)? else {
                continue;
            };
            let all = under(self.file, answers, column, self.tenant, person)?;
            let is_wanted = |it: &StoredRecord| {
                it.record
                    .parent()
                    .is_some_and(|question| wanted.contains(question))
            };
            answered.extend(all.into_iter().filter(is_wanted));
        }
        Ok(answered)
    }

    /// Returns the records of a kind whose link has a person as its target.
    fn linked_to(
        &self,
        kind: Kind,
        link: &str,
        person: &Id,
        most: u32,
    ) -> rusqlite::Result<Vec<StoredRecord>> {
        let table = table(kind);
        let column = table.columns.iter().position(|column| column.name == link);
        let sql = column.and_then(|column| table.sql.page_under.get(column));
        let (Some(sql), Some(person)) = (sql, RecordId::parse(person)) else {
            return Ok(Vec::new());
        };
        self.file
            .prepare_cached(sql)?
            .query_map((self.tenant, 0, most, person), |row| stored(table, row))?
            .collect()
    }

    /// Returns the number of records that name a person, by a link or in a ticket.
    fn count_linked(&self, person: &Id, most: u32) -> Result<u64> {
        let Some(person) = RecordId::parse(person) else {
            return Ok(0);
        };
        let tables = Kind::ALL.iter().map(|kind| table(*kind));
        let texts = tables.flat_map(|table| &table.sql.linked_count);
        let (mut left, mut count) = (i64::from(most), 0_i64);
        for sql in texts.map(String::as_str).chain([HELD_COUNT]) {
            if left <= 0 {
                break;
            }
            let mut statement = self.file.prepare_cached(sql)?;
            let found: i64 = statement.query_row((self.tenant, person, left), |row| row.get(0))?;
            (left, count) = (left.saturating_sub(found), count.saturating_add(found));
        }
        Ok(u64::try_from(count).unwrap_or_default())
    }

    fn sum(&self, owner: &SqliteTable, id: RecordId) -> Result<Totals> {
        let Some(members) = owner.counts else {
            return Ok(Totals::default());
        };
        let mut statement = self.file.prepare_cached(
            "SELECT measures FROM total WHERE tenant = ?1 AND kind = ?2 AND scope = ?3 AND owner = ?4",
        )?;
        let mut rows = statement.query((self.tenant, table(members).code, owner.code, id))?;
        match rows.next()? {
            Some(row) => stored_totals(row.get_ref(0)?.as_str()?),
            None => Ok(Totals::default()),
        }
    }

    fn parts(&self, owner: RecordId) -> Result<Vec<(String, Totals)>> {
        let mut statement = self.file.prepare_cached(
            "SELECT name, measures FROM part WHERE tenant = ?1 AND owner = ?2 ORDER BY name",
        )?;
        let parts = statement.query_and_then((self.tenant, owner), |row| {
            let part = stored_totals(row.get_ref(1)?.as_str()?)?;
            Ok((row.get(0)?, part))
        })?;
        parts.collect()
    }

    /// Returns the two oldest people with an e-mail address.
    fn people_with(&self, address: &str) -> Result<Vec<RecordLocation>> {
        let mut statement = self.file.prepare_cached(
            "SELECT seq FROM email WHERE tenant = ?1 AND hash = ?2 ORDER BY seq LIMIT 2",
        )?;
        let mut rows = statement.query((self.tenant, lookup::hash_email(address)))?;
        let mut people = Vec::new();
        while let Some(row) = rows.next()? {
            people.extend(place(self.file, self.tenant, Kind::Person, row.get(0)?)?);
        }
        Ok(people)
    }

    fn holdings(&self, person: &Id) -> Result<Vec<HeldTickets>> {
        let Some(person) = RecordId::parse(person) else {
            return Ok(Vec::new());
        };
        let mut statement = self.file.prepare_cached(
            "SELECT attendance, place FROM holder WHERE tenant = ?1 AND person = ?2 ORDER BY attendance, place",
        )?;
        let mut rows = statement.query((self.tenant, person))?;
        let mut holdings: Vec<(i64, Vec<Option<i64>>)> = Vec::new();
        while let Some(row) = rows.next()? {
            let (attendance, place): (i64, i64) = (row.get(0)?, row.get(1)?);
            let place = (place != ANY).then_some(place);
            match holdings.last_mut() {
                Some((last, places)) if *last == attendance => places.push(place),
                _ => holdings.push((attendance, vec![place])),
            }
        }
        let mut found = Vec::with_capacity(holdings.len());
        for (attendance, positions) in holdings {
            let stored = by_row(self.file, self.tenant, Kind::Attendance, attendance)?;
            found.extend(stored.map(|attendance| HeldTickets {
                attendance,
                positions,
            }));
        }
        Ok(found)
    }
}

/// Returns the person into whom the person with an id was merged.
pub(crate) fn forwarded_person(
    file: &Connection,
    tenant: i64,
    id: &Id,
) -> rusqlite::Result<Option<Id>> {
    let target = RecordId::parse(id).map(|id| aliases::target(file, tenant, id));
    Ok(target.transpose()?.flatten().map(RecordId::to_id))
}

/// Returns the people who were matched in the tickets of an attendance, with the position of each
/// ticket.
pub(crate) fn holders(
    file: &Connection,
    tenant: i64,
    kind: Kind,
    row: i64,
) -> rusqlite::Result<Vec<(i64, RecordId)>> {
    if kind != Kind::Attendance {
        return Ok(Vec::new());
    }
    let sql = "SELECT place, person FROM holder WHERE tenant = ?1 AND attendance = ?2";
    let mut statement = file.prepare_cached(sql)?;
    statement
        .query_map((tenant, row), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Returns the record that a key refers to. If there are several, returns the oldest.
pub(crate) fn record(
    file: &Connection,
    tenant: i64,
    key: &LookupKey,
) -> rusqlite::Result<Option<StoredRecord>> {
    let row = match key {
        LookupKey::Id(kind, id) => return by_id(file, tenant, *kind, id),
        LookupKey::Name(kind, name) => {
            let table = table(*kind);
            if !table.has_unique_name() {
                return Ok(None);
            }
            let exactly = one(file, table, &table.sql.named, &[&tenant, name])?;
            match exactly {
                Some(stored) => return Ok(Some(stored)),
                None => row_with_same_name(file, tenant, *kind, name)?,
            }
        }
        LookupKey::Link(kind, id, name) => {
            let link = by_id(file, tenant, *kind, id)?
                .and_then(|stored| stored.record.link(name).cloned());
            return link.map_or(Ok(None), |address| {
                by_id(file, tenant, address.kind, &address.id)
            });
        }
        key => row_of(file, tenant, key)?,
    };
    match (row, key.kind()) {
        (Some(row), Some(kind)) => by_row(file, tenant, kind, row),
        _ => Ok(None),
    }
}

/// Returns the row of the oldest record whose name has the same key as another name.
fn row_with_same_name(
    file: &Connection,
    tenant: i64,
    kind: Kind,
    name: &str,
) -> rusqlite::Result<Option<i64>> {
    let Some(key) = name_key(kind, name) else {
        return Ok(None);
    };
    file.prepare_cached(
        "SELECT seq FROM text_key WHERE tenant = ?1 AND field = ?2 AND text = ?3 ORDER BY seq LIMIT 1",
    )?
    .query_row((tenant, key.field().as_str(), key.text()), |row| row.get(0))
    .optional()
}

/// Returns the row of the record that has an identifier, or of the oldest person with an e-mail
/// address.
fn row_of(file: &Connection, tenant: i64, key: &LookupKey) -> rusqlite::Result<Option<i64>> {
    match key {
        LookupKey::Identifier(kind, identifier) => file
            .prepare_cached(
                "SELECT seq FROM identifier WHERE tenant = ?1 AND kind = ?2 AND hash = ?3",
            )?
            .query_row(
                (
                    tenant,
                    table(*kind).code,
                    lookup::hash_identifier(identifier),
                ),
                |row| row.get(0),
            )
            .optional(),
        LookupKey::Email(address) => file
            .prepare_cached(
                "SELECT seq FROM email WHERE tenant = ?1 AND hash = ?2 ORDER BY seq LIMIT 1",
            )?
            .query_row((tenant, lookup::hash_email(address)), |row| row.get(0))
            .optional(),
        _ => Ok(None),
    }
}

/// Returns the number of records of a collection.
pub(crate) fn records(
    file: &Connection,
    tenant: i64,
    members: &SqliteTable,
    owner: Option<(&SqliteTable, RecordId)>,
) -> rusqlite::Result<u64> {
    let (scope, id) = owner
        .as_ref()
        .map_or((0, ALL), |(of, id)| (of.code, id.as_bytes()));
    let records: Option<i64> = file
        .prepare_cached("SELECT records FROM total WHERE tenant = ?1 AND kind = ?2 AND scope = ?3 AND owner = ?4")?
        .query_row((tenant, members.code, scope, id), |row| row.get(0))
        .optional()?;
    Ok(records
        .and_then(|records| u64::try_from(records).ok())
        .unwrap_or_default())
}

fn stored_totals(text: &str) -> Result<Totals> {
    Totals::parse(text).ok_or_else(|| StoreError::unexpected("a stored total is not a number"))
}
