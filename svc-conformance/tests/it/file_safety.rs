//! Files from other people select the recipient of keys only on this machine. Files of the program
//! are readable only by their owner. If a server on this machine links another host, the suite does
//! not write to it.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use http::{Request, Response};
use serde_json::Value;
use svc_conformance::Report;
use svc_self_test::independent_server::ServerOptions;

use crate::support::{Server, ended, folder, program, run};

/// Starts a server whose address is the local machine, but does not look local.
fn elsewhere(change: crate::support::Change) -> Server {
    let base = |port: u16| format!("http://0.0.0.0:{port}/rest/");
    Server::with(change, |address| ServerOptions {
        base: base(address.port()),
        ..ServerOptions::default()
    })
}

fn as_it_is(_: &Request<Bytes>, response: Response<Bytes>) -> Response<Bytes> {
    response
}

fn plain_text(_: &Request<Bytes>, mut response: Response<Bytes>) -> Response<Bytes> {
    response
        .headers_mut()
        .insert("content-type", "text/plain".parse().expect("a value"));
    response
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

fn called(folder: &Path, arguments: &[&str]) -> (i32, String) {
    ended(
        &program(folder)
            .args(arguments)
            .args(["--key", "k-one"])
            .output()
            .expect("the program"),
    )
}

#[test]
fn a_journal_does_not_say_where_on_another_machine_keys_go() {
    let (server, folder) = (elsewhere(as_it_is), folder());
    let before = server.records();
    let keep = [
        "--only",
        "RES-share_page-01",
        "--allow-writes",
        "--no-clean-up",
    ];
    let (code, said) = run(folder.path(), &server.base, &keep);
    assert_eq!(code, 0, "{said}");
    let kept = server.records();
    assert!(kept > before);
    let journal = files(&folder.path().join("out"))
        .pop()
        .expect("a journal")
        .display()
        .to_string();
    let (code, said) = called(folder.path(), &["clean-up", &journal]);
    assert!(
        code == 2 && said.contains(&server.base) && said.contains("add --url with its URL"),
        "{said}"
    );
    let (code, said) = called(
        folder.path(),
        &["clean-up", &journal, "--url", "http://127.0.0.1:9/rest/"],
    );
    assert!(
        code == 2 && said.contains("The journal belongs to a run against"),
        "{said}"
    );
    assert_eq!(server.records(), kept);
    let (code, said) = called(
        folder.path(),
        &["clean-up", &journal, "--url", &server.base],
    );
    assert_eq!((code, server.records()), (0, before), "{said}");
}

#[test]
fn a_replay_file_does_not_say_where_on_another_machine_keys_go() {
    let (server, folder) = (elsewhere(plain_text), folder());
    let (code, said) = run(
        folder.path(),
        &server.base,
        &["--only", "HAL-03", "--only", "ENT-09"],
    );
    assert_eq!(code, 1, "{said}");
    let replay = ["replay", "out/HAL-03.replay.json"];
    let (code, said) = called(folder.path(), &replay);
    assert!(
        code == 2 && said.contains(&server.base) && said.contains("add --url with its URL"),
        "{said}"
    );
    let (code, said) = called(
        folder.path(),
        &[&replay[..], &["--url", &server.base]].concat(),
    );
    assert_eq!(code, 1, "{said}");
}

#[cfg(unix)]
#[test]
fn reports_replay_files_and_journals_are_read_by_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let (server, folder) = (Server::start(plain_text), folder());
    // A file that existed before, readable by everyone.
    let report = folder.path().join("report.json");
    fs::write(&report, "").expect("written");
    fs::set_permissions(&report, fs::Permissions::from_mode(0o644)).expect("a mode");
    let kept = [
        "--only",
        "HAL-03",
        "--only",
        "RES-share_page-01",
        "--no-clean-up",
    ];
    let reports = [
        "--report",
        "json=report.json",
        "--report",
        "html=report.html",
    ];
    let (code, said) = run(folder.path(), &server.base, &[&kept[..], &reports].concat());
    assert_eq!(code, 1, "{said}");
    let mut written = files(&folder.path().join("out"));
    for suffix in [".replay.json", ".sh", ".jsonl"] {
        assert!(
            written
                .iter()
                .any(|path| path.display().to_string().ends_with(suffix)),
            "{suffix}: {written:?}"
        );
    }
    written.extend([report, folder.path().join("report.html")]);
    for path in written {
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
}

/// Changes the entry point to that of a server with a forwarded port: one of its links names the
/// remote machine.
fn tags_elsewhere(_: &Request<Bytes>, response: Response<Bytes>) -> Response<Bytes> {
    response.map(|body| {
        let Ok(mut document) = serde_json::from_slice::<Value>(&body) else {
            return body;
        };
        let Some(href) = document.pointer_mut("/_links/svc:tags/href") else {
            return body;
        };
        *href = "http://crm.example.org/rest/tags".into();
        document.to_string().into()
    })
}

#[test]
fn a_server_on_this_machine_whose_links_lead_elsewhere_is_only_read_until_writes_are_allowed() {
    let folder = folder();
    let end = |server: &Server, more: &[&str]| {
        let only = ["--only", "typ/person", "--report", "json=-"];
        let (_, said) = run(folder.path(), &server.base, &[&only[..], more].concat());
        let report: Report =
            serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
        report
            .checks
            .into_iter()
            .find(|check| check.id == "typ/person")
            .map(|check| check.end)
            .expect("a check")
    };
    let forwarded = Server::start(tags_elsewhere);
    assert_eq!(end(&Server::good(), &[]), "done");
    assert_eq!(
        end(&forwarded, &[]),
        "disabled: writes to this server are not allowed"
    );
    assert_eq!(end(&forwarded, &["--allow-writes"]), "done");
}
