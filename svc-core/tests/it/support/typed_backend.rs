//! A minimal backend of a vendor: typed records in memory, with the vendor's own ids.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use svc_core::{
    Context, Create, CreateRequest, Created, Delete, DeleteRequest, Draft, Error, ErrorCode, Find,
    FindKey, Get, List, ListRequest, LockKey, Page, Problem, Record, Result, Transactions, Update,
    UpdateRequest,
    backend::{MergePeople, MergedPeople, PeopleMerge, SavepointAction},
    field_set::LinkKey,
    helper::emails,
    link::{LinkValue, RecordAddress, Scope},
    model::{Kind, Resource},
    read::{Json, Object, merge_patch},
    record::{ComputedValue, Meta},
    schema::fill_nested_computed,
    value::{Id, Identifier, Timestamp},
};

/// A record as the backend stores it.
#[derive(Debug, Clone)]
struct Row {
    kind: Kind,
    tenant: String,
    id: Id,
    created: Timestamp,
    modified: Timestamp,
    identifiers: Vec<Identifier>,
    fields: Object,
    links: Vec<(&'static str, RecordAddress)>,
}

impl Row {
    fn address(&self) -> RecordAddress {
        let schema = self.kind.schema();
        let parent = schema
            .path_parent
            .and(schema.parent)
            .and_then(|parent| self.link(parent))
            .map(|at| at.id.clone());
        RecordAddress::new(self.kind, self.id.clone(), parent)
    }

    fn link(&self, name: &str) -> Option<&RecordAddress> {
        self.links
            .iter()
            .find(|(link, _)| *link == name)
            .map(|(_, at)| at)
    }

    fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field).and_then(Json::as_str)
    }
}

/// Statistics of the lookups of helpers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Looks {
    /// The lookups that are pending now.
    now: usize,
    /// All lookups.
    pub(crate) all: usize,
    /// The lookups that began while no other one was pending.
    pub(crate) rounds: usize,
    /// The lookups in a transaction.
    pub(crate) in_transaction: usize,
}

/// A transaction: the rows as they were before it, and at its savepoint.
#[derive(Debug)]
pub(crate) struct Before {
    rows: Vec<Row>,
    mark: Mutex<Vec<Row>>,
}

/// The form of records that the backend returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Form {
    /// Typed values.
    #[default]
    Typed,
    /// Bytes as a store stores them, with the names of the dialect.
    Stored,
}

/// What the backend does with the links of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum PatchLinks {
    /// It changes them.
    #[default]
    Change,
    /// It ignores them.
    Ignore,
    /// It ignores them, and the returned record has no links.
    Omit,
}

