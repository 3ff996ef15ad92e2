//! Runs the program, from its command line to its end.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use svc_core::error::Error;
use svc_declaration::visible;
use svc_tower::BodyBudget;
use svc_tower::server::Server;
use svc_tower::webhooks::WebhookSender;
use tokio::runtime::Runtime;
use tracing_subscriber::filter::LevelFilter;

use super::access_log::AccessLog;
use super::address::ListenAddress;
use super::banner::Banner;
use super::check as data_check;
use super::cli::{Cli, Command, ExportCommand, ServerArgs};
use super::commands;
use super::copy;
use super::data::Data;
use super::database::DemoStore;
use super::delivery::LogOnlyDelivery;
use super::export::export;
use super::import;
use super::import_page::{ImportPage, ImportPageService};
use super::load::SeedLoad;
use super::load_gate::LoadGate;
use super::location::{self, DataLocation};
use super::monitor::{Monitor, MonitoredService};
use super::records;
use super::service::{also_withheld, check, dialect, service};
use super::settings::ServerSettings;
use super::shutdown::ShutdownFlag;
use super::startup_error::StartupError;
use super::top;
use super::webhooks;

/// Time for which a request waits for the data of a new file before it gets 503.
const LOAD_PATIENCE: Duration = Duration::from_secs(10);

/// Executes the command line. Prints an error to standard error if it fails.
#[must_use]
pub fn main() -> ExitCode {
    // Warnings and errors only: each request already has its line. At lower levels, the client of
    // PostgreSQL logs the values of statements (as records of `log`, which this program does not
    // collect).
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::WARN)
        .with_writer(io::stderr)
        .init();
    let cli = Cli::parse();
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            let what = format!("The server cannot start threads: {error}.");
            eprintln!(
                "error: {}",
                StartupError::new(
                    what,
                    "the operating system",
                    "Raise the limit of threads for this user, then start again."
                )
            );
            return ExitCode::FAILURE;
        }
    };
    // The runtime ends after blocking work has ended; the error is printed before.
    match runtime.block_on(run(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            eprintln!("error: {trouble}");
            ExitCode::FAILURE
        }
    }
}

/// Executes the command line. A server runs until the order to stop.
async fn run(cli: Cli) -> Result<(), StartupError> {
    let options = &cli.options;
    match cli.command {
        None => run_server(options).await,
        Some(Command::Keys { action }) => {
            commands::manage(&DataLocation::of(options)?, action).await
        }
        Some(Command::Hooks { tenant, action }) => webhooks::manage(options, &tenant, action).await,
        Some(Command::Backup { to }) => commands::backup(&DataLocation::of(options)?, &to).await,
        Some(Command::Check) => data_check::run(&DataLocation::of(options)?),
        Some(Command::Compact) => commands::compact(&DataLocation::of(options)?).await,
        Some(Command::Copy { from, to }) => {
            copy::run(&from, &location::SchemaLocation::of("--to", &to, options)?).await
        }
        Some(Command::Import(import)) => import::run(&import).await,
        Some(Command::Top {
            address,
            every,
            times,
        }) => top::top(&address, Duration::from_secs_f64(every), times).await,
        Some(Command::Export { what }) => match what {
            ExportCommand::Document(document) => export(options, &document).await,
            ExportCommand::Records(kind, records) => records::run(kind, &records).await,
        },
    }
}

