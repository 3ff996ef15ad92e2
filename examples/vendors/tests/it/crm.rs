//! Runs the conformance suite on the example `crm`, and tests it with many simultaneous callers.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use http::header::{CONTENT_TYPE, ETAG, IF_MATCH};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use svc_conformance::{InProcess, Intensity, Keys, Profile, RequirementOutcome, Suite};
use svc_tower::SvcService;
use svc_vendor_examples::crm::{Crm, interface};
use tower::ServiceExt;

/// The base URL for the suite.
const BASE: &str = "http://localhost/api/v1/";

#[tokio::test]
async fn the_suite_finds_that_crm_conforms() -> Result<(), Box<dyn Error>> {
    let crm = Arc::new(Crm::open(":memory:")?);
    let (acme, other) = (crm.company("Acme").await?, crm.company("Other").await?);
    let keys = Keys::primary(crm.new_key(acme, true).await?)
        .other_tenant(crm.new_key(other, true).await?)
        .restricted(crm.new_key(acme, false).await?, "people.create");
    let service = interface(&crm, BASE)?.mounted_at("/api/v1");
    let suite = Suite::new(InProcess::new(service).base_url(BASE))
        .keys(keys)
        .profile(Profile::Actions);
    let report = suite.intensity(Intensity::Quick).seed(42).run().await?;
    println!("{report}");
    for id in ["MRG-08", "MRG-09", "MRG-10", "MRG-11", "MRG-12"] {
        let mut passed = report.with_outcome(RequirementOutcome::Pass);
        assert!(passed.any(|row| row.id.as_str() == id), "{id}: {report}");
    }
    assert_eq!(
        report.count(RequirementOutcome::Fail) + report.count(RequirementOutcome::Error),
        0,
        "{report}"
    );
    assert!(
        report.count(RequirementOutcome::Pass) > 100 && report.profile_lacks.is_empty(),
        "{report}"
    );
    let undecided: Vec<&str> = report
        .with_outcome(RequirementOutcome::Inconclusive)
        .map(|row| row.id.as_str())
        .collect();
    assert_eq!((report.exit_code(), undecided), (0, Vec::new()), "{report}");
    assert_eq!(
        (report.clean_up.removed, report.clean_up.left.len()),
        (report.clean_up.created, 0),
        "{report}"
    );
    Ok(())
}

/// Returns the API over a file with four connections, which can write simultaneously, and a key.
async fn opened(file: &Path) -> Result<(SvcService, String), Box<dyn Error + Send + Sync>> {
    let crm = Arc::new(Crm::open(&file.to_string_lossy())?);
    let key = crm.new_key(crm.company("Acme").await?, true).await?;
    Ok((interface(&crm, BASE)?.mounted_at("/api/v1"), key))
}

/// Returns the response to a request with a key. With a body it is a POST request.
async fn send(
    (service, key): &(SvcService, String),
    path: &str,
    body: Option<Value>,
) -> Result<(StatusCode, Value), Box<dyn Error + Send + Sync>> {
    let (status, _, answer) = crate::service::send(service, key, path, body).await?;
    Ok((status, answer))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hlp_04_equal_sign_ups_at_once_make_one_contact() -> Result<(), Box<dyn Error + Send + Sync>>
{
    let folder = tempfile::tempdir()?;
    let api = Arc::new(opened(&folder.path().join("crm.db")).await?);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let api = Arc::clone(&api);
        let person =
            json!({"given_name": "Ada", "email_addresses": [{"address": "ada@example.org"}]});
        calls.spawn(async move { send(&api, "people", Some(json!({ "person": person }))).await });
    }
    let mut made = 0;
    while let Some(call) = calls.join_next().await {
        let (status, answer) = call??;
        assert!(status.is_success(), "HLP-19: {answer}");
        made += u32::from(status == StatusCode::CREATED);
    }
    let (_, people) = send(&api, "people", None).await?;
    assert_eq!(
        (made, &people["total_records"]),
        (1, &json!(1)),
        "HLP-04: {people}"
    );
    Ok(())
}

