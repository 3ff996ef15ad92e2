//! The filter and the order of a list request.
//!
//! Requirements: FLT-01 to FLT-14.

use super::{Api, preferences::HandlingPreference};
use crate::{
    auth::Operation,
    error::{ErrorCode, Problem, PropertyPath},
    filter::{FILTER, Filter, FilterError, FilterField, ORDER},
    link::Scope,
    model::Kind,
    page::{ListRequest, PageParameters, ParameterValues, QueryParameter, decoded, pairs},
    read::MAX_PROBLEMS,
};

/// A list request, and the query parameters that links to other pages repeat, such as
/// `&order=modified_date`.
pub(super) struct ParsedListRequest {
    pub(super) request: ListRequest,
    /// Whether the query has the page number, which the `self` link then repeats.
    pub(super) names_page: bool,
    pub(super) repeated: String,
}

impl Api {
    /// Returns the fields by which collections of a kind can be filtered. They can be ordered by
    /// the dates among them.
    ///
    /// Requirements: FLT-01, FLT-09.
    #[must_use]
    pub fn filter_fields(&self, kind: Kind) -> &[FilterField] {
        let registered = self.registered(kind);
        if registered.offers(kind, Operation::List) {
            &registered.filterable
        } else {
            &[]
        }
    }

    /// Returns whether any collection can be filtered.
    ///
    /// If not, `filter` and `order` are unknown query parameters like any other.
    ///
    /// Requirements: UND-14.
    #[must_use]
    pub fn has_filters(&self) -> bool {
        Kind::ALL
            .iter()
            .any(|kind| !self.filter_fields(*kind).is_empty())
    }

    /// Returns the descriptions of `filter` and `order` for the collection of all records of a
    /// kind, for documents.
    #[must_use]
    pub fn filter_parameters(&self, kind: Kind) -> Vec<QueryParameter> {
        let fields = self.filter_fields(kind);
        let Some(first) = fields.first() else {
            return Vec::new();
        };
        let names: Vec<&str> = fields.iter().map(|field| field.as_str()).collect();
        let dates: Vec<&'static str> = fields
            .iter()
            .filter(|field| field.is_date())
            .map(|field| field.as_str())
            .collect();
        let text = format!(
            "Return only records that match this expression; filterable: `{}`. The filters page has the grammar",
            names.join("`, `")
        );
        let example = fields
            .iter()
            .find(|field| **field == FilterField::ModifiedDate)
            .unwrap_or(first)
            .example();
        let filter = QueryParameter::new(FILTER, text, ParameterValues::Text { example });
        let text = String::from(
            "The date by which the records are ordered, ascending; the default is the order of creation",
        );
        let order = QueryParameter::new(ORDER, text, ParameterValues::OneOf(dates.clone()));
        std::iter::once(filter)
            .chain((!dates.is_empty()).then_some(order))
            .collect()
    }

