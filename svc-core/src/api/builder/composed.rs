//! What a composed helper needs of the registered operations.
//!
//! Requirements: HLP-10, HAF-02.

use std::collections::BTreeMap;

use crate::{
    api::KindRegistration,
    auth::Operation,
    helper::{FunctionName, HelperName},
    model::Kind,
};

/// Returns the operations that a composed helper needs and that are not registered.
pub(super) fn missing_operations(
    helper: HelperName,
    kinds: &BTreeMap<Kind, KindRegistration>,
) -> Vec<String> {
    let mut missing = Vec::new();
    let mut need = |kind: Kind, operation: Operation, name: &str| {
        if !has(kinds, kind, operation) {
            missing.push(format!("{}.{name}", kind.plural()));
        }
    };
    if helper == HelperName::Schedule {
        return vec!["a store that executes it".to_owned()];
    }
    if let Some(container) = helper.container_kind() {
        need(container, Operation::Read, "get");
        need(helper.recorded_kind(), Operation::Create, "create");
    }
    if helper.accepts_person() {
        need(Kind::Person, Operation::Create, "create");
        need(Kind::Person, Operation::Update, "update");
    }
    missing
}

/// Returns whether the registered operations are sufficient for an action function.
pub(super) fn supports_function(
    function: FunctionName,
    kinds: &BTreeMap<Kind, KindRegistration>,
) -> bool {
    let both = |named: Kind, made: Kind| {
        kinds.get(&named).is_some_and(|it| it.backend.finds())
            && has(kinds, made, Operation::Create)
    };
    match function {
        FunctionName::AddTags | FunctionName::AddTagsUri => both(Kind::Tag, Kind::Tagging),
        FunctionName::AddLists | FunctionName::AddListsUri => both(Kind::List, Kind::Item),
        FunctionName::AddQuestionsResponsesUri => both(Kind::Question, Kind::Answer),
        FunctionName::Triggers => false,
    }
}

fn has(kinds: &BTreeMap<Kind, KindRegistration>, kind: Kind, operation: Operation) -> bool {
    kinds
        .get(&kind)
        .is_some_and(|it| it.backend.has(kind, operation))
}
