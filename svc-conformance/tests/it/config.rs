//! `svc-conformance.toml`: the file that `init` writes, what the commands read from it, and the
//! errors of an invalid file.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use http::{Request, Response};

use crate::support::{Server, assert_contains_all, ended, folder, program, reserved_address};

const FILE: &str = "svc-conformance.toml";

fn publishes_nothing(_: &Request<Bytes>, response: Response<Bytes>) -> Response<Bytes> {
    response.map(|body| {
        String::from_utf8_lossy(&body)
            .replace("service-meta", "related")
            .into()
    })
}

/// Returns the program with the key of the second service in a separate environment variable.
fn called(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let mut program = program(folder);
    ended(
        &program
            .env("CRM_KEY", "k-one")
            .args(arguments)
            .output()
            .expect("the program"),
    )
}

fn write(folder: &Path, text: &str) {
    fs::write(folder.join(FILE), text).expect("written");
}

#[test]
fn a_run_takes_its_options_from_the_file_and_the_command_line_wins() {
    let (server, folder) = (Server::good(), folder());
    let text = format!(
        "address = \"{}\"\nkey_variable = \"CRM_KEY\"\nseed = 7\nonly = [\"ENT-01\", \"ENT-09\"]\ntimeout = \"5m\"\n\
         [report]\njson = \"report.json\"\n",
        server.base
    );
    write(folder.path(), &text);
    let report = || {
        let text = fs::read_to_string(folder.path().join("report.json")).expect("a report");
        let report: svc_conformance::Report = serde_json::from_str(&text).expect("a report");
        (report.seed, report.judged_count())
    };
    let (code, said) = called(folder.path(), &["run"]);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains(
            "options from svc-conformance.toml: address, key_variable, seed, only, timeout, report"
        ),
        "{said}"
    );
    assert_eq!(report(), (7, 2));
    let (code, said) = called(
        folder.path(),
        &["run", "--seed", "8", "--only", "ENT-01", "--quiet"],
    );
    assert_eq!((code, report()), (0, (8, 1)), "{said}");
    assert!(!said.contains("options from"), "{said}");
    // Other commands read it as well, and another file can be named.
    let (code, said) = called(folder.path(), &["plan"]);
    assert!(code == 0 && said.contains(&server.base), "{said}");
    fs::rename(folder.path().join(FILE), folder.path().join("staging.toml")).expect("renamed");
    assert_eq!(
        called(folder.path(), &["run", "--config", "staging.toml"]).0,
        0
    );
    let (code, said) = called(folder.path(), &["run", "--config", "missing.toml"]);
    assert!(
        code == 2 && said.contains("missing.toml cannot be read"),
        "{said}"
    );
}

