//! The data file of the demo: opened, with its tenants and keys, and what is still to be loaded into it.

use std::collections::HashSet;
use std::path::Path;

use svc_core::Tenant;
use svc_core::error::{Error, ErrorKind};
use svc_core::link::ShareNames;
use svc_sqlite::{FileError, KeyError, KeyOptions, Options, Store, remove_data_file};

use super::load::Load;
use super::places::{KeysFile, ShownKey};
use super::settings::{FixedKey, Settings};
use super::trouble::Trouble;

/// The tenant of a demo that was not told one.
const TENANT: &str = "demo";

/// The most people in a tenant that is not the first one of a new file.
const OTHER_PEOPLE: u32 = 100;

/// An open data file.
#[derive(Debug)]
pub struct Data {
    /// The store.
    pub store: Store,
    /// The keys to show: those that the demo has made.
    pub keys: Vec<ShownKey>,
    /// Where they are kept readable.
    pub keys_file: KeysFile,
    /// What to tell the user.
    pub notes: Vec<String>,
    /// What is still to be loaded.
    pub loads: Vec<Load>,
}

impl Data {
    /// Opens the file at `path`, made when there is none, and gives it the tenants and keys that were asked for.
    ///
    /// # Errors
    ///
    /// The file cannot be used, or a key cannot be given.
    pub async fn open(path: &Path, settings: &Settings) -> Result<Self, Trouble> {
        let keys_file = KeysFile::beside(path);
        if settings.fresh {
            remove_data_file(path).map_err(|error| about_file(&error))?;
            keys_file.remove().map_err(|error| about_keys_file(&keys_file, &error))?;
        }
        let mut notes = Vec::new();
        let store = open_store(path, settings, &mut notes)?;
        let mut data = Self { store, keys: Vec::new(), keys_file, notes, loads: Vec::new() };
        data.plan_loads(settings).await.map_err(|error| about_store(path, &error))?;
        data.give_keys(settings).await?;
        Ok(data)
    }

    /// Makes the tenants that are missing, and finds out what is to be loaded.
    async fn plan_loads(&mut self, settings: &Settings) -> Result<(), Error> {
        let known = self.store.tenants()?;
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
            let most = if is_new && number == 0 { u32::MAX } else { OTHER_PEOPLE };
            let load = if known.iter().any(|tenant| tenant.as_str() == *name) {
                Load::resume(&self.store, name)?
            } else {
                Some(Load::begin(&self.store, name, settings.people.min(most)).await?)
            };
            self.loads.extend(load);
        }
        if !is_new && self.loads.is_empty() && settings.people_asked {
            let note = "--people is for new files only and was ignored; --fresh makes a new file";
            self.notes.push(note.to_owned());
        }
        Ok(())
    }

    /// Gives the keys that are missing, and lists those to show.
    async fn give_keys(&mut self, settings: &Settings) -> Result<(), Trouble> {
        let kept = self.keys_file.read().map_err(|error| about_keys_file(&self.keys_file, &error))?;
        let in_force = self.store.list_keys(None).map_err(|error| about_store(self.store.path(), &error))?;
        let in_force: HashSet<_> = in_force.into_iter().filter(|key| key.revoked.is_none()).map(|key| key.id).collect();
        // Earlier versions kept the keys that they were given, too.
        let is_shown = |key: &&ShownKey| in_force.contains(&key.id) && key.token.starts_with("svck_");
        self.keys = kept.iter().filter(is_shown).cloned().collect();
        for key in &settings.keys {
            self.add_given(key).await?;
        }
        let is_new = self.loads.iter().any(|load| load.tenant().as_str() == TENANT);
        if is_new && settings.keys.is_empty() && self.keys.is_empty() {
            self.make_key(false).await?;
            self.make_key(true).await?;
        }
        if self.keys.is_empty() && settings.keys.is_empty() {
            self.notes.push("no key is at hand: make one with `svc-demo keys create`".to_owned());
        }
        if self.keys != kept {
            self.keys_file.write(&self.keys).map_err(|error| about_keys_file(&self.keys_file, &error))?;
        }
        Ok(())
    }

    /// Adds a key that was given; it is neither shown nor kept.
    async fn add_given(&mut self, given: &FixedKey) -> Result<(), Trouble> {
        let FixedKey { tenant, token, read_only } = given;
        let about = |error: KeyError| about_key(tenant, *read_only, self.store.path(), &error);
        let options = self.options(tenant, *read_only).map_err(|error| about(error.into()))?;
        let key = self.store.add_key_with_token(&Tenant::new(&**tenant), token, options).await.map_err(about)?;
        if key.read_only != *read_only {
            self.notes.push(format!("the key of {tenant} that ends with {} keeps the rights it has", key.hint));
        }
        Ok(())
    }

    /// Makes a key of the demo's own tenant, which is shown and kept.
    async fn make_key(&mut self, read_only: bool) -> Result<(), Trouble> {
        let about = |error: KeyError| about_key(TENANT, read_only, self.store.path(), &error);
        let options = self.options(TENANT, read_only).map_err(|error| about(error.into()))?;
        let key = self.store.create_key(&Tenant::new(TENANT), options).await.map_err(about)?;
        self.keys.push(ShownKey { id: key.id, tenant: TENANT.to_owned(), read_only, token: key.token });
        Ok(())
    }

    /// What a key of a tenant may do; it is bound to the tenant's first person.
    fn options(&self, tenant: &str, read_only: bool) -> Result<KeyOptions, Error> {
        let options = KeyOptions::new("of the demo");
        let options = if read_only { options.read_only() } else { options };
        Ok(match Load::owner(&self.store, tenant)? {
            Some(owner) => options.person(owner),
            None => options,
        })
    }
}

