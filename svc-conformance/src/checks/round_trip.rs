//! What is sent is read back: every declared field of every kind, whole bodies and parts of them (RT, EN and FX rows, TYP,
//! CAP-06, CAP-08, CRU-15 to CRU-19).

use serde_json::{Map, Value, json};

use super::same::put;
use crate::check::{Check, Cx, Intensity, Stop};
use crate::fields::{self, Shape};
use crate::generate::{self, Shown, Turn};
use crate::kinds::{ACTIONS, kind};
use crate::passive::{instant, row_of};
use crate::session::{Client, Record};
use crate::world::{self, is_unset};

/// The rows of every field of a kind, and of the shared objects that any kind may carry.
macro_rules! fields_of {
    ($own:literal) => {
        &[
            $own,
            "field:postal_address.",
            "field:email_address.",
            "field:phone_number.",
            "field:referrer_data.",
            "field:share_options.",
            "field:target.",
            "field:*.referrer_data",
            "field:*.share_options",
            "RES-target-01",
            "HAL-11",
            "TYP-01",
            "TYP-02",
            "TYP-03",
            "TYP-04",
            "TYP-05",
            "TYP-06",
            "TYP-07",
            "TYP-08",
            "TYP-09",
            "TYP-10",
            "TYP-11",
            "TYP-12",
            "ERR-13",
            "HAL-16",
            "LIM-03",
        ]
    };
}

/// The rows of changes to a kind.
const CHANGES: &[&str] = &[
    "CRU-04",
    "CRU-08",
    "CRU-11",
    "CRU-15",
    "CRU-16",
    "CRU-17",
    "CRU-18",
    "CRU-19",
    "CAP-06",
    "ERR-15",
    "TYP-15",
    "TYP-16",
    "field:petition.total_signatures",
    "field:form.total_submissions",
    "field:fundraising_page.total_donations",
    "field:fundraising_page.total_amount",
    "field:event.total_accepted",
    "field:event.total_tickets",
    "field:event.total_amount",
    "field:advocacy_campaign.total_outreaches",
];

macro_rules! checks {
    ($($one:literal $own:literal $whole:literal $parts:literal $changes:literal $nothing:literal $arrays:literal;)*) => {
        pub(super) const CHECKS: &[Check] = &[$(
            Check::new($whole, fields_of!($own), |cx| Box::pin(whole(cx))).about($one),
            Check::new($parts, &["CAP-08", "ERR-13"], |cx| Box::pin(parts(cx))).about($one).at(Intensity::Quick),
            Check::new($changes, CHANGES, |cx| Box::pin(changes(cx))).about($one),
            Check::new($nothing, &["CRU-17", "ERR-15"], |cx| Box::pin(nothing(cx))).about($one),
            Check::new($arrays, &["CRU-18", "TYP-12", "ERR-15"], |cx| Box::pin(arrays(cx))).about($one),
        )*
            Check::new("typ/dates-in-helpers", &["TYP-17", "HLP-06"], |cx| Box::pin(dates_in_helpers(cx)))
                .needs("helper.*.but_schedule"),
        ];
    };
}

