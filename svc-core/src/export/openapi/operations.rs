//! What each method of a path takes and answers.

use http::Method;
use serde_json::{Map, Value, json};

use super::{KEY, routes::Route};
use crate::{
    api::Verdict,
    export::json_schema::{Definitions, Form, helper_needs_body, json_schema_names},
    helper::HelperName,
    link::{Address, Scope, Target},
    model::Kind,
};

const HAL: &str = "application/hal+json";
const JSON: &str = "application/json";
const HTML: &str = "text/html";

/// The methods that are described; `OPTIONS` is the same everywhere.
const METHODS: [Method; 6] = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// What a path takes; `None` where nothing of it is served.
pub(super) fn path_item(all: &mut Definitions<'_>, route: &Route, has_html: bool) -> Option<Value> {
    let mut item = Map::new();
    for method in METHODS {
        let verdict = all.api.verdict(&method, &route.target);
        if verdict != Verdict::NotImplemented {
            item.insert(method.as_str().to_ascii_lowercase(), operation(all, &method, route, verdict, has_html));
        }
    }
    if item.is_empty() {
        return None;
    }
    let parameters: Vec<Value> = route.ids.iter().map(|name| path_parameter(all, name, &route.target)).collect();
    if !parameters.is_empty() {
        item.insert("parameters".to_owned(), parameters.into());
    }
    Some(item.into())
}

fn path_parameter(all: &Definitions<'_>, name: &str, target: &Target) -> Value {
    let schema = match target {
        Target::JsonSchema(_) => json!({ "type": "string", "enum": json_schema_names(all.api) }),
        Target::DocsPage(_) => json!({ "type": "string", "pattern": "^[A-Za-z0-9_:\\-]{1,64}$" }),
        _ => json!({ "type": "string", "pattern": "^[A-Za-z0-9_\\-]{1,64}$" }),
    };
    json!({ "name": name, "in": "path", "required": true, "schema": schema })
}

fn operation(all: &mut Definitions<'_>, method: &Method, route: &Route, verdict: Verdict, has_html: bool) -> Value {
    // `HEAD` as `GET`, and `PATCH` as `PUT` where that is switched on.
    let meant = all.api.method(method);
    let (id, summary) = names(&meant, &route.target);
    let mut about = Map::new();
    let is_alias = meant != *method;
    let id = if is_alias { format!("{}_{id}", method.as_str().to_ascii_lowercase()) } else { id };
    about.insert("operationId".to_owned(), id.into());
    about.insert("summary".to_owned(), summary.into());
    if let Some(kind) = kind_of(&route.target) {
        about.insert("tags".to_owned(), json!([kind.plural()]));
    }
    match verdict {
        Verdict::Public => drop(about.insert("security".to_owned(), json!([]))),
        Verdict::Needs { anonymous: true, .. } => drop(about.insert("security".to_owned(), json!([{ KEY: [] }, {}]))),
        _ => {}
    }
    if let (&Method::GET, Target::Collection { .. }) = (&meant, &route.target) {
        about.insert("parameters".to_owned(), paging(all));
    }
    if let Some((schema, is_needed)) = request_body(all, &meant, &route.target) {
        let content = json!({ JSON: { "schema": schema } });
        about.insert("requestBody".to_owned(), json!({ "required": is_needed, "content": content }));
    }
    let mut responses = Map::new();
    for (status, description, content) in successes(all, &meant, &route.target) {
        responses.insert(status.to_owned(), answer(&description, content));
    }
    if let Target::Docs | Target::DocsPage(_) = route.target {
        responses.insert("200".to_owned(), documentation(has_html));
    }
    failures(all, verdict, &meant, route, &mut responses);
    if *method == Method::HEAD {
        for response in responses.values_mut().filter_map(Value::as_object_mut) {
            response.remove("content");
        }
    }
    about.insert("responses".to_owned(), responses.into());
    about.into()
}

