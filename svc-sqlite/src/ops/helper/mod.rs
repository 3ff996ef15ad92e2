//! The helpers: a whole plan in one transaction, with an outcome for each resource (HLP-01 to HLP-23, ERR-29 to ERR-34).

mod action;
mod functions;
mod schedule;

use svc_core::{
    Helper,
    context::Context,
    error::{Error, Result},
    helper::{EntryStatus, HelperName, HelperSpec, Merge, Outcome, Plan, RawOutcome, RawPlan},
    link::Address,
    model::Kind,
};

use crate::{record_id::RecordId, rows::Stored, session::Session, store::Store};

#[async_trait::async_trait]
impl<H: HelperSpec> Helper<H> for Store {
    async fn run(&self, cx: &Context, plan: Plan<H>) -> Result<Outcome<H>> {
        let plan = plan.into_raw();
        let outcome = self.write(cx, move |session| session.run(plan.clone())).await?;
        Ok(Outcome::from_raw(outcome))
    }

    fn finds_container(&self) -> bool {
        true
    }
}

/// Who a call is about, and what it recorded.
pub(crate) struct Done<'a> {
    helper: HelperName,
    /// The person that tags, lists and answers are for.
    person: Option<RecordId>,
    action: Option<&'a Stored>,
    /// Whether the action was recorded before, by an earlier try of the same call (UND-24).
    is_repeat: bool,
}

pub(crate) fn status(is_new: bool) -> EntryStatus {
    EntryStatus::stored(is_new)
}

impl Session<'_> {
    /// Does what a plan says: everything, or everything but what fails alone.
    pub(crate) fn run(&mut self, mut plan: RawPlan) -> Result<RawOutcome> {
        let container = match &plan.container {
            Some(address) => Some(self.find(address)?.ok_or(Error::NotFound)?),
            None => None,
        };
        if plan.helper == HelperName::Schedule {
            return self.schedule(&plan);
        }
        let merge = if plan.anonymous { Merge::Fill } else { Merge::Replace };
        let mut outcome = RawOutcome::default();
        let mut person = None;
        if let Some(posted) = plan.person.take() {
            let (known, is_new) = self.recognise(posted, merge, "person.")?;
            outcome.entry(Kind::Person, status(is_new));
            person = Some(known);
        }
        let mut action = None;
        let mut is_repeat = false;
        if let Some(mut draft) = plan.action.take() {
            if let Some(person) = &person {
                draft.links.retain(|(name, _)| *name != "person");
                draft.links.push(("person", Address::top(Kind::Person, person.id.to_id())));
            }
            let (recorded, is_new) = self.record(draft, plan.anonymous)?;
            outcome.entry(plan.helper.records(), status(is_new));
            is_repeat = !is_new;
            action = Some(recorded);
        }
        self.check()?;
        let of_call = match (plan.helper, &person, &action) {
            (HelperName::RecordCanvass, ..) => container.map(|container| container.id),
            (_, Some(person), _) => Some(person.id),
            // A link stands for the person where none was posted.
            (_, None, action) => action.as_ref().and_then(|action| action.link("person")),
        };
        let done = Done { helper: plan.helper, person: of_call, action: action.as_ref(), is_repeat };
        self.functions(&plan.functions, &done, &mut outcome)?;
        if plan.atomic && outcome.has_failures() {
            return Err(Error::Invalid(outcome.problems()));
        }
        outcome.person = person.map(Stored::into_raw);
        outcome.action = action.map(Stored::into_raw);
        Ok(outcome)
    }
}
