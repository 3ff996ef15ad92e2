//! Compares the fields of one kind in both servers, and what happens to their values.

use std::collections::{BTreeMap, BTreeSet};

use svc_declaration::DeclaredField;

use super::{ComparedServer, FieldPair, TransferResult};
use crate::cause::CauseKind;
use crate::kinds::CatalogueKind;

type DeclaredFields = BTreeMap<String, DeclaredField>;

/// Returns every field of a kind that either server has.
pub(super) fn of(kind: CatalogueKind, a: &ComparedServer, b: &ComparedServer) -> Vec<FieldPair> {
    let none = DeclaredFields::new();
    let own = |side: &ComparedServer| named(side.declared.fields(kind.one).unwrap_or(&none), side);
    let mut pairs = Vec::new();
    walk("", kind, (a, &own(a)), (b, &own(b)), &mut pairs);
    pairs
}

/// Returns the fields with the neutral names of the share objects, which a server may rename.
///
/// Requirements: HAL-11.
fn named(fields: &DeclaredFields, side: &ComparedServer) -> DeclaredFields {
    let neutral = |name: &String| {
        let known = ["network_a_share", "network_b_share"]
            .into_iter()
            .find(|known| side.declared.wire(known) == name);
        known.unwrap_or(name).to_owned()
    };
    fields
        .iter()
        .map(|(name, field)| (neutral(name), field.clone()))
        .collect()
}

fn walk(
    above: &str,
    kind: CatalogueKind,
    (a, in_a): (&ComparedServer, &DeclaredFields),
    (b, in_b): (&ComparedServer, &DeclaredFields),
    pairs: &mut Vec<FieldPair>,
) {
    let names: BTreeSet<&String> = in_a.keys().chain(in_b.keys()).collect();
    for name in names {
        let place = format!("{above}{name}");
        let (one, other) = (in_a.get(name), in_b.get(name));
        let inner =
            |field: Option<&DeclaredField>, side| Some(named(field?.fields.as_ref()?, side));
        if let (Some(inner_a), Some(inner_b)) = (inner(one, a), inner(other, b)) {
            let array = if one.is_some_and(|field| field.kind.ends_with("[]")) {
                "[]"
            } else {
                ""
            };
            walk(
                &format!("{place}{array}."),
                kind,
                (a, &inner_a),
                (b, &inner_b),
                pairs,
            );
            continue;
        }
        pairs.push(FieldPair {
            a: access(one),
            b: access(other),
            a_to_b: fate(&place, kind, (a, one), (b, other)),
            b_to_a: fate(&place, kind, (b, other), (a, one)),
            field: place,
        });
    }
}

const fn access(field: Option<&DeclaredField>) -> &'static str {
    match field {
        Some(field) if field.computed => "computed",
        Some(field) if field.required => "required",
        Some(field) if field.readable && field.writable => "read, write",
        Some(field) if field.readable => "read",
        Some(field) if field.writable => "write",
        _ => "-",
    }
}

/// Returns what happens to a value of one server in the other.
fn fate(
    place: &str,
    kind: CatalogueKind,
    (source, from): (&ComparedServer, Option<&DeclaredField>),
    (target, to): (&ComparedServer, Option<&DeclaredField>),
) -> TransferResult {
    let Some(from) =
        from.filter(|field| field.readable && !has(source, kind, place, &[CauseKind::Missing]))
    else {
        let needed = to.is_some_and(|field| field.required && field.default.is_none());
        return if needed {
            TransferResult::Blocks("required there, missing here".to_owned())
        } else {
            TransferResult::Nothing
        };
    };
    let Some(to) = to else {
        return TransferResult::Lost("no such field".to_owned());
    };
    if from.computed && to.computed {
        return TransferResult::Nothing;
    }
    if to.computed || !to.writable {
        return TransferResult::Lost("read-only there".to_owned());
    }
    if has(
        target,
        kind,
        place,
        &[CauseKind::NotStored, CauseKind::Altered],
    ) {
        return TransferResult::Lost("declared, not stored".to_owned());
    }
    let flexible = |kind: &str| kind.contains("flex");
    let is_text = |kind: &str| matches!(kind, "string" | "enum") || flexible(kind);
    if from.kind != to.kind && !(is_text(&from.kind) && is_text(&to.kind)) {
        return TransferResult::Lost(format!("{} here, {} there", from.kind, to.kind));
    }
    match &to.values {
        Some(taken) if to.kind == "enum" => {
            let lacks = |value: &&String| !taken.contains(value);
            let all = from.values.as_ref().filter(|_| from.kind == "enum");
            let Some(all) = all else {
                return TransferResult::Part(format!("only {}", taken.join(", ")));
            };
            let missing: Vec<&str> = all.iter().filter(lacks).map(String::as_str).collect();
            if missing.is_empty() {
                TransferResult::Whole
            } else {
                TransferResult::Part(format!("without {}", missing.join(", ")))
            }
        }
        _ => TransferResult::Whole,
    }
}

/// Whether a report found one of these flaws in a field.
fn has(side: &ComparedServer, kind: CatalogueKind, place: &str, flaws: &[CauseKind]) -> bool {
    let own = format!("{}.{place}", kind.one);
    let is_here = |subject: &str| {
        subject == own || place == subject || place.ends_with(&format!(".{subject}"))
    };
    side.causes.iter().any(|cause| {
        cause.flaw.is_some_and(|flaw| flaws.contains(&flaw))
            && cause.subjects.iter().any(|subject| is_here(subject))
    })
}
