//! What an API offers, for the documents about it.
//!
//! Requirements: CAP-04.

use super::{Api, Behaviour, ErrorBodies, HelperBackend, ResponseStyle, extensions::Extension};
use crate::{
    auth::Operation,
    helper::{Atomicity, FunctionName, HelperName, MergePolicy},
    model::Kind,
    schema::Constraints,
};

impl Api {
    /// Returns whether an operation on a kind is offered. For lists, this is the list of all
    /// records.
    #[must_use]
    pub fn offers(&self, kind: Kind, operation: Operation) -> bool {
        self.registered(kind).offers(kind, operation)
    }

    /// Returns whether records of a kind are listed under those of another kind.
    #[must_use]
    pub fn offers_collection_under(&self, kind: Kind, parent: Kind) -> bool {
        self.registered(kind).is_listed_under(kind, parent)
    }

    /// Returns whether records of a kind are listed at all.
    #[must_use]
    pub fn has_any_collection(&self, kind: Kind) -> bool {
        self.offers(kind, Operation::List) || !self.registered(kind).scopes.is_empty()
    }

    /// Returns whether any response contains records of a kind.
    #[must_use]
    pub fn shows_kind(&self, kind: Kind) -> bool {
        let offers = [Operation::Read, Operation::Create, Operation::Update]
            .into_iter()
            .any(|it| self.offers(kind, it));
        offers
            || self.has_any_collection(kind)
            || self.helpers().any(|helper| helper.recorded_kind() == kind)
    }

    /// Returns whether the field at this position of a kind's schema is readable.
    #[must_use]
    pub fn is_field_readable(&self, kind: Kind, place: usize) -> bool {
        self.registered(kind)
            .readable
            .is_none_or(|readable| readable.contains(place))
    }

    /// Returns whether the field at this position of a kind's schema is writable. Computed fields
    /// are not considered.
    #[must_use]
    pub fn is_field_writable(&self, kind: Kind, place: usize) -> bool {
        self.registered(kind)
            .writable
            .is_none_or(|writable| writable.contains(place))
    }

    /// Returns the constraints of a kind, or `None` if there are none.
    #[must_use]
    pub fn constraints(&self, kind: Kind) -> Option<&Constraints> {
        self.registered(kind).constraints.as_ref()
    }

    /// Returns whether the server omits a link of a kind.
    #[must_use]
    pub fn is_link_omitted(&self, kind: Kind, link: &str) -> bool {
        self.registered(kind).omitted_links.contains(&link)
    }

    /// Returns the links in records of a kind, except `self`, without prefix.
    #[must_use]
    pub fn record_links(&self, kind: Kind) -> Vec<&'static str> {
        let relations = self.inner.relations.kind(kind);
        relations
            .map(|relations| relations.links.iter().map(|link| link.name).collect())
            .unwrap_or_default()
    }

    /// Returns the links to operations of extensions that records of a kind have for a caller with the
    /// right, without prefix.
    #[must_use]
    pub fn operation_links(&self, kind: Kind) -> Vec<&'static str> {
        let links = self
            .extensions()
            .offered()
            .flat_map(Extension::record_links);
        let of_kind = links.filter(|link| link.kind == kind);
        of_kind.map(|link| link.relation).collect()
    }

    /// Returns the helpers that are offered.
    pub fn helpers(&self) -> impl Iterator<Item = HelperName> + '_ {
        self.inner.helpers.keys().copied()
    }

    /// Returns the action functions that helpers support.
    #[must_use]
    pub fn action_functions(&self) -> &[FunctionName] {
        &self.inner.functions
    }

    /// Returns the declared behaviours in the capability vocabulary, each once.
    #[must_use]
    pub fn behaviours(&self) -> Vec<&'static str> {
        let inner = &self.inner;
        let composed = |helper: &HelperName| {
            helper.accepts_person()
                && matches!(inner.helpers.get(helper), Some(HelperBackend::Composed))
        };
        let matches = self.registered(Kind::Person).backend.finds()
            && self.helpers().any(|helper| composed(&helper));
        // A native helper of a vendor gets the policy for anonymous callers, but may not follow it.
        let own_runner = |helper: &HelperName| {
            helper.accepts_person() && helper.allows_anonymous() && !composed(helper)
        };
        let is_ours =
            inner.settings.store.is_some() || !self.helpers().any(|helper| own_runner(&helper));
        let changes_nobody = inner.settings.anonymous.is_some()
            && inner.settings.strangers.merge() != MergePolicy::FillEmpty;
        let in_parts = inner.settings.atomicity == Atomicity::PerResource
            && self.helpers().any(HelperName::accepts_action_functions);
        let named = [
            // Validation is the same for every backend; the layout can differ.
            (true, "validates_enums"),
            (true, "validates_types"),
            (true, "rule.response_name"),
            (true, "strict_handling"),
            (
                inner.settings.layout.is_conventional(),
                "conventional_paths",
            ),
            (matches, Behaviour::MatchesPeople.as_str()),
            (changes_nobody && is_ours, "strangers_change_nobody"),
            (in_parts, "helper.non_atomic"),
        ];
        let own = named
            .into_iter()
            .filter_map(|(holds, name)| holds.then_some(name));
        let extensions = self.extensions().offered().flat_map(Extension::behaviours);
        let omitted = &self.registered(Kind::Donation).omitted_links;
        let has_link = ["attendance", "submission"]
            .iter()
            .any(|link| !omitted.contains(link));
        let links = inner.helpers.contains_key(&HelperName::RecordDonation) && has_link;
        let links = links.then_some("helper.record_donation.links");
        let one_action = inner.settings.one_action.iter();
        let one_action = one_action
            .filter(|(helper, _)| inner.helpers.contains_key(helper))
            .map(|(_, name)| *name);
        let declared = inner
            .settings
            .behaviours
            .iter()
            .map(|behaviour| behaviour.as_str());
        let mut behaviours: Vec<&'static str> = Vec::new();
        for name in own
            .chain(extensions)
            .chain(links)
            .chain(one_action)
            .chain(declared)
        {
            if !behaviours.contains(&name) {
                behaviours.push(name);
            }
        }
        behaviours
    }

    /// Returns whether anonymous callers may call record helpers.
    ///
    /// Requirements: AUT-06.
    #[must_use]
    pub fn allows_anonymous(&self) -> bool {
        self.inner.settings.anonymous.is_some()
    }

    /// Returns the response style.
    #[must_use]
    pub fn response_style(&self) -> ResponseStyle {
        self.inner.settings.style
    }

    /// Returns the name of the response style.
    #[must_use]
    pub fn response_style_name(&self) -> &'static str {
        match self.inner.settings.style {
            ResponseStyle::Table => "table",
            ResponseStyle::Examples => "examples",
        }
    }

    /// Returns the URL of the page of a requirement, such as `RES-person-16`, if the documentation
    /// links such pages.
    #[must_use]
    pub fn requirement_page(&self, row: &str) -> Option<String> {
        let pages = self.inner.settings.rule_pages.as_deref()?;
        Some(format!("{}/{row}.html", pages.trim_end_matches('/')))
    }

    /// Returns whether 401, 403 and the 404 of a read have an error object.
    ///
    /// Requirements: AUT-05, ERR-11.
    #[must_use]
    pub fn sends_error_bodies(&self) -> bool {
        self.inner.settings.error_bodies == ErrorBodies::Everywhere
    }
}
