//! The containers of the demo: petitions, forms, events and others.

use std::collections::VecDeque;

use svc_core::link::RecordAddress;
use svc_core::model::Kind;
use svc_core::read::{Json, Object};
use svc_core::value::Timestamp;

use super::row::{SeedRow, money, nested, object, texts};
use super::word_lists::{CAUSES, LISTS, OFFICIALS, PLACES, TAGS};
use super::{ORIGIN, SeedBuilder};

/// Currencies of the fundraising pages; the first is the dollar.
const CURRENCIES: [&str; 4] = ["USD", "EUR", "GBP", "CAD"];

/// Number of places of a ticketed event, and of each of its ticket levels.
const PLACES_OF_EVENT: u32 = 240;

/// Number of places of an open event with a limit.
const PLACES_OF_OPEN_EVENT: u32 = 150;

/// The first day of the demo's events: 2027-03-06T17:00:00Z.
const FIRST_EVENT: i64 = 1_804_352_400_000_000;

/// A week in microseconds.
const WEEK: i64 = 7 * 86_400 * 1_000_000;

/// The containers of a tenant, with the data that actions on them need.
#[derive(Debug)]
pub(super) struct Containers {
    pub(super) owner: RecordAddress,
    pub(super) petitions: Vec<RecordAddress>,
    pub(super) forms: Vec<RecordAddress>,
    pub(super) pages: Vec<(RecordAddress, &'static str)>,
    pub(super) open_events: Vec<OpenEvent>,
    pub(super) ticketed_events: Vec<TicketedEvent>,
    pub(super) campaigns: Vec<RecordAddress>,
    pub(super) questions: Vec<(RecordAddress, &'static [&'static str])>,
    pub(super) tags: Vec<RecordAddress>,
    pub(super) lists: Vec<RecordAddress>,
}

/// An event without tickets, and its number of free places.
#[derive(Debug)]
pub(super) struct OpenEvent {
    pub(super) address: RecordAddress,
    pub(super) left: Option<u32>,
}

/// An event with tickets, and its number of free places.
#[derive(Debug)]
pub(super) struct TicketedEvent {
    pub(super) address: RecordAddress,
    pub(super) left: u32,
    pub(super) levels: Vec<TicketLevelSeed>,
}

/// A ticket level.
#[derive(Debug, Clone)]
pub(super) struct TicketLevelSeed {
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) cents: u32,
    pub(super) left: u32,
}

impl Containers {
    /// Creates the containers, all of them created by `owner`.
    pub(super) fn new(
        owner: RecordAddress,
        maker: &mut SeedBuilder,
        out: &mut VecDeque<SeedRow>,
    ) -> Self {
        let mut made = Self {
            owner,
            petitions: Vec::new(),
            forms: Vec::new(),
            pages: Vec::new(),
            open_events: Vec::new(),
            ticketed_events: Vec::new(),
            campaigns: Vec::new(),
            questions: Vec::new(),
            tags: Vec::new(),
            lists: Vec::new(),
        };
        made.questions(maker, out);
        made.tags_and_lists(maker, out);
        for (number, cause) in CAUSES.iter().enumerate() {
            made.about(number, cause, maker, out);
        }
        made.messages_and_queries(maker, out);
        made
    }

    /// Adds a container of the owner.
    fn put(
        &self,
        kind: Kind,
        fields: Object,
        maker: &mut SeedBuilder,
        out: &mut VecDeque<SeedRow>,
    ) -> RecordAddress {
        let mut row = maker.row(kind, None, fields);
        if kind != Kind::Message {
            row.draft.links.push(("creator", self.owner.clone()));
            row.draft.links.push(("modified_by", self.owner.clone()));
        }
        let address = row.address.clone();
        out.push_back(row);
        address
    }

