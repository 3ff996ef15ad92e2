//! `svc-demo export people --to people.csv`: writes the records of a running server to a file.
//!
//! Pages are read by their links, and their records are collected in a file next to the target. An interrupted
//! export goes on after the last complete page. A table is written when all records are known, because its columns
//! depend on them.

mod memberships;
mod people;
mod source;
mod spool;
mod table;

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use sha2::{Digest as _, Sha256};
use svc_core::json::{Json, Object};
use svc_core::model::Kind;
use svc_import::{ExportColumns, ExportFormat, ExportRecord};

use self::memberships::Memberships;
use self::people::People;
use self::source::{ExportSource, Reply};
use self::spool::{PendingPage, Spool};
use self::table::TableBuilder;
use super::remote::api_key;
use super::run::say;
use super::startup_error::StartupError;

/// The environment variable of the key, if no file contains it.
const KEY: &str = "SVC_DEMO_EXPORT_KEY";
// In code formatting, these would be hard to copy.
const KEY_FILE: &str =
    "File that contains the API key [default: the environment variable SVC_DEMO_EXPORT_KEY]";
const FILTER: &str =
    "Filter of the collection, such as \"modified_date gt '2026-11-01T00:00:00Z'\"";
const COLUMNS: &str = "Columns of a .csv or .xlsx file in this order, such as given_name,email_addresses[1].address or donation.amount; repeatable [default: all that have values]";

/// The arguments of an export of records.
#[derive(Debug, Clone, Args)]
pub struct RecordsExport {
    /// File to write. Its ending selects the format: .csv, .xlsx, or .ndjson for a line of JSON for each
    /// record
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// URL of the entry point of the server
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://localhost:8080/api/v1/"
    )]
    url: String,
    /// File that contains the API key
    #[arg(long, value_name = "FILE", help = KEY_FILE)]
    key_file: Option<PathBuf>,
    /// Filter of the collection
    #[arg(long, value_name = "EXPR", help = FILTER)]
    filter: Option<String>,
    /// Columns of a table
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help = COLUMNS)]
    columns: Vec<String>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

impl RecordsExport {
    /// Returns the name of a file next to the target.
    fn next_to(&self, ending: &str) -> PathBuf {
        let mut name = self.to.as_os_str().to_owned();
        name.push(ending);
        name.into()
    }

    fn stopped(&self, why: impl std::fmt::Display) -> StartupError {
        StartupError::new(
            format!("The export was interrupted: {why}."),
            &self.url,
            "Run the same command again. It goes on after the last page that was read.",
        )
    }

    fn unwritten(&self, why: impl std::fmt::Display) -> StartupError {
        StartupError::new(
            format!("The file cannot be written: {why}."),
            self.to.display().to_string(),
            "Check the folder, or use another file with --to.",
        )
    }

    fn rejected(&self, kind: Kind, reply: &source::Rejection) -> StartupError {
        let remedy = if reply.is_about_key() {
            format!(
                "Check the key in {KEY} or --key-file. It needs the rights to list and read {}.",
                kind.plural()
            )
        } else {
            "Correct --filter, or use another server.".to_owned()
        };
        let text = format!("The server rejected the export with {reply}");
        StartupError::new(text.trim_end(), &self.url, remedy)
    }
}

