//! Every document complies with its standard, and every response of the server complies with the
//! documents.

use http_body_util::{BodyExt, Empty};
use serde_json::{Value, json};
use svc_core::{
    api::{ErrorBodies, PatchMethod, ResponseStyle, VendorRelations},
    link::{Dialect, ShareNames, Target},
    model::{Kind, Person, Tag},
};

use svc_docs::{
    Docs,
    documents::{DocPages, json_schema, json_schema_names, openapi},
};
use svc_tower::SvcService;
use tower::ServiceExt;

use crate::documents::support::server::Server;
use crate::documents::{faults, served, validator};

/// Returns different servers: one with the whole API, one with other names, and one with a part of
/// the API.
fn servers() -> Vec<Server> {
    let names = ShareNames::new("birdsite_share", "facesite_share").expect("names");
    let dialect = Dialect::with_prefix("abc")
        .expect("a prefix")
        .with_share_names(names);
    vec![
        Server::with(|api| api),
        Server::with(|api| {
            api.dialect(dialect)
                .response_style(ResponseStyle::Examples)
                .error_bodies(ErrorBodies::Everywhere)
        }),
        Server::with(|api| {
            api.without_capability("people.delete")
                .without_capability("helper.record_donation")
                .patch_method(PatchMethod::AsPut)
        }),
    ]
}

#[test]
fn und_40_every_schema_is_one_of_draft_2020_12() {
    for server in servers() {
        let names = json_schema_names(&server.api);
        assert!(names.len() > 25, "{names:?}");
        for name in names {
            let document =
                json_schema(&server.api, server.api.base_url(), name).expect("a document");
            jsonschema::draft202012::meta::validate(&document)
                .unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
            validator(&document);
            let href = server.api.base_url().as_str().to_owned() + "docs/schemas/" + name + ".json";
            assert_eq!(document["$id"], href.as_str());
            assert_eq!(served(&server, &href), Some(document), "{name}");
        }
        assert_eq!(served(&server, "docs/schemas/nobody.json"), None);
    }
}

#[test]
fn und_40_the_open_api_document_is_one_and_its_schemas_are() {
    for server in servers() {
        let document = openapi(&server.api, server.api.base_url());
        assert_eq!(
            served(&server, "docs/openapi.json").as_ref(),
            Some(&document)
        );
        let read = oas3::from_json(document.to_string()).unwrap_or_else(|wrong| panic!("{wrong}"));
        read.validate_version().expect("version 3.1");
        let mut ids: Vec<String> = read
            .operations()
            .filter_map(|(_, _, it)| it.operation_id.clone())
            .collect();
        let count = ids.len();
        assert!(count > 100, "{count}");
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count, "operation ids must be unique");
        let page = &document["paths"]["/docs/v1/{relation}"]["get"]["responses"]["200"]["content"];
        assert!(page.get("text/html").is_some(), "{page}");
        assert!(page.get("application/hal+json").is_some(), "{page}");
        for (name, schema) in document["components"]["schemas"]
            .as_object()
            .expect("schemas")
        {
            jsonschema::draft202012::meta::validate(schema)
                .unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        }
        let mut references = Vec::new();
        collect("$ref", &document, &mut references);
        assert!(references.len() > 500, "{}", references.len());
        for reference in references {
            let place = reference
                .as_str()
                .and_then(|it| it.strip_prefix('#'))
                .expect("a place in the document");
            assert!(
                document.pointer(place).is_some(),
                "the target of {reference} does not exist"
            );
        }
    }
}

/// UND-40: `utoipa`, with which most programs describe their own routes, can read and nest the
/// document. It does not support `const`, schemas without `type`, and parameters without
/// `required`.
#[test]
fn und_40_the_open_api_document_is_one_that_utoipa_reads() {
    for server in servers() {
        let document = openapi(&server.api, server.api.base_url());
        let mut parameters = Vec::new();
        collect("parameters", &document["paths"], &mut parameters);
        let parameters: Vec<&Value> = parameters
            .iter()
            .filter_map(|list| list.as_array())
            .flatten()
            .collect();
        assert!(parameters.len() > 100, "{}", parameters.len());
        for parameter in parameters {
            assert_eq!(
                parameter["required"],
                json!(parameter["in"] == "path"),
                "{parameter}"
            );
        }
        let mut schemas = Vec::new();
        collect("schema", &document["paths"], &mut schemas);
        schemas.extend(
            document["components"]["schemas"]
                .as_object()
                .expect("schemas")
                .values(),
        );
        for schema in schemas {
            let wrong = unread(schema);
            assert!(wrong.is_none(), "{wrong:?} in {schema}");
        }
    }
}

