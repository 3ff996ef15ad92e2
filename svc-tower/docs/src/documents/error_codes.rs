//! The error codes that an operation can return. They follow from the tables that the server checks
//! and, for rules in code, from the short lists below.
//!
//! Requirements: ERR-24.

use http::Method;
use svc_core::{
    api::{Api, IfMatchPolicy, OfferedOperation},
    error::ErrorCode,
    helper::{FunctionName, HelperName},
    link::{Scope, Target},
    model::Kind,
    operation::{KeyRequirement, RequestBodyKind, ResponseBodyKind},
    schema::{FieldRule, LinkTarget, LinkUpdate, LinkWrite, ObjectSchema, OnDelete},
};

use super::effective_field::EffectiveField;

/// Returns the error codes that are specific to this operation, each once. Codes that any request
/// can get are left out.
pub(super) fn of(api: &Api, offered: &OfferedOperation, target: &Target) -> Vec<ErrorCode> {
    let mut codes = Vec::new();
    let spec = offered.spec();
    if offered.key_requirement() != KeyRequirement::None {
        codes.extend([ErrorCode::KeyInvalid, ErrorCode::KeyNotAllowed]);
    }
    if has_id(target) {
        codes.push(ErrorCode::ResourceNotFound);
    }
    match spec.default_success(api.response_style()).body {
        ResponseBodyKind::Collection => {
            codes.extend([ErrorCode::PageInvalid, ErrorCode::ParameterUnknown]);
            if let Target::Collection {
                kind,
                scope: Scope::All,
            } = target
                && !api.filter_fields(*kind).is_empty()
            {
                codes.push(ErrorCode::FilterInvalid);
            }
        }
        ResponseBodyKind::Duplicates => {
            codes.extend([ErrorCode::CursorInvalid, ErrorCode::PageInvalid]);
        }
        ResponseBodyKind::Changes => {
            codes.extend([
                ErrorCode::CursorInvalid,
                ErrorCode::CursorExpired,
                ErrorCode::PageInvalid,
                ErrorCode::TooManyRequests,
            ]);
        }
        _ => {}
    }
    if spec.accepts_body() {
        codes.extend([
            ErrorCode::JsonInvalid,
            ErrorCode::BodyTooLarge,
            ErrorCode::MediaTypeNotSupported,
        ]);
    }
    match (spec.input, target) {
        (RequestBodyKind::Create, Target::Collection { kind, .. }) => {
            codes.extend([ErrorCode::BodyMissing, ErrorCode::FieldInvalid]);
            of_fields(api, *kind, true, &mut codes);
            of_links(api, *kind, |write, _| write != LinkWrite::Never, &mut codes);
        }
        (RequestBodyKind::Update, Target::Record(at)) => {
            codes.extend([ErrorCode::BodyMissing, ErrorCode::FieldInvalid]);
            of_fields(api, at.kind, false, &mut codes);
            of_links(api, at.kind, |_, update| update.accepts(true), &mut codes);
            if matches!(at.kind, Kind::Event | Kind::Question) {
                codes.push(ErrorCode::HasDependents);
            }
        }
        (
            RequestBodyKind::Call,
            Target::Helper {
                helper: HelperName::Schedule,
                ..
            },
        ) => {
            codes.extend([
                ErrorCode::FieldInvalid,
                ErrorCode::FieldRequired,
                ErrorCode::StartDateAfterEndDate,
            ]);
        }
        (RequestBodyKind::Call, Target::Helper { helper, .. }) => {
            of_helper(api, *helper, &mut codes);
        }
        (RequestBodyKind::Merge, _) => {
            codes.extend([
                ErrorCode::BodyMissing,
                ErrorCode::PersonNotFound,
                ErrorCode::FieldInvalid,
                ErrorCode::MergeSamePerson,
                ErrorCode::MergeConflict,
                ErrorCode::MergeTooLarge,
            ]);
            of_fields(api, Kind::Person, false, &mut codes);
        }
        (RequestBodyKind::UndoMerge, _) => codes.push(ErrorCode::MergeNotUndoable),
        (RequestBodyKind::NewWebhook, _) => codes.extend([
            ErrorCode::FieldRequired,
            ErrorCode::FieldInvalid,
            ErrorCode::PropertyUnknown,
        ]),
        (RequestBodyKind::Webhook, _) => {
            codes.extend([ErrorCode::FieldInvalid, ErrorCode::PropertyUnknown]);
        }
        (RequestBodyKind::DuplicatePair, _) => codes.extend([
            ErrorCode::BodyMissing,
            ErrorCode::FieldRequired,
            ErrorCode::FieldInvalid,
            ErrorCode::PropertyUnknown,
        ]),
        (RequestBodyKind::Redelivery, _) => {
            codes.extend([
                ErrorCode::FieldInvalid,
                ErrorCode::CursorInvalid,
                ErrorCode::CursorExpired,
            ]);
        }
        _ => {}
    }
    if spec.method == Method::DELETE {
        match target {
            Target::Record(at) if can_have_dependents(at.kind) => {
                codes.push(ErrorCode::HasDependents);
            }
            Target::Helper {
                helper: HelperName::Schedule,
                ..
            } => codes.push(ErrorCode::MessageNotScheduled),
            _ => {}
        }
    }
    let is_of_record = matches!(
        target,
        Target::Record(_) | Target::Merge(_) | Target::MergeBatch(_) | Target::UndoMerge(..)
    );
    if is_of_record && spec.method != Method::GET {
        // Each entry of a batch has its own result.
        let is_batch = matches!(target, Target::MergeBatch(_));
        match api.if_match_policy() {
            Some(IfMatchPolicy::Required) if is_batch => {
                codes.push(ErrorCode::PreconditionRequired);
            }
            _ if is_batch => {}
            Some(IfMatchPolicy::Required) => {
                codes.extend([
                    ErrorCode::PreconditionFailed,
                    ErrorCode::PreconditionRequired,
                ]);
            }
            Some(_) => codes.push(ErrorCode::PreconditionFailed),
            None => {}
        }
    }
    let is_of_person = match target {
        Target::Record(at) => at.kind == Kind::Person,
        Target::Merge(_)
        | Target::MergeBatch(_)
        | Target::PersonMerges(_)
        | Target::UndoMerge(..) => true,
        _ => false,
    };
    if api.forwards_merged_people() && is_of_person {
        codes.push(ErrorCode::PersonMerged);
    }
    if spec.method == Method::POST && api.supports_idempotency() {
        codes.extend([
            ErrorCode::IdempotencyKeyInvalid,
            ErrorCode::IdempotencyKeyReused,
        ]);
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
        | Target::Merge(_)
        | Target::MergeBatch(_)
        | Target::PersonMerges(_)
        | Target::UndoMerge(..)
        | Target::PersonDuplicates(_)
        | Target::DuplicatePair(..)
        | Target::Webhook(_)
        | Target::Redelivery(_)
        | Target::SecretRotation(_) => true,
        _ => false,
    }
}