checks! {
    "person" "field:person." "typ/person" "cap/parts-of-person" "cru/changes-of-person" "cru/null-in-person" "cru/arrays-of-person";
    "petition" "field:petition." "typ/petition" "cap/parts-of-petition" "cru/changes-of-petition" "cru/null-in-petition" "cru/arrays-of-petition";
    "event" "field:event." "typ/event" "cap/parts-of-event" "cru/changes-of-event" "cru/null-in-event" "cru/arrays-of-event";
    "form" "field:form." "typ/form" "cap/parts-of-form" "cru/changes-of-form" "cru/null-in-form" "cru/arrays-of-form";
    "fundraising_page" "field:fundraising_page." "typ/fundraising_page" "cap/parts-of-fundraising_page" "cru/changes-of-fundraising_page" "cru/null-in-fundraising_page" "cru/arrays-of-fundraising_page";
    "question" "field:question." "typ/question" "cap/parts-of-question" "cru/changes-of-question" "cru/null-in-question" "cru/arrays-of-question";
    "share_page" "field:share_page." "typ/share_page" "cap/parts-of-share_page" "cru/changes-of-share_page" "cru/null-in-share_page" "cru/arrays-of-share_page";
    "advocacy_campaign" "field:advocacy_campaign." "typ/advocacy_campaign" "cap/parts-of-advocacy_campaign" "cru/changes-of-advocacy_campaign" "cru/null-in-advocacy_campaign" "cru/arrays-of-advocacy_campaign";
    "signature" "field:signature." "typ/signature" "cap/parts-of-signature" "cru/changes-of-signature" "cru/null-in-signature" "cru/arrays-of-signature";
    "submission" "field:submission." "typ/submission" "cap/parts-of-submission" "cru/changes-of-submission" "cru/null-in-submission" "cru/arrays-of-submission";
    "donation" "field:donation." "typ/donation" "cap/parts-of-donation" "cru/changes-of-donation" "cru/null-in-donation" "cru/arrays-of-donation";
    "outreach" "field:outreach." "typ/outreach" "cap/parts-of-outreach" "cru/changes-of-outreach" "cru/null-in-outreach" "cru/arrays-of-outreach";
    "attendance" "field:attendance." "typ/attendance" "cap/parts-of-attendance" "cru/changes-of-attendance" "cru/null-in-attendance" "cru/arrays-of-attendance";
    "canvass" "field:canvass." "typ/canvass" "cap/parts-of-canvass" "cru/changes-of-canvass" "cru/null-in-canvass" "cru/arrays-of-canvass";
}

/// A body of the check's kind; ends the check where the kind has nothing to send.
fn body(cx: &Cx, turn: Turn, name: &str) -> Result<Value, Stop> {
    let one = cx.check.subject;
    let none = || Stop::Inconclusive(format!("no field of {one} is declared writable"));
    let strategy = generate::body(cx.declared(), one, turn, &token(cx, name)).ok_or_else(none)?;
    generate::sample(&strategy, cx.seed(name)).ok_or_else(none)
}

/// A short word that no other body has.
fn token(cx: &Cx, name: &str) -> String {
    cx.seed(&format!("{name} {}", cx.attempt)).token()
}

/// Whether the check's kind can be written at all; what it cannot ends the check.
fn subject(cx: &Cx) -> Result<&'static str, Stop> {
    let one = cx.check.subject;
    if cx.declared().fields(one).is_none() {
        return Err(Stop::Inconclusive(format!("{one} is not declared")));
    }
    let helper = kind(one).and_then(|kind| kind.helper).is_some_and(|helper| cx.declared().helps(helper));
    if !cx.declared().offers(one, "create") && !helper {
        return Err(Stop::Inconclusive(format!("no way to create a {one} is declared")));
    }
    Ok(one)
}

/// Every field at once, turn by turn, so that every listed value and every sort of text is sent.
async fn whole(cx: &Cx) -> Result<(), Stop> {
    let one = subject(cx)?;
    let api = cx.api();
    for turn in 0..cx.cases(3, 9, 14) {
        let sent = body(cx, Turn::All(turn), &format!("turn {turn}"))?;
        let Ok(record) = api.make(one, &sent).await else {
            return alone(cx, &api, &sent).await;
        };
        let read = if cx.declared().offers(one, "read") { api.reread(&record).await? } else { record };
        compare(cx, &sent, &read);
    }
    for case in 0..cx.cases(0, 6, 40) {
        let sent = body(cx, Turn::Some, &format!("case {case}"))?;
        let record = api.make(one, &sent).await?;
        let read = if cx.declared().offers(one, "read") { api.reread(&record).await? } else { record };
        compare(cx, &sent, &read);
    }
    Ok(())
}

