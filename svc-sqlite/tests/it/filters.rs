//! Filters and orders of collections: results, links, and rejected expressions (area FLT).

use crate::server::Server;
use serde_json::{Value, json};
use svc_core::Tenant;
use svc_store::{
    memory::MemoryStore,
    store_testkit::{self, ContractViolation},
};

/// FLT-01, FLT-02, FLT-05, FLT-08, FLT-09, FLT-11: 5 000 filters and orders return what an
/// evaluation of each record returns.
#[tokio::test]
async fn flt_01_filters_show_what_each_record_says() -> Result<(), ContractViolation> {
    let server = Server::start().await;
    let other = server.store.ensure_tenant("other").await.unwrap();
    store_testkit::check_filters(&server.store, [server.tenant.clone(), other], 5_000).await
}

/// FLT-12, SYN-04, SYN-12: 8 writers, one request in ten rolled back, and pollers by
/// `modified_date`, by cursor and by events. Set `SVC_FEED_CALLS=100000` for more.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn flt_12_pollers_miss_nothing() {
    let server = Server::start().await;
    crate::polling::misses_nothing(
        std::slice::from_ref(&server.store),
        &server.tenant,
        crate::polling::calls(),
    )
    .await;
}

/// The same for the store in memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn flt_12_pollers_miss_nothing_in_memory() {
    crate::polling::misses_nothing(&[MemoryStore::new()], &Tenant::new("one"), 1_000).await;
}

/// SYN-11: prints how much waiting requests slow down the reads of another tenant.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints a measurement: cargo test -p svc-sqlite --test it filters::syn_11 -- --ignored --nocapture"]
async fn syn_11_reads_of_others_among_waiters() {
    let server = Server::start().await;
    let other = server.store.ensure_tenant("other").await.unwrap();
    crate::polling::compare_among_waiters(&server.store, [&server.tenant, &other]).await;
}

async fn people(server: &Server, count: usize) {
    for number in 0..count {
        let body = json!({
            "given_name": format!("P{number}"), "identifiers": [format!("crm:{number}")],
            "email_addresses": [{"address": format!("Shared{}@Example.org", number % 3)}],
        });
        server.make("people", body).await;
    }
}

fn names(page: &Value) -> Vec<&str> {
    let members = page["_embedded"]["svc:people"].as_array().unwrap();
    members
        .iter()
        .map(|person| person["given_name"].as_str().unwrap())
        .collect()
}

/// FLT-06, FLT-07, FLT-10: lookups as clients write them, with spaces as `+` or `%20`.
#[tokio::test]
async fn flt_06_look_ups() {
    let server = Server::start().await;
    people(&server, 7).await;
    for (filter, expected) in [
        ("email_address+eq+'shared1@EXAMPLE.org'", &["P1", "P4"][..]),
        ("identifiers%20eq%20'crm:5'", &["P5"]),
        ("identifiers in ('crm:5', 'crm:2', 'crm:5')", &["P2", "P5"]),
        (
            "identifiers eq 'crm:5' or email_address eq 'shared1@example.org' and identifiers ne 'crm:1'",
            &["P4", "P5"],
        ),
        ("identifiers eq 'CRM:5'", &[]),
        ("email_address eq 'shared1@example.or'", &[]),
    ] {
        let page = server
            .get(&format!("people?filter={}", filter.replace(' ', "%20")))
            .await;
        assert_eq!(
            (page.status, names(&page.json)),
            (200, expected.to_vec()),
            "FLT-06: {filter}"
        );
        assert_eq!(
            page.json["total_records"],
            expected.len(),
            "FLT-05: {filter}"
        );
    }
    let one = server.get("people?filter=identifiers%20eq%20'crm:3'").await;
    let identifiers = one.json["_embedded"]["svc:people"][0]["identifiers"]
        .as_array()
        .unwrap()
        .clone();
    let own = identifiers
        .iter()
        .find_map(|it| it.as_str().filter(|it| it.starts_with("here:")))
        .unwrap();
    let page = server
        .get(&format!("people?filter=identifiers%20eq%20'{own}'"))
        .await;
    assert_eq!(
        names(&page.json),
        ["P3"],
        "FLT-07: the server's own identifier"
    );
}

