//! Whole schema documents, and the schemas of everything that is not a record: pages, the entry
//! point, errors, the capability document.

use serde_json::{Value, json};
use svc_core::{
    api::Api,
    auth::Operation,
    backend::ChangeKind,
    context::BaseUrl,
    error::ErrorCode,
    helper::{HelperName, WriteEffect},
    link::Target,
    model::Kind,
};

use super::{Definitions, Members, SchemaVariant, list_of, set};
use crate::documents::json_schema_names;

pub(super) const CAPABILITIES: &str = "capabilities";
const ERROR: &str = "error";
const ENTRY_POINT: &str = "entry_point";

/// Returns the JSON Schema (draft 2020-12) of a document or body of an API under a base URL.
/// Returns `None` if the API does not have it.
///
/// The document of a kind describes the variant that clients read. Its definitions `<kind>.create`
/// and `<kind>.update` describe the variants that clients send; members that they do not list are
/// ignored.
///
/// # Examples
///
/// ```
/// # use svc_core::{Api, Vendor, auth::{TenantResolver, Authenticator}};
/// # fn about(api: &Api) -> Option<()> {
/// let document = svc_docs::documents::json_schema(api, api.base_url(), "person")?;
/// assert_eq!(document["$schema"], "https://json-schema.org/draft/2020-12/schema");
/// # Some(())
/// # }
/// ```
///
/// Requirements: CAP-06.
#[must_use]
pub fn json_schema(api: &Api, base: &BaseUrl, name: &str) -> Option<Value> {
    let name = json_schema_names(api)
        .into_iter()
        .find(|known| *known == name)?;
    let mut all = Definitions::new(api, base, "#/$defs/");
    let root = match name {
        CAPABILITIES => all.capabilities(),
        ERROR => all.error(),
        ENTRY_POINT => all.entry_point(),
        name => match HelperName::ALL
            .iter()
            .find(|helper| helper.relation() == name)
        {
            Some(helper) => all.helper(*helper),
            None => all.kind_document(name)?,
        },
    };
    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": api.url(base, &Target::JsonSchema(name.into())),
        "title": api.dialect().relation(name),
    });
    let definitions = all.finish();
    if let (Some(document), Value::Object(root)) = (document.as_object_mut(), root) {
        document.extend(root);
        document.insert("$defs".to_owned(), definitions.into());
    }
    Some(document)
}

