//! The start page, and the pages of what holds for every request.
//!
//! Requirements: ENT-22.

use svc_core::{
    api::{Api, IfMatchPolicy},
    auth::Operation,
    error::ErrorCode,
    helper::FunctionName,
    internal::DocumentRenderer,
    link::Target,
    model::Kind,
    value::ClosedEnum,
};

use super::{
    DocLinkGroup, DocPage, DocPages, DocReference, DocSubject, DocTable, batch, changes, codes,
    open, relation, topic, types, webhooks,
};
use crate::documents::{capabilities, json_schema_names};

/// The pages of what holds for every request.
const NAMES: &[&str] = &[
    "matching",
    "limits",
    "authentication",
    "response_style",
    "relations",
    "types",
    "filters",
    super::map::NAME,
    super::compare::NAME,
];

/// The pages of extensions, where the server has them.
const CONDITIONAL: &str = "conditional_requests";
const IDEMPOTENCY: &str = "idempotency";

/// The names of the pages of what holds for every request of this server.
pub(super) fn names(api: &Api) -> impl Iterator<Item = &'static str> {
    let extensions = [
        (api.if_match_policy().is_some(), CONDITIONAL),
        (api.supports_idempotency(), IDEMPOTENCY),
        (api.supports_batches(), batch::NAME),
    ];
    NAMES.iter().copied().chain(
        extensions
            .into_iter()
            .filter_map(|(is_there, name)| is_there.then_some(name)),
    )
}

/// The page of a topic, of the error object or of the capability document; `None` for another name.
pub(super) fn page(docs: &DocPages<'_>, name: &str) -> Option<DocPage> {
    Some(match name {
        "matching" => matching(docs),
        "limits" => limits(docs),
        "authentication" => authentication(docs),
        "response_style" => response_style(docs),
        CONDITIONAL => conditional_requests(docs)?,
        IDEMPOTENCY => idempotency(docs)?,
        batch::NAME => batch::page(docs)?,
        "relations" => relations(docs),
        "filters" => super::filters::page(docs),
        "types" => {
            let text = "What the values of fields can be. `[]` behind a type is an array of it.";
            let mut page = topic("types", "Types", text);
            page.lists = types::lists(docs);
            page
        }
        changes::NAME => changes::page(docs),
        super::map::NAME => super::map::page(docs),
        super::compare::NAME => super::compare::page(docs),
        "capabilities" => capability(docs),
        "error" => codes::error_object(docs),
        "warnings" => codes::warnings(docs),
        _ => webhooks::page(docs, name)?,
    })
}

/// The start page.
pub(super) fn start(docs: &DocPages<'_>) -> DocPage {
    let api = docs.api;
    let title = format!(
        "{} by {}",
        api.vendor().product_name(),
        api.vendor().vendor_name()
    );
    let summary = "People, the actions they take, and what they take them on: read and written over HTTP. Begin at the entry \
                   point and follow links.";
    let mut page = open("", DocSubject::Start, title, summary);
    let key = api.dialect().key_header_text();
    page.notes.push(format!(
        "Requests carry their API key in the header `{key}`. Bodies are JSON, answers are HAL."
    ));
    page.requests = docs
        .examples()
        .public("Read the entry point", &Target::EntryPoint)
        .into_iter()
        .collect();
    let document = |target: &Target, name: &str, text: &str| {
        DocReference::new(api.url(docs.base, target), name).text(text)
    };
    page.lists.push(DocLinkGroup {
        title: "Begin here",
        entries: vec![
            document(&Target::EntryPoint, "Entry point", "where the links begin"),
            DocReference {
                rel: Some("service-meta".to_owned()),
                ..document(
                    &Target::Capabilities,
                    "Capabilities",
                    "what this server supports, for machines",
                )
            },
            DocReference {
                rel: Some("service-desc".to_owned()),
                ..document(
                    &Target::OpenApi,
                    "OpenAPI 3.1",
                    "every route, method and body",
                )
            },
        ],
    });
    page.lists.push(DocLinkGroup {
        title: "What holds for every request",
        entries: every_request(docs),
    });
    page.lists.push(DocLinkGroup {
        title: "Resources",
        entries: Kind::ALL
            .iter()
            .filter_map(|kind| offer(docs, *kind))
            .collect(),
    });
    let helper = |helper: svc_core::helper::HelperName| {
        let key = if relation::is_anonymous(docs, helper) {
            "with or without a key"
        } else {
            "needs a key"
        };
        let text = helper.text();
        docs.relation(helper.relation())
            .text(format!("{text}; {key}"))
    };
    page.lists.push(DocLinkGroup {
        title: "Helpers",
        entries: api.helpers().map(helper).collect(),
    });
    let functions = api
        .action_functions()
        .iter()
        .map(|function| docs.entry(function.as_str()))
        .collect();
    page.lists.push(DocLinkGroup {
        title: "Helper action functions",
        entries: functions,
    });
    let sizes = api.limits();
    let size = format!(
        "Bodies of at most {} bytes, pages of at most {} records; {} unless the client names a number",
        docs.body_limit, sizes.max_page_size, sizes.default_page_size
    );
    let rows = [
        ("Matching of persons", api.person_matching_description()),
        ("Custom fields", relation::CUSTOM_FIELDS.to_owned()),
        ("Limits", size),
        ("Declared behaviours", behaviours(docs)),
    ];
    page.facts.push(DocTable {
        title: "In short",
        rows: rows.map(|(name, text)| (name.to_owned(), text)).into(),
    });
    page
}

