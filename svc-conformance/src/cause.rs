//! What a finding is about: the one thing to mend that several rows can fail for.

use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::check::Cx;
use crate::fields::{self, Field, Shape, Way};
use crate::generate::{self, Shown, Step};
use crate::passive::Known;
use crate::recorder::Exchange;
use crate::session::Record;
use crate::world::is_unset;

/// The sorts of causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Flaw {
    /// A key lacks a right that the declaration promises.
    KeyRight,
    /// An operation or a helper that is declared is refused.
    Refused,
    /// A field that is declared as writable is not stored.
    NotStored,
    /// A field reads otherwise than it was sent.
    Altered,
    /// A field that is declared is missing from answers.
    Missing,
    /// A field has another type, or a value that is not listed.
    Type,
    /// A link that is declared is missing, or leads elsewhere.
    Link,
    /// A helper takes an action function and does not do it.
    Function,
    /// A header of every answer.
    Header,
    /// The form of error bodies.
    ErrorBody,
    /// The pages of collections.
    Paging,
    /// The dates that the server keeps, or the form of dates.
    Dates,
}

/// The cause of a finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cause {
    /// Its sort.
    pub flaw: Flaw,
    /// The field, link, operation or header; empty where the sort says all.
    pub subject: String,
}

impl Flaw {
    /// What is wrong and what to do, each with `{}` for the subject.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::KeyRight => {
                ("the key may not use {}, which is declared", "Give the run a key with this right, or declare less.")
            }
            Self::Refused => ("{} is declared and refused", "Serve it, or take it out of the declaration."),
            Self::NotStored => ("`{}` is declared as writable and not stored", "Declare less or store it."),
            Self::Altered => (
                "`{}` reads otherwise than it was sent",
                "Store what a client sends as it is; declare a field that the server computes with `writable = false`.",
            ),
            Self::Missing => ("`{}` is declared and missing from answers", "Declare less or send it."),
            Self::Type => (
                "`{}` has another type or value than the interface gives it",
                "Send the JSON type and, where values are listed, one of them.",
            ),
            Self::Link => ("the link `{}` is declared, and missing or leads elsewhere", "Declare less or send it."),
            Self::Function => (
                "helpers do not do as `{}` says, which is declared",
                "Run the function for every helper, or take it out of `action_functions`.",
            ),
            Self::Header => (
                "the header `{}` is not what the interface asks for",
                "Set it for all successful answers at one place.",
            ),
            Self::ErrorBody => (
                "error bodies have another form than the interface's",
                "Build all of them at one place: an object `error` with `request_type`, `response_code` and `resource_status`.",
            ),
            Self::Paging => (
                "the pages of collections do not add up",
                "Compute `page`, `per_page`, `total_pages`, `total_records`, the links and the members of a page from one query.",
            ),
            Self::Dates => (
                "dates are not kept or written as the interface asks",
                "Set `created_date` once and `modified_date` at each change, both by the server, in ISO 8601 with `Z`.",
            ),
        }
    }
}

impl Cause {
    pub(crate) fn new(flaw: Flaw, subject: impl Into<String>) -> Self {
        Self { flaw, subject: subject.into() }
    }

    /// That a field of the catalogue has a flaw; what stands in a shared object is named by the field that carries it.
    pub(crate) fn of_field(flaw: Flaw, field: &Field) -> Self {
        let carrier =
            fields::SHARED.iter().find(|(object, _)| *object == field.owner).and_then(|(_, names)| names.first());
        let owner = match carrier {
            Some(name) if fields::all().iter().any(|one| one.path == *name && one.shape == Shape::Objects) => {
                format!("{name}[]")
            }
            Some(name) => (*name).to_owned(),
            None => field.owner.to_owned(),
        };
        Self::new(flaw, format!("{owner}.{}", field.path))
    }

