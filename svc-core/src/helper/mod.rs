//! Helpers: one POST that records an action and its person (HLP-01 to HLP-23).
//!
//! A helper is a plan, which is plain data and fully validated, and a runner: the backend's own [`Helper`](crate::Helper),
//! or the default runner that composes the registered operations.

mod compose;
mod functions;
mod matching;
mod name;
mod native;
mod outcome;
mod plan;

pub(crate) use compose::Composed;
pub use compose::{Choices, MEMBERSHIPS, Membership, answer_draft, needs_person, unknown_question};
pub use functions::{
    FunctionFields, FunctionName, Functions, Named, QuestionAnswer, QuestionRef, ResponseInput, ScheduleFields,
    Trigger, Triggers,
};
pub use matching::{MatchKey, Merge, PersonMatching, StockMatching, emails, is_primary, merge_person, normal_email};
pub use name::{
    HelperName, HelperSpec, PersonSignup, RecordAttendance, RecordCanvass, RecordDonation, RecordOutreach,
    RecordSignature, RecordSubmission, Schedule,
};
pub use native::{join_identifiers, oldest, recognise, recorded};
pub use outcome::{Entry, EntryStatus, Outcome, RawOutcome};
pub use plan::{Plan, RawPlan, Scheduling};
