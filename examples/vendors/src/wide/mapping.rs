//! The mapping of the tables in `tables.sql`.

use svc_core::{model::Kind, value::region_names};
use svc_sql::{Column, EntryMapping, Mapping, TableMapping, TenantMapping};

/// Returns the mapping of the tables.
#[must_use]
pub fn mapping() -> Mapping {
    let entry = EntryMapping::new;
    let number = |column| entry().field("number", Column::new(column).phone("US"));
    let consent = Column::new("opt_in").flag("subscribed", "unsubscribed");
    let address = |column| {
        let address = entry().field("address", column);
        address.field("status", consent.clone())
    };
    let people = TableMapping::new(Kind::Person, "supporters")
        .tenant("organisation_id")
        .field("given_name", "first_name")
        .field("family_name", "last_name")
        .field("languages_spoken", Column::new("languages").joined(", "))
        .field("custom_fields", "extra")
        .entries(
            "email_addresses",
            [
                address("email").constant("primary", "true"),
                address("email2").constant("primary", "false"),
            ],
        )
        .entries(
            "phone_numbers",
            [
                number("phone_mobile").constant("number_type", "Mobile"),
                number("phone_home").constant("number_type", "Home"),
            ],
        )
        .entries(
            "postal_addresses",
            [entry()
                .field("address_lines", Column::new("street").joined("\n"))
                .field("locality", "city")
                .field("region", Column::new("state").names(region_names("US")))
                .field("postal_code", "zip")],
        )
        .insert_constant("opt_in", "false")
        .deleted_at("deleted_at")
        .restored_by_helpers();
    let petitions = TableMapping::new(Kind::Petition, "petitions")
        .tenant("organisation_id")
        .slug("slug")
        .field("title", "title")
        .field("description", "body")
        .deleted_at("deleted_at");
    let signatures = TableMapping::new(Kind::Signature, "petition_signatures")
        .date_columns("signed_at", "signed_at")
        .link("petition", "petition_id")
        .link("person", "supporter_id")
        .field("comments", "comment")
        .one_per_person();
    let pages = TableMapping::new(Kind::FundraisingPage, "donation_pages")
        .tenant("organisation_id")
        .slug("slug")
        .field("title", "title")
        .deleted_if("active", "false");
    let donations = TableMapping::new(Kind::Donation, "donations")
        .tenant("organisation_id")
        .link_by("fundraising_page", "page_slug", "slug")
        .link("person", "supporter_id")
        .field("amount", Column::new("amount_cents").scaled(2))
        .field("voided", "refunded");
    let mapping = Mapping::new(TenantMapping::by_number("organisations"));
    let tables = [people, petitions, signatures, pages, donations];
    tables.into_iter().fold(mapping, Mapping::table)
}
