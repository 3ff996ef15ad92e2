//! The documents about the interface, printed without a server.

use svc_docs::documents::{capabilities, json_schema, json_schema_names, openapi};

use super::cli::{Document, Options};
use super::database::Database;
use super::deliver::Recorded;
use super::interface::service;
use super::run::write;
use super::scratch::Scratch;
use super::settings::Settings;
use super::trouble::Trouble;

/// What links begin with when `--base-url` is not given.
const BASE_URL: &str = "http://127.0.0.1:8080/api/v1/";

/// Prints a document of the interface that a server with the same options has.
///
/// # Errors
///
/// The options contradict each other, or nothing can be written to the folder of temporary files.
pub(super) async fn export(options: &Options, document: &Document) -> Result<(), Trouble> {
    if let Document::Schema { citus: true, .. } = document {
        write(&on_citus(options)?);
        return Ok(());
    }
    let settings = Settings::check(options)?;
    let scratch = Scratch::make()?;
    let text = written(&scratch.open(&settings).await?, &settings, document)?;
    write(&text);
    Ok(())
}

/// The statements that make the tables on a cluster; no server is asked.
fn on_citus(options: &Options) -> Result<String, Trouble> {
    let named = options.schema.as_deref().unwrap_or("svc");
    let tables =
        svc_postgres::Options::new("postgres://localhost").map(|options| options.schema(named));
    tables
        .and_then(|options| svc_postgres::Store::tables_on_citus(&options))
        .map_err(|error| {
            let place = format!("--schema {}", named.escape_debug());
            Trouble::new(
                format!("The SQL statements cannot be printed: {error}."),
                place,
                "Choose another schema, or omit --schema.",
            )
        })
}

fn written(store: &Database, settings: &Settings, document: &Document) -> Result<String, Trouble> {
    let base_url = settings.base_url.as_deref().unwrap_or(BASE_URL);
    let service = service(store, settings, base_url, Recorded::default())?;
    let api = service.api();
    let text = match document {
        Document::Openapi => format!("{:#}", openapi(api, api.base())),
        Document::Capabilities => serde_json::to_string_pretty(&capabilities(api, api.base()))
            .map_err(|error| {
                Trouble::new(
                    format!("The capability document cannot be printed: {error}."),
                    "export",
                    "Report this as a bug.",
                )
            })?,
        Document::Schema { name: None, .. } => json_schema_names(api).join("\n"),
        Document::Schema {
            name: Some(name), ..
        } => {
            let schema = json_schema(api, api.base(), name).ok_or_else(|| {
                let remedy = format!("Use one of {}.", json_schema_names(api).join(", "));
                Trouble::new(
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