    /// Adds the containers for one cause: a petition and an event for each cause, others for some.
    fn about(
        &mut self,
        number: usize,
        cause: &(&str, &str, &str),
        maker: &mut SeedBuilder,
        out: &mut VecDeque<SeedRow>,
    ) {
        let (name, title, wish) = *cause;
        let petition = petition(name, title, wish);
        self.petitions
            .push(self.put(Kind::Petition, petition, maker, out));
        self.event(number, cause, maker, out);
        if let Some(currency) = CURRENCIES.get(number) {
            let mut fields = page(
                "fundraising_pages",
                name,
                &format!("Give for: {title}"),
                wish,
            );
            fields.insert("currency", *currency);
            fields.insert(
                "share_options",
                share_options("fundraising_pages", name, title),
            );
            self.pages.push((
                self.put(Kind::FundraisingPage, fields, maker, out),
                currency,
            ));
        }
        if number.is_multiple_of(2) {
            let mut fields = page("forms", name, &format!("Help with: {title}"), wish);
            fields.insert("call_to_action", "Tell us how you want to help.");
            fields.insert("share_options", share_options("forms", name, title));
            self.forms.push(self.put(Kind::Form, fields, maker, out));
            let campaign = campaign(number, name, title, wish);
            self.campaigns
                .push(self.put(Kind::AdvocacyCampaign, campaign, maker, out));
        } else {
            let mut fields = page(
                "share_pages",
                name,
                &format!("Spread the word: {title}"),
                wish,
            );
            fields.remove("featured_image_url");
            fields.insert("share_options", share_options("share_pages", name, title));
            self.put(Kind::SharePage, fields, maker, out);
        }
    }

    fn event(
        &mut self,
        number: usize,
        cause: &(&str, &str, &str),
        maker: &mut SeedBuilder,
        out: &mut VecDeque<SeedRow>,
    ) {
        let (name, title, wish) = *cause;
        let ticketed = number % 2 == 1;
        let mut fields = page("events", name, &format!("Meeting: {title}"), wish);
        fields.insert("type", if ticketed { "ticketed" } else { "open" });
        let levels = if ticketed { levels() } else { Vec::new() };
        let capacity = match (ticketed, number % 4) {
            (true, _) => Some(PLACES_OF_EVENT),
            (false, 2) => Some(PLACES_OF_OPEN_EVENT),
            (false, _) => None,
        };
        if ticketed {
            fields.insert(
                "ticket_levels",
                Json::Array(levels.iter().map(level_fields).collect()),
            );
        }
        fields.insert(
            "status",
            if number == 6 {
                "tentative"
            } else {
                "confirmed"
            },
        );
        fields.insert(
            "instructions",
            "Come in through the side door. The room can be reached without steps.",
        );
        let week = i64::try_from(number).unwrap_or_default();
        let start = FIRST_EVENT + week * WEEK;
        fields.insert("start_date", Timestamp::from_micros(start).to_string());
        fields.insert(
            "end_date",
            Timestamp::from_micros(start + 2 * 3_600_000_000).to_string(),
        );
        if let Some(capacity) = capacity {
            fields.insert("capacity", capacity);
        }
        fields.insert("guests_can_invite_others", true);
        fields.insert("transparence", "opaque");
        fields.insert("visibility", "public");
        fields.insert("location", location(number));
        fields.insert("contact", contact(name));
        let reminder = nested([("method", "email".into()), ("minutes", 1440.into())]);
        fields.insert("reminders", Json::Array(vec![reminder]));
        fields.insert("share_options", share_options("events", name, title));
        let mut row = maker.row(Kind::Event, None, fields);
        for link in ["creator", "modified_by", "organizer"] {
            row.draft.links.push((link, self.owner.clone()));
        }
        let address = row.address.clone();
        out.push_back(row);
        if ticketed {
            self.ticketed_events.push(TicketedEvent {
                address,
                left: PLACES_OF_EVENT,
                levels,
            });
        } else {
            self.open_events.push(OpenEvent {
                address,
                left: capacity,
            });
        }
    }

