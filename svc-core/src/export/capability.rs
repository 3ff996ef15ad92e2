//! The capability document: what this server supports, for machines (CAP-04, UND-40).

use serde_json::{Map, Value, json};

use crate::{
    api::Api,
    auth::Operation,
    context::Base,
    link::{Scope, Target},
    model::Kind,
    schema::{Field, LinkTarget, Mode, Type},
    value::ClosedEnum,
};

/// The capability document of an API, under a base (UND-40).
#[must_use]
pub fn capabilities(api: &Api, base: &Base) -> Value {
    let dialect = api.dialect();
    let collections =
        Kind::ALL.iter().filter_map(|&kind| Some((kind.plural().to_owned(), collection(api, base, kind)?)));
    let helpers = api.helpers().map(|helper| {
        let anonymous = helper.may_be_anonymous() && api.anonymous_tenant().is_some();
        (helper.as_str().to_owned(), json!({ "relation": dialect.relation(helper.relation()), "anonymous": anonymous }))
    });
    json!({
        "declaration_version": 1,
        "interface_version": api.vendor().version,
        "base_url": base.as_str(),
        "namespace": api.vendor().namespace,
        "dialect": {
            "prefix": dialect.prefix(),
            "key_header": dialect.key_header_text(),
            "version_field": dialect.version_field(),
            "network_a_share": dialect.share_names().network_a(),
            "network_b_share": dialect.share_names().network_b(),
        },
        "response_style": api.style_name(),
        "limits": { "max_pagesize": api.sizes().max_page, "per_page": api.sizes().page },
        "authentication": { "required": true },
        "collections": collections.collect::<Map<_, _>>(),
        "helpers": helpers.collect::<Map<_, _>>(),
        "action_functions": api.functions().iter().map(|function| function.as_str()).collect::<Vec<_>>(),
        "person_matching": api.matching_text(),
        "custom_field_prefix": "",
        "behaviours": api.behaviours(),
    })
}

/// What is supported of one kind; `None` for nothing.
fn collection(api: &Api, base: &Base, kind: Kind) -> Option<Value> {
    let schema = kind.schema();
    let operations: Vec<&str> = Operation::ALL
        .iter()
        .filter(|operation| api.offers(kind, **operation))
        .map(|operation| operation.as_str())
        .collect();
    let below: Vec<&str> = schema
        .links
        .iter()
        .filter_map(|link| match link.target {
            LinkTarget::Many { kind: member, alias: false } if api.offers_under(member, kind) => Some(link.name),
            _ => None,
        })
        .collect();
    if operations.is_empty() && !api.is_listed_anywhere(kind) {
        return None;
    }
    let fields = schema.fields.fields.iter().enumerate().map(|(place, field)| {
        (field.name.to_owned(), described(field, api.is_readable(kind, place), api.is_writable(kind, place)))
    });
    let mut about = json!({
        "singular": schema.singular,
        "operations": operations,
        "sub": below,
        "fields": fields.collect::<Map<_, _>>(),
        "links": api.sent_links(kind),
    });
    if api.offers(kind, Operation::List)
        && let Some(about) = about.as_object_mut()
    {
        let href = api.href(base, &Target::Collection { kind, scope: Scope::All });
        about.insert("href".to_owned(), href.into());
    }
    Some(about)
}

fn described(field: &Field, readable: bool, writable: bool) -> Value {
    let mut about = json!({
        "type": type_name(&field.ty),
        "readable": readable,
        "writable": writable && !field.is_computed(),
        "computed": field.is_computed(),
        "required": field.mode == Mode::Required,
    });
    let Some(members) = about.as_object_mut() else { return about };
    if let Type::Enum(values) | Type::FlexEnum(values) = field.ty {
        members.insert("values".to_owned(), json!(values));
    }
    match field.mode {
        Mode::Default(value) => drop(members.insert("default".to_owned(), value.into())),
        Mode::ReceiptTime => drop(members.insert("default".to_owned(), "time of receipt".into())),
        _ => {}
    }
    if let Some(inner) = field.ty.object() {
        let nested = inner.fields.iter().map(|inner| (inner.name.to_owned(), described(inner, readable, writable)));
        members.insert("fields".to_owned(), nested.collect::<Map<_, _>>().into());
    }
    about
}

/// The name of a type in the interface's vocabulary (TYP-01 to TYP-12).
#[must_use]
pub fn type_name(ty: &Type) -> String {
    match ty {
        Type::String => "string".to_owned(),
        Type::Integer => "integer".to_owned(),
        Type::Float => "float".to_owned(),
        Type::Amount => "number".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Timestamp => "datetime".to_owned(),
        Type::Date => "date".to_owned(),
        Type::Enum(_) => "enum".to_owned(),
        Type::FlexEnum(_) => "flexenum".to_owned(),
        Type::Flag => "string or boolean".to_owned(),
        Type::Reference => "reference".to_owned(),
        Type::StringMap | Type::Object(_) => "object".to_owned(),
        Type::Array(item) => format!("{}[]", type_name(item)),
        Type::OneOrMany(item) => format!("{0} or {0}[]", type_name(item)),
    }
}
