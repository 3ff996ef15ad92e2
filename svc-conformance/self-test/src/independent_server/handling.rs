//! Members that the service does not accept: rejected with `Prefer: handling=strict`, otherwise
//! named in the response (STR).

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request};
use serde_json::{Map, Value};

use super::answer::{self, BodyProblem, ServerResponse};
use super::check::is_known_anywhere;
use super::kinds::{self, ServerKind};
use super::options::ServerOptions;
use super::write::TenantWrite;
use crate::fields::{self, FieldShape, ObjectField};

/// A write, as a client sent it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent<'s> {
    pub(super) kind: &'static ServerKind,
    /// The name of the helper, for a helper request.
    pub(super) helper: Option<&'s str>,
    pub(super) body: &'s Map<String, Value>,
    pub(super) headers: &'s HeaderMap,
    pub(super) has_key: bool,
}

/// Returns whether a client prefers errors for members that are not accepted.
fn is_strict(headers: &HeaderMap) -> bool {
    let lines = headers
        .get_all("prefer")
        .iter()
        .filter_map(|line| line.to_str().ok());
    lines
        .flat_map(|line| line.split(','))
        .any(|one| one.trim() == "handling=strict")
}

/// Returns the header `Preference-Applied` of a response.
pub(super) fn applied(options: &ServerOptions, request: &Request<Bytes>) -> Option<HeaderValue> {
    let is_write = matches!(*request.method(), Method::POST | Method::PUT);
    let is_applied = options.strict_handling && is_write && is_strict(request.headers());
    is_applied.then(|| HeaderValue::from_static("handling=\"strict\""))
}

impl TenantWrite<'_> {
    /// Executes a write unless one of its members is an error.
    pub(super) fn handled(
        &mut self,
        sent: Sent<'_>,
        act: impl FnOnce(&mut Self) -> ServerResponse,
    ) -> ServerResponse {
        if !self.options.strict_handling {
            return act(self);
        }
        let mut surplus = Surplus::default();
        surplus.of(&sent);
        if is_strict(sent.headers) {
            // The innermost member first.
            let problems: Vec<BodyProblem> = surplus
                .unknown
                .into_iter()
                .chain(surplus.read_only)
                .rev()
                .collect();
            if !problems.is_empty() {
                return answer::refused(self.options, 400, sent.kind.one, problems);
            }
            return act(self);
        }
        let mut answer = act(self);
        if let Some(Value::Object(shown)) = answer.body.as_mut()
            && answer.status < 300
            && sent.has_key
            && !surplus.unknown.is_empty()
        {
            let warnings = surplus
                .unknown
                .iter()
                .map(|problem| answer::description(problem, "error_code"));
            shown.insert("more:warnings".to_owned(), Value::Array(warnings.collect()));
        }
        answer
    }
}

/// The members of a body that are not accepted.
#[derive(Debug, Default)]
struct Surplus {
    unknown: Vec<BodyProblem>,
    read_only: Vec<BodyProblem>,
}

impl Surplus {
    fn of(&mut self, sent: &Sent<'_>) {
        let own = match sent.helper {
            Some("person_signup" | "record_canvass") => &[],
            _ => sent.kind.fields(),
        };
        self.object(own, sent.body, "");
        let parts = if sent.helper.is_some() {
            &["person", "canvass"][..]
        } else {
            &[]
        };
        for part in parts {
            if let (Some(kind), Some(Value::Object(inner))) =
                (kinds::kind(part), sent.body.get(*part))
            {
                self.object(kind.fields(), inner, part);
            }
        }
    }

    fn object(&mut self, fields: &[ObjectField], body: &Map<String, Value>, path: &str) {
        for (name, value) in body {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            let field = fields.iter().find(|field| field.name == *name);
            if matches!(name.as_str(), "created_date" | "modified_date")
                || field.is_some_and(|field| field.computed)
            {
                self.read_only.push(BodyProblem::new(
                    "NOT_YOURS_TO_SET",
                    "The service sets this member.",
                    &[&path],
                ));
            } else if let Some(field) = field {
                self.value(&field.shape, value, &path);
            } else if !is_known_anywhere(name) {
                self.unknown.push(BodyProblem::new(
                    "WHAT_IS_THIS",
                    "This member is unknown.",
                    &[&path],
                ));
            }
        }
    }

    fn value(&mut self, shape: &FieldShape, value: &Value, path: &str) {
        match (shape, value) {
            (FieldShape::Object(fields), Value::Object(inner)) => self.object(fields, inner, path),
            (FieldShape::Person, Value::Object(inner)) => {
                self.object(fields::fields("person"), inner, path);
            }
            (FieldShape::Array(item), Value::Array(list)) => {
                for (at, value) in list.iter().enumerate() {
                    self.value(item, value, &format!("{path}[{at}]"));
                }
            }
            _ => {}
        }
    }
}
