//! The capability document, as the server publishes it.
//!
//! Requirements: UND-40.

use serde_json::{Map, Value, json};

use super::check;
use super::containers;
use super::kinds::{FUNCTIONS, HELPERS, KINDS, ServerKind, is_record_helper};
use super::options::{AnonymousEffect, Containers, ServerOptions};
use super::render::{is_helper_served, is_listed, is_served};
use crate::fields::{self, FieldShape, ObjectField};

/// Returns the declaration of a service.
pub(super) fn document(options: &ServerOptions) -> Value {
    let mut collections = Map::new();
    for kind in KINDS.iter().filter(|kind| is_known(options, kind)) {
        collections.insert(kind.many.to_owned(), collection(options, kind));
    }
    let helpers = HELPERS
        .iter()
        .filter(|helper| is_helper_served(options, helper))
        .map(|helper| {
            let about = json!({
                "relation": options.rel(&format!("{helper}_helper")),
                "anonymous": options.anonymous_helpers && is_record_helper(helper),
            });
            ((*helper).to_owned(), about)
        });
    let mut behaviours = vec![
        "validates_enums",
        "validates_types",
        "capacity_enforced",
        "ticket_limit_enforced",
        "rule.response_name",
    ];
    let chosen = [
        (options.rejects_read_only, "rejects_read_only"),
        (options.helpers_only, "helpers_only"),
        (options.strict_handling, "strict_handling"),
        (
            !options.atomic_helpers && !options.read_only,
            "helper.non_atomic",
        ),
        (
            !options.read_only && !options.helpers_only,
            "helper.record_donation.links",
        ),
        (
            options.matches_people && !options.read_only,
            "helper.match_person",
        ),
        (options.one_action_per_person, "one_action_per_person"),
        (
            options.strangers != AnonymousEffect::Change && options.anonymous_helpers,
            "strangers_change_nobody",
        ),
    ];
    behaviours.extend(
        chosen
            .iter()
            .filter(|(is_so, _)| *is_so)
            .map(|(_, name)| *name),
    );
    let version_field = format!("{}_version", options.prefix);
    json!({
        "declaration_version": 1,
        "interface_version": "1.2.0",
        "base_url": options.base,
        "namespace": options.namespace,
        "dialect": {
            "prefix": options.prefix,
            "key_header": options.key_header,
            "version_field": version_field,
            "network_a_share": "network_a_share",
            "network_b_share": "network_b_share",
        },
        "response_style": if options.create_status == 201 { "table" } else { "examples" },
        "limits": { "max_pagesize": options.max_pagesize, "per_page": options.per_page },
        "authentication": { "required": true },
        "entry_point": {
            "fields": ["motd", "max_pagesize", "vendor_name", "product_name", version_field, "namespace"],
            "links": ["docs"],
        },
        "collections": collections,
        "helpers": helpers.collect::<Map<_, _>>(),
        "action_functions": if options.read_only { &[][..] } else { &FUNCTIONS[..] },
        "person_matching": match (options.matches_people, options.matches_exact_case) {
            (true, true) => "By the first e-mail address, with exact case.",
            (true, false) => "By the first e-mail address, ignoring case.",
            (false, _) => "",
        },
        "custom_field_prefix": options.custom_field_prefix,
        "behaviours": behaviours,
    })
}

/// Returns whether a client can see records of a kind: as members of a collection, or in the
/// responses of helpers.
fn is_known(options: &ServerOptions, kind: &ServerKind) -> bool {
    let is_answered = || match kind.one {
        "person" => true,
        one => is_helper_served(options, &format!("record_{one}")),
    };
    let is_met = || options.containers != Containers::None && is_answered();
    is_served(options, kind.one) && (!options.helpers_only || is_listed(options, kind) || is_met())
}

/// Returns the declaration of a kind for a service with helpers only: the fields, and the person
/// that a response embeds.
fn collection_of_helpers(options: &ServerOptions, kind: &ServerKind) -> Value {
    let is_listed = is_listed(options, kind);
    let helper = kind
        .helper
        .filter(|helper| is_listed && is_helper_served(options, helper));
    let links: Vec<String> = match helper {
        Some(helper) => vec![format!("{helper}_helper")],
        None => kind
            .to_one
            .iter()
            .filter(|name| **name == "person")
            .map(ToString::to_string)
            .collect(),
    };
    let mut fields = fields_of(options, kind);
    if is_listed {
        let shown = containers::body(kind);
        fields.retain(|name, _| shown.contains_key(name));
    }
    json!({
        "singular": kind.one,
        "operations": if is_listed { &["list"][..] } else { &[] },
        "sub": [],
        "fields": fields,
        "links": links,
    })
}

fn fields_of(options: &ServerOptions, kind: &ServerKind) -> Map<String, Value> {
    let fields = kind
        .fields()
        .iter()
        .filter(|field| !options.without_fields.contains(&field.name));
    fields
        .map(|field| (field.name.clone(), field_of(field)))
        .collect()
}

fn collection(options: &ServerOptions, kind: &ServerKind) -> Value {
    if options.helpers_only {
        return collection_of_helpers(options, kind);
    }
    let writes = |operation: &&&str| !options.read_only || matches!(**operation, "list" | "read");
    let operations: Vec<&str> = ["list", "read", "create", "update", "delete"]
        .iter()
        .filter(|operation| kind.can(operation))
        .filter(writes)
        .copied()
        .collect();
    let below: Vec<&str> = kind
        .below
        .iter()
        .filter(|below| is_served(options, below.of))
        .map(|below| below.name)
        .collect();
    let mut links: Vec<String> = below.iter().map(ToString::to_string).collect();
    let to_one = kind.container.iter().chain(kind.to_one);
    links.extend(
        to_one
            .filter(|name| !matches!(**name, "creator" | "organizer"))
            .map(ToString::to_string),
    );
    if let Some(helper) = kind
        .helper
        .filter(|helper| is_helper_served(options, helper))
    {
        links.push(format!("{helper}_helper"));
    }
    let mut about = json!({
        "singular": kind.one,
        "operations": operations,
        "sub": below,
        "fields": fields_of(options, kind),
        "links": links,
    });
    if kind.listed
        && let Some(about) = about.as_object_mut()
    {
        about.insert(
            "href".to_owned(),
            format!("{}all/{}", options.base, kind.many).into(),
        );
    }
    about
}

fn field_of(field: &ObjectField) -> Value {
    let mut about = json!({
        "type": check::name(&field.shape),
        "readable": true,
        "writable": !field.computed,
        "computed": field.computed,
        "required": field.required,
    });
    let Some(members) = about.as_object_mut() else {
        return about;
    };
    if let FieldShape::Enum(values) | FieldShape::Flex(values) = &field.shape {
        members.insert("values".to_owned(), json!(values));
    }
    match field.name.as_str() {
        "action_date" | "voided_date" => {
            drop(members.insert("default".to_owned(), "time of receipt".into()));
        }
        "transparence" => drop(members.insert("default".to_owned(), "opaque".into())),
        _ => {}
    }
    let inner = match &field.shape {
        FieldShape::Person => fields::fields("person"),
        shape => shape.members(),
    };
    if !inner.is_empty() {
        let nested = inner
            .iter()
            .map(|inner| (inner.name.clone(), field_of(inner)));
        members.insert("fields".to_owned(), nested.collect::<Map<_, _>>().into());
    }
    about
}
