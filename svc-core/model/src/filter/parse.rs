//! The grammar of filters, as it is published:
//!
//! ```text
//! filter     = all *("or" all)
//! all        = one *("and" one)
//! one        = "(" filter ")" / field ("eq" / "ne" / "gt" / "ge" / "lt" / "le" / "sw") value / field "in" "(" value *("," value) ")"
//! value      = "'" *(character / "''") "'"        ; a date also without quotes
//! ```

use super::{
    Comparison, FilterError, FilterExpr, FilterField, FilterSource, FilterValue, FindKey,
    MAX_DEPTH, MAX_FILTER_BYTES, MAX_TEXT, MAX_VALUES, Operator, TextKey,
    lexer::{Token, tokens},
    one_of,
};
use crate::value::{Date, Id, Identifier, Timestamp, forms};

/// Parses a whole text.
pub(super) fn tree(
    text: &str,
    fields: &[FilterField],
    namespace: &str,
) -> Result<FilterExpr, FilterError> {
    if text.len() > MAX_FILTER_BYTES {
        return Err(FilterError::new(
            1,
            format!("The filter is longer than {MAX_FILTER_BYTES} bytes. Shorten it."),
        ));
    }
    let tokens = tokens(text)?;
    let mut parser = Parser {
        text,
        tokens: tokens.into_iter().peekable(),
        fields,
        namespace,
        depth: 0,
        values: 0,
    };
    let tree = parser.any()?;
    match parser.tokens.next() {
        None => Ok(tree),
        Some((at, Token::Close)) => Err(FilterError::new(
            at,
            "This parenthesis has no matching opening parenthesis.",
        )),
        Some((at, _)) => Err(FilterError::new(
            at,
            "Unexpected token. Expected `and`, `or`, or the end of the filter.",
        )),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: std::iter::Peekable<std::vec::IntoIter<(usize, Token<'a>)>>,
    fields: &'a [FilterField],
    namespace: &'a str,
    depth: usize,
    values: usize,
}

impl Parser<'_> {
    fn any(&mut self) -> Result<FilterExpr, FilterError> {
        self.several("or", Self::all, FilterExpr::Or)
    }

    fn all(&mut self) -> Result<FilterExpr, FilterError> {
        self.several("and", Self::one, FilterExpr::And)
    }

    /// Parses one or more expressions, joined by a keyword.
    fn several(
        &mut self,
        word: &str,
        one: fn(&mut Self) -> Result<FilterExpr, FilterError>,
        join: fn(Vec<FilterExpr>) -> FilterExpr,
    ) -> Result<FilterExpr, FilterError> {
        let first = one(self)?;
        let next = |parser: &mut Self| {
            parser
                .tokens
                .next_if(|(_, token)| is_word(token, word))
                .is_some()
        };
        if !next(self) {
            return Ok(first);
        }
        let mut all = vec![first, one(self)?];
        while next(self) {
            all.push(one(self)?);
        }
        Ok(join(all))
    }

    fn one(&mut self) -> Result<FilterExpr, FilterError> {
        let Some((at, token)) = self.tokens.next() else {
            return Err(self.ended("a comparison"));
        };
        match token {
            Token::Word(word) => self.comparison(at, word).map(FilterExpr::Compare),
            Token::Open => {
                self.depth = self.depth.saturating_add(1);
                if self.depth > MAX_DEPTH {
                    return Err(FilterError::new(
                        at,
                        format!(
                            "Parentheses are nested more than {MAX_DEPTH} levels deep. Remove some of them."
                        ),
                    ));
                }
                let inner = self.any()?;
                self.expect(&Token::Close, "`)`, `and` or `or`")?;
                self.depth = self.depth.saturating_sub(1);
                Ok(inner)
            }
            _ => Err(FilterError::new(
                at,
                format!(
                    "A comparison must start with the name of a field, without quotes. {}",
                    self.possible()
                ),
            )),
        }
    }

    fn comparison(&mut self, at: usize, name: &str) -> Result<Comparison, FilterError> {
        let field = self
            .fields
            .iter()
            .copied()
            .find(|field| field.is_named(name));
        let Some(field) = field else {
            let text = format!(
                "This collection cannot be filtered by this field. {}",
                self.possible()
            );
            return Err(FilterError::new(at, text));
        };
        let possible = || one_of(field.operators().map(Operator::as_str));
        let Some((place, token)) = self.tokens.next() else {
            return Err(self.ended(&possible()));
        };
        let fits = |operator: &Operator| is_word(&token, operator.as_str());
        let Some(operator) = field.operators().find(fits) else {
            let text = format!(
                "`{}` does not support this operator. Expected {}.",
                field.as_str(),
                possible()
            );
            return Err(FilterError::new(place, text));
        };
        let values = if operator == Operator::In {
            self.list(field)?
        } else {
            vec![self.value(field, operator)?]
        };
        Ok(Comparison {
            field,
            operator,
            values,
            at,
        })
    }

    fn list(&mut self, field: FilterField) -> Result<Vec<FilterValue>, FilterError> {
        self.expect(&Token::Open, "`(`, followed by values")?;
        let mut values = vec![self.value(field, Operator::In)?];
        while self
            .tokens
            .next_if(|(_, token)| *token == Token::Comma)
            .is_some()
        {
            values.push(self.value(field, Operator::In)?);
        }
        self.expect(&Token::Close, "`,` or `)`")?;
        Ok(values)
    }

    fn value(
        &mut self,
        field: FilterField,
        operator: Operator,
    ) -> Result<FilterValue, FilterError> {
        let source = field.source();
        let form = match source {
            FilterSource::Identifiers => "an identifier in single quotes, such as 'crm:17'",
            FilterSource::Date => "a date, such as '2026-11-01T00:00:00Z' or '2026-11-01'",
            FilterSource::EmailAddresses => "an e-mail address in single quotes",
            FilterSource::UniqueName | FilterSource::Through(_) => "a name in single quotes",
            FilterSource::Text { .. } => "a text in single quotes",
        };
        let Some((at, token)) = self.tokens.next() else {
            return Err(self.ended(form));
        };
        self.values = self.values.saturating_add(1);
        if self.values > MAX_VALUES {
            return Err(FilterError::new(
                at,
                format!(
                    "The filter has more than {MAX_VALUES} values. Split it into several requests."
                ),
            ));
        }
        let value = match (&token, source) {
            (Token::Quoted(text), FilterSource::Date) => date(text).map(FilterValue::Date),
            (Token::Word(text), FilterSource::Date) => {
                // The rest of a date whose `+` is a space in the query.
                let zone = self
                    .tokens
                    .next_if(|(_, token)| matches!(token, Token::Word(word) if is_offset(word)));
                let date = match zone {
                    Some((_, Token::Word(zone))) => date(&format!("{text} {zone}")),
                    _ => date(text),
                };
                date.map(FilterValue::Date)
            }
            (Token::Quoted(text), FilterSource::Identifiers) => {
                Identifier::parse(text).and_then(|it| self.identifier(it))
            }
            (Token::Quoted(text), FilterSource::EmailAddresses) => Some(forms::match_form(text))
                .filter(|text| !text.is_empty())
                .map(|address| FilterValue::Find(FindKey::Email(address.into_owned()))),
            (Token::Quoted(text), FilterSource::UniqueName | FilterSource::Through(_)) => {
                let name = text.clone().into_owned();
                Some(FilterValue::Find(FindKey::Name(name)))
            }
            (Token::Quoted(text), FilterSource::Text { .. }) => match key(field, operator, text) {
                Some(key) if !key.is_comparable() => {
                    let text = format!(
                        "The text has more than {MAX_TEXT} characters. Use its beginning with `sw`."
                    );
                    return Err(FilterError::new(at, text));
                }
                key => key.map(FilterValue::Text),
            },
            _ => None,
        };
        value.ok_or_else(|| {
            let name = field.as_str();
            FilterError::new(at, format!("`{name}` must be compared with {form}."))
        })
    }

    /// Converts an identifier; one of the server's own becomes the id of the record.
    fn identifier(&self, identifier: Identifier) -> Option<FilterValue> {
        if identifier.system() == self.namespace {
            Id::new(identifier.id()).map(FilterValue::Id)
        } else {
            Some(FilterValue::Find(FindKey::Identifier(identifier)))
        }
    }

    fn expect(&mut self, wanted: &Token<'_>, possible: &str) -> Result<(), FilterError> {
        match self.tokens.next() {
            Some((_, token)) if token == *wanted => Ok(()),
            Some((at, _)) => Err(FilterError::new(
                at,
                format!("Unexpected token. Expected {possible}."),
            )),
            None => Err(self.ended(possible)),
        }
    }

    fn ended(&self, missing: &str) -> FilterError {
        FilterError::new(
            self.text.chars().count(),
            format!("Unexpected end of the filter. Expected {missing}."),
        )
    }

    fn possible(&self) -> String {
        format!(
            "Filterable fields: {}.",
            one_of(self.fields.iter().map(|field| field.as_str()))
        )
    }
}

/// Returns the key of a text, or of the beginning of a text.
fn key(field: FilterField, operator: Operator, text: &str) -> Option<TextKey> {
    match operator {
        Operator::StartsWith => TextKey::beginning(field, text),
        _ => TextKey::new(field, text),
    }
}

fn is_word(token: &Token<'_>, wanted: &str) -> bool {
    matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(wanted))
}

/// Parses a timestamp, or the start of a day in UTC.
///
/// In a query, a `+` that is not encoded is a space.
fn date(text: &str) -> Option<Timestamp> {
    let day = || Date::parse(text).and_then(|_| Timestamp::parse(&format!("{text}T00:00:00Z")));
    let with_plus = || {
        let (time, zone) = text.rsplit_once(' ').filter(|(_, zone)| is_offset(zone))?;
        Timestamp::parse(&format!("{time}+{zone}"))
    };
    Timestamp::parse(text).or_else(day).or_else(with_plus)
}

/// Returns whether a text is a distance from UTC, such as `02:00`, `0200` or `02`.
fn is_offset(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    matches!(digits, 2 | 4)
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b':')
}
