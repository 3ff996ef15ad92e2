//! The strict reader.
//!
//! Requirements: UND-27.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Write as _};

use super::object::JsonMember;
use super::scan::{BrokenString, Scanner, StringErrors};
use super::{Json, JsonLimits, Number, Object};
use crate::error::{ErrorCode, Problem, PropertyPath};
use crate::value::DecimalParts;

/// Reads exactly one JSON value.
pub(super) fn read(bytes: &[u8], limits: &JsonLimits) -> Result<Json, Vec<Problem>> {
    let mut reader = JsonReader::new(bytes, limits, true);
    match reader.document() {
        Ok(value) if reader.problems.is_empty() => Ok(value),
        Ok(_) => Err(reader.problems),
        Err(ReadAborted) => {
            if let (Some(mistake), Some(problem)) =
                (NonJsonInput::of(bytes), reader.problems.last_mut())
            {
                *problem = problem.clone().with_subject(mistake.description());
                problem.hint = Some(HINT.to_owned());
            }
            Err(reader.problems)
        }
    }
}

/// Reads one JSON value that was not sent by a client; `None` if its syntax is not JSON.
pub(super) fn read_stored(bytes: &[u8]) -> Option<Json> {
    JsonReader::new(bytes, &JsonLimits::trusted(), false)
        .document()
        .ok()
}

/// Reading was aborted; the list contains the problem.
struct ReadAborted;

type Step<T> = Result<T, ReadAborted>;

/// The keys of objects with more members than this are checked with a set.
const FEW_KEYS: usize = 16;

/// Keys in paths are truncated to this number of characters.
const KEY_LENGTH: usize = 64;

struct JsonReader<'a, 'l> {
    scan: Scanner<'a>,
    limits: &'l JsonLimits,
    values: usize,
    /// Elements of arrays and members of objects that are not complete yet.
    items: Vec<Json>,
    members: Vec<JsonMember>,
    /// Whether problems that leave a value are collected or ignored.
    collects: bool,
    problems: Vec<Problem>,
}

impl<'a, 'l> JsonReader<'a, 'l> {
    fn new(bytes: &'a [u8], limits: &'l JsonLimits, collects: bool) -> Self {
        let scan = Scanner::of_strings(bytes);
        Self {
            scan,
            limits,
            values: 0,
            items: Vec::new(),
            members: Vec::new(),
            collects,
            problems: Vec::new(),
        }
    }

    fn document(&mut self) -> Step<Json> {
        if self.scan.rest().starts_with(b"\xEF\xBB\xBF") {
            return self.stop(
                &ReaderPath::Root,
                0,
                "The body starts with a byte order mark, which JSON does not allow",
            );
        }
        self.scan.skip_space();
        if self.scan.peek().is_none() {
            return self.stop(
                &ReaderPath::Root,
                self.scan.offset(),
                "The body does not contain a JSON value",
            );
        }
        let value = self.value(&ReaderPath::Root, 0)?;
        self.scan.skip_space();
        match self.scan.peek() {
            None => Ok(value),
            Some(_) => self.stop(
                &ReaderPath::Root,
                self.scan.offset(),
                "Unexpected text after the end of the JSON value",
            ),
        }
    }

    fn value(&mut self, path: &ReaderPath<'_>, depth: usize) -> Step<Json> {
        let at = self.scan.offset();
        self.values = self.values.saturating_add(1);
        if self.values > self.limits.values {
            let limit = self.limits.values;
            return self.stop(
                path,
                at,
                format_args!("The body contains more than {limit} values"),
            );
        }
        match self.scan.peek() {
            Some(b'{') => {
                let depth = self.enter(path, depth)?;
                self.object(path, depth)
            }
            Some(b'[') => {
                let depth = self.enter(path, depth)?;
                self.array(path, depth)
            }
            Some(b'"') => {
                self.scan.next();
                if let Some(text) = self.scan.plain_string() {
                    return Ok(Json::from(text));
                }
                let (text, flaws) = self.token(path, "a string")?;
                self.flaws(path, "The string", flaws)?;
                Ok(Json::String(text))
            }
            Some(b'-' | b'0'..=b'9') => self.number(path, at),
            Some(b't') if self.scan.take_word(b"true") => Ok(Json::Bool(true)),
            Some(b'f') if self.scan.take_word(b"false") => Ok(Json::Bool(false)),
            Some(b'n') if self.scan.take_word(b"null") => Ok(Json::Null),
            Some(b',' | b'}' | b']') => self.stop(path, at, "A value is missing"),
            Some(b'\'') => self.stop(path, at, "A JSON string must be in double quotes"),
            Some(0) => self.stop(path, at, "Unexpected NUL character outside of a string"),
            Some(_) => self.stop(path, at, "This is not a JSON value"),
            None => self.stop(path, at, "The body ends where a value is expected"),
        }
    }

