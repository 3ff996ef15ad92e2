//! The capability document: what this server supports, for machines (CAP-04, UND-40).

use super::Api;
use crate::capability::{
    Declaration, DeclaredAuthentication, DeclaredCollection, DeclaredDialect, DeclaredEntryPoint, DeclaredField,
    DeclaredHelper, DeclaredLimits,
};
use crate::{
    auth::Operation,
    context::Base,
    helper::HelperName,
    link::{Scope, Target},
    model::Kind,
    schema::{Field, LinkTarget, Mode, Type},
    value::ClosedEnum,
};

/// The capability document of an API, under a base (UND-40).
#[must_use]
pub fn capabilities(api: &Api, base: &Base) -> Declaration {
    let dialect = api.dialect();
    let helper = |helper: HelperName| {
        let anonymous = helper.may_be_anonymous() && api.allows_anonymous();
        (helper.as_str().to_owned(), DeclaredHelper { relation: dialect.relation(helper.relation()), anonymous })
    };
    let fields = ["motd", "max_pagesize", "vendor_name", "product_name", dialect.version_field(), "namespace"];
    Declaration {
        declaration_version: 1,
        interface_version: api.vendor().version.clone(),
        base_url: base.as_str().to_owned(),
        namespace: api.vendor().namespace.clone(),
        dialect: DeclaredDialect {
            prefix: dialect.prefix().to_owned(),
            key_header: dialect.key_header_text().clone(),
            version_field: dialect.version_field().to_owned(),
            network_a_share: dialect.share_names().network_a().to_owned(),
            network_b_share: dialect.share_names().network_b().to_owned(),
        },
        response_style: api.style_name().to_owned(),
        limits: DeclaredLimits { max_pagesize: api.sizes().max_page, per_page: api.sizes().page },
        authentication: DeclaredAuthentication { required: true },
        entry_point: Some(DeclaredEntryPoint { fields: fields.map(str::to_owned).into(), links: vec!["docs".into()] }),
        collections: Kind::ALL
            .iter()
            .filter_map(|&kind| Some((kind.plural().to_owned(), collection(api, base, kind)?)))
            .collect(),
        helpers: api.helpers().map(helper).collect(),
        action_functions: api.functions().iter().map(|function| function.as_str().to_owned()).collect(),
        person_matching: Some(api.matching_text().to_owned()),
        custom_field_prefix: String::new(),
        behaviours: api.behaviours().into_iter().map(str::to_owned).collect(),
        openapi: Some(api.href(base, &Target::OpenApi)),
        schemas: json_schema_names(api)
            .into_iter()
            .map(|name| (name.to_owned(), api.href(base, &Target::JsonSchema(name.into()))))
            .collect(),
        missing_address: None,
    }
}

/// The names of the JSON Schemas about an API: each kind and each helper that it offers, and the rest of what it answers.
#[must_use]
pub fn json_schema_names(api: &Api) -> Vec<&'static str> {
    let kinds = Kind::ALL.iter().filter(|kind| api.is_sent(**kind)).map(|kind| kind.singular());
    let helpers = api.helpers().map(HelperName::relation);
    kinds.chain(helpers).chain(["entry_point", "error", "capabilities"]).collect()
}

/// What is supported of one kind; `None` for nothing.
fn collection(api: &Api, base: &Base, kind: Kind) -> Option<DeclaredCollection> {
    let schema = kind.schema();
    let operations: Vec<String> = Operation::ALL
        .iter()
        .filter(|operation| api.offers(kind, **operation))
        .map(|operation| operation.as_str().to_owned())
        .collect();
    let below = schema.links.iter().filter_map(|link| match link.target {
        LinkTarget::Many { kind: member, alias: false } if api.offers_under(member, kind) => Some(link.name.to_owned()),
        _ => None,
    });
    if operations.is_empty() && !api.is_listed_anywhere(kind) {
        return None;
    }
    // A field that neither leaves the server nor enters it is none of this server.
    let fields = schema.fields.fields.iter().enumerate().filter_map(|(place, field)| {
        let described = described(field, api.is_readable(kind, place), api.is_writable(kind, place));
        (described.readable || described.writable).then(|| (field.name.to_owned(), described))
    });
    let listed = api.offers(kind, Operation::List);
    Some(DeclaredCollection {
        singular: schema.singular.to_owned(),
        operations,
        sub: below.collect(),
        fields: fields.collect(),
        links: api.sent_links(kind).into_iter().map(str::to_owned).collect(),
        href: listed.then(|| api.href(base, &Target::Collection { kind, scope: Scope::All })),
    })
}

fn described(field: &Field, readable: bool, writable: bool) -> DeclaredField {
    DeclaredField {
        kind: type_name(&field.ty),
        readable,
        writable: writable && !field.is_computed(),
        computed: field.is_computed(),
        required: field.mode == Mode::Required,
        values: match field.ty {
            Type::Enum(values) | Type::FlexEnum(values) => Some(values.iter().map(|&value| value.to_owned()).collect()),
            _ => None,
        },
        default: match field.mode {
            Mode::Default(value) => Some(value.to_owned()),
            Mode::ReceiptTime => Some("time of receipt".to_owned()),
            _ => None,
        },
        fields: field.ty.object().map(|inner| {
            inner.fields.iter().map(|inner| (inner.name.to_owned(), described(inner, readable, writable))).collect()
        }),
    }
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
