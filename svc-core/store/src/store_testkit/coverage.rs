//! What histories exclude, and the requests and records that were compared.

use std::collections::BTreeMap;

use svc_core::{
    auth::Operation,
    draft::RawDraft,
    error::Result,
    helper::{Atomicity, EntryStatus, FunctionName, HelperName},
    model::Kind,
    read::{Json, Object},
    schema::{ComputedSource, ReferenceSpec},
    store::{WriteOperation, WriteOutcome, WriteRequest},
};

use super::canonical::{PROBLEM_SEPARATOR, difference_by};

/// The labels of requests whose problems can be compared in part.
const HELPER: &str = "helper: ";
const ALREADY_REJECTED: &str = "already rejected: ";

/// Returns what precedes the outcome of a request in its text.
pub(super) fn label(call: &WriteRequest) -> &'static str {
    match call.operation {
        _ if call.is_rejected => ALREADY_REJECTED,
        WriteOperation::Helper(_) => HELPER,
        _ => "",
    }
}

/// Returns whether the outcome of a request has only some of the problems of the model, in the same
/// order.
fn has_part_of_the_problems(told: &str, meant: &str) -> bool {
    [HELPER, ALREADY_REJECTED].into_iter().any(|label| {
        let problems = |text| {
            let text = str::strip_prefix(text, label)?.strip_prefix("rejected ")?;
            Some(text.split(PROBLEM_SEPARATOR).filter(|it| !it.is_empty()))
        };
        let Some((told, mut meant)) = problems(told).zip(problems(meant)) else {
            return false;
        };
        let mut told = told.peekable();
        // A request that is not already rejected has at least one problem.
        (label == ALREADY_REJECTED || told.peek().is_some())
            && told.all(|problem| meant.any(|other| other == problem))
    })
}

