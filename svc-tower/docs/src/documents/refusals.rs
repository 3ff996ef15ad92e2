//! What an operation can be refused with (ERR-24, Annex C): from the tables by which it is checked,
//! and, for the rules that are code, from the short lists below.

use http::Method;
use svc_core::{
    api::{Api, IfMatch, Offered},
    error::Code,
    helper::{FunctionName, HelperName},
    link::{Scope, Target},
    model::Kind,
    operation::{Input, Key, Output},
    schema::{LinkTarget, LinkWrite, ObjectSchema, OnDelete, Rule},
};

use super::own::Own;

/// The codes that are about this operation, each once; what can happen to any request is left out.
pub(super) fn of(api: &Api, offered: &Offered, target: &Target) -> Vec<Code> {
    let mut codes = Vec::new();
    let spec = offered.spec();
    if offered.key() != Key::NotNeeded {
        codes.extend([Code::KeyInvalid, Code::KeyNotAllowed]);
    }
    if has_id(target) {
        codes.push(Code::ResourceNotFound);
    }
    match spec.success(api.response_style()).output {
        Output::Collection => {
            codes.push(Code::PageInvalid);
            if let Target::Collection {
                kind,
                scope: Scope::All,
            } = target
                && !api.filterable(*kind).is_empty()
            {
                codes.push(Code::FilterInvalid);
            }
        }
        Output::Changes => {
            codes.extend([
                Code::CursorInvalid,
                Code::CursorExpired,
                Code::PageInvalid,
                Code::TooManyRequests,
            ]);
        }
        _ => {}
    }
    if spec.takes_body() {
        codes.extend([
            Code::JsonInvalid,
            Code::BodyTooLarge,
            Code::MediaTypeNotSupported,
        ]);
    }
    match (spec.input, target) {
        (Input::Create, Target::Collection { kind, .. }) => {
            codes.extend([Code::BodyMissing, Code::FieldInvalid]);
            of_fields(api, *kind, true, &mut codes);
            of_links(
                api,
                *kind,
                &[LinkWrite::Required, LinkWrite::Create, LinkWrite::Update],
                &mut codes,
            );
        }
        (Input::Update, Target::Record(at)) => {
            codes.extend([Code::BodyMissing, Code::FieldInvalid]);
            of_fields(api, at.kind, false, &mut codes);
            of_links(api, at.kind, &[LinkWrite::Update], &mut codes);
        }
        (
            Input::Call,
            Target::Helper {
                helper: HelperName::Schedule,
                ..
            },
        ) => {
            codes.extend([
                Code::FieldInvalid,
                Code::FieldRequired,
                Code::StartDateAfterEndDate,
            ]);
        }
        (Input::Call, Target::Helper { helper, .. }) => of_helper(api, *helper, &mut codes),
        (Input::NewWebhook, _) => codes.extend([
            Code::FieldRequired,
            Code::FieldInvalid,
            Code::PropertyUnknown,
        ]),
        (Input::Webhook, _) => codes.extend([Code::FieldInvalid, Code::PropertyUnknown]),
        (Input::Redelivery, _) => {
            codes.extend([Code::FieldInvalid, Code::CursorInvalid, Code::CursorExpired]);
        }
        _ => {}
    }
    if spec.method == Method::DELETE {
        match target {
            Target::Record(at) if is_held(at.kind) => codes.push(Code::HasDependents),
            Target::Helper {
                helper: HelperName::Schedule,
                ..
            } => codes.push(Code::MessageNotScheduled),
            _ => {}
        }
    }
    if matches!(target, Target::Record(_)) && spec.method != Method::GET {
        match api.conditional_requests() {
            Some(IfMatch::Required) => {
                codes.extend([Code::PreconditionFailed, Code::PreconditionRequired]);
            }
            Some(_) => codes.push(Code::PreconditionFailed),
            None => {}
        }
    }
    if spec.method == Method::POST && api.keeps_answers() {
        codes.extend([Code::IdempotencyKeyInvalid, Code::IdempotencyKeyReused]);
    }
    let mut once = Vec::new();
    codes.retain(|code| {
        !once.contains(code) && {
            once.push(*code);
            true
        }
    });
    codes
}

fn has_id(target: &Target) -> bool {
    match target {
        Target::Collection { scope, .. } => *scope != Scope::All,
        Target::Helper { container, .. } | Target::Batch { container, .. } => container.is_some(),
        Target::Record(_)
        | Target::Webhook(_)
        | Target::Redelivery(_)
        | Target::SecretRotation(_) => true,
        _ => false,
    }
}

