//! The schemas of records in their three variants, and of the bodies of helpers.

use serde_json::{Value, json};
use svc_core::{
    api::Api,
    helper::{FunctionFields, FunctionName, HelperName, ScheduleFields},
    model::Kind,
    schema::{COMMON, KindFeature, LinkTarget, LinkUpdate, LinkWrite},
    value::ClosedEnum,
};

use super::{Definitions, Members, SchemaVariant, addresses::address_of, list_of, set, values};
use crate::documents::effective_field::EffectiveField;

/// The links that a body may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyLinks {
    /// The links of a create.
    Create,
    /// The links of a create in a collection of a record that is not its container.
    Below,
    /// The links of a helper's action, where an inline person replaces a required link. They can
    /// also be fields.
    Helper,
    /// The same links next to the object of the action.
    BesideAction,
    /// The links of an update.
    Update,
}

impl<'a> Definitions<'a> {
    /// Returns a reference to a kind in a variant.
    pub(in crate::documents) fn kind(&mut self, kind: Kind, form: SchemaVariant) -> Value {
        self.refer(
            &format!("{}{}", kind.singular(), form.suffix()),
            |all| match form {
                SchemaVariant::Read => all.read(kind),
                SchemaVariant::Create => {
                    let mut body = all.written(kind, form, BodyLinks::Create);
                    if kind == Kind::Question {
                        // Rules for responses: ERR-35, and RES-question-07 for the other types.
                        let paragraph =
                            json!({ "question_type": { "type": "string", "enum": ["Paragraph"] } });
                        let some = json!({ "responses": { "type": "array", "minItems": 1 } });
                        set(
                            &mut body,
                            "if",
                            json!({ "required": ["question_type"], "properties": paragraph }),
                        );
                        set(
                            &mut body,
                            "then",
                            json!({ "properties": { "responses": { "maxItems": 0 } } }),
                        );
                        set(
                            &mut body,
                            "else",
                            json!({ "required": ["responses"], "properties": some }),
                        );
                    }
                    if kind == Kind::Event {
                        // JSON Schema cannot compare two members (RES-event-24).
                        set(&mut body, "x-not-after", json!(["start_date", "end_date"]));
                    }
                    body
                }
                SchemaVariant::Update => all.written(kind, form, BodyLinks::Update),
            },
        )
    }

    /// Returns the schema of a record as the server returns it.
    ///
    /// Requirements: HAL-13.
    fn read(&mut self, kind: Kind) -> Value {
        let mut record = Members::default();
        self.fields(
            &mut record,
            &COMMON
                .fields
                .iter()
                .map(EffectiveField::from)
                .collect::<Vec<_>>(),
            SchemaVariant::Read,
            kind.singular(),
        );
        record
            .required
            .extend(COMMON.fields.iter().map(|field| field.name.to_owned()));
        if kind.schema().has_feature(KindFeature::ExposesId) {
            record.require(
                "id",
                json!({ "type": "string", "description": "The id of the record on this server.", "readOnly": true }),
            );
        }
        let sent: Vec<_> = EffectiveField::readable_fields(self.api, kind).collect();
        self.fields(&mut record, &sent, SchemaVariant::Read, kind.singular());
        let mut links = Members::default();
        links.require("self", self.link());
        links.insert("curies", self.curies());
        for name in self.api.record_links(kind) {
            let link = self.link();
            links.insert(self.api.dialect().relation(name), link);
        }
        for name in self.api.operation_links(kind) {
            let link = self.link();
            links.insert(self.api.dialect().relation(name), link);
        }
        record.require("_links", links.into_schema());
        let mut schema = record.into_schema();
        set(&mut schema, "description", kind.schema().doc);
        schema
    }

    /// Returns the schema of a record as clients send it; members that are not listed are ignored.
    ///
    /// Requirements: CAP-06.
    fn written(&mut self, kind: Kind, form: SchemaVariant, links: BodyLinks) -> Value {
        let mut body = Members::default();
        let identifiers = COMMON
            .fields
            .iter()
            .filter(|field| !field.is_computed())
            .map(EffectiveField::from);
        let fields: Vec<_> = EffectiveField::writable_fields(self.api, kind)
            .chain(identifiers)
            .collect();
        self.fields(&mut body, &fields, form, kind.singular());
        self.sent_links(&mut body, kind, links);
        body.into_schema()
    }

