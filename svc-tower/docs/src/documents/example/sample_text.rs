//! The texts of example records: one value for each name of a text field, chosen so that they fit
//! together.

use super::moments::{EARLIER, LATER};

/// The fields that a short example contains. A create that requires more fields also contains
/// those.
const TELLING: &[&str] = &[
    "given_name",
    "family_name",
    "email_addresses",
    "address",
    "primary",
    "name",
    "title",
    "summary",
    "start_date",
    "end_date",
    "ticket_levels",
    "amount",
    "currency",
    "question_type",
    "responses",
    "key",
    "value",
    "subject",
    "body",
    "comments",
    "comment",
    "status",
    "success",
    "contact_type",
    "referrer_data",
    "source",
    "message",
    "scheduled_start_date",
    "scheduled_stop_date",
];

/// Returns whether a short example contains the field.
pub(super) fn is_telling(name: &str) -> bool {
    TELLING.contains(&name)
}

/// Returns the text of a field. `owner` distinguishes fields of the same name with different
/// meanings.
pub(super) fn text(owner: &str, name: &str) -> &'static str {
    match (owner, name) {
        ("responses", "name" | "title") => "Yes",
        ("event" | "ticket_levels" | "tickets", "title") => "General",
        ("ticket_levels", "former_titles") => "Standard",
        ("ticket_levels" | "tickets", "description") => "One seat",
        ("tag", "name") => "phone-banker",
        ("list", "name") => "Phone bankers of spring",
        ("petition", "title") => "Save the library",
        ("form", "title") => "Join us",
        ("question", "title") => "Will you help?",
        ("query", "title") => "Active volunteers",
        ("advocacy_campaign", "title") => "Write to the council",
        ("share_page", "title") => "Tell your friends",
        ("fundraising_page", "title") => "Spring fund",
        ("list", "title") => "Our newsletter",
        ("target", "title") => "Mayor",
        ("target", "name") => "City council",
        ("profiles", "id") => "4711",
        ("profiles", "provider") => "example",
        ("phone_number", "description") => "At work, mornings",
        ("canvass", "status_code") => "",
        _ => plain(name),
    }
}

fn plain(name: &str) -> &'static str {
    match name {
        "given_name" => "Rosa",
        "family_name" => "Rivera",
        "additional_name" => "Maria",
        "honorific_prefix" => "Dr.",
        "honorific_suffix" => "Jr.",
        "gender_identity" => "Female",
        "source" | "referrer" => "spring-newsletter",
        "website" => "news.example.org",
        "languages_spoken" | "preferred_language" | "language" => "en",
        "ethnicities" => "Hispanic or Latino",
        "employer" | "organization" => "Example Works",
        "occupation" => "Teacher",
        "venue" => "City Library",
        "address_lines" => "12 Main Street",
        "locality" => "Springfield",
        "region" => "IL",
        "postal_code" => "62701",
        "handle" => "rosa",
        "email_address" | "reply_to" | "from" => "hello@example.org",
        "phone_number" => "12025550123",
        "extension" => "12",
        "operator" => "Example Telecom",
        "ocdid" => "ocd-division/country:us/state:il",
        "origin_system" => "Example CRM",
        "name" => "spring-2026",
        "title" => "A better spring",
        "summary" => "In one paragraph, what it is about.",
        "description" | "instructions" | "additional_info" => "What it is about, in full.",
        "call_to_action" => "Join now",
        "petition_text" => "We ask you to keep the library open.",
        "templates" => "Dear council, ...",
        "targets" => "Members of the city council",
        "comments" | "comment" | "notes" => "Glad to help.",
        "message" | "body" => "Please help us this spring.",
        "subject" => "The library",
        "value" => "Yes, gladly",
        "responses" | "key" => "yes",
        "display_name" | "legal_name" => "Example Fund",
        "reference_number" => "R-1001",
        "subscription_instance" => "2026-03",
        "contact_type" => "in-person",
        "input_type" => "mobile",
        "add_tags" => "volunteer",
        "add_lists" => "newsletter",
        "action_date" => EARLIER,
        name if name.ends_with("end_date") || name.ends_with("stop_date") => LATER,
        name if name.ends_with("_date") => EARLIER,
        name if name.ends_with("url") || name == "image" => "https://www.example.org/spring",
        _ => "text",
    }
}

/// Returns the value of an enum that fits the other examples best; `None` if that is the first one.
pub(super) fn choice(name: &str) -> Option<&'static str> {
    match name {
        "question_type" => Some("SingleChoice"),
        "party_identification" | "identification" => Some("Independent"),
        "number_type" => Some("Mobile"),
        _ => None,
    }
}
