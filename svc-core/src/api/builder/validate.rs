//! Detects contradictions in what was registered.
//!
//! Requirements: CAP-04.

use std::{collections::BTreeMap, sync::Arc};

use super::{ApiBuilder, HelperBackend, composed::missing_operations, constraints};
use crate::{
    api::{
        ApiLimits, KindRegistration, extensions::merge::FeedOfMerges, registration::KindBackend,
    },
    auth::Operation,
    filter::FilterField,
    helper::{Atomicity, HelperName},
    link::{RecordAddress, Target, layout_tests},
    model::Kind,
    schema::FieldMode,
    store::Store,
    value::Identifier,
};

/// The members of the entry point apart from the version field.
///
/// Requirements: ENT-02 to ENT-07.
const ENTRY_POINT_FIELDS: &[&str] = &[
    "motd",
    "max_pagesize",
    "vendor_name",
    "product_name",
    "namespace",
    "_links",
];

impl ApiBuilder {
    /// Returns every contradiction in what was registered.
    pub(super) fn contradictions(&self) -> Vec<String> {
        let mut problems = self.wrong.clone();
        if self.base.is_none() {
            problems
                .push("no base URL is set: call `.base_url(\"https://.../api/v1/\")`".to_owned());
        }
        if self.settings.authenticator.is_none() {
            problems.push("no authenticator is set: call `.authenticator(...)`".to_owned());
        }
        if !Identifier::is_system_name(&self.settings.vendor.namespace) {
            problems.push(format!(
                "the namespace `{}` is not valid: use only the characters `A-Za-z0-9_.-`",
                self.settings.vendor.namespace
            ));
        }
        let (prefix, extension) = (self.dialect.prefix(), self.dialect.extension_prefix());
        if extension == prefix {
            problems.push(format!(
                "the dialect's prefix `{prefix}` is also its extension prefix: choose another one with `Dialect::with_extension_prefix`"
            ));
        }
        if let Some(own) = &self.own {
            problems.extend(own.problems(&self.settings.vendor.namespace, [prefix, extension]));
        }
        let extensions = &self.settings.extensions;
        problems.extend(extensions.offered().flat_map(|it| it.problems(extensions)));
        let ApiLimits {
            default_page_size: page,
            max_page_size: max_page,
            ..
        } = self.settings.sizes;
        if page == 0 || page > max_page {
            problems.push(if page == 0 {
                "`page` is 0: use at least 1 record per page".to_owned()
            } else {
                format!("`page` ({page}) exceeds `max_page` ({max_page}): lower `page` or raise `max_page`")
            });
        }
        let offered = |target: &Target| match target {
            _ if !extensions.admit_target(target) => false,
            Target::Collection { kind, .. }
            | Target::Record(RecordAddress { kind, .. })
            | Target::Merge(RecordAddress { kind, .. })
            | Target::MergeBatch(RecordAddress { kind, .. }) => self.kinds.contains_key(kind),
            Target::Helper { helper, .. } | Target::Batch { helper, .. } => {
                self.helpers.contains_key(helper)
            }
            _ => true,
        };
        problems.extend(
            layout_tests::targets()
                .iter()
                .filter(|it| offered(it))
                .find_map(|it| {
                    // Report only the first one: a broken layout fails for many targets.
                    layout_tests::broken(self.settings.layout.as_ref(), it)
                }),
        );
        let version = self.dialect.version_field();
        if version.is_empty() || ENTRY_POINT_FIELDS.contains(&version) {
            problems.push(format!("the version field cannot be named `{version}`: choose a name that is not empty and not already a member of the entry point"));
        }
        problems.extend(self.missing_delivery());
        problems.extend(self.unlimited_triggers());
        for (kind, registered) in &self.kinds {
            kind_contradictions(*kind, registered, &self.kinds, &mut problems);
            constraints::contradictions(*kind, registered, &mut problems);
        }
        for (helper, backend) in &self.helpers {
            if matches!(backend, HelperBackend::Composed) {
                let missing = missing_operations(*helper, &self.kinds);
                if !missing.is_empty() {
                    problems.push(format!(
                        "the helper `{}` cannot be composed without {}: register these operations, or run it with `.helper::<...>(...)`",
                        helper.as_str(),
                        missing.join(", ")
                    ));
                }
                if self.settings.atomicity == Atomicity::WholeCall
                    && self.settings.transactions.is_none()
                {
                    problems.push(format!(
                        "the composed helper `{}` is not atomic without transactions: call `.transactions(...)`, or run it with `.helper::<...>(...)`",
                        helper.as_str()
                    ));
                }
            }
        }
        problems.extend(self.unsupported_one_action());
        problems.extend(self.unsupported_merges());
        problems.extend(self.unsupported_undo());
        problems.extend(self.unsupported_duplicates());
        problems
    }

