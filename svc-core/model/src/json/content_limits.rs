//! The maximum sizes of a record and of a request, so that a large record cannot slow down other
//! requests.

use super::{Json, Object};
use crate::error::{ErrorCode, Problem};

/// The maximum sizes of a record and of a request.
///
/// A body that exceeds a limit is rejected with `FIELD_INVALID`. A change is also rejected if the
/// record would exceed the limit and would be larger than before.
///
/// # Examples
///
/// ```
/// use svc_core::{api::ApiLimits, read::ContentLimits};
///
/// // Newsletters with long texts; campaign pages need fewer.
/// let sizes = ApiLimits::default().content(ContentLimits::default().record(256 * 1024)).anonymous_content(ContentLimits::ANONYMOUS.tickets(4));
/// assert_eq!(sizes.content.entries, 50);
/// ```
///
/// Requirements: UND-17.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentLimits {
    /// Entries of a list, such as e-mail addresses.
    pub entries: usize,
    /// Targets of an advocacy campaign or of an outreach.
    pub targets: usize,
    /// Identifiers of a record.
    pub identifiers: usize,
    /// Members of an object with arbitrary names, such as custom fields.
    pub custom_fields: usize,
    /// Approximate size of the fields of a record in bytes.
    pub record: usize,
    /// Tags, lists and answers of a helper request, together.
    pub functions: usize,
    /// Tickets of an attendance.
    pub tickets: usize,
}

/// The defaults of requests with a key.
const DEFAULT: ContentLimits = ContentLimits {
    entries: 50,
    targets: 1_000,
    identifiers: 100,
    custom_fields: 100,
    record: 64 * 1024,
    functions: 100,
    tickets: 100,
};

impl ContentLimits {
    /// The defaults of requests without a key.
    pub const ANONYMOUS: Self = Self {
        entries: 10,
        targets: 1_000,
        identifiers: 10,
        custom_fields: 20,
        record: 16 * 1024,
        functions: 20,
        tickets: 20,
    };

    /// Sets the maximum number of entries of a list.
    #[must_use]
    pub const fn entries(mut self, most: usize) -> Self {
        self.entries = most;
        self
    }

    /// Sets the maximum number of targets of an advocacy campaign or of an outreach.
    #[must_use]
    pub const fn targets(mut self, most: usize) -> Self {
        self.targets = most;
        self
    }

    /// Sets the maximum number of identifiers of a record.
    #[must_use]
    pub const fn identifiers(mut self, most: usize) -> Self {
        self.identifiers = most;
        self
    }

    /// Sets the maximum number of members of an object with arbitrary names.
    #[must_use]
    pub const fn custom_fields(mut self, most: usize) -> Self {
        self.custom_fields = most;
        self
    }

    /// Sets the approximate maximum size of the fields of a record in bytes.
    #[must_use]
    pub const fn record(mut self, bytes: usize) -> Self {
        self.record = bytes;
        self
    }

    /// Sets the maximum number of tags, lists and answers of a helper request, together.
    #[must_use]
    pub const fn functions(mut self, most: usize) -> Self {
        self.functions = most;
        self
    }

    /// Sets the maximum number of tickets of an attendance.
    #[must_use]
    pub const fn tickets(mut self, most: usize) -> Self {
        self.tickets = most;
        self
    }

    /// Returns the maximum number of entries of a list, or of an object with arbitrary names, by
    /// its name in the tables.
    #[must_use]
    pub fn max_entries(&self, name: &str) -> usize {
        match name {
            "target_list" | "targets" => self.targets,
            "tickets" => self.tickets,
            "identifiers" => self.identifiers,
            "custom_fields" => self.custom_fields,
            name if name.starts_with("add_") => self.functions,
            _ => self.entries,
        }
    }

    /// Returns the largest of the changed members if the object exceeds the maximum size of a
    /// record.
    pub fn too_large<'o>(
        &self,
        object: &'o Object,
        is_changed: impl Fn(&str) -> bool,
    ) -> Option<&'o str> {
        let total = object.iter().fold(0_usize, |sum, (name, value)| {
            sum.saturating_add(weight(name, value))
        });
        if total <= self.record {
            return None;
        }
        let changed = object.iter().filter(|(name, _)| is_changed(name));
        changed
            .max_by_key(|(name, value)| weight(name, value))
            .map(|(name, _)| name)
    }

    /// Returns the problems of fields that exceed a limit after a change and have grown by it.
    #[must_use]
    pub fn exceeded_by(&self, before: &Object, after: &Object) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (name, value) in after {
            // `custom_fields` is the only object with free member names.
            if value.as_array().is_none() && name != "custom_fields" {
                continue;
            }
            let most = self.max_entries(name);
            let had = before.get(name).map_or(0, length);
            if length(value) > most && length(value) > had {
                problems.push(Self::too_many(name, most));
            }
        }
        let grew = |name: &str| {
            let weight = |object: &Object| object.get(name).map_or(0, |value| weight(name, value));
            weight(after) > weight(before)
        };
        if let Some(name) = self.too_large(after, grew) {
            let text = format!(
                "{{property}} would make the record larger than {} bytes.",
                self.record
            );
            problems.push(Problem::new(ErrorCode::FieldInvalid, name.to_owned(), text));
        }
        problems
    }

    /// Returns the problem of a list with too many entries.
    #[must_use]
    pub fn too_many(name: &str, most: usize) -> Problem {
        let text = format!("{{property}} must not have more than {most} entries.");
        Problem::new(ErrorCode::FieldInvalid, name.to_owned(), text)
    }
}

fn length(value: &Json) -> usize {
    match value {
        Json::Array(items) => items.len(),
        Json::Object(object) => object.iter().count(),
        _ => 0,
    }
}

impl Default for ContentLimits {
    fn default() -> Self {
        DEFAULT
    }
}

/// Returns the approximate size of a member in bytes.
#[must_use]
pub fn weight(name: &str, value: &Json) -> usize {
    let inner = match value {
        Json::Null | Json::Bool(_) => 4,
        Json::Number(number) => number.as_str().len(),
        Json::String(text) => text.len(),
        Json::Array(items) => items
            .iter()
            .fold(0, |sum, item| weight("", item).saturating_add(sum)),
        Json::Object(object) => object.iter().fold(0, |sum, (name, value)| {
            weight(name, value).saturating_add(sum)
        }),
    };
    // Quotes, colon, comma.
    inner.saturating_add(name.len()).saturating_add(6)
}
