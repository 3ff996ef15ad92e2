//! Generates values and faults from the tables, for every field of every kind.

use svc_core::{
    filter::name_key,
    model::Kind,
    read::{Json, Number, Object},
    schema::{FieldMode, FieldRule, FieldSpec, ObjectSchema, ValueType},
    value::{Amount, Date, Timestamp, stored_text, trimmed},
};

/// A source of random choices. The same seed gives the same values.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or_default()
    }

    /// Returns a number between two bounds, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = u64::try_from(i128::from(high) - i128::from(low) + 1).unwrap_or(u64::MAX);
        i64::try_from(i128::from(low) + i128::from(self.next() % span)).unwrap_or(low)
    }

    /// Returns true once in `of` times on average.
    pub(crate) fn once_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    fn letters(&mut self, alphabet: &str, longest: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..=self.below(longest))
            .map(|_| letters[self.below(letters.len())])
            .collect()
    }

    /// Returns a text with characters of all sorts, in the form in which it is stored.
    ///
    /// Requirements: TYP-01, UND-49.
    pub(crate) fn text(&mut self) -> String {
        let text = self.any_text();
        stored_text(&text).expect("no control character").to_owned()
    }

    fn any_text(&mut self) -> String {
        let whole = [
            "",
            "plain",
            "spaces  inside",
            "quote \" backslash \\ slash /",
            "tab\tline\nreturn\rend",
        ];
        match self.below(4) {
            0 => self.pick(&whole).to_owned(),
            1 => self.letters("abcdefghij ABCDEFGHIJ0123456789-_.,:;@{}[]", 400),
            2 => self.letters(
                "äöüßéñçøåАбвгдабв漢字かなעבריתالعربية✊🏽e\u{301}\u{202e}\u{2028}",
                20,
            ),
            _ => self.letters("abcdefghijklmnopqrstuvwxyz", 12),
        }
    }
}

impl Dice {
    /// Returns a text that is not blank.
    fn words(&mut self) -> String {
        let text = self.text();
        if trimmed(&text).is_empty() {
            "words".to_owned()
        } else {
            text
        }
    }
}

fn array<T>(items: Vec<T>) -> Json
where
    Json: From<T>,
{
    Json::Array(items.into_iter().map(Json::from).collect())
}

/// Returns a valid value for a type and its rules.
pub(crate) fn value(dice: &mut Dice, ty: &ValueType, rules: &[FieldRule]) -> Json {
    match ty {
        ValueType::String => string(dice, rules).into(),
        // An empty one counts as omitted. Requirements: UND-47.
        ValueType::Reference => dice.words().into(),
        ValueType::Integer => integer(dice, rules),
        ValueType::Float => {
            let (low, high) = bounds(rules).unwrap_or((-1000, 1000));
            #[allow(clippy::cast_precision_loss, reason = "small numbers")]
            let number = dice.between(low * 10_000, high * 10_000) as f64 / 10_000.0;
            Json::Number(Number::from_f64(number).expect("a finite number"))
        }
        ValueType::Amount => {
            let mantissa = dice.between(0, 1_000_000_000_000);
            let scale = u32::try_from(dice.below(7)).expect("a small number");
            Amount::new(i128::from(mantissa), scale)
                .expect("an amount")
                .into()
        }
        ValueType::Boolean => dice.once_in(2).into(),
        ValueType::Timestamp => {
            let micros = dice.between(Timestamp::MIN.as_micros(), Timestamp::MAX.as_micros());
            Timestamp::from_micros(
                micros
                    - if dice.once_in(2) {
                        micros % 1_000_000
                    } else {
                        0
                    },
            )
            .into()
        }
        ValueType::Date => {
            let part = |dice: &mut Dice, high| {
                u8::try_from(dice.between(1, high)).expect("a small number")
            };
            let year = u16::try_from(dice.between(1, 9999)).expect("a year");
            let (month, day) = (part(dice, 12), part(dice, 28));
            Date::new(year, month, day).expect("a date").into()
        }
        ValueType::Enum(values) => dice.pick(values).into(),
        ValueType::FlexEnum(values) => if dice.once_in(2) {
            dice.words()
        } else {
            dice.pick(values).to_owned()
        }
        .into(),
        // A boolean is also accepted, and returned as text (RES-phone_number-01).
        ValueType::Flag => Json::from(if dice.once_in(2) { "true" } else { "false" }),
        ValueType::StringMap => {
            let members =
                (0..dice.below(4)).map(|place| (format!("{}{place}", dice.text()), dice.text()));
            Json::Object(members.collect())
        }
        ValueType::Array(item) => items(dice, item, rules),
        ValueType::OneOrMany(item) if dice.once_in(2) => items(dice, item, rules),
        ValueType::OneOrMany(item) => value(dice, item, rules),
        ValueType::Object(schema) => object(dice, schema).into(),
    }
}