/// Exports the records of a kind to a file, which exists only if it is complete.
///
/// # Errors
///
/// Returns an error if the file exists or cannot be written, an option is wrong, or the server does not return all
/// records.
pub(super) async fn run(kind: Kind, export: &RecordsExport) -> Result<(), StartupError> {
    let (format, chosen) = check(kind, export)?;
    let key = api_key(KEY, export.key_file.as_deref())?;
    // Records of another key must not become part of the file.
    let of_key = Sha256::digest(key.as_bytes());
    let of_key = of_key.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    let source = ExportSource::find(&export.url, key).await?;
    let first = source.first_page(kind, export.filter.as_deref())?;
    let is_table = format != ExportFormat::Ndjson;
    let needs_person = chosen.as_ref().is_none_or(ExportColumns::has_person);
    let people = People::new(kind).filter(|_| is_table && needs_person);
    let command = format!(
        "{} {} {:?} table {is_table} people {} key {of_key}",
        kind.plural(),
        first.url,
        export.filter,
        people.is_some()
    );
    let mut spool = Spool::open(&export.to, &command, &first).map_err(|error| {
        export.unwritten(format!("{}: {error}", export.next_to(".part").display()))
    })?;
    if spool.records() > 0 {
        say(&format!(
            "  resumed      after {} records of an interrupted export\n",
            spool.records()
        ));
    }
    let mut reader = Reader {
        kind,
        export,
        source: &source,
        people,
        is_table,
    };
    reader.read_all(&mut spool, &first).await?;
    let records = spool.records();
    if is_table {
        let needs = |is_chosen: fn(&ExportColumns) -> bool| {
            kind == Kind::Person && chosen.as_ref().is_none_or(is_chosen)
        };
        let builder = TableBuilder {
            kind,
            format,
            tags: reader
                .memberships(needs(ExportColumns::has_tags), Kind::Tag, Kind::Tagging)
                .await?,
            lists: reader
                .memberships(needs(ExportColumns::has_lists), Kind::List, Kind::Item)
                .await?,
            namespace: source.namespace().map(str::to_owned),
            chosen,
        };
        let (part, table) = (export.next_to(".part"), export.next_to(".part.table"));
        let to = table.clone();
        let built = tokio::task::spawn_blocking(move || builder.build(&part, &to)).await;
        let built = built.map_err(|error| export.unwritten(error))?;
        let columns = built.map_err(|error| {
            // The records remain for other columns.
            let _ = std::fs::remove_file(&table);
            export.unwritten(error)
        })?;
        finish(export, &table)?;
        say(&format!("  columns      {columns}\n"));
    } else {
        finish(export, &export.next_to(".part"))?;
    }
    spool.remove().map_err(|error| export.unwritten(error))?;
    say(&format!(
        "  {:<11}  {records} exported to {}\n",
        kind.plural(),
        export.to.display()
    ));
    Ok(())
}

/// Checks the options that need no server.
fn check(
    kind: Kind,
    export: &RecordsExport,
) -> Result<(ExportFormat, Option<ExportColumns>), StartupError> {
    let place = export.to.display().to_string();
    let format = ExportFormat::of(&export.to).ok_or_else(|| {
        StartupError::new(
            "The name of the file does not select a format.",
            &place,
            "Use a name that ends with .csv, .xlsx or .ndjson.",
        )
    })?;
    check_target(export)?;
    if export.columns.is_empty() {
        return Ok((format, None));
    }
    if format == ExportFormat::Ndjson {
        return Err(StartupError::new(
            "An .ndjson file has whole records and no columns.",
            "--columns",
            "Omit --columns, or use a .csv or .xlsx file.",
        ));
    }
    let names = export.columns.iter().map(String::as_str);
    let columns = ExportColumns::chosen(kind, names).map_err(|unknown| {
        StartupError::new(
            format!("`{}` is not a column of {}.", unknown.name, kind.plural()),
            "--columns",
            format!(
                "Use names of this list, also with other numbers in brackets: {}.",
                unknown.allowed.join(", ")
            ),
        )
    })?;
    Ok((format, Some(columns)))
}

fn check_target(export: &RecordsExport) -> Result<(), StartupError> {
    if export.to.exists() && !export.force {
        return Err(StartupError::new(
            "The file exists.",
            export.to.display().to_string(),
            "Use another file, or replace it with --force.",
        ));
    }
    Ok(())
}

/// Gives a complete file its name.
fn finish(export: &RecordsExport, complete: &Path) -> Result<(), StartupError> {
    check_target(export)?;
    let file = std::fs::File::open(complete).and_then(|file| file.sync_all());
    file.and_then(|()| std::fs::rename(complete, &export.to))
        .map_err(|error| export.unwritten(error))
}

/// Reads the pages.
struct Reader<'e> {
    kind: Kind,
    export: &'e RecordsExport,
    source: &'e ExportSource,
    /// The people of actions, if the format shows them.
    people: Option<People>,
    is_table: bool,
}

