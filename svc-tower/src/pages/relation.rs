//! One page for each relation, written from the tables (ENT-22, HAL-18).

use http::Method;
use svc_core::{
    Base,
    api::{Api, Verdict},
    auth::Operation,
    helper::{FunctionFields, HelperName, ScheduleFields},
    link::{Scope, Target},
    model::Kind,
    schema::{LinkSpec, LinkTarget, LinkWrite},
};

use super::{
    html::{Cell, Page},
    open, page_href,
    words::{Fields, without_row, write_text},
};

/// The page of a relation without prefix; `None` for one that the interface does not have.
pub(super) fn relation(api: &Api, base: &Base, name: &str) -> Option<String> {
    let of_kind = |named: fn(Kind) -> &'static str| Kind::ALL.iter().copied().find(|kind| named(*kind) == name);
    if let Some(kind) = of_kind(Kind::singular) {
        return Some(resource(api, base, kind));
    }
    if let Some(kind) = of_kind(Kind::plural) {
        return Some(collection(api, base, kind));
    }
    let links = || Kind::ALL.iter().flat_map(|kind| kind.schema().links.iter().map(move |link| (*kind, link)));
    let named: Vec<(Kind, &LinkSpec)> = links().filter(|(_, link)| link.name == name).collect();
    let helper_of = |(_, link): &(Kind, &LinkSpec)| match link.target {
        LinkTarget::Helper(helper) => Some(helper),
        _ => None,
    };
    let by_relation = HelperName::ALL.iter().copied().find(|helper| helper.relation() == name);
    if let Some(called) = by_relation.or_else(|| named.iter().find_map(helper_of)) {
        return Some(helper(api, base, called));
    }
    (!named.is_empty()).then(|| link(api, base, name, &named))
}

/// Every relation that has a page of its own: kinds, collections, helpers, and the links with other names.
pub(super) fn all() -> Vec<&'static str> {
    let kinds = Kind::ALL.iter().flat_map(|kind| [kind.singular(), kind.plural()]);
    let helpers = HelperName::ALL.iter().map(|helper| helper.relation());
    let links = Kind::ALL.iter().flat_map(|kind| kind.schema().links.iter().map(|link| link.name));
    let mut names: Vec<&str> = kinds.chain(helpers).chain(links).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A cell that leads to the page of a relation.
fn relation_cell(api: &Api, base: &Base, name: &str) -> Cell {
    Cell::Link(page_href(api, base, name), api.dialect().relation(name))
}

fn resource(api: &Api, base: &Base, kind: Kind) -> String {
    let schema = kind.schema();
    let mut page = open(api, base, &format!("`{}`", api.dialect().relation(schema.singular)));
    page.paragraph(schema.doc.trim());
    for (of, collection) in aliases(schema.singular) {
        let text = format!("On `{}`, a link of this name leads to", api.dialect().relation(of.singular()));
        page.pointer(
            &text,
            None,
            &page_href(api, base, collection.plural()),
            &api.dialect().relation(collection.plural()),
        );
    }
    page.pointer("Records are listed in", None, &page_href(api, base, schema.plural), schema.plural);
    operations(api, &mut page, kind);
    page.heading("fields", "Fields");
    let mut fields = Fields::new(api);
    fields.of_kind(&mut page, kind);
    if kind == Kind::Person {
        page.paragraph("A person also has `id`, the last part of its address.");
        page.paragraph("Keys of `custom_fields` are kept as they are sent: this server puts no prefix before them.");
    }
    let sent = api.sent_links(kind);
    let links = |link: &&LinkSpec| sent.contains(&link.name);
    links_table(api, base, &mut page, schema.links.iter().filter(links));
    fields.nested(&mut page);
    page.finish()
}

