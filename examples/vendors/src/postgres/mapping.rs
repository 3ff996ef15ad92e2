//! The mapping of the vendor's tables and columns to kinds, fields and links.

use svc_core::model::{
    Attendance, Event, Kind, Person, Resource, Tag, Tagging, attendance, tagging,
};
use svc_core::{backend::FindKey, field_set::LinkKey};

/// A link, its column, and the kind and the table of its target.
pub(super) type Link<R> = (LinkKey<R>, &'static str, Kind, &'static str);

/// A kind with a table, named `it` in SQL. Every table has the columns `id`, `public_id`,
/// `updated_at` and `refs`.
pub(super) trait Mapped: Resource {
    const TABLE: &'static str;
    /// SQL expression of the organisation of a row.
    const ORG: &'static str = "it.org_id";
    /// Column of the creation date.
    const MADE: &'static str = "created_at";
    /// The fields of a row, as JSON.
    const READ: &'static str;
    /// The columns, and their values from the fields, which are the JSON `f`.
    const WRITE: &'static [(&'static str, &'static str)] = &[];
    /// Statement that writes the parts of row `$1` in other tables, from the fields `$2`.
    const PARTS: Option<&'static str> = None;
    const LINKS: &'static [Link<Self>] = &[];
    /// SQL clause for a row with the same links that already exists.
    const AGAIN: &'static str = "";

    /// Returns the condition for rows with a key, which is `$2`, and the key. Of several rows, the
    /// oldest is used.
    fn having(key: &FindKey) -> Option<(&'static str, String)> {
        let emails = "it.id IN (SELECT contact_id FROM contact_emails WHERE lower(address COLLATE \"C\") = $2)
            ORDER BY it.id LIMIT 1";
        match (Self::KIND, key) {
            (_, FindKey::Identifier(it)) => Some(("it.refs @> ARRAY[$2]", it.to_string())),
            (Kind::Person, FindKey::Email(address)) => Some((emails, address.clone())),
            (Kind::Tag, FindKey::Name(name)) => Some(("it.name = $2", name.clone())),
            _ => None,
        }
    }
}

impl Mapped for Person {
    const TABLE: &'static str = "contacts";
    const READ: &'static str = "json_build_object('given_name', it.first_name, 'family_name', it.last_name,
        'email_addresses', (SELECT json_agg(json_build_object('address', address, 'primary', is_primary) ORDER BY id)
            FROM contact_emails WHERE contact_id = it.id))";
    const WRITE: &'static [(&'static str, &'static str)] = &[
        ("first_name", "f->>'given_name'"),
        ("last_name", "f->>'family_name'"),
    ];
    const PARTS: Option<&'static str> = Some(
        "WITH gone AS (DELETE FROM contact_emails WHERE contact_id = $1)
        INSERT INTO contact_emails (contact_id, address, is_primary)
        SELECT $1, e->>'address', coalesce((e->>'primary')::boolean, false)
        FROM json_array_elements($2::text::json->'email_addresses') WITH ORDINALITY AS of(e, n) ORDER BY n",
    );
}

impl Mapped for Tag {
    const TABLE: &'static str = "groups";
    const READ: &'static str = "json_build_object('name', it.name)";
    const WRITE: &'static [(&'static str, &'static str)] = &[("name", "f->>'name'")];
}

impl Mapped for Tagging {
    const TABLE: &'static str = "contact_groups";
    const ORG: &'static str = "(SELECT org_id FROM groups WHERE groups.id = it.group_id)";
    const MADE: &'static str = "added_at";
    const READ: &'static str = "json_build_object()";
    const AGAIN: &'static str =
        "ON CONFLICT (contact_id, group_id) DO UPDATE SET contact_id = excluded.contact_id";
    const LINKS: &'static [Link<Self>] = &[
        (tagging::link::tag, "group_id", Kind::Tag, Tag::TABLE),
        (
            tagging::link::person,
            "contact_id",
            Kind::Person,
            Person::TABLE,
        ),
    ];
}

impl Mapped for Event {
    const TABLE: &'static str = "events";
    const READ: &'static str = "json_build_object('title', it.title, 'description', it.description,
        'start_date', it.starts_at, 'end_date', it.ends_at, 'capacity', it.seats)";
    const WRITE: &'static [(&'static str, &'static str)] = &[
        ("title", "f->>'title'"),
        ("description", "f->>'description'"),
        ("starts_at", "(f->>'start_date')::timestamptz"),
        ("ends_at", "(f->>'end_date')::timestamptz"),
        ("seats", "(f->>'capacity')::integer"),
    ];
}

impl Mapped for Attendance {
    const TABLE: &'static str = "rsvps";
    const ORG: &'static str = "(SELECT org_id FROM events WHERE events.id = it.event_id)";
    const READ: &'static str = "json_build_object('status',
        CASE it.answer WHEN 'yes' THEN 'accepted' WHEN 'no' THEN 'declined' ELSE 'tentative' END)";
    const WRITE: &'static [(&'static str, &'static str)] = &[(
        "answer",
        "CASE f->>'status' WHEN 'declined' THEN 'no' WHEN 'tentative' THEN 'maybe' ELSE 'yes' END",
    )];
    const AGAIN: &'static str = "ON CONFLICT (event_id, contact_id) DO UPDATE SET answer = excluded.answer,
        updated_at = greatest(excluded.updated_at, it.updated_at + interval '1 microsecond'),
        refs = it.refs || ARRAY(SELECT ref FROM unnest(excluded.refs) AS ref WHERE ref <> ALL (it.refs))";
    const LINKS: &'static [Link<Self>] = &[
        (
            attendance::link::event,
            "event_id",
            Kind::Event,
            Event::TABLE,
        ),
        (
            attendance::link::person,
            "contact_id",
            Kind::Person,
            Person::TABLE,
        ),
    ];
}