    /// Returns the problem of merges without one store that has every kind and merges people, and without
    /// operations that read and merge people, or of an operation that is not offered.
    ///
    /// Requirements: MRG-01.
    fn unsupported_merges(&self) -> Option<String> {
        let settings = &self.settings;
        if settings.extensions.merges.is_none() {
            let people = self.kinds.get(&Kind::Person).map(|it| &it.backend);
            return match people {
                Some(KindBackend::Operations(people)) if people.merge.is_some() => Some(
                    "`.merge()` has no effect without merges of people: call `.merge_people()`, or remove `.merge()`".to_owned(),
                ),
                _ => None,
            };
        }
        let mut reasons = Vec::new();
        let is_supported = match self.kinds.get(&Kind::Person).map(|it| &it.backend) {
            Some(KindBackend::Store(store)) => {
                reasons = store.merge_problems();
                let is_it = |other: &KindRegistration| {
                    let other = other.backend.store();
                    other.is_some_and(|other| Arc::ptr_eq(other, store))
                };
                let has_all = self.kinds.values().all(is_it);
                has_all && store.merges_people() && settings.transactions.is_none()
            }
            Some(KindBackend::Operations(people)) => people.merge.is_some() && people.get.is_some(),
            None => false,
        };
        if is_supported {
            None
        } else if reasons.is_empty() {
            Some(
                "people cannot be merged: register a store of every kind that merges people, or `.get()` and `.merge()` for `Person`, or remove `.merge_people()`".to_owned(),
            )
        } else {
            Some(format!(
                "people cannot be merged: {}; or remove `.merge_people()`",
                reasons.join("; ")
            ))
        }
    }

    /// Determines what the backend can do with merges besides the merges themselves.
    ///
    /// Requirements: MRG-09, MRG-19.
    pub(super) fn resolve_merges(&mut self) {
        let people = self.kinds.get(&Kind::Person).map(|it| &it.backend);
        let is_store = people.is_some_and(|people| people.store().is_some());
        let forwards = people.is_some_and(KindBackend::forwards_merged_people);
        let has_transactions = self.settings.transactions.is_some();
        if let Some(merges) = &mut self.settings.extensions.merges {
            merges.forwards = forwards;
            merges.previews = is_store || has_transactions;
        }
    }

    /// Determines whether batches can be previewed: only a store can decide about a helper request without executing
    /// it.
    ///
    /// Requirements: BAT-13.
    pub(super) fn resolve_batches(&mut self) {
        let mut helpers = self.helpers.values();
        let are_stores = helpers.all(|helper| matches!(helper, HelperBackend::Store(_)));
        if let Some(batches) = &mut self.settings.extensions.batches {
            batches.previews = are_stores && !self.helpers.is_empty();
        }
    }

    /// Adds the remaining people to a change feed of a vendor whose operations merge people.
    ///
    /// Requirements: MRG-12.
    pub(super) fn add_remaining_people(&mut self, store: &Arc<dyn Store>) {
        let people = self.kinds.get(&Kind::Person).map(|it| &it.backend);
        let has_operations = people.is_some_and(|people| people.store().is_none());
        let extensions = &mut self.settings.extensions;
        let forwards = extensions.merges.as_ref().is_some_and(|it| it.forwards);
        let feed = &mut extensions.changes.backend;
        if let Some(vendor) = feed.take_if(|_| forwards && has_operations) {
            *feed = Some(Arc::new(FeedOfMerges {
                feed: vendor,
                store: Arc::clone(store),
                namespace: self.settings.vendor.namespace.as_str().into(),
            }));
        }
    }

    /// Determines whether the store undoes merges.
    ///
    /// Requirements: MRG-20.
    pub(super) fn resolve_undo(&mut self) {
        let settings = &mut self.settings;
        let store = settings.store.as_ref();
        let undoes_merges = store.is_some_and(|store| store.undoes_merges());
        let extensions = &mut settings.extensions;
        let is_supported = extensions.merges.is_some() && undoes_merges;
        extensions.undo_merges.set_supported(is_supported);
    }

