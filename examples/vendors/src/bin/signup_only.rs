//! A newsletter with one table, which accepts only sign-ups:
//! `cargo run --bin signup_only [ADDRESS [FILE]]`.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use axum::Router;
use rusqlite::{Connection, OptionalExtension};
use svc_core::auth::{FixedKeys, Rights};
use svc_core::helper::{EntryStatus, HelperOutcome, HelperRequest, PersonSignup};
use svc_core::model::Person;
use svc_core::record::Meta;
use svc_core::{
    Api, Context, Error, ErrorCode, Helper, Problem, Record, Result, Tenant, Vendor, writable,
};
use svc_docs::Docs;
use svc_tower::{SvcService, server::Server};
use tokio::net::TcpListener;

/// The existing data: a table of subscribers.
struct Newsletter(Mutex<Connection>);

impl Newsletter {
    fn open(file: &str) -> rusqlite::Result<Self> {
        // A new file is readable by its owner only. If it cannot be created, SQLite reports the
        // error.
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let _ = options.open(file);
        let connection = Connection::open(file)?;
        connection.execute_batch(
            "CREATE TABLE IF NOT EXISTS subscribers (number INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT)",
        )?;
        Ok(Self(Mutex::new(connection)))
    }

    /// Returns the number of the subscriber with this address, and whether the subscriber is new.
    fn subscribe(&self, email: &str, name: Option<&str>) -> rusqlite::Result<(i64, bool)> {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            "UPDATE subscribers SET name = coalesce(?2, name) WHERE email = ?1 RETURNING number";
        if let Some(number) = table
            .query_row(known, (email, name), |row| row.get(0))
            .optional()?
        {
            return Ok((number, false));
        }
        table.execute(
            "INSERT INTO subscribers (email, name) VALUES (?1, ?2)",
            (email, name),
        )?;
        Ok((table.last_insert_rowid(), true))
    }
}

#[async_trait]
impl Helper<PersonSignup> for Newsletter {
    async fn run(
        &self,
        cx: &Context,
        plan: HelperRequest<PersonSignup>,
    ) -> Result<HelperOutcome<PersonSignup>> {
        let person = plan.required_person()?;
        let Some(email) = person.emails().next() else {
            let text = "A subscriber must have an e-mail address.";
            return Err(Error::invalid(Problem::new(
                ErrorCode::FieldRequired,
                "person.email_addresses",
                text,
            )));
        };
        let (number, is_new) = self.subscribe(&email, person.fields().given_name.as_deref())?;
        let record = Record::new(Meta::new(number.into(), cx.received_at()), person.fields());
        Ok(HelperOutcome::person(
            record,
            EntryStatus::from_is_new(is_new),
        ))
    }
}

fn interface(newsletter: &Arc<Newsletter>, base_url: &str, key: &str) -> Result<SvcService> {
    let api = Api::builder(Vendor::new("Weekly", "Weekly newsletter").namespace("weekly"))
        .base_url(base_url)
        .authenticator(FixedKeys::new().with_key(key, Tenant::new("weekly"), Rights::all()))
        .resource::<Person, _>(newsletter, |people| {
            people.writable_fields(writable!(person::{given_name, email_addresses}))
        })
        .helper::<PersonSignup>(newsletter)
        .build()?;
    Ok(SvcService::new(api).with_docs(Docs::new()))
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let listener =
        TcpListener::bind(arguments.next().as_deref().unwrap_or("127.0.0.1:8083")).await?;
    let base_url = format!("http://{}/api/v1/", listener.local_addr()?);
    let newsletter = Arc::new(Newsletter::open(
        arguments.next().as_deref().unwrap_or("newsletter.db"),
    )?);
    let key = uuid::Uuid::new_v4().to_string();
    let app = Router::new().nest_service("/api/v1", interface(&newsletter, &base_url, &key)?);
    println!("curl -H 'SVC-API-Token: {key}' {base_url}");
    Server::new(app).serve(listener).await?;
    Ok(())
}
