//! The response cache, with a revision that changes only when a test sets it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use http::{HeaderName, HeaderValue, Method};
use svc_core::{
    Api, BaseUrl, RevisionSource, Tenant,
    api::Request,
    auth::{Caller, Identity, Principal, Rights},
    link::Target,
    model::Kind,
};

use crate::support::server::Server;

/// The revision. The largest number means that it is not available.
#[derive(Debug, Clone, Default)]
struct Count(Arc<AtomicU64>);

const UNKNOWN: u64 = u64::MAX;

#[async_trait::async_trait]
impl RevisionSource for Count {
    async fn revision(&self, _: &Tenant, _: std::time::Instant) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|count| *count != UNKNOWN)
    }
}

fn keeping() -> (Server, Count) {
    let count = Count::default();
    (Server::with(|api| api.response_cache(count.clone())), count)
}

fn total(server: &Server, to: &str) -> u64 {
    server.get(to).json["total_records"]
        .as_u64()
        .expect("a total")
}

/// Sends a request twice, so that the response is cached.
fn kept_total(server: &Server, to: &str) -> u64 {
    total(server, to);
    total(server, to)
}

#[test]
fn col_23_a_page_is_kept_until_a_change_is_counted() {
    let (server, count) = keeping();
    assert_eq!(kept_total(&server, "people"), 0);
    server.made("people", r#"{"given_name":"Ada"}"#);
    assert_eq!(total(&server, "people"), 0, "cached");
    assert_eq!(
        total(&server, "people?per_page=2"),
        1,
        "another query is another page"
    );
    assert_eq!(total(&server, "people?page=1"), 1);
    count.0.store(1, Ordering::Relaxed);
    assert_eq!(total(&server, "people"), 1);
    server.made("people", r#"{"given_name":"Ada"}"#);
    count.0.store(UNKNOWN, Ordering::Relaxed);
    assert_eq!(
        total(&server, "people"),
        2,
        "without a revision the backend is read"
    );
}

/// UND-14: with strict handling, an unknown parameter of a collection is an error, even if the page is
/// cached.
#[test]
fn und_14_strict_handling_rejects_unknown_parameters() {
    let (server, _) = keeping();
    let ask = |to: &str, handling: &str| {
        let headers = [(HeaderName::from_static("prefer"), handling)]
            .map(|(name, value)| (name, HeaderValue::from_str(value).expect("a header")));
        let caller = Caller::with_rights(Rights::all());
        server.send_with(&headers.into_iter().collect(), caller, &Method::GET, to, "")
    };
    kept_total(&server, "people?x=y&per_page=2");
    let answer = ask("people?x=y&per_page=2&limit=3", "handling=strict");
    assert_eq!(
        answer.problems(),
        ["PARAMETER_UNKNOWN x", "PARAMETER_UNKNOWN limit"]
    );
    let strict = Some("handling=strict");
    for (to, handling, status, applied) in [
        ("people?x=y&per_page=2", "handling=strict", 400, strict),
        ("people?x=y&per_page=2", "handling=lenient", 200, None),
        ("people?page=1&per_page=2", "handling=strict", 200, strict),
    ] {
        let answer = ask(to, handling);
        assert_eq!(
            (answer.status, answer.applied.as_deref()),
            (status, applied),
            "{to}"
        );
    }
}

/// A request that is sent once, like each page of an export, is not cached and evicts nothing.
#[test]
fn col_23_what_is_asked_for_once_is_not_kept() {
    let (server, count) = keeping();
    assert_eq!(total(&server, "people"), 0);
    server.made("people", r#"{"given_name":"Ada"}"#);
    assert_eq!(
        total(&server, "people"),
        1,
        "the first request is not cached"
    );
    server.made("people", r#"{"given_name":"Ada"}"#);
    assert_eq!(
        total(&server, "people"),
        1,
        "the repeated request is cached"
    );
    for page in 1..=1_000 {
        assert_eq!(total(&server, &format!("people?page={page}")), 2);
    }
    assert_eq!(total(&server, "people"), 1, "still cached");
    count.0.store(1, Ordering::Relaxed);
    assert_eq!(total(&server, "people"), 2);
    server.made("people", r#"{"given_name":"Ada"}"#);
    assert_eq!(
        total(&server, "people"),
        2,
        "a response that was cached before is cached again after the first request"
    );
}

#[test]
fn col_03_a_record_is_kept_and_what_is_not_there_is_not() {
    let (server, count) = keeping();
    let person = server.made("people", r#"{"given_name":"A"}"#);
    assert_eq!(server.get(&person).json["given_name"], "A");
    assert_eq!(server.get(&person).json["given_name"], "A");
    server.put(&person, r#"{"given_name":"B"}"#);
    assert_eq!(server.get(&person).json["given_name"], "A", "cached");
    assert_eq!(
        server.send(&Method::HEAD, &person, "").json["given_name"],
        "A",
        "UND-28: HEAD is GET"
    );
    count.0.store(1, Ordering::Relaxed);
    assert_eq!(server.get(&person).json["given_name"], "B");
    server.delete(&person);
    count.0.store(2, Ordering::Relaxed);
    assert_eq!(server.get(&person).status, 404);
    let next = person
        .rsplit_once('-')
        .map(|(start, number)| format!("{start}-{}", number.parse::<u32>().unwrap() + 1));
    let next = next.expect("an address with a number");
    for _ in 0..2 {
        assert_eq!(server.get(&next).status, 404, "{next}");
    }
    assert_eq!(server.made("people", r#"{"given_name":"Ada"}"#), next);
    assert_eq!(server.get(&next).status, 200, "a 404 is not cached");
}

/// COL-02, HAL-01: a response that is cached for one tenant or base URL is never sent for another.
#[test]
fn col_02_tenants_and_bases_are_kept_apart() {
    let (server, _) = keeping();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let people = Target::Collection {
        kind: Kind::Person,
        scope: svc_core::link::Scope::All,
    };
    let asked = |tenant: &str, base: &str| {
        let identity = Identity::Authenticated(Principal::new(
            Tenant::new(tenant),
            Caller::with_rights(Rights::all()),
        ));
        let request =
            Request::new(&Method::GET, people.clone()).with_base_url(BaseUrl::new(base).unwrap());
        let reply = runtime.block_on(server.api.handle(identity, request));
        let body: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
        (
            body["total_records"].as_u64().unwrap(),
            body["_links"]["self"]["href"].as_str().unwrap().to_owned(),
        )
    };
    let (one, two) = ("https://one.example.org/", "https://two.example.org/");
    server.made("people", r#"{"given_name":"Ada"}"#);
    assert_eq!(asked("nobody", one), (0, format!("{one}people")));
    assert_eq!(asked("nobody", one), (0, format!("{one}people")));
    assert_eq!(
        asked("one", one),
        (1, format!("{one}people")),
        "not the response of the other tenant"
    );
    assert_eq!(asked("one", one), (1, format!("{one}people")));
    server.made("people", r#"{"given_name":"Ada"}"#);
    assert_eq!(asked("one", one), (1, format!("{one}people")), "cached");
    assert_eq!(asked("one", two), (2, format!("{two}people")));
}

#[test]
fn an_answer_that_is_too_large_is_not_kept() {
    let (server, _) = keeping();
    let large = format!(r#"{{"given_name":"{}"}}"#, "a".repeat(60 * 1024));
    let [person, ..] = [(); 4].map(|()| server.made("people", &large));
    for _ in 0..2 {
        let page = server.get("people");
        assert!((page.status, page.text.len() > 200 * 1024) == (200, true));
    }
    server.put(&person, r#"{"given_name":"B"}"#);
    let page = server.get("people").json;
    let members = page["_embedded"]["svc:people"].as_array().unwrap();
    assert!(
        members.iter().any(|member| member["given_name"] == "B"),
        "{} members",
        members.len()
    );
}

/// ENT-01, HAL-01: the entry point and the capability document are cached independently of the
/// revision, for each base URL and each service.
///
/// They are not cached with a query. Nothing is cached under a long URL, so that anonymous requests
/// cannot fill the memory.
#[test]
fn ent_01_documents_are_kept_for_each_base() {
    let (server, count) = keeping();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let asked_of = |api: &Api, target: &Target, base: &str, query: Option<&str>| {
        let identity = Identity::Authenticated(Principal::new(
            Tenant::new("one"),
            Caller::with_rights(Rights::all()),
        ));
        let request = Request::new(&Method::GET, target.clone())
            .with_base_url(BaseUrl::new(base).unwrap())
            .with_query(query);
        runtime.block_on(api.handle(identity, request)).body
    };
    let asked = |target: &Target, base: &str, query: Option<&str>| {
        asked_of(&server.api, target, base, query)
    };
    let (one, two) = ("https://one.example.org/", "https://two.example.org/");
    for target in [Target::EntryPoint, Target::Capabilities] {
        let first = asked(&target, one, None);
        count.0.store(UNKNOWN, Ordering::Relaxed);
        let (again, other) = (asked(&target, one, None), asked(&target, two, None));
        assert!(
            again == first && again.as_ptr() == first.as_ptr(),
            "{target:?} has the same bytes"
        );
        assert!(
            String::from_utf8_lossy(&other).contains(two)
                && !String::from_utf8_lossy(&other).contains(one)
        );
        let queried = [
            asked(&target, one, Some("a=1")),
            asked(&target, one, Some("a=1")),
        ];
        assert!(
            queried[0] == queried[1] && queried[0].as_ptr() != queried[1].as_ptr(),
            "{target:?} with a query"
        );
    }
    let described = |api: &Api| {
        String::from_utf8_lossy(&asked_of(api, &Target::EntryPoint, one, None))
            .contains("service-desc")
    };
    let with_openapi = server.api.clone().with_openapi();
    let had = described(&server.api);
    assert_ne!(
        described(&with_openapi),
        had,
        "another service over the same backend"
    );
    assert_eq!(described(&server.api), had);
    count.0.store(1, Ordering::Relaxed);
    let people = Target::Collection {
        kind: Kind::Person,
        scope: svc_core::link::Scope::All,
    };
    let long = format!("a={}", "a".repeat(2_000));
    for (query, is_kept) in [("a=1", true), (&*long, false)] {
        let [_, second, third] = [(); 3].map(|()| asked(&people, one, Some(query)));
        assert_eq!(second.as_ptr() == third.as_ptr(), is_kept);
    }
}
