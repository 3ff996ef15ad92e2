//! Offers what a store that does not keep every kind has.

use std::sync::Arc;

use super::ApiBuilder;
use crate::{
    api::{
        Behaviour,
        registry::{KindRegistration, helper_of},
    },
    field_set::FieldBits,
    helper::{FunctionName, HelperName},
    model::Kind,
    schema::{ComputedSource, Constraints, FieldSpec, LinkTarget},
    store::Store,
};

/// A kind that a store keeps, and what it keeps of it: see [`ApiBuilder::partial_store`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KeptKind {
    /// The kind.
    pub kind: Kind,
    /// The names of the fields that are stored.
    pub fields: Vec<&'static str>,
    /// The names of the links to one record that are stored.
    pub links: Vec<&'static str>,
    /// The kinds under whose records it is listed, such as petitions for signatures.
    pub under: Vec<Kind>,
    /// What is narrower than the specification.
    pub narrowing: Constraints,
    /// Whether a person has at most one record of this kind in a container.
    pub once_per_person: bool,
}

impl KeptKind {
    /// A kind of which nothing but ids and dates is kept.
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
    /// Registers everything that a store of some kinds has: all operations of these kinds with the
    /// fields and links that it keeps, and the helpers and action functions whose records it
    /// keeps. Triggers are among them where somebody [delivers](Self::delivery).
    ///
    /// [`without_capability`](Self::without_capability) removes an operation, such as
    /// `.without_capability("attendances.create")`.
    #[must_use]
    pub fn partial_store(mut self, store: &Arc<dyn Store>, kept: &[KeptKind]) -> Self {
        self.settings.matching = store.matching();
        self.settings.store = Some(Arc::clone(store));
        let has = |kind: Kind| kept.iter().any(|it| it.kind == kind);
        for it in kept {
            let registered = registration(store, kept, it);
            self.narrowings.push((it.kind, it.narrowing.clone()));
            self.offer_kind(it.kind, registered);
        }
        let is_kept = |helper: &&HelperName| {
            **helper != HelperName::Schedule
                && has(helper.records())
                && has(Kind::Person)
                && helper.container().is_none_or(has)
        };
        for helper in HelperName::ALL.iter().filter(is_kept) {
            self.offer_helper(*helper, helper_of(store, *helper));
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

/// What is offered of a kind: its fields and links that are kept.
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
        under: all
            .under
            .iter()
            .copied()
            .filter(|of| has(*of) && it.under.contains(of))
            .collect(),
        create: all.create.clone().filter(|_| has_container),
        readable: Some(places(true)),
        writable: Some(places(false)),
        unlinked: unlinked.map(|link| link.name).collect(),
        ..all
    }
}
