//! Values of one field: ordinary ones, and those that a careless server damages.

use proptest::prelude::{Just, Strategy, any};
use proptest::sample::select;
use proptest::strategy::BoxedStrategy;
use serde_json::{Value, json};

use crate::fields::ValueShape;

/// Texts that a careless server damages: empty, white space, quotes, markup, invisible characters,
/// combining characters, right to left, beyond the basic plane, and texts that look like something
/// else. None has control characters other than tabs and line breaks, or white space at an end,
/// because a server can reject or remove them.
pub(crate) const TEXTS: &[&str] = &[
    "Plain Text",
    "spaces  stay",
    "e\u{301} is not \u{e9}",
    "quote \" backslash \\ slash / <b>markup</b> & 'apostrophe' &amp; &#39;",
    "\u{1f600}\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{10ffff}",
    "UPPER lower \u{130}\u{131}\u{df}",
    "tab\tline\nreturn\r end",
    "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{645}\u{631}\u{62d}\u{628}\u{627}",
    "a\u{200b}b\u{feff}c\u{2028}d",
    "DROP TABLE people; -- %s ${x} {{y}}",
    "null",
    "0123",
    "",
];

/// The position for which a value is generated: it selects the listed form, and makes the value
/// unique.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValuePosition<'p> {
    /// The resource or shared object.
    pub(super) owner: &'p str,
    /// The name of the field.
    pub(super) name: &'p str,
    /// The name of the field that contains the object. Empty at the top level.
    pub(super) inside: &'p str,
    /// Position in an array.
    pub(super) at: usize,
    /// With a variant, the value is the one of the variant and not random.
    pub(super) turn: Option<usize>,
    /// A text that is unique to the record.
    pub(super) unique: &'p str,
}

/// Generates valid values of a field without members.
pub(super) fn leaf(
    place: ValuePosition<'_>,
    shape: ValueShape,
    values: &[String],
) -> BoxedStrategy<Value> {
    if let Some(special) = special(place) {
        return turned(place, special);
    }
    let listed = || values.iter().map(|value| json!(value)).collect::<Vec<_>>();
    match shape {
        ValueShape::Text | ValueShape::Reference => text(place),
        ValueShape::Integer => turned(
            place,
            vec![
                json!(3),
                json!(0),
                json!(2_147_483_648_i64),
                json!(1_000_000),
            ],
        ),
        ValueShape::Float | ValueShape::Number => turned(
            place,
            [12.5, 0.0, 1_234_567.89, 16_777_217.0, 0.1]
                .map(Value::from)
                .into(),
        ),
        ValueShape::Boolean => turned(place, vec![json!(true), json!(false)]),
        ValueShape::Time => turned(place, TIMES.iter().map(|time| json!(time)).collect()),
        ValueShape::Date => turned(
            place,
            vec![
                json!("2024-12-31"),
                json!("2028-02-29"),
                json!("1970-01-01"),
            ],
        ),
        ValueShape::Enum => turned(place, listed()),
        ValueShape::Flexible => {
            // Free text is first, so that the first variants reach it even in a long list.
            let mut values = vec![json!("free form")];
            values.extend(listed());
            values.push(json!("\u{fc}ber & more"));
            turned(place, values)
        }
        ValueShape::Texts => turned(
            place,
            lists(&["one", "two", "\u{1f600} three", "four", "five  six"]),
        ),
        ValueShape::Object => turned(place, vec![json!({})]),
        ValueShape::Objects | ValueShape::OneOrMany => turned(place, vec![json!([])]),
    }
}

/// Returns many texts, two of them, none, and one.
fn lists(texts: &[&str]) -> Vec<Value> {
    let two: Vec<&str> = texts.iter().take(2).rev().copied().collect();
    vec![
        json!(texts),
        json!(two),
        json!([]),
        json!(texts.get(..1).unwrap_or_default()),
    ]
}

/// Timestamps with and without fractions and offsets, a leap day, and a day whose week belongs to
/// the next year.
const TIMES: &[&str] = &[
    "2026-01-05T09:00:00Z",
    "2024-12-31T12:30:00.25+02:00",
    "2028-02-29T23:59:59-11:30",
    "1999-12-31T23:59:59.999999Z",
    "2038-01-19T03:14:08Z",
];

/// Returns the value of the variant, or a random one.
fn turned(place: ValuePosition<'_>, values: Vec<Value>) -> BoxedStrategy<Value> {
    match place.turn {
        Some(turn) => {
            let at = turn
                .saturating_add(place.at)
                .checked_rem(values.len())
                .unwrap_or(0);
            Just(values.get(at).cloned().unwrap_or(Value::Null)).boxed()
        }
        None => select(values).boxed(),
    }
}

