//! Descriptions of fields: types, rules, and who sets a field.

use svc_core::{
    api::type_name,
    model::Kind,
    schema::{
        COMMON, FieldMode, FieldRule, KindFeature, LinkTarget, LinkUpdate, LinkWrite, ValueType,
    },
};

use super::{DocField, DocPages, DocRequirement, access::FieldAccess, types};
use crate::documents::{effective_field::EffectiveField, example::of_plain};

impl DocPages<'_> {
    /// Returns the description of a field.
    pub(super) fn field<'a>(
        &self,
        own: impl Into<EffectiveField<'a>>,
        access: FieldAccess,
    ) -> DocField {
        let own = own.into();
        let field = own.field;
        let item = if let ValueType::Array(item) = field.ty {
            item
        } else {
            &field.ty
        };
        // A flexible enum whose values are restricted is a closed enum.
        let ty = if own.values().is_some() {
            &ValueType::Enum(&[])
        } else {
            &field.ty
        };
        let rules = field
            .rules
            .iter()
            .map(rule_text)
            .filter(|text| !text.is_empty());
        let text = std::iter::once(field.doc.to_owned())
            .chain(rules)
            .chain(own.words())
            .collect::<Vec<_>>()
            .join("; ");
        let listed = |values: &[&str]| values.iter().map(|&value| value.to_owned()).collect();
        DocField {
            name: self
                .api
                .dialect()
                .share_names()
                .to_wire(field.name)
                .to_owned(),
            type_name: type_name(ty),
            type_href: self.href(&types::page_name(ty)),
            values: match (own.values(), item) {
                (Some(values), _) => values.to_vec(),
                (None, ValueType::Enum(values) | ValueType::FlexEnum(values)) => listed(values),
                _ => Vec::new(),
            },
            example: example(own, ""),
            readable: access.readable,
            writable: access.writable && !field.is_computed(),
            computed: field.is_computed(),
            required: own.is_required(),
            default: match (own.default(), field.mode) {
                (Some(value), _) => Some(value.to_owned()),
                (None, FieldMode::ReceiptTime) => Some("time of receipt".to_owned()),
                _ => None,
            },
            text,
            rule: self.rule(field.requirement),
        }
    }

    /// Returns the page of a requirement, if requirements have pages.
    pub(super) fn rule(&self, id: &'static str) -> Option<DocRequirement> {
        self.api
            .requirement_page(id)
            .map(|href| DocRequirement { id, href })
    }

    /// Returns the fields of a kind, the common ones first.
    pub(super) fn fields_of(&self, kind: Kind) -> Vec<DocField> {
        let common = COMMON
            .fields
            .iter()
            .map(|field| self.field(field, FieldAccess::BOTH));
        let own = EffectiveField::of(self.api, kind).map(|(place, own)| {
            let readable = self.api.is_field_readable(kind, place);
            let field = self.field(
                own,
                FieldAccess {
                    readable,
                    writable: self.api.is_field_writable(kind, place),
                },
            );
            DocField {
                example: example(own, kind.singular()),
                ..field
            }
        });
        let id = kind.schema().has_feature(KindFeature::ExposesId).then(|| {
            let text = "The id on this server, the last part of the URL";
            DocField {
                computed: true,
                writable: false,
                ..self.plain("id", "string", text)
            }
        });
        common.chain(id).chain(own).collect()
    }

    /// Returns the fields of a kind that a client may send.
    pub(super) fn sendable(&self, kind: Kind) -> Vec<DocField> {
        let fields = self
            .fields_of(kind)
            .into_iter()
            .filter(|field| field.writable);
        fields
            .map(|field| DocField {
                readable: false,
                ..field
            })
            .collect()
    }

    /// Returns the links of an action that a client may also send as fields of its helper.
    ///
    /// Requirements: RES-canvass-07.
    pub(super) fn links_as_fields(&self, kind: Kind) -> Vec<DocField> {
        let links = kind.schema().links.iter();
        let sent = links.filter_map(|link| match link.target {
            LinkTarget::One {
                kind: to,
                write: LinkWrite::Create,
                ..
            } if !self.api.is_link_omitted(kind, link.name) => Some((link, to)),
            _ => None,
        });
        sent.map(|(link, to)| DocField {
            name: link.name.to_owned(),
            rule: self.rule(link.requirement),
            ..self.part(
                to,
                &format!("{}; a URL, or an object with `href`", link.doc),
                false,
            )
        })
        .collect()
    }

    /// Returns a field for a record that is embedded in the body of a helper.
    pub(super) fn part(&self, kind: Kind, text: &str, required: bool) -> DocField {
        let name = kind.singular();
        DocField {
            type_href: self.href(name),
            readable: false,
            writable: true,
            computed: false,
            required,
            ..self.plain(name, &self.api.dialect().relation(name), text)
        }
    }

    /// Returns a field that is not in the schema.
    pub(super) fn plain(&self, name: &str, type_name: &str, text: &str) -> DocField {
        let page = type_name.trim_end_matches("[]");
        DocField {
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            type_href: self.href(&format!("{}{page}", types::PREFIX)),
            example: None,
            values: Vec::new(),
            readable: true,
            writable: false,
            computed: true,
            required: false,
            default: None,
            text: text.to_owned(),
            rule: None,
        }
    }
}

