//! Somebody who reads the pages and tries what they say, with a tenant and a key of their own.

use std::collections::{BTreeMap, BTreeSet};

use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use svc_core::{
    Api, Tenant, Vendor,
    api::ResponseStyle,
    draft::RawDraft,
    export::ExampleRequest,
    helper::HelperName,
    model::Kind,
    value::{Id, Timestamp},
};
use svc_sqlite::{KeyOptions, Options, SeedRow, Store};
use svc_tower::SvcService;
use tower::ServiceExt;

use crate::parse::{Shown, requests};

/// Longer than most, as its addresses stand on every page.
const BASE: &str = "https://members.example.org/organisation/api/v1/";

/// A service over a store in a folder of its own.
pub(crate) struct Site {
    service: SvcService,
    store: Store,
    _folder: tempfile::TempDir,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) json: Value,
    text: String,
}

impl Site {
    pub(crate) fn open(style: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(Options::new(folder.path().join("pages.db"))).unwrap();
        let style = if style == "table" { ResponseStyle::Table } else { ResponseStyle::Examples };
        let api = store.register_all(Api::builder(Vendor::new("Example", "Pages"))).base_url(BASE);
        let api = api.authenticator(store.clone()).anonymous_helpers(store.clone()).response_style(style);
        let service = SvcService::new(api.build().unwrap()).under("/organisation/api/v1");
        Self { service, store, _folder: folder }
    }

    pub(crate) fn api(&self) -> &Api {
        self.service.api()
    }

    /// The page of this name, the start page without one, as a browser gets it.
    pub(crate) async fn page(&self, name: &str) -> String {
        let path = if name.is_empty() { "docs/".to_owned() } else { format!("docs/v1/{name}") };
        let answer = self.call("GET", &format!("{BASE}{path}"), None, None).await;
        assert_eq!(answer.status, 200, "{name}");
        answer.text
    }

    /// What is at an address, or at a path below the entry point.
    pub(crate) async fn read(&self, address: &str, reader: &Reader<'_>) -> Answer {
        let address = if address.starts_with("http") { address.to_owned() } else { format!("{BASE}{address}") };
        self.call("GET", &address, Some(("SVC-API-Token", &reader.key)), None).await
    }

    async fn call(&self, method: &str, address: &str, key: Option<(&str, &str)>, body: Option<&Value>) -> Answer {
        let mut request = Request::builder().method(method).uri(address);
        if let Some((name, value)) = key {
            request = request.header(name, value);
        }
        let body = body.map_or(String::new(), |body| {
            request.headers_mut().unwrap().insert("content-type", "application/json".parse().unwrap());
            body.to_string()
        });
        let answer = self.service.clone().oneshot(request.body(Full::<bytes::Bytes>::from(body)).unwrap()).await;
        let (parts, body) = answer.unwrap_or_else(|never| match never {}).into_parts();
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        Answer { status: parts.status.as_u16(), json: serde_json::from_str(&text).unwrap_or_default(), text }
    }
}

pub(crate) struct Reader<'a> {
    site: &'a Site,
    tenant: Tenant,
    key: String,
    /// The id that each word such as `PERSON_ID` stands for, once it is needed.
    ids: BTreeMap<String, String>,
}

impl<'a> Reader<'a> {
    pub(crate) async fn new(site: &'a Site, name: &str) -> Self {
        let tenant = site.store.ensure_tenant(name).await.unwrap();
        let key = site.store.create_key(&tenant, KeyOptions::new("reader")).await.unwrap().token;
        Self { site, tenant, key, ids: BTreeMap::new() }
    }

    /// Sends a request as a page shows it: with a key where it has one, and ids in place of the words that stand for them.
    pub(crate) async fn send(&mut self, shown: &Shown) -> Answer {
        let address = self.settled(&shown.address).await;
        let body = match &shown.body {
            Some(body) => {
                self.provide(body).await;
                Some(serde_json::from_str(&self.settled(&body.to_string()).await).unwrap())
            }
            None => None,
        };
        let key = self.key.clone();
        let key = shown.key_header.as_deref().map(|name| (name, key.as_str()));
        self.site.call(&shown.method, &address, key, body.as_ref()).await
    }

    /// The address of a record of a kind, made as the pages say.
    pub(crate) async fn address_of(&mut self, kind: Kind) -> String {
        let path = match kind.schema().home {
            Some(home) => format!("{}/{}/{}", home.plural(), ExampleRequest::id_of(home), kind.plural()),
            None => kind.plural().to_owned(),
        };
        self.settled(&format!("{BASE}{path}/{}", ExampleRequest::id_of(kind))).await
    }

    /// The text with ids in place of the words that stand for them; records are made by the requests of other pages.
    async fn settled(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for kind in Kind::ALL {
            let word = ExampleRequest::id_of(*kind);
            // `TAG_ID` is no part of another word.
            let stands = |text: &str| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|it| it == word);
            if !stands(&text) {
                continue;
            }
            if !self.ids.contains_key(&word) {
                let id = Box::pin(self.made(*kind)).await;
                self.ids.insert(word.clone(), id);
            }
            let id = &self.ids[&word];
            text = text.replace(&format!("/{word}"), &format!("/{id}"));
        }
        text
    }

    async fn made(&mut self, kind: Kind) -> String {
        if kind == Kind::Query {
            return self.query().await;
        }
        let name = if kind == Kind::Canvass { HelperName::RecordCanvass.relation() } else { kind.plural() };
        let page = self.site.page(name).await;
        let create =
            requests(&page).into_iter().find(|shown| shown.method == "POST").unwrap_or_else(|| panic!("{kind:?}"));
        let answer = self.send(&create).await;
        assert_eq!(answer.status, create.status, "{kind:?}: {}", answer.json);
        let own = answer.json["_links"]["self"]["href"].as_str().unwrap_or_default();
        own.rsplit('/').next().unwrap().to_owned()
    }

    /// A stored query, which no request can create.
    async fn query(&self) -> String {
        let id = Id::new(&uuid::Uuid::now_v7().to_string()).unwrap();
        let mut draft = RawDraft::empty(Kind::Query);
        draft.fields.insert("name", "Active volunteers");
        let row = SeedRow { id: id.clone(), created: Timestamp::now(), draft, recorded_by: None };
        self.site.store.seed(&self.tenant, vec![row]).await.unwrap();
        id.as_str().to_owned()
    }

    /// Makes the tags and lists that a helper call names: the page says that they exist already.
    async fn provide(&self, body: &Value) {
        for (function, collection) in [("add_tags", "tags"), ("add_lists", "lists")] {
            for name in body[function].as_array().into_iter().flatten() {
                let made = json!({ "name": name });
                let key = Some(("SVC-API-Token", self.key.as_str()));
                let answer = self.site.call("POST", &format!("{BASE}{collection}"), key, Some(&made)).await;
                assert!(answer.status < 300, "{}", answer.json);
            }
        }
    }
}

/// The prefixed relations of a document.
pub(crate) fn relations(document: &Value, found: &mut BTreeSet<String>) {
    match document {
        Value::Object(members) => {
            for (name, member) in members {
                if name == "_links" || name == "_embedded" {
                    let names = member.as_object().into_iter().flatten().map(|(name, _)| name.clone());
                    found.extend(names.filter(|name| name.contains(':')));
                }
                relations(member, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| relations(item, found)),
        _ => {}
    }
}