    fn questions(&mut self, maker: &mut SeedBuilder, out: &mut VecDeque<SeedRow>) {
        type Question = (
            &'static str,
            &'static str,
            &'static str,
            &'static [&'static str],
        );
        const QUESTIONS: [Question; 4] = [
            (
                "contact-time",
                "When can we call you?",
                "SingleChoice",
                &["morning", "afternoon", "evening"],
            ),
            (
                "skills",
                "What can you help with?",
                "MultiChoice",
                &["cooking", "driving", "translating", "writing"],
            ),
            ("story", "Why does this matter to you?", "Paragraph", &[]),
            (
                "support",
                "Do you support the plan?",
                "SingleChoice",
                &["yes", "no", "undecided"],
            ),
        ];
        for (name, title, question_type, keys) in QUESTIONS {
            let mut fields = described(name, title);
            fields.insert("question_type", question_type);
            if !keys.is_empty() {
                let response = |key: &&str| {
                    nested([
                        ("key", (*key).into()),
                        ("name", (*key).into()),
                        ("title", (*key).into()),
                    ])
                };
                fields.insert(
                    "responses",
                    Json::Array(keys.iter().map(response).collect()),
                );
            }
            let address = self.put(Kind::Question, fields, maker, out);
            self.questions.push((address, keys));
        }
    }

    fn tags_and_lists(&mut self, maker: &mut SeedBuilder, out: &mut VecDeque<SeedRow>) {
        for (name, description) in TAGS {
            let fields = object([
                ("origin_system", ORIGIN.into()),
                ("name", (*name).into()),
                ("description", (*description).into()),
            ]);
            self.tags.push(self.put(Kind::Tag, fields, maker, out));
        }
        for (name, title) in LISTS {
            let mut fields = described(name, title);
            addresses("lists", name, &mut fields);
            self.lists.push(self.put(Kind::List, fields, maker, out));
        }
    }

    fn messages_and_queries(&self, maker: &mut SeedBuilder, out: &mut VecDeque<SeedRow>) {
        for (name, title) in [
            ("active-people", "Active in the last year"),
            ("donors", "Gave money at least once"),
        ] {
            let mut fields = described(name, title);
            addresses("queries", name, &mut fields);
            self.put(Kind::Query, fields, maker, out);
        }
        for (name, subject, channel) in [
            ("welcome", "Welcome, and thank you", "email"),
            ("monthly-news", "What happened this month", "email"),
            ("meeting-tonight", "The meeting is tonight at six", "sms"),
        ] {
            let fields = object([
                ("origin_system", ORIGIN.into()),
                ("name", name.into()),
                ("subject", subject.into()),
                (
                    "body",
                    format!("Dear friend,\n\n{subject}. We look forward to seeing you.").into(),
                ),
                ("from", "office@example.org".into()),
                ("reply_to", "answers@example.org".into()),
                ("type", channel.into()),
            ]);
            self.put(Kind::Message, fields, maker, out);
        }
    }
}

/// Returns the fields that most containers have.
fn described(name: &str, title: &str) -> Object {
    object([
        ("origin_system", ORIGIN.into()),
        ("name", name.into()),
        ("title", title.into()),
        ("description", format!("<p>{title}</p>").into()),
        ("summary", title.into()),
    ])
}

/// Adds the public and the administrative URL.
fn addresses(collection: &str, name: &str, fields: &mut Object) {
    fields.insert(
        "browser_url",
        format!("https://www.example.org/{collection}/{name}"),
    );
    fields.insert(
        "administrative_url",
        format!("https://office.example.org/{collection}/{name}/edit"),
    );
}

/// Returns the fields of a public page.
fn page(collection: &str, name: &str, title: &str, wish: &str) -> Object {
    let mut fields = described(name, title);
    fields.insert(
        "description",
        format!("<p>We ask for {wish}. It is time.</p>"),
    );
    fields.insert("summary", format!("We ask for {wish}."));
    addresses(collection, name, &mut fields);
    fields.insert(
        "featured_image_url",
        format!("https://www.example.org/images/{name}.jpg"),
    );
    fields.insert(
        "share_url",
        format!("https://www.example.org/{collection}/{name}?share=1"),
    );
    fields
}

