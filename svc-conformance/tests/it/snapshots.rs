//! `run --snapshots`: documents of one server are equal in every run. A difference is reported
//! field by field, and is not a failure of conformance.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use http::{Request, Response};
use serde_json::{Value, json};

use crate::support::{Server, run};

/// Changes a text of the entry point, and omits a field of petitions.
fn drifts(request: &Request<Bytes>, response: Response<Bytes>) -> Response<Bytes> {
    let (parts, body) = response.into_parts();
    let Ok(mut document) = serde_json::from_slice::<Value>(&body) else {
        return Response::from_parts(parts, body);
    };
    if document.get("motd").is_some() {
        document["motd"] = "Closed on Sundays".into();
    }
    if request.method() == http::Method::GET && document.get("total_signatures").is_some() {
        document["total_signatures"] = Value::Null;
    }
    Response::from_parts(parts, Bytes::from(document.to_string()))
}

/// Returns what a run reports about snapshots.
fn said(folder: &Path, server: &Server, arguments: &[&str]) -> String {
    let arguments = [
        &[
            "--only",
            "ENT-09",
            "--only",
            "HAL-03",
            "--snapshots",
            "kept",
        ],
        arguments,
    ]
    .concat();
    let before = server.records();
    let (code, said) = run(folder, &server.base, &arguments);
    assert_eq!(code, 0, "{said}");
    assert_eq!(
        server.records(),
        before,
        "the records created for them are removed: {said}"
    );
    said.split_once("\nsnapshots: ")
        .map(|(_, told)| format!("snapshots: {told}"))
        .unwrap_or(said)
}

#[test]
fn documents_are_alike_in_every_run_and_differences_are_told_by_field() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, other) = (Server::good(), Server::good());
    let first = said(folder.path(), &server, &["--update-snapshots"]);
    let kept = fs::read_dir(folder.path().join("kept"))
        .expect("a folder")
        .count();
    assert_eq!(first, format!("snapshots: {kept} written to kept\n"));
    assert!(kept >= 15, "{kept}");
    let read = |name: &str| -> Value {
        let text = fs::read_to_string(
            folder
                .path()
                .join("kept")
                .join(format!("{name}.snapshot.json")),
        )
        .expect("kept");
        assert!(
            !text.contains(&server.base) && !text.contains("k-one"),
            "{text}"
        );
        serde_json::from_str(&text).expect("JSON")
    };
    let petition = read("petition");
    assert_eq!(
        (
            &petition["status"],
            &petition["body"]["_links"]["self"]["href"]
        ),
        (&json!(200), &json!("<base>/r/<id 1>"))
    );
    assert_eq!(
        (&petition["body"]["created_date"], &read("error")["status"]),
        (&json!("<date>"), &json!(400))
    );

    // The same server again, one at another address, and another seed: nothing differs.
    let same = format!("snapshots: {kept} documents, 0 differences\n");
    assert_eq!(said(folder.path(), &server, &[]), same);
    assert_eq!(said(folder.path(), &other, &["--seed", "7"]), same);

    // Another server differs in two documents; its verdict is the same.
    let changed = Server::start(drifts);
    let found = said(folder.path(), &changed, &[]);
    let expected = [
        format!("snapshots: {kept} documents, 2 differences\n"),
        format!(
            "  entry_point.body.motd: {} -> \"Closed on Sundays\"\n",
            read("entry_point")["body"]["motd"]
        ),
        format!(
            "  petition.body.total_signatures: {} -> null\n",
            petition["body"]["total_signatures"]
        ),
        "  to accept the documents of this run: --update-snapshots\n".to_owned(),
    ];
    assert_eq!(found, expected.concat());

    // New and missing documents are reported as well; a missing folder is not an error.
    let path = folder.path().join("kept");
    fs::rename(
        path.join("petition.snapshot.json"),
        path.join("other.snapshot.json"),
    )
    .expect("renamed");
    let found = said(folder.path(), &server, &[]);
    assert!(
        found.contains("  petition: new, {")
            && found.contains("  other: {")
            && found.contains("-> gone\n"),
        "{found}"
    );
    assert_eq!(said(folder.path(), &server, &["--update-snapshots"]), first);
    assert!(!path.join("other.snapshot.json").exists());
    fs::remove_dir_all(&path).expect("removed");
    assert!(said(folder.path(), &server, &[]).starts_with(&format!(
        "snapshots: {kept} documents, {kept} differences\n"
    )));
}