impl Reader<'_> {
    /// Reads all pages that are left.
    async fn read_all(
        &mut self,
        spool: &mut Spool,
        first: &PendingPage,
    ) -> Result<(), StartupError> {
        let bar = progress_bar(self.kind);
        let mut has_restarted = false;
        while let Some(pending) = spool.pending().cloned() {
            let reply = self.source.read(&pending.url).await;
            match reply.map_err(|why| self.export.stopped(why))? {
                Reply::Document(page) => self.add_page(spool, &pending, &page, &bar).await?,
                Reply::Rejected(reply) if reply.is_about_key() => {
                    return Err(self.export.rejected(self.kind, &reply));
                }
                // The container was deleted after its page was read.
                Reply::Rejected(reply) if reply.is_gone() && pending.is_of_container => {
                    spool
                        .add(&[], 0, Vec::new())
                        .map_err(|error| self.export.unwritten(error))?;
                }
                // The server no longer knows the position.
                Reply::Rejected(_) if !pending.is_first && !has_restarted => {
                    has_restarted = true;
                    spool
                        .restart(first)
                        .map_err(|error| self.export.unwritten(error))?;
                    say("  restarted    because the server no longer knows the next page\n");
                }
                Reply::Rejected(reply) => return Err(self.export.rejected(self.kind, &reply)),
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Adds the records of a page, and the pages that follow.
    async fn add_page(
        &mut self,
        spool: &mut Spool,
        pending: &PendingPage,
        page: &Object,
        bar: &ProgressBar,
    ) -> Result<(), StartupError> {
        let mut following = Vec::new();
        if let Some(next) = ExportRecord::link(page, "next") {
            following.push(PendingPage {
                url: self.source.resolved(next),
                is_first: false,
                ..pending.clone()
            });
        }
        let (mut lines, mut count) = (Vec::new(), 0_u64);
        if pending.is_container {
            let collections = source::records(page)
                .filter_map(|record| ExportRecord::link(record, self.kind.plural()));
            let collections: Vec<&str> = collections.collect();
            // The last one is read first.
            following.extend(collections.into_iter().rev().map(|link| {
                PendingPage {
                    url: self
                        .source
                        .with_options(link, self.export.filter.as_deref()),
                    is_container: false,
                    is_first: true,
                    is_of_container: true,
                }
            }));
        } else {
            for record in source::records(page) {
                self.add_record(record, &mut lines).await?;
                count = count.saturating_add(1);
            }
            if let Some(total) = page.get("total_records").and_then(Json::as_i64)
                && !pending.is_of_container
            {
                bar.set_length(u64::try_from(total).unwrap_or_default());
            }
        }
        let added = spool.add(&lines, count, following);
        added.map_err(|error| self.export.unwritten(error))?;
        bar.set_position(spool.records());
        Ok(())
    }

    async fn add_record(
        &mut self,
        record: &Object,
        lines: &mut Vec<u8>,
    ) -> Result<(), StartupError> {
        let mut exported = ExportRecord::new(record.clone());
        let embedded = exported.record.remove("_embedded");
        if !self.is_table {
            exported.record.write(lines);
            lines.push(b'\n');
            return Ok(());
        }
        if let Some(people) = &mut self.people {
            let person = people
                .of(self.source, &exported.record, embedded.as_ref())
                .await;
            exported.person = person.map_err(|why| self.export.stopped(why))?;
        }
        exported.line(lines);
        Ok(())
    }

    /// Reads the tags or lists of all people, if they are needed and the server has them.
    async fn memberships(
        &self,
        is_needed: bool,
        container: Kind,
        members: Kind,
    ) -> Result<Memberships, StartupError> {
        if !is_needed {
            return Ok(Memberships::default());
        }
        let read = Memberships::read(self.source, container, members).await;
        read.map_err(|why| {
            StartupError::new(
                format!("The {} of people cannot be read: {why}.", container.plural()),
                &self.export.url,
                format!(
                    "Use a key with the rights to list and read {} and {}, or choose columns with --columns.",
                    container.plural(),
                    members.plural()
                ),
            )
        })
    }
}

/// Returns a progress bar on the terminal, which is hidden if there is no terminal.
fn progress_bar(kind: Kind) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0).with_message(kind.plural());
    let style = ProgressStyle::with_template(
        "  exporting    [{bar:32}] {pos} of {len} {msg}, {per_sec}, {eta} left",
    );
    let bar = match style {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    };
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