fn bounds(rules: &[FieldRule]) -> Option<(i64, i64)> {
    rules.iter().find_map(|rule| {
        if let FieldRule::Between(low, high) = rule {
            Some((*low, *high))
        } else {
            None
        }
    })
}

fn integer(dice: &mut Dice, rules: &[FieldRule]) -> Json {
    let (low, high) = match bounds(rules) {
        Some(bounds) => bounds,
        None if rules.contains(&FieldRule::NotNegative) => (0, i64::MAX),
        None => (i64::MIN, i64::MAX),
    };
    Json::integer(dice.between(low, high))
}

fn string(dice: &mut Dice, rules: &[FieldRule]) -> String {
    let code = |dice: &mut Dice, length: usize| -> String {
        (0..length)
            .map(|_| char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[dice.below(26)]))
            .collect()
    };
    if rules.contains(&FieldRule::LanguageTag) {
        return dice
            .pick(&["en", "de-CH-1901", "zh-Hant-TW", "x-own"])
            .to_owned();
    }
    match rules.first() {
        Some(FieldRule::Email) => format!("{}@example.org", dice.letters("abcdefXYZ.+", 12)),
        // Countries without phone numbers, because numbers are generated independently of them
        // (RES-phone_number-03).
        Some(FieldRule::CountryCode) => dice.pick(&["BV", "HM"]).to_owned(),
        // Gold has no minor unit: amounts can have any number of digits (RES-donation-03).
        Some(FieldRule::CurrencyCode) => "XAU".to_owned(),
        Some(FieldRule::OneLine) => dice.letters("Ada <.@>\u{e9}", 20).trim().to_owned(),
        Some(FieldRule::RegionCode) => code(dice, 2),
        Some(FieldRule::LanguageCode) => dice.pick(&["en", "yue"]).to_owned(),
        Some(FieldRule::PhoneNumber) => format!("493012{}", dice.letters("0123456789", 9)),
        Some(FieldRule::WithoutAt) => dice
            .letters("abcdef@", 8)
            .trim_start_matches('@')
            .to_owned(),
        Some(FieldRule::ResponseKey) => dice.letters("abcABC019", 8),
        Some(FieldRule::ResponseName) => dice.letters("abc_ABC_019", 8),
        _ => dice.text(),
    }
}

fn items(dice: &mut Dice, item: &ValueType, rules: &[FieldRule]) -> Json {
    let count = dice.below(4);
    if rules.contains(&FieldRule::Identifiers) {
        return array(
            (0..count)
                .map(|place| format!("system-{place}:{}x", dice.text()))
                .collect(),
        );
    }
    let mut list: Vec<Json> = Vec::new();
    for place in 0..count {
        let mut made = value(dice, item, of_each(rules));
        // An empty entry counts as omitted. Requirements: UND-47.
        if made.as_str().is_some_and(|text| trimmed(text).is_empty()) {
            made = dice.words().into();
        }
        if let Json::Object(members) = &mut made {
            if rules.contains(&FieldRule::OnePrimary) && place > 0 {
                members.remove("primary");
            }
            if rules.contains(&FieldRule::MergedEntries)
                && let Some(address) = members.get("address").and_then(Json::as_str)
            {
                members.insert("address", format!("{place}{address}"));
            }
            if rules.contains(&FieldRule::UniqueKeys) {
                members.insert("key", format!("k{place}"));
            }
        }
        if !rules.contains(&FieldRule::Unique) || !list.contains(&made) {
            list.push(made);
        }
    }
    Json::Array(list)
}