fn kind_of(target: &Target) -> Option<Kind> {
    match target {
        Target::Collection { kind, .. } | Target::Record(Address { kind, .. }) => Some(*kind),
        Target::Helper { helper, .. } => Some(helper.records()),
        _ => None,
    }
}

/// The id and the summary of an operation.
fn names(method: &Method, target: &Target) -> (String, String) {
    let words = |name: &str| name.replace('_', " ");
    match target {
        Target::Collection { kind, scope } if *method == Method::POST => {
            let place = match scope {
                Scope::All => String::new(),
                Scope::Under(parent) => format!(" of a {}", words(parent.kind.singular())),
            };
            (format!("create_{}", kind.singular()), format!("Creates a {}{place}.", words(kind.singular())))
        }
        Target::Collection { kind, scope: Scope::All } => {
            (format!("list_{}", kind.plural()), format!("Lists the {}.", words(kind.plural())))
        }
        Target::Collection { kind, scope: Scope::Under(parent) } => (
            format!("list_{}_of_{}", kind.plural(), parent.kind.singular()),
            format!("Lists the {} of a {}.", words(kind.plural()), words(parent.kind.singular())),
        ),
        Target::Record(address) => {
            let (verb, does) = match *method {
                Method::PUT => ("update", "Changes"),
                Method::DELETE => ("delete", "Deletes"),
                _ => ("read", "Reads"),
            };
            let name = address.kind.singular();
            (format!("{verb}_{name}"), format!("{does} a {}.", words(name)))
        }
        Target::Helper { helper, .. } if *method == Method::DELETE => {
            (format!("cancel_{}", helper.as_str()), "Cancels the schedule of a message.".to_owned())
        }
        Target::Helper { helper: helper @ HelperName::Schedule, .. } => {
            (helper.as_str().to_owned(), "Schedules a message.".to_owned())
        }
        Target::Helper { helper, .. } => (helper.as_str().to_owned(), helper.text().to_owned()),
        Target::EntryPoint => ("entry_point".to_owned(), "The entry point: where the links begin.".to_owned()),
        Target::Docs => ("docs".to_owned(), "The documentation's start page.".to_owned()),
        Target::DocsPage(_) => ("docs_page".to_owned(), "The page of a relation or of an error code.".to_owned()),
        Target::Explorer(_) => ("explorer".to_owned(), "The explorer, where there is one.".to_owned()),
        Target::Capabilities => ("capabilities".to_owned(), "What this server supports, for machines.".to_owned()),
        Target::OpenApi => ("openapi".to_owned(), "This document.".to_owned()),
        Target::JsonSchema(_) => ("json_schema".to_owned(), "The JSON Schema of one thing.".to_owned()),
    }
}

/// The parameters of a collection (COL-29, UND-14); anything else is ignored.
fn paging(all: &Definitions<'_>) -> Value {
    let sizes = all.api.sizes();
    json!([
        {
            "name": "page", "in": "query", "description": "The page, counted from 1.",
            "schema": { "type": "integer", "minimum": 1, "default": 1 },
        },
        {
            "name": "per_page", "in": "query",
            "description": format!("Records on a page; more than {} count as that.", sizes.max_page),
            "schema": { "type": "integer", "minimum": 1, "default": sizes.page },
        },
        {
            "name": "after", "in": "query",
            "description": "Where the page begins; only `next` links of this server have it.",
            "schema": { "type": "string" },
        },
    ])
}

/// The body that a method takes, and whether it has to be there.
fn request_body(all: &mut Definitions<'_>, method: &Method, target: &Target) -> Option<(Value, bool)> {
    match (method, target) {
        (&Method::POST, Target::Collection { kind, .. }) => Some((all.create_body(*kind), true)),
        (&Method::PUT, Target::Record(at)) => Some((all.kind(at.kind, Form::Update), true)),
        (&Method::POST, Target::Helper { helper, .. }) => Some((all.helper(*helper), helper_needs_body(*helper))),
        _ => None,
    }
}

type Success = (&'static str, String, Option<(&'static str, Value)>);

