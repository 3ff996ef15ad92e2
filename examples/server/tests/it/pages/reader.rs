//! A reader of the pages of a demo who sends their requests, with its own tenant and key.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};
use svc_core::{helper::HelperName, model::Kind};
use svc_docs::documents::ExampleRequest;
use tempfile::TempDir;

use crate::pages::parse::{Shown, requests};
use crate::support::{
    Answer, TestResult,
    client::{Client, link},
    docs::walk,
    program::Program,
};

/// Longer than usual, because its URLs are on every page.
pub(crate) const BASE: &str = "https://members.example.org/organisation/api/v1/";

/// A demo without people, a tenant for each reader, and the linked pages.
pub(crate) struct Site {
    program: Program,
    readers: usize,
    /// The pages by the last segment of their URL; the start page has an empty name.
    pages: BTreeMap<String, String>,
    _folder: TempDir,
}

impl Site {
    pub(crate) async fn open(style: &str, readers: usize) -> TestResult<Self> {
        let folder = tempfile::tempdir()?;
        let mut keys = String::new();
        for number in 0..readers {
            write!(
                keys,
                "{}reader-{number}={}",
                if number > 0 { "," } else { "" },
                key(number)
            )?;
        }
        let arguments = [
            "--seed-people",
            "0",
            "--base-url",
            BASE,
            "--response-style",
            style,
            "--key",
            &keys,
        ];
        let program = Program::demo(&folder.path().join("pages.db"), &arguments)?;
        let mut client = Client::connect(program.address()?, None).await?;
        let start = link(&client.get(path(BASE)?).await?, "docs")?;
        let server = BASE.split_once("/organisation").ok_or("no path")?.0;
        let pages = walk(&mut client, server, &start).await?.into_iter();
        let name = |path: String| {
            path.split_once("/docs/v1/")
                .map_or(String::new(), |(_, name)| name.to_owned())
        };
        Ok(Self {
            program,
            readers,
            pages: pages.map(|(path, page)| (name(path), page)).collect(),
            _folder: folder,
        })
    }

    pub(crate) fn pages(&self) -> &BTreeMap<String, String> {
        &self.pages
    }

    /// Returns the page with this name.
    pub(crate) fn page(&self, name: &str) -> TestResult<&str> {
        Ok(self
            .pages
            .get(name)
            .ok_or_else(|| format!("no page is called {name}"))?)
    }

    /// Returns the pages with requests.
    pub(crate) fn with_requests(&self) -> impl Iterator<Item = (&str, &str)> {
        let pages = self
            .pages
            .iter()
            .filter(|(_, page)| !requests(page).is_empty());
        pages.map(|(name, page)| (name.as_str(), page.as_str()))
    }
}

fn key(number: usize) -> String {
    format!("other-key-of-reader-{number}")
}

/// Returns the path of a URL on this server; there is no other server.
fn path(address: &str) -> TestResult<&str> {
    let Some((before, _)) = BASE.split_once("/organisation") else {
        return Err("no path".into());
    };
    let path = address.strip_prefix(before).unwrap_or(address);
    if path.starts_with("/organisation/api/v1/") {
        Ok(path)
    } else {
        Err(format!("elsewhere: {address}").into())
    }
}

pub(crate) struct Reader<'a> {
    site: &'a Site,
    keyed: Client,
    keyless: Client,
    /// The ids for placeholders such as `PERSON_ID`, once they are needed.
    ids: BTreeMap<String, String>,
}

impl<'a> Reader<'a> {
    pub(crate) async fn new(site: &'a Site, number: usize) -> TestResult<Self> {
        assert!(number < site.readers, "more pages than readers");
        let address = site.program.address()?;
        let keyed = Client::connect(address, Some(&key(number))).await?;
        Ok(Self {
            site,
            keyed,
            keyless: Client::connect(address, None).await?,
            ids: BTreeMap::new(),
        })
    }

    /// Sends a request of a page, with a key if it has one, and with ids instead of placeholders.
    pub(crate) async fn send(&mut self, shown: &Shown) -> TestResult<Answer> {
        let address = self.settled(&shown.address).await?;
        let body = match &shown.body {
            Some(body) => {
                self.provide(body).await?;
                Some(serde_json::from_str(
                    &self.settled(&body.to_string()).await?,
                )?)
            }
            None => None,
        };
        let client = match shown.key_header.as_deref() {
            Some("SVC-API-Token") => &mut self.keyed,
            Some(other) => return Err(format!("another header: {other}").into()),
            None => &mut self.keyless,
        };
        let answer = client
            .send(&shown.method, path(&address)?, body.as_ref())
            .await?;
        self.note(&shown.method, &address, &answer)?;
        Ok(answer)
    }

    /// A record that a page creates is used from then on.
    fn note(&mut self, method: &str, address: &str, answer: &Answer) -> TestResult {
        let kind = Kind::ALL
            .iter()
            .find(|kind| address.ends_with(&format!("/{}", kind.plural())));
        let word = match kind {
            Some(kind) => ExampleRequest::placeholder_id(*kind),
            None if address.ends_with("/webhooks") => ExampleRequest::WEBHOOK_ID.to_owned(),
            None => return Ok(()),
        };
        if method == "POST" && answer.status < 300 {
            let record = serde_json::from_slice(&answer.body)?;
            let id = link(&record, "self")?
                .rsplit('/')
                .next()
                .ok_or("no id")?
                .to_owned();
            self.ids.insert(word, id);
        }
        Ok(())
    }

    /// Returns the document at a URL, or at a path below the entry point.
    pub(crate) async fn read(&mut self, address: &str) -> TestResult<Value> {
        let address = if address.starts_with(BASE) {
            address.to_owned()
        } else {
            format!("{BASE}{address}")
        };
        self.keyed.get(path(&address)?).await
    }

