//! A vendor whose tables are narrower than the specification: required columns, an address that is
//! text and a marker, fewer answers to an invitation, a 32-bit integer, and a text of at most 200
//! characters, and two columns for e-mail addresses. The registration declares these constraints, and the conformance suite tests that
//! the server enforces exactly those.
//!
//! Requirements: CAP-04 to CAP-08.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use svc_conformance::{InProcess, Intensity, Keys, RequirementOutcome, Suite};
use svc_core::api::{Api, Behaviour, ResourceConfig, Vendor};
use svc_core::auth::{FixedKeys, Rights};
use svc_core::capability::{Declaration, DeclaredField};
use svc_core::helper::{PersonSignup, RecordAttendance};
use svc_core::link::RecordAddress;
use svc_core::model::{
    Attendance, Event, Person, Resource, Tag, Tagging, attendance, event, person,
};
use svc_core::read::{Json, Object};
use svc_core::store::{LookupKey, Store, WriteOperation, WriteOutcome as Done, WriteRequest};
use svc_core::{
    Context, Create, CreateRequest, Created, Delete, DeleteRequest, Find, FindKey, Get, List,
    ListRequest, Page, Record, Result, Tenant, Update, UpdateRequest, field, fields, writable,
};
use svc_store::memory::MemoryStore;
use svc_tower::SvcService;

/// The base URL for the suite.
const BASE: &str = "http://localhost/api/v1/";

/// The vendor. Its tables reject what they cannot store, as a database does.
struct Narrower(Arc<MemoryStore>);

impl Narrower {
    async fn write(&self, cx: &Context, work: WriteOperation) -> Result<Done> {
        self.0.write(cx, WriteRequest::new(cx, work)).await
    }
}

/// The constraints of the tables. If they reject a value that the library accepts, it is a defect,
/// which a client sees as 500.
fn constraints(kind: &str, fields: &Object, is_new: bool) -> Result<()> {
    let broken = |what: &str| {
        Err(svc_core::Error::unexpected(format!(
            "a constraint of {kind}: {what}"
        )))
    };
    let needed: &[&str] = match kind {
        "person" => &["family_name"],
        "event" => &["title", "start_date"],
        "attendance" => &["status", "comment"],
        _ => &[],
    };
    for name in needed {
        let value = fields.get(name);
        if value.is_some_and(Json::is_null) || (is_new && value.is_none()) {
            return broken(name);
        }
    }
    if fields
        .get("capacity")
        .and_then(Json::as_i64)
        .is_some_and(|seats| i32::try_from(seats).is_err())
    {
        return broken("capacity");
    }
    let long = |name: &str| {
        fields
            .get(name)
            .and_then(Json::as_str)
            .is_some_and(|text| text.chars().count() > 200)
    };
    if kind == "event" && (long("title") || long("summary"))
        || kind == "person" && long("family_name")
    {
        return broken("a text of 200 characters");
    }
    if fields.get("status").and_then(Json::as_str) == Some("needs action") {
        return broken("status");
    }
    let addresses = fields.get("email_addresses").and_then(Json::as_array);
    if addresses.is_some_and(|addresses| addresses.len() > 2) {
        return broken("two columns for addresses");
    }
    for address in fields
        .get("email_addresses")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
    {
        let Some(address) = address.as_object() else {
            return broken("an address");
        };
        if address.get("address").is_none()
            || address
                .iter()
                .any(|(name, _)| !["address", "primary"].contains(&name))
        {
            return broken("an address");
        }
    }
    Ok(())
}

fn unfitting() -> svc_core::Error {
    svc_core::Error::unexpected("the store returned another outcome")
}

#[async_trait]
impl<R: Resource> List<R> for Narrower {
    async fn list(&self, cx: &Context, request: &ListRequest) -> Result<Page<R>> {
        self.0.list(cx, R::KIND, request).await.map(Page::from_raw)
    }
}

#[async_trait]
impl<R: Resource> Get<R> for Narrower {
    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<Record<R>>> {
        Ok(self.0.get(cx, at).await?.map(Record::from_raw))
    }
}

