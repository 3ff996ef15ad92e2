//! Derives the cause of a failure from the exchange before it.

use http::Method;
use serde_json::Value;

use crate::catalogue::Catalogue;
use crate::cause::{Cause, CauseKind};
use crate::ids;
use crate::linked_resources::LinkedResource;
use crate::recorder::Exchange;
use crate::run_context::RunContext;

/// Returns the cause that a requirement and the exchange before it suggest, if the check did not
/// name one.
pub(crate) fn seen(run: &RunContext, row: &str, number: usize) -> Option<Cause> {
    let exchange = run.recorder.between(number, number);
    let exchange = exchange.first().map(AsRef::as_ref);
    let status = exchange
        .and_then(|exchange| exchange.response.as_ref().ok())
        .map_or(0, |answer| answer.status);
    let operation = || exchange.and_then(|exchange| operation(run, exchange));
    let with_key = |exchange: &Exchange| exchange.headers.iter().any(|(_, value)| value == "<key>");
    let area = row.split('-').next().unwrap_or_default();
    if matches!(status, 401 | 403) && area != "AUT" && exchange.is_some_and(with_key) {
        return Some(Cause::new(CauseKind::KeyRight, operation()?));
    }
    let expects_success = matches!(area, "COL" | "CRU" | "HLP" | "SCH")
        || matches!(
            row,
            ids::ERR_10 | ids::ERR_13 | ids::ERR_15 | ids::ERR_17 | ids::HAL_16
        );
    let is_formless = |exchange: &Exchange| {
        let body = exchange
            .response
            .as_ref()
            .ok()
            .and_then(|answer| serde_json::from_str::<Value>(&answer.body).ok());
        body.is_none_or(|body| {
            !body
                .get(run.declared.rel("error"))
                .is_some_and(Value::is_object)
        })
    };
    if !expects_success
        && area != "AUT"
        && status >= 400
        && status != 404
        && exchange.is_some_and(is_formless)
    {
        return Some(Cause::new(CauseKind::ErrorBody, ""));
    }
    let condition = Catalogue::built_in()
        .ok()
        .and_then(|catalogue| catalogue.requirement(row))
        .map_or("", |row| row.condition.as_str());
    if let Some(link) = condition
        .strip_prefix("link:")
        .filter(|link| !link.contains(' ') && area == "RES")
    {
        return Some(Cause::new(CauseKind::Link, link));
    }
    let function = condition
        .strip_prefix("haf.")
        .and_then(|rest| rest.split(' ').next());
    if let Some(function) = function.filter(|_| matches!(area, "HAF" | "ERR")) {
        return Some(Cause::new(
            CauseKind::Function,
            if function == "*" {
                "action_functions"
            } else {
                function
            },
        ));
    }
    let (flaw, subject) = match row {
        // If nothing was rejected, there is no error body.
        ids::ERR_33 if status < 400 => return None,
        ids::HAL_03 => (CauseKind::Header, "Content-Type"),
        ids::HAL_04 => (CauseKind::Header, "Cache-Control"),
        ids::ERR_01 | ids::ERR_03 | ids::ERR_33 => (CauseKind::ErrorBody, ""),
        _ if (ids::ERR_18..=ids::ERR_28).contains(&row) => (CauseKind::ErrorBody, ""),
        ids::LIM_01 => (CauseKind::Paging, ""),
        _ if row != ids::COL_26 && (ids::COL_20..=ids::COL_28).contains(&row) => {
            (CauseKind::Paging, "")
        }
        ids::TYP_15 | ids::TYP_16 | ids::TYP_17 | ids::CRU_19 => (CauseKind::Dates, ""),
        _ => {
            let refused = exchange.filter(|_| expects_success && status >= 400)?;
            return needed(run, refused)
                .or_else(|| Some(Cause::new(CauseKind::Refused, operation()?)));
        }
    };
    Some(Cause::new(flaw, subject))
}

/// Returns the method and status of an exchange that was rejected.
pub(crate) fn refused(run: &RunContext, number: usize) -> Option<(String, u16)> {
    let exchange = run.recorder.between(number, number);
    let exchange = exchange.first()?;
    let status = exchange.response.as_ref().ok()?.status;
    (status >= 400).then(|| (exchange.method.clone(), status))
}

/// Returns the member that an error names, if it was not sent and is not declared as required: this
/// is missing in the declaration.
pub(crate) fn needed(run: &RunContext, exchange: &Exchange) -> Option<Cause> {
    // An update requires no more than what it changes.
    let (LinkedResource::Collection(kind) | LinkedResource::Helper(kind)) =
        run.relations.of(&exchange.url)?
    else {
        return None;
    };
    let sent: Value = serde_json::from_str(&exchange.body).ok()?;
    let answer: Value = serde_json::from_str(&exchange.response.as_ref().ok()?.body).ok()?;
    let mut names = Vec::new();
    named(&answer, &mut names);
    names.into_iter().find_map(|name| {
        let pointer = format!(
            "/{}",
            name.replace('[', "/").replace(']', "").replace('.', "/")
        );
        let steps = name.split('.').map(|step| {
            step.split_once('[')
                .map_or(step.to_owned(), |(name, _)| format!("{name}[]"))
        });
        let path = steps.collect::<Vec<_>>().join(".");
        let is_needed = run
            .declared
            .field(kind.one, &path)
            .is_some_and(|field| field.writable && !field.required);
        let is_sent = sent.pointer(&pointer).is_some();
        (is_needed && !is_sent)
            .then(|| Cause::new(CauseKind::Needed, format!("{}.{path}", kind.one)))
    })
}

/// Collects every name in every `properties` of an error body.
fn named<'v>(value: &'v Value, names: &mut Vec<&'v str>) {
    match value {
        Value::Object(members) => {
            let own = members.get("properties").and_then(Value::as_array);
            names.extend(own.into_iter().flatten().filter_map(Value::as_str));
            members.values().for_each(|value| named(value, names));
        }
        Value::Array(list) => list.iter().for_each(|value| named(value, names)),
        _ => {}
    }
}

/// Returns the declared operation of a request, such as `people.create` or
/// `helper.record_signature`.
fn operation(run: &RunContext, exchange: &Exchange) -> Option<String> {
    let post = Method::POST.as_str();
    let (kind, operation) = match (run.relations.of(&exchange.url)?, exchange.method.as_str()) {
        (LinkedResource::Helper(kind), method) if method == post => {
            return kind
                .helper
                .filter(|helper| run.declared.helps(helper))
                .map(|helper| format!("helper.{helper}"));
        }
        (LinkedResource::Collection(kind), "GET") => (kind, "list"),
        (LinkedResource::Collection(kind), method) if method == post => (kind, "create"),
        (LinkedResource::Record(kind), "GET") => (kind, "read"),
        (LinkedResource::Record(kind), "PUT") => (kind, "update"),
        (LinkedResource::Record(kind), "DELETE") => (kind, "delete"),
        _ => return None,
    };
    run.declared
        .offers(kind.one, operation)
        .then(|| format!("{}.{operation}", kind.many))
}