#[tokio::test]
async fn err_34_hlp_10_a_call_that_is_refused_in_the_middle_leaves_nobody_behind()
-> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let api = opened(&folder.path().join("crm.db")).await?;
    for title in ["one", "other"] {
        assert_eq!(
            send(&api, "petitions", Some(json!({"title": title})))
                .await?
                .0,
            StatusCode::CREATED
        );
    }
    let signed = send(
        &api,
        "petitions/2/record_signature_helper",
        Some(json!({"identifiers": ["a:1"]})),
    )
    .await?;
    assert_eq!(signed.0, StatusCode::OK, "HLP-06: {}", signed.1);
    let person = json!({"given_name": "Ada", "identifiers": ["a:2"]});
    // The person can be created. The signature is rejected, or the tag after it.
    for (refused, code) in [
        (
            json!({"person": person, "identifiers": ["a:1"]}),
            "IDENTIFIER_IN_USE",
        ),
        (
            json!({"person": person, "add_tags": ["nobody-made-this-tag"]}),
            "TAG_NAME_DOES_NOT_EXIST",
        ),
    ] {
        let (status, answer) =
            send(&api, "petitions/1/record_signature_helper", Some(refused)).await?;
        let error = &answer["svc:error"];
        assert_eq!(
            (status, &error["request_type"]),
            (StatusCode::BAD_REQUEST, &json!("atomic")),
            "ERR-34"
        );
        let described = &error["resource_status"][0]["error_descriptions"][0];
        assert_eq!(described["error_code"], code, "ERR-34: {answer}");
        for left in ["people", "petitions/1/signatures"] {
            let (_, page) = send(&api, left, None).await?;
            assert_eq!(page["total_records"], 0, "ERR-34, HLP-10: {left} {page}");
        }
    }
    Ok(())
}

/// Returns the response to a request with a method and an `If-Match`, and its `ETag`.
async fn ask(
    (service, key): &(SvcService, String),
    method: &str,
    path: &str,
    if_match: Option<&str>,
    body: Option<Value>,
) -> Result<(StatusCode, String, Value), Box<dyn Error + Send + Sync>> {
    let request = Request::builder()
        .method(method)
        .uri(format!("/api/v1/{path}"))
        .header("SVC-API-Token", key);
    let request = if_match
        .into_iter()
        .fold(request, |request, tag| request.header(IF_MATCH, tag));
    let request = request.header(CONTENT_TYPE, "application/json");
    let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let answer = service.clone().oneshot(request.body(body)?).await?;
    let tag = answer
        .headers()
        .get(ETAG)
        .map(|tag| tag.to_str().map(str::to_owned))
        .transpose()?
        .unwrap_or_default();
    let (status, body) = (
        answer.status(),
        answer.into_body().collect().await?.to_bytes(),
    );
    Ok((
        status,
        tag,
        serde_json::from_slice(&body).unwrap_or_default(),
    ))
}

/// Returns the ids of the records on a page.
fn ids(page: &Value, relation: &str) -> Vec<String> {
    let records = page["_embedded"][relation].as_array().into_iter().flatten();
    records
        .filter_map(|record| {
            Some(
                record["_links"]["self"]["href"]
                    .as_str()?
                    .rsplit('/')
                    .next()?
                    .to_owned(),
            )
        })
        .collect()
}

