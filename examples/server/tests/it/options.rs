//! Every option of the demo means the same on the command line and in the environment.

use std::collections::BTreeSet;
use std::process::Command;

use clap::{CommandFactory, Parser};
use svc_server::demo::ServerSettings;
use svc_server::demo::cli::{Cli, ServerArgs};

/// Set for the child that says what it reads from its environment: its arguments.
const CHILD: &str = "SVC_SERVER_TEST_OPTIONS";

/// Stands before what the child says.
const MARK: &str = "options are ";

/// Each option with a value that is not its default, as the environment has it; `true` for a
/// switch.
const OPTIONS: &[(&str, &str)] = &[
    ("listen", "::1"),
    ("port", "4711"),
    ("base-url", "https://demo.example.org/x/"),
    ("trusted-proxy", "10.0.0.1,::1"),
    ("data", "/tmp/somewhere/else.db"),
    ("database", "postgres://ada@localhost/crm"),
    ("schema", "other"),
    ("connections", "4"),
    ("statements", "unnamed"),
    ("read-from", "postgres://ada@replica/crm"),
    ("cluster", "true"),
    ("fresh", "true"),
    ("people", "17"),
    ("prefix", "abc"),
    ("extension-prefix", "more"),
    ("namespace", "here"),
    ("style", "examples"),
    ("entry-links", "listed"),
    ("error-bodies", "true"),
    ("require-if-match", "true"),
    ("private-webhooks", "true"),
    ("cors", "https://a.example.org,https://b.example.org"),
    (
        "key",
        "one=first-token-of-the-test,two=second-token-of-the-test",
    ),
    ("read-key", "one=third-token-of-the-test"),
    ("anonymous-helpers", "off"),
    ("atomic-helpers", "true"),
    ("helpers-only", "true"),
    ("without", "people.delete,helper.schedule"),
    ("patch-is-put", "true"),
    ("body-budget", "17"),
    ("metrics", "off"),
    ("share-names", "a_share,b_share"),
];

fn is_switch(option: &str) -> bool {
    let command = Cli::command();
    let option = command
        .get_arguments()
        .find(|known| known.get_long() == Some(option))
        .expect("an option");
    !option.get_action().takes_values()
}

fn environment_name(option: &str) -> String {
    format!("SVC_DEMO_{}", option.to_uppercase().replace('-', "_"))
}

/// What options come to, with the tokens that no debug output shows.
fn told(options: &ServerArgs) -> String {
    let settings = ServerSettings::check(options).expect("good options");
    let tokens: Vec<_> = settings.keys.iter().map(|key| &key.token).collect();
    let urls = [&options.database, &options.read_from].map(|url| url.as_ref().map(|url| &url.0));
    let database = (
        urls,
        &options.schema,
        options.connections,
        options.statements,
        options.cluster,
    );
    format!("{:?} {database:?} {settings:?} {tokens:?}", options.data)
}

fn by_command_line(arguments: &[String]) -> String {
    let program = ["svc-demo".to_owned()];
    told(
        &Cli::try_parse_from(program.iter().chain(arguments))
            .expect("arguments")
            .options,
    )
}

/// What a process reads that has nothing but these variables.
fn by_environment(variables: &[(String, &str)]) -> String {
    by_both("", variables)
}

/// What a process reads that has these arguments and variables.
fn by_both(arguments: &str, variables: &[(String, &str)]) -> String {
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child.args([
        "--exact",
        "options::child",
        "--nocapture",
        "--test-threads=1",
    ]);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SVC_DEMO_") {
            child.env_remove(name);
        }
    }
    let output = child
        .env(CHILD, arguments)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .output();
    let output = output.expect("the child runs");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("running 1 test"), "{text}");
    let said = text
        .lines()
        .find_map(|line| line.split_once(MARK))
        .map(|(_, said)| said.to_owned());
    said.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// The child: says what it reads.
#[test]
fn child() {
    if let Ok(arguments) = std::env::var(CHILD) {
        let arguments = ["svc-demo"].into_iter().chain(arguments.split_whitespace());
        println!("{MARK}{}", told(&Cli::parse_from(arguments).options));
    }
}

#[test]
fn the_table_has_every_option() {
    let command = Cli::command();
    let known: BTreeSet<_> = command
        .get_arguments()
        .filter_map(clap::Arg::get_long)
        .collect();
    let known: BTreeSet<_> = known
        .into_iter()
        .filter(|name| !matches!(*name, "help" | "version"))
        .collect();
    assert_eq!(
        OPTIONS
            .iter()
            .map(|(name, _)| *name)
            .collect::<BTreeSet<_>>(),
        known
    );
}

#[test]
fn each_option_means_the_same_in_the_environment() {
    let default = by_command_line(&[]);
    assert_eq!(by_environment(&[]), default);
    for (option, value) in OPTIONS {
        let mut arguments = vec![format!("--{option}")];
        if !is_switch(option) {
            arguments.push((*value).to_owned());
        }
        let expected = by_command_line(&arguments);
        assert_ne!(expected, default, "--{option} {value} changes nothing");
        let name = environment_name(option);
        assert_eq!(
            by_environment(&[(name.clone(), value)]),
            expected,
            "{name}={value}"
        );
        if is_switch(option) {
            for off in ["false", "0", "no", "off", ""] {
                assert_eq!(
                    by_environment(&[(name.clone(), off)]),
                    default,
                    "{name}={off:?}"
                );
            }
        }
    }
}

#[test]
fn options_that_may_come_several_times_are_separated_by_commas_in_the_environment() {
    let command = Cli::command();
    let mut several = 0;
    for option in command
        .get_arguments()
        .filter(|option| matches!(option.get_action(), clap::ArgAction::Append))
    {
        let name = option.get_long().expect("a name");
        let (_, value) = OPTIONS
            .iter()
            .find(|(known, _)| *known == name)
            .expect("in the table");
        let apart: Vec<String> = value
            .split(',')
            .flat_map(|one| [format!("--{name}"), one.to_owned()])
            .collect();
        assert_eq!(
            by_environment(&[(environment_name(name), value)]),
            by_command_line(&apart),
            "{name}"
        );
        several += 1;
    }
    assert_eq!(several, 5, "cors, key, read-key, trusted-proxy, without");
}

#[test]
fn the_command_line_comes_before_the_environment() {
    let expected = by_command_line(&["--people".to_owned(), "3".to_owned()]);
    assert_eq!(
        by_both("--people 3", &[("SVC_DEMO_PEOPLE".to_owned(), "5")]),
        expected
    );
}