/// Returns whether records of another kind can prevent the deletion of a record of this kind.
fn can_have_dependents(kind: Kind) -> bool {
    let mut references = Kind::ALL
        .iter()
        .flat_map(|member| member.schema().references());
    references.any(|reference| reference.kind == kind && reference.on_delete == OnDelete::Restrict)
}

/// Adds the error codes that the fields of a record can cause.
fn of_fields(api: &Api, kind: Kind, is_new: bool, codes: &mut Vec<ErrorCode>) {
    let taken: Vec<EffectiveField<'_>> = EffectiveField::writable_fields(api, kind).collect();
    if is_new && taken.iter().any(|own| own.is_required()) {
        codes.push(ErrorCode::FieldRequired);
    }
    for own in &taken {
        of_rules(own.field.rules, codes);
        if let Some(object) = own.field.ty.object() {
            of_object(object, codes);
        }
    }
    codes.push(ErrorCode::IdentifierInUse);
    match kind {
        Kind::Attendance => codes.extend([
            ErrorCode::TicketLevelDoesNotExist,
            ErrorCode::TicketLimitExceeded,
            ErrorCode::TicketsNotAllowed,
            ErrorCode::CapacityExceeded,
            ErrorCode::EventCancelled,
        ]),
        Kind::Event => codes.push(ErrorCode::StartDateAfterEndDate),
        Kind::Person if is_new => codes.push(ErrorCode::PersonEmpty),
        Kind::Question => codes.push(ErrorCode::ParagraphCannotHaveResponses),
        Kind::Answer => codes.extend([
            ErrorCode::ResponseKeyDoesNotExist,
            ErrorCode::TooManyResponses,
        ]),
        _ => {}
    }
}

