//! The routes in the document are exactly those of the server.

use std::collections::BTreeSet;

use http::Method;
use svc_core::{
    helper::HelperName,
    link::{RecordAddress, Scope, Target},
    model::Kind,
    operation::KeyRequirement,
    schema::LinkTarget,
    value::Id,
};

use svc_docs::documents::openapi;

use crate::documents::support::server::Server;

/// Returns every form of an address, each with its own ids.
fn targets() -> Vec<Target> {
    let id = |text: &str| Id::new(text).expect("an id");
    let mut targets = vec![
        Target::EntryPoint,
        Target::Docs,
        Target::DocsPage("person".into()),
        Target::Explorer("".into()),
        Target::Capabilities,
        Target::OpenApi,
        Target::JsonSchema("person".into()),
        Target::Form("people".into()),
        Target::Helper {
            helper: HelperName::PersonSignup,
            container: None,
        },
    ];
    for &kind in Kind::ALL {
        let schema = kind.schema();
        let parent = schema.path_parent.map(|_| id("p1"));
        let address = RecordAddress::new(kind, id("r1"), parent);
        targets.push(Target::Record(address.clone()));
        if schema.has_collection() {
            targets.push(Target::Collection {
                kind,
                scope: Scope::All,
            });
        }
        for link in schema.links {
            match link.target {
                LinkTarget::Many { kind, .. } => {
                    targets.push(Target::Collection {
                        kind,
                        scope: Scope::Under(address.clone()),
                    });
                }
                LinkTarget::Helper(helper) => targets.push(Target::Helper {
                    helper,
                    container: Some(address.clone()),
                }),
                LinkTarget::One { .. } => {}
            }
        }
    }
    targets
}

/// Returns whether a path matches a template.
fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<&str>, Vec<&str>) =
        (template.split('/').collect(), path.split('/').collect());
    let one = |(want, got): (&&str, &&str)| match want.split_once('}') {
        Some((_, rest)) => got
            .strip_suffix(rest)
            .is_some_and(|id| !id.is_empty() && id != "person_signup"),
        None => want == got,
    };
    template.len() == path.len() && template.iter().zip(&path).all(one)
}

/// A separate `HEAD` for each `GET` would double the entries in the menu of a reader.
#[test]
fn und_28_the_document_says_once_that_every_get_answers_head() {
    let server = Server::with(|api| api);
    let document = openapi(&server.api, server.api.base_url());
    let about = document["info"]["description"]
        .as_str()
        .expect("a description");
    assert!(
        about.contains("Every path with `GET` also supports `HEAD`"),
        "{about}"
    );
    for (path, item) in document["paths"].as_object().expect("paths") {
        assert!(item.get("head").is_none(), "{path}");
    }
}

#[test]
fn und_35_the_document_has_every_route_and_no_other() {
    let servers = [
        Server::with(|api| api),
        Server::with(|api| {
            api.patch_method(svc_core::api::PatchMethod::AsPut)
                .without_capability("tags.create")
                .without_capability("events.list")
                .without_capability("helper.record_canvass")
        }),
        Server::with(svc_core::ApiBuilder::helpers_only),
    ];
    for server in servers {
        let (api, base) = (&server.api, server.api.base_url());
        let document = openapi(api, base);
        let paths = document["paths"].as_object().expect("paths");
        let mut met = BTreeSet::new();
        for target in targets() {
            let href = api.url(base, &target);
            let path = format!(
                "/{}",
                href.strip_prefix(base.as_str())
                    .expect("an address under the base URL")
            );
            let template = paths
                .keys()
                .filter(|template| fits(template, &path))
                .min_by_key(|it| it.matches('{').count());
            for method in ["get", "post", "put", "patch", "delete"] {
                let standard =
                    Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
                let offered = api.operation(&standard, &target);
                let operation = template.and_then(|template| paths[template].get(method));
                assert_eq!(operation.is_some(), offered.is_some(), "{method} {path}");
                let (Some(operation), Some(template)) = (operation, template) else {
                    continue;
                };
                met.insert(format!("{method} {template}"));
                let Some(offered) = offered else { continue };
                assert_eq!(
                    operation.get("requestBody").is_some(),
                    offered.spec().accepts_body(),
                    "{method} {path}"
                );
                let security = operation
                    .get("security")
                    .map(|all| all.as_array().map_or(0, Vec::len));
                let expected = match offered.key_requirement() {
                    KeyRequirement::None => Some(0),
                    KeyRequirement::Optional => Some(2),
                    _ => None,
                };
                assert_eq!(security, expected, "{method} {path}");
                let answered: BTreeSet<&str> = operation["responses"]
                    .as_object()
                    .expect("responses")
                    .keys()
                    .map(String::as_str)
                    .collect();
                for success in offered.spec().successes(api.response_style()) {
                    assert!(
                        answered.contains(success.status.as_str()),
                        "{method} {path}"
                    );
                }
            }
        }
        let described = paths.iter().flat_map(|(path, item)| {
            let methods = item
                .as_object()
                .expect("an item")
                .keys()
                .filter(|name| *name != "parameters");
            methods.map(move |method| format!("{method} {path}"))
        });
        assert_eq!(described.collect::<BTreeSet<_>>(), met);
    }
}