/// FLT-08: every link of a page contains filter, order and size. A cursor of another filter is
/// ignored.
#[tokio::test]
async fn flt_08_links_keep_the_filter() {
    let server = Server::start().await;
    people(&server, 7).await;
    let first = server
        .get("people?filter=modified_date%20ge%20'2001-01-01'&order=modified_date&per_page=3")
        .await;
    assert_eq!(first.json["total_records"], 7, "FLT-05");
    let kept = "per_page=3&filter=modified_date%20ge%20%272001-01-01%27&order=modified_date";
    assert!(
        first.link("self").ends_with(&format!("people?{kept}")),
        "{}",
        first.link("self")
    );
    let second = server.get(&first.link("next")).await;
    assert_eq!(names(&second.json), ["P3", "P4", "P5"], "FLT-09");
    for name in ["self", "next", "previous", "prev"] {
        assert!(
            second.link(name).contains(kept),
            "FLT-08: {name} {}",
            second.link(name)
        );
    }
    assert_eq!(
        names(&server.get(&second.link("previous")).await.json),
        ["P0", "P1", "P2"]
    );
    let jumped = server.get(&format!("people?page=3&{kept}")).await;
    assert_eq!(names(&jumped.json), ["P6"], "FLT-08: a page by number");
    assert_eq!(
        server.get(&format!("people?page=4&{kept}")).await.json["total_records"],
        7,
        "UND-19"
    );
    let elsewhere = first.link("next").replace("2001", "2002");
    assert_eq!(
        names(&server.get(&elsewhere).await.json),
        ["P3", "P4", "P5"],
        "UND-14: the number is used"
    );
    let empty = server
        .get("people?filter=modified_date%20lt%20'2001-01-01'")
        .await;
    assert_eq!(
        (empty.json["total_records"].as_u64(), names(&empty.json)),
        (Some(0), vec![])
    );
}

/// FLT-09: a changed record is last by `modified_date`, and at its old position by `created_date`.
#[tokio::test]
async fn flt_09_orders() {
    let server = Server::start().await;
    people(&server, 3).await;
    let page = server.get("people?order=created_date").await.json;
    let first = page["_embedded"]["svc:people"][0]["_links"]["self"]["href"]
        .as_str()
        .unwrap();
    assert_eq!(
        server.put(first, json!({"family_name": "x"})).await.status,
        200
    );
    assert_eq!(
        names(&server.get("people?order=modified_date").await.json),
        ["P1", "P2", "P0"]
    );
    assert_eq!(
        names(&server.get("people?order=created_date").await.json),
        ["P0", "P1", "P2"]
    );
    let found = server
        .get("people?filter=identifiers%20in%20('crm:0','crm:2')&order=modified_date")
        .await;
    assert_eq!(names(&found.json), ["P2", "P0"]);
}

/// FLT-03, FLT-04: rejected filters, with the position of the error. The response repeats nothing
/// of their text.
#[tokio::test]
async fn flt_03_what_is_refused() {
    let server = Server::start().await;
    let person = server.make("people", json!({"given_name": "Ada"})).await;
    for (query, property, says) in [
        (
            "people?filter=given_name%20eq%20'secret'",
            "filter",
            "at character 1:",
        ),
        (
            "people?filter=identifiers%20eq%20secret",
            "filter",
            "at character 16:",
        ),
        ("people?filter=", "filter", "at character 1:"),
        (
            "people?filter=email_address%20ne%20'secret@x'",
            "filter",
            "No index supports",
        ),
        (
            "people?filter=identifiers%20eq%20'a:1'&filter=identifiers%20eq%20'a:2'",
            "filter",
            "must not be repeated",
        ),
        (
            "people?order=given_name",
            "order",
            "`created_date` or `modified_date`",
        ),
        (
            "people?filter=created_date%20gt%20'2001-01-01'&order=modified_date",
            "order",
            "ordered by it",
        ),
        (
            "tags?filter=email_address%20eq%20'secret@x'",
            "filter",
            "`name`",
        ),
        (
            &format!("{person}/signatures?order=created_date"),
            "order",
            "signatures",
        ),
    ] {
        let answer = server.get(query).await;
        assert_eq!(
            (answer.status, answer.codes()),
            (400, vec![String::from("FILTER_INVALID")]),
            "{query}"
        );
        let told = answer.descriptions().remove(0);
        assert_eq!(told["properties"], json!([property]), "{query}");
        let description = told["description"].as_str().unwrap();
        assert!(
            description.contains(says) && !description.contains("secret"),
            "{query}: {description}"
        );
    }
}

