//! The capability document, a machine-readable description of what the server supports.
//!
//! Requirements: CAP-04, UND-40.

use super::Api;
use crate::capability::{
    Declaration, DeclaredCollection, DeclaredEntryPoint, DeclaredField, DeclaredHelper,
    DeclaredLink,
};
use crate::{
    auth::Operation,
    context::BaseUrl,
    filter::FilterField,
    helper::HelperName,
    link::{Scope, Target},
    model::Kind,
    schema::{Constraint, FieldMode, FieldSpec, LinkTarget, ValueType},
    value::ClosedEnum,
};

/// Returns the capability document of an API, with URLs under a base URL.
///
/// Requirements: UND-40.
#[must_use]
pub fn capabilities(api: &Api, base: &BaseUrl) -> Declaration {
    let dialect = api.dialect();
    let mut document = Declaration::default();
    document.declaration_version = 1;
    document.interface_version = api.vendor().version.as_str().into();
    document.base_url = base.as_str().into();
    document.namespace = api.vendor().namespace.as_str().into();
    document.dialect.prefix = dialect.prefix().into();
    document.dialect.extension_prefix = dialect.extension_prefix().into();
    document.dialect.key_header = dialect.key_header_text().as_str().into();
    document.dialect.version_field = dialect.version_field().into();
    document.dialect.network_a_share = dialect.share_names().network_a().into();
    document.dialect.network_b_share = dialect.share_names().network_b().into();
    document.response_style = api.response_style_name().into();
    document.limits.max_pagesize = api.limits().max_page_size;
    document.limits.per_page = api.limits().default_page_size;
    document.authentication.required = true;
    document.entry_point = Some(entry_point(api));
    let kinds = Kind::ALL
        .iter()
        .filter_map(|&kind| Some((kind.plural().to_owned(), collection(api, base, kind)?)));
    document.collections = kinds.collect();
    document.helpers = api
        .helpers()
        .map(|name| (name.as_str().to_owned(), helper(api, name)))
        .collect();
    document.action_functions = api
        .action_functions()
        .iter()
        .map(|function| function.as_str().to_owned())
        .collect();
    document.person_matching = Some(api.person_matching_description());
    document.behaviours = api.behaviours().into_iter().map(str::to_owned).collect();
    document.openapi = Some(api.url(base, &Target::OpenApi));
    let schema = |name: &'static str| {
        (
            name.to_owned(),
            api.url(base, &Target::JsonSchema(name.into())),
        )
    };
    document.schemas = json_schema_names(api).into_iter().map(schema).collect();
    let mut own = DeclaredLink::default();
    own.href = api.url(base, &Target::Capabilities);
    document.links.insert("self".to_owned(), own);
    document
}

fn entry_point(api: &Api) -> DeclaredEntryPoint {
    let version = api.dialect().version_field();
    let fields = [
        "motd",
        "max_pagesize",
        "vendor_name",
        "product_name",
        version,
        "namespace",
    ];
    let mut entry = DeclaredEntryPoint::default();
    entry.fields = fields.map(str::to_owned).into();
    entry.links = vec!["docs".into()];
    entry
}

fn helper(api: &Api, name: HelperName) -> DeclaredHelper {
    let mut helper = DeclaredHelper::default();
    helper.relation = api.dialect().relation(name.relation());
    helper.anonymous = name.allows_anonymous() && api.allows_anonymous();
    helper
}

/// Returns the names of the JSON Schemas of an API: those of the offered kinds and helpers, and of
/// its other documents.
#[must_use]
pub fn json_schema_names(api: &Api) -> Vec<&'static str> {
    let kinds = Kind::ALL
        .iter()
        .filter(|kind| api.shows_kind(**kind))
        .map(|kind| kind.singular());
    let helpers = api.helpers().map(HelperName::relation);
    kinds
        .chain(helpers)
        .chain(["entry_point", "error", "capabilities"])
        .collect()
}

