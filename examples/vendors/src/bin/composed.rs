//! Petitions in memory. The library composes the helper from `Create`, `Get` and `Find`:
//! `cargo run --bin composed [ADDRESS]`.
//!
//! Such a helper has no transaction. If a step fails, the results of the other steps remain, and
//! the response has one entry for each resource. The program prints such a response when it starts.
//!
//! Requirements: ERR-29 to ERR-33.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use axum::{Router, body::Body};
use http::{Request, header::CONTENT_TYPE};
use http_body_util::BodyExt;
use svc_core::auth::{FixedKeys, Rights};
use svc_core::field_set::LinkKey;
use svc_core::helper::{RecordSignature, emails};
use svc_core::link::RecordAddress;
use svc_core::model::{Kind, Person, Petition, Resource, Signature, Tag, Tagging};
use svc_core::raw::RawDraft;
use svc_core::{
    Api, Context, Create, CreateRequest, Created, Error, Find, FindKey, Get, Record, Result,
    Tenant, Update, UpdateRequest, Vendor,
};
use svc_core::{record::Meta, value::Timestamp};
use svc_docs::Docs;
use svc_tower::{SvcService, server::Server};
use tokio::net::TcpListener;
use tower::ServiceExt;

/// One record, as the client sent it.
struct Row {
    kind: Kind,
    number: i64,
    made: Timestamp,
    changed: Timestamp,
    draft: RawDraft,
}

/// All records, in the order of their creation.
#[derive(Default)]
struct Memory(Mutex<Vec<Row>>);

impl Memory {
    fn rows(&self) -> MutexGuard<'_, Vec<Row>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the first record of a kind that `holds` accepts.
    fn first<R: Resource>(&self, holds: impl Fn(&Row) -> bool) -> Option<Record<R>> {
        let rows = self.rows();
        let row = rows.iter().find(|row| row.kind == R::KIND && holds(row))?;
        let meta = Meta::new(row.number.into(), row.made)
            .with_modified(row.changed)
            .with_identifiers(&row.draft.identifiers);
        let record = Record::new(meta, R::from_object(&row.draft.fields));
        let links = row
            .draft
            .links
            .iter()
            .filter_map(|(name, to)| Some((LinkKey::from_name(name)?, to)));
        Some(links.fold(record, |record, (link, to)| {
            record.with_link(link, to.clone())
        }))
    }
}

#[async_trait]
impl<R: Resource> Get<R> for Memory {
    async fn get(&self, _: &Context, at: &RecordAddress) -> Result<Option<Record<R>>> {
        Ok(at
            .id
            .as_number()
            .and_then(|number| self.first(|row| row.number == number)))
    }
}

#[async_trait]
impl<R: Resource> Create<R> for Memory {
    async fn create(&self, cx: &Context, request: CreateRequest<R>) -> Result<Created<R>> {
        let number = {
            // Under one lock, so that two simultaneous callers get different numbers.
            let mut rows = self.rows();
            let number = i64::try_from(rows.len())?;
            rows.push(Row {
                kind: R::KIND,
                number,
                made: cx.received_at(),
                changed: cx.received_at(),
                draft: request.draft.into_raw(),
            });
            number
        };
        self.first(|row| row.number == number)
            .map(Created::new)
            .ok_or_else(Error::not_found)
    }
}

#[async_trait]
impl Update<Person> for Memory {
    async fn update(
        &self,
        cx: &Context,
        request: UpdateRequest<Person>,
    ) -> Result<Option<Record<Person>>> {
        let is_meant = |row: &Row| Some(row.number) == request.address.id.as_number();
        if let Some(row) = self
            .rows()
            .iter_mut()
            .find(|row| row.kind == Kind::Person && is_meant(row))
        {
            request.check_expected_state(row.changed)?; // since the helper read it
            let (mut fields, patch) = (row.draft.fields.clone(), request.patch.as_raw());
            patch
                .apply_to(&mut fields, cx.received_at())
                .map_err(Error::invalid_all)?;
            row.draft.fields = fields;
            row.draft.identifiers = patch
                .identifiers
                .clone()
                .unwrap_or_else(|| row.draft.identifiers.clone());
            row.changed = cx.received_at().at_least_after(row.changed);
        }
        Ok(self.first(is_meant))
    }
}

#[async_trait]
impl Find<Person> for Memory {
    async fn find(&self, _: &Context, key: &FindKey) -> Result<Option<Record<Person>>> {
        Ok(self.first(|row| match key {
            FindKey::Identifier(sought) => row.draft.identifiers.contains(sought),
            FindKey::Email(sought) => emails(&row.draft.fields).any(|email| email == *sought),
            _ => false,
        }))
    }
}

#[async_trait]
impl Find<Tag> for Memory {
    async fn find(&self, _: &Context, key: &FindKey) -> Result<Option<Record<Tag>>> {
        let FindKey::Name(sought) = key else {
            return Ok(None);
        };
        Ok(self.first(|row| Tag::from_object(&row.draft.fields).name.as_deref() == Some(sought)))
    }
}

fn interface(memory: &Arc<Memory>, base_url: &str, key: &str) -> Result<SvcService> {
    let api = Api::builder(Vendor::new("Acme", "Acme petitions").namespace("acme"))
        .base_url(base_url)
        .authenticator(FixedKeys::new().with_key(key, Tenant::new("acme"), Rights::all()))
        .resource::<Person, _>(memory, |people| people.get().create().update().find())
        .resource::<Petition, _>(memory, |petitions| petitions.get().create())
        .resource::<Signature, _>(memory, |signatures| signatures.get().create())
        .resource::<Tag, _>(memory, |tags| tags.get().create().find())
        .resource::<Tagging, _>(memory, |taggings| taggings.get().create())
        .compose_helper::<RecordSignature>()
        .build()?;
    Ok(SvcService::new(api).with_docs(Docs::new()))
}

/// Returns the response to a request of a client with the key.
async fn post(service: &SvcService, key: &str, path: &str, body: &str) -> Result<String> {
    let request = Request::post(path)
        .header("SVC-API-Token", key)
        .header(CONTENT_TYPE, "application/json");
    let response = service
        .clone()
        .oneshot(request.body(Body::from(body.to_owned()))?)
        .await?;
    Ok(String::from_utf8(
        response.into_body().collect().await?.to_bytes().into(),
    )?)
}

#[tokio::main]
async fn main() -> Result<()> {
    let address = std::env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:8084")).await?;
    let base_url = format!("http://{}/api/v1/", listener.local_addr()?);
    let key = uuid::Uuid::new_v4().to_string();
    let service = interface(&Arc::default(), &base_url, &key)?;
    post(&service, &key, "/petitions", r#"{"title": "More trees"}"#).await?;
    // The tag does not exist: its entry fails, and the person and the signature are created.
    let signing = r#"{"person": {"given_name": "Ada"}, "add_tags": ["nobody-made-this-tag"]}"#;
    println!(
        "{}",
        post(
            &service,
            &key,
            "/petitions/0/record_signature_helper",
            signing
        )
        .await?
    );
    let app = Router::new().nest_service("/api/v1", service);
    println!("curl -H 'SVC-API-Token: {key}' {base_url}");
    Server::new(app).serve(listener).await?;
    Ok(())
}
