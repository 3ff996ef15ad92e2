//! Helpers: one POST that records an action and its person, signs up a person, or schedules a message.
//!
//! A helper consists of a validated helper request, which is plain data, and what executes it: the
//! backend's own `Helper`, or the rules, which combine the registered operations.
//!
//! Requirements: HLP-01 to HLP-23.

mod allowed_answers;
mod anonymous_policy;
mod entries;
mod fitting;
mod functions;
mod matching;
mod merging;
mod name;
mod outcome;
pub(crate) mod raw;
mod request;

#[doc(hidden)]
pub use allowed_answers::{AllowedAnswers, answer_draft};
pub use anonymous_policy::AnonymousPolicy;
pub use entries::is_primary;
#[doc(hidden)]
pub use entries::{entry_key, entry_number, merge_equal_entries};
pub use fitting::{OmittedEntries, fit_entries, merge_fitting, share_strictest};
#[doc(hidden)]
pub use functions::GroupKind;
pub use functions::{
    ActionFunctions, AnswerInput, FunctionFields, FunctionName, GroupRef, QuestionAnswer,
    QuestionRef, ScheduleFields, Trigger, TriggerName, Triggers,
};
pub use matching::{DefaultMatching, MatchKey, MergePolicy, PersonMatching, emails, merge_person};
#[doc(hidden)]
pub use matching::{addresses, distinct_emails};
pub use merging::{
    ConsentMerge, MergeFields, MergedPerson, OverruledValue, PersonIdentifiers, SeparatedPeople,
    TightenedValue, merge_identifiers, merge_people, separate_people,
};
pub use name::{
    HelperSpec, ONE_ACTION_KINDS, OneActionHelper, PersonSignup, RecordAttendance, RecordCanvass,
    RecordDonation, RecordOutreach, RecordSignature, RecordSubmission, Schedule,
};
pub use outcome::{EntryStatus, HelperOutcome, ReportEntry, WriteEffect};
pub use raw::{RawHelperOutcome, RawHelperRequest};
pub use request::{Atomicity, HelperRequest, ScheduleChange};

pub use crate::names::HelperName;
