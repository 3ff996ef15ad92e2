//! The data of the demo: opens it, and determines its tenants, its keys, and the data that is still
//! to be loaded.

use std::collections::HashSet;

use svc_core::Tenant;
use svc_core::error::Error;
use svc_core::link::ShareNames;
use svc_store::keys::{KeyError, KeyOptions};

use super::data_errors::sentence;
use super::database::DemoStore;
use super::load::SeedLoad;
use super::location::DataLocation;
use super::paths::{KeysFile, ShownKey, refuse_emptied};
use super::settings::{FixedKey, ServerSettings};
use super::startup_error::StartupError;

/// The tenant if no other tenant is set.
const TENANT: &str = "demo";

/// Maximum number of people in a tenant, except for the first tenant of a new file.
const OTHER_PEOPLE: u32 = 100;

/// The opened data.
#[derive(Debug)]
pub struct Data {
    /// The store.
    pub store: DemoStore,
    /// The keys to show, which the demo created.
    pub keys: Vec<ShownKey>,
    /// The file that stores these keys in plain text.
    pub keys_file: KeysFile,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The data that is still to be loaded.
    pub loads: Vec<SeedLoad>,
}

impl Data {
    /// Opens the data at a location, or creates it. Creates the tenants and keys of the settings.
    ///
    /// # Errors
    ///
    /// Returns an error if the data cannot be used or a key cannot be created.
    pub async fn open(
        location: &DataLocation,
        settings: &ServerSettings,
    ) -> Result<Self, StartupError> {
        let keys_file = location.keys_file()?;
        if settings.fresh {
            location.remove().await?;
            keys_file
                .remove()
                .map_err(|error| about_keys_file(&keys_file, &error))?;
        }
        if let DataLocation::File(path) = location {
            refuse_emptied(path)?;
        }
        let mut notes = location.notes();
        let store = DemoStore::open(location, asked_names(settings), &mut notes).await?;
        let mut data = Self {
            store,
            keys: Vec::new(),
            keys_file,
            notes,
            loads: Vec::new(),
        };
        data.plan_loads(settings, location.noun())
            .await
            .map_err(|error| data.store.trouble(&error))?;
        data.give_keys(settings).await?;
        Ok(data)
    }

    /// Creates missing tenants, and determines the data that is to be loaded.
    async fn plan_loads(&mut self, settings: &ServerSettings, noun: &str) -> Result<(), Error> {
        let known = self.store.tenants().await?;
        let is_new = known.is_empty();
        let mut names: Vec<&str> = known.iter().map(Tenant::as_str).collect();
        for key in &settings.keys {
            if !names.contains(&&*key.tenant) {
                names.push(&key.tenant);
            }
        }
        if names.is_empty() {
            names.push(TENANT);
        }
        for (number, name) in names.iter().enumerate() {
            let most = if is_new && number == 0 {
                u32::MAX
            } else {
                OTHER_PEOPLE
            };
            let load = if known.iter().any(|tenant| tenant.as_str() == *name) {
                SeedLoad::resume(&self.store, name).await?
            } else {
                Some(SeedLoad::begin(&self.store, name, settings.people.min(most)).await?)
            };
            self.loads.extend(load);
        }
        if !is_new && self.loads.is_empty() && settings.people_asked {
            self.notes.push(format!(
                "--seed-people applies to a new {noun} only and was ignored; use --reset to create a new {noun}"
            ));
        }
        Ok(())
    }