/// A part of the requests or of the compared values that a store does not support. Everything else
/// is compared. See [`StoreTests::without`](super::StoreTests::without).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exclusion {
    /// The records of a kind, except people.
    Kind(Kind),
    /// A helper.
    Helper(HelperName),
    /// A field of a kind.
    Field(Kind, &'static str),
    /// A reference of a kind by its name, and the collections under the record that it refers to.
    Reference(Kind, &'static str),
    /// Imports.
    Imports,
    /// Merges of people.
    Merges,
    /// The undo of merges. No merge stores anything for it.
    UndoneMerges,
    /// Imports with the id of a record of another tenant.
    ForeignIds,
    /// Changes and deletions of records whose kind has no such operation in the specification.
    UnspecifiedOperations,
    /// The action function `triggers`.
    Triggers,
    /// Helper requests that are all or nothing.
    WholeCalls,
    /// The totals of a record: counts and measures of the records under it.
    Totals,
    /// The other problems of a helper request that has a problem, and of a request that
    /// [is already rejected](WriteRequest::is_rejected). The reported problems are still compared.
    FurtherProblems,
    /// The people in the tickets of a helper request.
    TicketHolders,
    /// Helper requests with [one action of each person](svc_core::helper::RawHelperRequest::one_action_per_person).
    OneAction,
    /// The warnings about e-mail addresses that another person also has.
    SharedAddresses,
    /// The order of the members of JSON objects.
    MemberOrder,
    /// Whether two records have the same date. The dates of one record are still compared.
    SharedDates,
}

/// The exclusions of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Exclusions(pub(super) Vec<Exclusion>);

impl Exclusions {
    pub(super) fn has(&self, exclusion: Exclusion) -> bool {
        self.0.contains(&exclusion)
    }

    pub(super) fn compares(&self, kind: Kind) -> bool {
        kind == Kind::Person || !self.has(Exclusion::Kind(kind))
    }

    pub(super) fn compares_reference(&self, kind: Kind, reference: &ReferenceSpec) -> bool {
        self.compares(reference.kind) && !self.has(Exclusion::Reference(kind, reference.name))
    }

    /// Returns whether the records of a kind are listed under records of another kind.
    pub(super) fn compares_scope(&self, kind: Kind, under: Kind) -> bool {
        let mut references = kind.schema().references().iter();
        self.compares(kind)
            && references
                .any(|it| it.is_scope && it.kind == under && self.compares_reference(kind, it))
    }

    pub(super) fn compares_computed(&self, source: ComputedSource) -> bool {
        let is_total = matches!(
            source,
            ComputedSource::AlwaysZero
                | ComputedSource::Count(_)
                | ComputedSource::Measure(_)
                | ComputedSource::Part(_)
        );
        !(is_total && self.has(Exclusion::Totals))
    }

    /// Returns whether records of a kind can be created: the kind has the operation, and its
    /// container and its person are compared.
    fn creates(&self, kind: Kind) -> bool {
        let schema = kind.schema();
        let is_needed = |it: &&ReferenceSpec| Some(it.name) == schema.parent || it.name == "person";
        self.compares(kind)
            && schema.has_operation(Operation::Create)
            && schema
                .references()
                .iter()
                .filter(is_needed)
                .all(|it| self.compares_reference(kind, it))
    }

    fn executes(&self, kind: Kind, operation: Operation) -> bool {
        self.compares(kind)
            && (!self.has(Exclusion::UnspecifiedOperations)
                || kind.schema().has_operation(operation))
    }

    fn helps(&self, helper: HelperName) -> bool {
        !self.has(Exclusion::Helper(helper))
            && self.compares(helper.recorded_kind())
            && helper
                .container_kind()
                .is_none_or(|kind| self.compares(kind))
    }

    /// Returns whether action functions can create records of this kind.
    fn adds(&self, kind: Kind) -> bool {
        self.creates(kind) && HelperName::ALL.iter().any(|helper| self.helps(*helper))
    }

    /// Returns whether a merge of people can move an excluded reference to the action that created a record.
    /// Two such records are folded to one, whose date then changes only in the store that has the reference.
    fn folds_excluded(&self, kind: Kind, action: Kind) -> bool {
        let mut references = kind.schema().references().iter();
        !self.has(Exclusion::Merges)
            && kind.schema().unique_links().is_some()
            && references
                .any(|it| it.kind == action && self.has(Exclusion::Reference(kind, it.name)))
    }

    /// Returns the first line in which the text of the tested store differs from that of the model.
    pub(super) fn difference(&self, told: &str, meant: &str) -> Option<String> {
        let is_partial = self.has(Exclusion::FurtherProblems);
        difference_by(told, meant, |told, meant| {
            told == meant || is_partial && has_part_of_the_problems(told, meant)
        })
    }

    /// Removes the excluded parts of a request. Returns `None` if the request is excluded.
    pub(super) fn restrict(&self, mut call: WriteRequest) -> Option<WriteRequest> {
        if self.0.is_empty() {
            return Some(call);
        }
        call.reports_shared_addresses &= !self.has(Exclusion::SharedAddresses);
        let is_executed = match &mut call.operation {
            WriteOperation::Create(draft) => {
                self.restrict_draft(draft);
                self.creates(draft.kind)
            }
            WriteOperation::Import(load) => {
                self.restrict_draft(&mut load.draft);
                !self.has(Exclusion::Imports) && self.creates(load.draft.kind)
            }
            WriteOperation::Update(at, patch) => {
                self.restrict_members(at.kind, &mut patch.fields, &mut patch.links);
                self.executes(at.kind, Operation::Update)
            }
            WriteOperation::Delete(at) => self.executes(at.kind, Operation::Delete),
            WriteOperation::Merge(request) => {
                let is_undone = !self.has(Exclusion::UndoneMerges);
                request.undo_for = request.undo_for.filter(|_| is_undone);
                !self.has(Exclusion::Merges)
            }
            WriteOperation::UndoMerge(_) => {
                !self.has(Exclusion::Merges) && !self.has(Exclusion::UndoneMerges)
            }
            WriteOperation::Helper(plan) => {
                for draft in plan.person.iter_mut().chain(&mut plan.action) {
                    self.restrict_draft(draft);
                }
                let action = plan.helper.recorded_kind();
                let functions = &mut plan.functions;
                if !self.adds(Kind::Tagging) || self.folds_excluded(Kind::Tagging, action) {
                    functions.tags.clear();
                }
                if !self.adds(Kind::Item) || self.folds_excluded(Kind::Item, action) {
                    functions.lists.clear();
                }
                if !self.adds(Kind::Answer) || self.folds_excluded(Kind::Answer, action) {
                    functions.responses.clear();
                }
                if self.has(Exclusion::Triggers) {
                    functions.triggers = None;
                }
                if self.has(Exclusion::TicketHolders)
                    && let Some(action) = &mut plan.action
                {
                    remove_holders(action);
                }
                plan.one_action_per_person &= !self.has(Exclusion::OneAction);
                if self.has(Exclusion::WholeCalls) {
                    plan.atomicity = Atomicity::PerResource;
                }
                self.helps(plan.helper)
            }
        };
        is_executed.then_some(call)
    }

    fn compares_link(&self, kind: Kind, name: &str) -> bool {
        let mut references = kind.schema().references().iter();
        references.any(|it| it.name == name && self.compares_reference(kind, it))
    }

    /// Removes the excluded fields and links of a record or of its change.
    fn restrict_members<T>(
        &self,
        kind: Kind,
        fields: &mut Object,
        links: &mut Vec<(&'static str, T)>,
    ) {
        fields.retain(|name, _| !self.0.iter().any(|it| is_field(it, kind, name)));
        links.retain(|(name, _)| self.compares_link(kind, name));
    }

    fn restrict_draft(&self, draft: &mut RawDraft) {
        let kind = draft.kind;
        self.restrict_members(kind, &mut draft.fields, &mut draft.links);
        let is_compared = |to: Kind| {
            let mut references = kind.schema().references().iter();
            references.any(|it| !it.is_link && it.kind == to && self.compares_reference(kind, it))
        };
        draft.recorded_by = draft.recorded_by.take().filter(|at| is_compared(at.kind));
        if self.has(Exclusion::Field(kind, "tickets")) {
            draft.holders.clear();
        }
    }
}

/// Removes the people from the tickets of an attendance.
fn remove_holders(draft: &mut RawDraft) {
    draft.holders.clear();
    let tickets = draft.fields.get_mut("tickets").and_then(Json::as_array_mut);
    for ticket in tickets.into_iter().flatten() {
        if let Some(ticket) = ticket.as_object_mut() {
            ticket.remove("person");
        }
    }
}

fn is_field(exclusion: &Exclusion, kind: Kind, name: &str) -> bool {
    matches!(exclusion, Exclusion::Field(of, field) if *of == kind && *field == name)
}

/// Returns a value with the members of each object in the order of their names.
pub(super) fn in_name_order(value: &Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(in_name_order).collect()),
        Json::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            let mut ordered = Object::new();
            for (name, member) in members {
                ordered.insert(name, in_name_order(member));
            }
            Json::Object(ordered)
        }
        other => other.clone(),
    }
}