/// Serves until the order to stop.
async fn run_server(options: &ServerArgs) -> Result<(), StartupError> {
    let settings = ServerSettings::check(options)?;
    check(&settings).await?;
    let stop = ShutdownFlag::listen().map_err(|error| {
        let what = format!("The server cannot handle signals: {error}.");
        StartupError::new(
            what,
            "the operating system",
            "Start the server in an environment that allows handlers for SIGINT and SIGTERM.",
        )
    })?;
    // The port is opened first: no data is created or deleted for a server that cannot listen.
    let address = ListenAddress::open(&settings).await?;
    let location = DataLocation::of(options)?;
    let Data {
        store,
        keys,
        keys_file,
        mut notes,
        loads,
    } = Data::open(&location, &settings).await?;
    notes.extend(address.notes);
    let also = also_withheld(&settings);
    if !also.is_empty() {
        notes.push(format!(
            "--without-capability also disables capabilities that depend on it: {}",
            also.join(", ")
        ));
    }
    let key_header = dialect(&store, &settings)?.key_header().clone();
    let (log, writer) = AccessLog::to(io::stdout(), key_header);
    let budget = BodyBudget::new(settings.body_budget);
    let service = service(
        &store,
        &settings,
        &address.base_url,
        LogOnlyDelivery::by(log.teller()),
    )?
    .body_budget(budget.clone());
    let deliveries = service.delivery_worker();
    let page = address.listener.local_addr().ok();
    let page = page.and_then(|here| ImportPage::of(service.api(), &store, here));
    let (service, monitor) = Monitor::of(service, &store, budget, settings.metrics)?;
    let dialect = service.api().dialect().clone();
    let banner = Banner {
        base_url: service.api().base_url().as_str(),
        key_header: &dialect.key_header_text(),
        data: &location.to_string(),
        keys_file: keys_file.path(),
        keys: &keys,
        settings: &settings,
        notes: &notes,
    };
    say(&banner.to_string());
    let (gate, opener) = LoadGate::closed();
    let loading = tokio::spawn({
        let (store, stop) = (store.clone(), stop.clone());
        async move {
            if load(&store, loads, &stop).await? {
                opener.open();
            }
            Ok::<_, Error>(())
        }
    });
    let is_alone = matches!(store, DemoStore::File(_));
    let sender = WebhookSender::new(service.api()).map(|sender| sender.exclusive(is_alone));
    let sending = tokio::spawn({
        let stop = stop.clone();
        async move {
            if let Some(sender) = sender {
                sender.run_until(async move { stop.wait().await }).await;
            }
        }
    });
    let (given, failed) = tokio::sync::oneshot::channel();
    let watched = tokio::spawn(async move {
        let outcome = loading
            .await
            .unwrap_or_else(|panic| Err(Error::unexpected(panic.to_string())));
        if outcome.is_err() {
            // It fails only if the server has already ended.
            let _ = given.send(());
        }
        outcome
    });
    let stopped = async {
        tokio::select! {
            () = stop.clone().wait() => {}
            Ok(()) = failed => {}
        }
    };
    let delivering = deliveries.map(|deliveries| tokio::spawn(deliveries.run()));
    if let Some(page) = page.clone() {
        let stop = stop.clone();
        tokio::spawn(async move {
            stop.wait().await;
            page.stop();
        });
    }
    let service = MonitoredService::new(gate.before(service, LOAD_PATIENCE), monitor);
    let service = log.before(ImportPageService::new(service, page));
    Server::new(service)
        .trusted_proxies(settings.trusted_proxies)
        .serve_until(address.listener, stopped)
        .await;
    if let Some(delivering) = delivering {
        // Its unfinished work is repeated when the demo starts again.
        delivering.abort();
    }
    // It ends by itself: it also received the order to stop. If an earlier step has failed, nothing
    // waits for it.
    if stop.is_given() {
        _ = sending.await;
    }
    writer.finish();
    match watched.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(store.trouble(&error)),
        Err(panic) => Err(store.trouble(&Error::unexpected(panic.to_string()))),
    }
}

/// Loads missing data with a progress bar. Returns whether all data is loaded.
async fn load(store: &DemoStore, loads: Vec<SeedLoad>, stop: &ShutdownFlag) -> Result<bool, Error> {
    let begun = Instant::now();
    let mut records = 0;
    let mut people = 0;
    for load in loads {
        let (tenant, all) = (load.tenant().clone(), load.people());
        let bar = progress_bar(all, tenant.as_str());
        let mut last = None;
        let complete = load
            .run(store, |progress| {
                bar.set_position(progress.people.into());
                last = Some(progress);
                !stop.is_given()
            })
            .await;
        bar.finish_and_clear();
        if !complete? {
            return Ok(false);
        }
        records += last.map_or(0, |last| last.records);
        people += last.map_or(0, |last| last.people);
    }
    if records > 0 {
        let seconds = begun.elapsed().as_secs_f64();
        say(&format!(
            "  loaded       {people} people, {records} records in {seconds:.1} s\n\n"
        ));
    }
    Ok(true)
}

/// Returns a progress bar on the terminal, which is hidden if there is no terminal.
fn progress_bar(people: u32, tenant: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(people.into()).with_message(tenant.to_owned());
    let style = ProgressStyle::with_template(
        "  loading      [{bar:32}] {pos} of {len} people, tenant {msg}, {eta} left",
    );
    let bar = match style {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    };
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Prints text to standard output, with invisible characters shown by name.
pub(super) fn say(text: &str) {
    write(&visible(text));
}

/// Prints a document or terminal control codes to standard output unchanged. A closed pipe is not
/// an error.
pub(super) fn write(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
