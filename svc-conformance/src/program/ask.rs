//! The program without arguments on a terminal: it asks for the settings of a first run, explains
//! the run, and starts it.

use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal as _, Write};
use std::path::Path;

use clap::Parser as _;
use console::Term;

use super::cli::{Cli, Command, InitOptions, RunArgs};
use super::{ProgramError, config, init, run};
use crate::target::{Remote, Target as _};

const EXPLAINED: &str = "
A run sends requests to the server and checks each response against the requirements of the Activist Data Exchange API.
On this machine it creates records and deletes what it created; a server on another machine is only read, unless you allow writes.
Reports of failures contain requests and responses, so a run against real data can store names and addresses of real people.

";

/// Whether the program was started without arguments on a terminal.
pub(super) fn can_ask(given: &[OsString]) -> bool {
    given.len() <= 1 && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks the questions, writes the configuration file if the user agrees, and runs.
pub(super) async fn ask() -> Result<u8, ProgramError> {
    let has_file = Path::new(config::FILE).exists();
    let secret = |_: &mut io::Stderr| Term::stderr().read_secure_line();
    // Reads without a lock of the input, because reading the key needs the lock. A terminal
    // delivers one line at a time.
    let answers = asked(
        &mut io::BufReader::new(io::stdin()),
        &mut io::stderr(),
        secret,
        has_file,
    );
    let answers = answers
        .map_err(|error| ProgramError::new(5, format!("The terminal cannot be read: {error}")))?;
    let Some(answers) = answers else {
        return Err(ProgramError::usage(
            "The input ended before the last question.",
        ));
    };
    let options = answers.options()?;
    if answers.writes_file {
        let wanted = InitOptions {
            url: answers.address.clone(),
            access: options.access.clone(),
        };
        super::note(&init::written(Path::new(config::FILE), &wanted).await?);
    }
    if answers.runs {
        run::run(options).await
    } else {
        Ok(0)
    }
}

/// The answers of the user.
#[derive(Debug, PartialEq, Eq)]
struct Answers {
    address: String,
    key: String,
    allows_writes: bool,
    writes_file: bool,
    runs: bool,
}

impl Answers {
    /// Returns the options of the run.
    fn options(&self) -> Result<RunArgs, ProgramError> {
        let mut given = vec!["svc-conformance", "run", "--no-config"];
        if self.allows_writes {
            given.push("--allow-writes");
        }
        given.extend(["--", &self.address]);
        let broken = |error: clap::Error| ProgramError::usage(error.to_string());
        let Command::Run(mut options) = Cli::try_parse_from(given).map_err(broken)?.command else {
            return Err(ProgramError::new(5, "these arguments are those of `run`"));
        };
        // Keys in the environment must not be sent to an address that the user just typed.
        options.access.key = Some(self.key.clone()).filter(|key| !key.is_empty());
        (
            options.access.other_tenant_key,
            options.access.restricted_key,
        ) = (None, None);
        Ok(*options)
    }
}

/// Asks the questions. Returns `None` if the input ends before the last answer. `secret` reads a
/// line without an echo.
fn asked<W: Write>(
    input: &mut impl BufRead,
    output: &mut W,
    mut secret: impl FnMut(&mut W) -> io::Result<String>,
    has_file: bool,
) -> io::Result<Option<Answers>> {
    if has_file {
        writeln!(
            output,
            "{} is in this folder; `svc-conformance run` uses it.",
            config::FILE
        )?;
    }
    let (address, is_local) = loop {
        let Some(address) = line(
            input,
            output,
            "URL of the entry point, such as http://127.0.0.1:8080/api/v1/: ",
        )?
        else {
            return Ok(None);
        };
        match Remote::new(&address) {
            Ok(target) => break (address, target.is_local()),
            Err(error) => writeln!(output, "{error}.")?,
        }
    };
    write!(
        output,
        "Key to data that the run may change (not shown; leave empty if there is none): "
    )?;
    output.flush()?;
    let key = secret(output)?.trim().to_owned();
    write!(output, "{EXPLAINED}")?;
    let mut answers = Answers {
        address,
        key,
        allows_writes: false,
        writes_file: false,
        runs: false,
    };
    if !is_local {
        let question = "The server is on another machine. Create and delete records there? [y/N] ";
        let Some(yes) = confirmed(input, output, question, false)? else {
            return Ok(None);
        };
        answers.allows_writes = yes;
    }
    if !has_file {
        let question = format!(
            "Write the URL and its options to {}, without the key? [Y/n] ",
            config::FILE
        );
        let Some(yes) = confirmed(input, output, &question, true)? else {
            return Ok(None);
        };
        answers.writes_file = yes;
    }
    let Some(yes) = confirmed(input, output, "Run now? [Y/n] ", true)? else {
        return Ok(None);
    };
    answers.runs = yes;
    Ok(Some(answers))
}

/// Reads a line of the input. Returns `None` at its end.
fn line(
    input: &mut impl BufRead,
    output: &mut impl Write,
    question: &str,
) -> io::Result<Option<String>> {
    write!(output, "{question}")?;
    output.flush()?;
    let mut text = String::new();
    let read = input.read_line(&mut text)?;
    Ok((read > 0).then(|| text.trim().to_owned()))
}

/// Whether the user answers yes. An empty line selects the default; any other answer repeats the
/// question.
fn confirmed(
    input: &mut impl BufRead,
    output: &mut impl Write,
    question: &str,
    default: bool,
) -> io::Result<Option<bool>> {
    loop {
        let Some(answer) = line(input, output, question)? else {
            return Ok(None);
        };
        match answer.to_ascii_lowercase().as_str() {
            "" => return Ok(Some(default)),
            "y" | "yes" => return Ok(Some(true)),
            "n" | "no" => return Ok(Some(false)),
            _ => writeln!(output, "Answer y or n.")?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answers, asked};

    /// Returns the answers to some input, and the output.
    fn after(input: &str, has_file: bool) -> (Option<Answers>, String) {
        let mut shown = Vec::new();
        let answers = asked(
            &mut input.as_bytes(),
            &mut shown,
            |_| Ok(" secret-key\n".to_owned()),
            has_file,
        );
        (
            answers.expect("answers"),
            String::from_utf8(shown).expect("text"),
        )
    }

    fn answers(address: &str, [allows_writes, writes_file, runs]: [bool; 3]) -> Answers {
        let (address, key) = (address.to_owned(), "secret-key".to_owned());
        Answers {
            address,
            key,
            allows_writes,
            writes_file,
            runs,
        }
    }

    const HERE: &str = "http://127.0.0.1:8080/api/v1/";
    const THERE: &str = "https://crm.example.org/api/v1/";

    #[test]
    fn the_defaults_write_the_file_and_run() {
        let (found, shown) = after(&format!("{HERE}\n\n\n"), false);
        assert_eq!(found, Some(answers(HERE, [false, true, true])));
        assert!(!shown.contains("secret-key"), "{shown}");
        assert!(!shown.contains("another machine. Create"), "{shown}");
        assert!(shown.contains("deletes what it created"), "{shown}");
    }

    #[test]
    fn another_machine_is_only_read_until_the_answer_is_yes() {
        assert_eq!(
            after(&format!("{THERE}\n\nn\ny\n"), false).0,
            Some(answers(THERE, [false, false, true]))
        );
        assert_eq!(
            after(&format!("{THERE}\nYES\nno\nno\n"), false).0,
            Some(answers(THERE, [true, false, false]))
        );
    }

    #[test]
    fn a_file_that_exists_is_not_offered() {
        let (found, shown) = after(&format!("{HERE}\n\n"), true);
        assert_eq!(found, Some(answers(HERE, [false, false, true])));
        assert!(
            shown.contains("`svc-conformance run` uses it") && !shown.contains("Write the URL"),
            "{shown}"
        );
    }

    #[test]
    fn a_wrong_answer_is_asked_again_and_the_end_of_the_input_ends() {
        let (found, shown) = after(&format!("ftp://x\n{HERE}\nperhaps\ny\ny\n"), false);
        assert_eq!(found, Some(answers(HERE, [false, true, true])));
        assert_eq!(
            shown.matches("URL of the entry point, such as").count(),
            2,
            "{shown}"
        );
        assert!(shown.contains("Answer y or n."), "{shown}");
        for input in ["", HERE, &format!("{HERE}\n\n")] {
            assert_eq!(after(input, false).0, None, "{input}");
        }
    }

    #[test]
    fn the_answers_are_the_options_of_a_run() {
        let options = answers(THERE, [true, false, true])
            .options()
            .expect("options");
        assert_eq!(
            (options.url.as_deref(), options.access.key.as_deref()),
            (Some(THERE), Some("secret-key"))
        );
        assert!(options.allow_writes && options.access.no_config);
    }
}
