//! The query parameters of a collection: their documentation and their parsing.
//!
//! Requirements: UND-14, UND-19.

use std::borrow::Cow;

use crate::error::{ErrorCode, Problem};

/// The requested page of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageRequest {
    /// The page number, starting at 1.
    ///
    /// Requirements: COL-22.
    pub number: u64,
    /// The number of records on a page, from 1 to `max_pagesize`.
    ///
    /// Requirements: COL-21, LIM-01.
    pub size: u32,
    /// The cursor of a `next` link, as the previous page returned it
    /// ([`NextPage::Cursor`](super::NextPage::Cursor)). It is opaque except to the store.
    ///
    /// It is sent by a client. If it is damaged or belongs to another collection, it is ignored and
    /// `number` is used.
    ///
    /// Requirements: UND-14.
    pub cursor: Option<String>,
}

impl PageRequest {
    /// Creates a request for the page with this number, starting at 1, of pages with this size.
    #[must_use]
    pub fn new(number: u64, size: u32) -> Self {
        Self {
            number,
            size,
            cursor: None,
        }
    }

    /// Adds the cursor that the previous page returned.
    #[must_use]
    pub fn with_cursor(mut self, continuation: impl Into<String>) -> Self {
        self.cursor = Some(continuation.into());
        self
    }

    /// Returns the number of records before this page; very large page numbers saturate at the
    /// maximum.
    ///
    /// Requirements: UND-19.
    #[must_use]
    pub fn records_before(&self) -> u64 {
        self.number
            .saturating_sub(1)
            .saturating_mul(u64::from(self.size))
    }

    /// Returns the records of this page from an iterator over the whole collection.
    pub fn select<T>(&self, all: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        all.skip(usize::try_from(self.records_before()).unwrap_or(usize::MAX))
            .take(self.size as usize)
    }

    /// Returns the number of records before this page as a signed number, for
    /// `LIMIT {size} OFFSET {offset()}`.
    #[must_use]
    pub fn offset(&self) -> i64 {
        i64::try_from(self.records_before()).unwrap_or(i64::MAX)
    }
}

/// The description of a query parameter of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryParameter {
    /// The name.
    pub name: &'static str,
    /// The meaning, as a phrase without a full stop.
    pub text: String,
    /// The allowed values.
    pub values: ParameterValues,
}

impl QueryParameter {
    /// Creates a parameter.
    #[must_use]
    pub fn new(name: &'static str, text: String, values: ParameterValues) -> Self {
        Self { name, text, values }
    }
}

/// The values of a query parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterValues {
    /// A whole number greater than 0, with this default.
    Number(u32),
    /// A token that this server returned before.
    Token,
    /// A text.
    Text {
        /// An example of a valid value.
        example: &'static str,
    },
    /// One of these.
    OneOf(Vec<&'static str>),
}

/// The page that a query requests, and the parameters that the query contained.
#[derive(Debug)]
pub struct ParsedPageRequest {
    /// The page.
    pub request: PageRequest,
    /// Whether the query contained the page number, which the `self` link then repeats.
    ///
    /// Requirements: COL-27.
    pub names_page: bool,
    /// The other parameters of the request, which every link to a page repeats, such as
    /// `&per_page=10`.
    pub repeated: String,
}

impl PageRequest {
    /// Returns every query parameter of a collection with pages of `size` records by default, and
    /// `largest` at most.
    #[must_use]
    pub fn parameters(size: u32, largest: u32) -> Vec<QueryParameter> {
        let parameter = |name, text: &str, values| QueryParameter {
            name,
            text: text.to_owned(),
            values,
        };
        let of_size = format!(
            "Records on a page; values above {largest} are reduced to the maximum, and the default is {size}"
        );
        vec![
            parameter(
                "page",
                "The page number, starting at 1",
                ParameterValues::Number(1),
            ),
            parameter("per_page", &of_size, ParameterValues::Number(size)),
            parameter(
                "after",
                "The position where the page starts; use it only as part of a `next` link",
                ParameterValues::Token,
            ),
        ]
    }

    /// Reads the parameters of a query; unknown parameters are ignored.
    ///
    /// # Errors
    ///
    /// Returns every parameter with an invalid value.
    ///
    /// Requirements: UND-14.
    pub fn read(
        query: Option<&str>,
        size: u32,
        largest: u32,
    ) -> Result<ParsedPageRequest, Vec<Problem>> {
        let mut parameters = PageParameters::default();
        for (name, value) in pairs(query.unwrap_or_default()) {
            parameters.take(&name, value);
        }
        parameters.read(size, largest)
    }
}

/// The query parameters of a page, each with its first value, and whether it is repeated.
#[derive(Debug, Default)]
pub struct PageParameters<'q> {
    page: SentParameter<'q>,
    per_page: SentParameter<'q>,
    after: SentParameter<'q>,
}

#[derive(Debug, Default)]
struct SentParameter<'q> {
    first: Option<Cow<'q, str>>,
    is_repeated: bool,
}

impl<'q> PageParameters<'q> {
    /// Takes a parameter of a query. Returns whether it is one of a page.
    pub fn take(&mut self, name: &str, value: &'q str) -> bool {
        let sent = match name {
            "page" => &mut self.page,
            "per_page" => &mut self.per_page,
            "after" => &mut self.after,
            _ => return false,
        };
        if sent.first.is_some() {
            sent.is_repeated = true;
        } else {
            sent.first = Some(decoded(value));
        }
        true
    }

