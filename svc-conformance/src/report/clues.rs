//! What failures have in common if no check named their cause.

use std::collections::BTreeSet;

use super::{RequirementReport, area};
use crate::catalogue::Requirement;
use crate::kinds::KINDS;
use crate::outcome::Finding;

/// The number of compared letters of a sentence.
const COMPARED: usize = 80;
/// The minimum number of words of a sentence. Fewer words are not specific enough.
const WORDS: usize = 3;

/// A property that failures of one fault share, the most specific first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Clue<'r> {
    /// A member or an error code that the message or the requirement names.
    Member(String),
    /// The same sentence about another kind, number or text.
    Sentence(String),
    /// The check that found it.
    Check(&'r str),
    /// The failed requirement.
    Row(&'r str),
    /// The method and status of a rejected request.
    Refusal(&'r str, u16),
    /// The area of the requirement.
    Area(&'r str),
}

impl<'r> Clue<'r> {
    /// Returns the clues of a finding of a requirement.
    pub(super) fn of(row: &'r RequirementReport, finding: &'r Finding) -> BTreeSet<Self> {
        let mut clues = BTreeSet::from([
            Self::Row(&row.id),
            Self::Check(&finding.check),
            Self::Area(area(&row.id)),
        ]);
        let Head { words, codes, text } = Head::of(&finding.message);
        clues.extend(words.into_iter().chain(codes).map(Self::Member));
        clues.extend(sentence(&text).map(Self::Sentence));
        clues.extend(
            finding
                .refused
                .as_ref()
                .map(|(method, status)| Self::Refusal(method, *status)),
        );
        if let Some(cause) = &finding.cause {
            clues.extend(
                cause
                    .flaw
                    .is_of_a_member()
                    .then(|| Self::Member(last(&cause.subject))),
            );
        }
        clues
    }

    /// Returns the members that a requirement is about.
    pub(super) fn of_row(row: &Requirement) -> impl Iterator<Item = Self> {
        let named = row.condition.split([' ', '(', ')']).filter_map(|word| {
            let (what, path) = word.split_once(':')?;
            matches!(what, "field" | "link").then_some(path)
        });
        let own = row
            .field()
            .map(|field| field.path.as_str())
            .or_else(|| row.link().map(|link| link.name.as_str()));
        let members: Vec<String> = named
            .chain(own)
            .map(last)
            .filter(|name| !is_kind(name))
            .collect();
        members.into_iter().map(Self::Member)
    }
}

/// The part of a message before the request, response or record that it quotes.
struct Head {
    /// The text without quoted texts, indexes and URLs.
    text: String,
    /// The named members.
    words: Vec<String>,
    /// The named error codes.
    codes: Vec<String>,
}

impl Head {
    fn of(message: &str) -> Self {
        let mut head = Self {
            text: String::new(),
            words: Vec::new(),
            codes: Vec::new(),
        };
        for (at, part) in message.split('"').enumerate() {
            if at % 2 == 1 {
                let is_code =
                    part.len() > 4 && part.chars().all(|c| c.is_ascii_uppercase() || c == '_');
                head.codes.extend(is_code.then(|| part.to_owned()));
                head.text.push('"');
                continue;
            }
            let part = without_indexes(part);
            let end = part
                .find(['{', '['])
                .or_else(|| part.find("http"))
                .unwrap_or(part.len());
            head.text.push_str(part.get(..end).unwrap_or_default());
            if end < part.len() {
                break;
            }
        }
        head.words = members(&head.text);
        head
    }
}

/// Returns a text without `[0]` and `[]`.
fn without_indexes(text: &str) -> String {
    let mut parts = text.split('[');
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(']') {
            Some((index, rest)) if index.chars().all(|c| c.is_ascii_digit()) => all.push_str(rest),
            _ => {
                all.push('[');
                all.push_str(part);
            }
        }
    }
    all
}

/// Returns the names of members in a text: names in backticks, with an underscore, or before a
/// phrase about a member.
fn members(text: &str) -> Vec<String> {
    let said = [
        "was sent",
        "was set",
        "was changed",
        "is null",
        "is missing",
    ];
    let first = text
        .split_once(' ')
        .filter(|(_, rest)| said.iter().any(|said| rest.starts_with(said)));
    let quoted = text.split('`').skip(1).step_by(2);
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.');
    let words = text
        .split(|c| !is_part(c))
        .map(last)
        .filter(|word| word.trim_matches('_').contains('_'));
    let named = first
        .map(|(word, _)| word)
        .into_iter()
        .chain(quoted)
        .map(last);
    let is_name =
        |word: &String| !word.is_empty() && word.chars().all(is_part) && !word.starts_with('_');
    named
        .chain(words)
        .filter(|word| is_name(word) && !is_kind(word))
        .collect()
}

/// Returns a text in which kinds and numbers are replaced, so that similar sentences are equal.
fn sentence(text: &str) -> Option<String> {
    let words = text.split_whitespace().map(|word| {
        let bare = word
            .trim_matches(|c: char| !c.is_ascii_alphanumeric())
            .trim_end_matches("'s");
        if is_kind(bare) {
            "KIND".to_owned()
        } else {
            word.replace(|c: char| c.is_ascii_digit(), "")
        }
    });
    let words: Vec<String> = words.collect();
    let letters = |word: &&String| word.chars().filter(char::is_ascii_alphabetic).count() > 1;
    (words.iter().filter(letters).count() >= WORDS)
        .then(|| words.join(" ").chars().take(COMPARED).collect())
}

fn is_kind(word: &str) -> bool {
    KINDS
        .iter()
        .any(|kind| kind.one == word || kind.many == word)
}

/// Returns the last step of a path.
pub(super) fn last(path: &str) -> String {
    path.trim_end_matches(['.', ':'])
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .replace("[]", "")
}

#[cfg(test)]
mod tests {
    use super::{Head, sentence};

    #[test]
    fn what_a_message_names_is_found() {
        for (message, words, codes) in [
            (
                "title was sent as \"a_b\", read back as nothing (http://h/a_b)",
                &["title"][..],
                &[][..],
            ),
            (
                "tickets[0].amount is null in {\"total_amount\":1}",
                &["amount"],
                &[],
            ),
            (
                "the target of `next` of the first page is GET http://h/per_page",
                &["next"],
                &[],
            ),
            (
                "[\"add_tags\"] are wrong: POST http://h {\"x\":1}",
                &[],
                &[],
            ),
            (
                "\"FIELD_INVALID\" has no reason: total_records",
                &["total_records"],
                &["FIELD_INVALID"],
            ),
            ("two calls created one fundraising_page", &[], &[]),
            ("email_addresses[1].status has an unlisted value", &[], &[]),
        ] {
            let head = Head::of(message);
            assert!(
                head.words == words && head.codes == codes,
                "{message}: {:?} {:?}",
                head.words,
                head.codes
            );
        }
    }

    #[test]
    fn a_sentence_is_the_same_for_each_kind_and_number() {
        let of = |message: &str| sentence(&Head::of(message).text);
        assert_eq!(
            of("the target of the link to people is not a collection: GET"),
            of("the target of the link to forms is not a collection: GET")
        );
        assert_eq!(
            of("page 2 of 3 pages has 4 members"),
            of("page 1 of 1 pages has 0 members")
        );
        assert_eq!(of("{\"a\":1}"), None);
        assert_eq!(of("POST http://h {}"), None);
    }
}
