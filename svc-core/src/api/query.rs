//! The paging parameters of a collection (UND-14, UND-19).

use super::settings::Sizes;
use crate::{
    error::{Code, Problem},
    page::PageRequest,
};

/// The page that a query asks for, and whether it named number and size itself.
#[derive(Debug)]
pub(super) struct PageQuery {
    pub(super) request: PageRequest,
    pub(super) names_page: bool,
    pub(super) names_size: bool,
}

/// Reads `page`, `per_page` and `after`; anything else is ignored (UND-14).
pub(super) fn page_query(query: Option<&str>, sizes: Sizes) -> Result<PageQuery, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut once = |name: &str| {
        let mut values = pairs(query.unwrap_or_default()).filter(|(key, _)| key == name).map(|(_, value)| value);
        let value = values.next();
        if values.next().is_some() {
            problems.push(Problem::new(Code::PageInvalid, name, "{property} is there more than once."));
        }
        value
    };
    let (page, size, after) = (once("page"), once("per_page"), once("after"));
    let mut number = |name: &str, value: &Option<String>, default: u64| match value {
        None => default,
        Some(text) => counting(text).unwrap_or_else(|| {
            let text = "{property} must be a whole number from 1.";
            problems.push(Problem::new(Code::PageInvalid, name, text).hint("^[1-9][0-9]*$"));
            default
        }),
    };
    let request_number = number("page", &page, 1);
    let request_size = number("per_page", &size, u64::from(sizes.page));
    if !problems.is_empty() {
        return Err(problems);
    }
    let size_asked = u32::try_from(request_size).unwrap_or(u32::MAX).min(sizes.max_page);
    Ok(PageQuery {
        request: PageRequest {
            after: after.filter(|after| is_token(after)),
            ..PageRequest::new(request_number, size_asked)
        },
        names_page: page.is_some(),
        names_size: size.is_some(),
    })
}

/// A whole number from 1; numbers above 2^63 count as that, which is beyond every page (UND-19).
fn counting(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number {
        return None;
    }
    let largest = u64::MAX >> 1;
    let number = text.parse::<u64>().map_or(largest, |number| number.min(largest));
    (number > 0).then_some(number)
}

/// Whether a continuation has a form that a store may have given.
fn is_token(after: &str) -> bool {
    after.len() <= 256 && after.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

fn pairs(query: &str) -> impl Iterator<Item = (String, String)> + '_ {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(|(key, value)| (decoded(key), decoded(value)))
}

/// Percent-decoding; `+` is a space. Bytes that are no UTF-8 become replacement characters, which no parameter has.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let hex = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
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
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(query: &str) -> Result<PageRequest, Vec<Problem>> {
        page_query(Some(query), Sizes::default()).map(|query| query.request)
    }

    #[test]
    fn und_14_und_19_pages_are_counted_from_one() {
        assert_eq!(request("").unwrap(), PageRequest::new(1, 25));
        assert_eq!(request("page=3&per_page=10&other=1").unwrap().skipped(), 20);
        assert_eq!(request("per_page=100000").unwrap().size, 100);
        assert_eq!(request("page=99999999999999999999999").unwrap().number, u64::MAX >> 1);
        assert_eq!(request("p%61ge=%32").unwrap().number, 2);
        assert_eq!(request("after=a b").unwrap().after, None);
        for wrong in ["page=0", "page=-1", "page=x", "page=", "page=1&page=2", "per_page=0", "per_page=1.5"] {
            let problems = request(wrong).unwrap_err();
            assert!(problems.iter().all(|problem| problem.code == Code::PageInvalid), "{wrong}");
        }
        assert_eq!(request("page=0&per_page=x").unwrap_err().len(), 2);
    }
}