    /// Reads a page.
    pub(crate) async fn read_page(&mut self, address: &str) -> TestResult {
        let answer = self.keyless.send("GET", path(address)?, None).await?;
        assert_eq!(answer.status, 200, "{address}");
        assert!(answer.text().starts_with("<!DOCTYPE html>"), "{address}");
        Ok(())
    }

    /// Returns the URL of a record of a kind, created as the pages describe.
    pub(crate) async fn address_of(&mut self, kind: Kind) -> TestResult<String> {
        let path = match kind.schema().path_parent {
            Some(home) => format!(
                "{}/{}/{}",
                home.plural(),
                ExampleRequest::placeholder_id(home),
                kind.plural()
            ),
            None => kind.plural().to_owned(),
        };
        self.settled(&format!(
            "{BASE}{path}/{}",
            ExampleRequest::placeholder_id(kind)
        ))
        .await
    }

    /// Returns the text with ids instead of placeholders. The requests of other pages create the
    /// records.
    async fn settled(&mut self, text: &str) -> TestResult<String> {
        let mut text = text.to_owned();
        for kind in Kind::ALL {
            let word = ExampleRequest::placeholder_id(*kind);
            // `TAG_ID` is not a part of another word.
            let stands = |text: &str| {
                text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .any(|it| it == word)
            };
            if !stands(&text) {
                continue;
            }
            if !self.ids.contains_key(&word) {
                let id = Box::pin(self.made(*kind)).await?;
                self.ids.insert(word.clone(), id);
            }
            text = text.replace(&format!("/{word}"), &format!("/{}", self.ids[&word]));
        }
        if text.contains(ExampleRequest::MERGED_PERSON_ID) {
            let word = ExampleRequest::MERGED_PERSON_ID;
            if !self.ids.contains_key(word) {
                let id = self.other_person().await?;
                self.ids.insert(word.to_owned(), id);
            }
            text = text.replace(word, &self.ids[word]);
        }
        if text.contains(ExampleRequest::MERGE_ID) {
            let person = text.split("/merges/").next().unwrap_or_default();
            text = self.undo_of_new_merge(person).await?;
        }
        // The page that shows it creates one first.
        let webhook = self.ids.get(ExampleRequest::WEBHOOK_ID);
        Ok(webhook.map_or(text.clone(), |id| {
            text.replace(ExampleRequest::WEBHOOK_ID, id)
        }))
    }

    /// Returns the id of a new person.
    async fn other_person(&mut self) -> TestResult<String> {
        let person = serde_json::json!({"given_name": "Grace"});
        let people = format!("{BASE}{}", Kind::Person.plural());
        let answer = self
            .keyed
            .send("POST", path(&people)?, Some(&person))
            .await?;
        assert!(answer.status < 300, "{}", answer.text());
        let own = link(&serde_json::from_slice(&answer.body)?, "self")?;
        Ok(own.rsplit('/').next().ok_or("no id")?.to_owned())
    }

    /// Merges a new person into a person, and returns the URL that undoes it.
    async fn undo_of_new_merge(&mut self, person: &str) -> TestResult<String> {
        let other = format!("{BASE}people/{}", self.other_person().await?);
        let body = json!({"_links": {"svc:person": {"href": other}}});
        let helper = format!("{person}/merge_helper");
        let answer = self.keyed.send("POST", path(&helper)?, Some(&body)).await?;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let merged: Value = serde_json::from_slice(&answer.body)?;
        link(&merged["ext:merge"], "ext:undo_merge_helper")
    }

    /// Returns the id of a new record, or of an existing stored query, because no request creates
    /// one.
    async fn made(&mut self, kind: Kind) -> TestResult<String> {
        let record = if kind == Kind::Query {
            self.keyed
                .walk(path(&format!("{BASE}queries"))?)
                .await?
                .into_iter()
                .next()
                .ok_or("no query")?
        } else {
            let name = if kind == Kind::Canvass {
                HelperName::RecordCanvass.relation()
            } else {
                kind.plural()
            };
            let shown = requests(self.site.page(name)?)
                .into_iter()
                .find(|shown| shown.method == "POST");
            let shown = shown.ok_or_else(|| format!("the page {name} creates nothing"))?;
            let answer = self.send(&shown).await?;
            assert_eq!(answer.status, shown.status, "{kind:?}: {}", answer.text());
            serde_json::from_slice(&answer.body)?
        };
        Ok(link(&record, "self")?
            .rsplit('/')
            .next()
            .ok_or("no id")?
            .to_owned())
    }

    /// Creates the tags and lists that a helper request names, as the page requires.
    async fn provide(&mut self, body: &Value) -> TestResult {
        for (function, collection) in [("add_tags", "tags"), ("add_lists", "lists")] {
            for name in body[function].as_array().into_iter().flatten() {
                let address = format!("{BASE}{collection}");
                let answer = self
                    .keyed
                    .send("POST", path(&address)?, Some(&json!({ "name": name })))
                    .await?;
                let is_there = answer.status == 400 && answer.text().contains("NAME_IN_USE");
                assert!(answer.status < 300 || is_there, "{}", answer.text());
            }
        }
        Ok(())
    }
}

/// Collects the prefixed relations of a document.
pub(crate) fn relations(document: &Value, found: &mut BTreeSet<String>) {
    match document {
        Value::Object(members) => {
            for (name, member) in members {
                if name == "_links" || name == "_embedded" {
                    let names = member
                        .as_object()
                        .into_iter()
                        .flatten()
                        .map(|(name, _)| name.clone());
                    found.extend(names.filter(|name| name.contains(':')));
                }
                relations(member, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| relations(item, found)),
        _ => {}
    }
}
