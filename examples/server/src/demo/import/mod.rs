//! `svc-demo import`: sends the people of a table, or their actions, to a running server, as one batch of any length.
//!
//! Requirements: BAT-08.

mod container;
mod groups;
pub(in crate::demo) mod lines;
mod overview;
pub(in crate::demo) mod server;

use std::io::{self, BufRead, BufReader, IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use http::{HeaderValue, StatusCode};
use http_body_util::BodyExt;
use indicatif::{ProgressBar, ProgressStyle};
use sha2::{Digest, Sha256};
use svc_core::helper::HelperName;
use svc_import::{
    ActionKind, ColumnMapping, DateOrder, DecimalMark, ImportCounts, ImportResults, MappingError,
    MappingOptions, Overview, PlannedRow, ReportPaths, RowContent, RowPlan, SavedMapping, Synonyms,
    Table, error_text,
};

use self::container::ActionArgs;
use self::groups::MissingGroups;
use self::lines::RequestBody;
use self::server::ImportTarget;
use super::remote;
use super::run::say;
use super::startup_error::StartupError;

/// The environment variable of the key, if no file contains it.
const KEY: &str = "SVC_DEMO_IMPORT_KEY";
/// In code formatting, the name would be hard to copy.
const KEY_FILE: &str =
    "File that contains the API key [default: the environment variable SVC_DEMO_IMPORT_KEY]";

/// The largest number of rows of a table of which the server is asked what it would change, before the question
/// whether to import it.
pub(in crate::demo) const MAX_PREVIEW: u64 = 10_000;

// In code formatting, names of members would be hard to copy.
const MAP: &str = "Member of a person, and the name or letters of the column with its value, such as given_name=First or email=B. Usual column names need no mapping; repeatable";
const SYNONYMS: &str = "TOML file with further column names, such as given_name = [\"Rufname\"]";

/// The arguments of an import.
#[derive(Debug, Clone, Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent options of a command"
)]
pub struct Import {
    /// Table of people or their actions: CSV in any encoding, a spreadsheet (.xlsx, .xls, .ods), or one of them as .gz or
    /// .zip. Its first row has the column names
    file: PathBuf,
    #[command(flatten)]
    actions: ActionArgs,
    #[arg(long, value_name = "MEMBER=COLUMN", value_parser = pair, help = MAP)]
    map: Vec<(String, String)>,
    #[arg(long, value_name = "FILE", help = SYNONYMS)]
    synonyms: Option<PathBuf>,
    /// Use the mapping of columns in this file, which --save-mapping has written. --map precedes it
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// Write the mapping of columns to this file, so that it can be changed and used again
    #[arg(long, value_name = "FILE")]
    save_mapping: Option<PathBuf>,
    /// Create the tags and lists of the table that do not exist
    #[arg(long)]
    create_tags: bool,
    /// What happens to columns that have no member
    #[arg(long, value_name = "HOW", default_value = "skip")]
    rest: RestOfColumns,
    /// Order of day and month in dates such as 3/4/1990, if the column does not show it
    #[arg(long, value_name = "ORDER")]
    dates: Option<OrderOfDates>,
    /// Decimal mark in amounts such as 1,234, if the column does not show it
    #[arg(long, value_name = "MARK")]
    decimal_mark: Option<MarkOfDecimals>,
    /// Reject a row with a value that its member cannot have, instead of leaving out the value
    #[arg(long)]
    strict: bool,
    /// Import also rows without an e-mail address, a phone number and an identifier. A repeated import then
    /// creates duplicates
    #[arg(long)]
    no_identity: bool,
    /// Import without asking for confirmation
    #[arg(long, short)]
    yes: bool,
    /// URL of the entry point of the server
    #[arg(
        long = "url",
        alias = "to",
        value_name = "URL",
        default_value = "http://localhost:8080/api/v1/"
    )]
    to: String,
    /// File that contains the API key
    #[arg(long, value_name = "FILE", help = KEY_FILE)]
    key_file: Option<PathBuf>,
    /// Show the mapping and the request for the first row, and with a key also what the import would change, without
    /// storing anything
    #[arg(long)]
    dry_run: bool,
}

/// What happens to columns without a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RestOfColumns {
    /// They are left out.
    Skip,
    /// They become custom fields with the names of the columns.
    Custom,
}

