//! The routes of the document are those of the server, one for one.

use std::collections::BTreeSet;

use http::Method;
use svc_core::{
    api::Verdict,
    export::openapi,
    helper::HelperName,
    link::{Address, Scope, Target},
    model::Kind,
    schema::LinkTarget,
    value::Id,
};

use crate::support::server::Server;

/// Every shape of an address, with ids of its own.
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
        Target::Helper { helper: HelperName::PersonSignup, container: None },
    ];
    for &kind in Kind::ALL {
        let schema = kind.schema();
        let parent = schema.home.map(|_| id("p1"));
        let address = Address { kind, id: id("r1"), parent };
        targets.push(Target::Record(address.clone()));
        if schema.has_collection() {
            targets.push(Target::Collection { kind, scope: Scope::All });
        }
        for link in schema.links {
            match link.target {
                LinkTarget::Many { kind, .. } => {
                    targets.push(Target::Collection { kind, scope: Scope::Under(address.clone()) });
                }
                LinkTarget::Helper(helper) => targets.push(Target::Helper { helper, container: Some(address.clone()) }),
                LinkTarget::One { .. } => {}
            }
        }
    }
    targets
}

/// Whether a path fits a template.
fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
    let one = |(want, got): (&&str, &&str)| match want.split_once('}') {
        Some((_, rest)) => got.strip_suffix(rest).is_some_and(|id| !id.is_empty() && id != "person_signup"),
        None => want == got,
    };
    template.len() == path.len() && template.iter().zip(&path).all(one)
}

#[test]
fn und_35_the_document_has_every_route_and_no_other() {
    let servers = [
        Server::with(|api| api),
        Server::with(|api| {
            api.patch_is_put(true).without("tags.create").without("events.list").without("helper.record_canvass")
        }),
        Server::with(svc_core::ApiBuilder::helpers_only),
    ];
    for server in servers {
        let (api, base) = (&server.api, server.api.base());
        let document = openapi(api, base);
        let paths = document["paths"].as_object().expect("paths");
        let mut met = BTreeSet::new();
        for target in targets() {
            let href = api.href(base, &target);
            let path = format!("/{}", href.strip_prefix(base.as_str()).expect("below the base"));
            let template =
                paths.keys().filter(|template| fits(template, &path)).min_by_key(|it| it.matches('{').count());
            for method in ["get", "head", "post", "put", "patch", "delete"] {
                let standard = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
                let verdict = api.verdict(&standard, &target);
                let operation = template.and_then(|template| paths[template].get(method));
                assert_eq!(operation.is_some(), verdict != Verdict::NotImplemented, "{method} {path}");
                let (Some(operation), Some(template)) = (operation, template) else { continue };
                met.insert(format!("{method} {template}"));
                let (public, anonymous, takes_body) = match verdict {
                    Verdict::Public => (true, false, false),
                    Verdict::Needs { anonymous, takes_body, .. } => (false, anonymous, takes_body),
                    Verdict::NotImplemented => continue,
                };
                assert_eq!(operation.get("requestBody").is_some(), takes_body, "{method} {path}");
                let security = operation.get("security").map(|all| all.as_array().map_or(0, Vec::len));
                assert_eq!(security, if public { Some(0) } else { anonymous.then_some(2) }, "{method} {path}");
            }
        }
        let described = paths.iter().flat_map(|(path, item)| {
            let methods = item.as_object().expect("an item").keys().filter(|name| *name != "parameters");
            methods.map(move |method| format!("{method} {path}"))
        });
        assert_eq!(described.collect::<BTreeSet<_>>(), met);
    }
}