/// The kinds with a collection under this name, which is also that of a single record (HLP-21).
fn aliases(name: &str) -> impl Iterator<Item = (Kind, Kind)> + '_ {
    let links = Kind::ALL.iter().flat_map(|kind| kind.schema().links.iter().map(move |link| (*kind, link)));
    links.filter_map(move |(of, link)| match link.target {
        LinkTarget::Many { kind, .. } if link.name == name => Some((of, kind)),
        _ => None,
    })
}

/// Links as a table under a heading of their own; nothing when there are none.
fn links_table<'l>(api: &Api, base: &Base, page: &mut Page, links: impl Iterator<Item = &'l LinkSpec>) {
    let mut rows = links
        .map(|link| {
            let (name, target) = (relation_cell(api, base, link.name), target_cell(api, base, link.target));
            let set_by = Cell::Prose(write_text(link.target).to_owned());
            [name, target, set_by, Cell::Prose(without_row(link.doc).to_owned())]
        })
        .peekable();
    if rows.peek().is_some() {
        page.heading("links", "Links, under `_links`");
        page.table(["Relation", "Leads to", "Set by", "Meaning"], rows);
    }
}

fn operations(api: &Api, page: &mut Page, kind: Kind) {
    page.heading("operations", "Operations");
    let offered = Operation::ALL.iter().filter(|operation| match operation {
        Operation::List => api.is_listed_anywhere(kind),
        operation => api.offers(kind, **operation),
    });
    let rows: Vec<_> = offered
        .map(|operation| {
            let (method, place) = match operation {
                Operation::List => ("GET", "a collection"),
                Operation::Read => ("GET", "the record"),
                Operation::Create => ("POST", "the collection, or that of its container"),
                Operation::Update => ("PUT", "the record, with the fields to change"),
                Operation::Delete => ("DELETE", "the record"),
            };
            let text = |text: &str| Cell::Prose(text.to_owned());
            [text(operation.as_str()), Cell::Code(method.to_owned()), text(place)]
        })
        .collect();
    if rows.is_empty() {
        page.paragraph("This server offers no operation on it.");
    }
    page.table(["Operation", "Method", "On"], rows);
}

fn target_cell(api: &Api, base: &Base, target: LinkTarget) -> Cell {
    match target {
        LinkTarget::Many { kind, .. } => relation_cell(api, base, kind.plural()),
        LinkTarget::One { kind, .. } => relation_cell(api, base, kind.singular()),
        LinkTarget::Helper(helper) => relation_cell(api, base, helper.relation()),
    }
}

fn collection(api: &Api, base: &Base, kind: Kind) -> String {
    let schema = kind.schema();
    let mut page = open(api, base, &format!("`{}`", api.dialect().relation(schema.plural)));
    let relation = api.dialect().relation(schema.singular);
    page.pointer(
        "A collection; on a page of one, an array with a link to each member. Its members:",
        None,
        &page_href(api, base, schema.singular),
        &relation,
    );
    if api.offers(kind, Operation::List) {
        let href = api.href(base, &Target::Collection { kind, scope: Scope::All });
        page.pointer("All records, with a key:", None, &href, &href);
    }
    let parents: Vec<_> = schema.scopes().filter(|parent| api.offers_under(kind, *parent)).collect();
    if !parents.is_empty() {
        page.paragraph("It is also linked by each record of these kinds, with the members that belong to it:");
        page.links(
            parents
                .iter()
                .map(|parent| (page_href(api, base, parent.singular()), api.dialect().relation(parent.singular()))),
        );
    }
    if !api.is_listed_anywhere(kind) {
        page.paragraph("This server lists no such records.");
    }
    page.heading("fields", "Fields");
    let row = |name: &str, ty: &str, meaning: &str| {
        [Cell::Code(name.to_owned()), Cell::Prose(ty.to_owned()), Cell::Prose(meaning.to_owned())]
    };
    page.table(
        ["Field", "Type", "Meaning"],
        [
            row("total_pages", "integer", "Number of pages"),
            row("per_page", "integer", "Records on a page"),
            row("page", "integer", "Number of this page, from 1"),
            row("total_records", "integer", "Number of records"),
        ],
    );
    page.paragraph(
        "The members stand under `_embedded`. `next` leads to the next page, `previous` and `prev` to the one before.",
    );
    page.heading("query", "Query");
    let sizes = api.sizes();
    page.table(
        ["Parameter", "Type", "Meaning"],
        [
            row("page", "integer", "The page, from 1"),
            row(
                "per_page",
                "integer",
                &format!("Records on a page, at most {}; {} when it is not sent", sizes.max_page, sizes.page),
            ),
        ],
    );
    page.finish()
}