#[tokio::test]
async fn flt_01_flt_03_what_has_an_index_is_looked_up_and_nothing_else()
-> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let api = opened(&folder.path().join("crm.db")).await?;
    for (name, reference) in [("ada", "a:1"), ("grace", "a:2"), ("ada", "a:3")] {
        let address = json!([{ "address": format!("{name}@example.org") }]);
        let person = json!({ "email_addresses": address, "identifiers": [reference] });
        assert_eq!(
            send(&api, "people", Some(person)).await?.0,
            StatusCode::CREATED
        );
    }
    assert_eq!(
        send(&api, "tags", Some(json!({"name": "volunteer"})))
            .await?
            .0,
        StatusCode::CREATED
    );
    let person = send(&api, "people/2", None).await?.1["_links"]["self"]["href"].clone();
    let tagging = json!({"_links": {"svc:person": {"href": person}}});
    assert_eq!(
        send(&api, "tags/1/taggings", Some(tagging)).await?.0,
        StatusCode::CREATED
    );
    let own = send(&api, "people/2", None).await?.1["identifiers"][0]
        .as_str()
        .ok_or("no identifier")?
        .to_owned();
    for (filter, relation, expected) in [
        (
            "people?filter=email_address eq 'ADA@example.org'",
            "svc:people",
            &["1", "3"][..],
        ),
        (
            "people?filter=email_address eq 'ada@example.org' and identifiers ne 'a:3'",
            "svc:people",
            &["1"],
        ),
        (
            "people?filter=identifiers in ('a:2', 'a:3', 'a:4')",
            "svc:people",
            &["2", "3"],
        ),
        (
            &format!("people?filter=identifiers eq '{own}'"),
            "svc:people",
            &["2"],
        ),
        (
            "petitions?filter=identifiers eq 'a:1'",
            "svc:petitions",
            &[],
        ),
        ("tags?filter=name eq 'volunteer'", "svc:tags", &["1"]),
        ("people?filter=tag eq 'volunteer'", "svc:people", &["2"]),
        ("people?filter=tag eq 'Volunteer'", "svc:people", &[]),
    ] {
        let (status, page) = send(&api, &filter.replace(' ', "%20"), None).await?;
        assert_eq!(
            (status, ids(&page, relation)),
            (
                StatusCode::OK,
                expected.iter().map(|id| (*id).to_owned()).collect()
            ),
            "{filter}"
        );
        assert_eq!(
            page["total_records"],
            json!(expected.len()),
            "FLT-08: {filter}"
        );
    }
    for filter in [
        "people?filter=modified_date gt '2026-11-01T00:00:00Z'",
        "people/1/signatures?filter=identifiers eq 'a:1'",
    ] {
        let (status, answer) = send(&api, &filter.replace(' ', "%20"), None).await?;
        let code =
            &answer["svc:error"]["resource_status"][0]["error_descriptions"][0]["error_code"];
        assert_eq!(
            (status, code),
            (StatusCode::BAD_REQUEST, &json!("FILTER_INVALID")),
            "{filter}: {answer}"
        );
    }
    Ok(())
}

/// Returns the changes on a page of the feed, with their records, and the page.
async fn told(
    api: &(SvcService, String),
    behind: &str,
) -> Result<(Vec<[String; 2]>, Value), Box<dyn Error + Send + Sync>> {
    let (_, page) = send(api, behind, None).await?;
    let entry = |entry: &Value| {
        let links = entry["_links"]
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(rel, _)| *rel != "self");
        let href = links
            .filter_map(|(_, link)| link["href"].as_str()?.strip_prefix(BASE))
            .collect::<String>();
        [entry["what"].as_str().unwrap_or_default().to_owned(), href]
    };
    Ok((
        page["_embedded"]["ext:changes"]
            .as_array()
            .into_iter()
            .flatten()
            .map(entry)
            .collect(),
        page,
    ))
}