    /// Returns the next depth, or an error if the limit is reached.
    fn enter(&mut self, path: &ReaderPath<'_>, depth: usize) -> Step<usize> {
        let limit = self.limits.depth.min(JsonLimits::MAX_DEPTH);
        if depth >= limit {
            let at = self.scan.offset();
            return self.stop(
                path,
                at,
                format_args!("Arrays and objects are nested more than {limit} levels deep"),
            );
        }
        Ok(depth.saturating_add(1))
    }

    fn array(&mut self, path: &ReaderPath<'_>, depth: usize) -> Step<Json> {
        self.scan.next();
        let start = self.items.len();
        self.scan.skip_space();
        if self.scan.take(b']') {
            return Ok(Json::Array(Vec::new()));
        }
        let mut count = 0_usize;
        loop {
            self.scan.skip_space();
            let item = self.value(&ReaderPath::Item(path, count), depth)?;
            self.items.push(item);
            count = count.saturating_add(1);
            self.scan.skip_space();
            if self.scan.take(b']') {
                return Ok(Json::Array(self.items.split_off(start)));
            }
            if !self.scan.take(b',') {
                return self.stop(
                    path,
                    self.scan.offset(),
                    "Expected a comma or the end of the array",
                );
            }
        }
    }

    fn object(&mut self, path: &ReaderPath<'_>, depth: usize) -> Step<Json> {
        self.scan.next();
        let start = self.members.len();
        let mut seen = None;
        let mut count = 0_usize;
        self.scan.skip_space();
        if self.scan.take(b'}') {
            return Ok(Json::Object(Object::new()));
        }
        loop {
            self.scan.skip_space();
            let at = self.scan.offset();
            let key = self.key(path)?;
            let member = ReaderPath::Member(path, &key);
            count = count.saturating_add(1);
            if count > self.limits.keys {
                let limit = self.limits.keys;
                return self.stop(
                    path,
                    at,
                    format_args!("The object contains more than {limit} members"),
                );
            }
            let duplicate = is_duplicate(
                self.members.get(start..).unwrap_or_default(),
                &mut seen,
                &key,
            );
            if duplicate {
                self.report(
                    ErrorCode::DuplicateKey,
                    &member,
                    at,
                    "The object already contains this key",
                )?;
            }
            let value = self.value(&member, depth)?;
            if !duplicate {
                self.members.push((Cow::Owned(key.into_owned()), value));
            }
            self.scan.skip_space();
            if self.scan.take(b'}') {
                return Ok(Json::Object(Object::from_distinct(
                    self.members.split_off(start),
                )));
            }
            if !self.scan.take(b',') {
                return self.stop(
                    path,
                    self.scan.offset(),
                    "Expected a comma or the end of the object",
                );
            }
        }
    }