/// Returns an example value of a plain field that clients set.
fn example(own: EffectiveField<'_>, owner: &str) -> Option<String> {
    let is_plain = matches!(
        own.field.ty,
        ValueType::String
            | ValueType::Integer
            | ValueType::Float
            | ValueType::Amount
            | ValueType::Timestamp
            | ValueType::Date
    );
    (is_plain && !own.field.is_computed())
        .then(|| String::from_utf8(of_plain(own, owner).to_vec()).ok())?
}

/// Returns the text of a rule beyond the type; empty if the type or the field text has it.
fn rule_text(rule: &FieldRule) -> String {
    match rule {
        FieldRule::Between(least, most) => format!("from {least} to {most}"),
        FieldRule::NotNegative => "not negative".to_owned(),
        FieldRule::Email => "one address; white space at both ends is removed".to_owned(),
        FieldRule::OneLine => "one line".to_owned(),
        FieldRule::CountryCode => "an ISO 3166-1 code; stored in capitals".to_owned(),
        FieldRule::RegionCode => "one to three letters or digits; stored in capitals".to_owned(),
        FieldRule::CountryRegions => {
            "in BR, CA, CH, DE, IN and US, `region` has two letters".to_owned()
        }
        FieldRule::CurrencyCode => "an ISO 4217 code; stored in capitals".to_owned(),
        FieldRule::LanguageCode => "two or three letters".to_owned(),
        FieldRule::LanguageTag => "well-formed language tags".to_owned(),
        FieldRule::CountryCalls => {
            "the number starts with the calling code of its country".to_owned()
        }
        FieldRule::PhoneNumber => {
            "7 to 15 digits; separators, `+`, `00` and `tel:` are removed".to_owned()
        }
        FieldRule::WithoutAt => "every leading `@` is removed".to_owned(),
        FieldRule::Unique => "duplicates are removed".to_owned(),
        FieldRule::MergedEntries => "entries with the same address are merged".to_owned(),
        FieldRule::OnePrimary => "at most one is `primary`".to_owned(),
        FieldRule::ResponseKey => "letters and digits only".to_owned(),
        FieldRule::ResponseName => "letters, digits and underscore only".to_owned(),
        FieldRule::UniqueKeys => "different keys".to_owned(),
        _ => String::new(),
    }
}

/// Returns when a client may send a link.
pub(super) fn set_by(target: LinkTarget) -> &'static str {
    let LinkTarget::One { write, update, .. } = target else {
        return "server";
    };
    match (write, update) {
        (LinkWrite::Create, LinkUpdate::Change) => "client",
        (LinkWrite::Create, LinkUpdate::Never) => "client, on create",
        (LinkWrite::Required, LinkUpdate::Never) => "client, required on create",
        (LinkWrite::Required, LinkUpdate::Move) => {
            "client, required on create; an update moves the record"
        }
        (_, LinkUpdate::Move) => "server; an update moves the record",
        (_, LinkUpdate::Change) => "client, on update",
        _ => "server",
    }
}
