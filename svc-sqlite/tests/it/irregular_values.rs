//! Values of a person as people and programs write them. Each is stored in one form or rejected with
//! the name of its property, and what was read can be sent back.

use http::Method;
use serde_json::{Value, json};
use svc_core::{
    model::Kind,
    schema::{ObjectSchema, ValueType},
};

use crate::both_stores::{Answer, Subject, each};

/// A person with a value in every field that a client can write.
fn person() -> Value {
    let address = json!({
        "venue": "Café Zürich",
        "address_lines": ["12 Main Street", "Floor 2"],
        "locality": "Montréal",
        "region": "QC",
        "postal_code": "H2X 1Y4",
        "country": "CA",
        "language": "fr",
        "location": { "latitude": 45.5, "longitude": -73.5, "accuracy": "Approximate" },
        "status": "Verified",
    });
    let mut postal = address.clone();
    for (name, value) in [
        ("primary", json!(true)),
        ("address_type", json!("Home")),
        ("last_verified_date", json!("2026-01-02T03:04:05Z")),
    ] {
        postal[name] = value;
    }
    json!({
        "family_name": "Müller-O'Brien",
        "given_name": "Zoé",
        "additional_name": "Ada",
        "honorific_prefix": "Dr.",
        "honorific_suffix": "Jr.",
        "gender": "Female",
        "gender_identity": "woman",
        "party_identification": "Independent",
        "parties": [{
            "identification": "Democratic",
            "last_verified_date": "2026-01-02T03:04:05Z",
            "active": true,
        }],
        "source": "street stall",
        "ethnicities": ["Māori", "Pākehā"],
        "languages_spoken": ["en", "fr-CA"],
        "preferred_language": "fr-CA",
        "browser_url": "https://example.org/zoe",
        "administrative_url": "https://example.org/admin/zoe",
        "birthdate": { "month": 2, "day": 28, "year": 1990 },
        "employer": "Example Ltd",
        "employer_address": address,
        "postal_addresses": [postal],
        "email_addresses": [{
            "primary": true,
            "address": "zoé.muller@münchen.example",
            "address_type": "personal",
            "status": "subscribed",
        }],
        "phone_numbers": [{
            "primary": true,
            "number": "15145550123",
            "extension": "12",
            "description": "evenings",
            "number_type": "Mobile",
            "operator": "Example Telecom",
            "country": "CA",
            "sms_capable": true,
            "do_not_call": false,
        }],
        "profiles": [{
            "provider": "Mastodon",
            "id": "17",
            "url": "https://social.example/@zoe",
            "handle": "zoe",
        }],
        "custom_fields": { "size": "M" },
    })
}

/// An irregular form of a value; `None` if the value has no such form.
type Change = fn(&Value) -> Option<Value>;

fn text(value: &Value, change: impl FnOnce(&str) -> String) -> Option<Value> {
    let text = value.as_str()?;
    let changed = change(text);
    (changed != text).then(|| changed.into())
}

/// White space at the ends of a text. It is never a part of the value.
const PADDED: [(&str, Change); 5] = [
    ("spaces", |value| text(value, |it| format!("  {it} "))),
    ("no-break spaces", |value| {
        text(value, |it| format!("\u{a0}{it}\u{202f}"))
    }),
    ("a byte order mark", |value| {
        text(value, |it| format!("\u{feff}{it}"))
    }),
    ("a zero-width space", |value| {
        text(value, |it| format!("{it}\u{200b}"))
    }),
    ("a line break", |value| {
        text(value, |it| format!("{it}\r\n"))
    }),
];