/// Opens the store; the share names of a file are fixed, so others that are asked for are ignored and noted.
pub(super) fn open_store(path: &Path, settings: &Settings, notes: &mut Vec<String>) -> Result<Store, Trouble> {
    let asked = settings.share_names.as_ref().and_then(|(a, b)| ShareNames::new(a, b));
    let options = |names: ShareNames| Options::new(path).share_names(names);
    match Store::open(options(asked.clone().unwrap_or_default())) {
        Err(FileError::ShareNames { stored, .. }) => {
            if asked.is_some() {
                let names = format!("{},{}", stored.network_a(), stored.network_b());
                let note =
                    format!("--share-names is for new files only and was ignored; those of this file are {names}");
                notes.push(note);
            }
            Store::open(options(stored)).map_err(|error| about_file(&error))
        }
        other => other.map_err(|error| about_file(&error)),
    }
}

/// A data file that cannot be used.
pub(super) fn about_file(error: &FileError) -> Trouble {
    let text = error.to_string();
    // The text is "file: what" or "file: what; what to do".
    let (place, said) = text.split_once(": ").unwrap_or(("the data file", &text));
    match said.split_once("; ") {
        Some((what, remedy)) => Trouble::new(sentence(what), place, sentence(remedy)),
        None => Trouble::new(
            sentence(said),
            place,
            "See that its folder exists and that you may read and write both, or name another file with --data.",
        ),
    }
}

/// A data file that is open and cannot be read or written.
pub(super) fn about_store(path: &Path, error: &Error) -> Trouble {
    Trouble::new(
        format!("The data file cannot be read or written: {}.", said(error)),
        path.display().to_string(),
        "See that the disk has room and that no other program holds the file, then start again.",
    )
}

/// What an error of the store says, for the person who runs it.
fn said(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Unavailable { .. } => "it is in use, or the disk is full".to_owned(),
        ErrorKind::Invalid(problems) => {
            let all: Vec<_> = problems.iter().map(svc_core::Problem::description).collect();
            all.join("; ")
        }
        _ => format!("{error:#}"),
    }
}

fn about_key(tenant: &str, read_only: bool, path: &Path, error: &KeyError) -> Trouble {
    match error {
        KeyError::Storage(error) => about_store(path, error),
        error => {
            let option = if read_only { "--read-key" } else { "--key" };
            let remedy = "Give another token, or leave the option out.";
            Trouble::new(sentence(&error.to_string()), format!("{option} {tenant}=..."), remedy)
        }
    }
}

fn about_keys_file(file: &KeysFile, error: &std::io::Error) -> Trouble {
    Trouble::new(
        format!("The file that keeps the demo's keys cannot be used: {error}."),
        file.path().display().to_string(),
        "See that you may read and write it and its folder, or name another data file with --data.",
    )
}

/// With a capital at its beginning and a full stop at its end.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let text: String = first.to_uppercase().chain(letters).collect();
    if text.ends_with('.') { text } else { format!("{text}.") }
}