    /// Adds the links that a client may send, under `_links`.
    fn sent_links(&mut self, body: &mut Members, kind: Kind, wanted: BodyLinks) {
        let mut links = Members::default();
        for link in kind.schema().links {
            let LinkTarget::One {
                kind: to,
                write,
                update,
                ..
            } = link.target
            else {
                continue;
            };
            let is_taken = match wanted {
                BodyLinks::Create => write != LinkWrite::Never,
                BodyLinks::Below => {
                    write != LinkWrite::Never || Some(link.name) == kind.schema().parent
                }
                BodyLinks::Helper | BodyLinks::BesideAction => write == LinkWrite::Create,
                BodyLinks::Update => update.accepts(true),
            };
            if !is_taken || self.api.is_link_omitted(kind, link.name) {
                continue;
            }
            let relation = self.api.dialect().relation(link.name);
            let address = address_of(self.api, self.base, to);
            if wanted == BodyLinks::Helper {
                // Requirements: RES-canvass-07, RES-donation-22.
                let mut field =
                    json!({ "anyOf": [address, values::href(&address), { "type": "null" }] });
                set(&mut field, "description", link.doc);
                body.insert(link.name, field);
            }
            let address = values::href(&address);
            let is_required = match wanted {
                BodyLinks::Create => write == LinkWrite::Required,
                BodyLinks::Below => Some(link.name) == kind.schema().parent,
                _ => false,
            };
            let can_clear = wanted != BodyLinks::Update || update != LinkUpdate::Move;
            if is_required {
                links.require(relation, address);
            } else if !can_clear {
                links.insert(relation, address);
            } else {
                links.insert(relation, values::or_null(address));
            }
        }
        if links.properties.is_empty() {
            return;
        }
        if links.required.is_empty() {
            // A value that is not an object counts as no links.
            body.insert(
                "_links",
                json!({ "type": ANY_TYPE, "properties": links.properties }),
            );
        } else {
            body.require("_links", links.into_schema());
        }
    }

    /// Returns the schema of the body of a `PUT` on a record: its changed fields. Those of a person
    /// can also be in an envelope, as in a `POST`.
    ///
    /// Requirements: CRU-15.
    pub(in crate::documents) fn update_body(&mut self, kind: Kind) -> Value {
        let plain = self.kind(kind, SchemaVariant::Update);
        if HelperName::for_nested_create(kind) != Some(HelperName::PersonSignup) {
            return plain;
        }
        let person =
            |schema: &Value| json!({ "type": "object", "properties": { "person": schema } });
        let alone = json!({ "allOf": [plain, person(&json!({ "type": "null" }))] });
        let mut enveloped = person(&plain);
        set(&mut enveloped, "required", json!(["person"]));
        json!({ "anyOf": [alone, enveloped] })
    }

    /// Returns a reference to the body of a `POST` in a collection of a record that is not the
    /// container.
    ///
    /// Requirements: RES-submission-07.
    pub(in crate::documents) fn below_body(&mut self, kind: Kind) -> Value {
        self.written(kind, SchemaVariant::Create, BodyLinks::Below)
    }

    /// Returns the schema of the body of a `POST` on a collection: a record, or one together with
    /// its person.
    ///
    /// Requirements: HLP-19, UND-31.
    pub(in crate::documents) fn create_body(&mut self, kind: Kind) -> Value {
        let plain = self.kind(kind, SchemaVariant::Create);
        let Some(helper) = HelperName::for_nested_create(kind) else {
            return plain;
        };
        let alone = json!({ "allOf": [plain, { "type": "object", "properties": { "person": { "type": "null" } } }] });
        if !self.api.helpers().any(|offered| offered == helper) {
            return alone;
        }
        let mut together = vec![
            self.helper(helper),
            json!({ "type": "object", "required": ["person"], "properties": { "person": { "type": "object" } } }),
        ];
        if helper != HelperName::PersonSignup {
            // Either an inline person or a link to a person.
            let relation = self.api.dialect().relation(Kind::Person.singular());
            let links = json!({ "type": ANY_TYPE, "properties": { relation: { "type": "null" } } });
            together.push(json!({ "type": "object", "properties": { "_links": links } }));
        }
        json!({ "anyOf": [alone, { "allOf": together }] })
    }

    /// Returns a reference to the body of a helper.
    ///
    /// Requirements: HLP-02, SCH-01.
    pub(in crate::documents) fn helper(&mut self, helper: HelperName) -> Value {
        self.refer(helper.relation(), |all| {
            let mut schema = all.helper_body(helper);
            set(
                &mut schema,
                "description",
                format!("{} ({}).", helper.description(), helper.requirement()),
            );
            schema
        })
    }

