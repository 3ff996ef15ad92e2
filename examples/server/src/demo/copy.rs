//! Copies a data file into PostgreSQL, in order, and verifies every record. If it is interrupted,
//! it resumes and copies no part twice.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use svc_core::Tenant;
use svc_core::error::{Error, ErrorKind, Result as Stored};
use svc_core::value::Timestamp;
use svc_declaration::visible;
use svc_postgres::PostgresStore as Target;
use svc_sqlite::SqliteStore as DeclarationSource;
use svc_store::compare::compare_stores;
use svc_store::transfer::{ExportBatch, ExportPosition};

use super::data_errors::{about_file, about_server};
use super::location::SchemaLocation;
use super::run::say;
use super::startup_error::StartupError;

/// Records in one transaction.
const STEP: usize = 1000;

/// Maximum number of attempts after temporary errors, and the pause between them.
const TRIES: usize = 60;
const PAUSE: Duration = Duration::from_secs(1);

/// The progress of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress<'a> {
    /// The tenant whose records are processed.
    pub tenant: &'a str,
    /// Whether the records are compared now, after they were copied.
    pub verifies: bool,
    /// Number of processed records.
    pub done: u64,
    /// Number of all records.
    pub all: u64,
}

/// A tenant whose copy is complete and identical.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedTenant {
    /// The name of the tenant.
    pub tenant: String,
    /// The number of its records.
    pub records: u64,
    /// SHA-256 over every record at the time of the comparison.
    pub digest: String,
    /// The result of this call for the tenant.
    pub state: CopyResult,
    /// Number of keys that this call added or revoked in the database.
    pub keys: usize,
}

/// The result of a call for a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyResult {
    /// The tenant was copied, and every record was compared.
    Copied,
    /// An earlier call copied the tenant. Every record was compared again.
    Same,
    /// An earlier call copied the tenant. The database was changed since then, so that the records
    /// can no longer be compared. The file has not changed.
    InUse,
}

/// The state of the copy of a tenant, stored in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CopyMarker {
    /// Time of the last write to the tenant in the file, in microseconds. If it differs, the file
    /// has changed.
    clock: i64,
    /// Number of records copied so far.
    records: u64,
    at: CopyState,
}

/// The stored state of the copy of a tenant.
struct Known {
    mark: CopyMarker,
    /// Whether no other program has written to the copy since.
    is_ours: bool,
}

/// The position of the copy of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CopyState {
    /// The position of the next part.
    Position(ExportPosition),
    /// All records are copied, and not verified yet.
    Brought,
    /// The copy is verified; this is the digest.
    Complete(String),
}

impl fmt::Display for CopyMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "clock={} records={} ", self.clock, self.records)?;
        match &self.at {
            CopyState::Position(position) => write!(f, "at={position}"),
            CopyState::Brought => write!(f, "at=end"),
            CopyState::Complete(digest) => write!(f, "digest={digest}"),
        }
    }
}

impl CopyMarker {
    fn read(text: &str) -> Stored<Self> {
        let members: HashMap<_, _> = text
            .split(' ')
            .filter_map(|member| member.split_once('='))
            .collect();
        let damaged =
            || Error::unexpected(format!("the stored state of the copy is damaged: {text}"));
        let member = |name: &str| members.get(name).copied().ok_or_else(damaged);
        let at = match members.get("digest") {
            Some(digest) => CopyState::Complete((*digest).to_owned()),
            None if member("at")? == "end" => CopyState::Brought,
            None => CopyState::Position(member("at")?.parse()?),
        };
        let clock = member("clock")?.parse().map_err(|_| damaged())?;
        Ok(Self {
            clock,
            records: member("records")?.parse().map_err(|_| damaged())?,
            at,
        })
    }
}