/// Returns the rules of a list that apply to its elements.
fn of_each(rules: &[FieldRule]) -> &'static [FieldRule] {
    if rules.contains(&FieldRule::LanguageTag) {
        &[FieldRule::LanguageTag]
    } else {
        &[]
    }
}

/// Returns a valid object: every required member and about half of the other writable ones.
pub(crate) fn object(dice: &mut Dice, schema: &ObjectSchema) -> Object {
    let mut made = Object::new();
    for field in schema.fields.iter().filter(|field| !field.is_computed()) {
        if field.mode == FieldMode::Required || dice.once_in(2) {
            made.insert(field.name, value(dice, &field.ty, field.rules));
        }
    }
    made
}

/// Returns a valid body of a kind that also satisfies its rules between fields.
pub(crate) fn body(dice: &mut Dice, kind: Kind) -> Object {
    let mut body = object(dice, kind.schema().fields);
    keep_rules(kind, &mut body);
    body
}

fn keep_rules(kind: Kind, body: &mut Object) {
    let text = |body: &Object, name: &str| body.get(name).and_then(Json::as_str).map(str::to_owned);
    match kind {
        // ERR-35
        Kind::Question if text(body, "question_type").as_deref() == Some("Paragraph") => {
            drop(body.remove("responses"));
        }
        // RES-question-07
        Kind::Question if body.get("responses").is_none_or(Json::is_empty) => {
            let response = Json::Object([("key", Json::from("k0"))].into_iter().collect());
            body.insert("responses", Json::Array(vec![response]));
        }
        // UND-02, UND-03
        Kind::Tag | Kind::List => {
            let name = text(body, "name").unwrap_or_default();
            if name_key(kind, &name).is_none() {
                body.insert("name", "n");
            }
        }
        // RES-event-24
        Kind::Event => {
            let (start, end) = (text(body, "start_date"), text(body, "end_date"));
            if let (Some(start), Some(end)) = (start, end)
                && Timestamp::parse(&end) < Timestamp::parse(&start)
            {
                body.insert("start_date", end);
                body.insert("end_date", start);
            }
        }
        Kind::Person => {
            // UND-48
            body.insert("given_name", Json::from("Ada"));
            // RES-person-08
            if body.contains("gender_identity") {
                body.remove("gender");
            }
            // RES-person-21
            if let Some(birthdate) = body.get_mut("birthdate").and_then(Json::as_object_mut)
                && birthdate
                    .get("day")
                    .and_then(Json::as_i64)
                    .is_some_and(|day| day > 28)
            {
                birthdate.insert("day", Json::integer(28));
            }
        }
        Kind::Donation => {
            // RES-donation-18
            if body.get("voided").and_then(Json::as_bool) != Some(true) {
                body.remove("voided_date");
            }
            // RES-donation-03
            if !body.contains("amount") {
                body.remove("recipients");
            }
        }
        _ => {}
    }
}

/// A body with faults, and the paths of the faults.
#[derive(Debug, Default)]
pub(crate) struct Faulty {
    pub(crate) body: Object,
    pub(crate) paths: Vec<String>,
}

/// Returns a body of a kind with faults in many places, at every depth.
pub(crate) fn faulty(dice: &mut Dice, kind: Kind) -> Faulty {
    let mut made = Faulty::default();
    made.body = faulty_object(dice, kind.schema().fields, "", &mut made.paths);
    made
}

fn faulty_object(
    dice: &mut Dice,
    schema: &ObjectSchema,
    at: &str,
    paths: &mut Vec<String>,
) -> Object {
    let mut made = Object::new();
    for field in schema.fields.iter().filter(|field| !field.is_computed()) {
        let path = if at.is_empty() {
            field.name.to_owned()
        } else {
            format!("{at}.{}", field.name)
        };
        match dice.below(4) {
            0 if field.mode == FieldMode::Required => paths.push(path),
            0 => {}
            1 => drop(made.insert(field.name, value(dice, &field.ty, field.rules))),
            _ => drop(made.insert(field.name, wrong(dice, field, &path, paths))),
        }
    }
    made
}

