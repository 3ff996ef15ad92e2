//! The data of forms, compared with the `OpenAPI` document.
use std::collections::BTreeSet;

use serde_json::{Value, json};
use svc_core::link::Dialect;
use svc_docs::documents::openapi;

use crate::documents::{served, support::server::Server};

fn servers() -> Vec<Server> {
    let dialect = Dialect::with_prefix("abc").expect("a prefix");
    vec![
        Server::with(|api| api),
        Server::with(|api| {
            api.dialect(dialect)
                .without_capability("people.delete")
                .without_capability("helper.record_donation")
        }),
        Server::with(svc_core::ApiBuilder::helpers_only),
    ]
}

#[test]
fn point_9_the_list_of_routes_is_that_of_the_open_api_document() {
    for server in servers() {
        let document = openapi(&server.api, server.api.base_url());
        let list = served(&server, "docs/forms/routes.json").expect("a list");
        assert_eq!(
            list["key_header"],
            server.api.dialect().key_header_text().as_str()
        );
        assert_eq!(list["prefix"], server.api.dialect().prefix());
        assert_eq!(
            list["max_pagesize"],
            json!(server.api.limits().max_page_size)
        );
        let listed = list["routes"].as_array().expect("routes");
        let paths: BTreeSet<&str> = listed
            .iter()
            .filter_map(|route| route["path"].as_str())
            .collect();
        let all: BTreeSet<&str> = document["paths"]
            .as_object()
            .expect("paths")
            .keys()
            .map(String::as_str)
            .collect();
        // The list also contains the pages of relations and schemas, because the explorer reads
        // everything that can be read.
        assert_eq!(paths, all);
        assert_eq!(listed.len(), paths.len(), "each path must be listed once");
        for route in listed {
            let item = &document["paths"][route["path"].as_str().expect("a path")];
            let operations = route["item"].as_object().expect("an item");
            assert_eq!(
                operations.len(),
                item.as_object()
                    .expect("an item")
                    .keys()
                    .filter(|it| *it != "parameters")
                    .count()
            );
            for (method, operation) in operations {
                let whole = &item[method];
                assert_eq!(
                    (&operation["summary"], &operation["operationId"]),
                    (&whole["summary"], &whole["operationId"])
                );
                assert_eq!(operation.get("security"), whole.get("security"));
                let responses = operation["responses"].as_object().expect("responses");
                let all = whole["responses"].as_object().expect("responses").keys();
                assert!(
                    responses
                        .keys()
                        .eq(all.filter(|status| status.starts_with('2'))),
                    "{responses:?}"
                );
                for (status, response) in responses {
                    assert_eq!(
                        response.get("content"),
                        whole["responses"][status].get("content"),
                        "{status}"
                    );
                }
                assert!(
                    operation.get("requestBody").is_none() && operation.get("parameters").is_none()
                );
            }
        }
    }
}

#[test]
fn point_9_the_form_of_a_route_has_all_that_it_refers_to_and_no_more() {
    for server in servers() {
        let document = openapi(&server.api, server.api.base_url());
        let list = served(&server, "docs/forms/routes.json").expect("a list");
        let mut hrefs = BTreeSet::new();
        for route in list["routes"].as_array().expect("routes") {
            let path = route["path"].as_str().expect("a path");
            let item = document["paths"][path].as_object().expect("an item");
            let takes =
                |it: &Value| it.get("requestBody").is_some() || it.get("parameters").is_some();
            let has_form = item
                .iter()
                .any(|(name, operation)| name != "parameters" && takes(operation));
            let Some(href) = route["form"].as_str() else {
                assert!(!has_form, "{path} has no form");
                continue;
            };
            assert!(has_form, "{path} has no input");
            assert!(
                hrefs.insert(href.to_owned()),
                "{href} belongs to two routes"
            );
            let form = served(&server, href).expect("a form");
            assert_eq!(form["path"], path);
            for (name, part) in item {
                let mut expected = part.clone();
                if let Some(operation) = expected.as_object_mut() {
                    operation.remove("responses");
                }
                assert_eq!(form["item"][name], expected, "{path} {name}");
            }
            let schemas = form["components"]["schemas"].as_object().expect("schemas");
            for (name, schema) in schemas {
                assert_eq!(
                    schema, &document["components"]["schemas"][name],
                    "{path}: {name}"
                );
            }
            let mut referred = BTreeSet::new();
            references(&form, &mut referred);
            let made: BTreeSet<String> = schemas
                .keys()
                .map(|name| format!("#/components/schemas/{name}"))
                .collect();
            assert_eq!(referred, made, "{path}");
            assert!(
                form.to_string().len() * 3 < document.to_string().len(),
                "{path}"
            );
        }
        assert!(hrefs.len() > 5, "{hrefs:?}");
        for none in ["nothing", "docs", "entry_point"] {
            assert_eq!(
                served(&server, &format!("docs/forms/{none}.json")),
                None,
                "{none}"
            );
        }
    }
    let whole = Server::with(|api| api);
    let people = served(&whole, "docs/forms/people.json").expect("a form");
    assert_eq!(
        people["item"]["post"]["requestBody"]["required"],
        json!(true)
    );
    assert_eq!(
        served(&whole, "docs/forms/petition_signatures.json").expect("a form")["path"],
        "/petitions/{petition_id}/signatures"
    );
}

fn references(part: &Value, found: &mut BTreeSet<String>) {
    match part {
        Value::Object(members) => {
            found.extend(
                members
                    .get("$ref")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            );
            members.values().for_each(|inner| references(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| references(inner, found)),
        _ => {}
    }
}
