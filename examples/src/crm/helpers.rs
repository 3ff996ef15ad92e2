//! Signing up, and signing a campaign: the person and the response in one transaction.

use async_trait::async_trait;
use rusqlite::Transaction;
use svc_core::helper::{
    EntryStatus, MatchKey, Merge, Outcome, PersonSignup, Plan, RecordSignature, StockMatching, join_identifiers,
    recognise, recorded,
};
use svc_core::link::Address;
use svc_core::model::{Person, Signature, signature};
use svc_core::{Context, Draft, Error, Helper, Record, Result};

use super::existing::Crm;
use super::mapping::Mapped;
use super::operations::{change, find, insert};
use super::refs;

#[async_trait]
impl Helper<PersonSignup> for Crm {
    async fn run(&self, cx: &Context, plan: Plan<PersonSignup>) -> Result<Outcome<PersonSignup>> {
        let posted = plan.required_person()?;
        let (person, is_new) = self.transaction(|tx| customer(tx, cx, &posted, plan.merge()))?;
        Ok(Outcome::person(person, EntryStatus::stored(is_new)))
    }
}

#[async_trait]
impl Helper<RecordSignature> for Crm {
    async fn run(&self, cx: &Context, plan: Plan<RecordSignature>) -> Result<Outcome<RecordSignature>> {
        let (posted, mut action) = (plan.person(), plan.action().ok_or(Error::NotFound)?);
        self.transaction(|tx| {
            let mut outcome = Outcome::without_person();
            if let Some(posted) = posted {
                let (person, is_new) = customer(tx, cx, &posted, plan.merge())?;
                action = action.linked(signature::link::person, person.address());
                outcome = Outcome::person(person, EntryStatus::stored(is_new));
            }
            let (signature, is_new) = response(tx, cx, &action, plan.anonymous)?;
            Ok(outcome.action(signature, EntryStatus::stored(is_new)))
        })
    }
}

/// The customer whom a call posts: a known one with what was posted merged in, or a new one (`true`).
fn customer(
    tx: &Transaction<'_>,
    cx: &Context,
    posted: &Draft<Person>,
    merge: Merge,
) -> Result<(Record<Person>, bool)> {
    let by_email = "SELECT min(customer_no) FROM customer_emails JOIN customers USING (customer_no)
                    WHERE company_no = ?1 AND address = ?2 COLLATE NOCASE";
    let known = recognise(posted, &StockMatching, merge, |key| {
        Ok(match key {
            MatchKey::Own(id) => found::<Person>(tx, cx, id)?.and_then(|known| known.meta().id.number()),
            MatchKey::Identifier(identifier) => refs::row_with(tx, cx, Person::TABLE, identifier)?,
            MatchKey::Email(email) => tx.query_row(by_email, (cx.tenant.number(), email), |row| row.get(0))?,
            _ => None,
        })
    });
    let known = match known.map_err(|error| error.within("person"))? {
        Some(no) => found::<Person>(tx, cx, &no.into())?.ok_or(Error::NotFound)?,
        None => return Ok((insert(tx, cx, posted).map_err(|error| error.within("person"))?, true)),
    };
    let fields = posted.merged_into(&known.fields(), merge, cx.now).map_err(|error| error.within("person"))?;
    let identifiers = join_identifiers(&known.meta().identifiers.to_vec(), &posted.identifiers, merge, |identifier| {
        Ok(refs::row_with(tx, cx, Person::TABLE, identifier)?.is_some())
    });
    let identifiers = identifiers.map_err(|error| error.within("person"))?;
    if merge == Merge::Fill && identifiers.is_none() && fields == known.fields() {
        return Ok((known, false));
    }
    Ok((change(tx, cx, &known, &fields, identifiers.as_deref())?, false))
}

/// The response to a campaign, recorded once however often the call is repeated.
fn response(
    tx: &Transaction<'_>,
    cx: &Context,
    action: &Draft<Signature>,
    anonymous: bool,
) -> Result<(Record<Signature>, bool)> {
    let known = recorded(action, |key| match key {
        MatchKey::Own(id) => found::<Signature>(tx, cx, id),
        MatchKey::Identifier(identifier) => match refs::row_with(tx, cx, Signature::TABLE, identifier)? {
            Some(no) => found::<Signature>(tx, cx, &no.into()),
            None => Ok(None),
        },
        _ => Ok(None),
    })?;
    let Some(known) = known else { return Ok((insert(tx, cx, action)?, true)) };
    if anonymous {
        return Ok((known, false));
    }
    let repeated = action.repeated_on(&known, cx.now);
    let fields = repeated.apply(&known.fields(), cx.now)?;
    Ok((change(tx, cx, &known, &fields, repeated.identifiers.as_deref())?, false))
}

fn found<R: Mapped>(tx: &Transaction<'_>, cx: &Context, id: &svc_core::value::Id) -> Result<Option<Record<R>>> {
    find(tx, cx, &Address { kind: R::KIND, id: id.clone(), parent: None })
}
