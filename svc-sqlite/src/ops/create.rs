//! Creating a record (CRU-01, UND-12, UND-24, UND-38).

use rusqlite::ToSql;
use svc_core::{
    Create, Created, Draft,
    context::Context,
    draft::RawDraft,
    error::{Code, Error, Problem, Result},
    helper::Merge,
    model::{Kind, Resource},
    read::{Json, Object},
    record::Record,
    schema::fill_nested_computed,
    value::{Identifier, Timestamp},
};

use crate::{
    identifiers, money,
    record_id::RecordId,
    rows::{Found, Stored, body, by_row, one},
    schema::{Table, table},
    session::Session,
    store::Store,
};

#[async_trait::async_trait]
impl<R: Resource> Create<R> for Store {
    async fn create(&self, cx: &Context, draft: Draft<R>) -> Result<Created<R>> {
        let draft = draft.into_raw();
        let (record, is_new) = self
            .write(cx, move |session| {
                // A helper has asked its questions itself, each once for however many answers.
                if let Some(question) = draft.container().filter(|_| draft.kind == Kind::Answer)
                    && let Some(question) = RecordId::parse(&question.id)
                {
                    session.settle_answer(question, None, &draft.fields)?;
                }
                let (stored, is_new) = session.create(draft.clone(), &New::default())?;
                session.check()?;
                Ok((stored.into_raw(), is_new))
            })
            .await?;
        let record = Record::from_raw(record);
        Ok(if is_new { Created::New(record) } else { Created::Existing(record) })
    }
}

/// How a record comes about.
#[derive(Debug, Default)]
pub(crate) struct New<'a> {
    /// Where its fields stand in the body: `person.` or nothing.
    pub(crate) prefix: &'a str,
    /// The submission or canvass whose helper call makes it (UND-01).
    pub(crate) recorded_by: Option<(Kind, RecordId)>,
    /// Its id and moment, when they are given.
    pub(crate) given: Option<(RecordId, Timestamp)>,
    /// What is done about people named in tickets.
    pub(crate) holders: Holders,
}

/// What is done about people named in the tickets of a new attendance (RES-attendance-14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holders {
    /// They are recognised or made, as a posted person is.
    Recognise(Merge),
    /// Those who are known are noted, nobody is changed or made.
    Note,
}

impl Default for Holders {
    fn default() -> Self {
        Self::Recognise(Merge::Replace)
    }
}

/// A row that is not in the file yet.
pub(crate) struct NewRow<'a> {
    pub(crate) stored: Stored,
    pub(crate) identifiers: &'a [Identifier],
    pub(crate) fields: &'a Object,
    pub(crate) typed: Option<String>,
}