#[tokio::test]
async fn syn_02_syn_10_every_writer_is_told_and_deletions_leave_ids()
-> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("crm.db");
    let api = opened(&file).await?;
    let (_, start) = send(&api, "changes", None).await?;
    let behind = start["_links"]["last"]["href"]
        .as_str()
        .and_then(|href| href.strip_prefix(BASE))
        .ok_or("no last")?
        .to_owned();
    assert_eq!(
        send(&api, "people", Some(json!({"given_name": "Ada"})))
            .await?
            .0,
        StatusCode::CREATED
    );
    assert_eq!(
        send(&api, "tags", Some(json!({"name": "volunteer"})))
            .await?
            .0,
        StatusCode::CREATED
    );
    let tagged = json!({"_links": {"svc:person": {"href": format!("{BASE}people/1")}}});
    assert_eq!(
        send(&api, "tags/1/taggings", Some(tagged)).await?.0,
        StatusCode::CREATED
    );
    // The vendor's own program, which does not use the feed, and a transaction that is rolled back.
    let vendor = rusqlite::Connection::open(&file)?;
    vendor.execute_batch(
        "BEGIN; UPDATE labels SET edited_at = edited_at + 2; ROLLBACK;
                          UPDATE labels SET note = 'of the town', edited_at = edited_at + 1;",
    )?;
    let entry = |what: &str, at: &str| [what.to_owned(), at.to_owned()];
    let (all, _) = told(&api, &behind).await?;
    assert_eq!(
        all,
        [
            entry("created", "people/1"),
            entry("created", "tags/1/taggings/1"),
            entry("changed", "tags/1")
        ],
        "SYN-04"
    );
    // A label is deleted with its customer, and both changes are in the feed.
    assert_eq!(
        ask(&api, "DELETE", "people/1", None, None).await?.0,
        StatusCode::NO_CONTENT
    );
    let (all, page) = told(&api, &behind).await?;
    let mut gone = all[1..].to_vec();
    gone.sort();
    assert_eq!(
        (&all[0], gone),
        (
            &entry("changed", "tags/1"),
            vec![
                entry("deleted", "people/1"),
                entry("deleted", "tags/1/taggings/1")
            ]
        )
    );
    // In pages of one, each entry appears exactly once.
    let (mut pages, mut next) = (Vec::new(), Some(format!("{behind}&per_page=1")));
    while let Some(at) = next {
        let (entries, page) = told(&api, &at).await?;
        pages.extend(entries);
        next = page["_links"]["next"]["href"]
            .as_str()
            .and_then(|href| href.strip_prefix(BASE))
            .map(str::to_owned);
    }
    assert_eq!(pages, all, "SYN-04");
    // The cursor is invalid for another company.
    let crm = Crm::open(&file.to_string_lossy())?;
    let other = (
        api.0.clone(),
        crm.new_key(crm.company("Other").await?, true).await?,
    );
    let last = page["_links"]["last"]["href"]
        .as_str()
        .and_then(|href| href.strip_prefix(BASE))
        .ok_or("no last")?;
    assert_eq!(
        send(&other, last, None).await?.0,
        StatusCode::BAD_REQUEST,
        "SYN-09"
    );
    Ok(())
}

#[tokio::test]
async fn etg_01_etg_07_the_version_column_decides() -> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("crm.db");
    let api = opened(&file).await?;
    assert_eq!(
        send(&api, "people", Some(json!({"given_name": "Ada"})))
            .await?
            .0,
        StatusCode::CREATED
    );
    let (_, first, before) = ask(&api, "GET", "people/1", None, None).await?;
    // Another program changes the row within the resolution of its date, and changes it back. The
    // body is the same, and the version differs.
    let vendor = rusqlite::Connection::open(&file)?;
    vendor.execute_batch("UPDATE customers SET edited_at = edited_at")?;
    let (_, second, after) = ask(&api, "GET", "people/1", None, None).await?;
    assert!(first != second && before == after, "{first} {second}");
    let name = |name: &str| Some(json!({ "given_name": name }));
    let refused = ask(&api, "PUT", "people/1", Some(&first), name("Augusta")).await?;
    assert_eq!(refused.0, StatusCode::PRECONDITION_FAILED, "ETG-07");
    assert_eq!(
        ask(&api, "DELETE", "people/1", Some(&first), None).await?.0,
        StatusCode::PRECONDITION_FAILED,
        "ETG-07"
    );
    let (status, third, _) = ask(&api, "PUT", "people/1", Some(&second), name("Augusta")).await?;
    assert_eq!(
        (status, third.clone()),
        (
            StatusCode::OK,
            ask(&api, "GET", "people/1", None, None).await?.1
        ),
        "ETG-08"
    );
    assert_eq!(
        ask(&api, "DELETE", "people/1", Some(&third), None).await?.0,
        StatusCode::NO_CONTENT,
        "ETG-08"
    );
    Ok(())
}

