//! The pages of relations and action functions, generated from the schema.
//!
//! Requirements: ENT-22, HAL-18.

use svc_core::{
    api::OfferedOperation,
    capability::EXTENSIONS,
    error::ErrorCode,
    helper::{FunctionFields, FunctionName, HelperName, ScheduleFields},
    link::{Scope, Target},
    model::Kind,
    operation::{KeyRequirement, ResponseBodyKind},
    schema::{LinkSpec, LinkTarget, LinkWrite, ValueType},
    value::ClosedEnum,
};

use super::{
    DocField, DocLink, DocLinkGroup, DocOperation, DocPage, DocPages, DocSubject, DocTable,
    access::FieldAccess, changes, duplicates, fields::set_by, merges, open, webhooks,
};
use crate::documents::{error_codes, example::record, json_schema_names, parameters::parameters};

/// Returns the page of a relation or an action function, whose name has no prefix. Returns `None`
/// for an unknown name.
pub(super) fn page(docs: &DocPages<'_>, name: &str) -> Option<DocPage> {
    let of_kind = |named: fn(Kind) -> &'static str| {
        Kind::ALL.iter().copied().find(|kind| named(*kind) == name)
    };
    if let Some(kind) = of_kind(Kind::singular) {
        return Some(resource(docs, kind));
    }
    if let Some(kind) = of_kind(Kind::plural) {
        return Some(collection(docs, kind));
    }
    let links = || {
        Kind::ALL
            .iter()
            .flat_map(|kind| kind.schema().links.iter().map(move |link| (*kind, link)))
    };
    let named: Vec<(Kind, &'static LinkSpec)> =
        links().filter(|(_, link)| link.name == name).collect();
    let helper_of = |(_, link): &(Kind, &LinkSpec)| match link.target {
        LinkTarget::Helper(helper) => Some(helper),
        _ => None,
    };
    let by_relation = HelperName::ALL
        .iter()
        .copied()
        .find(|helper| helper.relation() == name);
    if let Some(called) = by_relation.or_else(|| named.iter().find_map(helper_of)) {
        let alias = if by_relation.is_some() {
            None
        } else {
            named.first().map(|(_, link)| link.name)
        };
        return Some(helper(docs, called, alias));
    }
    if let Some(called) = FunctionName::parse(name) {
        return Some(function(docs, called));
    }
    let (_, first) = named.first()?;
    Some(link(docs, first.name, &named))
}

/// Returns the names of all relations with a page: kinds, collections, helpers, links with other
/// names, the change feed, webhooks and the error object.
pub(super) fn names() -> Vec<&'static str> {
    let kinds = Kind::ALL
        .iter()
        .flat_map(|kind| [kind.singular(), kind.plural()]);
    let helpers = HelperName::ALL.iter().map(|helper| helper.relation());
    let links = Kind::ALL
        .iter()
        .flat_map(|kind| kind.schema().links.iter().map(|link| link.name));
    let own = [
        changes::NAME,
        changes::MERGED_INTO,
        duplicates::NAME,
        "capabilities",
        "error",
        "warnings",
    ];
    let own = own.into_iter().chain(webhooks::NAMES).chain(merges::NAMES);
    let mut names: Vec<&str> = kinds.chain(helpers).chain(links).chain(own).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the links to all relation pages, in groups, each with a short description.
pub(super) fn groups(docs: &DocPages<'_>) -> Vec<DocLinkGroup> {
    let plain = |text: &str| text.trim_end_matches('.').to_owned();
    let kinds = Kind::ALL.iter().map(|kind| {
        docs.relation(kind.singular())
            .text(plain(kind.schema().doc))
    });
    let collections = Kind::ALL.iter().map(|kind| {
        let member = docs.api.dialect().relation(kind.singular());
        docs.relation(kind.plural())
            .text(format!("a collection of `{member}`"))
    });
    let helpers = HelperName::ALL
        .iter()
        .map(|helper| docs.relation(helper.relation()).text(helper.description()));
    let groups = [
        ("Resources", kinds.collect::<Vec<_>>()),
        ("Collections", collections.collect()),
        ("Helpers", helpers.collect()),
    ];
    let known: Vec<String> = groups
        .iter()
        .flat_map(|(_, entries)| entries.iter().map(|entry| entry.name.clone()))
        .collect();
    let about = |name: &'static str| {
        let links = Kind::ALL.iter().flat_map(|kind| kind.schema().links);
        links
            .into_iter()
            .find(|link| link.name == name)
            .map_or("", |link| link.doc)
    };
    // The entry point links `capabilities` as `service-meta`.
    let others = names()
        .into_iter()
        .filter(|name| !EXTENSIONS.contains(name) && *name != "capabilities");
    let others = others.map(|name| docs.relation(name).text(plain(about(name))));
    let others = others
        .filter(|entry| !known.contains(&entry.name))
        .collect();
    let others = ("Other links, and members of responses", others);
    let extensions = EXTENSIONS
        .iter()
        .filter_map(|name| Some(docs.relation(name).text(plain(&docs.page(name)?.summary))));
    let extensions = ("Extensions", extensions.collect());
    groups
        .into_iter()
        .chain([others, extensions])
        .map(|(title, entries)| DocLinkGroup { title, entries })
        .collect()
}

