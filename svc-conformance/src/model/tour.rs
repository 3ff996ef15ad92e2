//! Fixed sequences: for each relation of the specification a tour through its operations. In it,
//! each operation follows each other one, on the container, on the person and on their common
//! record.

use serde_json::{Map, Value};

use super::resolve::{RandomOp, emptied, fields};
use super::{ModelAction, ModelStep};
use crate::check::CheckContext;
use crate::kinds::{CatalogueKind, KINDS, kind};
use crate::seed::Rng;

/// The number of bodies that are tried for an update before it is skipped.
const MOST_BODIES: usize = 12;

/// Returns a tour for each kind that belongs to a container and a person, if the server supports
/// the operations.
pub(crate) fn tours(cx: &CheckContext) -> Vec<Vec<ModelStep>> {
    KINDS.iter().filter_map(|kind| tour(cx, *kind)).collect()
}

fn tour(cx: &CheckContext, member: CatalogueKind) -> Option<Vec<ModelStep>> {
    let declared = cx.declared();
    let (container, person) = (
        kind(member.under.filter(|one| *one != "person")?)?,
        kind("person")?,
    );
    if container.under.is_some()
        || ![container, person]
            .iter()
            .all(|kind| declared.offers(kind.one, "create"))
    {
        return None;
    }
    let rest = declared.offers(member.one, "create");
    let helps =
        member.helper.is_some_and(|helper| declared.helps(helper)) && declared.matches_persons();
    if !rest && !helps {
        return None;
    }
    let mut tour = TourBuilder {
        cx,
        rng: cx.rng(&format!("tour of {}", member.one)),
        steps: Vec::new(),
        helper: !rest,
    };
    let (who, under) = (tour.create(person), tour.create(container));
    let other = if declared.has_one_per_person(member) {
        tour.create(person)
    } else {
        who
    };
    // What needs the fewest records is first, so that a case is as small as possible.
    for (kind, of) in [(person, who), (container, under)] {
        tour.update(kind, of);
        tour.empty(kind, of);
    }
    let first = tour.record(member, under, who);
    tour.update(person, who);
    tour.update(container, under);
    // The other way to record it, if there are two.
    tour.helper = helps;
    let second = tour.record(member, under, other);
    tour.helper = !rest;
    tour.update(member, first);
    tour.empty(member, first);
    tour.update(member, second);
    tour.delete(member, first);
    tour.update(container, under);
    tour.update(person, who);
    tour.update(member, second);
    tour.delete(member, second);
    tour.update(container, under);
    if declared.offers(member.one, "delete") {
        let third = tour.record(member, under, who);
        tour.update(person, who);
        tour.update(container, under);
        tour.delete(member, third);
        tour.delete(container, under);
        tour.update(person, who);
    }
    Some(tour.steps)
}

struct TourBuilder<'c> {
    cx: &'c CheckContext,
    rng: Rng,
    steps: Vec<ModelStep>,
    /// Whether records can be created only by helpers.
    helper: bool,
}

impl TourBuilder<'_> {
    fn then(&mut self, act: ModelAction) -> usize {
        let id = self.steps.len();
        self.steps.push(ModelStep { id, act });
        id
    }

    fn body(&mut self, kind: CatalogueKind, most: usize) -> Value {
        let value = u16::try_from(self.rng.below(usize::from(u16::MAX))).unwrap_or_default();
        fields(
            self.cx,
            kind,
            RandomOp {
                sort: 0,
                pick: 0,
                other: 0,
                value,
            },
            most,
        )
    }

    fn create(&mut self, kind: CatalogueKind) -> usize {
        let body = self.body(kind, 4);
        self.then(ModelAction::Create { kind, body })
    }

    fn record(&mut self, kind: CatalogueKind, container: usize, person: usize) -> usize {
        let (body, helper) = (self.body(kind, 2), self.helper);
        self.then(ModelAction::Record {
            kind,
            container,
            person,
            body,
            helper,
        })
    }

    fn update(&mut self, kind: CatalogueKind, of: usize) {
        if let Some(body) = self.change(kind) {
            self.then(ModelAction::Update {
                of,
                body: Value::Object(body),
            });
        }
    }

    /// Adds an update that clears fields.
    fn empty(&mut self, kind: CatalogueKind, of: usize) {
        if let Some(body) = self.change(kind) {
            let body = emptied(self.cx, kind, body);
            if !body.is_empty() {
                self.then(ModelAction::Update {
                    of,
                    body: Value::Object(body),
                });
            }
        }
    }

    /// Returns some fields to change, if the kind can be updated and has such fields.
    fn change(&mut self, kind: CatalogueKind) -> Option<Map<String, Value>> {
        if !self.cx.declared().offers(kind.one, "update") {
            return None;
        }
        let mut bodies = (0..MOST_BODIES).filter_map(|_| self.body(kind, 2).as_object().cloned());
        bodies.find(|members| !members.is_empty())
    }

    fn delete(&mut self, kind: CatalogueKind, of: usize) {
        if self.cx.declared().offers(kind.one, "delete") {
            self.then(ModelAction::Delete { of });
        }
    }
}