fn petition(name: &str, title: &str, wish: &str) -> Object {
    let mut fields = page("petitions", name, title, wish);
    fields.insert(
        "petition_text",
        format!("Dear members of the council,\n\nwe ask you for {wish}.\n\nSincerely"),
    );
    let target = |(title, organization, ..): &(&str, &str, &str, &str)| {
        nested([("name", format!("{title}, {organization}").into())])
    };
    fields.insert(
        "target",
        Json::Array(OFFICIALS.iter().take(2).map(target).collect()),
    );
    fields.insert("share_options", share_options("petitions", name, title));
    fields
}

fn campaign(number: usize, name: &str, title: &str, wish: &str) -> Object {
    let mut fields = page(
        "advocacy_campaigns",
        name,
        &format!("Call for: {title}"),
        wish,
    );
    let script = format!(
        "Hello, my name is ... and I live in your district. I ask you for {wish}. Can I count on you?"
    );
    fields.insert("templates", texts(&[&script]));
    fields.insert("targets", "Members of the city council");
    fields.insert(
        "target_list",
        Json::Array(OFFICIALS.iter().map(official).collect()),
    );
    let channels = ["phone", "email", "postal mail", "in-person"];
    fields.insert("type", channels.get(number / 2).copied().unwrap_or("email"));
    fields.insert(
        "share_options",
        share_options("advocacy_campaigns", name, title),
    );
    fields
}

/// Returns a public official as a target of outreaches (RES-target).
pub(super) fn official(official: &(&str, &str, &str, &str)) -> Json {
    let (title, organization, given, family) = *official;
    let email = format!(
        "{}.{}@example.org",
        given.to_lowercase(),
        family.to_lowercase()
    );
    nested([
        ("title", title.into()),
        ("organization", organization.into()),
        ("given_name", given.into()),
        ("family_name", family.into()),
        ("ocdid", "ocd-division/country:us".into()),
        (
            "email_addresses",
            Json::Array(vec![nested([
                ("address", email.into()),
                ("address_type", "work".into()),
            ])]),
        ),
    ])
}

fn share_options(collection: &str, name: &str, title: &str) -> Json {
    let image = format!("https://www.example.org/images/{name}.jpg");
    let url = format!("https://www.example.org/{collection}/{name}");
    let option = nested([
        (
            "network_a_share",
            nested([
                ("title", title.into()),
                ("description", "Join us.".into()),
                ("image", image.into()),
            ]),
        ),
        (
            "network_b_share",
            nested([("message", format!("{title} {url}").into())]),
        ),
        (
            "email_share",
            nested([
                ("subject", title.into()),
                (
                    "body",
                    format!("I have just joined, will you?\n{url}").into(),
                ),
            ]),
        ),
    ]);
    Json::Array(vec![option])
}

fn levels() -> Vec<TicketLevelSeed> {
    vec![
        TicketLevelSeed {
            title: "Standard",
            description: "A seat",
            cents: 1500,
            left: 150,
        },
        TicketLevelSeed {
            title: "Reduced",
            description: "A seat, for those who have less",
            cents: 500,
            left: 60,
        },
        TicketLevelSeed {
            title: "Supporter",
            description: "A seat, and a seat for another",
            cents: 4000,
            left: 30,
        },
    ]
}

fn level_fields(level: &TicketLevelSeed) -> Json {
    nested([
        ("title", level.title.into()),
        ("description", level.description.into()),
        ("amount", money(level.cents)),
        ("currency", "USD".into()),
        ("limit", level.left.into()),
    ])
}

fn location(number: usize) -> Json {
    let place = PLACES.get(number).or(PLACES.first());
    let text = |text: Option<&'static str>| Json::from(text.unwrap_or_default());
    nested([
        ("venue", "Community Center".into()),
        ("address_lines", texts(&["12 Library Square"])),
        ("locality", text(place.map(|place| place.locality))),
        ("region", text(place.map(|place| place.region))),
        ("postal_code", text(place.map(|place| place.postal_code))),
        ("country", "US".into()),
        ("language", "en".into()),
        ("public", true.into()),
    ])
}

fn contact(name: &str) -> Json {
    nested([
        ("name", "Front desk".into()),
        ("email_address", format!("{name}@example.org").into()),
        ("phone_number", "15550100000".into()),
        ("additional_info", "Weekdays from nine to five".into()),
        ("public", true.into()),
    ])
}
