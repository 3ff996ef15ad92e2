//! The `crm` example under the conformance suite and under many callers at once, and how long its integration is.

#[path = "support/service.rs"]
mod service;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};
use svc_conformance::{InProcess, Intensity, Keys, Outcome, Profile, Suite};
use svc_tower::SvcService;
use svc_vendor_examples::crm::{Crm, interface};

/// Where the suite reaches it.
const BASE: &str = "http://localhost/api/v1/";

#[tokio::test]
async fn the_suite_finds_that_crm_conforms() -> Result<(), Box<dyn Error>> {
    let crm = Arc::new(Crm::open(":memory:")?);
    let (acme, other) = (crm.company("Acme").await?, crm.company("Other").await?);
    let keys = Keys::primary(crm.new_key(acme, true).await?)
        .other_tenant(crm.new_key(other, true).await?)
        .restricted(crm.new_key(acme, false).await?, "people.create");
    let service = interface(&crm, BASE)?.under("/api/v1");
    let suite = Suite::new(InProcess::new(service).base(BASE)).keys(keys).profile(Profile::Actions);
    let report = suite.intensity(Intensity::Quick).seed(42).run().await?;
    println!("{report}");
    assert_eq!(report.count(Outcome::Fail) + report.count(Outcome::Error), 0, "{report}");
    assert!(report.count(Outcome::Pass) > 100 && report.profile_lacks.is_empty(), "{report}");
    let undecided: Vec<&str> = report.with(Outcome::Inconclusive).map(|row| row.id.as_str()).collect();
    assert_eq!((report.exit_code(), undecided), (0, Vec::new()), "{report}");
    assert_eq!((report.clean_up.removed, report.clean_up.left.len()), (report.clean_up.created, 0), "{report}");
    Ok(())
}

/// The interface over a file, and a key: four connections that write at once.
async fn opened(file: &Path) -> Result<(SvcService, String), Box<dyn Error + Send + Sync>> {
    let crm = Arc::new(Crm::open(&file.to_string_lossy())?);
    let key = crm.new_key(crm.company("Acme").await?, true).await?;
    Ok((interface(&crm, BASE)?.under("/api/v1"), key))
}

/// The answer to a request with a key: a body is posted.
async fn send(
    (service, key): &(SvcService, String),
    path: &str,
    body: Option<Value>,
) -> Result<(StatusCode, Value), Box<dyn Error + Send + Sync>> {
    let (status, _, answer) = service::send(service, key, path, body).await?;
    Ok((status, answer))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hlp_04_equal_sign_ups_at_once_make_one_contact() -> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let api = Arc::new(opened(&folder.path().join("crm.db")).await?);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let api = Arc::clone(&api);
        let person = json!({"given_name": "Ada", "email_addresses": [{"address": "ada@example.org"}]});
        calls.spawn(async move { send(&api, "people", Some(json!({ "person": person }))).await });
    }
    let mut made = 0;
    while let Some(call) = calls.join_next().await {
        let (status, answer) = call??;
        assert!(status.is_success(), "HLP-19: {answer}");
        made += u32::from(status == StatusCode::CREATED);
    }
    let (_, people) = send(&api, "people", None).await?;
    assert_eq!((made, &people["total_records"]), (1, &json!(1)), "HLP-04: {people}");
    Ok(())
}

#[tokio::test]
async fn err_34_hlp_10_a_call_that_is_refused_in_the_middle_leaves_nobody_behind()
-> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let api = opened(&folder.path().join("crm.db")).await?;
    for title in ["one", "other"] {
        assert_eq!(send(&api, "petitions", Some(json!({"title": title}))).await?.0, StatusCode::CREATED);
    }
    let signed = send(&api, "petitions/2/record_signature_helper", Some(json!({"identifiers": ["a:1"]}))).await?;
    assert_eq!(signed.0, StatusCode::OK, "HLP-06: {}", signed.1);
    let person = json!({"given_name": "Ada", "identifiers": ["a:2"]});
    // The person can be made; the signature is refused, or the tag that comes after it.
    for (refused, code) in [
        (json!({"person": person, "identifiers": ["a:1"]}), "IDENTIFIER_IN_USE"),
        (json!({"person": person, "add_tags": ["nobody-made-this-tag"]}), "TAG_NAME_DOES_NOT_EXIST"),
    ] {
        let (status, answer) = send(&api, "petitions/1/record_signature_helper", Some(refused)).await?;
        let error = &answer["svc:error"];
        assert_eq!((status, &error["request_type"]), (StatusCode::BAD_REQUEST, &json!("atomic")), "ERR-34");
        let described = &error["resource_status"][0]["error_descriptions"][0];
        assert_eq!(described["error_code"], code, "ERR-34: {answer}");
        for left in ["people", "petitions/1/signatures"] {
            let (_, page) = send(&api, left, None).await?;
            assert_eq!(page["total_records"], 0, "ERR-34, HLP-10: {left} {page}");
        }
    }
    Ok(())
}

#[test]
fn the_integration_of_crm_is_counted() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/crm");
    let (mut integration, mut before) = (0, 0);
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        let code = std::fs::read_to_string(&path)?;
        let lines = code.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count();
        let name = path.file_name().ok_or("a name")?.to_string_lossy().into_owned();
        println!("crm/{name}: {lines} lines of code");
        // The client stands for a crate that a vendor depends on.
        *(if ["client.rs", "existing.rs"].contains(&name.as_str()) { &mut before } else { &mut integration }) += lines;
    }
    println!("crm: {integration} lines of integration beside {before} that were there before");
    assert!(integration <= 490, "{integration} lines of integration");
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md"))?;
    assert!(readme.contains(&format!("in {integration} lines")), "the README says another number than {integration}");
    Ok(())
}
