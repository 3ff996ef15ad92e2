//! The walk that is recorded in a browser and exported as five programs: where they run, and what
//! they tell.

use super::TestResult;
use super::program::Program;

/// What each of the five tells.
pub(crate) const RECORDS: &str = include_str!("../walk/records.txt");

/// A demo with the data of the one in which the walk was recorded, and nothing of the walk.
pub(crate) fn fresh_demo() -> TestResult<(Program, tempfile::TempDir)> {
    let folder = tempfile::tempdir()?;
    let demo = Program::demo(
        &folder.path().join("walk.db"),
        &["--seed-people", "60", "--anonymous-helpers", "on"],
    )?;
    Ok((demo, folder))
}

/// The records that a program tells, a relation and an id on each line. An id that stands in the
/// program is that of a record which every fresh demo has, and is kept; those that the server made
/// for this run are numbered as they come.
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
