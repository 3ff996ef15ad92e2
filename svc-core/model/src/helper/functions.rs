//! The action functions of helpers.
//!
//! Requirements: HAF-01 to HAF-13.

use crate::{
    error::{ErrorCode, Problem, PropertyPath, quoted},
    model::Kind,
    schema::FieldRule,
    types::{closed_enum, object},
    value::{ClosedEnum, Id, Identifier},
};

/// The validated action functions of a helper request.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ActionFunctions {
    /// Tags to add, by name or by address, in the order of the body: `add_tags`, then
    /// `add_tags_uri`.
    ///
    /// Requirements: HAF-02, HAF-04.
    pub tags: Vec<GroupRef>,
    /// Lists to add the person to: `add_lists`, then `add_lists_uri`.
    ///
    /// Requirements: HAF-05, HAF-06.
    pub lists: Vec<GroupRef>,
    /// Answers to record, and for a canvass its `question_response`.
    ///
    /// Requirements: HAF-07, RES-canvass-08.
    pub responses: Vec<AnswerInput>,
    /// Server responses to trigger.
    ///
    /// Requirements: HAF-11.
    pub triggers: Option<Triggers>,
    /// The functions of the body that this server does not support, each with its problem.
    ///
    /// The library reports them itself. A backend never receives them.
    ///
    /// Requirements: ERR-38.
    pub unsupported: Vec<(Kind, Problem)>,
}

impl ActionFunctions {
    /// Returns whether the request contains no action function.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.needs_person() && self.triggers.is_none() && self.unsupported.is_empty()
    }

    /// Returns whether the request contains a function that needs a person.
    ///
    /// Requirements: UND-29.
    #[must_use]
    pub fn needs_person(&self) -> bool {
        !(self.tags.is_empty() && self.lists.is_empty() && self.responses.is_empty())
    }
}

/// A tag or a list that a request names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupRef {
    /// By name.
    ///
    /// Requirements: HAF-02, HAF-05.
    Name(String),
    /// By URL; `None` if the URL does not identify a record of this server.
    ///
    /// Requirements: HAF-04, HAF-06.
    Address(Option<Id>),
}

impl From<&str> for GroupRef {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<Id> for GroupRef {
    fn from(id: Id) -> Self {
        Self::Address(Some(id))
    }
}

/// A kind of group that people are added to by name or URL, and the kind of the membership.
#[derive(Debug)]
pub struct GroupKind {
    /// The kind of the group: tag or list.
    pub group: Kind,
    /// The kind of the membership: tagging or item.
    pub member: Kind,
    by_name: (&'static str, ErrorCode),
    by_address: (&'static str, ErrorCode),
}

impl GroupKind {
    /// Taggings.
    ///
    /// Requirements: HAF-02 to HAF-04.
    pub const TAGS: Self = Self {
        group: Kind::Tag,
        member: Kind::Tagging,
        by_name: ("add_tags", ErrorCode::TagNameDoesNotExist),
        by_address: ("add_tags_uri", ErrorCode::TagUriDoesNotExist),
    };
    /// Items of lists.
    ///
    /// Requirements: HAF-05, HAF-06.
    pub const LISTS: Self = Self {
        group: Kind::List,
        member: Kind::Item,
        by_name: ("add_lists", ErrorCode::ListNameDoesNotExist),
        by_address: ("add_lists_uri", ErrorCode::ListUriDoesNotExist),
    };

    /// Returns the member of the body that names groups in this way.
    #[must_use]
    pub fn property(&self, named: &GroupRef) -> &'static str {
        match named {
            GroupRef::Name(_) => self.by_name.0,
            GroupRef::Address(_) => self.by_address.0,
        }
    }

    /// Returns the problem of a group that does not exist.
    ///
    /// Requirements: HAF-03 to HAF-06.
    #[must_use]
    pub fn unknown(&self, named: &GroupRef) -> Problem {
        let group = self.group.singular();
        match named {
            GroupRef::Name(name) => {
                let (property, code) = self.by_name;
                let text = format!("No {group} is named {}.", quoted(name));
                Problem::new(code, property, text)
            }
            GroupRef::Address(_) => {
                let (property, code) = self.by_address;
                let text = format!(
                    "{{property}} contains a URL that does not identify a {group} of this server."
                );
                Problem::new(code, property, text)
            }
        }
    }
}

/// One answer to record.
///
/// Requirements: HAF-07 to HAF-10.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AnswerInput {
    /// The question.
    pub question: QuestionRef,
    /// Chosen response keys.
    pub responses: Vec<String>,
    /// Free text.
    pub value: Option<String>,
    /// The position in the body, for problems: `add_questions_responses_uri[0]`.
    pub path: PropertyPath,
}

impl AnswerInput {
    /// Creates an answer from the chosen response keys of a question and their position in the
    /// body.
    #[must_use]
    pub fn new(question: QuestionRef, responses: Vec<String>, path: PropertyPath) -> Self {
        Self {
            question,
            responses,
            value: None,
            path,
        }
    }
}

/// The reference to a question in a request.
///
/// Requirements: HAF-08.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionRef {
    /// By URL.
    Id(Id),
    /// By one of its identifiers.
    Identifier(Identifier),
    /// By a text that does not identify a question.
    Unknown,
}