    /// Creates missing keys, and lists the keys to show.
    async fn give_keys(&mut self, settings: &ServerSettings) -> Result<(), StartupError> {
        let kept = self
            .keys_file
            .read()
            .map_err(|error| about_keys_file(&self.keys_file, &error))?;
        let in_force = self
            .store
            .list_keys()
            .await
            .map_err(|error| self.store.trouble(&error))?;
        let in_force: HashSet<_> = in_force
            .into_iter()
            .filter(|key| key.revoked.is_none())
            .map(|key| key.id)
            .collect();
        // Earlier versions also stored keys of the command line.
        let is_shown =
            |key: &&ShownKey| in_force.contains(&key.id) && key.token.starts_with("svck_");
        self.keys = kept.iter().filter(is_shown).cloned().collect();
        for key in &settings.keys {
            self.add_given(key).await?;
        }
        let is_new = self
            .loads
            .iter()
            .any(|load| load.tenant().as_str() == TENANT);
        if is_new && settings.keys.is_empty() && self.keys.is_empty() {
            self.make_key(false).await?;
            self.make_key(true).await?;
        }
        if self.keys.is_empty() && settings.keys.is_empty() {
            self.notes
                .push("there is no key to show; create one with `svc-demo keys create`".to_owned());
        }
        if self.keys != kept {
            self.keys_file
                .write(&self.keys)
                .map_err(|error| about_keys_file(&self.keys_file, &error))?;
        }
        Ok(())
    }

    /// Adds a key of the command line. It is neither shown nor stored in the keys file.
    async fn add_given(&mut self, given: &FixedKey) -> Result<(), StartupError> {
        let FixedKey {
            tenant,
            token,
            read_only,
        } = given;
        let about = |error: KeyError| about_key(tenant, *read_only, &self.store, &error);
        let options = self
            .options(tenant, *read_only)
            .await
            .map_err(|error| about(error.into()))?;
        let key = self
            .store
            .add_key_with_token(&Tenant::new(&**tenant), token, options)
            .await
            .map_err(about)?;
        if key.read_only != *read_only {
            self.notes.push(format!(
                "the key of tenant {tenant} that ends with {} exists already and keeps its rights",
                key.hint
            ));
        }
        Ok(())
    }

    /// Creates a key of the tenant of the demo, which is shown and stored in the keys file.
    async fn make_key(&mut self, read_only: bool) -> Result<(), StartupError> {
        let about = |error: KeyError| about_key(TENANT, read_only, &self.store, &error);
        let options = self
            .options(TENANT, read_only)
            .await
            .map_err(|error| about(error.into()))?;
        let key = self
            .store
            .create_key(&Tenant::new(TENANT), options)
            .await
            .map_err(about)?;
        self.keys.push(ShownKey {
            id: key.id,
            tenant: TENANT.to_owned(),
            read_only,
            token: key.token,
        });
        Ok(())
    }

    /// Returns the options of a key of a tenant. The key belongs to the first person of the tenant.
    async fn options(&self, tenant: &str, read_only: bool) -> Result<KeyOptions, Error> {
        let options = KeyOptions::new("added at server start");
        let options = if read_only {
            options.read_only()
        } else {
            options
        };
        Ok(match SeedLoad::owner(&self.store, tenant).await? {
            Some(owner) => options.person(owner),
            None => options,
        })
    }
}

/// Returns the share names of the settings.
pub(super) fn asked_names(settings: &ServerSettings) -> Option<ShareNames> {
    settings
        .share_names
        .as_ref()
        .and_then(|(a, b)| ShareNames::new(a, b))
}

fn about_key(tenant: &str, read_only: bool, store: &DemoStore, error: &KeyError) -> StartupError {
    match error {
        KeyError::Storage(error) => store.trouble(error),
        error => {
            let option = if read_only { "--read-key" } else { "--key" };
            let remedy = "Use another token, or omit the option.";
            StartupError::new(
                sentence(&error.to_string()),
                format!("{option} {tenant}=..."),
                remedy,
            )
        }
    }
}

fn about_keys_file(file: &KeysFile, error: &std::io::Error) -> StartupError {
    StartupError::new(
        format!("The keys file cannot be used: {error}."),
        file.path().display().to_string(),
        "Check that you have read and write permission for the file and its folder, or choose another data file with --data.",
    )
}