/// The order of day and month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrderOfDates {
    /// The day is first.
    DayFirst,
    /// The month is first.
    MonthFirst,
}

/// The mark before the fraction of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MarkOfDecimals {
    /// As in 1,234.50.
    Point,
    /// As in 1.234,50.
    Comma,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (member, column) = text
        .split_once('=')
        .ok_or("must have the form MEMBER=COLUMN, such as given_name=First")?;
    Ok((member.trim().to_owned(), column.trim().to_owned()))
}

/// Imports a table. Rejected rows are written to a file next to it, with the reason. An interrupted import can
/// be repeated, and imports the remaining rows.
///
/// # Errors
///
/// Returns an error if the table cannot be read, the server rejects the import, the response is
/// interrupted, or a row was rejected.
pub(super) async fn run(import: &Import) -> Result<(), StartupError> {
    let file = import.file.display().to_string();
    let unread = |why: &dyn std::fmt::Display| {
        StartupError::new(
            format!("The table cannot be used: {why}."),
            &file,
            "Use a CSV file or a spreadsheet with the column names in the first row.",
        )
    };
    if !import.file.is_file() {
        return Err(StartupError::new(
            "There is no such file.",
            &file,
            "Check its name.",
        ));
    }
    let container = import.actions.container()?;
    let table = Table::open(&import.file).map_err(|error| unread(&error))?;
    let state = table.state().map_err(|error| unread(&error))?;
    let options = options(import)?;
    let mut mapping = mapping(import, &table, &options)?;
    let overview = Overview::read(&table, &mut mapping).map_err(|error| unread(&error))?;
    say(&overview::text(&overview, &table, &mapping));
    check(import, &table, &mapping)?;
    // Only a mapping that loses no objections can be saved.
    if let Some(path) = &import.save_mapping {
        save(path, &SavedMapping::of(table.head(), &mapping, &options))?;
    }
    let mut plan = RowPlan::new(mapping);
    plan.is_strict = import.strict;
    plan.accepts_unknown = import.no_identity;
    if import.dry_run {
        say(&format!("{}\n", first_request(&plan, &overview)));
        if import.key_file.is_none() && std::env::var_os(KEY).is_none() {
            return Ok(());
        }
    }
    let key = remote::api_key(KEY, import.key_file.as_deref())?;
    let actions = (import.actions.kind(), container);
    let sending = Sending {
        import,
        server: ImportTarget::find(&import.to, &key, actions).await?,
        key,
        table: &table,
        plan: &plan,
        rows: overview.total(),
        reports: ReportPaths::next_to(&import.file),
    };
    let can_ask = !import.yes && io::stdin().is_terminal();
    let missing = if import.dry_run || import.create_tags || can_ask {
        MissingGroups::find(&sending.server, &sending.key, &overview).await?
    } else {
        MissingGroups::default()
    };
    say(&missing.text());
    if sending.server.previews() && (import.dry_run || can_ask && overview.rows <= MAX_PREVIEW) {
        let counts = sending.run(None).await?;
        say(&overview::preview_text(&counts, &sending.reports));
    }
    if import.dry_run {
        return Ok(());
    }
    let asks = |question: &str| asks(question).map_err(|error| unread(&error));
    let rows = if overview.rows == 1 { "row" } else { "rows" };
    let question = format!("import {} {rows} into {}?", overview.rows, import.to);
    if can_ask && !asks(&question)? {
        say("  nothing was imported\n");
        return Ok(());
    }
    let creates = import.create_tags || !missing.is_empty() && asks("create what is missing?")?;
    if creates {
        missing.create(&sending.server, &sending.key).await?;
    }
    // The same table can have the actions of another container.
    let more = plan.mapping.action().map_or_else(String::new, |_| {
        format!("{:?}", (import.decimal_mark, sending.server.batch_path()))
    });
    let options = (import.dates, import.strict, import.no_identity);
    let options = format!("{options:?}{more}");
    let name = batch_name(&table, &plan, &options);
    let name = name.map_err(|error| unread(&error))?;
    let counts = sending.run(Some(&name)).await?;
    if table.state().map_err(|error| unread(&error))? != state {
        return Err(StartupError::new(
            "The file has changed during the import, so the results can be wrong.",
            &file,
            "Run the same command again.",
        ));
    }
    say(&overview::counts_text(&counts, &sending.reports));
    if counts.rejected > 0 {
        return Err(StartupError::new(
            format!(
                "{} of {} rows rejected.",
                counts.rejected,
                counts.with_values()
            ),
            sending.reports.rejected.display().to_string(),
            "Correct the rows in this file, and import it with the same options.",
        ));
    }
    Ok(())
}

