//! Loading many records at once, such as the data of a demo or an import: the rules and totals of a create, without its
//! look-ups of who is known.

use svc_core::{
    Tenant,
    auth::Caller,
    context::Context,
    draft::RawDraft,
    error::{Error, Problem, Result},
    link::Address,
    model::Kind,
    read::Json,
    value::{Id, Timestamp},
};

use crate::{
    ops::create::{Holders, New},
    record_id::RecordId,
    session::Session,
    store::Store,
};

/// One record to load: what a create or a helper call would have made of it, with its id and date.
#[derive(Debug, Clone)]
pub struct SeedRow {
    /// Its id: a UUID in canonical text form.
    pub id: Id,
    /// When it was created and last changed.
    pub created: Timestamp,
    /// Its fields with their defaults, its identifiers, and its links, the container among them. A message may have the
    /// dates of its schedule among its fields.
    pub draft: RawDraft,
    /// The submission or canvass whose helper call recorded it (COL-10, RES-canvass-12).
    pub recorded_by: Option<Address>,
}

impl Store {
    /// Loads records in this order, all of them in one transaction; containers and people stand before what names them.
    ///
    /// Nobody is matched: every person is a new one. Some thousands of records in one call go fastest.
    ///
    /// # Errors
    /// [`Error::Invalid`] with what a create would answer, and storage trouble; nothing of the call is then stored.
    pub async fn seed(&self, tenant: &Tenant, rows: Vec<SeedRow>) -> Result<()> {
        let cx = Context::new(tenant.clone(), Caller::anonymous(), Timestamp::now());
        self.write(&cx, move |session| rows.iter().try_for_each(|row| session.seed(row))).await
    }
}

impl Session<'_> {
    fn seed(&mut self, row: &SeedRow) -> Result<()> {
        let SeedRow { id: name, created, draft, recorded_by } = row;
        let mut draft = draft.clone();
        let id = RecordId::parse(name).ok_or_else(|| Error::unexpected(format!("{name} is no canonical UUID")))?;
        let mut dates = [None; 2];
        if draft.kind == Kind::Message {
            for (date, field) in dates.iter_mut().zip(["scheduled_start_date", "scheduled_stop_date"]) {
                *date = draft.fields.remove(field).as_ref().and_then(Json::as_str).and_then(Timestamp::parse);
            }
        }
        let recorded_by = match recorded_by {
            Some(of) => Some((of.kind, RecordId::parse(&of.id).ok_or(Error::NotFound)?)),
            None => None,
        };
        let new = New { recorded_by, given: Some((id, *created)), holders: Holders::Note, ..New::default() };
        let kind = draft.kind.singular();
        let (stored, _) = self.create(draft, &new).map_err(|error| at_fault(error, kind, name))?;
        if let [Some(start), stop] = dates {
            self.set_schedule(stored.seq, Some(start), stop)?;
        }
        Ok(())
    }
}

/// Says which record of a load was refused.
fn at_fault(error: Error, kind: &str, id: &Id) -> Error {
    let named = |problem: Problem| Problem { description: format!("{kind} {id}: {}", problem.description), ..problem };
    match error {
        Error::Invalid(problems) => Error::Invalid(problems.into_iter().map(named).collect()),
        Error::NotFound => Error::unexpected(format!("{kind} {id}: its container is not there")),
        other => other,
    }
}