impl Definitions<'_> {
    fn kind_document(&mut self, singular: &str) -> Option<Value> {
        let kind = Kind::ALL
            .iter()
            .copied()
            .find(|kind| kind.singular() == singular)?;
        if self.api.offers(kind, Operation::Create) {
            self.kind(kind, SchemaVariant::Create);
        }
        if self.api.offers(kind, Operation::Update) {
            self.kind(kind, SchemaVariant::Update);
        }
        Some(self.kind(kind, SchemaVariant::Read))
    }

    /// Returns a reference to a page of a collection.
    ///
    /// Requirements: COL-20 to COL-31.
    pub(in crate::documents) fn page(&mut self, kind: Kind) -> Value {
        self.refer(&format!("{}.page", kind.plural()), |all| {
            let relation = all.api.dialect().relation(kind.plural());
            let mut links = Members::default();
            for name in ["self", "next", "previous", "prev"] {
                links.insert(name, all.link());
            }
            links.required.push("self".to_owned());
            links.require("curies", all.curies());
            if kind == HelperName::PersonSignup.recorded_kind() && all.offers_signup() {
                links.insert(
                    all.api
                        .dialect()
                        .relation(HelperName::PersonSignup.relation()),
                    all.link(),
                );
            }
            let mut page = Members::default();
            for name in ["total_pages", "per_page", "page", "total_records"] {
                page.require(name, json!({ "type": "integer", "minimum": 0 }));
            }
            let record = all.kind(kind, SchemaVariant::Read);
            all.page_of(relation, links, page, &record)
        })
    }

    /// Returns the schema of a page with entries, and with other links and members.
    pub(super) fn page_of(
        &mut self,
        relation: String,
        mut links: Members,
        mut page: Members,
        entry: &Value,
    ) -> Value {
        links.require(relation.clone(), list_of(&self.link()));
        let mut embedded = Members::default();
        embedded.require(relation, list_of(entry));
        page.require("_links", links.into_schema());
        page.require("_embedded", embedded.into_schema());
        page.into_schema()
    }

    /// Returns the schema of a page without a total, with a cursor in its link `next`.
    pub(super) fn cursor_page(
        &mut self,
        relation: String,
        required_links: &[&str],
        entry: &Value,
    ) -> Value {
        let mut links = Members::default();
        for name in required_links {
            links.require(*name, self.link());
        }
        links.insert("next", self.link());
        links.require("curies", self.curies());
        let mut page = Members::default();
        page.require("per_page", json!({ "type": "integer", "minimum": 1 }));
        page.require("has_more", json!({ "type": "boolean" }));
        self.page_of(relation, links, page, entry)
    }

    /// Returns a reference to a page of the change feed.
    ///
    /// Requirements: SYN-02 to SYN-05.
    pub(in crate::documents) fn changes(&mut self) -> Value {
        self.refer("changes.page", |all| {
            let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.singular()).collect();
            let what = ChangeKind::ALL.map(ChangeKind::as_str);
            let mut entry = Members::default();
            entry.require("what", json!({ "type": "string", "enum": what }));
            entry.require("kind", json!({ "type": "string", "enum": kinds }));
            entry.require("at", json!({ "type": "string", "format": "date-time" }));
            // `self`, and the record under the relation of its kind.
            let entry_links = json!({
                "type": "object",
                "required": ["self"],
                "minProperties": 2,
                "additionalProperties": all.link(),
            });
            entry.require("_links", entry_links);
            let relation = all.api.change_feed_relation();
            all.cursor_page(relation, &["self", "first", "last"], &entry.into_schema())
        })
    }

    /// Returns a reference to the response of a batch.
    ///
    /// Requirements: BAT-02.
    pub(in crate::documents) fn batch(&mut self) -> Value {
        self.refer("batch", |all| {
            let mut links = Members::default();
            links.require("self", all.link());
            links.require("curies", all.curies());
            let mut batch = counts();
            batch.require("results", list_of(&all.batch_result()));
            batch.require("_links", links.into_schema());
            batch.into_schema()
        })
    }

    /// Returns a reference to the result of one entry of a batch.
    ///
    /// Requirements: BAT-02, BAT-08, BAT-11.
    pub(in crate::documents) fn batch_result(&mut self) -> Value {
        self.refer("batch.result", |_| {
            let mut result = Members::default();
            result.require("index", json!({ "type": "integer", "minimum": 0 }));
            result.require("status", status());
            result.insert("href", json!({ "type": "string", "format": "uri" }));
            let effects = WriteEffect::ALL.map(WriteEffect::as_str);
            result.insert("effect", json!({ "type": "string", "enum": effects }));
            result.insert(
                "body",
                json!({ "type": "object", "description": "The response body of the call." }),
            );
            let code = "The error code, if the response has no room for the body.";
            result.insert("code", json!({ "type": "string", "description": code }));
            result.into_schema()
        })
    }

    /// Returns a reference to the last line of the response to a batch of lines.
    ///
    /// Requirements: BAT-08.
    pub(in crate::documents) fn batch_totals(&mut self) -> Value {
        self.refer("batch.totals", |_| counts().into_schema())
    }

    fn offers_signup(&self) -> bool {
        self.api
            .helpers()
            .any(|helper| helper == HelperName::PersonSignup)
    }

    /// Returns a reference to the entry point.
    ///
    /// Requirements: ENT-01 to ENT-27.
    pub(in crate::documents) fn entry_point(&mut self) -> Value {
        self.refer(ENTRY_POINT, |all| {
            let text = || json!({ "type": "string" });
            let mut entry = Members::default();
            for name in [
                "motd",
                "vendor_name",
                "product_name",
                all.api.dialect().version_field(),
                "namespace",
            ] {
                entry.require(name, text());
            }
            entry.require("max_pagesize", json!({ "type": "integer", "minimum": 1 }));
            let mut links = Members::default();
            links.require("self", all.link());
            links.require("docs", all.link());
            links.require("curies", all.curies());
            let mut links = links.into_schema();
            set(&mut links, "additionalProperties", all.link());
            entry.require("_links", links);
            entry.into_schema()
        })
    }

    /// Returns a reference to the error object.
    ///
    /// Requirements: ERR-18 to ERR-33.
    pub(in crate::documents) fn error(&mut self) -> Value {
        self.refer(ERROR, |all| {
            let whole = all.statuses("error_descriptions", "error_code");
            let atomic = all.report("atomic", &whole, Members::default());
            let (list, code) = if all.api.response_style_name() == "examples" {
                ("errors", "code")
            } else {
                ("error_descriptions", "error_code")
            };
            let parts = all.statuses(list, code);
            let mut records = Members::default();
            let reported: Vec<Kind> = Kind::ALL.iter().copied().filter(|kind| all.is_reported(*kind)).collect();
            for kind in reported {
                let record = all.kind(kind, SchemaVariant::Read);
                records.insert(all.api.dialect().relation(kind.singular()), record);
            }
            let in_parts = all.report("non-atomic", &parts, records);
            json!({ "anyOf": [atomic, in_parts], "description": "Why a request failed, completely or in part." })
        })
    }

    /// Returns whether the report of a helper call may contain a record of a kind.
    fn is_reported(&self, kind: Kind) -> bool {
        self.api.helpers().any(|helper| {
            helper.recorded_kind() == kind || (helper.accepts_person() && kind == Kind::Person)
        })
    }

    fn report(&self, request_type: &str, statuses: &Value, mut body: Members) -> Value {
        let mut error = Members::default();
        error.require(
            "request_type",
            json!({ "type": "string", "enum": [request_type] }),
        );
        error.require("response_code", status());
        error.require(
            "resource_status",
            json!({ "type": "array", "minItems": 1, "items": statuses }),
        );
        body.require(self.api.dialect().relation(ERROR), error.into_schema());
        body.into_schema()
    }

    fn statuses(&self, list: &str, code: &str) -> Value {
        let codes: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        let mut description = Members::default();
        description.require(code, json!({ "type": "string", "enum": codes }));
        description.require("description", json!({ "type": "string" }));
        description.require(
            "properties",
            json!({ "type": "array", "items": { "type": "string" } }),
        );
        description.insert("hint", json!({ "type": "string" }));
        description.insert("reference_code", json!({ "type": "string" }));
        let relations = Kind::ALL.iter().map(|kind| kind.singular()).chain([ERROR]);
        let relations: Vec<String> = relations
            .map(|name| self.api.dialect().relation(name))
            .collect();
        let mut status_of = Members::default();
        status_of.require("resource", json!({ "type": "string", "enum": relations }));
        status_of.require("response_code", status());
        status_of.insert(
            list,
            json!({ "type": "array", "minItems": 1, "items": description.into_schema() }),
        );
        status_of.into_schema()
    }

    /// Returns a reference to a notice.
    ///
    /// Requirements: SCH-02, CRU-05.
    pub(in crate::documents) fn notice(&mut self) -> Value {
        self.refer("notice", |_| {
            let mut notice = Members::default();
            notice.require("notice", json!({ "type": "string" }));
            notice.into_schema()
        })
    }
}

/// Returns the members with the numbers of entries.
fn counts() -> Members {
    let mut counts = Members::default();
    for name in ["total", "succeeded", "failed"] {
        counts.require(name, json!({ "type": "integer", "minimum": 0 }));
    }
    counts
}

fn status() -> Value {
    json!({ "type": "integer", "minimum": 200, "maximum": 599 })
}
