//! The commands about keys and backups, which can run at the same time as a server, and `compact`,
//! which cannot.

use std::fmt::Write as _;
use std::path::Path;

use svc_core::Tenant;
use svc_core::auth::{Caller, Right, Rights};
use svc_core::context::Context;
use svc_core::link::RecordAddress;
use svc_core::model::Kind;
use svc_core::value::{Id, Timestamp};
use svc_sqlite::{SqliteOptions, SqliteStore};
use svc_store::keys::{KeyError, KeyInfo, KeyOptions, KeyWebhooks, Revocation};

use super::cli::KeyAction;
use super::data_errors::about_file;
use super::database::{DemoStore, open_beside};
use super::load::SeedLoad;
use super::location::DataLocation;
use super::run::say;
use super::startup_error::StartupError;

/// Creates, lists or revokes keys of the data at a location.
///
/// # Errors
///
/// Returns an error if there is no such data, tenant, person, right or key, or if the data cannot
/// be used.
pub(super) async fn manage(location: &DataLocation, action: KeyAction) -> Result<(), StartupError> {
    let store = DemoStore::beside(location).await?;
    match action {
        KeyAction::Create {
            tenant,
            label,
            read_only,
            rights,
            person,
            expires,
        } => {
            store.require_tenant(&tenant).await?;
            let mut options = KeyOptions::new(label);
            if read_only {
                options = options.read_only();
            }
            if !rights.is_empty() {
                options = options.rights(
                    rights
                        .iter()
                        .map(|text| right(text))
                        .collect::<Result<Vec<_>, _>>()?,
                );
            }
            if let Some(expires) = &expires {
                options = options.expires_at(instant(expires)?);
            }
            if let Some(person) = bound(&store, &tenant, person.as_deref()).await? {
                options = options.person(person);
            }
            create(&store, &tenant, options).await
        }
        KeyAction::List => list(&store).await,
        KeyAction::Revoke { id, keep_webhooks } => {
            let webhooks = if keep_webhooks {
                KeyWebhooks::Keep
            } else {
                KeyWebhooks::Disable
            };
            revoke(location, &store, &id, webhooks).await
        }
    }
}

/// Copies the data file, also while a server uses it.
///
/// # Errors
///
/// Returns an error if the data is in a database, the data file does not exist, the target file
/// exists, or one of the files cannot be used.
pub(super) async fn backup(location: &DataLocation, to: &Path) -> Result<(), StartupError> {
    let path = match location {
        DataLocation::File(path) => path,
        DataLocation::Server(server) => return Err(server.no_backup()),
    };
    let store = open_beside(path)?;
    store.backup(to).await.map_err(|error| about_file(&error))?;
    say(&format!("Copied {} to {}.\n", path.display(), to.display()));
    Ok(())
}

/// Rewrites the data file, so that no deleted data remains in it.
///
/// # Errors
///
/// Returns an error if the data is in a database, the file does not exist or cannot be written, or
/// a server uses it.
///
/// Requirements: UND-26.
pub(super) async fn compact(location: &DataLocation) -> Result<(), StartupError> {
    let path = match location {
        DataLocation::File(path) => path,
        DataLocation::Server(server) => return Err(server.no_compact()),
    };
    let failed = |error| about_file(&error);
    // Opening it for a server would create a missing file. `open_beside` does not, and reads the
    // share names of the file.
    let names = open_beside(path)?.share_names().clone();
    let store = SqliteStore::open(SqliteOptions::new(path).share_names(names)).map_err(failed)?;
    let size = || std::fs::metadata(store.path()).map_or(0, |file| file.len() / 1024);
    let before = size();
    store.compact().await.map_err(failed)?;
    say(&format!(
        "Compacted {} from {before} KiB to {} KiB.\n",
        path.display(),
        size()
    ));
    Ok(())
}

fn right(text: &str) -> Result<Right, StartupError> {
    text.parse().map_err(|_| {
        StartupError::new(
            format!("There is no right `{}`.", text.escape_debug()),
            format!("--right {}", text.escape_debug()),
            "Use a collection and an operation (list, read, create, update or delete), such as people.create, or a helper, such \
             as helper.record_signature.",
        )
    })
}

fn instant(text: &str) -> Result<Timestamp, StartupError> {
    Timestamp::parse(text).ok_or_else(|| {
        StartupError::new(
            format!("`{}` is not a date and time.", text.escape_debug()),
            format!("--expires {}", text.escape_debug()),
            "Use a date and time in UTC, such as 2030-01-31T12:00:00Z.",
        )
    })
}