/// The requests and records that were compared.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Coverage {
    /// The requests of each operation, by names such as `people.create`,
    /// `helper.record_signature` and `tagging by helper`.
    pub operations: BTreeMap<String, OperationCoverage>,
    /// The number of records that were read from the tested store and compared.
    pub records: u64,
}

/// The number of requests of an operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationCoverage {
    /// All requests.
    pub requests: u64,
    /// The requests that created, changed or deleted a record.
    pub effects: u64,
    /// The requests that were rejected.
    pub rejections: u64,
}

impl Coverage {
    /// Returns a coverage of 0 for each operation that is not excluded.
    pub(super) fn of(exclusions: &Exclusions) -> Self {
        let mut operations = BTreeMap::new();
        let mut add = |name: String| operations.insert(name, OperationCoverage::default());
        for kind in Kind::ALL
            .iter()
            .copied()
            .filter(|kind| exclusions.creates(*kind))
        {
            add(of_kind(kind, "create"));
            for (operation, name) in [(Operation::Update, "update"), (Operation::Delete, "delete")]
            {
                if kind.schema().has_operation(operation) && exclusions.executes(kind, operation) {
                    add(of_kind(kind, name));
                }
            }
            if !exclusions.has(Exclusion::Imports) {
                add(of_kind(kind, "import"));
            }
        }
        if !exclusions.has(Exclusion::Merges) {
            add(of_kind(Kind::Person, MERGE));
            if !exclusions.has(Exclusion::UndoneMerges) {
                add(of_kind(Kind::Person, UNDO_MERGE));
            }
        }
        for helper in HelperName::ALL {
            if exclusions.helps(*helper) {
                add(of_helper(*helper));
            }
        }
        for function in FunctionName::all() {
            let kind = function.reported_kind();
            if function != FunctionName::Triggers && exclusions.adds(kind) {
                add(of_function(kind));
            }
        }
        Self {
            operations,
            records: 0,
        }
    }