#[async_trait]
impl<R: Resource> Find<R> for Narrower {
    async fn find(&self, cx: &Context, key: &FindKey) -> Result<Option<Record<R>>> {
        let key = match key.clone() {
            FindKey::Name(name) => LookupKey::Name(R::KIND, name),
            FindKey::Identifier(identifier) => LookupKey::Identifier(R::KIND, identifier),
            FindKey::Email(address) => LookupKey::Email(address),
            _ => return Ok(None),
        };
        Ok(self.0.find(cx, &key).await?.map(Record::from_raw))
    }
}

#[async_trait]
impl<R: Resource> Create<R> for Narrower {
    async fn create(&self, cx: &Context, request: CreateRequest<R>) -> Result<Created<R>> {
        let draft = request.draft.into_raw();
        constraints(R::SCHEMA.singular, &draft.fields, true)?;
        match self.write(cx, WriteOperation::Create(draft)).await? {
            Done::Created { record, is_new } if is_new => {
                Ok(Created::new(Record::from_raw(record)))
            }
            Done::Created { record, .. } => Ok(Created::existing(Record::from_raw(record))),
            _ => Err(unfitting()),
        }
    }
}

#[async_trait]
impl<R: Resource> Update<R> for Narrower {
    async fn update(&self, cx: &Context, request: UpdateRequest<R>) -> Result<Option<Record<R>>> {
        let patch = request.patch.into_raw();
        constraints(R::SCHEMA.singular, &patch.fields, false)?;
        match self
            .write(cx, WriteOperation::Update(request.address, patch))
            .await?
        {
            Done::Updated(record) => Ok(record.map(Record::from_raw)),
            _ => Err(unfitting()),
        }
    }
}

#[async_trait]
impl<R: Resource> Delete<R> for Narrower {
    async fn delete(&self, cx: &Context, request: &DeleteRequest) -> Result<bool> {
        match self
            .write(cx, WriteOperation::Delete(request.address.clone()))
            .await?
        {
            Done::Deleted(was_there) => Ok(was_there),
            _ => Err(unfitting()),
        }
    }
}

fn people(x: ResourceConfig<Person, Narrower>) -> ResourceConfig<Person, Narrower> {
    x.list()
        .get()
        .create()
        .update()
        .delete()
        .find()
        .readable_fields(fields!(person::{given_name, family_name, birthdate, employer_address::{locality, country}, email_addresses::{address, primary}}))
        .writable_fields(writable!(person::{given_name, family_name, birthdate, employer_address::{locality, country}, email_addresses::{address, primary}}))
        .required_fields(writable!(person::{family_name, email_addresses::{address}}))
        .max_length(person::key::family_name, 200)
        .max_length(field!(person::email_addresses::address), 200)
        .max_items(person::key::email_addresses, 2)
        .without_link(person::link::modified_by)
}

fn events(x: ResourceConfig<Event, Narrower>) -> ResourceConfig<Event, Narrower> {
    x.list()
        .get()
        .create()
        .update()
        .delete()
        .readable_fields(
            fields!(event::{title, summary, start_date, end_date, capacity, total_accepted}),
        )
        .writable_fields(writable!(event::{title, summary, start_date, end_date, capacity}))
        .required_fields(writable!(event::{title, start_date}))
        .max_length(event::key::title, 200)
        .max_length(event::key::summary, 200)
        .value_range(event::key::capacity, 0..=i32::MAX)
        .without_link(event::link::creator)
        .without_link(event::link::organizer)
        .without_link(event::link::modified_by)
}

fn attendances(x: ResourceConfig<Attendance, Narrower>) -> ResourceConfig<Attendance, Narrower> {
    x.list_under::<Event>()
        .list_under::<Person>()
        .get()
        .create()
        .update()
        .delete()
        .readable_fields(fields!(attendance::{status, attended, comment, action_date}))
        .writable_fields(writable!(attendance::{status, attended, comment, action_date}))
        .required_fields(writable!(attendance::{comment}))
        .allowed_values(
            attendance::key::status,
            ["accepted", "declined", "tentative"],
        )
        .default(attendance::key::status, "accepted")
}