/// Returns a part of a schema that `utoipa` cannot read: one that is not a reference or a choice,
/// and has no type and no listed value.
fn unread(schema: &Value) -> Option<&Value> {
    let members = schema
        .as_object()
        .filter(|members| !members.contains_key("const"));
    let Some(members) = members else {
        return Some(schema);
    };
    if let Some(parts) = ["anyOf", "allOf", "oneOf"]
        .iter()
        .find_map(|name| members.get(*name)?.as_array())
    {
        return parts.iter().find_map(unread);
    }
    let is_open = ["enum", "properties", "items"]
        .iter()
        .all(|name| !members.contains_key(*name));
    if !is_open && !members.contains_key("type") {
        return Some(schema);
    }
    let own = members
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|own| own.values());
    let more = ["items", "additionalProperties"]
        .iter()
        .filter_map(|name| members.get(*name));
    own.chain(more.filter(|more| more.is_object()))
        .find_map(unread)
}

/// Collects the values of all members with a name, anywhere in a document.
fn collect<'a>(name: &str, value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get(name));
            members
                .values()
                .for_each(|value| collect(name, value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(name, value, found)),
        _ => {}
    }
}

#[test]
fn cap_04_only_what_is_declared_appears() {
    let server = Server::with(|api| {
        api.without_capability("people.update")
            .without_capability("petitions.create")
            .without_capability("helper.record_signature")
            .without_capability("haf.add_tags")
    });
    let document = openapi(&server.api, server.api.base_url());
    let paths = &document["paths"];
    assert!(
        paths["/people/{person_id}"].get("put").is_none()
            && paths["/people/{person_id}"].get("delete").is_some()
    );
    assert!(paths["/petitions"].get("post").is_none() && paths["/petitions"].get("get").is_some());
    assert!(
        paths
            .get("/petitions/{petition_id}/record_signature_helper")
            .is_none()
    );
    let schemas = &document["components"]["schemas"];
    assert!(schemas.get("person.update").is_none() && schemas.get("person.create").is_some());
    let signup = &schemas["person_signup_helper"]["properties"];
    assert!(signup.get("add_tags").is_none() && signup.get("add_tags_uri").is_some());
    assert!(!json_schema_names(&server.api).contains(&"record_signature_helper"));
    let person = json_schema(&server.api, server.api.base_url(), "person").expect("a document");
    assert!(person["$defs"].get("person.update").is_none());
}

#[test]
fn cap_06_restricted_fields_are_left_out() {
    let server = Server::with(|api| api);
    let store = &server.store;
    let api = crate::documents::support::server::builder()
        .resource::<Person, _>(store, |x| {
            let x = x.list().get().create().update();
            x.readable_fields(svc_core::fields!(person::{given_name, family_name}))
                .writable_fields(svc_core::writable!(person::{given_name}))
        })
        .resource::<Tag, _>(store, svc_core::api::ResourceConfig::list)
        .build()
        .expect("an API");
    let person = json_schema(&api, api.base_url(), "person").expect("a document");
    let names = |form: &str| {
        let properties = person["$defs"][form]["properties"]
            .as_object()
            .expect("properties");
        properties.keys().cloned().collect::<Vec<_>>()
    };
    let common = [
        "_links",
        "created_date",
        "family_name",
        "given_name",
        "id",
        "identifiers",
        "modified_date",
    ];
    assert_eq!(names("person"), common);
    assert_eq!(names("person.create"), ["given_name", "identifiers"]);
    assert_eq!(names("person.update"), ["given_name", "identifiers"]);
    assert_eq!(json_schema(&api, api.base_url(), "petition"), None);
    let tag = json_schema(&api, api.base_url(), "tag").expect("a document");
    assert_eq!(
        tag["$defs"]
            .as_object()
            .expect("definitions")
            .keys()
            .filter(|name| name.starts_with("tag"))
            .count(),
        1
    );
}

