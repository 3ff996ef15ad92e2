//! A mapping of the tables of an existing CRM: two tenants, people with e-mail addresses, groups of
//! people, events and RSVPs. `bin/mapped_postgres.rs`, `bin/mapped_sqlite.rs` and `bin/mapped_mysql.rs` serve it.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use svc_core::{
    Api, Deliver, Tenant, Vendor,
    auth::{Authenticator, CachedAuthenticator, Caller, Credentials, Principal, Rights},
    backend::{DeliveryOutcome, OutboxEntry, OutboxPayload},
    model::Kind,
};
use svc_sql::{
    Column, Database, ListMapping, MappedStore, Mapping, MappingError, Statement, TableMapping,
    TenantMapping,
};
use svc_store::hex;
use svc_tower::{SvcService, server::Server};
use tokio::net::TcpListener;

/// The tables of the program for PostgreSQL, with the added columns.
pub const POSTGRES: &str = concat!(
    include_str!("../postgres/tables.sql"),
    include_str!("postgres_added.sql")
);
/// The same for `SQLite`.
pub const SQLITE: &str = include_str!("sqlite.sql");
/// The same for MySQL and MariaDB.
pub const MYSQL: &str = include_str!("mysql.sql");

/// Returns the mapping of the tables.
#[must_use]
pub fn mapping() -> Mapping {
    let addresses = ListMapping::new("contact_emails", "contact_id")
        .field("address", "address")
        .field("primary", "is_primary");
    let people = TableMapping::new(Kind::Person, "contacts")
        .tenant("org_id")
        .id("public_id")
        .field("given_name", "first_name")
        .field("family_name", "last_name")
        .list("email_addresses", addresses);
    let tags = TableMapping::new(Kind::Tag, "groups")
        .tenant("org_id")
        .id("public_id")
        .field("name", "name");
    let taggings = TableMapping::new(Kind::Tagging, "contact_groups")
        .id("svc_id")
        .order_column("svc_order")
        .date_columns("added_at", "added_at")
        .link("tag", "group_id")
        .link("person", "contact_id");
    let events = TableMapping::new(Kind::Event, "events")
        .tenant("org_id")
        .id("public_id")
        .field("title", "title")
        .field("description", "description")
        .field("start_date", "starts_at")
        .field("end_date", "ends_at")
        .field("capacity", "seats");
    let attendances = TableMapping::new(Kind::Attendance, "rsvps")
        .id("public_id")
        .link("event", "event_id")
        .link("person", "contact_id")
        .field(
            "status",
            Column::new("answer").values([
                ("accepted", "yes"),
                ("declined", "no"),
                ("tentative", "maybe"),
            ]),
        )
        .default_value("status", "accepted")
        .one_per_person();
    [people, tags, taggings, events, attendances]
        .into_iter()
        .fold(
            Mapping::new(TenantMapping::by_number("orgs")),
            Mapping::table,
        )
}

/// The keys of the program: the SHA-256 of each, its organisation, and its rights.
pub(crate) struct ApiKeys(Arc<dyn Database>);

impl ApiKeys {
    pub(crate) fn new(database: Arc<dyn Database>) -> Self {
        Self(database)
    }
}

#[async_trait]
impl Authenticator for ApiKeys {
    async fn authenticate(
        &self,
        credentials: Credentials<'_>,
    ) -> svc_core::Result<Option<Principal>> {
        let Some(key) = credentials.key else {
            return Ok(None);
        };
        let hash = hex::encode(&Sha256::digest(key));
        let text = match self.0.dialect().name() {
            "PostgreSQL" => {
                "SELECT org_id::text, scope FROM api_keys WHERE token_hash = decode($1::text, 'hex')"
            }
            "MySQL" => "SELECT org_id, scope FROM api_keys WHERE token_hash = unhex(?)",
            _ => "SELECT org_id, scope FROM api_keys WHERE hex(token_hash) = upper(?1)",
        };
        let answers = self
            .0
            .read(vec![Statement::new(text, vec![Some(hash)])])
            .await?;
        let Some([Some(organisation), Some(scope)]) = answers
            .first()
            .and_then(|rows| Some(rows.first()?.as_slice()))
        else {
            return Ok(None);
        };
        let rights = match scope.as_str() {
            "all" => Rights::all(),
            some => Rights::only(some.split(' ').filter_map(|right| right.parse().ok())),
        };
        Ok(Some(Principal::new(
            Tenant::new(organisation.as_str()),
            Caller::with_rights(rights),
        )))
    }
}

/// Passes server responses to the part of the program that sends mail. Here this is the log, with
/// kinds and ids only.
struct Outbox;

#[async_trait]
impl Deliver for Outbox {
    async fn deliver(
        &self,
        tenant: &Tenant,
        dispatch: &OutboxEntry,
    ) -> svc_core::Result<DeliveryOutcome> {
        let OutboxPayload::Response {
            person: Some(_), ..
        } = &dispatch.payload
        else {
            return Ok(DeliveryOutcome::Abandoned(
                "only server responses to a person are supported",
            ));
        };
        // A program that sends mail stores the id: a repeated id was already sent.
        println!(
            "{} {} for organisation {}",
            dispatch.id,
            dispatch.log_label(),
            tenant.as_str()
        );
        Ok(DeliveryOutcome::Sent)
    }
}

/// Returns the API over the tables, with a base URL.
///
/// # Errors
///
/// Returns an error if the mapping does not fit the tables, or the API cannot be built.
pub async fn interface(
    database: Arc<dyn Database>,
    base_url: &str,
) -> Result<SvcService, MappingError> {
    let store = MappedStore::connect(mapping(), Arc::clone(&database)).await?;
    let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"))
        .base_url(base_url)
        .authenticator(CachedAuthenticator::new(
            ApiKeys(database),
            Duration::from_secs(5),
        ))
        .anonymous_helpers(store.clone());
    let api = store
        .register(api)
        .delivery(Outbox)
        .merge_people()
        .build()
        .map_err(svc_core::Error::unexpected)?;
    Ok(SvcService::new(api)
        .with_docs(svc_docs::Docs::new())
        .request_timeout(Some(Duration::from_secs(5))))
}

/// Serves the API at an address until the process is stopped.
///
/// # Errors
///
/// Returns an error if the address is in use, or the mapping does not fit the tables.
pub async fn serve(
    database: Arc<dyn Database>,
    address: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind(address).await?;
    let base_url = format!("http://{}/", listener.local_addr()?);
    let service = interface(database, &base_url).await?;
    println!("{base_url}");
    if let Some(deliveries) = service.delivery_worker() {
        tokio::spawn(deliveries.run());
    }
    Ok(Server::new(service).serve(listener).await?)
}