/// MRG-02, MRG-03, MRG-07, MRG-08, MRG-19: a merge moves everything of a customer. A preview of it changes
/// nothing, and a failed one neither.
#[tokio::test]
async fn mrg_02_two_customers_become_one() -> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let api = opened(&folder.path().join("crm.db")).await?;
    let text = |name: &str, address: &str, identifier: &str| {
        json!({"given_name": name, "identifiers": [identifier],
            "email_addresses": [{"address": address, "status": "subscribed"}]})
    };
    for (path, body) in [
        ("people", text("Ada", "ada@example.org", "mail:1")),
        ("people", text("Eve", "eve@example.org", "mail:2")),
        ("people", text("Kim", "kim@example.org", "mail:3")),
        ("petitions", json!({"title": "A"})),
        ("tags", json!({"name": "both"})),
        ("tags", json!({"name": "one"})),
    ] {
        let (status, answer) = send(&api, path, Some(body)).await?;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
    }
    let entry = send(&api, "people/1", None).await?.1;
    let base = entry["_links"]["self"]["href"].as_str().unwrap();
    let base = base.strip_suffix("people/1").unwrap();
    let of = |number: u32| json!({"href": format!("{base}people/{number}")});
    for (path, person) in [
        ("petitions/1/signatures", 2),
        ("tags/1/taggings", 2),
        ("tags/1/taggings", 1),
        ("tags/2/taggings", 2),
    ] {
        let body = json!({"_links": {"svc:person": of(person)}});
        let (status, answer) = send(&api, path, Some(body)).await?;
        assert_eq!(status, StatusCode::CREATED, "{path}: {answer}");
    }
    let read = async || -> Result<Vec<Value>, Box<dyn Error + Send + Sync>> {
        let mut all = Vec::new();
        for path in [
            "people/1",
            "people/2",
            "tags/1/taggings",
            "people/2/signatures",
            "changes",
        ] {
            all.push(send(&api, path, None).await?.1);
        }
        Ok(all)
    };
    let before = read().await?;
    let merge = |more: Value| {
        let mut body = json!({"_links": {"svc:person": of(2)}});
        for (name, value) in more.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        send(&api, "people/1/merge_helper", Some(body))
    };
    // The first identifier is rejected by the library, and the second one by the operation, after changes.
    for identifier in ["acme:3", "mail:3"] {
        let (status, answer) = merge(json!({"person": {"identifiers": [identifier]}})).await?;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
        assert!(
            answer.to_string().contains("person.identifiers[0]"),
            "{answer}"
        );
        assert_eq!(read().await?, before);
    }
    let (status, preview) = merge(json!({"preview": true})).await?;
    assert_eq!(status, StatusCode::OK, "{preview}");
    assert_eq!(read().await?, before);
    let (status, merged) = merge(json!({})).await?;
    assert_eq!(status, StatusCode::OK, "{merged}");
    assert_eq!(
        merged["identifiers"],
        json!(["acme:1", "mail:1", "acme:2", "mail:2"])
    );
    assert_eq!(merged["given_name"], "Ada");
    assert_eq!(merged["email_addresses"].as_array().unwrap().len(), 2);
    let outcome = &merged["ext:merge"];
    assert_eq!(outcome["moved"], json!({"signatures": 1, "taggings": 1}));
    assert_eq!(preview["ext:merge"]["moved"], outcome["moved"]);
    let pair = &outcome["folded"][0]["_links"];
    assert_eq!(
        pair["ext:remaining"]["href"],
        format!("{base}tags/1/taggings/1")
    );
    assert_eq!(
        pair["ext:merged"]["href"],
        format!("{base}tags/1/taggings/2")
    );
    for (path, records) in [
        ("people/1/signatures", 1),
        ("people/1/taggings", 2),
        ("tags/1/taggings", 1),
        ("people?filter=identifiers%20eq%20'acme:2'", 1),
    ] {
        assert_eq!(
            send(&api, path, None).await?.1["total_records"],
            records,
            "{path}"
        );
    }
    assert_eq!(send(&api, "people", None).await?.1["total_records"], 2);
    // A repeated merge changes nothing.
    let after = send(&api, "changes", None).await?.1;
    let (status, again) = merge(json!({})).await?;
    assert_eq!(
        (status, &again["ext:merge"]["already"]),
        (StatusCode::OK, &json!(true)),
        "{again}"
    );
    assert_eq!(send(&api, "changes", None).await?.1, after);
    Ok(())
}