    fn helper_body(&mut self, helper: HelperName) -> Value {
        let mut body = Members::default();
        match helper {
            HelperName::Schedule => {
                self.fields(
                    &mut body,
                    &ScheduleFields::FIELDS
                        .fields
                        .iter()
                        .map(EffectiveField::from)
                        .collect::<Vec<_>>(),
                    SchemaVariant::Create,
                    "schedule",
                );
                // Another name, which is ignored if the first one is present (SCH-07).
                let text =
                    "Another name of `scheduled_stop_date`; it is used only if that is not sent.";
                body.insert("scheduled_end_date", json!({ "description": text }));
                let mut schema = body.into_schema();
                let stop = json!({ "scheduled_end_date": { "type": ["string", "null"], "format": "date-time" } });
                set(
                    &mut schema,
                    "if",
                    json!({ "not": { "required": ["scheduled_stop_date"] } }),
                );
                set(&mut schema, "then", json!({ "properties": stop }));
                set(
                    &mut schema,
                    "x-not-after",
                    json!(["scheduled_start_date", "scheduled_stop_date"]),
                );
                return schema;
            }
            HelperName::PersonSignup => {}
            HelperName::RecordCanvass => {
                let canvass = self.written(Kind::Canvass, SchemaVariant::Create, BodyLinks::Helper);
                body.require("canvass", canvass);
                // The link to the canvasser is also allowed outside the canvass (RES-canvass-07).
                self.sent_links(&mut body, Kind::Canvass, BodyLinks::BesideAction);
            }
            _ => {
                let kind = helper.recorded_kind();
                if let Value::Object(mut action) =
                    self.written(kind, SchemaVariant::Create, BodyLinks::Helper)
                {
                    if let Some(Value::Object(properties)) = action.remove("properties") {
                        body.properties = properties;
                    }
                    let required = action
                        .remove("required")
                        .and_then(|required| serde_json::from_value(required).ok());
                    body.required = required.unwrap_or_default();
                }
            }
        }
        if helper.accepts_person() {
            let person = self.kind(Kind::Person, SchemaVariant::Create);
            if helper == HelperName::PersonSignup {
                body.require("person", person);
            } else {
                body.insert("person", values::or_null(person));
            }
        }
        self.functions(&mut body);
        body.into_schema()
    }

    /// Adds the action functions that this server supports.
    ///
    /// Requirements: HAF-01.
    fn functions(&mut self, body: &mut Members) {
        let named = FunctionFields::FIELDS.fields.iter();
        let supported = named.filter(|field| {
            FunctionName::parse(field.name)
                .is_some_and(|name| self.api.action_functions().contains(&name))
        });
        let fields: Vec<EffectiveField<'a>> = supported.map(EffectiveField::from).collect();
        self.fields(body, &fields, SchemaVariant::Create, "function");
    }

    /// Returns a reference to the schema of a link in a response.
    ///
    /// Requirements: HAL-05.
    pub(in crate::documents) fn link(&mut self) -> Value {
        self.refer("link", |_| {
            let address = json!({ "type": "string", "format": "uri" });
            let mut link = values::href(&address);
            if let Some(properties) = link.get_mut("properties") {
                set(properties, "title", json!({ "type": "string" }));
            }
            link
        })
    }

    /// Returns the schema of the curies of a document.
    ///
    /// Requirements: HAL-18.
    pub(in crate::documents) fn curies(&mut self) -> Value {
        let curie = self.refer("curie", |_| {
            let mut curie = Members::default();
            curie.require("name", json!({ "type": "string" }));
            curie.require("href", json!({ "type": "string" }));
            curie.require("templated", json!({ "type": "boolean", "enum": [true] }));
            curie.into_schema()
        });
        list_of(&curie)
    }
}

/// Any value. Some programs ignore a schema without a `type`.
const ANY_TYPE: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

/// Returns whether the body is required: an empty body lacks all required members.
pub(in crate::documents) fn helper_needs_body(api: &Api, helper: HelperName) -> bool {
    match helper {
        HelperName::PersonSignup | HelperName::Schedule => true,
        HelperName::RecordCanvass => false,
        _ => EffectiveField::writable_fields(api, helper.recorded_kind())
            .any(EffectiveField::is_required),
    }
}