/// The pages of what holds for every request of this server.
pub(super) fn every_request(docs: &DocPages<'_>) -> Vec<DocReference> {
    let api = docs.api;
    let topic =
        |name: &str, title: &str, text: &str| DocReference::new(docs.href(name), title).text(text);
    let mut entries = vec![
        topic(
            "authentication",
            "Authentication",
            "keys, and what works without one",
        ),
        topic("limits", "Limits", "sizes of pages and bodies"),
        topic("response_style", "Response style", "the statuses of writes"),
        topic("error", "Errors", "the error object and every code"),
        topic(
            "matching",
            "Matching of persons",
            "when a posted person is one that is known",
        ),
        topic(
            "capabilities",
            "Capability declaration",
            "how a program finds out what it can do here",
        ),
        topic("types", "Types", "of fields"),
        topic("relations", "Relations", "every link name"),
        topic(
            super::map::NAME,
            "Map",
            "how kinds, links and helpers hang together",
        ),
        topic(
            super::compare::NAME,
            "Two servers side by side",
            "what another server has that this one lacks",
        ),
        topic(
            "filters",
            "Filters",
            "what collections can be filtered and ordered by",
        ),
    ];
    if api.if_match_policy().is_some() {
        let text = "what you have is not sent again, what you do not know is not overwritten";
        entries.push(topic(CONDITIONAL, "Conditional requests", text));
    }
    if api.supports_idempotency() {
        let text = "a request whose answer was lost may be sent again, and nothing is done twice";
        entries.push(topic(IDEMPOTENCY, "Requests that come again", text));
    }
    if api.supports_batches() {
        entries.push(topic(
            batch::NAME,
            "Many calls in one request",
            "to bring many people or actions at once",
        ));
    }
    if api.has_change_feed() {
        entries.push(topic(
            changes::NAME,
            "Changes",
            "what was created, changed and deleted since",
        ));
    }
    if api.has_webhooks() {
        entries.push(topic(
            webhooks::WEBHOOKS,
            "Webhooks",
            "receivers that are told of changes",
        ));
    }
    entries
}

/// A kind and what this server does with it; `None` for nothing.
fn offer(docs: &DocPages<'_>, kind: Kind) -> Option<DocReference> {
    let offers = |operation: &&Operation| match operation {
        Operation::List => docs.api.has_any_collection(kind),
        operation => docs.api.offers(kind, **operation),
    };
    let offered: Vec<_> = Operation::ALL
        .iter()
        .filter(offers)
        .map(|operation| operation.as_str())
        .collect();
    let text = format!(
        "{} ({})",
        kind.schema().doc.trim_end_matches('.'),
        offered.join(", ")
    );
    (!offered.is_empty()).then(|| docs.relation(kind.singular()).text(text))
}

fn behaviours(docs: &DocPages<'_>) -> String {
    let names: Vec<_> = docs
        .api
        .behaviours()
        .into_iter()
        .map(|name| format!("`{name}`"))
        .collect();
    names.join(", ")
}

