//! Finds further problems of a body that is already rejected, so that one response has all of them.
//!
//! Requirements: ERR-39.

use super::{
    Api, Response,
    composed::{ComposedContext, ComposedRunner},
};
use crate::{
    context::Context,
    draft::{RawDraft, RawPatch},
    error::{Error, Problem, Result},
    helper::HelperName,
    json::Object,
    link::{RecordAddress, ShareNames},
    model::Kind,
    read::MAX_PROBLEMS,
    rules::{CreateOptions, RuleContext, RuleResult, first_keys, help},
    store::{LookupKey, WriteOperation, WriteRequest},
    value::Identifier,
};

impl Api {
    /// Returns 404 if the addressed record or container is missing. Otherwise it returns 400 with
    /// the problems of the body and those that the store finds.
    ///
    /// `work` contains the valid part of the body.
    ///
    /// Requirements: UND-39.
    pub(super) async fn rejection_response(
        &self,
        cx: &Context,
        kind: Kind,
        container: Option<&RecordAddress>,
        work: WriteOperation,
        body: &Object,
        mut problems: Vec<Problem>,
    ) -> Result<Response> {
        let told = if problems.len() < MAX_PROBLEMS {
            self.collect_problems(cx, container, work).await?
        } else {
            self.container_exists(cx, container).await?;
            Vec::new()
        };
        let is_new = |problem: &Problem| !problems.iter().any(|known| known.explains(problem));
        let told: Vec<Problem> = self
            .bodies(cx)
            .as_sent(body, told)
            .into_iter()
            .filter(is_new)
            .collect();
        problems.extend(told);
        Ok(self.invalid(Some(kind), &problems))
    }

    async fn collect_problems(
        &self,
        cx: &Context,
        container: Option<&RecordAddress>,
        work: WriteOperation,
    ) -> Result<Vec<Problem>> {
        let is_schedule =
            matches!(&work, WriteOperation::Helper(plan) if plan.helper == HelperName::Schedule);
        let told = match &self.inner.settings.store {
            Some(store) if !is_schedule => store
                .write(cx, WriteRequest::new(cx, work).rejected())
                .await
                .map(|_| Vec::new()),
            _ => {
                self.container_exists(cx, container).await?;
                Box::pin(self.composed().collect_problems(cx, &work)).await
            }
        };
        match told {
            Err(error) => error.into_problems(),
            told => told,
        }
    }
}

impl ComposedRunner<'_> {
    /// Returns the problems that read operations find: links to missing records, identifiers of
    /// other records, and missing tags, lists and questions.
    async fn collect_problems(&self, cx: &Context, work: &WriteOperation) -> Result<Vec<Problem>> {
        match work {
            WriteOperation::Helper(plan) if plan.helper == HelperName::Schedule => Ok(Vec::new()),
            WriteOperation::Helper(plan) => {
                let first = first_keys(plan, self.matching);
                self.decide(cx, first, true, |ground| Ok(help(ground, plan)?.problems()))
                    .await
            }
            WriteOperation::Create(draft) => {
                let new = CreateOptions::default();
                self.decide(cx, keys_of(draft), true, |ground| {
                    ground.wrong_draft(draft, &new)
                })
                .await
            }
            WriteOperation::Update(at, patch) => {
                let mut problems = self.broken_rules(cx, at, patch).await?;
                problems.extend(
                    self.decide(cx, Vec::new(), true, |ground| ground.wrong_patch(at, patch))
                        .await?,
                );
                Ok(problems)
            }
            WriteOperation::Delete(_) | WriteOperation::Import(_) => Ok(Vec::new()),
        }
    }

    /// Returns the rules between fields that a change would violate.
    async fn broken_rules(
        &self,
        cx: &Context,
        at: &RecordAddress,
        patch: &RawPatch,
    ) -> Result<Vec<Problem>> {
        let Some(get) = &self.registered(at.kind)?.get else {
            return Ok(Vec::new());
        };
        let record = get.get(cx, at).await?.ok_or_else(Error::not_found)?;
        let mut fields = record.to_fields(&ShareNames::default())?;
        Ok(patch
            .apply_to(&mut fields, cx.received_at)
            .err()
            .unwrap_or_default())
    }
}

/// Returns the keys of the lookups that a draft always needs.
fn keys_of(draft: &RawDraft) -> Vec<LookupKey> {
    let linked = draft
        .links
        .iter()
        .map(|(_, address)| LookupKey::Id(address.kind, address.id.clone()));
    let identified = draft
        .identifiers
        .iter()
        .map(|identifier| LookupKey::Identifier(draft.kind, identifier.clone()));
    linked.chain(identified).collect()
}

impl ComposedContext<'_> {
    /// Returns the problems of a draft whose container exists.
    pub(super) fn wrong_draft(
        &mut self,
        draft: &RawDraft,
        new: &CreateOptions,
    ) -> RuleResult<Vec<Problem>> {
        let is_looked_at = |name: &str| {
            Some(name) != draft.kind.schema().parent
                && (new.person.is_none() || name != Kind::Person.singular())
        };
        let mut problems = Vec::new();
        for (name, address) in draft.links.iter().filter(|(name, _)| is_looked_at(name)) {
            problems.extend(self.check_link_target(name, address)?);
        }
        problems.extend(self.find_used_identifiers(draft.kind, &draft.identifiers, None)?);
        Ok(problems)
    }

    /// Returns the problems of a patch for a record.
    fn wrong_patch(&mut self, at: &RecordAddress, patch: &RawPatch) -> RuleResult<Vec<Problem>> {
        let mut problems = Vec::new();
        for (name, address) in &patch.links {
            if let Some(address) = address {
                problems.extend(self.check_link_target(name, address)?);
            }
        }
        problems.extend(self.find_used_identifiers(
            at.kind,
            patch.identifiers.as_deref().unwrap_or_default(),
            Some(at),
        )?);
        Ok(problems)
    }

    fn check_link_target(
        &mut self,
        name: &'static str,
        address: &RecordAddress,
    ) -> RuleResult<Option<Problem>> {
        let found = self.find(&LookupKey::Id(address.kind, address.id.clone()))?;
        let is_there = found.is_some_and(|found| {
            found.parent.is_none() || address.matches_parent(found.parent.as_ref())
        });
        Ok((!is_there).then(|| Problem::link_not_found(address.kind, name)))
    }

    /// Returns a problem for each identifier that a record other than `own` has, if they can be
    /// looked up.
    ///
    /// Requirements: UND-24.
    fn find_used_identifiers(
        &mut self,
        kind: Kind,
        identifiers: &[Identifier],
        own: Option<&RecordAddress>,
    ) -> RuleResult<Vec<Problem>> {
        let mut problems = Vec::new();
        let looked_up = if self.supports_find(kind) {
            identifiers
        } else {
            &[]
        };
        for (place, identifier) in looked_up.iter().enumerate() {
            let owner = self.find(&LookupKey::Identifier(kind, identifier.clone()))?;
            if owner.is_some_and(|owner| own.is_none_or(|own| own.id != owner.id)) {
                problems.push(Problem::identifier_in_use(place));
            }
        }
        Ok(problems)
    }
}