/// MRG-09 to MRG-12: the former address of a customer finds the remaining one, also in links and in the
/// change feed, but not for another company.
#[tokio::test]
async fn mrg_09_the_old_address_of_a_customer() -> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("crm.db");
    let api = opened(&file).await?;
    for (path, body) in [
        ("people", json!({"given_name": "Ada"})),
        ("people", json!({"given_name": "Eve"})),
        ("people", json!({"given_name": "Kim"})),
        ("petitions", json!({"title": "A"})),
        ("tags", json!({"name": "volunteer"})),
    ] {
        let (status, answer) = send(&api, path, Some(body)).await?;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
    }
    let of = |number: u32| json!({"svc:person": {"href": format!("{BASE}people/{number}")}});
    let merge = async |into: u32, merged: u32| {
        let body = json!({ "_links": of(merged) });
        send(&api, &format!("people/{into}/merge_helper"), Some(body)).await
    };
    let (_, start) = send(&api, "changes", None).await?;
    let last = start["_links"]["last"]["href"].as_str();
    let last = last.and_then(|href| href.strip_prefix(BASE)).unwrap();
    // Customer 2 becomes 1, which becomes 3.
    for (into, merged) in [(1, 2), (3, 1)] {
        let (status, answer) = merge(into, merged).await?;
        assert_eq!(status, StatusCode::OK, "{answer}");
    }
    let three = format!("{BASE}people/3");
    for old in [1, 2] {
        for path in ["", "/signatures", "/taggings?per_page=1"] {
            let at = format!("people/{old}{path}");
            let (status, headers, answer) = crate::service::send(&api.0, &api.1, &at, None).await?;
            assert_eq!(status, StatusCode::MOVED_PERMANENTLY, "{answer}");
            assert_eq!(headers["location"], format!("{three}{path}"));
            assert_eq!(headers["cache-control"], "no-store");
        }
        for method in ["PUT", "DELETE"] {
            let at = format!("people/{old}");
            let body = (method == "PUT").then(|| json!({"given_name": "Eve"}));
            let (status, _, answer) = ask(&api, method, &at, None, body).await?;
            assert_eq!(status, StatusCode::GONE, "{answer}");
        }
        for path in ["petitions/1/signatures", "tags/1/taggings"] {
            let body = json!({ "_links": of(old) });
            let (status, answer) = send(&api, path, Some(body)).await?;
            assert!(status.is_success(), "{path}: {answer}");
            assert_eq!(answer["_links"]["svc:person"]["href"], three);
        }
        let person = json!({"person": {"identifiers": [format!("acme:{old}")], "source": "web"}});
        let (status, answer) = send(&api, "people", Some(person.clone())).await?;
        assert_eq!(status, StatusCode::OK, "{answer}");
        assert_eq!(answer["_links"]["self"]["href"], three);
        let (_, signed) = send(&api, "petitions/1/record_signature_helper", Some(person)).await?;
        assert_eq!(signed["_links"]["svc:person"]["href"], three, "{signed}");
    }
    assert_eq!(send(&api, "people", None).await?.1["total_records"], 1);
    assert_eq!(
        send(&api, "tags/1/taggings", None).await?.1["total_records"],
        1
    );

    let remaining = async || -> Result<Vec<Value>, Box<dyn Error + Send + Sync>> {
        let (_, page) = send(&api, last, None).await?;
        let entries = page["_embedded"]["ext:changes"].as_array().unwrap();
        let is_deleted = |entry: &&Value| entry["what"] == "deleted" && entry["kind"] == "person";
        Ok(entries
            .iter()
            .filter(is_deleted)
            .map(|entry| entry["_links"]["ext:merged_into"]["href"].clone())
            .collect())
    };
    assert_eq!(remaining().await?, [json!(three), json!(three)]);
    // The other company finds nothing, and after the deletion of the customer no company does.
    let crm = Crm::open(&file.to_string_lossy())?;
    let other = crm.new_key(crm.company("Other").await?, true).await?;
    let other = (api.0.clone(), other);
    let not_found = StatusCode::NOT_FOUND;
    let read = ask(&other, "GET", "people/2", None, None).await?;
    assert_eq!(read.0, not_found);
    let deleted = ask(&api, "DELETE", "people/3", None, None).await?;
    assert_eq!(deleted.0, StatusCode::NO_CONTENT);
    let read = ask(&api, "GET", "people/2", None, None).await?;
    assert_eq!(read.0, not_found);
    assert_eq!(remaining().await?, [Value::Null, Value::Null, Value::Null]);
    Ok(())
}