const OTHERS: [(&str, Change); 20] = [
    ("capitals", |value| text(value, str::to_uppercase)),
    ("small letters", |value| text(value, str::to_lowercase)),
    ("decomposed letters", |value| {
        text(value, |it| {
            let it = it.replace('é', "e\u{301}").replace('ü', "u\u{308}");
            it.replace('ā', "a\u{304}")
        })
    }),
    ("separators", |value| {
        text(value, |it| {
            let parts = it.chars().map(String::from).collect::<Vec<_>>();
            parts
                .chunks(3)
                .map(<[_]>::concat)
                .collect::<Vec<_>>()
                .join("\u{2011}")
        })
    }),
    ("spaces inside", |value| {
        text(value, |it| {
            it.chars().flat_map(|letter| [letter, ' ']).collect()
        })
    }),
    ("brackets", |value| text(value, |it| format!("<{it}>"))),
    ("quotes", |value| text(value, |it| format!("\"{it}\""))),
    ("two with a comma", |value| {
        text(value, |it| format!("{it}, {it}"))
    }),
    ("two with a semicolon", |value| {
        text(value, |it| format!("{it};{it}"))
    }),
    ("a control character", |value| {
        text(value, |it| format!("{it}\u{7}{it}"))
    }),
    ("a blank text", |_| Some(json!(" \t"))),
    ("an empty text", |_| Some(json!(""))),
    ("no value", |_| Some(json!(null))),
    ("an empty list", |_| Some(json!([]))),
    ("an empty object", |_| Some(json!({}))),
    ("a list of the value", |value| Some(json!([value]))),
    ("the value as text", |value| {
        (!value.is_string() && !value.is_object() && !value.is_array())
            .then(|| value.to_string().into())
    }),
    ("the value as a number", |value| {
        let number = value.as_str()?.parse::<u64>().ok()?;
        Some(number.into())
    }),
    ("a repeated entry", |value| {
        let list = value.as_array()?;
        Some([list.as_slice(), list.as_slice()].concat().into())
    }),
    ("an empty entry", |value| {
        let list = value.as_array()?;
        let empty = list.first()?.as_str().map_or(json!({}), |_| json!(""));
        Some([list.as_slice(), &[empty]].concat().into())
    }),
];

/// A value in a document: its property as errors name it, and its JSON pointer.
#[derive(Debug)]
struct Place {
    property: String,
    pointer: String,
}

impl Place {
    /// Returns the name of the field of the person.
    fn field(&self) -> &str {
        self.property.split(['.', '[']).next().unwrap_or_default()
    }

    /// Returns whether a property is this one, contains it, or is in it.
    fn concerns(&self, property: &str) -> bool {
        property.starts_with(&*self.property) || self.property.starts_with(property)
    }
}

/// Adds the places of a value and of the values in it.
fn add_places(value: &Value, at: Place, places: &mut Vec<Place>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let property = match &*at.property {
                    "" => name.clone(),
                    within => format!("{within}.{name}"),
                };
                let pointer = format!("{}/{name}", at.pointer);
                add_places(member, Place { property, pointer }, places);
            }
        }
        Value::Array(list) => {
            for (place, entry) in list.iter().enumerate() {
                let property = format!("{}[{place}]", at.property);
                let pointer = format!("{}/{place}", at.pointer);
                add_places(entry, Place { property, pointer }, places);
            }
        }
        _ => {}
    }
    if !at.property.is_empty() {
        places.push(at);
    }
}

fn places(value: &Value) -> Vec<Place> {
    let whole = Place {
        property: String::new(),
        pointer: String::new(),
    };
    let mut places = Vec::new();
    add_places(value, whole, &mut places);
    places
}

/// Adds the properties of all values that a client can write, with the first entry of each list.
fn add_writable(schema: &ObjectSchema, within: &str, all: &mut Vec<String>) {
    for field in schema.fields.iter().filter(|field| !field.is_computed()) {
        let list = if matches!(field.ty, ValueType::Array(_)) {
            "[0]"
        } else {
            ""
        };
        let property = format!("{within}{}{list}", field.name);
        match field.ty.object() {
            Some(schema) => add_writable(schema, &format!("{property}."), all),
            None => all.push(property),
        }
    }
}

/// A way to send a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Create,
    SignUp,
    Signature,
    Update,
}

impl Way {
    /// Returns the name of the member that contains the person.
    fn envelope(self) -> &'static str {
        match self {
            Self::Create | Self::Update => "",
            Self::SignUp | Self::Signature => "person.",
        }
    }
}

/// The addresses that a test sends people to.
struct Setting<'a> {
    subject: &'a Subject,
    petition: String,
}