/// Generates text of any kind. The text of a variant contains the name of its field, so that
/// swapped fields differ.
fn text(place: ValuePosition<'_>) -> BoxedStrategy<Value> {
    let name = place.name.to_owned();
    let token = place.unique.to_owned();
    // Neighbouring fields have different texts in one variant.
    let shift = place.name.bytes().fold(place.at, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(usize::from(byte))
    });
    let dress = move |text: &str| match text {
        "" | "null" | "0123" => json!(text),
        other => json!(format!("{other} {name} {token}{other}")),
    };
    if let Some(turn) = place.turn {
        let at = turn
            .wrapping_add(shift)
            .checked_rem(TEXTS.len())
            .unwrap_or(0);
        Just(dress(TEXTS.get(at).copied().unwrap_or_default())).boxed()
    } else {
        let known = select(TEXTS.to_vec()).prop_map(dress);
        let long = Just(json!(vec!["long \u{e9}\u{1f600}"; 300].join(" ")));
        let any = proptest::collection::vec(
            any::<char>().prop_filter("storable", |c| !c.is_control()),
            0..20,
        );
        let any = any.prop_map(|letters| {
            let text: String = letters.into_iter().collect();
            let is_space = |c: char| c.is_whitespace() || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
            json!(text.trim_matches(is_space))
        });
        proptest::prop_oneof![6 => known, 1 => long, 3 => any].boxed()
    }
}

/// Returns values for fields with a stricter rule than their type. Only reserved names and numbers
/// are used.
fn special(place: ValuePosition<'_>) -> Option<Vec<Value>> {
    let texts = |list: &[&str]| Some(list.iter().copied().map(Value::from).collect());
    let numbers = |list: &[f64]| Some(list.iter().copied().map(Value::from).collect());
    let integers = |list: &[i64]| Some(list.iter().copied().map(Value::from).collect());
    let ValuePosition {
        owner,
        name,
        inside,
        at,
        unique,
        ..
    } = place;
    match (owner, name) {
        ("phone_number", "primary") => texts(if at == 0 {
            &["true", "false"]
        } else {
            &["false"]
        }),
        ("phone_number", "number") => {
            // The end of the word is derived from the seed.
            let seed = unique.bytes().rev().take(6).map(usize::from).sum::<usize>();
            let end = at.wrapping_mul(17).wrapping_add(seed) % 100;
            Some(vec![
                json!(format!("120255501{end:02}")),
                json!(format!("141555501{end:02}")),
            ])
        }
        ("phone_number", "country") => texts(&["US"]),
        ("postal_address" | "email_address", "primary") => Some(if at == 0 {
            vec![json!(true), json!(false)]
        } else {
            vec![json!(false)]
        }),
        ("email_address", "address") => {
            let plain = format!("person{at}.{unique}@example.org");
            Some(vec![
                json!(plain),
                json!(format!("a+{at}.{unique}@mail.example.com")),
            ])
        }
        // Two records must not have the same name.
        ("tag" | "list", "name") => Some(
            TEXTS
                .iter()
                .map(|text| json!(format!("{text}{unique} {text}").trim()))
                .collect(),
        ),
        ("event", "email_address") => texts(&["contact@example.org"]),
        ("message", "from" | "reply_to") => {
            texts(&["Ada <contact@example.org>", "contact@example.org"])
        }
        ("event", "phone_number") => texts(&["12025550123"]),
        ("person", "languages_spoken") => Some(lists(&["zh-Hant-TW", "en", "pt-BR", "de", "fr"])),
        ("person", "preferred_language") | (_, "language") => texts(&["en", "fr", "de"]),
        ("person", "gender_identity") => texts(&["agender", "\u{1f308}"]),
        ("person", "handle") => texts(&["ada", "ada.lovelace"]),
        ("person", "month") => integers(&[6, 1, 12]),
        ("person", "day") => integers(&[15, 1, 28]),
        ("person", "year") => integers(&[1984, 1900, 2004]),
        ("question", "key") => Some(vec![json!(format!("key{at}")), json!(format!("Z{at}z"))]),
        ("question", "name") if inside == "responses" => {
            Some(vec![json!(format!("name_{at}")), json!(format!("B{at}"))])
        }
        ("attendance", "title") => Some(vec![json!(if at == 0 { "Standard" } else { "Balcony" })]),
        ("attendance", "amount") => numbers(if at == 0 { &[10.0] } else { &[20.5] }),
        ("attendance" | "event", "currency") => texts(&["USD"]),
        ("event", "limit") => integers(&[1000, 500]),
        ("event", "capacity") => integers(&[1000, 250, 2_147_483_648]),
        ("event", "minutes") => integers(&[30, 1440, 5]),
        ("event", "start_date") => texts(&["2026-01-05T09:00:00Z", "2026-07-01T12:30:00.25+02:00"]),
        ("event", "end_date") => texts(&["2026-08-05T09:00:00Z", "2027-02-28T23:59:59-11:30"]),
        ("donation", "credited_amount") => numbers(&[1.0, 0.0, 2.5]),
        (_, "amount") => numbers(&[12.5, 100.0, 1_234_567.89, 16_777_217.25]),
        // A date in a field of type string.
        (_, "action_date") => texts(TIMES),
        (_, "country") => texts(&["US", "DE", "GB"]),
        // A server may reject a donation in another currency than that of its page.
        (_, "currency") => texts(&["EUR"]),
        (_, "region") => texts(&["NY", "CA", "BY"]),
        (_, "latitude") => numbers(&[51.507_4, -90.0, 90.0, -33.865_143]),
        (_, "longitude") => numbers(&[-0.127_8, -180.0, 180.0, 151.209_9]),
        (_, "image") => Some(vec![json!(format!(
            "https://example.org/{unique}/image.png"
        ))]),
        (_, name) if name == "url" || name.ends_with("_url") => Some(vec![
            json!(format!("https://example.org/{unique}/{name}?a=1&b=%20#top")),
            json!("http://example.com/"),
        ]),
        _ => None,
    }
}