/// HLP-16: the documents declare that a call of this helper needs a canvass.
#[test]
fn hlp_16_a_canvass_is_required_in_the_documents() {
    let server = Server::with(|api| api);
    let schema = json_schema(&server.api, server.api.base_url(), "record_canvass_helper")
        .expect("a document");
    assert_eq!(
        schema["$defs"]["record_canvass_helper"]["required"],
        json!(["canvass"])
    );
    let document = openapi(&server.api, server.api.base_url());
    let of_helper = &document["components"]["schemas"]["record_canvass_helper"];
    assert_eq!(of_helper["required"], json!(["canvass"]));
}

/// RES-canvass-07: the documents declare where a canvasser can be.
#[test]
fn res_canvass_07_a_canvasser_is_declared() {
    let server = Server::with(|api| api);
    let about = |name: &str| json_schema(&server.api, server.api.base_url(), name).expect(name);
    let own = about("record_canvass_helper");
    let own = &own["$defs"]["record_canvass_helper"]["properties"];
    let canvass = &own["canvass"]["properties"];
    for links in [own, canvass] {
        assert!(links["_links"]["properties"]["svc:canvasser"].is_object());
    }
    assert!(canvass["canvasser"].is_object() && own["canvasser"].is_null());
    let person = server.made("people", r#"{"given_name":"Ada"}"#);
    let valid = validator(&about("record_canvass_helper"));
    for (sent, is_valid) in [
        (json!(person), true),
        (json!({"href": person}), true),
        (Value::Null, true),
        (json!("nobody"), false),
    ] {
        let body = json!({"canvass": {"canvasser": sent}});
        assert_eq!(valid.is_valid(&body), is_valid, "{body}");
    }
}

/// CRU-15: a change of a person has its fields directly or in an envelope, as a create does.
#[test]
fn cru_15_an_envelope_is_declared() {
    let server = Server::with(|api| api);
    let document = openapi(&server.api, server.api.base_url());
    let paths = document["paths"].as_object().expect("paths");
    let body = |path: &str| {
        let (_, item) = paths
            .iter()
            .find(|(known, _)| known.starts_with(path) && known.matches('/').count() == 2)
            .expect(path);
        item["put"]["requestBody"]["content"]["application/json"]["schema"].clone()
    };
    let update = json!({"$ref": "#/components/schemas/person.update"});
    let person = body("/people/{");
    assert_eq!(person["anyOf"][0]["allOf"][0], update, "{person}");
    assert_eq!(person["anyOf"][1]["properties"]["person"], update);
    assert!(body("/petitions/{")["$ref"].is_string());
}

#[test]
fn hal_13_every_answer_is_as_its_schema_says() {
    for server in servers() {
        let about = |name: &str| {
            validator(&json_schema(&server.api, server.api.base_url(), name).expect("a document"))
        };
        let check = |name: &str, answer: &Value| {
            assert_eq!(faults(&about(name), answer), [""; 0], "{name}: {answer}");
        };
        check("entry_point", &server.get("").json);
        check(
            "capabilities",
            &served(&server, "docs/capabilities").expect("a document"),
        );
        let person = server.made(
            "people",
            r#"{"given_name":"Ada","phone_numbers":[{"number":"+49 30 12345","primary":"true"}]}"#,
        );
        check("person", &server.get(&person).json);
        check(
            "error",
            &server
                .post("people", r#"{"given_name":7,"birthdate":{"month":13}}"#)
                .json,
        );
        check("error", &server.post("people", "[").json);
        check("error", &server.put("people/nobody", "{}").json);
        let petition = server.made(
            "petitions",
            r#"{"title":"More trees","target":[{"title":"Mayor"}]}"#,
        );
        check("petition", &server.get(&petition).json);
        let helper = format!("{petition}/record_signature_helper");
        let recorded = server.post(
            &helper,
            r#"{"person":{"given_name":"Grace"},"comments":"Yes!"}"#,
        );
        check("signature", &recorded.json);
        let in_parts = server.post(
            &helper,
            r#"{"person":{"given_name":"Joan"},"add_tags":["no such tag"]}"#,
        );
        assert_eq!(in_parts.status, 400);
        check("error", &in_parts.json);
        // A page, according to the OpenAPI document.
        let document = openapi(&server.api, server.api.base_url());
        let page = &document["paths"]["/people"]["get"]["responses"]["200"]["content"]["application/hal+json"]
            ["schema"];
        let mut schema = json!({ "components": document["components"] });
        schema["$ref"] = page["$ref"].clone();
        assert_eq!(
            faults(&validator(&schema), &server.get("people?per_page=1").json),
            [""; 0]
        );
    }
}

#[test]
fn und_40_the_declaration_leads_to_every_document() {
    let server = Server::with(|api| api);
    let about = served(&server, "docs/capabilities").expect("a document");
    assert_eq!(
        server.get("docs/capabilities").json,
        about,
        "with or without HTTP"
    );
    assert!(served(&server, about["openapi"].as_str().expect("an address")).is_some());
    let schemas = about["schemas"].as_object().expect("addresses");
    assert_eq!(schemas.len(), json_schema_names(&server.api).len());
    for kind in Kind::ALL {
        assert!(schemas.contains_key(kind.singular()), "{}", kind.singular());
    }
    for href in schemas.values() {
        assert!(
            served(&server, href.as_str().expect("an address")).is_some(),
            "{href}"
        );
    }
}

#[test]
fn ent_27_the_page_of_relations_has_those_of_the_vendor() {
    let own = VendorRelations::new("https://crm.example.org/relations/");
    let server = Server::with(|api| {
        api.vendor_relations(own.link("shop", "https://crm.example.org/shop", "Shop"))
    });
    let relations = DocPages::new(&server.api, server.api.base_url(), 0)
        .page("relations")
        .expect("a page");
    let own = relations
        .link_groups
        .iter()
        .find(|list| list.title == "Vendor relations")
        .expect("a list");
    let own: Vec<_> = own
        .entries
        .iter()
        .map(|it| (it.name.as_str(), it.href.as_str(), it.text.as_str()))
        .collect();
    assert_eq!(
        own,
        [("crm:shop", "https://crm.example.org/relations/shop", "Shop")],
        "HAL-18, ENT-27"
    );
}

/// If requirements have pages, each field and link refers to its own, in the page for programs and
/// in the page for people.
#[test]
fn und_40_fields_and_links_lead_to_their_rows() {
    let linked = Server::with(|api| api.requirement_pages("https://example.org/rules/"));
    let page = DocPages::new(&linked.api, linked.api.base_url(), 0)
        .page("person")
        .expect("a page");
    let given_name = page
        .fields
        .iter()
        .find(|field| field.name == "given_name")
        .expect("a field");
    let rule = given_name.rule.as_ref().expect("a rule");
    assert_eq!(
        rule.href,
        format!("https://example.org/rules/{}.html", rule.id)
    );
    let without = page
        .fields
        .iter()
        .filter(|field| field.rule.is_none())
        .map(|field| field.name.as_str());
    assert_eq!(
        without.collect::<Vec<_>>(),
        ["id"],
        "UND-40: every field of a schema must have a requirement"
    );
    assert!(
        page.links.iter().all(|link| link.rule.is_some()),
        "UND-40: every link of a schema must have a requirement"
    );
    let html = |server: &Server| {
        let href = server
            .api
            .url(server.api.base_url(), &Target::DocsPage("person".into()));
        let path = href
            .strip_prefix(server.api.base_url().as_str())
            .expect("an address under the base URL");
        let request = http::Request::get(format!("/{path}"))
            .header("accept", "text/html")
            .body(Empty::<&[u8]>::new());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let answer = SvcService::new(server.api.clone())
                .with_docs(Docs::new())
                .oneshot(request.expect("a request"))
                .await
                .expect("one");
            String::from_utf8(
                answer
                    .into_body()
                    .collect()
                    .await
                    .expect("a body")
                    .to_bytes()
                    .to_vec(),
            )
            .expect("text")
        })
    };
    let shown = html(&linked);
    let link = format!("<a href=\"{}\">{}</a>", rule.href, rule.id);
    assert!(shown.contains(&link), "UND-40: {shown}");
    assert!(
        !html(&Server::with(|api| api)).contains(rule.id),
        "UND-40: there must be no link if requirements have no pages"
    );
}
