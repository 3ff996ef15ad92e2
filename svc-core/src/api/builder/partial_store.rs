//! Registers a store that has only some kinds.

use std::sync::Arc;

use super::ApiBuilder;
use crate::{
    api::{Behaviour, operation_store::HelperBackend, registration::KindRegistration},
    auth::Operation,
    field_set::FieldBits,
    helper::{FunctionName, HelperName},
    model::Kind,
    schema::{ComputedSource, Constraints, FieldSpec, LinkTarget},
    store::Store,
};

/// A kind of a store, and the fields and links that the store has for it. See
/// [`ApiBuilder::partial_store`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KeptKind {
    /// The kind.
    pub kind: Kind,
    /// The names of the fields that are stored.
    pub fields: Vec<&'static str>,
    /// The names of the links to one record that are stored.
    pub links: Vec<&'static str>,
    /// The kinds of the containers that it is listed under, such as petitions for signatures.
    pub under: Vec<Kind>,
    /// The constraints: what is narrower than the specification.
    pub narrowing: Constraints,
    /// Whether a person has at most one record of this kind in a container.
    pub once_per_person: bool,
}

impl KeptKind {
    /// Creates an entry for a kind of which only ids and dates are stored.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            fields: Vec::new(),
            links: Vec::new(),
            under: Vec::new(),
            narrowing: Constraints::default(),
            once_per_person: false,
        }
    }
}

impl ApiBuilder {
    /// Offers everything that a store of some kinds supports.
    ///
    /// These are all operations of the kinds with the given fields and links. Helpers and action
    /// functions are offered if the store has the records that they write. `triggers` also needs a
    /// [delivery](Self::delivery).
    ///
    /// [`without_capability`](Self::without_capability) removes an operation, such as
    /// `.without_capability("attendances.create")`.
    #[must_use]
    pub fn partial_store(mut self, store: &Arc<dyn Store>, kept: &[KeptKind]) -> Self {
        self.settings.matching = store.person_matching();
        self.settings.store = Some(Arc::clone(store));
        let has = |kind: Kind| kept.iter().any(|it| it.kind == kind);
        for it in kept {
            let registered = registration(store, kept, it);
            self.narrowings.push((it.kind, it.narrowing.clone()));
            self.offer_kind(it.kind, registered);
        }
        let is_kept = |helper: &&HelperName| {
            **helper != HelperName::Schedule
                && has(helper.recorded_kind())
                && has(Kind::Person)
                && helper.container_kind().is_none_or(has)
        };
        for helper in HelperName::ALL.iter().filter(is_kept) {
            self.offer_helper(*helper, HelperBackend::Store(Arc::clone(store)));
        }
        let is_supported = |function: &FunctionName| {
            let member = function.reported_kind();
            match function {
                FunctionName::Triggers => true,
                _ => has(member) && member.schema().parent_kind().is_some_and(has),
            }
        };
        self.stock = Some(FunctionName::all().filter(is_supported).collect());
        if kept.iter().any(|it| it.once_per_person) {
            self.settings.behaviours.push(Behaviour::OneActionPerPerson);
        }
        if has(Kind::Person) {
            self.settings.behaviours.push(Behaviour::MatchesPeople);
        }
        let limits_places = kept
            .iter()
            .any(|it| it.kind == Kind::Event && it.fields.contains(&"capacity"));
        if limits_places && has(Kind::Attendance) {
            self.settings.behaviours.push(Behaviour::CapacityEnforced);
        }
        self
    }
}

/// Returns the registration of a kind, with only the fields and links that the store has.
fn registration(store: &Arc<dyn Store>, kept: &[KeptKind], it: &KeptKind) -> KindRegistration {
    let all = KindRegistration::of_store(store, it.kind);
    let schema = it.kind.schema();
    let has = |kind: Kind| kept.iter().any(|it| it.kind == kind);
    let places = |is_read: bool| {
        let fields = schema.fields.fields.iter().enumerate();
        let is_shown = move |field: &FieldSpec| {
            is_read && matches!(field.source(), Some(ComputedSource::Relation(_)))
        };
        FieldBits::at(
            fields
                .filter(|(_, field)| it.fields.contains(&field.name) || is_shown(field))
                .map(|(place, _)| place),
        )
    };
    let unlinked = schema.links.iter().filter(|link| {
        matches!(link.target, LinkTarget::One { .. }) && !it.links.contains(&link.name)
    });
    let has_container = schema.parent_kind().is_none_or(has);
    KindRegistration {
        scopes: all
            .scopes
            .iter()
            .copied()
            .filter(|of| has(*of) && it.under.contains(of))
            .collect(),
        withdrawn: if has_container {
            Vec::new()
        } else {
            vec![Operation::Create]
        },
        readable: Some(places(true)),
        writable: Some(places(false)),
        omitted_links: unlinked.map(|link| link.name).collect(),
        ..all
    }
}
