//! Every option of the demo has the same meaning on the command line and in the environment.

use std::collections::BTreeSet;
use std::process::Command;

use clap::{CommandFactory, Parser};
use svc_server::demo::ServerSettings;
use svc_server::demo::cli::{Cli, ServerArgs};

/// Set for the child process, which prints the options from its environment: its arguments.
const CHILD: &str = "SVC_SERVER_TEST_OPTIONS";

/// Renamed options: the former name, the present name, and a value (none for a switch).
const RENAMED: &[(&str, &str, &str)] = &[
    ("connections", "max-connections", "4"),
    ("statements", "statement-mode", "unnamed"),
    ("read-from", "replica", "postgres://ada@replica/crm"),
    ("cluster", "citus", ""),
    ("fresh", "reset", ""),
    ("people", "seed-people", "17"),
    ("style", "response-style", "examples"),
    ("without", "without-capability", "people.delete"),
    ("patch-is-put", "accept-patch", ""),
    ("private-webhooks", "allow-private-webhooks", ""),
];

/// Command lines with former names, and the same with present names.
const RENAMED_LINES: &[(&str, &str)] = &[
    ("--statements named", "--statement-mode prepared"),
    ("hooks list", "webhooks list"),
    (
        "hooks --tenant t add https://a/",
        "webhooks --tenant t add https://a/",
    ),
    ("hooks rotate 1", "webhooks rotate-secret 1"),
    ("top --every 1 --times 3", "top --interval 1 --count 3"),
    (
        "import a.csv --to http://a/",
        "import a.csv --url http://a/",
    ),
    (
        "keys list --cluster --connections 4",
        "keys list --citus --max-connections 4",
    ),
];

/// Printed before the options of the child.
const MARK: &str = "options are ";

/// Each option with a value that is not its default, in the format of the environment; `true` for a
/// switch.
const OPTIONS: &[(&str, &str)] = &[
    ("listen", "::1"),
    ("port", "4711"),
    ("base-url", "https://demo.example.org/x/"),
    ("trusted-proxy", "10.0.0.1,::1"),
    ("data", "/tmp/somewhere/else.db"),
    ("database", "postgres://ada@localhost/crm"),
    ("schema", "other"),
    ("max-connections", "4"),
    ("statement-mode", "unnamed"),
    ("replica", "postgres://ada@replica/crm"),
    ("citus", "true"),
    ("reset", "true"),
    ("seed-people", "17"),
    ("prefix", "abc"),
    ("extension-prefix", "more"),
    ("namespace", "here"),
    ("response-style", "examples"),
    ("entry-links", "listed"),
    ("error-bodies", "true"),
    ("require-if-match", "true"),
    ("allow-private-webhooks", "true"),
    ("cors", "https://a.example.org,https://b.example.org"),
    (
        "key",
        "one=first-token-of-the-test,two=second-token-of-the-test",
    ),
    ("read-key", "one=third-token-of-the-test"),
    ("anonymous-helpers", "off"),
    ("atomic-helpers", "true"),
    ("helpers-only", "true"),
    ("without-capability", "people.delete,helper.schedule"),
    ("accept-patch", "true"),
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

/// Returns the resulting settings as text, with the tokens that debug output does not show.
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

/// Returns the options of a process with only these variables.
fn by_environment(variables: &[(String, &str)]) -> String {
    by_both("", variables)
}

/// Returns the options of a process with these arguments and variables.
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

/// The child: prints its options.
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
    let expected = by_command_line(&["--seed-people".to_owned(), "3".to_owned()]);
    assert_eq!(
        by_both(
            "--seed-people 3",
            &[("SVC_DEMO_SEED_PEOPLE".to_owned(), "5")]
        ),
        expected
    );
}

#[test]
fn former_names_of_options_and_variables_keep_working() {
    let default = by_command_line(&[]);
    let help = Cli::command().render_long_help().to_string();
    for (former, name, value) in RENAMED {
        let is_shown = |name: &str| {
            help.split_whitespace()
                .any(|word| word == format!("--{name}"))
        };
        assert!(is_shown(name), "--{name} is not shown");
        assert!(!is_shown(former), "--{former} is shown");
        let line = |name: &str| {
            let values = (!value.is_empty()).then(|| (*value).to_owned());
            let arguments: Vec<_> = [format!("--{name}")].into_iter().chain(values).collect();
            by_command_line(&arguments)
        };
        let expected = line(name);
        assert_ne!(expected, default, "--{name} changes nothing");
        assert_eq!(line(former), expected, "--{former}");
        let value = if value.is_empty() { "true" } else { value };
        let (former, name) = (environment_name(former), environment_name(name));
        assert_eq!(
            by_environment(&[(former.clone(), value)]),
            expected,
            "{former}"
        );
        let both = [(former.clone(), "7"), (name.clone(), value)];
        assert_eq!(
            by_environment(&both),
            expected,
            "{name} comes before {former}"
        );
    }
    for (former, present) in RENAMED_LINES {
        let parsed = |line: &str| {
            let arguments = ["svc-demo"].into_iter().chain(line.split(' '));
            format!("{:?}", Cli::try_parse_from(arguments).expect(line))
        };
        assert_eq!(parsed(former), parsed(present), "{former}");
    }
}

/// Returns the names of the options in the help of a command.
fn shown(path: &str) -> BTreeSet<String> {
    let mut command = Cli::command();
    command.build();
    let command = path.split_whitespace().fold(&command, |command, name| {
        command.find_subcommand(name).expect("a command")
    });
    let options = command
        .get_arguments()
        .filter(|option| !option.is_hide_set());
    let names = options.filter_map(clap::Arg::get_long).map(str::to_owned);
    names.filter(|name| name != "help").collect()
}

#[test]
fn the_help_of_a_command_shows_the_options_that_it_uses() {
    for (path, expected) in [
        ("top", "count interval"),
        (
            "import",
            "as create-tags dates decimal-mark dry-run event form fundraising-page key-file map mapping no-identity petition rest save-mapping strict synonyms url yes",
        ),
        ("backup", "data"),
        ("check", "data"),
        ("compact", "data"),
        (
            "copy",
            "citus from max-connections schema statement-mode to",
        ),
        ("keys list", "citus data database schema statement-mode"),
        (
            "keys revoke",
            "citus data database keep-webhooks schema statement-mode",
        ),
        (
            "webhooks list",
            "allow-private-webhooks citus data database schema statement-mode tenant",
        ),
        ("export openapi", ""),
        ("export capabilities", ""),
        ("export schema", "citus schema"),
    ] {
        let expected = expected.split_whitespace().map(str::to_owned).collect();
        assert_eq!(shown(path), expected, "{path}");
    }
}