/// Scripts and files with the former names of options, members and variables keep working.
#[test]
fn former_names_are_accepted() {
    let (server, folder) = (Server::good(), folder());
    let text = format!(
        "address = \"{}\"\nkey_variable = \"CRM_KEY\"\nother_key_variable = \"CRM_KEY\"\n\
         except = [\"ENT-09\"]\nout = \"results\"\n",
        server.base
    );
    write(folder.path(), &text);
    let names = "other_tenant_key_variable, exclude, output_dir";
    let only = ["run", "--only", "RES-share_page-01", "--keep"];
    let (code, said) = called(folder.path(), &only);
    assert!(code == 0 && said.contains(names), "{said}");
    let journal = fs::read_dir(folder.path().join("results"))
        .expect("the folder")
        .filter_map(|file| Some(file.ok()?.path()))
        .find(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .expect("a journal");
    let (code, said) = called(folder.path(), &["clean", &journal.to_string_lossy()]);
    assert_eq!(code, 0, "{said}");
    write(
        folder.path(),
        "address = \"http://127.0.0.1:9/\"\nother_key = \"secret-key\"\n",
    );
    let (code, said) = called(folder.path(), &["run"]);
    assert!(
        code == 2 && said.contains("`other_key` is not allowed") && !said.contains("secret-key"),
        "{said}"
    );
    // Only the former variable is set. Without a key, the program names the options.
    let output = program(folder.path())
        .env("SVC_CONFORMANCE_OTHER_KEY", "k-two")
        .args(["run", "--no-config", &server.base, "--except", "*"])
        .output();
    let (code, said) = ended(&output.expect("the program"));
    let options = "--other-tenant-key and --restricted-key require --key";
    assert!(code == 2 && said.contains(options), "{said}");
}

#[test]
fn without_the_file_or_with_no_config_the_address_is_needed() {
    let folder = folder();
    let missing = "The URL of the entry point is missing. Add it to the command line, or add `address` to svc-conformance.toml";
    for command in ["run", "plan", "watch", "probe"] {
        let (code, said) = called(folder.path(), &[command]);
        assert!(code == 2 && said.contains(missing), "{command}: {said}");
        let (code, said) = called(folder.path(), &[command, "--help"]);
        let usage = format!("Usage: svc-conformance {command} [OPTIONS] [URL]\n");
        assert!(code == 0 && said.contains(&usage), "{said}");
    }
    write(folder.path(), "seed = 7\n");
    let (code, said) = called(folder.path(), &["run"]);
    assert!(code == 2 && said.contains(missing), "{said}");
    write(folder.path(), "adress = 1\n");
    let (code, said) = called(folder.path(), &["run", "--no-config"]);
    assert!(
        code == 2 && said.contains(missing) && !said.contains("adress"),
        "{said}"
    );
    // Commands that send nothing do not read it.
    assert_eq!(called(folder.path(), &["list", "ENT-01"]).0, 0);
}

/// Keys, permissions and fixtures apply to the server of the file. A file does not allow requests
/// to a remote machine.
#[test]
fn the_file_is_not_for_another_server() {
    let (server, folder) = (Server::good(), folder());
    write(
        folder.path(),
        "address = \"http://127.0.0.1:9/api/\"\nkey_variable = \"CRM_KEY\"\nallow_writes = true\nseed = 7\n\
         [fixture]\nevent = \"http://127.0.0.1:9/api/events/1\"\n",
    );
    let (_, said) = called(folder.path(), &["run", &server.base, "--only", "ENT-01"]);
    assert!(
        said.contains("options from svc-conformance.toml: seed\n"),
        "{said}"
    );
    // For commands that replay and clean, the address is that of the file with the requests.
    let (code, said) = called(folder.path(), &["clean-up", "journal.jsonl"]);
    assert!(
        code != 0 && said.contains("key_variable") && !said.contains("toml: address"),
        "{said}"
    );
}

/// All problems of a file are reported together, each with its line and the allowed values; no
/// request is sent.
#[test]
fn each_problem_of_a_file_has_its_line() {
    let folder = folder();
    let text = "# a comment\nadress = \"http://127.0.0.1:9/\"\nkey = \"secret-key\"\nkey_variable = \"NO_SUCH_KEY\"\n\
                allow_writes = \"yes\"\nseed = [1]\n\n[nonsense]\na = 1\n";
    write(folder.path(), text);
    let (code, said) = called(folder.path(), &["run"]);
    assert_eq!(code, 2, "{said}");
    let problems = [
        "svc-conformance.toml, line 2: `adress` is not a member of this file. Allowed: address, allow_side_effects, ",
        "svc-conformance.toml, line 3: `key` is not allowed, because keys must not be in a file. Name an environment variable with `key_variable`.",
        "line 4: `key_variable` names the environment variable `NO_SUCH_KEY`, which is not set",
        "line 5: `allow_writes` must be true or false",
        "line 6: `seed` cannot be of type array",
        "line 8: `nonsense` is not a member of this file",
    ];
    assert_contains_all(&said, &problems);
    assert!(!said.contains("secret-key"), "{said}");
    // An invalid value is reported with the line of its member as well.
    for (text, problem) in [
        (
            "address = \"http://127.0.0.1:9/\"\n\ntimeout = \"10h\"\n",
            "line 3: invalid value '10h' for '--timeout <TIME>'",
        ),
        (
            "intensity = \"gentle\"\n",
            "[possible values: quick, default, deep]",
        ),
        (
            "[fixture]\nevnt = \"1\"\n",
            "line 1: invalid value 'evnt=1' for '--fixture <NAME=ADDRESS>'",
        ),
        ("seed = \n", "line 1"),
    ] {
        write(folder.path(), text);
        let (code, said) = called(folder.path(), &["run"]);
        assert!(code == 2 && said.contains(problem), "{problem}: {said}");
    }
}

#[test]
fn init_writes_a_file_that_run_takes_and_never_overwrites_one() {
    let (server, folder) = (Server::good(), folder());
    let (code, said) = called(folder.path(), &["init", &server.base, "--key", "k-one"]);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("svc-conformance.toml is written. Next: svc-conformance run"),
        "{said}"
    );
    let text = fs::read_to_string(folder.path().join(FILE)).expect("a file");
    assert!(
        text.contains("# The server declares version ")
            && text.contains("# Its collections: people, "),
        "{text}"
    );
    assert!(
        text.contains(&format!("address = \"{}\"", server.base)) && !text.contains("k-one"),
        "{text}"
    );
    // Each member has a line that explains it.
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines
        .windows(2)
        .filter(|pair| pair[1].trim_start_matches("# ").contains(" = "))
    {
        assert!(pair[0].starts_with("# ") && pair[0].len() > 10, "{pair:?}");
    }
    let run = |arguments: &[&str]| {
        let mut program = program(folder.path());
        let little = ["run", "--only", "ENT-01", "--timeout", "5m"];
        ended(
            &program
                .env("SVC_CONFORMANCE_KEY", "k-one")
                .args(little)
                .args(arguments)
                .output()
                .expect("the program"),
        )
    };
    let (code, said) = run(&[]);
    assert_eq!(code, 0, "{said}");
    // Each comment is an example: the file is also valid with all of them.
    let examples = text
        .replace("\n# ", "\n")
        .lines()
        .filter(|line| line.contains(" = "))
        .collect::<Vec<_>>()
        .join("\n");
    fs::write(folder.path().join("examples.toml"), examples).expect("written");
    let (code, said) = run(&["--config", "examples.toml"]);
    assert!(
        code == 2 && said.contains("SVC_CONFORMANCE_OTHER_TENANT_KEY`, which is not set"),
        "{said}"
    );
    assert_eq!(
        said.lines().count(),
        2,
        "both variables are missing, and nothing else is reported: {said}"
    );

    let (code, said) = called(folder.path(), &["init", &server.base]);
    assert!(
        code == 2 && said.contains("svc-conformance.toml already exists"),
        "{said}"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join(FILE)).expect("a file"),
        text
    );
}

