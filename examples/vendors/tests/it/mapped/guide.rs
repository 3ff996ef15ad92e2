//! The steps of the guide "Map your tables", unchanged: `mapped_guide.rs` compares them.

use std::sync::Arc;

use svc_conformance::{InProcess, Intensity, Keys, Report, Suite};
use svc_core::{
    Api, Tenant, Vendor,
    auth::{FixedKeys, Rights},
    model::Kind,
};
use svc_sql::{Column, Database, ListMapping, MappedStore, Mapping, TableMapping, TenantMapping};
use svc_tower::SvcService;

pub(crate) fn mapping() -> Mapping {
    let mails = ListMapping::new("member_mails", "member_id").field("address", "mail");
    let people = TableMapping::new(Kind::Person, "members")
        .tenant("organisation_id")
        .id("svc_id")
        .field("family_name", "surname")
        .field("given_name", "first_name")
        .list("email_addresses", mails);
    let tags = TableMapping::new(Kind::Tag, "labels")
        .tenant("organisation_id")
        .id("svc_id")
        .field("name", "title");
    let taggings = TableMapping::new(Kind::Tagging, "member_labels")
        .id("svc_id")
        .date_columns("since", "since")
        .link("tag", "label_id")
        .link("person", "member_id");
    let events = TableMapping::new(Kind::Event, "meetings")
        .tenant("organisation_id")
        .id("svc_id")
        .field("title", "subject")
        .field("start_date", "begins")
        .field("capacity", "places");
    let attendances = TableMapping::new(Kind::Attendance, "replies")
        .id("svc_id")
        .link("event", "meeting_id")
        .link("person", "member_id")
        .field(
            "status",
            Column::new("reply").values([("accepted", "yes"), ("declined", "no")]),
        );
    let mapping = Mapping::new(TenantMapping::by_number("organisations"));
    [people, tags, taggings, events, attendances]
        .into_iter()
        .fold(mapping, Mapping::table)
}

pub(crate) async fn interface(database: Arc<dyn Database>) -> svc_core::Result<SvcService> {
    MappedStore::create_library_tables(&database).await?;
    let store = MappedStore::connect(mapping(), database).await?;
    let keys = FixedKeys::new()
        .with_key("a long random text", Tenant::from(1), Rights::all())
        .with_key("another long random text", Tenant::from(2), Rights::all());
    let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"))
        .base_url("http://localhost/")
        .authenticator(keys);
    let service = SvcService::new(store.register(api).build()?);
    Ok(service.with_docs(svc_docs::Docs::new()))
}

pub(crate) async fn check(service: SvcService) -> svc_core::Result<Report> {
    let keys = Keys::primary("a long random text").other_tenant("another long random text");
    Ok(
        Suite::new(InProcess::new(service).base_url("http://localhost/"))
            .keys(keys)
            .intensity(Intensity::Quick)
            .run()
            .await?,
    )
}