/// Adds the error codes that links can cause, for the links that are sent in this kind of write.
fn of_links(
    api: &Api,
    kind: Kind,
    is_sent: fn(LinkWrite, LinkUpdate) -> bool,
    codes: &mut Vec<ErrorCode>,
) {
    for link in kind.schema().links {
        let LinkTarget::One {
            kind: to,
            write,
            update,
            ..
        } = link.target
        else {
            continue;
        };
        if !is_sent(write, update) || api.is_link_omitted(kind, link.name) {
            continue;
        }
        codes.push(if to == Kind::Person {
            ErrorCode::PersonNotFound
        } else {
            ErrorCode::LinkNotFound
        });
    }
}

fn of_object(object: &ObjectSchema, codes: &mut Vec<ErrorCode>) {
    for field in object.fields {
        of_rules(field.rules, codes);
        if let Some(inner) = field.ty.object() {
            of_object(inner, codes);
        }
    }
}

fn of_rules(rules: &[FieldRule], codes: &mut Vec<ErrorCode>) {
    codes.extend(rules.iter().filter_map(|rule| match rule {
        FieldRule::UniqueName => Some(ErrorCode::NameInUse),
        FieldRule::OnePrimary => Some(ErrorCode::MultiplePrimary),
        FieldRule::ResponseKey => Some(ErrorCode::ResponseKeyInvalid),
        FieldRule::ResponseName => Some(ErrorCode::ResponseNameInvalid),
        FieldRule::UniqueKeys => Some(ErrorCode::ResponseKeyNotUnique),
        _ => None,
    }));
}

/// Adds the error codes that a helper call can cause by its record, its person or its functions.
fn of_helper(api: &Api, helper: HelperName, codes: &mut Vec<ErrorCode>) {
    codes.push(ErrorCode::FieldInvalid);
    of_fields(api, helper.recorded_kind(), true, codes);
    if helper.accepts_person() && helper.recorded_kind() != Kind::Person {
        // The person is sent in the body; the address identifies the container.
        of_links(
            api,
            helper.recorded_kind(),
            |write, _| write == LinkWrite::Create,
            codes,
        );
        of_fields(api, Kind::Person, true, codes);
    }
    if helper.accepts_action_functions() {
        codes.push(ErrorCode::PersonRequired);
        codes.extend(
            api.action_functions()
                .iter()
                .flat_map(|function| of_function(*function)),
        );
    }
}

/// Returns the error codes that an action function can cause.
pub(super) fn of_function(function: FunctionName) -> &'static [ErrorCode] {
    match function {
        FunctionName::AddTags => &[ErrorCode::TagNameDoesNotExist],
        FunctionName::AddTagsUri => &[ErrorCode::TagUriDoesNotExist],
        FunctionName::AddLists => &[ErrorCode::ListNameDoesNotExist],
        FunctionName::AddListsUri => &[ErrorCode::ListUriDoesNotExist],
        FunctionName::AddQuestionsResponsesUri => &[
            ErrorCode::QuestionDoesNotExist,
            ErrorCode::ResponseKeyDoesNotExist,
            ErrorCode::TooManyResponses,
        ],
        FunctionName::Triggers => &[ErrorCode::NotSupported],
    }
}