/// Returns a value that is invalid itself or contains an invalid one.
pub(crate) fn wrong(
    dice: &mut Dice,
    field: &FieldSpec,
    path: &str,
    paths: &mut Vec<String>,
) -> Json {
    if dice.once_in(2)
        && let Some(made) = wrong_inside(dice, &field.ty, field.rules, path, paths)
    {
        return made;
    }
    paths.push(path.to_owned());
    if dice.once_in(2)
        && let Some(made) = broken_rule(&field.ty, field.rules)
    {
        return made;
    }
    wrong_type(dice, &field.ty, field.rules)
}

/// Returns an object or array that contains an invalid value; `None` if the type has no members, or
/// no member became invalid.
fn wrong_inside(
    dice: &mut Dice,
    ty: &ValueType,
    rules: &[FieldRule],
    path: &str,
    paths: &mut Vec<String>,
) -> Option<Json> {
    let before = paths.len();
    let made = match ty {
        ValueType::Object(schema) => faulty_object(dice, schema, path, paths).into(),
        ValueType::StringMap => {
            paths.push(format!("{path}.b"));
            Json::Object(Object::from_iter([
                ("a", Json::from("good")),
                ("b", Json::integer(1)),
            ]))
        }
        ValueType::Array(item) | ValueType::OneOrMany(item) => {
            let count = 1 + dice.below(3);
            let list = (0..count).map(|place| {
                let at = format!("{path}[{place}]");
                match (item.object(), dice.below(3)) {
                    (Some(schema), 1) => faulty_object(dice, schema, &at, paths).into(),
                    (_, 2) => {
                        paths.push(at);
                        wrong_type(dice, item, &[])
                    }
                    _ if rules.contains(&FieldRule::Identifiers) => {
                        value(dice, item, &[FieldRule::Email])
                    }
                    _ => value(dice, item, of_each(rules)),
                }
            });
            let mut list: Vec<Json> = list.collect();
            if rules.contains(&FieldRule::Identifiers) {
                list.push("no colon".into());
                paths.push(format!("{path}[{count}]"));
                // The valid values have no colon here either, so they become invalid.
                for (place, item) in list
                    .iter()
                    .enumerate()
                    .filter(|(_, item)| item.as_str().is_some())
                {
                    let at = format!("{path}[{place}]");
                    if item.as_str().is_some_and(|text| !text.contains(':')) && !paths.contains(&at)
                    {
                        paths.push(at);
                    }
                }
            }
            Json::Array(list)
        }
        _ => return None,
    };
    (paths.len() > before).then_some(made)
}

/// Returns a value of the right type that violates a rule of the field.
fn broken_rule(ty: &ValueType, rules: &[FieldRule]) -> Option<Json> {
    let primary = || Json::Object(Object::from_iter([("primary", Json::from(true))]));
    let made = match (rules.first(), ty) {
        (Some(FieldRule::Between(low, _)), _) => Json::integer(low - 1),
        (Some(FieldRule::NotNegative), _) => Json::integer(-1),
        (Some(FieldRule::Email), _) => "nobody".into(),
        (Some(FieldRule::CountryCode), _) => "DEU".into(),
        (Some(FieldRule::CurrencyCode), _) => "E1R".into(),
        (Some(FieldRule::OneLine), _) => "a\r\nb".into(),
        (Some(FieldRule::RegionCode), _) => "Illinois".into(),
        (Some(FieldRule::LanguageCode), _) => "English".into(),
        (Some(FieldRule::LanguageTag), ValueType::String) => "not a tag".into(),
        (Some(FieldRule::PhoneNumber), _) => "call me".into(),
        (Some(FieldRule::ResponseKey), _) => "a-b".into(),
        (Some(FieldRule::ResponseName), _) => "no good".into(),
        (Some(FieldRule::MergedEntries | FieldRule::OnePrimary), _) => {
            Json::Array(vec![primary(), Json::Object(Object::new()), primary()])
        }
        (None, ValueType::Enum(_)) => "no such value".into(),
        (None, ValueType::Timestamp) => "2026-01-05 09:00".into(),
        (None, ValueType::Date) => "2026-02-30".into(),
        (None, ValueType::Integer) => Json::Number(Number::parse("1.5")?),
        (None, ValueType::Amount) => Json::Number(Number::parse("12345678901234567890123456789")?),
        (None, ValueType::Flag) => "yes".into(),
        _ => return None,
    };
    Some(made)
}