impl Session<'_> {
    /// Creates a record; `false` beside the one that was there already (UND-38).
    ///
    /// Problems are noted, not returned: the caller ends with [`Session::check`].
    pub(crate) fn create(&mut self, draft: RawDraft, new: &New<'_>) -> Result<(Stored, bool)> {
        let table = table(draft.kind);
        let mut stored = self.blank(table, new)?;
        self.follow_links(&draft, new, &mut stored)?;
        if table.is_membership()
            && let (Some(container), Some(person)) = (stored.parent(), stored.link("person"))
            && let Some(existing) = one(self.file, table, &table.sql.membership, &[&self.tenant, &container, &person])?
        {
            return Ok((existing, false));
        }
        self.check_identifiers(table, &draft.identifiers, None, new.prefix)?;
        let mut fields = draft.fields;
        let typed = self.typed_value(table, &fields, None)?;
        fill_nested_computed(table.kind.schema().fields, &mut fields);
        match (draft.kind, stored.parent()) {
            (Kind::Attendance, Some(event)) => self.settle_attendance(event, None, Some(&mut fields), true)?,
            (Kind::Donation, Some(page)) => self.settle_donation(page, None, Some(&fields))?,
            _ => {}
        }
        // What is wrong is known now; nothing of it is to reach a unique index.
        self.check()?;
        stored.identifiers = identifiers::text(&draft.identifiers);
        stored.body = body(&fields, self.names());
        let row = NewRow { stored, identifiers: &draft.identifiers, fields: &fields, typed };
        let stored = self.insert(row)?;
        if draft.kind == Kind::Attendance {
            self.recognise_holders(stored.seq, &fields, &draft.holders, new.holders)?;
        }
        Ok((stored, true))
    }

    /// A record without fields and links.
    pub(crate) fn blank(&self, table: &Table, new: &New<'_>) -> Result<Stored> {
        let (id, created) = match new.given {
            Some(given) => given,
            None => (RecordId::new(self.now)?, self.now),
        };
        let mut stored = Stored {
            kind: table.kind,
            seq: 0,
            id,
            created,
            modified: created,
            identifiers: String::new(),
            body: Vec::new(),
            links: vec![None; table.columns.len()],
            homes: Vec::new(),
            computed: Vec::new(),
        };
        stored.set_link("creator", self.caller);
        stored.set_link("modified_by", self.caller);
        if let Some((kind, id)) = new.recorded_by {
            stored.set_link(kind.singular(), Some(id));
        }
        Ok(stored)
    }

    /// Looks up where the links of a draft lead (CRU-02).
    fn follow_links(&mut self, draft: &RawDraft, new: &New<'_>, stored: &mut Stored) -> Result<()> {
        let table = table(draft.kind);
        let mut homes: Vec<(&str, Option<RecordId>)> = Vec::new();
        for (name, address) in &draft.links {
            match self.find(address)? {
                Some(found) => {
                    stored.set_link(name, Some(found.id));
                    homes.push((name, found.parent));
                }
                None if Some(*name) == table.kind.schema().parent => return Err(Error::NotFound),
                None => self.problem(Problem::leads_nowhere(address.kind, &format!("{}_links.{name}", new.prefix))),
            }
        }
        let home_of = |name| homes.iter().find(|(link, _)| *link == name).and_then(|(_, home)| *home);
        let with_home = table.columns.iter().filter(|column| column.home_link().is_some());
        stored.homes = with_home.map(|column| home_of(column.name)).collect();
        Ok(())
    }

    /// The value of the typed column; notes a name that another record has (UND-02, UND-03).
    pub(crate) fn typed_value(&mut self, table: &Table, fields: &Object, own: Option<i64>) -> Result<Option<String>> {
        if table.kind == Kind::FundraisingPage {
            return Ok(Some(money::currency(fields)).filter(|currency| !currency.is_empty()));
        }
        if !table.has_unique_name() {
            return Ok(None);
        }
        let Some(name) = fields.get("name").and_then(Json::as_str) else { return Ok(None) };
        let other = one(self.file, table, &table.sql.typed, &[&self.tenant, &name])?;
        if other.is_some_and(|other| Some(other.seq) != own) {
            let text = format!("Another {} has this name.", table.kind.singular());
            self.problem(Problem::new(Code::NameInUse, "name", text));
        }
        Ok(Some(name.to_owned()))
    }

    /// Puts a row into the file, with everything that finds it and counts it.
    pub(crate) fn insert(&mut self, row: NewRow<'_>) -> Result<Stored> {
        let NewRow { mut stored, identifiers, fields, typed } = row;
        let table = stored.table();
        let (created, modified) = (stored.created.micros(), stored.modified.micros());
        let mut values: Vec<&dyn ToSql> = Vec::with_capacity(table.columns.len().saturating_add(7));
        values.extend([&self.tenant as &dyn ToSql, &stored.id, &created, &modified, &stored.identifiers, &stored.body]);
        values.extend(stored.links.iter().map(|link| link as &dyn ToSql));
        if table.typed_column().is_some() {
            values.push(&typed);
        }
        self.file.prepare_cached(&table.sql.insert)?.execute(&*values)?;
        stored.seq = self.file.last_insert_rowid();
        self.tie_identifiers(table, identifiers, stored.seq)?;
        if table.kind == Kind::Person {
            self.tie_emails(stored.seq, None, Some(fields))?;
        }
        self.count(&stored)?;
        self.knows(stored.kind, Found { seq: stored.seq, id: stored.id, parent: stored.parent() });
        self.refreshed(stored)
    }

    /// The record with its computed fields as they are now.
    pub(crate) fn refreshed(&self, stored: Stored) -> Result<Stored> {
        if stored.table().computed.is_empty() {
            return Ok(stored);
        }
        by_row(self.file, self.tenant, stored.kind, stored.seq)?
            .ok_or_else(|| Error::unexpected("a record that was just written is not there"))
    }

    /// Replaces only the body of a row: a change of computed members is no change of the record (TYP-16).
    pub(crate) fn set_body(&self, table: &Table, seq: i64, body: &[u8]) -> Result<()> {
        self.file.prepare_cached(&table.sql.set_body)?.execute((self.tenant, seq, body))?;
        Ok(())
    }
}