/// The answers of a method that succeeds, by response style (CRU-13, CRU-14).
fn successes(all: &mut Definitions<'_>, method: &Method, target: &Target) -> Vec<Success> {
    let is_table = all.api.style_name() == "table";
    let text = |text: &str| text.to_owned();
    match (method, target) {
        (_, Target::EntryPoint) => vec![("200", text("The entry point."), Some((HAL, all.entry_point())))],
        (_, Target::Docs | Target::DocsPage(_) | Target::Explorer(_)) => {
            vec![("200", text("A page."), Some((HTML, json!({ "type": "string" }))))]
        }
        (_, Target::Capabilities) => vec![("200", text("What is supported."), Some((JSON, all.capabilities())))],
        (_, Target::OpenApi | Target::JsonSchema(_)) => {
            vec![("200", text("The document."), Some((JSON, json!({ "type": "object" }))))]
        }
        (&Method::POST, Target::Collection { kind, .. }) => {
            let record = all.kind(*kind, Form::Read);
            let existing = ("200", text("The record, which was there already."), Some((HAL, record.clone())));
            if is_table {
                vec![existing, ("201", text("The record, which is new."), Some((HAL, record)))]
            } else {
                vec![("200", text("The record."), Some((HAL, record)))]
            }
        }
        (_, Target::Collection { kind, .. }) => vec![("200", text("A page."), Some((HAL, all.page(*kind))))],
        (&Method::DELETE, Target::Record(_)) if is_table => vec![("204", text("It is deleted."), None)],
        (&Method::DELETE, _) | (_, Target::Helper { helper: HelperName::Schedule, .. }) => {
            vec![("200", text("It is done."), Some((HAL, all.notice())))]
        }
        (_, Target::Record(at)) => vec![("200", text("The record."), Some((HAL, all.kind(at.kind, Form::Read))))],
        (_, Target::Helper { helper, .. }) => {
            let record = all.kind(helper.records(), Form::Read);
            let is_anonymous = helper.may_be_anonymous() && all.api.anonymous_tenant().is_some();
            let schema = if is_anonymous {
                // Without a key nothing is told (HLP-07).
                json!({ "anyOf": [record, { "type": "object", "maxProperties": 0 }] })
            } else {
                record
            };
            vec![("200", text("What was recorded; without a key, an empty object."), Some((HAL, schema)))]
        }
    }
}

/// A page of the documentation: for people, and for machines, who ask for it with `Accept` (ENT-22).
fn documentation(has_html: bool) -> Value {
    let mut content = Map::new();
    content.insert(HAL.to_owned(), json!({ "schema": { "type": "object" } }));
    if has_html {
        content.insert(HTML.to_owned(), json!({ "schema": { "type": "string" } }));
    }
    json!({ "description": "A page.", "content": content })
}

fn answer(description: &str, content: Option<(&'static str, Value)>) -> Value {
    match content {
        Some((media, schema)) => json!({ "description": description, "content": { media: { "schema": schema } } }),
        None => json!({ "description": description }),
    }
}

/// The answers of a method that fails (ERR-01 to ERR-12, UND-39).
fn failures(
    all: &mut Definitions<'_>,
    verdict: Verdict,
    method: &Method,
    route: &Route,
    responses: &mut Map<String, Value>,
) {
    let error = (HAL, all.error());
    let bodies = all.api.sends_error_bodies();
    let mut add = |status: &str, description: &str, has_body: bool| {
        let content = has_body.then(|| error.clone());
        responses.insert(status.to_owned(), answer(description, content));
    };
    let is_record = matches!(route.target, Target::Collection { .. } | Target::Record(_) | Target::Helper { .. });
    if let Verdict::Needs { .. } = verdict {
        add("401", "The key is missing or not valid.", bodies);
        add("403", "The key may not do this.", bodies);
    }
    if !route.ids.is_empty() {
        add("404", "There is no such record.", bodies || *method != Method::GET || !is_record);
    }
    add("400", "The request is not valid.", true);
    add("default", "Anything else that went wrong.", true);
}