/// The backend: rows in creation order.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    rows: Mutex<Vec<Row>>,
    /// The number of records of each kind that were ever created.
    made: Mutex<BTreeMap<Kind, u32>>,
    /// The kind whose creates and updates are rejected, or fail without a problem.
    refused: Mutex<Option<(Kind, Option<Problem>)>>,
    /// The kind whose creates are rejected after the row was inserted.
    refused_after: Mutex<Option<(Kind, Problem)>>,
    /// How transactions ended, in order.
    ended: Mutex<Vec<&'static str>>,
    /// The locked keys, each time with the number of lookups before.
    locked: Mutex<Vec<(Vec<LockKey>, usize)>>,
    /// How many of the next commits the database rolls back.
    undone: Mutex<u32>,
    looks: Mutex<Looks>,
    /// Concurrent writes to a record, one just before each of the next updates, the last one first.
    between: Mutex<Vec<Object>>,
    writes: Mutex<u32>,
    patch_links: Mutex<PatchLinks>,
    /// The URL of the people of all records, if they are on another server.
    foreign_people: Mutex<Option<String>>,
    /// The ids of records that no caller may read.
    hidden: Mutex<Vec<Id>>,
    form: Form,
    names: svc_core::link::ShareNames,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory {
    /// Creates an empty backend that returns stored bytes with these names of the share objects.
    pub(crate) fn stored(names: svc_core::link::ShareNames) -> Self {
        Self {
            form: Form::Stored,
            names,
            ..Self::default()
        }
    }

    /// Rejects every create and update of this kind from now on.
    pub(crate) fn refuse(&self, kind: Kind, problem: Problem) {
        *lock(&self.refused) = Some((kind, Some(problem)));
    }

    /// Rejects every create of this kind from now on, after its row was inserted.
    pub(crate) fn refuse_after(&self, kind: Kind, problem: Problem) {
        *lock(&self.refused_after) = Some((kind, problem));
    }

    /// Makes every create and update of this kind fail from now on.
    pub(crate) fn fail(&self, kind: Kind) {
        *lock(&self.refused) = Some((kind, None));
    }

    /// Sets what updates do with links from now on.
    pub(crate) fn patch_links(&self, links: PatchLinks) {
        *lock(&self.patch_links) = links;
    }

    /// Links records to this URL instead of their people from now on.
    pub(crate) fn link_people_to(&self, url: &str) {
        *lock(&self.foreign_people) = Some(url.to_owned());
    }

    /// Hides the record with this id from all callers from now on.
    pub(crate) fn hide(&self, id: &str) {
        lock(&self.hidden).extend(Id::new(id));
    }

    /// Gives a record to another tenant, whose records `find` also finds.
    pub(crate) fn give_away(&self, id: &str) {
        for row in lock(&self.rows).iter_mut() {
            if row.id.as_str() == id {
                "other".clone_into(&mut row.tenant);
            }
        }
    }

    /// Returns how transactions ended since the last call, in order.
    pub(crate) fn ended(&self) -> Vec<&'static str> {
        std::mem::take(&mut lock(&self.ended))
    }

    /// Returns the keys that were locked since the last call, each time with the number of lookups
    /// before.
    pub(crate) fn locked(&self) -> Vec<(Vec<LockKey>, usize)> {
        std::mem::take(&mut lock(&self.locked))
    }

    /// Makes the database roll back the next commits.
    pub(crate) fn undo_commits(&self, commits: u32) {
        *lock(&self.undone) = commits;
    }

    /// Returns the statistics of the lookups since the last call.
    pub(crate) fn looks(&self) -> Looks {
        std::mem::take(&mut *lock(&self.looks))
    }

    /// Waits like a query over a network, so that other lookups can begin.
    async fn look(&self, cx: &Context) {
        {
            let mut looks = lock(&self.looks);
            looks.rounds += usize::from(looks.now == 0);
            looks.now += 1;
            looks.all += 1;
            looks.in_transaction += usize::from(<Self as Transactions>::current(cx).is_some());
        }
        tokio::task::yield_now().await;
        lock(&self.looks).now -= 1;
    }

    /// Returns whether records are returned as typed values.
    pub(crate) fn is_typed(&self) -> bool {
        self.form == Form::Typed
    }

    /// Writes to the record just before each of the next updates, like a concurrent request; the
    /// last object comes first.
    pub(crate) fn meanwhile(&self, fields: Vec<Object>) {
        *lock(&self.between) = fields;
    }

    /// Returns the number of creates, updates and deletes.
    pub(crate) fn writes(&self) -> u32 {
        *lock(&self.writes)
    }

    /// Returns the number of records of a kind.
    pub(crate) fn count(&self, kind: Kind) -> usize {
        lock(&self.rows)
            .iter()
            .filter(|row| row.kind == kind)
            .count()
    }

    fn check(
        &self,
        cx: &Context,
        kind: Kind,
        own: Option<&Id>,
        identifiers: &[Identifier],
    ) -> Result<()> {
        if let Some((refused, problem)) = lock(&self.refused).as_ref()
            && *refused == kind
        {
            let trouble = || Error::unexpected("the disk is full");
            return Err(problem.clone().map_or_else(trouble, Error::invalid));
        }
        let mut problems = Vec::new();
        for (place, identifier) in identifiers.iter().enumerate() {
            let taken = |row: &Row| {
                let other =
                    row.kind == kind && row.tenant == cx.tenant().as_str() && Some(&row.id) != own;
                other && row.identifiers.contains(identifier)
            };
            if lock(&self.rows).iter().any(taken) {
                problems.push(Problem::identifier_in_use(place));
            }
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Error::invalid_all(problems))
        }
    }

    /// Returns a problem for each link to a record that does not exist.
    fn check_links<'a>(
        &self,
        cx: &Context,
        links: impl Iterator<Item = (&'static str, &'a RecordAddress)>,
    ) -> Result<()> {
        let missing = |(name, at): (&'static str, &RecordAddress)| {
            let code = if at.kind == Kind::Person {
                ErrorCode::PersonNotFound
            } else {
                ErrorCode::LinkNotFound
            };
            let problem = Problem::new(code, format!("_links.{name}"), "It leads nowhere.");
            (!self.has(cx, at)).then_some(problem)
        };
        let problems: Vec<Problem> = links.filter_map(missing).collect();
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Error::invalid_all(problems))
        }
    }

    fn has(&self, cx: &Context, at: &RecordAddress) -> bool {
        lock(&self.rows).iter().any(|row| is_at(row, cx, at))
    }

    fn record<R: Resource>(&self, row: &Row) -> Record<R> {
        let meta = Meta::new(row.id.clone(), row.created)
            .with_modified(row.modified)
            .with_identifiers(&row.identifiers);
        let mut fields = row.fields.clone();
        let mut record = match self.form {
            Form::Typed => Record::new(meta, R::from_object(&fields)),
            Form::Stored => {
                fill_nested_computed(R::SCHEMA.fields, &mut fields);
                self.names.rename_to_wire(&mut fields);
                let mut bytes = Vec::new();
                fields.write_members(&mut bytes);
                Record::from_wire(meta, bytes.into_boxed_slice())
            }
        };
        for (name, at) in &row.links {
            let link = LinkKey::from_name(name).expect("a link of the table");
            let foreign = lock(&self.foreign_people).clone();
            let to = match foreign.filter(|_| at.kind == Kind::Person) {
                Some(url) => LinkValue::Foreign(url),
                None => LinkValue::Local(at.clone()),
            };
            record = record.with_link(link, to);
        }
        let mut raw = record.into_raw();
        if matches!(R::KIND, Kind::Tagging | Kind::Item) {
            raw.add_computed("item_type", ComputedValue::Relation(Kind::Person));
        }
        Record::from_raw(raw)
    }
}

