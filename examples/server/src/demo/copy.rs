//! Moving a data file into PostgreSQL: all of it, in its order, each part once however often it is
//! interrupted, and verified record by record.

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
use svc_store::compare::compare;
use svc_store::transfer::{ExportBatch, ExportPosition};

use super::about::{about_file, about_server};
use super::location::SchemaLocation;
use super::run::say;
use super::trouble::StartupError;

/// Records in one transaction.
const STEP: usize = 1000;

/// How often what passes by itself is tried again, and how long apart.
const TRIES: usize = 60;
const PAUSE: Duration = Duration::from_secs(1);

/// How far a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress<'a> {
    /// The tenant at whose records it is.
    pub tenant: &'a str,
    /// Whether they are compared by now.
    pub verifies: bool,
    /// How many of them are done.
    pub done: u64,
    /// How many there are.
    pub all: u64,
}

/// A tenant that was copied, and whose copy is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedTenant {
    /// Its name.
    pub tenant: String,
    /// How many records it has.
    pub records: u64,
    /// SHA-256 over every record, as it was when the copy was compared.
    pub digest: String,
    /// What this call found and did.
    pub state: State,
    /// How many keys this call added or revoked in the database.
    pub keys: usize,
}

/// What a call found and did about a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It was copied, and every record was compared.
    Copied,
    /// An earlier call copied it. Every record was compared again.
    Same,
    /// An earlier call copied it, and the database was written to since, so that the records can no
    /// longer be compared. The file has not changed.
    InUse,
}

/// What the database remembers of a tenant's copy.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CopyMarker {
    /// The moment of the tenant's last write in the file, in microseconds: a file that was written
    /// to since is another one.
    clock: i64,
    /// Records brought so far.
    records: u64,
    at: CopyState,
}

/// What the database remembers of a copy whose records are all there.
struct Known {
    mark: CopyMarker,
    /// Whether nobody has written to the copy since.
    is_ours: bool,
}

/// Where a tenant's copy is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CopyState {
    /// This comes next.
    Position(ExportPosition),
    /// All is there and is to be verified.
    Brought,
    /// It is verified: the digest.
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

