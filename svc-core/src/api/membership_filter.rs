//! Filters by the name of a container, such as people by the name of a tag. The members of the
//! container are a collection of their own, so such a filter works with every backend.
//!
//! Requirements: FLT-13.

use std::collections::BTreeMap;

use super::{Api, operation_store::with_operation, registration::KindRegistration};
use crate::{
    auth::{Caller, Operation, Right},
    context::Context,
    error::Result,
    filter::{FILTER, Filter, FilterField, MembershipKey, MembershipSpec, QueryPlan},
    json::Json,
    link::{RecordAddress, Scope, ShareNames, Target},
    model::Kind,
    page::{ListRequest, PageRequest, RawPage, decoded, pairs},
    record::RawRecord,
    store::LookupKey,
};

impl Api {
    /// Returns the error text for a caller that may not list the members that a filter reads, or not
    /// read the container.
    ///
    /// Requirements: AUT-04, FLT-13.
    pub(super) fn hidden_members(
        &self,
        caller: &Caller,
        target: &Target,
        query: Option<&str>,
    ) -> Option<String> {
        let Target::Collection {
            kind,
            scope: Scope::All,
        } = target
        else {
            return None;
        };
        let fields = self.filter_fields(*kind);
        let missing = |membership: MembershipSpec| {
            let rights = [
                Right::Operation(membership.members, Operation::List),
                Right::Operation(membership.container, Operation::Read),
            ];
            rights.into_iter().find(|right| !caller.has_right(*right))
        };
        let mut memberships = fields.iter().filter_map(|field| field.membership());
        memberships.find(|membership| missing(*membership).is_some())?;
        let (_, text) = pairs(query?).find(|(name, _)| name == FILTER)?;
        // A filter that cannot be read is reported later.
        let filter = Filter::parse(&decoded(text), fields, "").ok()?;
        let Ok(QueryPlan::Members(key)) = filter.plan() else {
            return None;
        };
        let missing = missing(key.membership)?;
        Some(format!(
            "This API key does not have the permission `{missing}`, which this filter requires."
        ))
    }

    /// Returns the records that the members of a container link to, in the order of the members. A
    /// page costs as much as the page of the members.
    pub(super) async fn list_members(
        &self,
        cx: &Context,
        target: Kind,
        page: PageRequest,
        key: &MembershipKey,
    ) -> Result<RawPage> {
        let MembershipSpec {
            members,
            link,
            container,
            ..
        } = key.membership;
        let store = &self.inner.store;
        let name = LookupKey::Name(container, key.name.clone());
        let found = store.find(cx, &name).await;
        let found = found.map_err(with_operation(container, "find"))?;
        // A backend may find names without regard to case.
        let is_named = |found: &RawRecord| {
            let fields = found.to_fields_lossy(&ShareNames::default());
            fields.get("name").and_then(Json::as_str) == Some(&key.name)
        };
        let Some(found) = found.filter(is_named) else {
            return Ok(RawPage::new(Vec::new(), 0));
        };
        let request = ListRequest::new(Scope::Under(found.address()), page);
        let page = match store.list(cx, members, &request).await {
            // The container was deleted after it was found.
            Err(error) if error.is_not_found() => return Ok(RawPage::new(Vec::new(), 0)),
            page => page.map_err(with_operation(members, "list"))?,
        };
        let linked = page.records.iter().filter_map(|member| member.link(link));
        let addresses: Vec<RecordAddress> = linked.cloned().collect();
        let records = store.get_all(cx, &addresses).await;
        let records = records.map_err(with_operation(target, "read"))?;
        let records = records.into_iter().flatten().collect();
        Ok(RawPage::new(records, page.total).with_next(page.next))
    }
}

/// Returns the problems of the fields with memberships that a vendor declares for its operations
/// without registering what they read.
pub(super) fn never_registered(kinds: &BTreeMap<Kind, KindRegistration>) -> Vec<String> {
    let of_kind = |(kind, registered): (&Kind, &KindRegistration)| {
        let fields = registered.filterable.iter();
        let is_own = registered.backend.store().is_none();
        let missing = fields.filter(|_| is_own).filter_map(|field| {
            let (plural, name) = (kind.plural(), field.as_str());
            let text = missing(*kind, *field, kinds)?;
            Some(format!("{plural} cannot be filtered by `{name}`: {text}"))
        });
        missing.collect::<Vec<_>>()
    };
    kinds.iter().flat_map(of_kind).collect()
}

/// Removes the fields with memberships that lack something, such as members that are withdrawn.
pub(super) fn remove_unsupported(kinds: &mut BTreeMap<Kind, KindRegistration>) {
    for kind in Kind::ALL {
        let Some(registered) = kinds.get_mut(kind) else {
            continue;
        };
        let mut fields = std::mem::take(&mut registered.filterable);
        fields.retain(|field| missing(*kind, *field, kinds).is_none());
        if let Some(registered) = kinds.get_mut(kind) {
            registered.filterable = fields;
        }
    }
}

/// Returns what a filter by a field lacks; `None` if nothing.
fn missing(
    kind: Kind,
    field: FilterField,
    kinds: &BTreeMap<Kind, KindRegistration>,
) -> Option<String> {
    let MembershipSpec {
        members,
        link,
        container,
        ..
    } = field.membership()?;
    let has =
        |kind: Kind, check: &dyn Fn(&KindRegistration) -> bool| kinds.get(&kind).is_some_and(check);
    let lacks = [
        (
            !has(kind, &|it| it.backend.has(kind, Operation::Read)),
            format!("register `.get()` for {}", kind.plural()),
        ),
        (
            !has(members, &|it| {
                it.is_listed_under(members, container) && !it.omitted_links.contains(&link)
            }),
            format!("register `.list_under::<...>()` for {}", members.plural()),
        ),
        (
            !has(container, &|it| {
                it.backend.finds() && it.shows(container, "name")
            }),
            format!(
                "register `.find()` for {} and show `name`",
                container.plural()
            ),
        ),
    ];
    let lacks = lacks.into_iter().find(|(is_missing, _)| *is_missing);
    lacks.map(|(_, text)| text)
}