fn is_at(row: &Row, cx: &Context, at: &RecordAddress) -> bool {
    let same = row.kind == at.kind && row.id == at.id && row.tenant == cx.tenant().as_str();
    same && at.matches_parent(
        row.kind
            .schema()
            .parent
            .and_then(|parent| row.link(parent))
            .map(|parent| &parent.id),
    )
}

#[async_trait]
impl<R: Resource> List<R> for Memory {
    async fn list(&self, cx: &Context, request: &ListRequest) -> Result<Page<R>> {
        let ListRequest { scope, page, .. } = request;
        if let Scope::Under(parent) = scope
            && !self.has(cx, parent)
        {
            return Err(Error::not_found());
        }
        let rows = lock(&self.rows);
        let own = rows
            .iter()
            .filter(|row| row.kind == R::KIND && row.tenant == cx.tenant().as_str());
        let members: Vec<&Row> = own
            .filter(|row| match scope {
                Scope::All => true,
                Scope::Under(parent) => row
                    .links
                    .iter()
                    .any(|(_, at)| at.kind == parent.kind && at.id == parent.id),
            })
            .collect();
        let first = usize::try_from(page.records_before()).unwrap_or(usize::MAX);
        let size = usize::try_from(page.size).unwrap_or(usize::MAX);
        let records = members
            .iter()
            .skip(first)
            .take(size)
            .map(|row| self.record(row))
            .collect();
        Ok(Page::new(records, members.len() as u64))
    }
}

#[async_trait]
impl<R: Resource> Get<R> for Memory {
    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<Record<R>>> {
        // This vendor forgets to check the parent; the library does it (COL-19).
        let at = RecordAddress::without_parent(at.kind, at.id.clone());
        let is_hidden = lock(&self.hidden).contains(&at.id);
        Ok(lock(&self.rows)
            .iter()
            .find(|row| !is_hidden && is_at(row, cx, &at))
            .map(|row| self.record(row)))
    }
}