/// Copies the data file at `from` into a database: tenants in their order, with records, indexes
/// and totals, the outbox, keys, and the markers of programs.
///
/// The copy calls `go_on` with its progress after each part. If it returns false, the copy ends
/// with `None`; during the comparison its result is ignored. The next call resumes the copy, as
/// after a crash.
///
/// A call after the last part compares the records again, unless the database was changed. It also
/// adds keys and revokes keys as in the file.
///
/// A server may run on the file as long as no client writes.
///
/// # Errors
///
/// Returns an error in these cases:
///
/// - The file or the database cannot be used.
/// - The database has data of a tenant that does not come from this copy.
/// - The file has changed since the copy started or was complete.
/// - The copy differs.
pub async fn copy(
    from: &Path,
    to: &SchemaLocation,
    mut go_on: impl FnMut(CopyProgress<'_>) -> bool + Send,
) -> Result<Option<Vec<CopiedTenant>>, StartupError> {
    let source = DeclarationSource::open(svc_sqlite::SqliteOptions::new(from).shared())
        .map_err(|error| about_file(&error))?;
    let names = source.share_names().clone();
    let target = Target::connect(to.options().share_names(names))
        .await
        .map_err(|error| about_server(to, &error))?;
    let tenants = source
        .tenants()
        .map_err(|error| about_source(from, &error))?;
    for tenant in &tenants {
        patiently(async || target.ensure_tenant(tenant.as_str()).await)
            .await
            .map_err(|error| about_target(&error))?;
    }
    let copy = CopyRun {
        from,
        source,
        target,
    };
    let mut brought = Vec::new();
    for tenant in &tenants {
        let all = copy
            .source
            .count_records(tenant)
            .map_err(|error| about_source(from, &error))?;
        let Some(known) = copy.bring(tenant, all, &mut go_on).await? else {
            return Ok(None);
        };
        brought.push((tenant, all, known));
    }
    if brought
        .iter()
        .any(|(_, _, known)| known.mark.at == CopyState::Brought)
    {
        patiently(async || copy.target.analyze().await)
            .await
            .map_err(|error| about_target(&error))?;
    }
    let mut copied = Vec::new();
    for (tenant, all, known) in brought {
        copied.push(copy.complete(tenant, all, known, &mut go_on).await?);
    }
    Ok(Some(copied))
}

/// A running copy.
struct CopyRun<'a> {
    from: &'a Path,
    source: DeclarationSource,
    target: Target,
}

