//! Reads and validates bodies about webhooks, and reports all problems.
//!
//! Requirements: HOOK-04.

use crate::{
    error::{ErrorCode, Problem, PropertyPath},
    json::is_stored,
    json::{Json, Object},
    model::Kind,
    read::{BodyReport, read_only},
    webhooks::{EventType, Receiver, ReceiverPolicy, WebhookStatus},
};

/// Members that the server sets. A client may send them back unchanged, as in records.
const KEPT: [&str; 14] = [
    "secret",
    "is_failing",
    "failing_since",
    "total_delivered",
    "total_waiting",
    "total_given_up",
    "next_attempt",
    "last_attempt",
    "cursor",
    "created_date",
    "modified_date",
    "created_by",
    "changed_by",
    "_links",
];
/// Members that a client sets.
const TAKEN: [&str; 4] = ["url", "kinds", "events", "status"];

/// The members that a client sent; `None` if a member is missing.
#[derive(Debug, Default)]
pub(super) struct WebhookBody {
    pub(super) url: Option<String>,
    pub(super) kinds: Option<Vec<Kind>>,
    pub(super) events: Option<Vec<EventType>>,
    pub(super) status: Option<WebhookStatus>,
}

impl WebhookBody {
    /// Reads the body of a create, or of a change of a stored webhook. It may name only kinds that the
    /// key may read.
    ///
    /// The members that the server sets are reported as ignored, except those that are equal to the
    /// members of the stored webhook. Unknown members are problems,
    /// because a webhook that is not as intended is found only when a message is missing.
    ///
    /// Requirements: HOOK-03, HOOK-04, UND-22.
    pub(super) fn read(
        body: &Object,
        stored: Option<&Object>,
        readable: &[Kind],
        reach: ReceiverPolicy,
    ) -> (Self, BodyReport) {
        let (mut asked, mut report) = (Self::default(), BodyReport::default());
        let is_new = stored.is_none();
        let is_equal = |name: &str, sent: &Json| {
            stored.is_some_and(|stored| is_stored(sent, stored.get(name)))
        };
        let kept = body.iter().filter(|(name, _)| KEPT.contains(name));
        let changed = kept.filter(|&(name, sent)| !is_equal(name, sent));
        report.ignored = changed
            .map(|(name, _)| read_only(PropertyPath::member(name.to_owned())))
            .collect();
        let problems = &mut report.problems;
        for name in body
            .keys()
            .filter(|name| !TAKEN.contains(name) && !KEPT.contains(name))
        {
            problems.push(unknown(
                name,
                "The allowed properties are `url`, `kinds`, `events` and `status`.",
            ));
        }
        match body.get("url") {
            Some(Json::String(url)) => match Receiver::parse(url, reach) {
                Ok(_) => asked.url = Some(url.clone()),
                Err(why) => problems.push(wrong("url", format!("{{property}} {why}."))),
            },
            None if !is_new => {}
            None => {
                let text = "{property} is missing. Send the URL of the receiver.";
                problems.push(Problem::new(ErrorCode::FieldRequired, "url", text));
            }
            Some(_) => problems.push(wrong(
                "url",
                "{property} must be a string: the URL of the receiver.",
            )),
        }
        let kinds = NameList {
            name: "kinds",
            one: "such as `person`",
            all: Kind::ALL,
            word: Kind::singular,
        };
        asked.kinds = kinds.read(body, problems);
        if is_new && readable.is_empty() && !body.contains("kinds") {
            let text = "{property} is missing, and this key may not read any kind, so the webhook would send nothing. Use a key that may read at least one kind.";
            problems.push(Problem::new(ErrorCode::FieldInvalid, "kinds", text));
        }
        for kind in asked
            .kinds
            .iter()
            .flatten()
            .filter(|kind| !readable.contains(kind))
        {
            let place = body
                .get("kinds")
                .and_then(Json::as_array)
                .into_iter()
                .flatten();
            let place = place
                .take_while(|word| word.as_str() != Some(kind.singular()))
                .count();
            let text = "{property} names a kind that this key may not read. Remove it, or use a key with that right.";
            problems.push(Problem::new(
                ErrorCode::FieldInvalid,
                PropertyPath::member("kinds").push_index(place),
                text,
            ));
        }
        let one = "one of `created`, `changed`, `deleted`, `merged`";
        let events = NameList {
            name: "events",
            one,
            all: &EventType::ALL,
            word: EventType::as_str,
        };
        asked.events = events.read(body, problems);
        match body
            .get("status")
            .map(|status| status.as_str().unwrap_or_default())
        {
            None => {}
            Some("active") => asked.status = Some(WebhookStatus::Active),
            Some("paused") => asked.status = Some(WebhookStatus::Paused),
            // The server sets these values. A client may send them back.
            Some("ended" | "disabled") if !is_new => {}
            Some(_) => problems.push(wrong("status", "{property} must be `active` or `paused`.")),
        }
        (asked, report)
    }
}

/// Returns the cursor after which a webhook sends changes again; `None` for the beginning.
///
/// Requirements: HOOK-10.
pub(super) fn redelivery(body: &Object) -> Result<Option<String>, Vec<Problem>> {
    let unknown = body.keys().filter(|name| *name != "after");
    let mut problems: Vec<Problem> = unknown.map(unknown_member).collect();
    let after = match body.get("after") {
        None | Some(Json::Null) => None,
        Some(Json::String(after)) if is_cursor(after) => Some(after.clone()),
        Some(_) => {
            let text = "{property} is not a cursor of the change feed. Use one from a `next` or `last` link, or omit it.";
            problems.push(Problem::new(ErrorCode::CursorInvalid, "after", text));
            None
        }
    };
    if problems.is_empty() {
        Ok(after)
    } else {
        Err(problems)
    }
}

fn unknown_member(name: &str) -> Problem {
    unknown(name, "Only `after` is allowed.")
}

fn is_cursor(text: &str) -> bool {
    (1..=256).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn wrong(name: &'static str, text: impl Into<std::borrow::Cow<'static, str>>) -> Problem {
    Problem::new(ErrorCode::FieldInvalid, name, text)
}

fn unknown(name: &str, there_is: &str) -> Problem {
    let property = PropertyPath::member(name.to_owned());
    Problem::new(
        ErrorCode::PropertyUnknown,
        property,
        format!("{{property}} is not a known property. {there_is}"),
    )
}

/// A list of names.
struct NameList<'w, T: 'static> {
    name: &'static str,
    one: &'w str,
    all: &'static [T],
    word: fn(T) -> &'static str,
}

impl<T: Copy + PartialEq> NameList<'_, T> {
    fn read(&self, body: &Object, problems: &mut Vec<Problem>) -> Option<Vec<T>> {
        let Self {
            name,
            one,
            all,
            word,
        } = *self;
        let list = body.get(name)?;
        let Some(list) = list.as_array().filter(|list| !list.is_empty()) else {
            problems.push(wrong(
                name,
                format!("{{property}} must be a list of at least one value, {one}, or be omitted."),
            ));
            return None;
        };
        let mut found = Vec::new();
        for (place, item) in list.iter().enumerate() {
            match all
                .iter()
                .copied()
                .find(|value| item.as_str() == Some(word(*value)))
            {
                Some(value) if found.contains(&value) => {}
                Some(value) => found.push(value),
                None => {
                    let property = PropertyPath::member(name).push_index(place);
                    let text = format!("{{property}} must be a known value, {one}.");
                    problems.push(Problem::new(ErrorCode::FieldInvalid, property, text));
                }
            }
        }
        Some(found)
    }
}
