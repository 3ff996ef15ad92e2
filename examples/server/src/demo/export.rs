//! Prints the documents about the API, without a server.

use svc_docs::documents::{capabilities, json_schema, json_schema_names, openapi};

use super::cli::{ExportDocument, ServerArgs};
use super::database::DemoStore;
use super::delivery::LogOnlyDelivery;
use super::run::write;
use super::scratch::Scratch;
use super::service::service;
use super::settings::ServerSettings;
use super::startup_error::StartupError;

/// The base URL of links if `--base-url` is not given.
const BASE_URL: &str = "http://127.0.0.1:8080/api/v1/";

/// Prints a document of the API of a server with the same options.
///
/// # Errors
///
/// Returns an error if the options contradict each other, or the folder for temporary files is not
/// writable.
pub(super) async fn export(
    options: &ServerArgs,
    document: &ExportDocument,
) -> Result<(), StartupError> {
    if let ExportDocument::Schema { citus: true, .. } = document {
        write(&on_citus(options)?);
        return Ok(());
    }
    let settings = ServerSettings::check(options)?;
    let scratch = Scratch::make()?;
    let text = written(&scratch.open(&settings).await?, &settings, document)?;
    write(&text);
    Ok(())
}

/// Returns the statements that create the tables on a cluster. Does not connect to a server.
fn on_citus(options: &ServerArgs) -> Result<String, StartupError> {
    let named = options.schema.as_deref().unwrap_or("svc");
    let tables = svc_postgres::PostgresOptions::new("postgres://localhost")
        .map(|options| options.schema(named));
    tables
        .and_then(|options| svc_postgres::PostgresStore::citus_schema_sql(&options))
        .map_err(|error| {
            let place = format!("--schema {}", named.escape_debug());
            StartupError::new(
                format!("The SQL statements cannot be printed: {error}."),
                place,
                "Choose another schema, or omit --schema.",
            )
        })
}

fn written(
    store: &DemoStore,
    settings: &ServerSettings,
    document: &ExportDocument,
) -> Result<String, StartupError> {
    let base_url = settings.base_url.as_deref().unwrap_or(BASE_URL);
    let service = service(store, settings, base_url, LogOnlyDelivery::default())?;
    let api = service.api();
    let text = match document {
        ExportDocument::Openapi => format!("{:#}", openapi(api, api.base_url())),
        ExportDocument::Capabilities => {
            serde_json::to_string_pretty(&capabilities(api, api.base_url())).map_err(|error| {
                StartupError::new(
                    format!("The capability document cannot be printed: {error}."),
                    "export",
                    "Report this as a bug.",
                )
            })?
        }
        ExportDocument::Schema { name: None, .. } => json_schema_names(api).join("\n"),
        ExportDocument::Schema {
            name: Some(name), ..
        } => {
            let schema = json_schema(api, api.base_url(), name).ok_or_else(|| {
                let remedy = format!("Use one of {}.", json_schema_names(api).join(", "));
                StartupError::new(
                    format!(
                        "There is no JSON Schema with the name `{}`.",
                        name.escape_debug()
                    ),
                    format!("export schema {name}"),
                    remedy,
                )
            })?;
            format!("{schema:#}")
        }
    };
    Ok(text + "\n")
}