/// Returns an error if the mapping loses who people are, or who must not be contacted.
fn check(import: &Import, table: &Table, mapping: &ColumnMapping) -> Result<(), StartupError> {
    let file = import.file.display().to_string();
    if !mapping.identifies() && !import.no_identity {
        return Err(StartupError::new(
            "No column has an e-mail address, a phone number or an identifier.",
            file,
            "Name the column with --map, such as --map email=B, or use --no-identity.",
        ));
    }
    let objections = mapping.unread_objections();
    if objections.is_empty() {
        return Ok(());
    }
    let columns = overview::names(table, objections);
    Err(StartupError::new(
        format!(
            "These columns probably contain who must not be contacted, but they set no member: {columns}."
        ),
        file,
        "Name what they set, such as --map 'not email_addresses[*].status=C', or ignore them, such as --map ignored=C.",
    ))
}

/// Returns the request for the first row that is sent, as text.
fn first_request(plan: &RowPlan, overview: &Overview) -> String {
    let rows = overview.examples.iter();
    let mut sent = rows.filter_map(|row| match plan.row(&RowContent::Cells(row.clone())) {
        PlannedRow::Sent { body, .. } => Some(format!("{body:#}")),
        _ => None,
    });
    let first = sent.next();
    first.unwrap_or_else(|| "None of the first rows is imported.".to_owned())
}

/// Returns how columns are mapped.
fn options(import: &Import) -> Result<MappingOptions, StartupError> {
    let mut options = MappingOptions::default();
    options.pairs.clone_from(&import.map);
    options.rest_custom = import.rest == RestOfColumns::Custom;
    options.dates = match import.dates {
        None => DateOrder::Unknown,
        Some(OrderOfDates::DayFirst) => DateOrder::DayFirst,
        Some(OrderOfDates::MonthFirst) => DateOrder::MonthFirst,
    };
    options.decimal_mark = match import.decimal_mark {
        None => DecimalMark::Unknown,
        Some(MarkOfDecimals::Point) => DecimalMark::Point,
        Some(MarkOfDecimals::Comma) => DecimalMark::Comma,
    };
    options.action = import.actions.kind();
    if let Some(path) = &import.mapping {
        let failed = |why: &dyn std::fmt::Display| {
            StartupError::new(
                format!("The file with the mapping cannot be used: {why}."),
                path.display().to_string(),
                "Use a file that --save-mapping has written.",
            )
        };
        let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
        let saved = SavedMapping::from_toml(&text).map_err(|error| failed(&error))?;
        saved.add_to(&mut options);
    }
    Ok(options)
}

/// Writes a mapping to a file.
fn save(path: &Path, mapping: &SavedMapping) -> Result<(), StartupError> {
    let failed = |why: &dyn std::fmt::Display| {
        StartupError::new(
            format!("The mapping cannot be saved: {why}."),
            path.display().to_string(),
            "Use another file with --save-mapping.",
        )
    };
    let text = mapping.to_toml().map_err(|error| failed(&error))?;
    std::fs::write(path, text).map_err(|error| failed(&error))?;
    say(&format!("  mapping      saved in {}\n", path.display()));
    Ok(())
}

