//! The start page, and the pages of concepts that apply to every request.
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
    duplicates, merges, open, relation, topic, types, webhooks,
};
use crate::documents::{capabilities, json_schema_names};

/// The names of the pages of concepts.
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

/// The names of the pages of extensions that the server has.
const CONDITIONAL: &str = "conditional_requests";
const IDEMPOTENCY: &str = "idempotency";

/// Returns the names of the pages of concepts that apply to this server.
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

/// Returns the page of a topic, the error object or the capability document; `None` for another name.
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
            let text =
                "The types of fields. `[]` after a type means an array of values of this type.";
            let mut page = topic("types", "Types", text);
            page.link_groups = types::lists(docs);
            page
        }
        changes::NAME => changes::page(docs),
        changes::MERGED_INTO => changes::merged_into(docs),
        duplicates::NAME => duplicates::page(docs),
        super::map::NAME => super::map::page(docs),
        super::compare::NAME => super::compare::page(docs),
        "capabilities" => capability(docs),
        "error" => codes::error_object(docs),
        "warnings" => codes::warnings(docs),
        _ => webhooks::page(docs, name).or_else(|| merges::page(docs, name))?,
    })
}

/// Returns the start page.
pub(super) fn start(docs: &DocPages<'_>) -> DocPage {
    let api = docs.api;
    let title = format!(
        "{} by {}",
        api.vendor().product_name(),
        api.vendor().vendor_name()
    );
    let summary = "Read and write people, petitions, donations, events and other records over HTTP. Start at the entry point \
                   and follow its links.";
    let mut page = open("", DocSubject::Start, title, summary);
    let key = api.dialect().key_header_text();
    page.notes.push(format!(
        "Send your API key in the header `{key}`. Request bodies are JSON; responses are HAL."
    ));
    page.requests = docs
        .examples()
        .public("Read the entry point", &Target::EntryPoint)
        .into_iter()
        .collect();
    let document = |target: &Target, name: &str, text: &str| {
        DocReference::new(api.url(docs.base, target), name).text(text)
    };
    page.link_groups.push(DocLinkGroup {
        title: "Get started",
        entries: vec![
            document(
                &Target::EntryPoint,
                "Entry point",
                "the first document of the API",
            ),
            DocReference {
                rel: Some("service-meta".to_owned()),
                ..document(
                    &Target::Capabilities,
                    "Capability document",
                    "what this server supports, in machine-readable form",
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
    page.link_groups.push(DocLinkGroup {
        title: "Concepts",
        entries: every_request(docs),
    });
    page.link_groups.push(DocLinkGroup {
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
        let text = helper.description();
        docs.relation(helper.relation())
            .text(format!("{text}; {key}"))
    };
    page.link_groups.push(DocLinkGroup {
        title: "Helpers",
        entries: api.helpers().map(helper).collect(),
    });
    let functions = api
        .action_functions()
        .iter()
        .map(|function| docs.entry(function.as_str()))
        .collect();
    page.link_groups.push(DocLinkGroup {
        title: "Helper action functions",
        entries: functions,
    });
    let sizes = api.limits();
    let size = format!(
        "Bodies of at most {} bytes. Pages of at most {} records, {} by default.",
        docs.body_limit, sizes.max_page_size, sizes.default_page_size
    );
    let rows = [
        ("Person matching", api.person_matching_description()),
        ("Custom fields", relation::CUSTOM_FIELDS.to_owned()),
        ("Limits", size),
        ("Declared behaviours", behaviours(docs)),
    ];
    page.tables.push(DocTable {
        title: "This server at a glance",
        rows: rows.map(|(name, text)| (name.to_owned(), text)).into(),
    });
    page
}

/// Returns links to the pages of concepts.
pub(super) fn every_request(docs: &DocPages<'_>) -> Vec<DocReference> {
    let api = docs.api;
    let topic =
        |name: &str, title: &str, text: &str| DocReference::new(docs.href(name), title).text(text);
    let mut entries = vec![
        topic(
            "authentication",
            "Authentication",
            "API keys, and requests without a key",
        ),
        topic("limits", "Limits", "maximum sizes of pages and bodies"),
        topic(
            "response_style",
            "Response style",
            "the statuses of responses to writes",
        ),
        topic("error", "Errors", "the error object and every code"),
        topic(
            "matching",
            "Person matching",
            "how the server finds an existing person",
        ),
        topic(
            "capabilities",
            "Capability document",
            "how a program learns what this server supports",
        ),
        topic("types", "Types", "the types of fields"),
        topic("relations", "Relations", "the names of all links"),
        topic(
            super::map::NAME,
            "Map",
            "how kinds, links and helpers are connected",
        ),
        topic(
            super::compare::NAME,
            "Compare servers",
            "the differences between this server and another one",
        ),
        topic("filters", "Filters", "how to filter and order collections"),
    ];
    if api.if_match_policy().is_some() {
        let text = "avoid repeated downloads and lost updates";
        entries.push(topic(CONDITIONAL, "Conditional requests", text));
    }
    if api.supports_idempotency() {
        let text = "repeat a request safely if its response was lost";
        entries.push(topic(IDEMPOTENCY, "Idempotency keys", text));
    }
    if api.supports_batches() {
        entries.push(topic(
            batch::NAME,
            "Batches",
            "many people or actions in one request",
        ));
    }
    if api.has_change_feed() {
        entries.push(topic(
            changes::NAME,
            "Change feed",
            "what was created, changed and deleted since a cursor",
        ));
    }
    if api.merges_people() {
        entries.push(topic(
            merges::MERGE_HELPER,
            "Merges of people",
            "one person out of two records",
        ));
    }
    if api.has_duplicates() {
        entries.push(topic(
            duplicates::NAME,
            "Duplicates",
            "people who may be the same person",
        ));
    }
    if api.has_webhooks() {
        entries.push(topic(
            webhooks::WEBHOOKS,
            "Webhooks",
            "messages about changes to your own receivers",
        ));
    }
    entries
}

/// Returns a link to a kind with its operations; `None` if it has none.
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
        "Helpers match the person of a request with existing people, to avoid duplicates.";
    let mut page = topic("matching", "Person matching", summary);
    page.notes.push(docs.api.person_matching_description());
    page.notes.push(relation::CUSTOM_FIELDS.to_owned());
    let helpers = docs.api.helpers().filter(|helper| helper.accepts_person());
    let entries = helpers
        .map(|helper| docs.relation(helper.relation()))
        .collect();
    page.link_groups.push(DocLinkGroup {
        title: "Helpers with a person",
        entries,
    });
    page
}

fn limits(docs: &DocPages<'_>) -> DocPage {
    let mut page = topic(
        "limits",
        "Limits",
        "The maximum sizes of pages and bodies on this server.",
    );
    let sizes = docs.api.limits();
    let row = |what: &str, most: String| (what.to_owned(), most);
    let has_anonymous = docs
        .api
        .helpers()
        .any(|helper| relation::is_anonymous(docs, helper));
    let anonymous = docs.anonymous_body_limit.filter(|_| has_anonymous);
    let mut rows = vec![row("Bytes in a body", docs.body_limit.to_string())];
    rows.extend(anonymous.map(|bytes| {
        row(
            "Bytes in a body of a request without a key",
            bytes.to_string(),
        )
    }));
    rows.extend([
        row("Levels of nesting in a body", sizes.json.depth.to_string()),
        row("Members in an object", sizes.json.keys.to_string()),
        row("Values in a body", sizes.json.values.to_string()),
        row(
            "Characters in a number",
            sizes.json.number_digits.to_string(),
        ),
        row("Records on a page", sizes.max_page_size.to_string()),
        row(
            "Records on a page by default",
            sizes.default_page_size.to_string(),
        ),
    ]);
    page.tables.push(DocTable {
        title: "Limits",
        rows,
    });
    page.notes
        .push("A larger `per_page` is reduced to the maximum. A larger body is rejected before it is read.".to_owned());
    page.link_groups.push(docs.errors(&[
        ErrorCode::BodyTooLarge,
        ErrorCode::JsonInvalid,
        ErrorCode::PageInvalid,
        ErrorCode::RequestTimeout,
    ]));
    page
}

fn authentication(docs: &DocPages<'_>) -> DocPage {
    let header = docs.api.dialect().key_header_text();
    let summary = format!(
        "Send your API key in the header `{header}`. Ask the operator of this server for a key."
    );
    let mut page = topic("authentication", "Authentication", &summary);
    page.notes.push("A key belongs to one tenant and gives access only to the records of that tenant. A key may be limited to some kinds and operations.".to_owned());
    page.notes.push(format!("A request with a missing or invalid key gets 401 and `WWW-Authenticate: ApiKey header=\"{header}\"`. A request whose key lacks the required right gets 403. Both are checked before the body is read."));
    if docs.api.sends_error_bodies() {
        page.notes
            .push("Both responses have an error object.".to_owned());
    }
    page.notes.push(
        "No key is needed for the entry point, the documentation and its documents.".to_owned(),
    );
    let anonymous: Vec<_> = docs
        .api
        .helpers()
        .filter(|helper| relation::is_anonymous(docs, *helper))
        .collect();
    if !anonymous.is_empty() {
        page.notes.push(
            "The helpers below can be called without a key. The response is then `{}`, whether or not the person already exists.".to_owned(),
        );
        page.notes.push("Scripts of another website can call these helpers if the operator has allowed the origin of that site (CORS). The option of the demo for this is `--cors https://www.example.org`. For all other requests, browsers do not pass the response to such scripts. Never put a key into such a page: anyone who reads its source could copy the key.".to_owned());
        let entries = anonymous
            .iter()
            .map(|helper| docs.relation(helper.relation()))
            .collect();
        page.link_groups.push(DocLinkGroup {
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
    page.link_groups
        .push(docs.errors(&[ErrorCode::KeyInvalid, ErrorCode::KeyNotAllowed]));
    page
}

fn response_style(docs: &DocPages<'_>) -> DocPage {
    let style = docs.api.response_style_name();
    let summary = format!("Responses to writes have the style `{style}`.");
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
            "A helper call that fails in part",
            "400, one entry for each resource, `error_descriptions` with `error_code`",
            "400, one entry for each resource, `errors` with `code`",
        )
    } else {
        (
            "A helper call that fails".to_owned(),
            "400, and nothing is stored".to_owned(),
        )
    };
    let rows = vec![
        row(
            "A create",
            "201 with the record and `Location`; 200 if the record already existed",
            "200 with the record",
        ),
        row("A change", "200 with the record", "200 with the record"),
        row("A delete", "204 without a body", "200 with a `notice`"),
        row(
            "A helper",
            "200 with the records; `{}` without a key",
            "200 with the records; `{}` without a key",
        ),
        parts,
    ];
    page.tables.push(DocTable {
        title: "Responses",
        rows,
    });
    page.notes.push("In a change, send only the fields to change. Fields that you leave out stay unchanged, `null` clears a field, and an array is replaced as a whole.".to_owned());
    page.link_groups.push(DocLinkGroup {
        title: "See also",
        entries: vec![docs.relation("error")],
    });
    page
}

/// Returns the page of conditional requests; `None` if the server does not support them.
fn conditional_requests(docs: &DocPages<'_>) -> Option<DocPage> {
    let is_required = docs.api.if_match_policy()? == IfMatchPolicy::Required;
    let summary = "Avoid downloading unchanged data and overwriting changes of others (RFC 9110).";
    let mut page = topic(CONDITIONAL, "Conditional requests", summary);
    let change = if is_required {
        "428, because a change or a deletion needs `If-Match`"
    } else {
        "The change is made, whatever the current state is"
    };
    let rows = [
        (
            "`ETag` of a response",
            "Identifies every byte of the response; after a write, the new state of the record",
        ),
        (
            "`If-None-Match: <tag>` on a read",
            "304 without a body if nothing has changed; otherwise the normal response",
        ),
        (
            "`If-Match: <tag>` on a change or deletion",
            "412 if the record has changed since; the request then has no effect",
        ),
        ("No `If-Match` on a change or deletion", change),
        (
            "`Last-Modified` of a record",
            "Its `modified_date` in whole seconds. The server compares `If-Unmodified-Since` with it. Within a second after a change, the result is 412",
        ),
    ];
    page.tables.push(DocTable {
        title: "Headers",
        rows: rows
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into(),
    });
    page.notes.push("To change a record without overwriting changes of others, read it and send your change with its `ETag` in `If-Match`. After 412, read the record again and repeat your change. The response to a change has the next `ETag`, so that several changes in a row need only one read.".to_owned());
    page.notes.push("A total in a record is part of it: each signature of a petition changes the `ETag` of the petition. `If-Match` uses strong comparison. A tag that a proxy has made weak (`W/`) therefore never matches. For a missing record, the response is 404 with any condition.".to_owned());
    page.notes.push("`If-Modified-Since` is ignored, because links and totals can change without a new date, and a record may change twice in a second.".to_owned());
    page.link_groups.push(docs.errors(&[
        ErrorCode::PreconditionFailed,
        ErrorCode::PreconditionRequired,
    ]));
    Some(page)
}

/// Returns the page of idempotency keys; `None` if the server does not support them.
fn idempotency(docs: &DocPages<'_>) -> Option<DocPage> {
    docs.api.supports_idempotency().then_some(())?;
    let summary = "If a response was lost, send the request again with the same `Idempotency-Key`. It is executed only once.";
    let mut page = topic(IDEMPOTENCY, "Idempotency keys", summary);
    let rows = [
        (
            "`Idempotency-Key` of a `POST`",
            "A unique name for the request, such as a random UUID, with or without quotes; at most 255 characters",
        ),
        (
            "A repeated request",
            "The same response, byte for byte, with `Idempotency-Replayed: true`",
        ),
        (
            "A repeated helper request of which parts failed, when one of them can succeed",
            "The failed parts are executed, and the new response is stored: `Idempotency-Replayed: partial`",
        ),
        (
            "Simultaneous requests",
            "One is executed; the others wait for its response",
        ),
        (
            "The same key with another URL or body",
            "422, and nothing is changed",
        ),
        (
            "A rejected request",
            "Does not use up the key: fix the request and send it with the same key",
        ),
        (
            "Storage time",
            "24 hours, or until a person in the response is deleted",
        ),
        (
            "Scope",
            "The API key of the request; requests with another API key may use the same name",
        ),
    ];
    page.tables.push(DocTable {
        title: "Rules",
        rows: rows
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into(),
    });
    page.notes.push("Create the key before you first send the request, and store it with the request. After a broken connection, a timeout or 503, send both again until you get a response. `PUT` and `DELETE` need no key, because repeating them has no further effect.".to_owned());
    page.link_groups.push(docs.errors(&[
        ErrorCode::IdempotencyKeyReused,
        ErrorCode::IdempotencyKeyInvalid,
    ]));
    Some(page)
}

fn relations(docs: &DocPages<'_>) -> DocPage {
    let prefix = docs.api.dialect().prefix();
    let summary = format!(
        "All relations of the API. A relation is the name of a link. The prefix `{prefix}` marks relations of the specification. `curies` has the URL template of their pages."
    );
    let mut page = topic("relations", "Relations", &summary);
    page.link_groups = relation::groups(docs);
    page.notes.push(format!(
        "Relations with the prefix `{}` are extensions: the specification does not define them. A document with such a relation also has \
         the curie of that prefix.",
        docs.api.dialect().extension_prefix()
    ));
    if let Some((namespace, own)) = DocumentRenderer::new(docs.api, docs.base).own_relations() {
        let entries = own
            .into_iter()
            .map(|it| DocReference::new(it.page, it.name).text(it.title))
            .collect();
        page.link_groups.push(DocLinkGroup {
            title: "Vendor relations",
            entries,
        });
        page.notes.push(format!(
            "Relations with the prefix `{namespace}` are extensions of this server, and its vendor documents them. A client that \
             does not know them can ignore them."
        ));
    }
    let entries = FunctionName::VALUES
        .iter()
        .map(|name| docs.entry(name))
        .collect();
    page.link_groups.push(DocLinkGroup {
        title: "Helper action functions",
        entries,
    });
    page
}

fn capability(docs: &DocPages<'_>) -> DocPage {
    let api = docs.api;
    let title = "Capability document".to_owned();
    let summary = "What this server supports, as one JSON document. No key is needed to read it.";
    let mut page = open("capabilities", DocSubject::Topic, title, summary);
    page.notes.push("A program reads it once to find out which kinds, operations, fields and helpers the server supports. A request for any other operation gets the error code `NOT_IMPLEMENTED`.".to_owned());
    page.notes
        .push(format!("Declared behaviours: {}.", behaviours(docs)));
    let rows = [
        ("declaration_version", "1"),
        (
            "dialect",
            "prefix of relations, header of the API key, and other names that the operator sets",
        ),
        ("response_style", "`table` or `examples`"),
        ("limits", "sizes of pages"),
        (
            "collections",
            "for each kind: operations, collections of a record, links, and fields with their type, their allowed values, and whether they can be written",
        ),
        ("helpers", "relation, and whether a key is needed"),
        ("action_functions", "supported action functions of helpers"),
        ("person_matching", "a description of the method"),
        (
            "behaviours",
            "behaviours that the conformance suite may check",
        ),
    ];
    page.tables.push(DocTable::of_names("Members", rows));
    page.requests = docs
        .examples()
        .public("Read the capability document", &Target::Capabilities)
        .into_iter()
        .collect();
    let document = capabilities(api, docs.base);
    let schema = |name: &'static str| {
        let href = api.url(docs.base, &Target::JsonSchema(name.into()));
        DocReference::new(href, format!("{name}.json"))
    };
    let entries = json_schema_names(api).into_iter().map(schema).collect();
    page.link_groups.push(DocLinkGroup {
        title: "JSON Schemas",
        entries,
    });
    if let Some(openapi) = document.openapi {
        page.link_groups.push(DocLinkGroup {
            title: "See also",
            entries: vec![DocReference::new(openapi, "OpenAPI 3.1")],
        });
    }
    page
}