fn matching(docs: &DocPages<'_>) -> DocPage {
    let summary =
        "Helpers recognise a posted person who is known already, so that nobody is there twice.";
    let mut page = topic("matching", "Matching of persons", summary);
    page.notes.push(docs.api.person_matching_description());
    page.notes.push(relation::CUSTOM_FIELDS.to_owned());
    let helpers = docs.api.helpers().filter(|helper| helper.takes_person());
    let entries = helpers
        .map(|helper| docs.relation(helper.relation()))
        .collect();
    page.lists.push(DocLinkGroup {
        title: "Helpers that take a person",
        entries,
    });
    page
}

fn limits(docs: &DocPages<'_>) -> DocPage {
    let mut page = topic(
        "limits",
        "Limits",
        "How large pages and bodies may be on this server.",
    );
    let sizes = docs.api.limits();
    let row = |what: &str, most: String| (what.to_owned(), most);
    let has_anonymous = docs
        .api
        .helpers()
        .any(|helper| relation::is_anonymous(docs, helper));
    let anonymous = docs.anonymous_body_limit.filter(|_| has_anonymous);
    let mut rows = vec![row("Bytes of a body", docs.body_limit.to_string())];
    rows.extend(anonymous.map(|bytes| row("Bytes of a body without a key", bytes.to_string())));
    rows.extend([
        row("Depth of a body", sizes.json.depth.to_string()),
        row("Members of one object", sizes.json.keys.to_string()),
        row("Values in one body", sizes.json.values.to_string()),
        row(
            "Characters of a number",
            sizes.json.number_digits.to_string(),
        ),
        row("Records on a page", sizes.max_page_size.to_string()),
        row(
            "Records on a page when the client names no number",
            sizes.default_page_size.to_string(),
        ),
    ]);
    page.facts.push(DocTable {
        title: "At most",
        rows,
    });
    page.notes
        .push("A larger `per_page` counts as the largest one. A larger body is refused before it is read.".to_owned());
    let codes = [
        ErrorCode::BodyTooLarge,
        ErrorCode::JsonInvalid,
        ErrorCode::PageInvalid,
        ErrorCode::RequestTimeout,
    ];
    page.lists.push(DocLinkGroup {
        title: "How it fails",
        entries: codes.map(|code| docs.entry(code.as_str())).into(),
    });
    page
}

fn authentication(docs: &DocPages<'_>) -> DocPage {
    let header = docs.api.dialect().key_header_text();
    let summary = format!(
        "A request carries its API key in the header `{header}`. The operator of this server gives keys out."
    );
    let mut page = topic("authentication", "Authentication", &summary);
    page.notes.push("A key belongs to one tenant: records of others are not found with it. It may be limited to kinds and operations.".to_owned());
    page.notes.push(format!("A missing or bad key is answered with 401 and `WWW-Authenticate: ApiKey header=\"{header}\"`, a missing right with 403, both before the body is read."));
    if docs.api.sends_error_bodies() {
        page.notes
            .push("Both answers have an error object.".to_owned());
    }
    page.notes
        .push("The entry point, the documentation and its documents need no key.".to_owned());
    let anonymous: Vec<_> = docs
        .api
        .helpers()
        .filter(|helper| relation::is_anonymous(docs, *helper))
        .collect();
    if !anonymous.is_empty() {
        page.notes.push(
            "The helpers below may be called without a key; the answer is then `{}`, whoever is known.".to_owned(),
        );
        page.notes.push("Code in a page of another site may call these helpers where the operator has allowed that site's origin (CORS, as with the demo's option `--cors https://www.example.org`). A browser keeps the answer of any other call from it. Such a page never holds a key: whoever reads the page could use it.".to_owned());
        let entries = anonymous
            .iter()
            .map(|helper| docs.relation(helper.relation()))
            .collect();
        page.lists.push(DocLinkGroup {
            title: "Without a key",
            entries,
        });
    }
    page.requests = docs
        .examples()
        .list(Kind::Person)
        .or_else(|| {
            Kind::ALL
                .iter()
                .find_map(|kind| docs.examples().list(*kind))
        })
        .into_iter()
        .collect();
    let codes = [ErrorCode::KeyInvalid, ErrorCode::KeyNotAllowed];
    page.lists.push(DocLinkGroup {
        title: "How it fails",
        entries: codes.map(|code| docs.entry(code.as_str())).into(),
    });
    page
}

