//! `run --pins`: the choices of a server are the same in every run, in any order of the checks. The
//! run reports a different choice separately from the verdict.

use std::fs;

use bytes::Bytes;
use http::{Request, Response, StatusCode};

use crate::support::{Server, run};

/// Responds to a create with 200 and other texts, which also conforms.
///
/// Requirements: CRU-13, ERR-25.
fn otherwise(_: &Request<Bytes>, mut response: Response<Bytes>) -> Response<Bytes> {
    if response.status() == StatusCode::CREATED {
        *response.status_mut() = StatusCode::OK;
    }
    response
}

/// Returns the caller's key in the response.
fn echoing(request: &Request<Bytes>, mut response: Response<Bytes>) -> Response<Bytes> {
    if let Some(key) = request.headers().get("svc-api-token") {
        response.headers_mut().insert("allow", key.clone());
    }
    response
}

#[test]
fn no_key_is_pinned() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, path) = (Server::start(echoing), folder.path().join("pins.toml"));
    let (_, text) = run(
        folder.path(),
        &server.base,
        &[
            "--only",
            "err/paragraph",
            "--pins",
            "pins.toml",
            "--update-pins",
        ],
    );
    let pinned = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(
        pinned.contains("allow: <key>") && !pinned.contains("k-one"),
        "{pinned}"
    );
}

#[test]
fn a_choice_that_is_pinned_is_held_against_what_is_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, changed) = (Server::good(), Server::start(otherwise));
    let some = [
        "--only",
        "cru/create-*",
        "--only",
        "err/paragraph",
        "--pins",
        "pins.toml",
    ];
    let said = |server: &Server, more: &[&str]| {
        run(folder.path(), &server.base, &[&some[..], more].concat())
    };
    let path = folder.path().join("pins.toml");

    let (code, text) = said(&server, &[]);
    assert!(
        code == 2 && text.contains("pins.toml") && text.contains("--update-pins"),
        "the file with the pins is missing: {text}"
    );
    assert_eq!(said(&server, &["--update-pins"]).0, 0);
    let pinned = fs::read_to_string(&path).expect("pins");
    assert!(
        pinned.contains("PARAGRAPH_CANNOT_HAVE_RESPONSES question_type")
            && !pinned.contains(&server.base)
    );

    // The same server again, one at another address, and a single check: nothing differs, and
    // nothing is written.
    assert_eq!(said(&server, &[]).0, 0);
    assert_eq!(said(&Server::good(), &[]).0, 0);
    let one = ["--only", "err/paragraph", "--pins", "pins.toml"];
    assert_eq!(run(folder.path(), &server.base, &one).0, 0);
    assert_eq!(fs::read_to_string(&path).expect("pins"), pinned);

    // Another choice: exit code 7, and both sides of the difference.
    let (code, text) = said(&changed, &[]);
    assert_eq!(code, 7, "{text}");
    for line in [
        "cru/create-question: pinned, but not observed: status of a create: 201\n",
        "cru/create-question: observed, but not pinned: status of a create: 200\n",
        "with --update-pins, or in tests with UPDATE_PINS=1\n",
    ] {
        assert!(text.contains(line), "without {line:?}: {text}");
    }
    assert!(text.contains("RESULT conformant"), "{text}");

    // Pins of a part leave the others unchanged; those of another seed do not apply to this run.
    assert_eq!(
        run(
            folder.path(),
            &server.base,
            &[&one[..], &["--update-pins"]].concat()
        )
        .0,
        0
    );
    assert_eq!(fs::read_to_string(&path).expect("pins"), pinned);
    let (code, text) = said(&server, &["--seed", "7"]);
    assert!(
        code == 2 && text.contains("seed 42") && text.contains("seed 7"),
        "{text}"
    );

    // A check makes the same choices alone as among all others.
    let quick = |more: &[&str]| {
        run(
            folder.path(),
            &server.base,
            &[&["--intensity", "quick", "--pins", "all.toml"], more].concat(),
        )
    };
    let (code, text) = quick(&["--update-pins"]);
    assert_eq!(code, 0, "{text}");
    for some in ["hlp/*", "col/*", "err/*", "cru/put-back", "aut/no-key"] {
        let (_, text) = quick(&["--only", some]);
        assert!(
            text.contains("RESULT") && !text.contains("pins: "),
            "{some}: {text}"
        );
    }

    // A check that the suite no longer has is reported.
    fs::write(&path, pinned.replace("\"err/paragraph\"", "\"err/of-old\"")).expect("written");
    let (code, text) = said(&server, &[]);
    assert!(
        code == 7 && text.contains("err/of-old: pinned, but the suite has no such check"),
        "{text}"
    );
    assert!(
        text.contains("err/paragraph: observed, but not pinned: "),
        "{text}"
    );
}