/// After a whole body was refused: field by field, to name those that are.
async fn alone(cx: &Cx, api: &Client<'_>, sent: &Value) -> Result<(), Stop> {
    let one = cx.check.subject;
    for (name, value) in sent.as_object().into_iter().flatten() {
        let Some(field) = fields::find(one, name) else { continue };
        let made = api.make(one, &json!({ name: value })).await;
        if made == Err(Stop::Failed) {
            cx.holds(field.row, false, || format!("a {one} with {name} {value} alone is refused"));
        }
    }
    Err(Stop::Failed)
}

/// Holds every value that was sent against what was read.
fn compare(cx: &Cx, sent: &Value, read: &Record) {
    let declared = cx.declared();
    let one = cx.check.subject;
    let prefix = &declared.text.custom_field_prefix;
    for shown in generate::shown(declared, one, sent) {
        let top = shown.place.split(['.', '[']).next().unwrap_or_default();
        if declared.field(one, top).is_some_and(|field| !field.readable) {
            continue;
        }
        // A member that the server keeps itself.
        if shown.field.way != fields::Way::RoundTrip {
            continue;
        }
        let got = shown.in_another(&read.json);
        let same = generate::same(shown.field, shown.sent, got, prefix);
        for row in rows(&shown) {
            cx.holds(row, same, || message(&shown, got, read));
        }
    }
}

fn message(shown: &Shown<'_>, got: Option<&Value>, read: &Record) -> String {
    let short = |value: &Value| value.to_string().chars().take(300).collect::<String>();
    let got = got.map_or_else(|| "nothing".to_owned(), short);
    let own = read.link("self").unwrap_or_default();
    format!("{} was sent as {}, read back as {got} ({own})", shown.place, short(shown.sent))
}