    /// Returns the problem of a period for the undo of merges that has no effect.
    ///
    /// Requirements: MRG-20.
    fn unsupported_undo(&self) -> Option<String> {
        let extensions = &self.settings.extensions;
        let merges_people = extensions.merges.is_some();
        let problem = extensions.undo_merges.contradiction(merges_people);
        problem.map(str::to_owned)
    }

    /// Returns the problem of pairs of people without a store that finds them.
    ///
    /// Requirements: DUP-01.
    fn unsupported_duplicates(&self) -> Option<String> {
        self.settings.extensions.duplicates.as_ref()?;
        let people = self.kinds.get(&Kind::Person);
        let store = people.and_then(|registered| registered.backend.store());
        (!store.is_some_and(|store| store.finds_duplicates())).then(|| {
            "duplicates cannot be found: register a store of people that finds them, or remove `.duplicates()`".to_owned()
        })
    }

    /// Returns a problem for each helper whose store cannot look up the action of a person.
    fn unsupported_one_action(&self) -> impl Iterator<Item = String> {
        let is_limited = |helper: &HelperName| {
            let kind = helper.recorded_kind();
            let registered = self.kinds.get(&kind);
            let person = Kind::Person.singular();
            let has_person = registered.is_some_and(|it| !it.omitted_links.contains(&person));
            has_person && matches!(self.helpers.get(helper), Some(HelperBackend::Store(_)))
        };
        let is_removed = |helper: &HelperName| {
            self.without
                .contains(&format!("helper.{}", helper.as_str()))
        };
        let helpers = self.settings.one_action.iter().map(|(helper, _)| *helper);
        helpers
            .filter(move |helper| !is_removed(helper) && !is_limited(helper))
            .map(|helper| {
                format!(
                    "the helper `{}` cannot have one action for each person: register a store that executes it and has the `person` of its records, or remove `.one_action_per_person::<...>()`",
                    helper.as_str()
                )
            })
    }
}

fn kind_contradictions(
    kind: Kind,
    registered: &KindRegistration,
    all: &BTreeMap<Kind, KindRegistration>,
    problems: &mut Vec<String>,
) {
    let schema = kind.schema();
    if registered.has_full_collection && schema.path_parent.is_some() {
        problems.push(format!(
            "{} have no collection of their own: replace `.list()` with `.list_under::<...>()`",
            schema.plural
        ));
    }
    if !registered.filterable.is_empty() && !registered.has_full_collection {
        problems.push(format!(
            "{} can be filtered but not listed: register `.list()`",
            schema.plural
        ));
    }
    for field in &registered.filterable {
        if !FilterField::of(kind).any(|it| it == *field) {
            let possible: Vec<&str> = FilterField::of(kind).map(FilterField::as_str).collect();
            problems.push(format!(
                "{} cannot be filtered by `{}`: use one of {}",
                schema.plural,
                field.as_str(),
                possible.join(", ")
            ));
        }
    }
    for parent in &registered.scopes {
        if !all
            .get(parent)
            .is_some_and(|registered| registered.offers(*parent, Operation::Read))
        {
            let parent = parent.plural();
            problems.push(format!(
                "{} are listed under {parent}, but {parent} cannot be read: register `.get()` for {parent}",
                schema.plural
            ));
        }
    }
    if let Some(parent) = schema
        .parent_kind()
        .filter(|_| registered.offers(kind, Operation::Create))
        && !all
            .get(&parent)
            .is_some_and(|registered| registered.offers(parent, Operation::Read))
    {
        let parent = parent.plural();
        problems.push(format!(
            "{} are created under {parent}, but {parent} cannot be read: register `.get()` for {parent}",
            schema.plural
        ));
    }
    for (place, field) in schema.fields.fields.iter().enumerate() {
        let taken = registered
            .writable
            .is_none_or(|writable| writable.contains(place));
        if registered.backend.has(kind, Operation::Create)
            && field.mode == FieldMode::Required
            && !taken
        {
            problems.push(format!(
                "{} cannot be created: `{}` is required but not writable; add it to `.writable_fields(...)`",
                schema.plural, field.name
            ));
        }
    }
}
