//! Converts random choices to steps. Each choice selects one of the records that the previous steps
//! created.

use proptest::prelude::{Strategy, any};
use serde_json::{Map, Value, json};

use super::{ModelAction, ModelStep};
use crate::check::CheckContext;
use crate::fixtures;
use crate::generate;
use crate::kinds::{CatalogueKind, KINDS};
use crate::seed::Seed;

/// The maximum number of fields in one body.
const MOST_FIELDS: usize = 4;

/// One random choice, and what it selects.
#[derive(Debug, Clone, Copy)]
pub(super) struct RandomOp {
    pub(super) sort: u8,
    pub(super) pick: u8,
    pub(super) other: u8,
    pub(super) value: u16,
}

/// A choice as it is generated: the four numbers of an [`RandomOp`].
pub(crate) type Choice = (u8, u8, u8, u16);

/// Returns a strategy for sequences of choices.
pub(crate) fn choices(most: usize) -> impl Strategy<Value = Vec<Choice>, Tree: Send> {
    proptest::collection::vec(
        (0_u8..20, any::<u8>(), any::<u8>(), any::<u16>()),
        2..most.max(3),
    )
}

/// A record during the conversion.
struct CreatedRecord {
    id: usize,
    kind: CatalogueKind,
    container: Option<usize>,
    person: Option<usize>,
    alive: bool,
}

/// Returns the steps of some choices for this server. A choice that is not possible is skipped.
pub(crate) fn resolve(cx: &CheckContext, choices: &[Choice]) -> Vec<ModelStep> {
    let declared = cx.declared();
    let tops: Vec<CatalogueKind> = KINDS
        .iter()
        .copied()
        .filter(|kind| kind.under.is_none() && declared.offers(kind.one, "create"))
        .collect();
    let below: Vec<CatalogueKind> = KINDS
        .iter()
        .copied()
        .filter(|kind| kind.under.is_some_and(|one| one != "person"))
        .collect();
    let mut made: Vec<CreatedRecord> = Vec::new();
    let mut steps = Vec::new();
    for (id, &(sort, first, other, value)) in choices.iter().enumerate() {
        let op = RandomOp {
            sort,
            pick: first,
            other,
            value,
        };
        let act = match op.sort {
            0..=3 => pick(&tops, op.pick).map(|kind| create(cx, *kind, op)),
            4..=9 => record(cx, &below, &made, op),
            10..=16 => update(cx, &made, op),
            _ => delete(cx, &made, op),
        };
        // The first steps need a record to work on.
        let act = act.or_else(|| pick(&tops, op.pick).map(|kind| create(cx, *kind, op)));
        let Some(act) = act else { continue };
        match &act {
            ModelAction::Create { kind, .. } => made.push(CreatedRecord {
                id,
                kind: *kind,
                container: None,
                person: None,
                alive: true,
            }),
            ModelAction::Record {
                kind,
                container,
                person,
                ..
            } => {
                made.push(CreatedRecord {
                    id,
                    kind: *kind,
                    container: Some(*container),
                    person: Some(*person),
                    alive: true,
                });
            }
            ModelAction::Delete { of } => {
                if let Some(gone) = made.iter_mut().find(|one| one.id == *of) {
                    gone.alive = false;
                }
            }
            ModelAction::Update { .. } => {}
        }
        steps.push(ModelStep { id, act });
    }
    steps
}

fn pick<T>(things: &[T], choice: u8) -> Option<&T> {
    things.get(usize::from(choice).checked_rem(things.len())?)
}

/// Returns one of the records. Newer records are selected twice as often, so that one record is
/// changed repeatedly.
fn recent<'m>(made: &[&'m CreatedRecord], choice: u8) -> Option<&'m CreatedRecord> {
    let last = made.last().copied();
    if choice.is_multiple_of(2) {
        last
    } else {
        pick(made, choice / 2).copied()
    }
}

fn create(cx: &CheckContext, kind: CatalogueKind, op: RandomOp) -> ModelAction {
    ModelAction::Create {
        kind,
        body: fields(cx, kind, op, MOST_FIELDS),
    }
}

/// Records an action of an existing person in an existing container of its kind.
fn record(
    cx: &CheckContext,
    below: &[CatalogueKind],
    made: &[CreatedRecord],
    op: RandomOp,
) -> Option<ModelAction> {
    let declared = cx.declared();
    let people: Vec<&CreatedRecord> = made
        .iter()
        .filter(|one| one.alive && one.kind.one == "person")
        .collect();
    let possible: Vec<(CatalogueKind, usize)> = made
        .iter()
        .filter(|one| one.alive)
        .flat_map(|one| {
            below
                .iter()
                .filter(|kind| kind.under == Some(one.kind.one))
                .map(|kind| (*kind, one.id))
        })
        .collect();
    let (kind, container) = *pick(&possible, op.pick)?;
    let person = recent(&people, op.other)?.id;
    let is_same = |one: &&CreatedRecord| {
        one.kind == kind && one.container == Some(container) && one.person == Some(person)
    };
    let repeats =
        declared.has_one_per_person(kind) && made.iter().filter(is_same).any(|one| one.alive);
    let helper =
        kind.helper.is_some_and(|helper| declared.helps(helper)) && declared.matches_persons();
    let rest = declared.offers(kind.one, "create");
    if repeats || (!rest && !helper) {
        return None;
    }
    let helper = helper && (!rest || op.value.is_multiple_of(3));
    Some(ModelAction::Record {
        kind,
        container,
        person,
        body: fields(cx, kind, op, 2),
        helper,
    })
}