    /// The cause of a value that is not read back: the innermost field at or below a place that is not.
    pub(crate) fn lost(cx: &Cx, one: &str, sent: &Value, read: &Value, place: &[Step]) -> Option<Self> {
        let prefix = &cx.declared().text.custom_field_prefix;
        let differs = |shown: &Shown<'_>| {
            let is_kept = shown.field.way == Way::RoundTrip && shown.way.starts_with(place);
            is_kept
                && shown.has_place_in(read)
                && !generate::same(shown.field, shown.sent, shown.in_another(read), prefix)
        };
        let all = generate::shown(cx.declared(), one, sent);
        let inner = all.iter().filter(|shown| differs(shown));
        let shown = inner.reduce(|one, other| if other.way.len() > one.way.len() { other } else { one })?;
        let flaw = if is_unset(shown.in_another(read)) { Flaw::NotStored } else { Flaw::Altered };
        Some(Self::of_field(flaw, shown.field))
    }

    /// As [`Cause::lost`], for one field of a record whose kind its address tells.
    pub(crate) fn lost_in(cx: &Cx, record: &Record, name: &str, sent: &Value) -> Option<Self> {
        match cx.run.relations.of(&record.link("self")?)? {
            Known::Record(kind) => Self::lost(cx, kind.one, &json!({ name: sent }), &record.json, &[]),
            _ => None,
        }
    }

    /// What is wrong, in words.
    #[must_use]
    pub fn what(&self) -> String {
        self.flaw.words().0.replace("{}", &self.subject)
    }

    /// What to do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        self.flaw.words().1
    }

    /// The cause that the last exchange of a check tells for a row.
    pub(crate) fn last(cx: &Cx, row: &str) -> Option<Self> {
        Self::seen(cx, row, cx.span().1)
    }

    /// The cause that a row and the exchange before it tell, where the check did not name one.
    pub(crate) fn seen(cx: &Cx, row: &str, number: usize) -> Option<Self> {
        let exchange = cx.run.recorder.between(number, number);
        let exchange = exchange.first().map(AsRef::as_ref);
        let status = exchange.and_then(|exchange| exchange.answer.as_ref().ok()).map_or(0, |answer| answer.status);
        let operation = || exchange.and_then(|exchange| operation(cx, exchange));
        let with_key = |exchange: &Exchange| exchange.headers.iter().any(|(_, value)| value == "<key>");
        let area = row.split('-').next().unwrap_or_default();
        if matches!(status, 401 | 403) && area != "AUT" && exchange.is_some_and(with_key) {
            return Some(Self::new(Flaw::KeyRight, operation()?));
        }
        let expects_success = matches!(area, "COL" | "CRU" | "HLP" | "SCH")
            || matches!(row, "ERR-10" | "ERR-13" | "ERR-15" | "ERR-17" | "HAL-16");
        let is_formless = |exchange: &Exchange| {
            let body =
                exchange.answer.as_ref().ok().and_then(|answer| serde_json::from_str::<Value>(&answer.body).ok());
            body.is_none_or(|body| !body.get(cx.declared().rel("error")).is_some_and(Value::is_object))
        };
        if !expects_success && area != "AUT" && status >= 400 && status != 404 && exchange.is_some_and(is_formless) {
            return Some(Self::new(Flaw::ErrorBody, ""));
        }
        let condition = Cx::row(row).map_or("", |row| row.condition.as_str());
        if let Some(link) = condition.strip_prefix("link:").filter(|link| !link.contains(' ') && area == "RES") {
            return Some(Self::new(Flaw::Link, link));
        }
        if let Some(function) = condition.strip_prefix("haf.").filter(|_| matches!(area, "HAF" | "ERR")) {
            return Some(Self::new(Flaw::Function, if function == "*" { "action_functions" } else { function }));
        }
        let (flaw, subject) = match row {
            // Where nothing was refused, there is no error body that could have another form.
            "ERR-33" if status < 400 => return None,
            "HAL-03" => (Flaw::Header, "Content-Type"),
            "HAL-04" => (Flaw::Header, "Cache-Control"),
            "ERR-01" | "ERR-03" | "ERR-33" => (Flaw::ErrorBody, ""),
            _ if ("ERR-18"..="ERR-28").contains(&row) => (Flaw::ErrorBody, ""),
            "LIM-01" => (Flaw::Paging, ""),
            _ if row != "COL-26" && ("COL-20"..="COL-28").contains(&row) => (Flaw::Paging, ""),
            "TYP-06" | "TYP-07" | "TYP-15" | "TYP-16" | "TYP-17" | "CRU-19" => (Flaw::Dates, ""),
            _ => return Some(Self::new(Flaw::Refused, operation().filter(|_| expects_success && status >= 400)?)),
        };
        Some(Self::new(flaw, subject))
    }
}

/// The declared operation that a request is, such as `people.create` or `helper.record_signature`.
fn operation(cx: &Cx, exchange: &Exchange) -> Option<String> {
    let post = Method::POST.as_str();
    let (kind, operation) = match (cx.run.relations.of(&exchange.url)?, exchange.method.as_str()) {
        (Known::Helper(kind), method) if method == post => {
            return kind.helper.filter(|helper| cx.declared().helps(helper)).map(|helper| format!("helper.{helper}"));
        }
        (Known::Collection(kind), "GET") => (kind, "list"),
        (Known::Collection(kind), method) if method == post => (kind, "create"),
        (Known::Record(kind), "GET") => (kind, "read"),
        (Known::Record(kind), "PUT") => (kind, "update"),
        (Known::Record(kind), "DELETE") => (kind, "delete"),
        _ => return None,
    };
    cx.declared().offers(kind.one, operation).then(|| format!("{}.{operation}", kind.many))
}
