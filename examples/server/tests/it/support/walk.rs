//! The walk that is recorded in a browser and exported as five programs: the demo for them, and
//! their output.

use super::TestResult;
use super::program::Program;

/// The output of each of the five programs.
pub(crate) const RECORDS: &str = include_str!("../walk/records.txt");

/// Starts a demo with the data of the recorded demo, and without changes by the walk.
pub(crate) fn fresh_demo() -> TestResult<(Program, tempfile::TempDir)> {
    let folder = tempfile::tempdir()?;
    let demo = Program::demo(
        &folder.path().join("walk.db"),
        &["--seed-people", "60", "--anonymous-helpers", "on"],
    )?;
    Ok((demo, folder))
}

/// Returns the records that a program prints, with a relation and an id on each line. An id in the
/// source of the program belongs to a record of every fresh demo, and remains. Ids that the server
/// assigned in this run are numbered in their order.
pub(crate) fn told<'s>(said: &'s str, program: &str) -> String {
    let mut made: Vec<&str> = Vec::new();
    let mut name = |id: &'s str| {
        if program.contains(id) {
            return id.to_owned();
        }
        let place = made.iter().position(|one| *one == id).unwrap_or(made.len());
        if place == made.len() {
            made.push(id);
        }
        format!("#{}", place + 1)
    };
    let lines = said.lines().filter_map(|line| line.split_once('\t'));
    lines
        .map(|(relation, id)| format!("{relation}\t{}\n", name(id)))
        .collect::<Vec<_>>()
        .concat()
}
