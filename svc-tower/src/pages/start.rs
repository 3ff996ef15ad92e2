//! The start page: what this server supports, how it matches persons, its limits, and where the rest is (ENT-22).

use svc_core::{
    Base, Code, api::Api, auth::Operation, export::json_schema_names, link::Target, model::Kind, value::ClosedEnum,
};

use super::{
    html::{Cell, Page},
    open, page_href, relation,
};

/// The start page of a service that takes bodies of at most `body_limit` bytes.
pub(super) fn start(api: &Api, base: &Base, body_limit: usize) -> String {
    let mut page = open(api, base, &format!("{} by {}", api.vendor().product_name(), api.vendor().vendor_name()));
    let entry = api.href(base, &Target::EntryPoint);
    page.pointer("Begin at the entry point and follow links:", None, &entry, &entry);
    let key = api.dialect().key_header_text();
    page.paragraph(&format!("Requests carry their API key in the header `{key}`. Bodies are JSON, answers are HAL."));
    let capabilities = api.href(base, &Target::Capabilities);
    let rel = api.dialect().relation("capabilities");
    page.pointer("What this server supports, for machines:", Some(&rel), &capabilities, &capabilities);
    let document = api.href(base, &Target::OpenApi);
    page.pointer("Every route, method and body, as an OpenAPI 3.1 document:", None, &document, &document);
    resources(api, base, &mut page);
    helpers(api, base, &mut page);
    page.heading("matching", "Matching of persons");
    page.paragraph(api.matching_text());
    page.heading("custom-fields", "Custom fields");
    page.paragraph("Keys of `custom_fields` are kept as they are sent: this server puts no prefix before them.");
    limits(api, body_limit, &mut page);
    page.heading("relations", "Relations");
    let link = |name: &str| (page_href(api, base, name), api.dialect().relation(name));
    page.links(relation::all().into_iter().chain(["capabilities", "error"]).map(link));
    page.heading("schemas", "JSON Schemas");
    let schema = |name: &'static str| (api.href(base, &Target::JsonSchema(name.into())), format!("{name}.json"));
    page.links(json_schema_names(api).into_iter().map(schema));
    page.heading("errors", "Error codes");
    page.links(Code::ALL.iter().map(|code| (page_href(api, base, code.as_str()), code.as_str().to_owned())));
    page.finish()
}

fn resources(api: &Api, base: &Base, page: &mut Page) {
    page.heading("resources", "Resources");
    let row = |kind: &Kind| {
        let offers = |operation: &&Operation| match operation {
            Operation::List => api.is_listed_anywhere(*kind),
            operation => api.offers(*kind, **operation),
        };
        let offered: Vec<_> = Operation::ALL.iter().filter(offers).map(|operation| operation.as_str()).collect();
        let name = api.dialect().relation(kind.singular());
        (!offered.is_empty()).then(|| {
            let link = Cell::Link(page_href(api, base, kind.singular()), name);
            [link, Cell::Prose(offered.join(", ")), Cell::Prose(kind.schema().doc.trim().to_owned())]
        })
    };
    page.table(["Resource", "Operations", "Meaning"], Kind::ALL.iter().filter_map(row));
}

fn helpers(api: &Api, base: &Base, page: &mut Page) {
    page.heading("helpers", "Helpers");
    page.table(
        ["Helper", "Key"],
        api.helpers().map(|helper| {
            let link = Cell::Link(page_href(api, base, helper.relation()), api.dialect().relation(helper.relation()));
            let key = if relation::is_anonymous(api, helper) { "with or without a key" } else { "needs a key" };
            [link, Cell::Prose(key.to_owned())]
        }),
    );
    let functions: Vec<_> = api.functions().iter().map(|function| format!("`{}`", function.as_str())).collect();
    if !functions.is_empty() {
        page.paragraph(&format!("Action functions: {}.", functions.join(", ")));
    }
    let behaviours: Vec<_> = api.behaviours().into_iter().map(|name| format!("`{name}`")).collect();
    page.paragraph(&format!("Declared behaviours: {}.", behaviours.join(", ")));
}

fn limits(api: &Api, body_limit: usize, page: &mut Page) {
    page.heading("limits", "Limits");
    let sizes = api.sizes();
    let row = |what: &str, most: usize| [Cell::Prose(what.to_owned()), Cell::Prose(most.to_string())];
    page.table(
        ["What", "At most"],
        [
            row("Bytes of a body", body_limit),
            row("Depth of a body", sizes.json.depth),
            row("Members of one object", sizes.json.keys),
            row("Values in one body", sizes.json.values),
            row("Records on a page", usize::try_from(sizes.max_page).unwrap_or(usize::MAX)),
            row("Records on a page when the client names no number", usize::try_from(sizes.page).unwrap_or(usize::MAX)),
        ],
    );
}