    /// Returns the requested page.
    ///
    /// # Errors
    ///
    /// Returns every parameter with an invalid value.
    ///
    /// Requirements: UND-14.
    pub fn read(self, size: u32, largest: u32) -> Result<ParsedPageRequest, Vec<Problem>> {
        let mut problems = Vec::new();
        let sent = [
            ("page", self.page),
            ("per_page", self.per_page),
            ("after", self.after),
        ];
        let [page, per_page, after] = sent.map(|(name, sent)| {
            if sent.is_repeated {
                problems.push(Problem::new(
                    ErrorCode::PageInvalid,
                    name,
                    "{property} must not be repeated.",
                ));
            }
            sent.first
        });
        let mut number = |name: &str, value: &Option<Cow<'_, str>>, default: u64| match value {
            None => default,
            Some(text) => counting(text).unwrap_or_else(|| {
                let text = "{property} must be a whole number greater than 0.";
                problems.push(
                    Problem::new(ErrorCode::PageInvalid, name, text).with_hint("^[1-9][0-9]*$"),
                );
                default
            }),
        };
        let number_asked = number("page", &page, 1);
        let size_asked = number("per_page", &per_page, u64::from(size));
        if !problems.is_empty() {
            return Err(problems);
        }
        let size_asked = u32::try_from(size_asked).unwrap_or(u32::MAX).min(largest);
        let repeated = per_page
            .as_ref()
            .map_or_else(String::new, |_| format!("&per_page={size_asked}"));
        let after = after.filter(|after| is_token(after)).map(Cow::into_owned);
        let request = PageRequest {
            cursor: after,
            ..PageRequest::new(number_asked, size_asked)
        };
        Ok(ParsedPageRequest {
            request,
            names_page: page.is_some(),
            repeated,
        })
    }
}

impl PageRequest {
    /// Returns the value of a parameter of the query.
    #[must_use]
    pub fn parameter(query: Option<&str>, name: &str) -> Option<String> {
        pairs(query.unwrap_or_default())
            .find(|(key, _)| key == name)
            .map(|(_, value)| decoded(value).into_owned())
    }
}

/// Parses a whole number greater than 0. Numbers above 2^63 are reduced to it, which is after every
/// page.
///
/// Requirements: UND-19.
fn counting(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number {
        return None;
    }
    let largest = u64::MAX >> 1;
    let number = text
        .parse::<u64>()
        .map_or(largest, |number| number.min(largest));
    (number > 0).then_some(number)
}

/// Maximum number of characters of a cursor. The cursor of a filter by text contains a text.
const MAX_CURSOR: usize = 1_024;

/// Returns whether a cursor has a form that a store could have returned.
#[must_use]
pub fn is_token(after: &str) -> bool {
    after.len() <= MAX_CURSOR
        && after
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// Returns the decoded names of a query, each with its value, which must still be [decoded].
pub fn pairs(query: &str) -> impl Iterator<Item = (Cow<'_, str>, &str)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(key, value)| (decoded(key), value))
}

/// Decodes percent-encoding; `+` is a space. Bytes that are not UTF-8 become replacement
/// characters, which no parameter contains.
#[must_use]
pub fn decoded(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let hex = |digit: u8| {
            char::from(digit)
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        };
        match (first, tail) {
            (b'+', _) => bytes.push(b' '),
            (b'%', [high, low, after @ ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => {
                    bytes.push(high << 4 | low);
                    rest = after;
                }
                _ => bytes.push(b'%'),
            },
            (byte, _) => bytes.push(*byte),
        }
    }
    Cow::Owned(
        String::from_utf8(bytes)
            .unwrap_or_else(|wrong| String::from_utf8_lossy(wrong.as_bytes()).into_owned()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(query: &str) -> Result<PageRequest, Vec<Problem>> {
        PageRequest::read(Some(query), 25, 100).map(|asked| asked.request)
    }

    #[test]
    fn col_24_links_repeat_what_was_understood() {
        let repeated = |query| PageRequest::read(Some(query), 25, 100).unwrap().repeated;
        assert_eq!(
            ["page=2", "per_page=7&x=y", "per_page=1000"].map(repeated),
            ["", "&per_page=7", "&per_page=100"]
        );
    }

    #[test]
    fn und_14_und_19_pages_are_counted_from_one() {
        assert_eq!(request("").unwrap(), PageRequest::new(1, 25));
        assert_eq!(
            request("page=3&per_page=10&other=1")
                .unwrap()
                .records_before(),
            20
        );
        assert_eq!(request("per_page=100000").unwrap().size, 100);
        assert_eq!(
            request("page=99999999999999999999999").unwrap().number,
            u64::MAX >> 1
        );
        assert_eq!(request("p%61ge=%32").unwrap().number, 2);
        assert_eq!(request("after=a b").unwrap().cursor, None);
        for wrong in [
            "page=0",
            "page=-1",
            "page=x",
            "page=",
            "page=1&page=2",
            "per_page=0",
            "per_page=1.5",
        ] {
            let problems = request(wrong).unwrap_err();
            assert!(
                problems
                    .iter()
                    .all(|problem| problem.code == ErrorCode::PageInvalid),
                "{wrong}"
            );
        }
        assert_eq!(request("page=0&per_page=x").unwrap_err().len(), 2);
        // The first value is used, and the problems are in the order of the parameters.
        let named = |query| {
            request(query)
                .unwrap_err()
                .iter()
                .map(|it| it.properties[0].to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            named("per_page=1&per_page=2&page=1&page=1&page=1"),
            ["page", "per_page"]
        );
        assert_eq!(
            [named("page=x&page=1").len(), named("page=1&page=x").len()],
            [2, 1]
        );
    }
}