impl Setting<'_> {
    /// Sends a person. Returns the response, and the address of the person if it was stored.
    async fn send(&self, way: Way, sent: &Value, field: &str) -> (Answer, Option<String>) {
        let post = async |address: &str, body: &Value| {
            self.subject.call(Method::POST, address, body).await
        };
        match way {
            Way::Create => {
                let answer = post("people", sent).await;
                let url = (answer.status == 201).then(|| answer.url());
                (answer, url)
            }
            Way::SignUp => {
                let answer = post("people/person_signup", &json!({ "person": sent })).await;
                let url = (answer.status == 200).then(|| answer.url());
                (answer, url)
            }
            Way::Signature => {
                let address = format!("{}/record_signature_helper", self.petition);
                let answer = post(&address, &json!({ "person": sent })).await;
                let link = answer.json["_links"]["svc:person"]["href"].as_str();
                let url = link.filter(|_| answer.status == 200).map(str::to_owned);
                (answer, url)
            }
            Way::Update => {
                let own = self.subject.make("people", person()).await;
                let change = json!({ field: sent[field] });
                let answer = self.subject.call(Method::PUT, &own, &change).await;
                if answer.status != 200 {
                    self.delete(&own).await;
                }
                let url = (answer.status == 200).then_some(own);
                (answer, url)
            }
        }
    }

    async fn delete(&self, person: &str) {
        let answer = self
            .subject
            .call(Method::DELETE, person, &Value::Null)
            .await;
        assert_eq!(answer.status, 204, "{}", answer.json);
    }

    /// Sends a person, and returns it as it is stored, `None` if it was rejected.
    async fn stored(&self, way: Way, sent: &Value, place: &Place, what: &str) -> Option<Value> {
        let at = format!(
            "{}, {way:?}: {} with {what}",
            self.subject.name, place.property
        );
        let (answer, url) = self.send(way, sent, place.field()).await;
        let Some(url) = url else {
            assert_eq!(answer.status, 400, "{at}: {}", answer.json);
            let problems = answer.problems();
            let properties = problems.iter().flat_map(|(_, properties)| properties);
            let is_named = |property: &String| {
                let property = property.strip_prefix(way.envelope());
                property.is_some_and(|property| place.concerns(property))
            };
            assert!(!problems.is_empty(), "{at}: {}", answer.json);
            for property in properties {
                assert!(is_named(property), "{at}: {}", answer.json);
            }
            return None;
        };
        let read = self.subject.get(&url).await;
        let headers = [("prefer", "handling=strict")];
        let (key, method) = (self.subject.full_key(), Method::PUT);
        let back = self
            .subject
            .send(key, method, &url, &headers, &read.json)
            .await;
        assert_eq!((back.status, &back.json), (200, &read.json), "UND-22, {at}");
        assert_eq!(back.header("etag"), read.header("etag"), "CRU-19, {at}");
        self.delete(&url).await;
        Some(read.json)
    }
}

#[test]
fn the_person_has_every_field() {
    let mut writable = Vec::new();
    add_writable(Kind::Person.schema().fields, "", &mut writable);
    let own = places(&person());
    for property in writable {
        let within = format!("{property}.");
        let is_there =
            |place: &Place| place.property == property || place.property.starts_with(&within);
        assert!(own.iter().any(is_there), "{property}");
    }
}

/// UND-46, UND-47, UND-49: an irregular value is stored in one form or rejected with its property, by
/// creates, helpers and updates alike. What was read and is sent back changes nothing.
#[tokio::test]
async fn und_46_irregular_values_have_one_form_or_an_error() {
    each(
        |api| api,
        async |subject| {
            let petition = subject.make("petitions", json!({ "title": "Trees" })).await;
            let setting = Setting { subject, petition };
            let whole = person();
            let regular = setting
                .stored(Way::Create, &whole, &places(&whole)[0], "nothing")
                .await;
            let regular = regular.expect("a stored person");
            let (mut accepted, mut rejected) = (0, 0);
            for place in places(&whole) {
                let value = whole.pointer(&place.pointer).expect("a value");
                for (what, change) in PADDED.iter().chain(&OTHERS) {
                    let Some(irregular) = change(value) else {
                        continue;
                    };
                    let mut sent = whole.clone();
                    *sent.pointer_mut(&place.pointer).expect("a value") = irregular;
                    let field = place.field();
                    let created = setting.stored(Way::Create, &sent, &place, what).await;
                    // The rules are the same for all stores; one of them gets all requests.
                    let mut others = Vec::new();
                    if subject.name == "memory" {
                        others.push(setting.stored(Way::Update, &sent, &place, what).await);
                        for way in [Way::SignUp, Way::Signature] {
                            let stored = setting.stored(way, &sent, &place, what).await;
                            assert_eq!(
                                stored.as_ref().map(|it| &it[field]),
                                created.as_ref().map(|it| &it[field]),
                                "{way:?}: {} with {what}",
                                place.property
                            );
                            others.push(stored);
                        }
                    }
                    let is_padded = PADDED.iter().any(|(name, _)| name == what);
                    for stored in others.iter().flatten().chain(&created) {
                        accepted += 1;
                        if is_padded && field != "custom_fields" {
                            assert_eq!(
                                stored[field], regular[field],
                                "{} with {what}",
                                place.property
                            );
                        }
                    }
                    rejected += usize::from(created.is_none());
                }
            }
            assert!(accepted > 500 && rejected > 100, "{accepted} {rejected}");
        },
    )
    .await;
}