/// Copies the data file at `from` into a database: tenants in their order, records of every kind
/// with what finds and counts them, server responses to send, keys, and the marks of programs.
/// `go_on` is told after each part how far it is, and ends the copy when it says so: `None`.
/// Another call goes on from there, as it does after a crash. A call after the last part compares
/// again, as long as nobody has written to the database, and brings keys that were added or revoked
/// in the file.
///
/// A server may run on the file as long as nothing is written.
///
/// # Errors
///
/// The file or the database cannot be used, the database has data of a tenant that this copy has
/// not brought, the file was written to since the copy began or was complete, or the copy differs.
pub async fn copy(
    from: &Path,
    to: &SchemaLocation,
    mut go_on: impl FnMut(CopyProgress<'_>) -> bool + Send,
) -> Result<Option<Vec<CopiedTenant>>, StartupError> {
    let source = DeclarationSource::open(svc_sqlite::SqliteOptions::new(from).beside_a_server())
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
            .records(tenant)
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

/// A copy under way.
struct CopyRun<'a> {
    from: &'a Path,
    source: DeclarationSource,
    target: Target,
}

impl CopyRun<'_> {
    /// Compares what was brought of a tenant, and hands its keys over.
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
            compare(&self.source, &self.target, tenant, |done| {
                _ = go_on(step(done));
            })
            .await
        });
        let compared = compared.await.map_err(|error| about_target(&error))?;
        if self.clock(tenant)? != mark.clock {
            return Err(self.about_changes(tenant, &mark));
        }
        // Whoever works with a complete copy may have written meanwhile.
        if compared.is_err()
            && self
                .known(tenant)
                .await?
                .is_some_and(|(_, is_ours)| !is_ours)
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
                state: State::Same,
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
            .restore(tenant, &end, (Some(&before), &after))
            .await;
        done.map_err(|error| about_restoring(tenant, &error))?;
        Ok(CopiedTenant {
            tenant: name,
            records,
            digest,
            state: State::Copied,
            keys,
        })
    }

    /// What there is to do about a copy that somebody works with.
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
            state: State::InUse,
            keys,
        })
    }

    /// Brings what is missing of a tenant's records; `None` where it was told to end.
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
                Some((text, is_ours)) => (
                    CopyMarker::read(text).map_err(|error| about_target(&error))?,
                    *is_ours,
                ),
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
            if batch.clock.micros() != mark.clock {
                return Err(self.about_changes(tenant, &mark));
            }
            let at = batch.next.map_or(CopyState::Brought, CopyState::Position);
            let mark = CopyMarker {
                records: mark.records + batch.records,
                at,
                ..mark
            };
            let after = mark.to_string();
            let known = before.as_ref().map(|(text, _)| text.as_str());
            match self.target.restore(tenant, &batch, (known, &after)).await {
                Ok(()) => (before, tries, in_doubt) = (Some((after, true)), 0, false),
                Err(error) if (passes(&error) || in_doubt) && tries < TRIES => {
                    // What was sent last may be stored while it is sent again.
                    (tries, in_doubt) = (tries + 1, passes(&error));
                    tokio::time::sleep(PAUSE).await;
                    // Whether it was stored is what the database says.
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

    /// What the database remembers of a tenant's copy, and whether nobody has written to it since.
    async fn known(&self, tenant: &Tenant) -> Result<Option<(String, bool)>, StartupError> {
        let known = patiently(async || self.target.restored(tenant).await).await;
        let Some((text, is_ours)) = known.map_err(|error| about_target(&error))? else {
            return Ok(None);
        };
        let is_complete =
            CopyMarker::read(&text).is_ok_and(|mark| matches!(mark.at, CopyState::Complete(_)));
        // Whoever works with a complete copy writes to it.
        if is_ours || is_complete {
            Ok(Some((text, is_ours)))
        } else {
            Err(about_others(tenant))
        }
    }

    /// Keys and marks come last: nobody works with what is not complete. Returns how many keys were
    /// added or revoked.
    async fn hand_over(&self, tenant: &Tenant) -> Result<usize, StartupError> {
        let failed = |error| about_source(self.from, &error);
        for (name, value) in self.source.marks().map_err(failed)? {
            let give = async || match self.target.read_mark(&name).await? {
                Some(_) => Ok(()),
                None => self.target.mark(&name, &value).await,
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

    /// The moment of a tenant's last write in the file.
    fn clock(&self, tenant: &Tenant) -> Result<i64, StartupError> {
        let batch = self.source.export(tenant, ExportPosition::start(), 1);
        Ok(batch
            .map_err(|error| about_source(self.from, &error))?
            .clock
            .micros())
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

/// Tries again what passes by itself.
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

/// The command: copies behind a bar that shows how far it is, and tells what came of it.
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
            State::Copied => "copied and verified",
            State::Same => "copied earlier and verified again without differences",
            State::InUse => {
                "copied earlier, not verified again because the database has changed since then"
            }
        };
        let keys = match (state, keys) {
            (State::Copied, _) | (_, 0) => String::new(),
            (_, keys) => format!("\n  {keys} keys added or revoked to match the file"),
        };
        say(&format!(
            "{tenant}: {records} records, {how}{keys}\n  SHA-256 {digest}\n"
        ));
    }
    // Whether a server runs decides nothing that was copied.
    if svc_sqlite::is_served(from).unwrap_or_default() {
        say(
            "A server is running on the file. The database does not contain what it stores from now on.\n  Stop the server, then run this command again to check for changes.\n",
        );
    }
    Ok(())
}

/// A bar on the terminal; nothing where there is none.
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
            CopyState::Position(ExportPosition::start().after(7)),
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