#[async_trait]
impl<R: Resource> Create<R> for Memory {
    async fn create(&self, cx: &Context, request: CreateRequest<R>) -> Result<Created<R>> {
        let draft = request.draft;
        self.check(cx, R::KIND, None, draft.identifiers())?;
        self.check_links(
            cx,
            draft.as_raw().links.iter().map(|(name, at)| (*name, at)),
        )?;
        let mut rows = lock(&self.rows);
        let is_membership = matches!(R::KIND, Kind::Tagging | Kind::Item);
        if let Some(row) = rows
            .iter()
            .find(|row| is_membership && row.kind == R::KIND && row.links == draft.as_raw().links)
        {
            return Ok(Created::existing(self.record(row)));
        }
        let mut made = lock(&self.made);
        let number = made.entry(R::KIND).or_default();
        *number += 1;
        let row = Row {
            kind: R::KIND,
            tenant: cx.tenant().as_str().to_owned(),
            id: Id::new(&format!("{}-{number}", R::SCHEMA.singular))
                .ok_or_else(|| Error::unexpected("an id"))?,
            created: cx.received_at(),
            modified: cx.received_at(),
            identifiers: draft.identifiers().to_vec(),
            // The columns of a vendor would have only what the typed view returns.
            fields: Draft::new(&draft.fields()).into_raw().fields,
            links: draft.as_raw().links.clone(),
        };
        *lock(&self.writes) += 1;
        rows.push(row.clone());
        match lock(&self.refused_after).clone() {
            Some((kind, problem)) if kind == R::KIND => Err(Error::invalid(problem)),
            _ => Ok(Created::new(self.record(&row))),
        }
    }
}

#[async_trait]
impl<R: Resource> Update<R> for Memory {
    async fn update(&self, cx: &Context, request: UpdateRequest<R>) -> Result<Option<Record<R>>> {
        let UpdateRequest {
            address: at, patch, ..
        } = &request;
        if let Some(fields) = lock(&self.between).pop()
            && let Some(row) = lock(&self.rows).iter_mut().find(|row| is_at(row, cx, at))
        {
            merge_patch(&mut row.fields, &fields);
            row.modified = Timestamp::from_micros(row.modified.as_micros() + 1);
        }
        if !self.has(cx, at) {
            return Ok(None);
        }
        self.check(
            cx,
            R::KIND,
            Some(&at.id),
            patch.identifiers().unwrap_or_default(),
        )?;
        let links = patch.as_raw().links.iter();
        let links = links.filter_map(|(name, at)| Some((*name, at.as_ref()?)));
        self.check_links(cx, links)?;
        let mut rows = lock(&self.rows);
        let Some(row) = rows.iter_mut().find(|row| is_at(row, cx, at)) else {
            return Ok(None);
        };
        request.check_expected_state(row.modified)?;
        let after = patch.apply(&R::from_object(&row.fields), cx.received_at())?;
        row.fields = Draft::new(&after).into_raw().fields;
        if let Some(identifiers) = patch.identifiers() {
            row.identifiers = identifiers.to_vec();
        }
        let patch_links = *lock(&self.patch_links);
        if patch_links == PatchLinks::Change {
            for (name, to) in &patch.as_raw().links {
                row.links.retain(|(link, _)| link != name);
                row.links.extend(to.clone().map(|to| (*name, to)));
            }
        }
        row.modified = Timestamp::from_micros(
            cx.received_at()
                .as_micros()
                .max(row.modified.as_micros() + 1),
        );
        *lock(&self.writes) += 1;
        let mut shown = row.clone();
        if patch_links == PatchLinks::Omit {
            shown
                .links
                .retain(|(name, _)| Some(*name) == R::SCHEMA.parent);
        }
        Ok(Some(self.record(&shown)))
    }
}