impl CopyRun<'_> {
    /// Compares the copied records of a tenant, and copies its keys.
    async fn complete(
        &self,
        tenant: &Tenant,
        all: u64,
        Known { mark, is_ours }: Known,
        go_on: &mut (impl FnMut(CopyProgress<'_>) -> bool + Send),
    ) -> Result<CopiedTenant, StartupError> {
        let name = tenant.as_str().to_owned();
        if self.clock(tenant)? != mark.clock {
            return Err(self.about_changes(tenant, &mark));
        }
        if !is_ours {
            return self.in_use(tenant, mark).await;
        }
        let step = |done| CopyProgress {
            tenant: tenant.as_str(),
            verifies: true,
            done,
            all,
        };
        let compared = patiently(async || {
            compare_stores(&self.source, &self.target, tenant, |done| {
                _ = go_on(step(done));
            })
            .await
        });
        let compared = compared.await.map_err(|error| about_target(&error))?;
        if self.clock(tenant)? != mark.clock {
            return Err(self.about_changes(tenant, &mark));
        }
        // A program that uses a complete copy may have written in between.
        if compared.is_err()
            && self
                .known(tenant)
                .await?
                .is_some_and(|known| !known.is_ours)
        {
            return self.in_use(tenant, mark).await;
        }
        let same = compared.map_err(|difference| {
            StartupError::new(
                format!("The copy of the tenant {name} differs from the file: {difference}."),
                "the database",
                "Report this as a bug with this message, which contains no personal data. The file was not changed.",
            )
        })?;
        let keys = self.hand_over(tenant).await?;
        let (records, digest) = (same.records, same.digest);
        if matches!(mark.at, CopyState::Complete(_)) {
            return Ok(CopiedTenant {
                tenant: name,
                records,
                digest,
                state: CopyResult::Same,
                keys,
            });
        }
        let before = mark.to_string();
        let mark = CopyMarker {
            at: CopyState::Complete(digest.clone()),
            ..mark
        };
        let (end, after) = (
            ExportBatch::new(Timestamp::from_micros(mark.clock)),
            mark.to_string(),
        );
        let done = self
            .target
            .restore(tenant, &end, Some(&before), &after)
            .await;
        done.map_err(|error| about_restoring(tenant, &error))?;
        Ok(CopiedTenant {
            tenant: name,
            records,
            digest,
            state: CopyResult::Copied,
            keys,
        })
    }

    /// Copies only the keys of a tenant, because another program has changed the copied records.
    async fn in_use(
        &self,
        tenant: &Tenant,
        mark: CopyMarker,
    ) -> Result<CopiedTenant, StartupError> {
        let CopyState::Complete(digest) = mark.at else {
            return Err(about_others(tenant));
        };
        let (name, keys) = (tenant.as_str().to_owned(), self.hand_over(tenant).await?);
        Ok(CopiedTenant {
            tenant: name,
            records: mark.records,
            digest,
            state: CopyResult::InUse,
            keys,
        })
    }

    /// Copies the missing records of a tenant. Returns `None` if `go_on` ended the copy.
    async fn bring(
        &self,
        tenant: &Tenant,
        all: u64,
        go_on: &mut (impl FnMut(CopyProgress<'_>) -> bool + Send),
    ) -> Result<Option<Known>, StartupError> {
        let (mut tries, mut in_doubt) = (0, false);
        let mut before = self.known(tenant).await?;
        loop {
            let (mark, is_ours) = match &before {
                Some(known) => (known.mark.clone(), known.is_ours),
                None => (
                    CopyMarker {
                        clock: self.clock(tenant)?,
                        records: 0,
                        at: CopyState::Position(ExportPosition::start()),
                    },
                    true,
                ),
            };
            let CopyState::Position(at) = mark.at else {
                return Ok(Some(Known { mark, is_ours }));
            };
            let batch = self
                .source
                .export(tenant, at, STEP)
                .map_err(|error| about_source(self.from, &error))?;
            if batch.clock.as_micros() != mark.clock {
                return Err(self.about_changes(tenant, &mark));
            }
            let at = batch.next.map_or(CopyState::Brought, CopyState::Position);
            let mark = CopyMarker {
                records: mark.records + batch.records,
                at,
                ..mark
            };
            let after = mark.to_string();
            let known = before.as_ref().map(|known| known.mark.to_string());
            let restored = self
                .target
                .restore(tenant, &batch, known.as_deref(), &after)
                .await;
            match restored {
                Ok(()) => {
                    before = Some(Known {
                        mark: mark.clone(),
                        is_ours: true,
                    });
                    (tries, in_doubt) = (0, false);
                }
                Err(error) if (passes(&error) || in_doubt) && tries < TRIES => {
                    // The last part may have been stored although its request failed.
                    (tries, in_doubt) = (tries + 1, passes(&error));
                    tokio::time::sleep(PAUSE).await;
                    // The database knows whether it was stored.
                    before = self.known(tenant).await?;
                    continue;
                }
                Err(error) => return Err(about_restoring(tenant, &error)),
            }
            if !go_on(CopyProgress {
                tenant: tenant.as_str(),
                verifies: false,
                done: mark.records,
                all,
            }) {
                return Ok(None);
            }
        }
    }

    /// Returns the stored state of the copy of a tenant, and whether no other program has written
    /// to it since.
    async fn known(&self, tenant: &Tenant) -> Result<Option<Known>, StartupError> {
        let progress = patiently(async || self.target.restore_progress(tenant).await).await;
        let Some(progress) = progress.map_err(|error| about_target(&error))? else {
            return Ok(None);
        };
        let (mark, is_ours) = (CopyMarker::read(&progress.mark), progress.is_unchanged);
        let is_complete = mark
            .as_ref()
            .is_ok_and(|mark| matches!(mark.at, CopyState::Complete(_)));
        // A program that uses a complete copy writes to it.
        if !is_ours && !is_complete {
            return Err(about_others(tenant));
        }
        let mark = mark.map_err(|error| about_target(&error))?;
        Ok(Some(Known { mark, is_ours }))
    }

    /// Copies keys and markers last, so that no client can use an incomplete copy. Returns how many
    /// keys were added or revoked.
    async fn hand_over(&self, tenant: &Tenant) -> Result<usize, StartupError> {
        let failed = |error| about_source(self.from, &error);
        for (name, value) in self.source.metadata_entries().map_err(failed)? {
            let give = async || match self.target.metadata(&name).await? {
                Some(_) => Ok(()),
                None => self.target.set_metadata(&name, &value).await,
            };
            patiently(give)
                .await
                .map_err(|error| about_target(&error))?;
        }
        let there = patiently(async || self.target.list_keys(Some(tenant)).await).await;
        let there = there.map_err(|error| about_target(&error))?;
        let mut changed = 0;
        for key in self
            .source
            .export_keys()
            .map_err(failed)?
            .iter()
            .filter(|key| key.info.tenant == *tenant)
        {
            let known = there.iter().find(|known| known.id == key.info.id);
            if known.is_some_and(|known| known.revoked.is_some() || key.info.revoked.is_none()) {
                continue;
            }
            changed += 1;
            self.target.restore_key(key).await.map_err(|error| {
                let what = format!(
                    "The key {} of the tenant {} cannot be copied: {error}.",
                    key.info.id,
                    tenant.as_str()
                );
                StartupError::new(
                    what,
                    "the database",
                    "Run the command again, or copy into another schema with --schema.",
                )
            })?;
        }
        Ok(changed)
    }

    /// Returns the time of the last write to a tenant in the file.
    fn clock(&self, tenant: &Tenant) -> Result<i64, StartupError> {
        let batch = self.source.export(tenant, ExportPosition::start(), 1);
        Ok(batch
            .map_err(|error| about_source(self.from, &error))?
            .clock
            .as_micros())
    }

    fn about_changes(&self, tenant: &Tenant, mark: &CopyMarker) -> StartupError {
        let (since, then) = match mark.at {
            CopyState::Complete(_) => (
                "it was copied",
                " The database does not have these changes.",
            ),
            CopyState::Position(_) | CopyState::Brought => ("the copy began", ""),
        };
        let name = tenant.as_str();
        StartupError::new(
            format!(
                "Records of the tenant {name} were changed in the file since {since}, or the file is a different one.{then}"
            ),
            self.from.display().to_string(),
            "Stop the server of the file, or make sure that no client writes. Then copy into another schema with --schema.",
        )
    }
}

/// Repeats work after temporary errors.
async fn patiently<T>(mut work: impl AsyncFnMut() -> Stored<T>) -> Stored<T> {
    let mut tries = 0;
    loop {
        match work().await {
            Err(error) if passes(&error) && tries < TRIES => tries += 1,
            other => return other,
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn passes(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unavailable { .. })
}

fn about_source(from: &Path, error: &Error) -> StartupError {
    let what = format!("The data file cannot be read: {error:#}.");
    StartupError::new(
        what,
        from.display().to_string(),
        "Check that no other program has locked the file, then run the command again.",
    )
}

fn about_target(error: &Error) -> StartupError {
    let remedy = "Check that the database is running and that the user can write to it, then run the command again. The copy resumes where it stopped.";
    StartupError::new(
        format!("The database cannot be used: {error:#}."),
        "--to",
        remedy,
    )
}

fn about_restoring(tenant: &Tenant, error: &Error) -> StartupError {
    if passes(error) || !error.to_string().contains("not from this copy") {
        about_target(error)
    } else {
        about_others(tenant)
    }
}

fn about_others(tenant: &Tenant) -> StartupError {
    StartupError::new(
        format!(
            "The database contains data of the tenant {} that does not come from this copy.",
            tenant.as_str()
        ),
        "--to",
        "Copy into another schema with --schema. Existing data is not changed.",
    )
}

/// Executes the command: copies with a progress bar, and prints the results.
pub(super) async fn run(from: &Path, to: &SchemaLocation) -> Result<(), StartupError> {
    say(&format!(
        "Copying {}. Do not write to this file until the copy is complete.\n",
        from.display()
    ));
    let bar = progress_bar();
    let copied = copy(from, to, |step| {
        let what = if step.verifies {
            "verifying"
        } else {
            "copying"
        };
        bar.set_length(step.all);
        bar.set_position(step.done);
        bar.set_message(format!("{what} {}", visible(step.tenant)));
        true
    });
    let copied = copied.await;
    bar.finish_and_clear();
    for one in copied?.unwrap_or_default() {
        let CopiedTenant {
            tenant,
            records,
            digest,
            state,
            keys,
        } = one;
        let how = match state {
            CopyResult::Copied => "copied and verified",
            CopyResult::Same => "copied earlier and verified again without differences",
            CopyResult::InUse => {
                "copied earlier, not verified again because the database has changed since then"
            }
        };
        let keys = match (state, keys) {
            (CopyResult::Copied, _) | (_, 0) => String::new(),
            (_, keys) => format!("\n  {keys} keys added or revoked to match the file"),
        };
        say(&format!(
            "{tenant}: {records} records, {how}{keys}\n  SHA-256 {digest}\n"
        ));
    }
    // A running server does not change the result of the copy.
    if svc_sqlite::is_served(from).unwrap_or_default() {
        say(
            "A server is running on the file. The database does not contain what it stores from now on.\n  Stop the server, then run this command again to check for changes.\n",
        );
    }
    Ok(())
}

/// Returns a progress bar on the terminal, which is hidden if there is no terminal.
fn progress_bar() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    let style =
        ProgressStyle::with_template("  {msg}  [{bar:32}] {pos} of {len} records, {eta} left");
    match style {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    }
}

#[cfg(test)]
mod tests {
    use super::{CopyMarker, CopyState};
    use svc_store::transfer::ExportPosition;

    #[test]
    fn a_mark_reads_back() {
        for at in [
            CopyState::Position(ExportPosition::start().after_row(7)),
            CopyState::Brought,
            CopyState::Complete("0af3".to_owned()),
        ] {
            let mark = CopyMarker {
                clock: 12,
                records: 5,
                at,
            };
            assert_eq!(CopyMarker::read(&mark.to_string()).expect("it reads"), mark);
        }
        for text in [
            "",
            "clock=1 records=2",
            "clock=x records=2 at=end",
            "clock=1 records=2 at=unicorns:4",
        ] {
            assert!(CopyMarker::read(text).is_err(), "{text}");
        }
    }
}