fn resource(docs: &DocPages<'_>, kind: Kind) -> DocPage {
    let (api, schema) = (docs.api, kind.schema());
    let mut page = open(
        schema.singular,
        DocSubject::Resource,
        api.dialect().relation(schema.singular),
        schema.doc,
    );
    for (of, collection) in aliases(schema.singular) {
        let (of, to) = (
            api.dialect().relation(of.singular()),
            api.dialect().relation(collection.plural()),
        );
        page.notes.push(format!(
            "On `{of}`, the target of a link of this name is `{to}`."
        ));
    }
    if schema
        .fields
        .fields
        .iter()
        .any(|field| matches!(field.ty, ValueType::StringMap))
    {
        page.notes.push(CUSTOM_FIELDS.to_owned());
    }
    page.operations = operations(docs, kind);
    if page.operations.is_empty() {
        page.notes
            .push("This server offers no operations on it.".to_owned());
    }
    page.fields = docs.fields_of(kind);
    let sent = api.record_links(kind);
    let links = schema.links.iter().filter(|link| sent.contains(&link.name));
    page.links = links.map(|link| doc_link(docs, None, link)).collect();
    page.requests = docs.examples().of_record(kind);
    if page.requests.iter().all(|request| request.answer.is_none()) {
        page.example = docs.examples().answer(kind);
    }
    let helpers = api
        .helpers()
        .filter(|helper| helper.recorded_kind() == kind || helper.container_kind() == Some(kind));
    let mut see = vec![docs.relation(schema.plural)];
    see.extend(helpers.map(|helper| docs.relation(helper.relation())));
    see.extend(
        api.operation_links(kind)
            .into_iter()
            .map(|name| docs.relation(name)),
    );
    see.extend(schema_entry(docs, schema.singular));
    page.link_groups.push(DocLinkGroup {
        title: "See also",
        entries: see,
    });
    page
}

pub(super) const CUSTOM_FIELDS: &str =
    "Keys of `custom_fields` are stored as they are sent; this server adds no prefix.";

/// Returns the kinds with a collection under this name, which is also the name of a link to a
/// single record.
///
/// Requirements: HLP-21.
fn aliases(name: &str) -> impl Iterator<Item = (Kind, Kind)> + '_ {
    let links = Kind::ALL
        .iter()
        .flat_map(|kind| kind.schema().links.iter().map(move |link| (*kind, link)));
    links.filter_map(move |(of, link)| match link.target {
        LinkTarget::Many { kind, .. } if link.name == name => Some((of, kind)),
        _ => None,
    })
}

fn doc_link(docs: &DocPages<'_>, of: Option<Kind>, link: &LinkSpec) -> DocLink {
    DocLink {
        of: of.map(|kind| docs.relation(kind.singular())),
        relation: docs.relation(link.name),
        target: match link.target {
            LinkTarget::Many { kind, .. } => docs.relation(kind.plural()),
            LinkTarget::One { kind, .. } => docs.relation(kind.singular()),
            LinkTarget::Helper(helper) => docs.relation(helper.relation()),
        },
        set_by: set_by(link.target),
        text: link.doc.to_owned(),
        rule: docs.rule(link.requirement),
    }
}

fn schema_entry(docs: &DocPages<'_>, name: &str) -> Option<super::DocReference> {
    let name = json_schema_names(docs.api)
        .into_iter()
        .find(|known| *known == name)?;
    let href = docs.api.url(docs.base, &Target::JsonSchema(name.into()));
    Some(super::DocReference::new(
        href,
        format!("JSON Schema of {name}"),
    ))
}

/// Returns all operations of this server on a kind, at any address.
fn operations(docs: &DocPages<'_>, kind: Kind) -> Vec<DocOperation> {
    let parents = kind
        .schema()
        .scope_kinds()
        .filter_map(record)
        .map(Scope::Under);
    let collections = std::iter::once(Scope::All)
        .filter(|_| kind.schema().has_collection())
        .chain(parents);
    let collections = collections.map(|scope| Target::Collection { kind, scope });
    let targets = collections.chain(record(kind).map(Target::Record));
    targets
        .flat_map(|target| operations_at(docs, &target))
        .collect()
}