/// FLT-06: an address that more people have than one filter may return is rejected, not truncated.
#[tokio::test]
async fn flt_06_too_many_at_one_address() {
    let server = Server::start().await;
    let cx = server.caller();
    for _ in 0..=svc_core::filter::MAX_KEY_MATCHES {
        let body = json!({"email_addresses": [{"address": "all@example.org"}]});
        assert_eq!(
            server.call_as(&cx, "POST", "people", body).await.status,
            201
        );
    }
    let answer = server
        .get("people?filter=email_address%20eq%20'all@example.org'")
        .await;
    assert_eq!(
        (answer.status, answer.codes()),
        (400, vec![String::from("FILTER_INVALID")])
    );
}

/// FLT-13: people with a tag and people on a list, page by page. Members of other containers, other
/// names and deleted members do not count.
#[tokio::test]
async fn flt_13_people_of_a_tag_and_of_a_list() {
    let server = Server::start().await;
    people(&server, 7).await;
    let all = server.get("people").await.json;
    let all: Vec<String> = all["_embedded"]["svc:people"]
        .as_array()
        .unwrap()
        .iter()
        .map(|person| {
            person["_links"]["self"]["href"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    for (containers, members, field, members_of) in [
        ("tags", "taggings", "tag", [5, 1, 4, 0, 2]),
        ("lists", "items", "list", [5, 1, 6, 0, 2]),
    ] {
        let in_order = members_of.map(|number| format!("P{number}"));
        let url = |name: &str| format!("people?filter={field}%20eq%20'{name}'");
        let first = server.make(containers, json!({"name": "o'clock"})).await;
        let other = server.make(containers, json!({"name": "Other"})).await;
        let mut added = Vec::new();
        for number in members_of {
            let person = json!({"_links": {"svc:person": {"href": all[number]}}});
            added.push(server.make(&format!("{first}/{members}"), person).await);
        }
        let person = json!({"_links": {"svc:person": {"href": all[3]}}});
        server.make(&format!("{other}/{members}"), person).await;

        let page = server.get(&url("o''clock")).await;
        assert_eq!(names(&page.json), in_order, "{field}");
        assert_eq!(names(&server.get(&url("Other")).await.json), ["P3"]);
        let mut walked = Vec::new();
        let mut next = Some(format!("{}&per_page=2", url("o''clock")));
        while let Some(url) = next {
            let page = server.get(&url).await;
            assert_eq!(page.json["total_records"], 5, "FLT-05: {field}");
            assert_eq!(page.json["total_pages"], 3, "FLT-05: {field}");
            walked.extend(names(&page.json).into_iter().map(str::to_owned));
            next = page.json["_links"]["next"]["href"]
                .as_str()
                .map(str::to_owned);
            assert!(next.as_ref().is_none_or(|next| next.contains("&filter=")));
        }
        assert_eq!(walked, in_order, "FLT-08: {field}");
        let third = server
            .get(&format!("{}&per_page=2&page=3", url("o''clock")))
            .await;
        assert_eq!(names(&third.json), ["P2"], "FLT-08: {field}");

        for name in ["O''clock", "o''cloc", "", "other"] {
            let none = server.get(&url(name)).await;
            assert_eq!(
                (none.status, none.json["total_records"].as_u64()),
                (200, Some(0)),
                "FLT-13: {name}"
            );
        }
        assert_eq!(server.delete(&added[1]).await.status, 204);
        assert_eq!(server.delete(&all[members_of[2]]).await.status, 204);
        let page = server.get(&url("o''clock")).await;
        assert_eq!(names(&page.json), ["P5", "P0", "P2"], "FLT-12: {field}");
        assert_eq!(server.delete(&first).await.status, 204);
        let page = server.get(&url("o''clock")).await;
        assert_eq!(page.json["total_records"], 0, "FLT-12: {field}");
    }
}