#[async_trait]
impl<R: Resource> Delete<R> for Memory {
    async fn delete(&self, cx: &Context, request: &DeleteRequest) -> Result<bool> {
        let at = &request.address;
        debug_assert_eq!(at.kind, R::KIND);
        let mut rows = lock(&self.rows);
        let before = rows.len();
        if let Some(row) = rows.iter().find(|row| is_at(row, cx, at)) {
            request.check_expected_state(row.modified)?;
        }
        rows.retain(|row| !is_at(row, cx, at));
        *lock(&self.writes) += 1;
        Ok(rows.len() < before)
    }
}

#[async_trait]
impl<R: Resource> Find<R> for Memory {
    async fn find(&self, cx: &Context, key: &FindKey) -> Result<Option<Record<R>>> {
        let found = |row: &&Row| match key {
            FindKey::Name(name) => row.text("name") == Some(name),
            FindKey::Identifier(identifier) => row.identifiers.contains(identifier),
            FindKey::Email(email) => emails(&row.fields).any(|known| known == *email),
            _ => false,
        };
        let row = {
            let rows = lock(&self.rows);
            let mut own = rows.iter().filter(|row| {
                let is_own = row.tenant == cx.tenant().as_str() || row.tenant == "other";
                row.kind == R::KIND && is_own
            });
            own.find(found).cloned()
        };
        // A write by a concurrent request before the result arrives is not in it.
        self.look(cx).await;
        Ok(row.map(|row| {
            debug_assert_eq!(row.address().kind, R::KIND);
            self.record(&row)
        }))
    }
}

#[async_trait]
impl MergePeople for Memory {
    async fn merge(&self, cx: &Context, request: PeopleMerge) -> Result<MergedPeople> {
        let mut rows = lock(&self.rows);
        let place = |rows: &[Row], at| {
            let place = rows.iter().position(|row| is_at(row, cx, at));
            place.ok_or_else(Error::conflict)
        };
        let to = place(&rows, &request.remaining)?;
        let from = place(&rows, &request.merged)?;
        request.check_expected_states(rows[to].modified, rows[from].modified)?;
        let remaining = &mut rows[to];
        remaining.fields = Draft::new(&request.person()).into_raw().fields;
        remaining.identifiers.clone_from(&request.identifiers);
        remaining.modified = Timestamp::from_micros(remaining.modified.as_micros() + 1);
        let person = self.record(&remaining.clone());
        rows.remove(from);
        for (_, at) in rows.iter_mut().flat_map(|row| &mut row.links) {
            if at.kind == Kind::Person && at.id == request.merged.id {
                at.id = request.remaining.id.clone();
            }
        }
        *lock(&self.writes) += 1;
        Ok(MergedPeople::new(person))
    }
}

#[async_trait]
impl Transactions for Memory {
    type Open = Before;

    async fn begin(&self, _: &Context) -> Result<Before> {
        let rows = lock(&self.rows).clone();
        Ok(Before {
            mark: Mutex::new(rows.clone()),
            rows,
        })
    }

    async fn lock(&self, _: &Before, keys: &[LockKey]) -> Result<()> {
        let looks = lock(&self.looks).all;
        lock(&self.locked).push((keys.to_vec(), looks));
        Ok(())
    }

    async fn savepoint(&self, open: &Before, savepoint: SavepointAction) -> Result<()> {
        match savepoint {
            SavepointAction::Set => lock(&open.mark).clone_from(&lock(&self.rows)),
            SavepointAction::Rollback => lock(&self.rows).clone_from(&lock(&open.mark)),
            _ => {}
        }
        lock(&self.ended).push(savepoint.sql());
        Ok(())
    }

    async fn commit(&self, before: Before) -> Result<()> {
        let mut undone = lock(&self.undone);
        if let Some(left) = undone.checked_sub(1) {
            *undone = left;
            *lock(&self.rows) = before.rows;
            lock(&self.ended).push("undone");
            // Fails like a database driver; the API maps this error.
            return Err(Error::unexpected(std::io::Error::from(
                std::io::ErrorKind::Interrupted,
            )));
        }
        lock(&self.ended).push("committed");
        Ok(())
    }

    async fn rollback(&self, before: Before) -> Result<()> {
        *lock(&self.rows) = before.rows;
        lock(&self.ended).push("rolled back");
        Ok(())
    }
}