/// Returns the operations of this server on a target.
pub(super) fn operations_at(docs: &DocPages<'_>, target: &Target) -> Vec<DocOperation> {
    let address = docs.api.url(docs.base, target);
    let operation = |offered: OfferedOperation| DocOperation {
        name: offered.spec().name,
        method: offered.spec().method.as_str(),
        address: address.clone(),
        key: offered.key_requirement().as_str(),
    };
    docs.api.operations(target).map(operation).collect()
}

fn collection(docs: &DocPages<'_>, kind: Kind) -> DocPage {
    let (api, schema) = (docs.api, kind.schema());
    let member = api.dialect().relation(schema.singular);
    let summary = format!(
        "A collection of `{member}`. In a page of the collection, the array of links to its members has the same name."
    );
    let mut page = open(
        schema.plural,
        DocSubject::Collection,
        api.dialect().relation(schema.plural),
        &summary,
    );
    page.notes.push(
        "The members are in `_embedded`. `next` links to the next page, `previous` and `prev` link to the previous one."
            .to_owned(),
    );
    if !api.has_any_collection(kind) {
        page.notes
            .push("This server does not offer the collection.".to_owned());
    }
    page.operations = operations(docs, kind)
        .into_iter()
        .filter(|it| matches!(it.name, "list" | "create"))
        .collect();
    page.fields = [
        ("total_pages", "Number of pages"),
        ("per_page", "Records on a page"),
        ("page", "Number of this page, from 1"),
        ("total_records", "Number of records"),
    ]
    .map(|(name, text)| docs.plain(name, "integer", text))
    .into();
    let is_filtered = !api.filter_fields(kind).is_empty();
    let parameters = parameters(
        api,
        ResponseBodyKind::Collection,
        &Target::Collection {
            kind,
            scope: Scope::All,
        },
    );
    let rows = parameters
        .into_iter()
        .map(|parameter| (parameter.name.to_owned(), parameter.text))
        .collect();
    page.tables.push(DocTable {
        title: "Query",
        rows,
    });
    page.requests = docs.examples().of_collection(kind);
    let parents = schema
        .scope_kinds()
        .filter(|parent| api.offers_collection_under(kind, *parent));
    let mut see = vec![docs.relation(schema.singular)];
    see.extend(parents.map(|parent| docs.relation(parent.singular())));
    see.extend(is_filtered.then(|| docs.entry("filters")));
    page.link_groups.push(DocLinkGroup {
        title: "See also",
        entries: see,
    });
    page
}