fn update(cx: &CheckContext, made: &[CreatedRecord], op: RandomOp) -> Option<ModelAction> {
    let living: Vec<&CreatedRecord> = made
        .iter()
        .filter(|one| one.alive && cx.declared().offers(one.kind.one, "update"))
        .collect();
    let one = recent(&living, op.pick)?;
    let mut body = fields(cx, one.kind, op, 2);
    // The fields of these kinds refer to other records.
    if let Some(members) = body.as_object_mut() {
        members.retain(|name, _| !(one.kind.one == "attendance" && name == "status"));
        if op.other.is_multiple_of(5) {
            *members = emptied(cx, one.kind, std::mem::take(members));
        }
    }
    let unfit = body.as_object().is_none_or(Map::is_empty);
    (!unfit).then_some(ModelAction::Update { of: one.id, body })
}

/// Returns an update that clears what another one sets, except for fields that must not be empty.
pub(super) fn emptied(
    cx: &CheckContext,
    kind: CatalogueKind,
    body: Map<String, Value>,
) -> Map<String, Value> {
    let firm = |name: &str| {
        cx.declared()
            .field(kind.one, name)
            .is_some_and(|field| field.required)
    };
    body.into_iter()
        .filter(|(name, _)| !firm(name))
        .map(|(name, _)| (name, Value::Null))
        .collect()
}

/// Deletes a record on which no existing record depends.
fn delete(cx: &CheckContext, made: &[CreatedRecord], op: RandomOp) -> Option<ModelAction> {
    let hangs = |id: usize| {
        made.iter()
            .any(|one| one.alive && (one.container == Some(id) || one.person == Some(id)))
    };
    let leaves: Vec<&CreatedRecord> = made
        .iter()
        .filter(|one| one.alive && cx.declared().offers(one.kind.one, "delete") && !hangs(one.id))
        .collect();
    recent(&leaves, op.pick).map(|one| ModelAction::Delete { of: one.id })
}

/// Returns some fields of a kind that depend on no other field.
pub(super) fn fields(cx: &CheckContext, kind: CatalogueKind, op: RandomOp, most: usize) -> Value {
    let seed = Seed::new(u64::from(op.value)).of(kind.one);
    let declared = cx.declared();
    let own = declared.fields(kind.one).into_iter().flatten();
    let free: Vec<&str> = own
        .filter(|(_, field)| field.writable && !field.computed && field.readable)
        .map(|(name, _)| name.as_str())
        .filter(|name| !DEPENDENT.contains(&(kind.one, *name)) && *name != "action_date")
        .collect();
    let mut rng = seed.rng();
    let count = rng.below(most).saturating_add(1);
    let mut names: Vec<&str> = Vec::new();
    for _ in 0..count {
        names.extend(
            rng.pick(&free)
                .filter(|name| !names.contains(name))
                .copied(),
        );
    }
    let strategy = generate::part(declared, kind.one, &names, &cx.run.word(seed));
    let body = strategy.and_then(|strategy| generate::sample(&strategy, seed));
    let mut members = body
        .and_then(|body| body.as_object().cloned())
        .unwrap_or_default();
    members.retain(|name, value| {
        !FINAL
            .iter()
            .any(|(one, field, last)| (*one, *field) == (kind.one, name) && value == last)
    });
    Value::Object(members)
}

/// Whether a server may reject the next operation after this value, because the specification
/// leaves it open.
///
/// Requirements: UND-11.
const FINAL: &[(&str, &str, &str)] = &[("event", "status", "cancelled")];

/// Fields that depend on others because of a rule.
const DEPENDENT: &[(&str, &str)] = &[
    ("person", "gender"),
    ("person", "gender_identity"),
    ("person", "email_addresses"),
    ("question", "question_type"),
    ("question", "responses"),
    ("event", "type"),
    ("event", "ticket_levels"),
    ("event", "capacity"),
    ("event", "start_date"),
    ("event", "end_date"),
    ("attendance", "tickets"),
    ("attendance", "attended"),
    ("attendance", "status"),
    ("donation", "voided"),
    ("donation", "voided_date"),
    ("donation", "amount"),
    ("donation", "credited_amount"),
    ("donation", "recipients"),
    ("donation", "currency"),
    ("fundraising_page", "currency"),
    ("answer", "responses"),
    ("answer", "value"),
    ("tag", "name"),
    ("list", "name"),
];

/// Returns the body that a create sends: what the kind requires, the marker, and the fields of the
/// step.
pub(super) fn sent(cx: &CheckContext, kind: CatalogueKind, fields: &Value) -> Value {
    let mut body = fixtures::full(cx, kind.one, fields);
    if kind.one == "attendance" {
        body = generate::with(&body, &json!({"status": "accepted"}));
    }
    if kind.one == "donation" {
        body = generate::with(&body, &json!({"amount": 12.5, "currency": "EUR"}));
    }
    let currency = cx
        .declared()
        .field(kind.one, "currency")
        .is_some_and(|field| field.writable);
    if kind.one == "fundraising_page" && currency {
        body = generate::with(&body, &json!({"currency": "EUR"}));
    }
    if kind.one == "answer" {
        body = generate::with(&body, &json!({"responses": ["a1"]}));
    }
    cx.marked(&body)
}