fn api() -> Result<Api, Box<dyn Error>> {
    let vendor = Arc::new(Narrower(Arc::new(MemoryStore::new())));
    let keys = FixedKeys::new()
        .with_key("primary", Tenant::new("acme"), Rights::all())
        .with_key("other", Tenant::new("other"), Rights::all())
        .with_key("restricted", Tenant::new("acme"), Rights::read_only());
    let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"))
        .base_url(BASE)
        .authenticator(keys)
        .resource::<Person, _>(&vendor, people)
        .resource::<Event, _>(&vendor, events)
        .resource::<Attendance, _>(&vendor, attendances)
        .resource::<Tag, _>(&vendor, |x| x.all_operations().find())
        .resource::<Tagging, _>(&vendor, |x| {
            x.list_under::<Tag>()
                .list_under::<Person>()
                .get()
                .create()
                .delete()
        })
        .compose_helper::<PersonSignup>()
        .compose_helper::<RecordAttendance>()
        .behaviour(Behaviour::MatchesPeople);
    Ok(api.build()?)
}

fn suite() -> Result<Suite, Box<dyn Error>> {
    let service = SvcService::new(api()?)
        .with_docs(svc_docs::Docs::new())
        .mounted_at("/api/v1");
    let keys = Keys::primary("primary")
        .other_tenant("other")
        .restricted("restricted", "people.create");
    Ok(Suite::new(InProcess::new(service).base_url(BASE))
        .keys(keys)
        .seed(42))
}

#[tokio::test]
async fn the_suite_holds_a_narrower_server_to_what_it_publishes() -> Result<(), Box<dyn Error>> {
    for intensity in [Intensity::Quick, Intensity::Default] {
        let report = suite()?.intensity(intensity).run().await?;
        println!("{report}");
        assert_eq!(
            report.count(RequirementOutcome::Fail) + report.count(RequirementOutcome::Error),
            0,
            "{report}"
        );
        assert_eq!(report.exit_code(), 0, "{report}");
        assert!(report.count(RequirementOutcome::Pass) > 100, "{report}");
    }
    Ok(())
}

/// A declaration that is wider or narrower than the server is detected: in each case, a requirement
/// fails.
#[tokio::test]
async fn the_suite_finds_a_declaration_that_is_not_true() -> Result<(), Box<dyn Error>> {
    type Lie = fn(&mut Declaration);
    let lies: [(&str, &str, Lie); 8] = [
        ("a range that is not enforced", "ERR-12", |it| {
            at(it, "events", "capacity").maximum = Some("1000".to_owned());
        }),
        ("a range that is narrower", "RES-event-27", |it| {
            at(it, "events", "capacity").maximum = None;
        }),
        ("a length that is not enforced", "ERR-12", |it| {
            at(it, "events", "title").max_length = Some(100);
        }),
        ("a number of entries that is not enforced", "ERR-12", |it| {
            at(it, "people", "email_addresses").max_items = Some(1);
        }),
        (
            "a number of entries that is smaller",
            "RES-person-29",
            |it| {
                at(it, "people", "email_addresses").max_items = None;
            },
        ),
        ("values that are rejected", "RES-attendance-03", |it| {
            at(it, "attendances", "status")
                .values
                .get_or_insert_default()
                .push("needs action".to_owned());
        }),
        ("values that are accepted", "RES-attendance-03", |it| {
            at(it, "attendances", "status")
                .values
                .get_or_insert_default()
                .retain(|value| value != "tentative");
        }),
        ("a field that is optional", "ERR-12", |it| {
            at(it, "events", "summary").required = true;
        }),
    ];
    for (what, row, lie) in lies {
        let api = api()?;
        let mut declaration = svc_core::api::capabilities(&api, api.base_url());
        lie(&mut declaration);
        let report = suite()?
            .declaration(declaration)
            .only([row])
            .intensity(Intensity::Default)
            .run()
            .await?;
        let failed: Vec<&str> = report
            .rows
            .iter()
            .filter(|it| it.outcome == RequirementOutcome::Fail)
            .map(|it| it.id.as_str())
            .collect();
        assert!(failed.contains(&row), "{what}: {failed:?}");
    }
    Ok(())
}

fn at<'d>(declaration: &'d mut Declaration, many: &str, field: &str) -> &'d mut DeclaredField {
    let collection = declaration.collections.entry(many.to_owned()).or_default();
    collection.fields.entry(field.to_owned()).or_default()
}