    /// Reads the query of a collection.
    ///
    /// Requirements: UND-14.
    pub(super) fn list_request(
        &self,
        kind: Kind,
        scope: &Scope,
        query: Option<&str>,
        handling: HandlingPreference,
        namespace: &str,
    ) -> Result<ParsedListRequest, Vec<Problem>> {
        let fields = if *scope == Scope::All {
            self.filter_fields(kind)
        } else {
            &[]
        };
        let (mut parameters, mut problems) = (PageParameters::default(), Vec::new());
        let (mut filter, mut order, mut repeated) = (None, None, String::new());
        for (name, value) in pairs(query.unwrap_or_default()) {
            let is_filter = name == FILTER;
            let is_ours = is_filter || name == ORDER;
            if parameters.take(&name, value) {
                continue;
            }
            if !is_ours || !self.has_filters() {
                let unknown = self.unknown_parameter(&name, handling);
                problems.extend(unknown.filter(|_| problems.len() < MAX_PROBLEMS));
                continue;
            }
            let value = decoded(value);
            let is_there = if is_filter {
                filter.is_some()
            } else {
                order.is_some()
            };
            let read = match is_filter {
                _ if is_there => Err(problem(&name, "{property} must not be repeated.")),
                _ if fields.is_empty() => Err(self.no_filter(kind, scope, &name)),
                true => Filter::parse(&value, fields, namespace)
                    .map_err(Problem::from)
                    .map(|parsed| {
                        filter = Some(match kind {
                            Kind::Person if self.inner.store.merges_people() => {
                                parsed.with_merged_people(namespace)
                            }
                            _ => parsed,
                        });
                    }),
                false => order_field(&value, fields).map(|field| order = Some(field)),
            };
            problems.extend(read.err().filter(|_| problems.len() < MAX_PROBLEMS));
            repeated.push('&');
            repeated.push_str(&name);
            repeated.push('=');
            encode(&value, &mut repeated);
        }
        let sizes = self.limits();
        let page = match parameters.read(sizes.default_page_size, sizes.max_page_size) {
            Ok(page) => page,
            Err(wrong) => return Err(wrong.into_iter().chain(problems).collect()),
        };
        let mut request = ListRequest::new(scope.clone(), page.request);
        (request.filter, request.order) = (filter, order);
        if problems.is_empty() {
            problems.extend(request.planned().err().map(|wrong: FilterError| {
                let of_order = request
                    .filter
                    .as_ref()
                    .is_some_and(|filter| filter.plan().is_ok());
                if of_order {
                    problem(ORDER, wrong.message)
                } else {
                    Problem::from(wrong)
                }
            }));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(ParsedListRequest {
            request,
            names_page: page.names_page,
            repeated: page.repeated + &repeated,
        })
    }

    /// Returns the problem of an unknown parameter that resembles one of a collection. Other unknown
    /// parameters are ignored, except with strict handling.
    ///
    /// Requirements: UND-14.
    fn unknown_parameter(&self, name: &str, handling: HandlingPreference) -> Option<Problem> {
        let is_known = |meant: &&str| ![FILTER, ORDER].contains(meant) || self.has_filters();
        let meant = similar(name).filter(is_known);
        if meant.is_none() && handling != HandlingPreference::Strict {
            return None;
        }
        let text = match meant {
            Some(meant) => {
                format!("{{property}} is not a parameter of this collection. Use `{meant}`.")
            }
            None => String::from("{property} is not a parameter of this collection."),
        };
        let property = PropertyPath::member(name.to_owned());
        let problem = Problem::new(ErrorCode::ParameterUnknown, property, text);
        Some(match meant {
            Some(meant) => problem.with_hint(meant),
            None => problem,
        })
    }

    /// Returns the problem for a collection that cannot be filtered.
    fn no_filter(&self, kind: Kind, scope: &Scope, name: &str) -> Problem {
        let plural = kind.plural();
        let text = if matches!(scope, Scope::Under(_)) && !self.filter_fields(kind).is_empty() {
            format!(
                "{{property}} is not supported for the {plural} of one record. Use the collection of all {plural}."
            )
        } else {
            format!(
                "{{property}} is not supported for {plural}. The capability document names the collections that support it."
            )
        };
        problem(name, text)
    }
}

/// Names of parameters in lower case without separators, each with the parameter of a collection that a
/// client means by it.
const SIMILAR: [(&str, &[&str]); 4] = [
    (FILTER, &["filter", "filters", "filterby", "where"]),
    (
        ORDER,
        &["order", "orders", "orderby", "ordering", "sort", "sortby"],
    ),
    (
        "per_page",
        &["perpage", "pagesize", "limit", "top", "maxresults"],
    ),
    ("page", &["page", "pages", "pagenumber", "offset", "skip"]),
];

/// Returns the parameter of a collection that an unknown name resembles.
fn similar(name: &str) -> Option<&'static str> {
    // The name of a member in brackets is not compared, as in `filter[email]`.
    let name = name.split('[').next().unwrap_or_default();
    let plain: String = name
        .chars()
        .filter(|one| !matches!(one, '$' | '_' | '-' | ' '))
        .collect();
    let plain = plain.to_ascii_lowercase();
    let is_typo = strsim::osa_distance(&plain, FILTER) == 1;
    let named = SIMILAR.iter().find(|(_, names)| names.contains(&&*plain));
    named
        .map(|(meant, _)| *meant)
        .or_else(|| is_typo.then_some(FILTER))
}

fn problem(name: &str, text: impl Into<std::borrow::Cow<'static, str>>) -> Problem {
    Problem::new(ErrorCode::FilterInvalid, name, text)
}

/// Reads the date of the `order` parameter.
fn order_field(value: &str, fields: &[FilterField]) -> Result<FilterField, Problem> {
    let mut dates = fields.iter().copied().filter(|field| field.is_date());
    let named = dates.clone().find(|date| date.as_str() == value);
    named.ok_or_else(|| {
        let possible: Vec<String> = dates
            .by_ref()
            .map(|date| format!("`{}`", date.as_str()))
            .collect();
        let possible = if possible.is_empty() {
            String::from("none")
        } else {
            possible.join(" or ")
        };
        problem(
            ORDER,
            format!("{{property}} is not a sortable date of this collection. Allowed: {possible}."),
        )
    })
}

/// Percent-encodes every character that a query cannot contain literally.
fn encode(text: &str, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |value: u8| {
        DIGITS
            .get(usize::from(value & 15))
            .copied()
            .map_or('0', char::from)
    };
    out.reserve(text.len().saturating_mul(2));
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.extend(['%', digit(byte >> 4), digit(byte)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn und_14_names_of_other_apis_resemble_a_parameter() {
        for (meant, names) in [
            (
                FILTER,
                &[
                    "$filter",
                    "filters",
                    "Filter",
                    "filter[email]",
                    "fitler",
                    "where",
                ][..],
            ),
            (
                ORDER,
                &["order_by", "orderBy", "$orderby", "sort", "sort-by"],
            ),
            (
                "per_page",
                &["$top", "limit", "pageSize", "page_size", "perPage"],
            ),
            ("page", &["Page", "page[number]", "offset", "$skip"]),
        ] {
            for name in names {
                assert_eq!(similar(name), Some(meant), "{name}");
            }
        }
        for name in [
            "x",
            "",
            "q",
            "after",
            "utm_source",
            "other",
            "format",
            "$count",
            "fields",
        ] {
            assert_eq!(similar(name), None, "{name}");
        }
    }

    /// FLT-08: the filter in a link reads back unchanged.
    #[test]
    fn a_text_is_encoded_for_a_query() {
        let mut out = String::new();
        encode("name eq 'a+b & é'", &mut out);
        assert_eq!(out, "name%20eq%20%27a%2Bb%20%26%20%C3%A9%27");
        let query = format!("filter={out}");
        let read: Vec<_> = pairs(&query)
            .map(|(name, value)| (name, decoded(value)))
            .collect();
        assert_eq!(read, [("filter".into(), "name eq 'a+b & é'".into())]);
    }
}