    /// Reads a key with its colon. The next token is the value.
    fn key(&mut self, path: &ReaderPath<'_>) -> Step<Cow<'a, str>> {
        let at = self.scan.offset();
        if !self.scan.take(b'"') {
            let what = match self.scan.peek() {
                Some(b'}') => "Unexpected comma before the end of the object",
                None => "The body ends inside an object",
                Some(_) => "Expected a key in double quotes",
            };
            return self.stop(path, at, what);
        }
        let key = if let Some(key) = self.scan.plain_string() {
            Cow::Borrowed(key)
        } else {
            let (key, flaws) = self.token(path, "a key")?;
            self.flaws(&ReaderPath::Member(path, &key), "The key", flaws)?;
            Cow::Owned(key)
        };
        self.scan.skip_space();
        if !self.scan.take(b':') {
            return self.stop(
                &ReaderPath::Member(path, &key),
                self.scan.offset(),
                "Expected a colon after the key",
            );
        }
        self.scan.skip_space();
        Ok(key)
    }

    /// Reads a string after its opening quote.
    fn token(&mut self, path: &ReaderPath<'_>, what: &str) -> Step<(String, StringErrors)> {
        match self.scan.string() {
            Ok(token) => Ok(token),
            Err(BrokenString::Unfinished(at)) => {
                self.stop(path, at, format_args!("The body ends inside {what}"))
            }
            Err(BrokenString::Escape(at)) => {
                self.stop(path, at, format_args!("Invalid backslash escape in {what}"))
            }
        }
    }

    fn flaws(&mut self, path: &ReaderPath<'_>, what: &str, flaws: StringErrors) -> Step<()> {
        if flaws == StringErrors::default() {
            return Ok(());
        }
        for (flaw, fault) in [
            (flaws.nul, "a NUL character"),
            (flaws.control, "an unescaped control character"),
            (
                flaws.surrogate,
                "an escape that is half of a surrogate pair and not a Unicode character",
            ),
            (flaws.utf8, "bytes that are not UTF-8"),
        ] {
            if let Some(at) = flaw {
                self.report(
                    ErrorCode::JsonInvalid,
                    path,
                    at,
                    format_args!("{what} contains {fault}"),
                )?;
            }
        }
        Ok(())
    }

    fn number(&mut self, path: &ReaderPath<'_>, at: usize) -> Step<Json> {
        let text = std::str::from_utf8(self.scan.number()).unwrap_or_default();
        let Some(parts) = DecimalParts::parse(text) else {
            return self.stop(path, at, "This is not a JSON number");
        };
        let limit = self.limits.number_digits;
        let number = Number::from_checked(text);
        if text.len() > limit {
            self.report(
                ErrorCode::JsonInvalid,
                path,
                at,
                format_args!("The number is longer than {limit} characters"),
            )?;
        } else if parts.plain_integer
            && text.parse::<i64>().is_err()
            && text.parse::<u64>().is_err()
        {
            self.report(
                ErrorCode::JsonInvalid,
                path,
                at,
                "The integer does not fit into 64 bits",
            )?;
        } else if !parts.plain_integer && number.as_f64().is_none() {
            self.report(ErrorCode::JsonInvalid, path, at, "The number is too large")?;
        }
        Ok(Json::Number(number))
    }

    /// Adds a problem; reading continues until the list is full.
    fn report(
        &mut self,
        code: ErrorCode,
        path: &ReaderPath<'_>,
        at: usize,
        what: impl fmt::Display,
    ) -> Step<()> {
        if !self.collects {
            return Ok(());
        }
        let description = format!("{what} (byte {at}).");
        self.problems.push(match path {
            ReaderPath::Root => Problem::for_request(code, description),
            _ => Problem::new(code, path.property(), description),
        });
        if self.problems.len() < JsonLimits::MAX_PROBLEMS {
            Ok(())
        } else {
            Err(ReadAborted)
        }
    }

    /// Adds the problem that aborts the reading.
    fn stop<T>(&mut self, path: &ReaderPath<'_>, at: usize, what: impl fmt::Display) -> Step<T> {
        // It does not matter here whether the list is full.
        let _ = self.report(ErrorCode::JsonInvalid, path, at, what);
        Err(ReadAborted)
    }
}

/// Returns whether the object already contains the key. For large objects, the keys are in a set,
/// so that reading takes linear time.
fn is_duplicate(members: &[JsonMember], seen: &mut Option<HashSet<String>>, key: &str) -> bool {
    if members.len() < FEW_KEYS {
        return members.iter().any(|(other, _)| other == key);
    }
    let all = || {
        members
            .iter()
            .map(|(other, _)| other.clone().into_owned())
            .collect()
    };
    !seen.get_or_insert_with(all).insert(key.to_owned())
}

/// The path of a value, as a linked list on the stack.
///
/// Requirements: ERR-26.
enum ReaderPath<'a> {
    Root,
    Member(&'a ReaderPath<'a>, &'a str),
    Item(&'a ReaderPath<'a>, usize),
}

impl ReaderPath<'_> {
    fn property(&self) -> PropertyPath {
        match self {
            Self::Root => PropertyPath::default(),
            Self::Item(parent, position) => parent.property().push_index(*position),
            Self::Member(parent, key) => parent.property().push_member(display_key(key)),
        }
    }
}

/// Returns a key for a path: truncated, with escaped control characters, and visible if empty.
fn display_key(key: &str) -> String {
    if key.is_empty() {
        return "\"\"".to_owned();
    }
    let mut text = String::new();
    let mut characters = key.chars();
    for character in characters.by_ref().take(KEY_LENGTH) {
        if character.is_control() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\u{:04x}", u32::from(character));
        } else {
            text.push(character);
        }
    }
    if characters.next().is_some() {
        text.push('…');
    }
    text
}

/// A format other than JSON that a client sent.
enum NonJsonInput {
    Form,
    PercentEncoded,
}

const HINT: &str = "Send the fields as one JSON object with Content-Type: application/json, for example {\"name\": \"value\"}.";

impl NonJsonInput {
    fn description(&self) -> &'static str {
        match self {
            Self::Form => "The body looks form-encoded (name=value&name=value) instead of JSON",
            Self::PercentEncoded => {
                "The body is percent-encoded, as in a form or a query string, instead of JSON"
            }
        }
    }

    /// Detects `name=value...` and percent-encoded JSON by their first characters.
    fn of(bytes: &[u8]) -> Option<Self> {
        let text = bytes.trim_ascii_start();
        if let [b'%', b'7' | b'5', b'B' | b'b', ..] = text {
            return Some(Self::PercentEncoded);
        }
        let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.~+%[]:".contains(byte);
        let end = text.iter().position(|byte| !in_name(byte))?;
        let (name, rest) = text.split_at_checked(end)?;
        (rest.first() == Some(&b'=') && !matches!(name.first(), None | Some(b'[')))
            .then_some(Self::Form)
    }
}