fn response_style(docs: &DocPages<'_>) -> DocPage {
    let style = docs.api.response_style_name();
    let summary = format!("This server answers writes in the style `{style}`.");
    let mut page = topic("response_style", "Response style", &summary);
    let is_table = style == "table";
    let row = |what: &str, table: &str, examples: &str| {
        (
            what.to_owned(),
            (if is_table { table } else { examples }).to_owned(),
        )
    };
    let parts = if docs.api.behaviours().contains(&"helper.non_atomic") {
        row(
            "A helper that fails in parts",
            "400, one entry for each resource, `error_descriptions` with `error_code`",
            "400, one entry for each resource, `errors` with `code`",
        )
    } else {
        (
            "A helper that fails".to_owned(),
            "400, and nothing of it is stored".to_owned(),
        )
    };
    let rows = vec![
        row(
            "A create",
            "201 with the record and `Location`; 200 for one that was there",
            "200 with the record",
        ),
        row("A change", "200 with the record", "200 with the record"),
        row("A delete", "204 without a body", "200 with a `notice`"),
        row(
            "A helper",
            "200 with what it recorded; `{}` without a key",
            "200 with what it recorded; `{}` without a key",
        ),
        parts,
    ];
    page.facts.push(DocTable {
        title: "Answers",
        rows,
    });
    page.notes.push("A change sends only what is to change: what is left out stays, `null` empties, an array is replaced as a whole.".to_owned());
    page.lists.push(DocLinkGroup {
        title: "See also",
        entries: vec![docs.relation("error")],
    });
    page
}

/// `None` where they are not answered.
fn conditional_requests(docs: &DocPages<'_>) -> Option<DocPage> {
    let is_required = docs.api.if_match_policy()? == IfMatchPolicy::Required;
    let summary = "What a client has is not sent again, and what it does not know is not overwritten (RFC 9110).";
    let mut page = topic(CONDITIONAL, "Conditional requests", summary);
    let change = if is_required {
        "428: a change or a deletion needs `If-Match`"
    } else {
        "The change is made to whatever is there"
    };
    let rows = [
        (
            "`ETag` of an answer",
            "Stands for every byte of it; of a write, for the record as it is now",
        ),
        (
            "`If-None-Match: <tag>` on a read",
            "304 without a body while nothing has changed, else the answer",
        ),
        (
            "`If-Match: <tag>` on a change or deletion",
            "412 where the record is another one by now, and nothing is done",
        ),
        ("No `If-Match` on a change or deletion", change),
        (
            "`Last-Modified` of a record",
            "Its `modified_date` in whole seconds; `If-Unmodified-Since` compares it, and within a second after a change is 412",
        ),
    ];
    page.facts.push(DocTable {
        title: "Headers",
        rows: rows
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into(),
    });
    page.notes.push("To change a record without undoing what others have written: read it, change what you got, and send the change with its `ETag` in `If-Match`. After 412, read it again and begin anew. The answer to a change has the next tag, so that several changes in a row need one read.".to_owned());
    page.notes.push("A total that is shown in a record, such as a petition's signatures, is part of it: its tag is another one after each of them. `If-Match` compares strongly, so that a tag which a proxy on the way has made weak (`W/`) never matches. What is not there is 404, whatever the condition.".to_owned());
    page.notes.push("`If-Modified-Since` does not count: links and totals change without that date, and a record may change twice in a second.".to_owned());
    let codes = [
        ErrorCode::PreconditionFailed,
        ErrorCode::PreconditionRequired,
    ];
    page.lists.push(DocLinkGroup {
        title: "How it fails",
        entries: codes.map(|code| docs.entry(code.as_str())).into(),
    });
    Some(page)
}