object! {
    /// Server responses to trigger.
    ///
    /// Requirements: HAF-11.
    Triggers: "triggers" {
        /// An e-mail
        "HAF-11" autoresponse: Trigger,
        /// A text message
        "HAF-11" sms_response: Trigger,
        /// A call
        "HAF-11" call_response: Trigger,
    }
}

object! {
    /// One server response to trigger.
    ///
    /// Requirements: HAF-12.
    Trigger: "trigger" {
        /// Whether to trigger it; default `true`
        "HAF-12" enabled: bool,
        /// Which response, as `<system_name>:<id>`
        "HAF-13" identifiers: Vec<String> [FieldRule::Identifiers],
    }
}

object! {
    /// One element of `add_questions_responses_uri`.
    ///
    /// Requirements: HAF-07.
    QuestionAnswer: "add_questions_responses_uri" {
        /// Identifier or URL of the question
        "HAF-08" question: crate::types::RecordReference = required,
        /// Chosen response keys
        "HAF-09" responses: Vec<String>,
        /// Free text
        "HAF-10" value: String,
    }
}

object! {
    /// The action functions as members of a helper's body.
    ///
    /// Requirements: HAF-01.
    FunctionFields: "helper action functions" {
        /// Names of existing tags to add
        "HAF-02" add_tags: Vec<String>,
        /// URLs of existing tags to add
        "HAF-04" add_tags_uri: Vec<String>,
        /// Names of existing lists to add the person to
        "HAF-05" add_lists: Vec<String>,
        /// URLs of existing lists to add the person to
        "HAF-06" add_lists_uri: Vec<String>,
        /// Answers to record
        "HAF-07" add_questions_responses_uri: Vec<QuestionAnswer>,
        /// Server responses to trigger
        "HAF-11" triggers: Triggers,
    }
}

object! {
    /// The body of the schedule helper.
    ///
    /// Requirements: SCH-01, SCH-07.
    ScheduleFields: "schedule" {
        /// When sending starts
        "SCH-01" scheduled_start_date: crate::value::Timestamp = required,
        /// When sending stops
        "SCH-01" scheduled_stop_date: crate::value::Timestamp,
    }
}

closed_enum! {
    exhaustive
    /// The action functions by name, as capabilities name them (`haf.<name>`).
    FunctionName {
        AddTags = "add_tags",
        AddTagsUri = "add_tags_uri",
        AddLists = "add_lists",
        AddListsUri = "add_lists_uri",
        AddQuestionsResponsesUri = "add_questions_responses_uri",
        Triggers = "triggers"
    }
}

closed_enum! {
    /// The server responses by name.
    ///
    /// Requirements: HAF-11.
    TriggerName { Autoresponse = "autoresponse", SmsResponse = "sms_response", CallResponse = "call_response" }
}

impl Triggers {
    /// Returns the requested server responses, each with the identifiers of its texts. A response
    /// is requested unless `enabled` is `false`.
    ///
    /// Requirements: HAF-12.
    pub fn requested(&self) -> impl Iterator<Item = (TriggerName, &[String])> {
        let all = [
            (TriggerName::Autoresponse, &self.autoresponse),
            (TriggerName::SmsResponse, &self.sms_response),
            (TriggerName::CallResponse, &self.call_response),
        ];
        all.into_iter().filter_map(|(name, trigger)| {
            let trigger = trigger
                .as_ref()
                .filter(|trigger| trigger.enabled != Some(false))?;
            Some((name, trigger.identifiers.as_deref().unwrap_or_default()))
        })
    }
}

impl FunctionName {
    /// Returns every action function.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::VALUES.iter().filter_map(|name| Self::parse(name))
    }

    /// Returns the kind of the report entry that the function creates.
    ///
    /// Requirements: ERR-31.
    #[must_use]
    pub const fn reported_kind(self) -> Kind {
        match self {
            Self::AddTags | Self::AddTagsUri => Kind::Tagging,
            Self::AddLists | Self::AddListsUri => Kind::Item,
            Self::AddQuestionsResponsesUri => Kind::Answer,
            Self::Triggers => Kind::Message,
        }
    }
}
