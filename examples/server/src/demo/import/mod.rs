//! `svc-demo import`: sends the people of a CSV file to a running server, as one batch of any
//! length.
//!
//! Requirements: BAT-08.

mod mapping;
mod server;

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use clap::Args;
use csv::{Reader, ReaderBuilder, StringRecord, Writer};
use http::{HeaderValue, StatusCode};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use sha2::{Digest, Sha256};
use svc_declaration::visible;

use self::mapping::ColumnMapping;
use self::server::ImportTarget;
use super::run::say;
use super::startup_error::StartupError;

/// The environment variable of the key, if no file contains it.
const KEY: &str = "SVC_DEMO_IMPORT_KEY";
/// In code formatting, the name would be hard to copy.
const KEY_FILE: &str =
    "File that contains the API key [default: the environment variable SVC_DEMO_IMPORT_KEY]";
/// Bytes of lines that are prepared in one part.
const PART: usize = 32 * 1024;

/// The arguments of an import.
#[derive(Debug, Clone, Args)]
pub struct Import {
    /// CSV file in UTF-8 with the column names in the first row
    file: PathBuf,
    /// Member of a person and the CSV column with its value, such as given_name=First,email=E-Mail.
    /// A column with the name of a member needs no mapping; repeatable
    #[arg(long, value_name = "MEMBER=COLUMN", value_delimiter = ',', value_parser = pair)]
    map: Vec<(String, String)>,
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
    /// Show the request for the first row without sending anything
    #[arg(long)]
    dry_run: bool,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (member, column) = text
        .split_once('=')
        .ok_or("must have the form MEMBER=COLUMN, such as given_name=First")?;
    Ok((member.trim().to_owned(), column.trim().to_owned()))
}

/// The progress of an import.
#[derive(Debug, Default, Clone, Copy)]
struct ImportProgress {
    done: u64,
    refused: u64,
}

/// Imports a CSV file. Rejected rows are written to a file next to it, with line and reason. An
/// interrupted import can be repeated, and imports the remaining rows.
///
/// # Errors
///
/// Returns an error if the file cannot be read, the server rejects the import, or the response is
/// interrupted.
pub(super) async fn run(import: &Import) -> Result<(), StartupError> {
    let file = import.file.display().to_string();
    let unread = |error: &dyn std::fmt::Display| {
        StartupError::new(
            format!("The CSV file cannot be read: {error}."),
            &file,
            "Use a readable CSV file in UTF-8 with the column names in the first row.",
        )
    };
    let mut table = open(&import.file).map_err(|error| unread(&error))?;
    let head = table.headers().map_err(|error| unread(&error))?.clone();
    let mapping = ColumnMapping::new(&head, &import.map).map_err(|why| {
        StartupError::new(
            format!("The columns cannot be mapped: {why}."),
            &file,
            "Change the mapping with --map, such as --map given_name=First,email=E-Mail.",
        )
    })?;
    if !mapping.left.is_empty() {
        say(&format!(
            "  ignored      columns {}\n",
            mapping.left.join(", ")
        ));
    }
    if import.dry_run {
        let first = table
            .records()
            .next()
            .transpose()
            .map_err(|error| unread(&error))?;
        let body = first.map_or(Value::Null, |row| mapping.body(&row));
        say(&format!("{body:#}\n"));
        return Ok(());
    }
    let key = key(import)?;
    let name = name(import).map_err(|error| unread(&error))?;
    let server = ImportTarget::find(&import.to).await?;
    let lines = NdjsonBody {
        table: open(&import.file).map_err(|error| unread(&error))?,
        mapping,
    };
    let broken = |why: String| {
        let remedy = "Run the same command again. No row is imported twice.";
        StartupError::new(
            format!("The import was interrupted: {why}."),
            &import.to,
            remedy,
        )
    };
    let response = server.send(&key, &name, lines).await.map_err(broken)?;
    let status = response.status();
    if status != StatusCode::OK {
        let body = response
            .into_body()
            .collect()
            .await
            .map(http_body_util::Collected::to_bytes)
            .unwrap_or_default();
        let why = reason(&serde_json::from_slice(&body).unwrap_or_default());
        let remedy = format!(
            "Check the key in {KEY} or --key-file. It needs the right helper.person_signup."
        );
        return Err(StartupError::new(
            format!("The server rejected the import with status {status}. {why}").trim_end(),
            &import.to,
            remedy,
        ));
    }
    let refused = refused_file(&import.file);
    let tally = ResultReader {
        table,
        head,
        file: &import.file,
        refused: None,
    }
    .read(response.into_body())
    .await;
    let tally = tally.map_err(|error| broken(error.to_string()))?;
    say(&format!(
        "  imported     {} {}, {} rejected\n",
        tally.done,
        if tally.done == 1 { "row" } else { "rows" },
        tally.refused
    ));
    if tally.refused > 0 {
        say(&format!("  rejected     see {}\n", refused.display()));
    }
    Ok(())
}

fn open(file: &Path) -> io::Result<Reader<File>> {
    Ok(ReaderBuilder::new()
        .flexible(true)
        .from_reader(File::open(file)?))
}

/// Returns the key. It is never an argument, because every user of the machine could read it.
fn key(import: &Import) -> Result<HeaderValue, StartupError> {
    let (text, place) = match &import.key_file {
        Some(file) => (
            std::fs::read_to_string(file).unwrap_or_default(),
            file.display().to_string(),
        ),
        None => (std::env::var(KEY).unwrap_or_default(), KEY.to_owned()),
    };
    let key = HeaderValue::from_str(text.trim())
        .ok()
        .filter(|key| !key.is_empty());
    let mut key = key.ok_or_else(|| {
        StartupError::new(
            format!("There is no API key in {place}."),
            place,
            format!("Set the environment variable {KEY} to the key, or pass a file that contains it with --key-file."),
        )
    })?;
    key.set_sensitive(true);
    Ok(key)
}