/// `None` where answers are not kept.
fn idempotency(docs: &DocPages<'_>) -> Option<DocPage> {
    docs.api.supports_idempotency().then_some(())?;
    let summary = "Whose answer was lost sends the request again with its `Idempotency-Key`, and nothing is done twice.";
    let mut page = topic(IDEMPOTENCY, "Requests that come again", summary);
    let rows = [
        (
            "`Idempotency-Key` of a `POST`",
            "A name that no other request has, such as a random UUID, in quotes or without; at most 255 characters",
        ),
        (
            "The same request again",
            "The same answer, byte for byte, with `Idempotency-Replayed: true`",
        ),
        (
            "At the same time",
            "One is done, the others wait for its answer",
        ),
        (
            "Another address or body with the key",
            "422, and nothing is done",
        ),
        (
            "A request that was refused",
            "Holds no key: mend it and send it with the same one",
        ),
        (
            "How long",
            "24 hours, or until a person whom the answer tells of is deleted",
        ),
        (
            "Whose",
            "The API key's with which it came: another one may use the same name",
        ),
    ];
    page.facts.push(DocTable {
        title: "Rules",
        rows: rows
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into(),
    });
    page.notes.push("Make the key before the request is sent for the first time, keep it with the request, and send both until an answer has come: after a broken connection, a timeout, or 503. `PUT` and `DELETE` need no key: done twice they come to the same.".to_owned());
    let codes = [
        ErrorCode::IdempotencyKeyReused,
        ErrorCode::IdempotencyKeyInvalid,
    ];
    page.lists.push(DocLinkGroup {
        title: "How it fails",
        entries: codes.map(|code| docs.entry(code.as_str())).into(),
    });
    Some(page)
}

fn relations(docs: &DocPages<'_>) -> DocPage {
    let prefix = docs.api.dialect().prefix();
    let summary = format!(
        "Every relation of the API. The prefix `{prefix}` is that of the specification. `curies` has the addresses of the pages."
    );
    let mut page = topic("relations", "Relations", &summary);
    page.lists = relation::groups(docs);
    page.notes.push(format!(
        "Relations with the prefix `{}` are extensions: the specification does not define them. A document that has one also has \
         the curie of that prefix.",
        docs.api.dialect().extension_prefix()
    ));
    if let Some((namespace, own)) = DocumentRenderer::new(docs.api, docs.base).own_relations() {
        let entries = own
            .into_iter()
            .map(|it| DocReference::new(it.page, it.name).text(it.title))
            .collect();
        page.lists.push(DocLinkGroup {
            title: "Own relations",
            entries,
        });
        page.notes.push(format!(
            "Relations with the prefix `{namespace}` are this server's own, and their pages are its vendor's. A client that \
             does not know them passes them over."
        ));
    }
    let entries = FunctionName::VALUES
        .iter()
        .map(|name| docs.entry(name))
        .collect();
    page.lists.push(DocLinkGroup {
        title: "Helper action functions",
        entries,
    });
    page
}

fn capability(docs: &DocPages<'_>) -> DocPage {
    let api = docs.api;
    let title = "Capability declaration".to_owned();
    let summary =
        "What this server supports, for machines: one JSON document, readable without a key.";
    let mut page = open("capabilities", DocSubject::Topic, title, summary);
    page.notes.push("A program reads it once and then knows which kinds, operations, fields and helpers there are. What is not in it is not supported, and is answered with `NOT_IMPLEMENTED`.".to_owned());
    page.notes
        .push(format!("Declared behaviours: {}.", behaviours(docs)));
    let rows = [
        ("declaration_version", "1"),
        (
            "dialect",
            "prefix of relations, header of the key, names that a deployment sets",
        ),
        ("response_style", "`table` or `examples`"),
        ("limits", "sizes of pages"),
        (
            "collections",
            "for each kind: operations, collections below a record, links, and fields with type, values and flags",
        ),
        ("helpers", "relation, and whether a key is needed"),
        ("action_functions", "what helpers do besides"),
        ("person_matching", "the method in words"),
        ("behaviours", "what the suite may hold the server to"),
    ];
    let rows = rows.map(|(name, text)| (format!("`{name}`"), text.to_owned()));
    page.facts.push(DocTable {
        title: "Members",
        rows: rows.into(),
    });
    page.requests = docs
        .examples()
        .public("Read what is supported", &Target::Capabilities)
        .into_iter()
        .collect();
    let document = capabilities(api, docs.base);
    let schema = |name: &'static str| {
        let href = api.url(docs.base, &Target::JsonSchema(name.into()));
        DocReference::new(href, format!("{name}.json"))
    };
    let entries = json_schema_names(api).into_iter().map(schema).collect();
    page.lists.push(DocLinkGroup {
        title: "JSON Schemas",
        entries,
    });
    if let Some(openapi) = document.openapi {
        page.lists.push(DocLinkGroup {
            title: "See also",
            entries: vec![DocReference::new(openapi, "OpenAPI 3.1")],
        });
    }
    page
}