/// Returns the page of a helper, or of a link to it that has another name.
fn helper(docs: &DocPages<'_>, helper: HelperName, alias: Option<&'static str>) -> DocPage {
    let (api, relation) = (docs.api, helper.relation());
    let title = api.dialect().relation(alias.unwrap_or(relation));
    let summary = format!("{}.", helper.description());
    let mut page = open(
        alias.unwrap_or(relation),
        DocSubject::Helper,
        title,
        &summary,
    );
    let container = helper.container_kind().and_then(record);
    let batch = Target::Batch {
        helper,
        container: container.clone(),
    };
    page.operations = operations_at(docs, &Target::Helper { helper, container });
    let is_batched = docs.api.operations(&batch).next().is_some();
    page.notes.push(
        match helper {
            _ if page.operations.is_empty() => "This server does not offer it.",
            HelperName::Schedule => "`POST` sets the dates, `DELETE` clears them. A key is needed.",
            _ if is_anonymous(docs, helper) => {
                "`POST` calls it, with or without a key. Without a key, the response is `{}`."
            }
            _ => "`POST` calls it. A key is needed.",
        }
        .to_owned(),
    );
    if is_batched {
        page.operations.extend(operations_at(docs, &batch));
        page.notes
            .push("`batch` accepts many calls in one request.".to_owned());
    }
    let records = helper.recorded_kind();
    page.fields_title = "Body";
    match helper {
        HelperName::Schedule => {
            page.fields = ScheduleFields::FIELDS
                .fields
                .iter()
                .map(|field| docs.field(field, FieldAccess::TAKEN))
                .collect();
        }
        HelperName::PersonSignup => {}
        HelperName::RecordCanvass => {
            let of_canvass = |field: DocField| DocField {
                name: format!("canvass.{}", field.name),
                ..field
            };
            let fields = docs.sendable(records).into_iter();
            let links = docs.links_as_fields(records);
            page.fields = fields.chain(links).map(of_canvass).collect();
            page.fields
                .insert(0, docs.part(records, "The result of the canvass", true));
        }
        _ => page.fields = docs.sendable(records),
    }
    if helper.accepts_person() {
        let text = "The person, with the fields of a person. An existing person is matched; otherwise a new one is created";
        page.fields.insert(
            0,
            docs.part(Kind::Person, text, helper == HelperName::PersonSignup),
        );
    }
    if helper.accepts_action_functions() {
        let functions = api
            .action_functions()
            .iter()
            .filter_map(|function| FunctionFields::FIELDS.field(function.as_str()));
        page.fields
            .extend(functions.map(|field| docs.field(field, FieldAccess::TAKEN)));
    }
    if helper.accepts_person() && helper != HelperName::PersonSignup {
        // The person is sent in the body; the address identifies the container.
        let sent = |link: &&LinkSpec| {
            link.name != "person"
                && !matches!(
                    link.target,
                    LinkTarget::One {
                        write: LinkWrite::Never,
                        ..
                    }
                )
                && matches!(link.target, LinkTarget::One { .. })
        };
        page.links = records
            .schema()
            .links
            .iter()
            .filter(sent)
            .map(|link| doc_link(docs, None, link))
            .collect();
    }
    page.requests = docs.examples().of_helper(helper);
    let mut see: Vec<_> = helper
        .container_kind()
        .map(|kind| docs.relation(kind.singular()))
        .into_iter()
        .collect();
    see.push(docs.relation(records.singular()));
    see.extend(schema_entry(docs, relation));
    see.extend(is_batched.then(|| docs.entry("batch")));
    page.link_groups.push(DocLinkGroup {
        title: "See also",
        entries: see,
    });
    if helper.accepts_action_functions() {
        let offered = api
            .action_functions()
            .iter()
            .map(|function| docs.entry(function.as_str()));
        page.link_groups.push(DocLinkGroup {
            title: "Action functions",
            entries: offered.collect(),
        });
    }
    if helper.accepts_person() {
        page.link_groups.push(DocLinkGroup {
            title: "Persons",
            entries: vec![docs.entry("matching"), docs.relation("person")],
        });
    }
    page
}

/// Returns whether this server accepts a helper without a key.
///
/// Requirements: AUT-06.
pub(super) fn is_anonymous(docs: &DocPages<'_>, helper: HelperName) -> bool {
    let target = Target::Helper {
        helper,
        container: None,
    };
    docs.api
        .operations(&target)
        .any(|offered| offered.key_requirement() == KeyRequirement::Optional)
}

fn function(docs: &DocPages<'_>, function: FunctionName) -> DocPage {
    let name = function.as_str();
    let field = FunctionFields::FIELDS.field(name);
    let text = field.map_or("", |field| field.doc);
    let mut page = open(
        name,
        DocSubject::Function,
        name.to_owned(),
        &format!("{text}."),
    );
    page.fields_title = "Member of a helper's body";
    page.fields = field
        .map(|field| docs.field(field, FieldAccess::TAKEN))
        .into_iter()
        .collect();
    if docs.api.action_functions().contains(&function) {
        page.notes.push(
            "It is executed for the person of the call, after the action is recorded.".to_owned(),
        );
    } else {
        let code = ErrorCode::NotSupported;
        page.notes.push(format!(
            "This server does not support it: its entry in the response has the code `{code}`."
        ));
    }
    page.requests = docs.examples().of_function(function).into_iter().collect();
    let helpers = docs
        .api
        .helpers()
        .filter(|helper| helper.accepts_action_functions());
    let entries = helpers
        .map(|helper| docs.relation(helper.relation()))
        .collect();
    page.link_groups.push(DocLinkGroup {
        title: "Helpers that accept it",
        entries,
    });
    let codes = error_codes::of_function(function);
    page.link_groups.push(docs.errors(codes));
    page
}

fn link(docs: &DocPages<'_>, name: &'static str, of: &[(Kind, &'static LinkSpec)]) -> DocPage {
    let summary = "A link from a record to another record, or to one of its collections.";
    let mut page = open(
        name,
        DocSubject::Link,
        docs.api.dialect().relation(name),
        summary,
    );
    page.links = of
        .iter()
        .map(|(kind, link)| doc_link(docs, Some(*kind), link))
        .collect();
    let target = of.first().map(|(_, link)| link.target);
    page.requests = match target {
        Some(LinkTarget::One { kind, .. }) => docs.examples().read(kind).into_iter().collect(),
        Some(LinkTarget::Many { kind, .. }) => docs.examples().list(kind).into_iter().collect(),
        _ => Vec::new(),
    };
    page
}