/// Returns a value of a different JSON type.
fn wrong_type(dice: &mut Dice, ty: &ValueType, rules: &[FieldRule]) -> Json {
    let empty = || Json::Object(Object::new());
    let list = || Json::Array(Vec::new());
    let choices: Vec<Json> = match ty {
        // A phone number may be sent as a number.
        ValueType::String if rules.contains(&FieldRule::PhoneNumber) => {
            vec![true.into(), empty(), list()]
        }
        ValueType::String
        | ValueType::Enum(_)
        | ValueType::FlexEnum(_)
        | ValueType::Timestamp
        | ValueType::Date
        | ValueType::Reference => {
            vec![Json::integer(7), true.into(), empty(), list()]
        }
        ValueType::Integer | ValueType::Float => vec!["7".into(), true.into(), empty(), list()],
        ValueType::Amount => {
            vec![
                "7".into(),
                true.into(),
                empty(),
                list(),
                Json::integer(-5),
                Json::integer(10_i64.pow(16)),
            ]
        }
        ValueType::Boolean | ValueType::Flag => {
            vec![Json::integer(1), "yes".into(), empty(), list()]
        }
        ValueType::Array(_) => vec![Json::integer(7), "text".into(), empty(), true.into()],
        ValueType::StringMap | ValueType::Object(_) => {
            vec![Json::integer(7), "text".into(), list(), true.into()]
        }
        ValueType::OneOrMany(_) => vec![Json::integer(7), "text".into(), true.into()],
    };
    let place = dice.below(choices.len());
    choices[place].clone()
}

/// Returns any JSON value.
pub(crate) fn anything(dice: &mut Dice, depth: usize) -> Json {
    match dice.below(if depth == 0 { 6 } else { 9 }) {
        0 => Json::Null,
        1 => dice.once_in(2).into(),
        2 => Json::integer(dice.between(-2, 2)),
        3 => Json::Number(
            Number::parse(dice.pick(&["1e400", "-0", "1.5", "9223372036854775808"]))
                .expect("a number"),
        ),
        4 => dice.text().into(),
        5 => dice
            .pick(&[
                "true",
                "2026-01-05T09:00:00Z",
                "a@x.org",
                "people/person-1",
                "crm:person-1",
                "x:1",
            ])
            .into(),
        6 => Json::Array(
            (0..dice.below(4))
                .map(|_| anything(dice, depth - 1))
                .collect(),
        ),
        _ => {
            let names = [
                "href",
                "primary",
                "address",
                "key",
                "question",
                "responses",
                "enabled",
                "given_name",
                "x",
            ];
            let members = (0..dice.below(4))
                .map(|_| (dice.pick(&names).to_owned(), anything(dice, depth - 1)));
            Json::Object(members.collect::<Vec<_>>().into_iter().collect())
        }
    }
}

/// Returns a body with arbitrary values under known names.
pub(crate) fn hostile(dice: &mut Dice, kind: Kind) -> Object {
    let mut made = if dice.once_in(2) {
        body(dice, kind)
    } else {
        Object::new()
    };
    let fields: Vec<&str> = kind
        .schema()
        .fields
        .fields
        .iter()
        .map(|field| field.name)
        .collect();
    let others = [
        "_links",
        "identifiers",
        "person",
        "canvass",
        "add_tags",
        "add_tags_uri",
        "add_lists",
        "add_lists_uri",
        "id",
        "add_questions_responses_uri",
        "triggers",
        "created_date",
        "attendance",
        "svc:attendance",
        "svc:person",
    ];
    for _ in 0..dice.below(5) {
        let name = if dice.once_in(2) {
            dice.pick(&fields)
        } else {
            dice.pick(&others)
        };
        made.insert(name, anything(dice, 3));
    }
    made
}