/// Whether records of another kind keep one of this kind from being deleted.
fn is_held(kind: Kind) -> bool {
    let mut references = Kind::ALL
        .iter()
        .flat_map(|member| member.schema().references());
    references.any(|reference| reference.kind == kind && reference.on_delete == OnDelete::Restrict)
}

/// What the fields of a record can be refused with.
fn of_fields(api: &Api, kind: Kind, is_new: bool, codes: &mut Vec<Code>) {
    let taken: Vec<Own<'_>> = Own::taken(api, kind).collect();
    if is_new && taken.iter().any(|own| own.is_required()) {
        codes.push(Code::FieldRequired);
    }
    for own in &taken {
        of_rules(own.field.rules, codes);
        if let Some(object) = own.field.ty.object() {
            of_object(object, codes);
        }
    }
    codes.push(Code::IdentifierInUse);
    match kind {
        Kind::Attendance => codes.extend([
            Code::TicketLevelDoesNotExist,
            Code::TicketLimitExceeded,
            Code::TicketsNotAllowed,
            Code::CapacityExceeded,
            Code::EventCancelled,
        ]),
        Kind::Event => codes.push(Code::StartDateAfterEndDate),
        Kind::Question => codes.push(Code::ParagraphCannotHaveResponses),
        Kind::Answer => codes.extend([Code::ResponseKeyDoesNotExist, Code::TooManyResponses]),
        _ => {}
    }
}

/// What the links of a record can be refused with, of those that are sent when it is written so.
fn of_links(api: &Api, kind: Kind, sent: &[LinkWrite], codes: &mut Vec<Code>) {
    for link in kind.schema().links {
        let LinkTarget::One {
            kind: to, write, ..
        } = link.target
        else {
            continue;
        };
        if !sent.contains(&write) || api.is_unlinked(kind, link.name) {
            continue;
        }
        codes.extend((write == LinkWrite::Required).then_some(Code::FieldRequired));
        codes.push(if to == Kind::Person {
            Code::PersonNotFound
        } else {
            Code::LinkNotFound
        });
    }
}

fn of_object(object: &ObjectSchema, codes: &mut Vec<Code>) {
    for field in object.fields {
        of_rules(field.rules, codes);
        if let Some(inner) = field.ty.object() {
            of_object(inner, codes);
        }
    }
}

fn of_rules(rules: &[Rule], codes: &mut Vec<Code>) {
    codes.extend(rules.iter().filter_map(|rule| match rule {
        Rule::UniqueName => Some(Code::NameInUse),
        Rule::OnePrimary => Some(Code::MultiplePrimary),
        Rule::ResponseKey => Some(Code::ResponseKeyInvalid),
        Rule::ResponseName => Some(Code::ResponseNameInvalid),
        Rule::UniqueKeys => Some(Code::ResponseKeyNotUnique),
        _ => None,
    }));
}

/// What a call of a helper can be refused with: its record, its person, its functions.
fn of_helper(api: &Api, helper: HelperName, codes: &mut Vec<Code>) {
    codes.push(Code::FieldInvalid);
    of_fields(api, helper.records(), true, codes);
    if helper.takes_person() && helper.records() != Kind::Person {
        // The person is sent inline, what it is done to stands in the address.
        of_links(
            api,
            helper.records(),
            &[LinkWrite::Create, LinkWrite::Update],
            codes,
        );
        of_fields(api, Kind::Person, true, codes);
    }
    if helper.takes_functions() {
        codes.push(Code::PersonRequired);
        codes.extend(
            api.functions()
                .iter()
                .flat_map(|function| of_function(*function)),
        );
    }
}

/// What an action function can be refused with.
pub(super) fn of_function(function: FunctionName) -> &'static [Code] {
    match function {
        FunctionName::AddTags => &[Code::TagNameDoesNotExist],
        FunctionName::AddTagsUri => &[Code::TagUriDoesNotExist],
        FunctionName::AddLists => &[Code::ListNameDoesNotExist],
        FunctionName::AddListsUri => &[Code::ListUriDoesNotExist],
        FunctionName::AddQuestionsResponsesUri => &[
            Code::QuestionDoesNotExist,
            Code::ResponseKeyDoesNotExist,
            Code::TooManyResponses,
        ],
        FunctionName::Triggers => &[Code::NotSupported],
    }
}