/// Returns the mapping of the columns.
fn mapping(
    import: &Import,
    table: &Table,
    options: &MappingOptions,
) -> Result<ColumnMapping, StartupError> {
    let synonyms = match &import.synonyms {
        Some(path) => {
            let failed = |why: &dyn std::fmt::Display| {
                StartupError::new(
                    format!("The file with column names cannot be used: {why}."),
                    path.display().to_string(),
                    "Write a line such as given_name = [\"Rufname\"] for each member.",
                )
            };
            let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
            Synonyms::with_file(&text).map_err(|error| failed(&error))?
        }
        None => Synonyms::built_in().unwrap_or_default(),
    };
    ColumnMapping::new(table.head(), &synonyms, options).map_err(|why| {
        let remedy = match why {
            MappingError::Nothing(_) => {
                "Delete the rows above the column names, or name columns with --map, such as --map email=B."
            }
            MappingError::NoDecisive { .. } => {
                "Name the column with --map, such as --map amount=D."
            }
            _ => "Change the mapping with --map, such as --map given_name=First --map email=B.",
        };
        StartupError::new(
            format!("The columns cannot be mapped: {why}."),
            import.file.display().to_string(),
            remedy,
        )
    })
}

/// Asks a question on a terminal, and returns whether the answer is yes.
fn asks(question: &str) -> io::Result<bool> {
    say(&format!("  {question} [y/N] "));
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// A table that is sent to a server.
struct Sending<'a> {
    import: &'a Import,
    server: ImportTarget,
    key: HeaderValue,
    table: &'a Table,
    plan: &'a RowPlan,
    /// The number of rows.
    rows: u64,
    reports: ReportPaths,
}

impl Sending<'_> {
    /// Sends the rows, and reads the results. Without an idempotency key, nothing is stored.
    async fn run(&self, name: Option<&str>) -> Result<ImportCounts, StartupError> {
        let to = &self.import.to;
        let broken = |why: String| {
            let remedy = "Run the same command again. Within 24 hours, no row is imported twice.";
            StartupError::new(format!("The import was interrupted: {why}."), to, remedy)
        };
        let stopped = |error: io::Error| broken(error.to_string());
        let begun = ImportResults::begin(self.table, self.plan, &self.reports);
        let (lines, mut results) = begun.map_err(stopped)?;
        let response = self.server.send(&self.key, name, RequestBody(lines)).await;
        let mut response = response.map_err(broken)?;
        let status = response.status();
        if status != StatusCode::OK {
            let body = remote::body(response).await.unwrap_or_default();
            let why = error_text(&serde_json::from_slice(&body).unwrap_or_default());
            let remedy = if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
                let helper = self.plan.mapping.action().map(ActionKind::helper);
                let helper = helper.unwrap_or(HelperName::PersonSignup).as_str();
                format!("Check the key in {KEY} or --key-file. It needs the right helper.{helper}.")
            } else {
                "Wait, and run the same command again. Within 24 hours, no row is imported twice."
                    .to_owned()
            };
            return Err(StartupError::new(
                format!("The server rejected the import with status {status}. {why}").trim_end(),
                to,
                remedy,
            ));
        }
        let bar = progress_bar(self.rows);
        while let Some(frame) = response.body_mut().frame().await {
            let frame = frame.map_err(|error| broken(error.to_string()))?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            results.read(&data).map_err(stopped)?;
            let counts = results.counts();
            bar.set_position(counts.all());
            bar.set_message(format!("{} rejected", counts.rejected));
        }
        bar.finish_and_clear();
        results.finish().map_err(stopped)
    }
}

/// Returns a progress bar on the terminal, which is hidden if there is no terminal.
fn progress_bar(rows: u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(rows);
    let style = ProgressStyle::with_template(
        "  importing    [{bar:32}] {percent} %, {pos} rows, {msg}, {per_sec}, {eta} left",
    );
    let bar = match style {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    };
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Returns the idempotency key of an import, from the text of the table, the mapping of its columns, and the other
/// options. A repeated import has the same key.
pub(in crate::demo) fn batch_name(
    table: &Table,
    plan: &RowPlan,
    options: &str,
) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut text = BufReader::new(table.text());
    loop {
        let part = text.fill_buf()?;
        let length = part.len();
        if length == 0 {
            break;
        }
        digest.update(part);
        text.consume(length);
    }
    for mapped in plan.mapping.columns() {
        digest.update(format!("{} {}\n", mapped.column, mapped.member));
    }
    // Another version may make other requests of the same rows.
    let version = env!("CARGO_PKG_VERSION");
    digest.update(format!("{options} {version}"));
    let digest = digest.finalize();
    Ok(digest
        .iter()
        .take(16)
        .fold("import-".to_owned(), |name, byte| {
            format!("{name}{byte:02x}")
        }))
}