#[test]
fn init_says_what_is_missing_before_a_run() {
    let (server, folder) = (Server::start(publishes_nothing), folder());
    let (code, said) = called(folder.path(), &["init", &server.base]);
    assert!(
        code == 0 && said.contains("publishes no capability document"),
        "{said}"
    );
    let text = fs::read_to_string(folder.path().join(FILE)).expect("a file");
    assert!(
        text.contains("\ndeclaration = \"declaration.toml\"\n"),
        "{text}"
    );
    assert!(
        text.contains("\nkey_variable = \"SVC_CONFORMANCE_KEY\"\n"),
        "{text}"
    );

    let (_socket, address) = reserved_address();
    let nowhere = format!("http://{address}/");
    let (code, said) = called(folder.path(), &["init", &nowhere, "--config", "later.toml"]);
    assert!(
        code == 0 && said.contains("The server does not respond yet"),
        "{said}"
    );
    assert!(folder.path().join("later.toml").is_file());
    // A mistyped address is not written to the file.
    let (code, _) = called(
        folder.path(),
        &["init", "ftp://x", "--config", "wrong.toml"],
    );
    assert!(code == 2 && !folder.path().join("wrong.toml").exists());
}

/// Without arguments and without a terminal: the program prints the short help and does not wait
/// for input.
#[test]
fn without_arguments_and_terminal_the_help_is_shown() {
    let folder = folder();
    let output = program(folder.path())
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the program");
    let (code, said) = ended(&output);
    assert!(
        code == 2 && said.contains("Usage: svc-conformance <COMMAND>"),
        "{said}"
    );
}