    /// Returns the operations of which fewer than `least` requests had an effect.
    pub(super) fn below(&self, least: u64) -> Vec<String> {
        self.operations
            .iter()
            .filter(|(_, covered)| covered.effects < least)
            .map(|(name, covered)| format!("{name}: {covered:?}"))
            .collect()
    }

    pub(super) fn count(&mut self, operation: &WriteOperation, outcome: &Result<WriteOutcome>) {
        let name = match operation {
            WriteOperation::Create(draft) => of_kind(draft.kind, "create"),
            WriteOperation::Update(at, _) => of_kind(at.kind, "update"),
            WriteOperation::Delete(at) => of_kind(at.kind, "delete"),
            WriteOperation::Merge(request) => of_kind(request.remaining.kind, MERGE),
            WriteOperation::UndoMerge(request) => of_kind(request.remaining.kind, UNDO_MERGE),
            WriteOperation::Import(load) => of_kind(load.draft.kind, "import"),
            WriteOperation::Helper(plan) => of_helper(plan.helper),
        };
        let outcome = outcome.as_ref().map(WriteOutcome::without_warnings);
        let has_effect = match outcome {
            Ok(WriteOutcome::Created { is_new, .. }) => *is_new,
            Ok(WriteOutcome::Updated(record)) => record.is_some(),
            Ok(WriteOutcome::Deleted(is_gone)) => *is_gone,
            Ok(WriteOutcome::Merged(merged)) => !merged.is_preview && !merged.is_repeated,
            Ok(WriteOutcome::MergeUndone(_)) => true,
            Ok(WriteOutcome::HelperDone(helped) | WriteOutcome::Resumed(helped)) => {
                helped.entries.iter().any(|entry| {
                    // The schedule helper creates nothing.
                    entry.status == EntryStatus::Created
                        || entry.kind == Kind::Message && entry.status == EntryStatus::Existing
                })
            }
            Ok(WriteOutcome::Replayed(_) | WriteOutcome::Warned(..)) | Err(_) => false,
        };
        self.add(name, has_effect, outcome.is_err());
        if let Ok(WriteOutcome::HelperDone(helped) | WriteOutcome::Resumed(helped)) = outcome {
            for entry in &helped.entries {
                if matches!(entry.kind, Kind::Tagging | Kind::Item | Kind::Answer) {
                    let is_failed = matches!(entry.status, EntryStatus::Failed(_));
                    let is_new = entry.status == EntryStatus::Created;
                    self.add(of_function(entry.kind), is_new, is_failed);
                }
            }
        }
    }

    fn add(&mut self, name: String, has_effect: bool, is_rejected: bool) {
        let covered = self.operations.entry(name).or_default();
        covered.requests = covered.requests.saturating_add(1);
        covered.effects = covered.effects.saturating_add(u64::from(has_effect));
        covered.rejections = covered.rejections.saturating_add(u64::from(is_rejected));
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (name, more) in other.operations {
            let covered = self.operations.entry(name).or_default();
            covered.requests = covered.requests.saturating_add(more.requests);
            covered.effects = covered.effects.saturating_add(more.effects);
            covered.rejections = covered.rejections.saturating_add(more.rejections);
        }
        self.records = self.records.saturating_add(other.records);
    }
}

/// The name of the operation that merges people.
const MERGE: &str = "merge";

/// The name of the operation that undoes a merge.
const UNDO_MERGE: &str = "undo merge";

fn of_kind(kind: Kind, operation: &str) -> String {
    format!("{}.{operation}", kind.plural())
}

fn of_helper(helper: HelperName) -> String {
    format!("helper.{}", helper.as_str())
}

fn of_function(kind: Kind) -> String {
    format!("{} by helper", kind.singular())
}