/// Returns what is supported of a kind, or `None` if nothing is.
fn collection(api: &Api, base: &BaseUrl, kind: Kind) -> Option<DeclaredCollection> {
    let schema = kind.schema();
    let operations: Vec<String> = Operation::ALL
        .iter()
        .filter(|operation| api.offers(kind, **operation))
        .map(|operation| operation.as_str().to_owned())
        .collect();
    let below = schema.links.iter().filter_map(|link| match link.target {
        LinkTarget::Many {
            kind: member,
            alias: false,
        } if api.offers_collection_under(member, kind) => Some(link.name.to_owned()),
        _ => None,
    });
    if operations.is_empty() && !api.has_any_collection(kind) {
        return None;
    }
    // A field that is neither readable nor writable is not declared.
    let fields = schema
        .fields
        .fields
        .iter()
        .enumerate()
        .filter_map(|(place, field)| {
            let narrow = api
                .constraints(kind)
                .and_then(|narrowing| narrowing.member(field.name));
            let described = described(
                field,
                narrow,
                api.is_field_readable(kind, place),
                api.is_field_writable(kind, place),
            );
            (described.readable || described.writable).then(|| (field.name.to_owned(), described))
        });
    let listed = api.offers(kind, Operation::List);
    let mut collection = DeclaredCollection::default();
    collection.singular = schema.singular.into();
    collection.operations = operations;
    collection.sub = below.collect();
    collection.fields = fields.collect();
    collection.links = api
        .record_links(kind)
        .into_iter()
        .map(str::to_owned)
        .collect();
    if listed {
        let names = |fields: &mut dyn Iterator<Item = &FilterField>| {
            fields.map(|it| it.as_str().to_owned()).collect()
        };
        collection.filter = names(&mut api.filter_fields(kind).iter());
        collection.order = names(
            &mut api
                .filter_fields(kind)
                .iter()
                .filter(|field| field.is_date()),
        );
    }
    collection.href = listed.then(|| {
        api.url(
            base,
            &Target::Collection {
                kind,
                scope: Scope::All,
            },
        )
    });
    Some(collection)
}

fn described(
    field: &FieldSpec,
    narrow: Option<&Constraint>,
    readable: bool,
    writable: bool,
) -> DeclaredField {
    let mut described = DeclaredField::default();
    described.kind = type_name(&field.ty);
    described.readable = readable;
    described.writable = writable && !field.is_computed();
    described.computed = field.is_computed();
    described.required = field.mode == FieldMode::Required;
    if let ValueType::Enum(values) | ValueType::FlexEnum(values) = field.ty {
        described.values = Some(values.iter().map(|&value| value.to_owned()).collect());
    }
    described.default = match field.mode {
        FieldMode::Default(value) => Some(value.to_owned()),
        FieldMode::ReceiptTime => Some("time of receipt".to_owned()),
        _ => None,
    };
    if let Some(narrow) = narrow {
        narrowed(&mut described, narrow);
    }
    let inner = |member: &FieldSpec| {
        let narrow = narrow.and_then(|narrow| narrow.members.member(member.name));
        let readable = readable && !narrow.is_some_and(|narrow| narrow.hidden);
        let writable = writable && !narrow.is_some_and(|narrow| narrow.read_only);
        let described = self::described(member, narrow, readable, writable);
        (described.readable || described.writable).then(|| (member.name.to_owned(), described))
    };
    described.fields = field
        .ty
        .object()
        .map(|object| object.fields.iter().filter_map(inner).collect());
    described
}

/// Replaces the declaration of the specification by the constraints of this server.
fn narrowed(described: &mut DeclaredField, narrow: &Constraint) {
    described.required |= narrow.required;
    if let Some(values) = &narrow.values {
        // A flexible enum then accepts no other values. Requirements: TYP-09.
        described.kind = String::from("enum");
        described.values = Some(values.clone());
    }
    if let Some(default) = &narrow.default {
        described.default = Some(default.clone());
    }
    described.minimum = narrow.min.map(|least| least.to_string());
    described.maximum = narrow.max.map(|most| most.to_string());
    described.max_length = narrow.max_length;
    described.max_items = narrow.max_items;
    described.in_entries = narrow.in_entries.map(|values| values.as_str().to_owned());
}

/// Returns the name of a type in the vocabulary of the specification.
///
/// Requirements: TYP-01 to TYP-12, RES-phone_number-01.
#[must_use]
pub fn type_name(ty: &ValueType) -> String {
    match ty {
        // The flag of a phone number is a string.
        ValueType::String | ValueType::Flag => "string".to_owned(),
        ValueType::Integer => "integer".to_owned(),
        ValueType::Float => "float".to_owned(),
        ValueType::Amount => "number".to_owned(),
        ValueType::Boolean => "boolean".to_owned(),
        ValueType::Timestamp => "datetime".to_owned(),
        ValueType::Date => "date".to_owned(),
        ValueType::Enum(_) => "enum".to_owned(),
        ValueType::FlexEnum(_) => "flexenum".to_owned(),
        ValueType::Reference => "reference".to_owned(),
        ValueType::StringMap | ValueType::Object(_) => "object".to_owned(),
        ValueType::Array(item) => format!("{}[]", type_name(item)),
        ValueType::OneOrMany(item) => format!("{0} or {0}[]", type_name(item)),
    }
}
