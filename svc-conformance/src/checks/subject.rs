//! The kind that a check is about, its bodies, and the smallest change of a record.

use serde_json::{Value, json};

use crate::check::CheckContext;
use crate::client::CheckClient;
use crate::generate::{self, BodyVariant};
use crate::kinds::kind;
use crate::outcome::{CheckStop, none};
use crate::response::Representation;
use crate::values::instant;

/// Returns a body of the kind of the check. Ends the check if the kind has no writable field.
pub(super) fn body(cx: &CheckContext, turn: BodyVariant, name: &str) -> Result<Value, CheckStop> {
    let one = cx.check.subject;
    let unwritable = || none(format!("no field of {one} is declared writable"));
    let strategy =
        generate::body(cx.declared(), one, turn, &cx.token(name)).ok_or_else(unwritable)?;
    generate::sample(&strategy, cx.seed(name)).ok_or_else(unwritable)
}

/// Returns the kind of the check. Ends the check if the kind cannot be written.
pub(super) fn subject(cx: &CheckContext) -> Result<&'static str, CheckStop> {
    let one = cx.check.subject;
    if cx.declared().fields(one).is_none() {
        return Err(none(format!("{one} is not declared")));
    }
    let helper = kind(one)
        .and_then(|kind| kind.helper)
        .is_some_and(|helper| cx.declared().helps(helper));
    if !cx.declared().offers(one, "create") && !helper {
        return Err(none(format!("no way to create a {one} is declared")));
    }
    Ok(one)
}

/// Whether a value is a declared default. A default that describes a time in words matches any
/// timestamp.
pub(super) fn is_default(default: &str, got: Option<&Value>) -> bool {
    match got {
        Some(Value::String(text)) => {
            text == default || (default.contains("time") && instant(text).is_some())
        }
        Some(other) => default
            .parse::<Value>()
            .is_ok_and(|default| default == *other),
        None => true,
    }
}

/// Text fields that an update may set, in order of preference.
const TEXTS: [&str; 9] = [
    "origin_system",
    "title",
    "name",
    "subject",
    "description",
    "comment",
    "comments",
    "given_name",
    "value",
];

/// Returns the text field that an update of a kind may set. `None` if no update is declared.
pub(super) fn changeable_text(cx: &CheckContext, one: &str) -> Option<&'static str> {
    let is_free = |name: &&str| {
        let field = cx.declared().field(one, name);
        field.is_some_and(|field| field.writable && field.readable && !field.computed)
    };
    TEXTS
        .into_iter()
        .find(is_free)
        .filter(|_| cx.declared().offers(one, "update"))
}

/// Changes a text field of a record. Returns `None` if none can be changed.
pub(super) async fn touch(
    api: &CheckClient<'_>,
    one: &str,
    record: &Representation,
) -> Result<Option<Representation>, CheckStop> {
    let Some(text) = changeable_text(api.cx, one) else {
        return Ok(None);
    };
    let answer = api
        .put(&record.self_url()?, &json!({ text: api.cx.unique() }))
        .await?;
    Ok(Some(answer.record()).filter(|_| answer.status == 200))
}