fn helper(api: &Api, base: &Base, helper: HelperName) -> String {
    let mut page = open(api, base, &format!("`{}`", api.dialect().relation(helper.relation())));
    page.paragraph(&format!("{}.", without_row(helper.text()).trim_end_matches('.')));
    if let Some(container) = helper.container() {
        let name = api.dialect().relation(container.singular());
        page.pointer("It belongs to a record of", None, &page_href(api, base, container.singular()), &name);
    }
    let records = helper.records();
    let name = api.dialect().relation(records.singular());
    page.pointer("It answers with", None, &page_href(api, base, records.singular()), &name);
    if api.helpers().all(|offered| offered != helper) {
        page.paragraph("This server does not offer it.");
    }
    page.paragraph(match helper {
        HelperName::Schedule => "`POST` sets the dates, `DELETE` clears them. A key is needed.",
        _ if is_anonymous(api, helper) => "`POST` calls it, with or without a key; without one the answer is `{}`.",
        _ => "`POST` calls it. A key is needed.",
    });
    page.heading("body", "Body");
    let mut fields = Fields::new(api);
    match helper {
        HelperName::Schedule => fields.of_object(&mut page, ScheduleFields::FIELDS.fields),
        HelperName::PersonSignup => {}
        HelperName::RecordCanvass => {
            page.paragraph("`canvass`: an object with these fields.");
            fields.sendable(&mut page, records);
        }
        _ => fields.sendable(&mut page, records),
    }
    if helper.takes_person() {
        page.pointer(
            "`person`: an object with the fields of",
            None,
            &page_href(api, base, "person"),
            &api.dialect().relation("person"),
        );
    }
    if helper.takes_person() && helper != HelperName::PersonSignup {
        // The person is sent inline, the container stands in the address.
        let sent = |link: &&LinkSpec| {
            link.name != "person"
                && !matches!(link.target, LinkTarget::One { write: LinkWrite::Never, .. })
                && matches!(link.target, LinkTarget::One { .. })
        };
        links_table(api, base, &mut page, records.schema().links.iter().filter(sent));
    }
    if helper.takes_functions() {
        page.heading("functions", "Action functions");
        let offered =
            |name: &str| api.functions().iter().any(|function| svc_core::value::ClosedEnum::as_str(*function) == name);
        fields.of_object(&mut page, FunctionFields::FIELDS.fields.iter().filter(|field| offered(field.name)));
    }
    fields.nested(&mut page);
    page.finish()
}

/// Whether a helper may be called without a key on this server (AUT-06).
pub(super) fn is_anonymous(api: &Api, helper: HelperName) -> bool {
    matches!(
        api.verdict(&Method::POST, &Target::Helper { helper, container: None }),
        Verdict::Needs { anonymous: true, .. }
    )
}

fn link(api: &Api, base: &Base, name: &str, of: &[(Kind, &LinkSpec)]) -> String {
    let mut page = open(api, base, &format!("`{}`", api.dialect().relation(name)));
    page.table(
        ["Link of", "Leads to", "Set by", "Meaning"],
        of.iter().map(|(kind, link)| {
            let (of, target) = (relation_cell(api, base, kind.singular()), target_cell(api, base, link.target));
            [of, target, Cell::Prose(write_text(link.target).to_owned()), Cell::Prose(without_row(link.doc).to_owned())]
        }),
    );
    page.finish()
}
