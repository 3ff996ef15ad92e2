//! The command that checks a data file for damage.

use svc_sqlite::Damage;

use super::data_errors::about_file;
use super::location::DataLocation;
use super::paths::refuse_emptied;
use super::run::say;
use super::startup_error::StartupError;

/// Checks the data file and prints each damage.
///
/// # Errors
///
/// Returns an error if the file is damaged, does not exist or is in use by a server, or if the data
/// is in a database.
pub(super) fn run(location: &DataLocation) -> Result<(), StartupError> {
    let path = match location {
        DataLocation::File(path) => path,
        DataLocation::Server(server) => return Err(server.no_check()),
    };
    refuse_emptied(path)?;
    let mut found = 0_u64;
    let mut report = |damage: Damage| {
        found = found.saturating_add(1);
        say(&format!("{damage}\n  hint:  {}\n", damage.remedy()));
    };
    svc_sqlite::check(path, &mut report).map_err(|error| about_file(&error))?;
    if found == 0 {
        say(&format!("Checked {}: no damage found.\n", path.display()));
        return Ok(());
    }
    Err(StartupError::new(
        format!("The data file is damaged. Number of findings: {found}."),
        path.display().to_string(),
        "Follow the hint of each finding, or restore a backup.",
    ))
}
