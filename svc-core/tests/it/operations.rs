//! The table of operations, and the order of the checks before a request is executed.
//!
//! Requirements: UND-39.

use http::{HeaderMap, HeaderValue, Method};
use svc_core::{
    ErrorCode, Tenant,
    api::{Request, Response, ResponseStyle, operations},
    auth::{Caller, Identity, Principal, Rights},
    link::{RecordAddress, Scope, Target},
    model::Kind,
    operation::{RequiredRight, ResponseBodyKind},
    value::Id,
};

use crate::support::server::Server;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

fn bearer(rights: Rights) -> Identity {
    Identity::Authenticated(Principal::new(
        Tenant::new("one"),
        Caller::with_rights(rights),
    ))
}

fn answer(server: &Server, identity: Identity, method: &Method, path: &str) -> Response {
    block_on(
        server
            .api
            .handle(identity, Request::new(method, path).with_body("{}")),
    )
}

#[test]
fn und_35_each_method_of_a_shape_is_one_operation() {
    for (place, spec) in operations().enumerate() {
        let same = |other: &&svc_core::operation::OperationSpec| {
            (other.shape, &other.method) == (spec.shape, &spec.method)
        };
        assert_eq!(
            operations().position(|other| same(&other)),
            Some(place),
            "{} {:?}",
            spec.name,
            spec.shape
        );
        let is_write = spec.method != Method::GET;
        assert!(!spec.accepts_body() || is_write, "UND-39 {}", spec.name);
        assert!(
            !is_write || spec.need != RequiredRight::None,
            "AUT-07 {}",
            spec.name
        );
    }
}

#[test]
fn cru_13_and_cru_14_the_styles_differ_in_create_and_delete_only() {
    for spec in operations() {
        let statuses = |style| {
            spec.successes(style)
                .map(|success| success.status.as_u16())
                .collect::<Vec<_>>()
        };
        let differ = statuses(ResponseStyle::Table) != statuses(ResponseStyle::Examples);
        assert_eq!(
            differ,
            matches!(spec.name, "create" | "delete"),
            "{}",
            spec.name
        );
        let usual = spec.default_success(ResponseStyle::Table);
        assert_eq!(
            usual.body == ResponseBodyKind::Nothing,
            usual.status == 204,
            "{}",
            spec.name
        );
    }
}

#[test]
fn und_39_a_call_is_admitted_in_order() {
    let server = Server::with(|api| api.without_capability("tags.update"));
    let tag = server.made("tags", r#"{"name": "t"}"#);
    let tag = tag.strip_prefix(server.api.base_url().as_str()).unwrap();
    let reader = || bearer(Rights::read_only());
    let petition = "petitions/nobody/record_signature_helper";
    for (identity, method, path, status) in [
        (Identity::InvalidKey, Method::GET, "nothing", 404),
        (Identity::InvalidKey, Method::OPTIONS, tag, 204),
        (Identity::InvalidKey, Method::GET, "", 401),
        (Identity::Anonymous, Method::GET, "", 200),
        (Identity::Anonymous, Method::PUT, tag, 401),
        (Identity::Anonymous, Method::GET, tag, 401),
        (reader(), Method::PUT, tag, 500),
        (reader(), Method::PUT, "tags/nobody", 404),
        (reader(), Method::DELETE, tag, 403),
        (reader(), Method::DELETE, "tags/nobody", 403),
        (bearer(Rights::all()), Method::DELETE, "tags/nobody", 404),
        (Identity::Anonymous, Method::POST, petition, 404),
        (
            Identity::Anonymous,
            Method::POST,
            "people/person_signup",
            401,
        ),
    ] {
        assert_eq!(
            answer(&server, identity, &method, path).status,
            status,
            "{method} {path}"
        );
    }
}

#[test]
fn aut_07_and_und_28_headers_are_in_the_reply() {
    let server = Server::with(|api| api);
    let refused = answer(&server, Identity::Anonymous, &Method::GET, "tags");
    assert_eq!(
        refused.header("www-authenticate"),
        Some("ApiKey header=\"SVC-API-Token\""),
        "AUT-07"
    );
    assert_eq!(
        (refused.header("content-type"), refused.body.len()),
        (None, 0),
        "AUT-05"
    );
    let options = answer(&server, Identity::Anonymous, &Method::OPTIONS, "tags");
    assert_eq!(
        options.header("allow"),
        Some("GET, HEAD, POST, OPTIONS"),
        "UND-28"
    );
    let made = answer(&server, bearer(Rights::all()), &Method::POST, "petitions");
    assert!(
        made.header("location")
            .is_some_and(|at| at.starts_with("https://crm.example.org/api/v1/petitions/")),
        "UND-33"
    );
    assert_eq!(
        made.header("content-type"),
        Some("application/hal+json"),
        "HAL-03"
    );
}

#[test]
fn aut_03_who_asks_is_told_by_one_key() {
    let server = Server::with(|api| api);
    let identity = |keys: &[&'static str]| {
        let name = server.api.dialect().key_header();
        let headers: HeaderMap = keys
            .iter()
            .map(|key| (name.clone(), HeaderValue::from_static(key)))
            .collect();
        let request = Request::new(&Method::GET, "tags").with_headers(&headers);
        block_on(server.api.resolve(request).authenticate()).unwrap()
    };
    assert_eq!(identity(&[]), Identity::Anonymous);
    assert!(matches!(identity(&["key"]), Identity::Authenticated(..)));
    assert_eq!(
        (identity(&[""]), identity(&["key", "key"])),
        (Identity::InvalidKey, Identity::InvalidKey),
        "UND-34"
    );
    assert_eq!(ErrorCode::KeyInvalid.status(), 401);
}

/// RES-submission-07: an operation has its own name on each target, even for records that can be
/// created in two places.
#[test]
fn every_operation_has_a_name_of_its_own() {
    let id = |kind, parent: RecordAddress| {
        let target = Target::Collection {
            kind,
            scope: Scope::Under(parent),
        };
        let operation = operations()
            .find(|it| it.name == "create")
            .expect("a create");
        operation.id(&target)
    };
    let number = || Id::from(1);
    assert_eq!(
        id(
            Kind::Answer,
            RecordAddress::without_parent(Kind::Question, number())
        ),
        "create_answer"
    );
    assert_eq!(
        id(
            Kind::Answer,
            RecordAddress::with_parent(Kind::Submission, number(), number())
        ),
        "create_answer_of_submission"
    );
    assert_eq!(
        id(
            Kind::Signature,
            RecordAddress::without_parent(Kind::Petition, number())
        ),
        "create_signature"
    );
}