/// Returns the idempotency key of the import, from the file and the mapping of its columns. A
/// repeated import has the same key.
fn name(import: &Import) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut file = BufReader::new(File::open(&import.file)?);
    loop {
        let part = file.fill_buf()?;
        let length = part.len();
        if length == 0 {
            break;
        }
        digest.update(part);
        file.consume(length);
    }
    digest.update(format!("{:?}", import.map));
    let digest = digest.finalize();
    Ok(digest
        .iter()
        .take(16)
        .fold("import-".to_owned(), |name, byte| {
            format!("{name}{byte:02x}")
        }))
}

fn refused_file(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".refused.csv");
    name.into()
}

/// The rows of a CSV file as lines, which are made while the connection sends them.
struct NdjsonBody {
    table: Reader<File>,
    mapping: ColumnMapping,
}

impl Body for NdjsonBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = &mut *self;
        let (mut part, mut row) = (BytesMut::with_capacity(PART), StringRecord::new());
        while part.len() < PART {
            match this.table.read_record(&mut row) {
                Ok(true) => {
                    part.extend_from_slice(this.mapping.body(&row).to_string().as_bytes());
                    part.extend_from_slice(b"\n");
                }
                Ok(false) => break,
                Err(error) => return Poll::Ready(Some(Err(io::Error::other(error)))),
            }
        }
        Poll::Ready((!part.is_empty()).then(|| Ok(Frame::data(part.freeze()))))
    }
}

/// Reads the results in step with their rows, so that neither is stored.
struct ResultReader<'a> {
    table: Reader<File>,
    head: StringRecord,
    file: &'a Path,
    /// The file of rejected rows, created for the first of them.
    refused: Option<Writer<File>>,
}

impl ResultReader<'_> {
    async fn read(mut self, mut body: Incoming) -> io::Result<ImportProgress> {
        // Rows that an earlier import rejected are reported again.
        let _ = std::fs::remove_file(refused_file(self.file));
        let bar = progress_bar(self.file)?;
        let (mut tally, mut is_whole, mut begun) = (ImportProgress::default(), false, Vec::new());
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(io::Error::other)?.into_data() else {
                continue;
            };
            for part in data.split_inclusive(|&byte| byte == b'\n') {
                begun.extend_from_slice(part);
                if begun.last() == Some(&b'\n') {
                    is_whole = self.line(&serde_json::from_slice(&begun)?, &mut tally)?;
                    begun.clear();
                }
            }
            bar.set_position(self.table.position().byte());
            #[allow(clippy::cast_precision_loss, reason = "shown to one place")]
            let each_second = tally.done.saturating_add(tally.refused) as f64
                / bar.elapsed().as_secs_f64().max(0.001);
            bar.set_message(format!(
                "{} rows, {} rejected, {each_second:.0} rows/s",
                tally.done, tally.refused
            ));
        }
        bar.finish_and_clear();
        if let Some(mut refused) = self.refused {
            refused.flush()?;
        }
        if is_whole {
            Ok(tally)
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    /// Processes a line of the response. Returns whether it is the last one.
    fn line(&mut self, line: &Value, tally: &mut ImportProgress) -> io::Result<bool> {
        if line.get("total").is_some() {
            return Ok(true);
        }
        let mut row = StringRecord::new();
        if !self.table.read_record(&mut row)? {
            return Err(io::Error::other(reason(
                line.get("body").unwrap_or(&Value::Null),
            )));
        }
        if line
            .get("status")
            .and_then(Value::as_u64)
            .is_some_and(|status| status < 300)
        {
            tally.done = tally.done.saturating_add(1);
            return Ok(false);
        }
        tally.refused = tally.refused.saturating_add(1);
        let refused = match &mut self.refused {
            Some(refused) => refused,
            none => {
                let mut refused = csv::WriterBuilder::new()
                    .flexible(true)
                    .from_path(refused_file(self.file))?;
                refused.write_record(["line", "reason"].into_iter().chain(&self.head))?;
                none.insert(refused)
            }
        };
        let place = row.position().map_or(0, csv::Position::line).to_string();
        refused.write_record(
            [
                place.as_str(),
                &reason(line.get("body").unwrap_or(&Value::Null)),
            ]
            .into_iter()
            .chain(&row),
        )?;
        Ok(false)
    }
}

/// Returns the descriptions of an error object of the server on one line, with invisible characters
/// shown by name.
fn reason(body: &Value) -> String {
    let errors = body
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(_, error)| error.get("resource_status")?.as_array());
    let lists = errors
        .flatten()
        .flat_map(|status| [status.get("error_descriptions"), status.get("errors")]);
    let texts = lists
        .filter_map(|list| list?.as_array())
        .flatten()
        .filter_map(|error| error.get("description")?.as_str());
    visible(&texts.collect::<Vec<_>>().join(" ")).replace(['\n', '\t'], " ")
}

/// Returns a progress bar on the terminal, which is hidden if there is no terminal.
fn progress_bar(file: &Path) -> io::Result<ProgressBar> {
    if !io::stderr().is_terminal() {
        return Ok(ProgressBar::hidden());
    }
    let bar = ProgressBar::new(std::fs::metadata(file)?.len());
    let style =
        ProgressStyle::with_template("  importing    [{bar:32}] {percent} %, {msg}, {eta} left");
    let bar = match style {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    };
    bar.enable_steady_tick(Duration::from_millis(200));
    Ok(bar)
}
