//! How much one record and one call may hold: nobody grows a record until it slows others.

use super::{Json, Object};

/// How much one record and one call may hold.
///
/// A body with more is refused with `FIELD_INVALID`, and so is a change after which a record would
/// have more than before and more than this.
///
/// # Examples
///
/// ```
/// use svc_core::{api::ApiLimits, read::ContentLimits};
///
/// // Newsletters with long texts; campaign pages need fewer.
/// let sizes = ApiLimits::default().content(ContentLimits::default().record(256 * 1024)).anonymous_content(ContentLimits::STRANGERS.tickets(4));
/// assert_eq!(sizes.content.entries, 50);
/// ```
///
/// Requirements: UND-17.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentLimits {
    /// Entries of a list, such as e-mail addresses.
    pub entries: usize,
    /// Identifiers of a record.
    pub identifiers: usize,
    /// Members of an object with free names: custom fields.
    pub custom_fields: usize,
    /// Bytes of the fields of a record, about.
    pub record: usize,
    /// Tags, lists and answers of a helper call, together.
    pub functions: usize,
    /// Tickets of an attendance.
    pub tickets: usize,
}

/// The defaults of calls with a key.
const DEFAULT: ContentLimits = ContentLimits {
    entries: 50,
    identifiers: 100,
    custom_fields: 100,
    record: 64 * 1024,
    functions: 100,
    tickets: 100,
};

impl ContentLimits {
    /// The defaults of calls without a key.
    pub const STRANGERS: Self = Self {
        entries: 10,
        identifiers: 10,
        custom_fields: 20,
        record: 16 * 1024,
        functions: 20,
        tickets: 20,
    };

    /// Entries of a list.
    #[must_use]
    pub const fn entries(mut self, most: usize) -> Self {
        self.entries = most;
        self
    }

    /// Identifiers of a record.
    #[must_use]
    pub const fn identifiers(mut self, most: usize) -> Self {
        self.identifiers = most;
        self
    }

    /// Members of an object with free names.
    #[must_use]
    pub const fn custom_fields(mut self, most: usize) -> Self {
        self.custom_fields = most;
        self
    }

    /// Bytes of the fields of a record, about.
    #[must_use]
    pub const fn record(mut self, bytes: usize) -> Self {
        self.record = bytes;
        self
    }

    /// Tags, lists and answers of a helper call, together.
    #[must_use]
    pub const fn functions(mut self, most: usize) -> Self {
        self.functions = most;
        self
    }

    /// Tickets of an attendance.
    #[must_use]
    pub const fn tickets(mut self, most: usize) -> Self {
        self.tickets = most;
        self
    }

    /// The most entries of the list, or of the object with free names, under a name of the tables.
    #[must_use]
    pub fn most(&self, name: &str) -> usize {
        match name {
            "tickets" => self.tickets,
            "identifiers" => self.identifiers,
            "custom_fields" => self.custom_fields,
            name if name.starts_with("add_") => self.functions,
            _ => self.entries,
        }
    }

    /// The largest of the members that were changed, if an object is larger than a record may be.
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
}

impl Default for ContentLimits {
    fn default() -> Self {
        DEFAULT
    }
}

/// About how many bytes a member takes.
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