/// Returns the person of a new key: the one of the arguments, who must exist, or the person of the
/// keys of the demo.
async fn bound(
    store: &DemoStore,
    tenant: &str,
    asked: Option<&str>,
) -> Result<Option<Id>, StartupError> {
    let trouble = |error| store.trouble(&error);
    let Some(asked) = asked else {
        return SeedLoad::owner(store, tenant).await.map_err(trouble);
    };
    let unknown = || {
        StartupError::new(
            format!(
                "The tenant `{tenant}` has no person `{}`.",
                asked.escape_debug()
            ),
            format!("--tenant {tenant} --person {}", asked.escape_debug()),
            "Use the id of a person, which is the last part of its URL, or omit --person.",
        )
    };
    let id = Id::new(asked).ok_or_else(unknown)?;
    let cx = Context::new(
        Tenant::new(tenant),
        Caller::with_rights(Rights::all()),
        Timestamp::now(),
    );
    let address = RecordAddress::without_parent(Kind::Person, id.clone());
    let person = store.get(&cx, &address).await.map_err(trouble)?;
    person.map(|_| Some(id)).ok_or_else(unknown)
}

async fn create(store: &DemoStore, tenant: &str, options: KeyOptions) -> Result<(), StartupError> {
    let key = store
        .create_key(&Tenant::new(tenant), options)
        .await
        .map_err(|error| match error {
            KeyError::Storage(error) => store.trouble(&error),
            other => {
                let remedy = "Run `svc-demo keys list` to see the tenants that have keys.";
                StartupError::new(
                    format!("The key cannot be created: {other}."),
                    format!("--tenant {tenant}"),
                    remedy,
                )
            }
        })?;
    say(&format!(
        "Created key {} for the tenant {tenant}. Save it, because it cannot be shown again:\n{}\n",
        key.id, key.token
    ));
    Ok(())
}

async fn list(store: &DemoStore) -> Result<(), StartupError> {
    let keys = store
        .list_keys()
        .await
        .map_err(|error| store.trouble(&error))?;
    let now = Timestamp::now();
    let mut text = row(["id", "tenant", "ends with", "rights", "state", "label"]);
    for key in &keys {
        text.push_str(&row([
            &key.id,
            key.tenant.as_str(),
            &key.hint,
            &rights(key),
            &state(key, now),
            &key.label,
        ]));
    }
    say(&text);
    Ok(())
}

fn row(cells: [&str; 6]) -> String {
    let [id, tenant, hint, rights, state, label] =
        cells.map(|cell| cell.replace(['\n', '\t'], " "));
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "{id:<16}  {tenant:<12}  {hint:<9}  {rights:<24}  {state:<32}  {label}"
    );
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn rights(key: &KeyInfo) -> String {
    let mut text = match &key.rights {
        None => "all".to_owned(),
        Some(rights) => rights
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(","),
    };
    if key.read_only {
        text.push_str(", read-only");
    }
    text
}

fn state(key: &KeyInfo, now: Timestamp) -> String {
    match (key.revoked, key.expires) {
        (Some(revoked), _) => format!("revoked {revoked}"),
        (None, Some(expires)) if expires <= now => format!("expired {expires}"),
        (None, Some(expires)) => format!("active until {expires}"),
        (None, None) => "active".to_owned(),
    }
}

async fn revoke(
    location: &DataLocation,
    store: &DemoStore,
    id: &str,
    webhooks: KeyWebhooks,
) -> Result<(), StartupError> {
    let revocation = store
        .revoke_key(id, webhooks)
        .await
        .map_err(|error| store.trouble(&error))?;
    let Revocation {
        was_in_force,
        disabled_webhooks,
    } = revocation;
    if !was_in_force && disabled_webhooks == 0 {
        return Err(StartupError::new(
            format!(
                "There is no active key with the id `{}`.",
                id.escape_debug()
            ),
            format!("keys revoke {}", id.escape_debug()),
            "Run `svc-demo keys list` to see the ids.",
        ));
    }
    forget(location, id);
    let webhooks = match disabled_webhooks {
        0 => String::new(),
        1 => " 1 webhook of the key is now disabled.".to_owned(),
        count => format!(" {count} webhooks of the key are now disabled."),
    };
    say(&format!("Revoked key {id}.{webhooks}\n"));
    Ok(())
}

/// Removes a revoked key from the keys that the demo shows. If this fails, the next start does it.
fn forget(location: &DataLocation, id: &str) {
    let Ok(file) = location.keys_file() else {
        return;
    };
    if let Ok(mut keys) = file.read() {
        let before = keys.len();
        keys.retain(|key| key.id != id);
        if keys.len() < before {
            let _ = file.write(&keys);
        }
    }
}
