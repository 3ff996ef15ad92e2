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
    let own =
        |server| ComparedFields::new(server, server.declared.fields(kind.one).unwrap_or(&none));
    let mut pairs = Vec::new();
    walk("", kind, &own(a), &own(b), &mut pairs);
    pairs
}

/// Declared fields of a server, or of an object inside a field.
struct ComparedFields<'a> {
    server: &'a ComparedServer,
    fields: DeclaredFields,
}

impl<'a> ComparedFields<'a> {
    /// Gives the share objects, which a server may rename, their neutral names.
    ///
    /// Requirements: HAL-11.
    fn new(server: &'a ComparedServer, fields: &DeclaredFields) -> Self {
        let neutral = |name: &String| {
            let known = ["network_a_share", "network_b_share"]
                .into_iter()
                .find(|known| server.declared.wire(known) == name);
            known.unwrap_or(name).to_owned()
        };
        let fields = fields
            .iter()
            .map(|(name, field)| (neutral(name), field.clone()))
            .collect();
        Self { server, fields }
    }

    fn field(&self, name: &str) -> ComparedField<'_> {
        ComparedField {
            server: self.server,
            field: self.fields.get(name),
        }
    }
}

/// A field of a server, if the server has it.
#[derive(Clone, Copy)]
struct ComparedField<'a> {
    server: &'a ComparedServer,
    field: Option<&'a DeclaredField>,
}

impl<'a> ComparedField<'a> {
    /// Returns the fields of the object in this field.
    fn inner(self) -> Option<ComparedFields<'a>> {
        let fields = self.field?.fields.as_ref()?;
        Some(ComparedFields::new(self.server, fields))
    }
}

fn walk(
    above: &str,
    kind: CatalogueKind,
    a: &ComparedFields<'_>,
    b: &ComparedFields<'_>,
    pairs: &mut Vec<FieldPair>,
) {
    let names: BTreeSet<&String> = a.fields.keys().chain(b.fields.keys()).collect();
    for name in names {
        let place = format!("{above}{name}");
        let (one, other) = (a.field(name), b.field(name));
        if let (Some(inner_a), Some(inner_b)) = (one.inner(), other.inner()) {
            let array = if one.field.is_some_and(|field| field.kind.ends_with("[]")) {
                "[]"
            } else {
                ""
            };
            walk(&format!("{place}{array}."), kind, &inner_a, &inner_b, pairs);
            continue;
        }
        pairs.push(FieldPair {
            a: access(one.field),
            b: access(other.field),
            a_to_b: fate(&place, kind, one, other),
            b_to_a: fate(&place, kind, other, one),
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
    source: ComparedField<'_>,
    target: ComparedField<'_>,
) -> TransferResult {
    let is_sent = |field: &&DeclaredField| {
        field.readable && !has(source.server, kind, place, &[CauseKind::Missing])
    };
    let Some(from) = source.field.filter(is_sent) else {
        let needed = target
            .field
            .is_some_and(|field| field.required && field.default.is_none());
        return if needed {
            TransferResult::Blocks("required there, missing here".to_owned())
        } else {
            TransferResult::Nothing
        };
    };
    let Some(to) = target.field else {
        return TransferResult::Lost("no such field".to_owned());
    };
    if from.computed && to.computed {
        return TransferResult::Nothing;
    }
    if to.computed || !to.writable {
        return TransferResult::Lost("read-only there".to_owned());
    }
    if has(
        target.server,
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