/// The rows that a value shows.
fn rows(shown: &Shown<'_>) -> Vec<&'static str> {
    let mut rows = vec![shown.field.row];
    // An object without members says nothing about its members' types.
    rows.extend(row_of(shown.field.shape));
    match shown.field.path {
        "referrer_data" => rows.push("RES-referrer_data-01"),
        "share_options" => rows.extend(["RES-share_options-01", "RES-share_options-02"]),
        "targets" | "target_list" => rows.push("RES-target-01"),
        "network_a_share" | "network_b_share" | "email_share" => rows.push("HAL-11"),
        "custom_fields" => rows.push("RES-person-37"),
        "number" if shown.field.owner == "phone_number" => rows.push("LIM-03"),
        "type" if matches!(shown.field.owner, "outreach" | "advocacy_campaign") => rows.push("TYP-10"),
        _ => {}
    }
    rows
}

/// What a create leaves out is not set, or has its declared default (CAP-08).
async fn parts(cx: &Cx) -> Result<(), Stop> {
    let one = subject(cx)?;
    let api = cx.api();
    for case in 0..cx.cases(1, 3, 12) {
        let sent = if case == 0 { json!({}) } else { body(cx, Turn::Some, &format!("part {case}"))? };
        let record = api.make(one, &sent).await?;
        let read = if cx.declared().offers(one, "read") { api.reread(&record).await? } else { record };
        let least = world::least(cx, one);
        for (name, field) in cx.declared().fields(one).into_iter().flatten() {
            let given = sent.get(name).is_some() || least.get(name).is_some();
            let follows = (name == "gender" && sent.get("gender_identity").is_some())
                || (name == "voided_date" && sent.get("voided").is_some_and(|voided| voided == true));
            if given || follows || field.computed || !field.readable || one == "canvass" && name == "canvasser" {
                continue;
            }
            let got = read.json.get(name);
            let default = field.default.as_deref().is_some_and(|default| is_default(default, got));
            cx.holds("CAP-08", is_unset(got) || default, || {
                format!("{name} was left out and reads {got:?}; the declared default is {:?}", field.default)
            });
        }
    }
    Ok(())
}

/// Whether a value is a declared default; a default that is a time in words means any instant.
fn is_default(default: &str, got: Option<&Value>) -> bool {
    match got {
        Some(Value::String(text)) => text == default || (default.contains("time") && instant(text).is_some()),
        Some(other) => *other == default,
        None => true,
    }
}

/// A change of some fields changes those alone; what the server keeps cannot be set (CRU-15, CRU-16, CRU-19, CAP-06).
async fn changes(cx: &Cx) -> Result<(), Stop> {
    let one = subject(cx)?;
    if !cx.declared().offers(one, "update") {
        return Err(Stop::Inconclusive(format!("{one} cannot be updated")));
    }
    let api = cx.api();
    let mut before = api.make(one, &body(cx, Turn::All(0), "all")?).await?;
    before = api.reread(&before).await?;
    let mut times = 0_usize;
    let most = cx.cases(3, 8, 30);
    for case in 0..most {
        let mut sent = body(cx, Turn::Some, &format!("change {case}"))?;
        independent(one, &mut sent);
        if sent.as_object().is_none_or(Map::is_empty) {
            continue;
        }
        if whole_seconds(&before) && times < 2 {
            tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
        }
        let answered = api.change(&before, &sent).await?;
        let after = api.reread(&answered).await?;
        times = times.saturating_add(1);
        full(cx, one, &answered, &after);
        changed(cx, one, &sent, &before, &after);
        before = after;
    }
    kept(cx, &api, one, &before).await
}

/// Takes out what a rule between fields could forbid beside the stored record.
fn independent(one: &str, sent: &mut Value) {
    let dependent: &[&str] = match one {
        "person" => &["gender", "gender_identity"],
        "question" => &["question_type", "responses"],
        "event" => &["type", "ticket_levels", "start_date", "end_date"],
        "attendance" => &["tickets", "attended"],
        "donation" => &["voided", "voided_date", "amount", "credited_amount", "currency"],
        _ => &[],
    };
    if let Some(members) = sent.as_object_mut() {
        members.retain(|name, _| !dependent.contains(&name.as_str()));
    }
}

/// Whether the dates of a record have no fractions of a second.
fn whole_seconds(record: &Record) -> bool {
    record["modified_date"].as_str().is_some_and(|text| !text.contains('.'))
}

/// The answer to a change is the full updated resource (ERR-15, CRU-04, CRU-08, CRU-11).
fn full(cx: &Cx, one: &str, answered: &Record, after: &Record) {
    let row = match one {
        "signature" => Some("CRU-04"),
        "submission" => Some("CRU-08"),
        "question" => Some("CRU-11"),
        _ => None,
    };
    for (name, _) in cx.declared().fields(one).into_iter().flatten() {
        let same = generate::restored(&after[name], answered.json.get(name));
        let found = || format!("the answer to a change has {name} {}, a read gives {}", answered[name], after[name]);
        cx.holds("ERR-15", same, found);
        if let Some(row) = row {
            cx.holds(row, same, found);
        }
    }
}

fn changed(cx: &Cx, one: &str, sent: &Value, before: &Record, after: &Record) {
    let prefix = &cx.declared().text.custom_field_prefix;
    for (name, field) in cx.declared().fields(one).into_iter().flatten() {
        if field.computed || !field.readable {
            continue;
        }
        let (old, new) = (before.json.get(name), after.json.get(name));
        match (sent.get(name), fields::find(one, name)) {
            (Some(value), Some(known)) => {
                let same = generate::same(known, value, new, prefix);
                cx.holds(known.row, same, || format!("{name} was changed to {value}, reads {new:?}"));
            }
            (Some(_), None) => {}
            (None, _) => {
                let same = old == new || (is_unset(old) && is_unset(new));
                cx.holds("CRU-15", same, || format!("{name} was not sent; it was {old:?} and is {new:?}; sent {sent}"));
            }
        }
    }
    let (old, new) = (before["modified_date"].as_str(), after["modified_date"].as_str());
    if let (Some(old), Some(new)) = (old.and_then(instant), new.and_then(instant)) {
        // With whole seconds only a change after the next second shows.
        let advanced = new > old || (whole_seconds(after) && new == old);
        cx.holds("CRU-19", advanced, || format!("modified_date was {old} before the change and is {new}"));
        cx.holds("TYP-16", advanced, || format!("modified_date was {old} before the change and is {new}"));
    }
    let (old, new) = (&before["created_date"], &after["created_date"]);
    if !old.is_null() {
        cx.holds("TYP-15", old == new, || format!("created_date was {old} before the change and is {new}"));
    }
}

/// Values sent for what the server keeps change nothing.
async fn kept(cx: &Cx, api: &Client<'_>, one: &str, before: &Record) -> Result<(), Stop> {
    let declared = cx.declared();
    let mut sent = json!({"created_date": "2001-02-03T04:05:06Z", "modified_date": "2001-02-03T04:05:06Z"});
    for (name, field) in
        declared.fields(one).into_iter().flatten().filter(|(_, field)| field.computed || !field.writable)
    {
        let known = fields::find(one, name).map(|known| known.shape);
        let value = match known {
            Some(Shape::Integer | Shape::Float | Shape::Number) => json!(987_654),
            Some(Shape::Text) => json!("not mine"),
            _ if field.kind == "integer" => json!(987_654),
            _ => continue,
        };
        put(&mut sent, name, value);
    }
    let answer = api.put(&before.own()?, &sent).await?;
    let refused = answer.status == 400 && declared.behaves("rejects_read_only");
    cx.holds("CRU-16", answer.status == 200 || refused, || answer.to_string());
    let after = api.reread(before).await?;
    for (name, value) in sent.as_object().into_iter().flatten().filter(|(name, _)| *name != "modified_date") {
        let same = before.json.get(name) == after.json.get(name);
        let found = || format!("{name} was {}, a client sent {value}, it reads {}", before[name], after[name]);
        cx.holds("CRU-16", same, found);
        cx.holds("CAP-06", same, found);
        if name == "created_date" {
            cx.holds("TYP-15", same, found);
        }
        if let Some(field) = fields::find(one, name).filter(|field| field.way == fields::Way::Computed) {
            cx.holds(field.row, same, found);
        }
    }
    let modified = after["modified_date"].as_str().and_then(instant);
    let taken = modified.is_some() && modified == instant("2001-02-03T04:05:06Z");
    cx.holds("TYP-16", !taken, || format!("a client's modified_date was taken over: {}", after["modified_date"]));
    Ok(())
}

/// Fields that may not be empty beside others: an event keeps its kind while it has levels, a question's is required,
/// and a voided donation has a date.
const FIRM: &[(&str, &str)] = &[
    ("donation", "voided_date"),
    ("event", "type"),
    ("question", "question_type"),
    ("attendance", "tickets"),
    ("canvass", "canvasser"),
];

/// Each field is emptied by `null`, and the others stay (CRU-17).
async fn nothing(cx: &Cx) -> Result<(), Stop> {
    let one = subject(cx)?;
    if !cx.declared().offers(one, "update") {
        return Err(Stop::Inconclusive(format!("{one} cannot be updated")));
    }
    let api = cx.api();
    let all = body(cx, Turn::All(2), "all")?;
    let record = api.make(one, &all).await?;
    let own = cx.declared().fields(one);
    let names: Vec<&String> = own
        .into_iter()
        .flatten()
        .filter(|(_, field)| field.writable && !field.computed && !field.required && field.readable)
        .map(|(name, _)| name)
        // What another field of the record needs, or what is no field of the record.
        .filter(|name| !FIRM.contains(&(one, name.as_str())))
        // Each of them may follow from the other.
        .filter(|name| !(one == "person" && *name == "gender"))
        .collect();
    let mut before = api.reread(&record).await?;
    let each = cx.cases(4, 100, 100);
    let mut rng = cx.rng("nulls");
    for (number, name) in names.iter().enumerate() {
        // At the least intensity some of them, one by one; then the rest together.
        if number >= each && !rng.once_in(4) {
            continue;
        }
        let mut sent = Map::new();
        sent.insert((*name).clone(), Value::Null);
        api.change(&before, &Value::Object(sent)).await?;
        let after = api.reread(&before).await?;
        emptied(cx, one, name, &after);
        for other in names.iter().filter(|other| *other != name) {
            let (old, new) = (before.json.get(*other), after.json.get(*other));
            let same = old == new || (is_unset(old) && is_unset(new));
            cx.holds("CRU-17", same, || format!("{name} was emptied; {other} was {old:?} and is {new:?}"));
        }
        before = after;
    }
    let rest: Map<String, Value> = names.iter().map(|name| ((*name).clone(), Value::Null)).collect();
    if !rest.is_empty() {
        api.change(&before, &Value::Object(rest)).await?;
        let after = api.reread(&before).await?;
        for name in &names {
            emptied(cx, one, name, &after);
        }
    }
    Ok(())
}

fn emptied(cx: &Cx, one: &str, name: &str, after: &Record) {
    let field = cx.declared().field(one, name);
    let got = after.json.get(name);
    let default = field.and_then(|field| field.default.as_deref()).is_some_and(|default| is_default(default, got));
    cx.holds("CRU-17", is_unset(got) || default, || format!("{name} was set to null and reads {got:?}"));
}

/// An array is what was sent last: permuted, shortened, empty (CRU-18).
async fn arrays(cx: &Cx) -> Result<(), Stop> {
    let one = subject(cx)?;
    if !cx.declared().offers(one, "update") {
        return Err(Stop::Inconclusive(format!("{one} cannot be updated")));
    }
    let api = cx.api();
    let mut record = api.make(one, &body(cx, Turn::All(0), "all")?).await?;
    let prefix = cx.declared().text.custom_field_prefix.clone();
    let long = body(cx, Turn::All(1), "long")?;
    for (name, list) in long.as_object().into_iter().flatten() {
        let Some(list) = list.as_array().filter(|list| list.len() > 1) else { continue };
        let Some(field) = fields::find(one, name) else { continue };
        if (one == "attendance" && name == "tickets")
            || !cx.declared().field(one, name).is_some_and(|field| field.readable)
        {
            continue;
        }
        let reversed: Vec<Value> = list.iter().rev().cloned().collect();
        let short: Vec<Value> = list.iter().skip(1).cloned().collect();
        let forms = [list.clone(), reversed, short, Vec::new(), list.iter().take(1).cloned().collect()];
        for form in forms {
            // A question of choices keeps at least what it needs.
            if form.is_empty() && one == "question" {
                continue;
            }
            let form = Value::Array(form);
            api.change(&record, &json!({ name: form })).await?;
            let after = api.reread(&record).await?;
            let got = after.json.get(name);
            let same = generate::same(field, &form, got, &prefix) && length(&form) == got.map_or(0, length);
            let found = || format!("{name} was replaced by {form}, reads {got:?}");
            cx.holds("CRU-18", same, found);
            cx.holds("TYP-12", same, found);
            record = after.clone();
        }
    }
    Ok(())
}

fn length(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

/// Helpers take no dates of the client: what is sent for them has no effect (TYP-17).
async fn dates_in_helpers(cx: &Cx) -> Result<(), Stop> {
    let api = cx.api();
    let old = "2001-02-03T04:05:06Z";
    let dates = json!({"created_date": old, "modified_date": old});
    for one in ACTIONS {
        let Some(kind) = kind(one) else { continue };
        let Some(helper) = kind.helper.filter(|helper| cx.declared().helps(helper)) else { continue };
        let Ok(container) = api.make(kind.under.unwrap_or_default(), &json!({})).await else { continue };
        let person = cx.marked(&world::with(&dates, &json!({"given_name": "Dates"})));
        let body = cx.marked(&world::with(&dates, &json!({ "person": person })));
        let record = api.help(&container, helper, &body).await?;
        for name in ["created_date", "modified_date"] {
            let got = record[name].as_str().and_then(instant);
            cx.holds("TYP-17", got.is_none() || got != instant(old), || {
                format!("{helper} took over {name}: {}", record.short())
            });
        }
    }
    Ok(())
}
