//! Filters and orders of collections, as the server declares them.
//!
//! Requirements: FLT-01 to FLT-14.

use super::prelude::*;
use super::record_comparison;
use crate::address::with_parameter;
use crate::catalogue::FILTERS;
use crate::kinds::KINDS;
use crate::values::instant;

pub(super) const CHECKS: &[Check] = &[
    check!(
        "flt/values",
        [FLT_01, FLT_05, FLT_06, FLT_07, FLT_12],
        values
    )
    .needs("filter.* and *.create"),
    check!("flt/words", [FLT_10], words).needs(
        "filter.identifiers and *.create or filter.email_address and *.create or filter.name and *.create",
    ),
    check!("flt/refused", [FLT_03, FLT_04], refused)
        .needs("filter.*")
        .only_reads(),
    check!("flt/pages", [FLT_01, FLT_05, FLT_08], paged).needs("filter.* and *.create"),
    check!("flt/order", [FLT_08, FLT_09], ordered).needs("order.*"),
    check!("flt/tenants", [FLT_11], tenants)
        .needs("filter.* and *.create and auth.multi_key"),
    check!(
        "flt/memberships",
        [FLT_01, FLT_05, FLT_08, FLT_11, FLT_12, FLT_13],
        memberships
    )
    .needs(
        "filter.tag and tags.create and taggings.create and people.create or \
         filter.list and lists.create and items.create and people.create or \
         filter.tag and tags.create and taggings.create and helper.person_signup or \
         filter.list and lists.create and items.create and helper.person_signup",
    ),
    check!(
        "flt/texts",
        [FLT_01, FLT_05, FLT_08, FLT_11, FLT_12, FLT_14],
        texts
    )
    .needs("filter.family_name and people.create or filter.family_name and helper.person_signup"),
];

/// The fields whose values a client sets.
pub(super) const OWN: [&str; 3] = ["identifiers", "email_address", "name"];
/// The date fields.
pub(super) const DATES: [&str; 2] = ["created_date", "modified_date"];
/// The page size when all pages are read.
pub(super) const FEW: &str = "2";
/// The number of pages of which the order is checked.
const PAGES: usize = 3;

/// Returns a literal of the filter grammar.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Encodes every character that is not plain in a query.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| {
        if plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(one).collect()
}

/// Returns the URL of a filtered collection.
pub(super) fn filtered(url: &str, text: &str) -> String {
    with_parameter(url, "filter", &encoded(text))
}

/// Returns the kinds that can be filtered by one of these fields and created by the suite.
fn kinds(cx: &CheckContext, fields: &[&str]) -> Vec<CatalogueKind> {
    let has = |kind: &CatalogueKind| {
        cx.declared()
            .filters(*kind)
            .iter()
            .any(|field| fields.contains(&field.as_str()))
    };
    cx.declared()
        .kinds()
        .filter(|kind| has(kind) && cx.declared().offers(kind.one, "create"))
        .collect()
}

/// Returns some of them, so that each field is covered once.
pub(super) fn few(cx: &CheckContext, fields: &[&str]) -> Vec<CatalogueKind> {
    let mut wanted: Vec<&str> = fields.to_vec();
    let mut some = kinds(cx, fields);
    some.retain(|kind| {
        let before = wanted.len();
        wanted.retain(|field| !cx.declared().filters(*kind).iter().any(|one| one == field));
        wanted.len() < before
    });
    some
}

/// Returns [`few`], or an error if there are none.
pub(super) fn enough(cx: &CheckContext, fields: &[&str]) -> Result<Vec<CatalogueKind>, CheckStop> {
    let some = few(cx, fields);
    if some.is_empty() {
        Err(nothing(fields))
    } else {
        Ok(some)
    }
}

fn nothing(fields: &[&str]) -> CheckStop {
    none(format!(
        "nothing can be created that has a filter of {}",
        fields.join(", ")
    ))
}

/// Returns two e-mail addresses of no other person, the second of which is not subscribed.
pub(super) fn addresses(cx: &CheckContext) -> Value {
    let address = || format!("Filter.{}@example.org", cx.unique());
    let all = json!({"email_addresses": [
        {"address": address(), "primary": true},
        {"address": address(), "primary": false, "status": "unsubscribed"}]});
    part(cx, "person", &all)
        .get_mut("email_addresses")
        .map(Value::take)
        .unwrap_or_default()
}

/// Creates a record of a kind with unique values in the filterable fields.
pub(super) async fn made(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    of: CatalogueKind,
) -> Result<Representation, CheckStop> {
    let mut fields = record_comparison::filled(cx, of.one);
    if of.one == "person"
        && cx
            .declared()
            .field("person", "email_addresses[].address")
            .is_some()
    {
        put(&mut fields, "email_addresses", addresses(cx));
    }
    let made = api.make(of.one, &fields).await?;
    api.as_read(of.one, made).await
}

/// Returns the values of a filterable field in a record.
pub(super) fn shown(record: &Representation, field: &str) -> Vec<String> {
    let texts = |value: &Value| value.as_str().map(ToOwned::to_owned);
    match field {
        "identifiers" => record
            .identifiers()
            .into_iter()
            .map(ToOwned::to_owned)
            .collect(),
        "email_address" => {
            let all = record["email_addresses"]
                .as_array()
                .map_or(&[][..], Vec::as_slice);
            all.iter()
                .filter_map(|entry| texts(&entry["address"]))
                .collect()
        }
        other => texts(&record[other]).into_iter().collect(),
    }
}

/// Returns all members that match a filter.
pub(super) async fn found(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    url: &str,
    text: &str,
    rows: &[&str],
) -> Result<(Representation, Vec<Representation>), CheckStop> {
    let answer = api.get(&filtered(url, text)).await?;
    must(
        cx,
        rows,
        answer.status == 200 && answer.json.is_object(),
        || format!("filter={text}: {answer}"),
    )?;
    let page = answer.record();
    let mut members = page.embedded();
    if let Some(next) = page.link("next") {
        members.extend(api.members(&next).await?);
    }
    Ok((page, members))
}

/// Checks whether a record matches. If `alone` is set, no other record may match.
pub(super) async fn fits(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    url: &str,
    text: &str,
    record: &Representation,
    expected: bool,
    rows: &[&str],
) -> Result<(), CheckStop> {
    let (page, members) = found(cx, api, url, text, rows).await?;
    let times = members
        .iter()
        .filter(|member| is_one(member, record))
        .count();
    let right = times == usize::from(expected) && members.len() == usize::from(expected);
    holds(cx, rows, right, || {
        format!(
            "filter={text} returns {} records, {} {times} times: {}",
            members.len(),
            record.short(),
            page.short()
        )
    });
    if right {
        let total = page["total_records"].as_u64();
        cx.observe(ids::FLT_05, total == Some(u64::from(expected)), || {
            format!(
                "filter={text} returns {} records but counts {}: {}",
                members.len(),
                json!(total),
                page.short()
            )
        });
    }
    Ok(())
}

/// Every declared field with a value from the client finds its record and no other.
async fn values(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    each!(of in enough(cx, &OWN)? => value(cx, &api, of))
}

async fn value(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    of: CatalogueKind,
) -> Result<(), CheckStop> {
    let url = api.collection(of.many).await?;
    let record = made(cx, api, of).await?;
    let other = made(cx, api, of).await?;
    let mut asked = None;
    for field in OWN {
        if !cx.declared().filters(of).iter().any(|one| one == field) {
            continue;
        }
        let row = if field == "email_address" {
            ids::FLT_06
        } else {
            ids::FLT_07
        };
        let strangers = shown(&other, field);
        for value in shown(&record, field)
            .into_iter()
            .filter(|value| !strangers.contains(value))
            .take(3)
        {
            let text = format!("{field} eq {}", quoted(&value));
            fits(
                cx,
                api,
                &url,
                &text,
                &record,
                true,
                &[ids::FLT_01, row, ids::FLT_12],
            )
            .await?;
            let (capitals, part) = (value.to_uppercase(), format!("{value}x"));
            fits(
                cx,
                api,
                &url,
                &format!("{field} eq {}", quoted(&part)),
                &record,
                false,
                &[ids::FLT_01, row],
            )
            .await?;
            // In an identifier that the server assigns, upper and lower case of an address may
            // differ.
            if field == "email_address" || capitals.to_lowercase() == value {
                let text = format!("{field} eq {}", quoted(&capitals));
                fits(
                    cx,
                    api,
                    &url,
                    &text,
                    &record,
                    field == "email_address",
                    &[row],
                )
                .await?;
            }
            asked = Some(text);
        }
    }
    if let Some(text) = asked.filter(|_| cx.declared().offers(of.one, "delete")) {
        api.remove(&record).await?;
        fits(cx, api, &url, &text, &record, false, &[ids::FLT_12]).await?;
    }
    Ok(())
}

/// The name of a container finds the people who are in it, and no one else.
async fn memberships(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let people = kind("person").ok_or_else(|| none("no such kind"))?;
    // The field has the name of the kind of the container.
    let members_of = |container: &CatalogueKind| {
        let mut kinds = KINDS.iter();
        kinds.find(|kind| kind.under == Some(container.one) && kind.helper.is_none())
    };
    let containers: Vec<(CatalogueKind, &str)> = cx
        .declared()
        .filters(people)
        .iter()
        .filter_map(|field| kind(field))
        .filter_map(|container| Some((container, members_of(&container)?.one)))
        .filter(|(container, members)| {
            record_comparison::can_make(cx, container.one)
                && cx.declared().offers(members, "create")
        })
        .collect();
    if containers.is_empty() || !record_comparison::can_make(cx, "person") {
        return Err(none("no container with people can be created"));
    }
    each!((container, members) in containers => membership(cx, &api, container, members))
}

async fn membership(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    of: CatalogueKind,
    members: &'static str,
) -> Result<(), CheckStop> {
    let (field, rows) = (of.one, &[ids::FLT_13, ids::FLT_01]);
    let url = api.collection("people").await?;
    let containers = [made(cx, api, of).await?, made(cx, api, of).await?];
    let [name, other] = containers.each_ref().map(|container| {
        let name = shown(container, "name").into_iter().next();
        name.unwrap_or_default()
    });
    if name.is_empty() || other.is_empty() {
        return Err(none(format!("a {field} is returned without its name")));
    }
    let [container, another] = &containers;
    let people = [api.person().await?, api.person().await?];
    let [ada, bob] = &people;
    let text = format!("{field} eq {}", quoted(&name));
    fits(cx, api, &url, &text, ada, false, rows).await?;
    let member = api.act(container, members, ada, &json!({})).await?;
    api.act(another, members, bob, &json!({})).await?;
    fits(cx, api, &url, &text, ada, true, &[ids::FLT_13, ids::FLT_12]).await?;
    let text_of_other = format!("{field} eq {}", quoted(&other));
    fits(cx, api, &url, &text_of_other, bob, true, rows).await?;
    let part = format!("{field} eq {}", quoted(&format!("{name}x")));
    fits(cx, api, &url, &part, ada, false, rows).await?;
    api.act(container, members, bob, &json!({})).await?;
    pages_contain(cx, api, &url, &text, &people, ids::FLT_13).await?;
    if let Some(other) = cx.other() {
        let url = other.collection("people").await?;
        finds_nothing_of_others(cx, &other, &url, &text).await?;
    }
    if cx.declared().offers(members, "delete") {
        api.remove(&member).await?;
        fits(cx, api, &url, &text, bob, true, &[ids::FLT_13, ids::FLT_12]).await?;
    }
    Ok(())
}

/// Checks that the pages of a filter contain exactly two people, each once.
async fn pages_contain(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    url: &str,
    text: &str,
    people: &[Representation; 2],
    requirement: &str,
) -> Result<(), CheckStop> {
    let url = with_parameter(url, "per_page", "1");
    let (page, all) = found(cx, api, &url, text, &[requirement, ids::FLT_01]).await?;
    let times = people
        .each_ref()
        .map(|person| all.iter().filter(|member| is_one(member, person)).count());
    let right = times == [1, 1] && all.len() == 2 && page["total_records"] == 2;
    holds(cx, &[requirement, ids::FLT_05, ids::FLT_08], right, || {
        format!(
            "the pages of filter={text} have {} of 2 people, and count {}: {}",
            all.len(),
            page["total_records"],
            page.short()
        )
    });
    Ok(())
}

/// A family name finds the people who have it, as a whole or by its start.
async fn texts(cx: &CheckContext) -> Result<(), CheckStop> {
    let (api, unique) = (cx.api(), cx.unique());
    let rows = &[ids::FLT_14, ids::FLT_01];
    let named = async |name: &str| {
        let mut fields = record_comparison::filled(cx, "person");
        put(&mut fields, "family_name", json!(name));
        let made = api.make("person", &fields).await?;
        let person = api.as_read("person", made).await?;
        if person["family_name"] == *name {
            Ok(person)
        } else {
            Err(none("a person is returned without the family name"))
        }
    };
    if !record_comparison::can_make(cx, "person") {
        return Err(none("no person can be created"));
    }
    let url = api.collection("people").await?;
    let (start, middle) = (format!("F{unique}b"), format!("{unique}b"));
    let people = [
        named(&format!("{start}y")).await?,
        named(&format!("{start}erg")).await?,
    ];
    let [ada, bob] = &people;
    let both = format!("family_name sw {}", quoted(&start));
    pages_contain(cx, &api, &url, &both, &people, ids::FLT_14).await?;
    let capitals = format!("{start}y").to_uppercase();
    for (comparison, value, expected) in [
        ("eq", capitals.as_str(), true),
        ("sw", capitals.as_str(), true),
        ("eq", start.as_str(), false),
        ("sw", middle.as_str(), false),
    ] {
        let text = format!("family_name {comparison} {}", quoted(value));
        fits(cx, &api, &url, &text, ada, expected, rows).await?;
    }
    if let Some(other) = cx.other() {
        let url = other.collection("people").await?;
        finds_nothing_of_others(cx, &other, &url, &both).await?;
    }
    let rows = &[ids::FLT_14, ids::FLT_12];
    if cx.declared().offers("person", "update") {
        let name = format!("G{unique}");
        api.change(ada, &json!({ "family_name": name })).await?;
        let text = format!("family_name eq {}", quoted(&name));
        fits(cx, &api, &url, &text, ada, true, rows).await?;
        fits(cx, &api, &url, &both, bob, true, rows).await?;
    }
    if cx.declared().offers("person", "delete") {
        api.remove(bob).await?;
        let text = format!("family_name eq {}", quoted(&format!("{start}erg")));
        fits(cx, &api, &url, &text, bob, false, rows).await?;
    }
    Ok(())
}

/// Returns the field and the values that identify records of a kind in a filter.
pub(super) fn told_apart(
    cx: &CheckContext,
    of: CatalogueKind,
    record: &Representation,
) -> Result<&'static str, CheckStop> {
    let declared = |field: &&str| cx.declared().filters(of).iter().any(|one| one == field);
    let field = OWN
        .into_iter()
        .find(|field| declared(field) && !shown(record, field).is_empty());
    field.ok_or_else(|| none("a record contains none of the fields by which it can be filtered"))
}

/// `and`, `or`, `in`, `ne` and parentheses, over two records.
async fn words(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let of = *few(cx, &OWN).first().ok_or_else(|| nothing(&OWN))?;
    let url = api.collection(of.many).await?;
    let (one, other) = (made(cx, &api, of).await?, made(cx, &api, of).await?);
    let field = told_apart(cx, of, &one)?;
    let value = |record: &Representation| {
        shown(record, field)
            .first()
            .map(|value| quoted(value))
            .unwrap_or_default()
    };
    let (a, b) = (value(&one), value(&other));
    for (text, expected) in [
        (format!("{field} eq {a} or {field} eq {b}"), [true, true]),
        (format!("{field} in ({a}, {b})"), [true, true]),
        (format!("{field} eq {a} and {field} eq {b}"), [false, false]),
        (
            format!("{field} in ({a}, {b}) and {field} ne {a}"),
            [false, true],
        ),
        // The result of each of them differs if `or` binds tighter than `and`.
        (
            format!("{field} eq {a} or {field} eq {b} and {field} ne {a}"),
            [true, true],
        ),
        (
            format!("{field} eq {a} and {field} ne {a} or {field} eq {b}"),
            [false, true],
        ),
        (
            format!("({field} eq {a} or {field} eq {b}) and {field} ne {b}"),
            [true, false],
        ),
        (
            format!("({field} eq {a} or {field} eq {b}) and {field} ne {a}"),
            [false, true],
        ),
    ] {
        let (page, members) = found(cx, &api, &url, &text, &[ids::FLT_10]).await?;
        let there =
            [&one, &other].map(|record| members.iter().any(|member| is_one(member, record)));
        let wanted = expected.iter().filter(|wanted| **wanted).count();
        cx.observe(
            ids::FLT_10,
            there == expected && members.len() == wanted,
            || {
                format!(
                    "filter={text} returns {} records, of the two {there:?}: {}",
                    members.len(),
                    page.short()
                )
            },
        );
    }
    Ok(())
}

/// A filter that is invalid or not declared is rejected.
async fn refused(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let mut of_grammar = 0_usize;
    for of in cx
        .declared()
        .kinds()
        .filter(|kind| kind.under.is_none() && cx.declared().offers(kind.one, "list"))
    {
        let declared = cx.declared().filters(of);
        let url = api.collection(of.many).await?;
        let field = declared.first().cloned().unwrap_or_default();
        let whole = format!(
            "{field} eq '{}'",
            if DATES.contains(&field.as_str()) {
                "2026-11-01T00:00:00Z"
            } else {
                "no:such"
            }
        );
        let mistakes = [
            field.clone(),
            format!("{field} eq"),
            format!("{field} like 'x'"),
            format!("{field} eq 'x"),
            format!("({field} eq 'x'"),
            format!("{field} in 'x'"),
            format!("{whole})"),
            format!("{whole} 'x'"),
            String::from("eq 'x'"),
            String::from("no_such_field eq 'x'"),
        ];
        // One grammar applies to all kinds.
        of_grammar = of_grammar.saturating_add(usize::from(!declared.is_empty()));
        for text in mistakes
            .into_iter()
            .filter(|_| !declared.is_empty() && of_grammar < 4)
        {
            let answer = api.get(&filtered(&url, &text)).await?;
            cx.observe(
                ids::FLT_03,
                answer.status == 400 && names_place(&answer, text.chars().count()),
                || format!("filter={text}: {answer}"),
            );
        }
        let others = FILTERS.iter().copied().chain(["origin_system"]);
        for field in others.filter(|field| !declared.iter().any(|one| one == field)) {
            let answer = api
                .get(&filtered(
                    &url,
                    &format!("{field} eq '2026-11-01T00:00:00Z'"),
                ))
                .await?;
            cx.observe(ids::FLT_04, answer.status == 400, || {
                format!("filter by {field}, not declared: {answer}")
            });
        }
        let orders = cx.declared().orders(of);
        for field in DATES
            .into_iter()
            .chain(["origin_system"])
            .filter(|field| !orders.iter().any(|one| one == field))
        {
            let answer = api.get(&with_parameter(&url, "order", field)).await?;
            cx.observe(ids::FLT_04, answer.status == 400, || {
                format!("order by {field}, not declared: {answer}")
            });
        }
    }
    Ok(())
}

/// Whether a description names a character position in the text.
fn names_place(answer: &TestResponse, length: usize) -> bool {
    let numbers = |text: &str| {
        let words = text.split(|letter: char| !letter.is_ascii_digit());
        words
            .filter_map(|word| word.parse::<usize>().ok())
            .any(|number| (1..=length.max(1)).contains(&number))
    };
    let text = |description: &Value| description["description"].as_str().map(ToOwned::to_owned);
    answer
        .descriptions()
        .into_iter()
        .filter_map(text)
        .any(|text| numbers(&text))
}

/// Reads all pages of a filtered collection.
async fn paged(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let of = *few(cx, &OWN).first().ok_or_else(|| nothing(&OWN))?;
    let mut all = vec![made(cx, &api, of).await?];
    for _ in 0..4 {
        all.push(made(cx, &api, of).await?);
    }
    let field = all
        .first()
        .map_or(Ok(""), |record| told_apart(cx, of, record))?;
    let values: Vec<String> = all
        .iter()
        .filter_map(|record| shown(record, field).first().map(|value| quoted(value)))
        .collect();
    let url = with_parameter(&api.collection(of.many).await?, "per_page", FEW);
    let text = format!("{field} in ({})", values.join(", "));
    let pages = api.pages(&filtered(&url, &text)).await?;
    let members: Vec<Representation> = pages.iter().flat_map(Representation::embedded).collect();
    for record in &all {
        let times = members
            .iter()
            .filter(|member| is_one(member, record))
            .count();
        cx.observe(ids::FLT_08, times == 1, || {
            format!(
                "{} is {times} times on {} pages",
                record.short(),
                pages.len()
            )
        });
    }
    cx.observe(ids::FLT_01, members.len() == all.len(), || {
        format!(
            "a filter that matches {} records returns {}",
            all.len(),
            members.len()
        )
    });
    for page in &pages {
        let total = page["total_records"].as_u64();
        cx.observe(ids::FLT_05, total == u64::try_from(all.len()).ok(), || {
            format!(
                "a filter that matches {} records counts {}: {}",
                all.len(),
                json!(total),
                page.short()
            )
        });
        for name in ["self", "prev", "previous"] {
            let Some(link) = page.link(name) else {
                continue;
            };
            let answer = api.get(&link).await?;
            let right = answer.status == 200
                && answer.record()["total_records"] == page["total_records"]
                && answer
                    .record()
                    .embedded()
                    .iter()
                    .all(|member| all.iter().any(|record| is_one(member, record)));
            cx.observe(ids::FLT_08, right, || {
                format!("`{name}` of a filtered page is {link}, whose target is {answer}")
            });
        }
    }
    Ok(())
}

/// The dates of ordered pages do not decrease.
async fn ordered(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    // A single record is in every order.
    for of in few(cx, &DATES)
        .into_iter()
        .filter(|_| cx.run.settings.writes)
    {
        for _ in 0..3 {
            made(cx, &api, of).await?;
        }
    }
    for of in cx.declared().kinds() {
        let url = match cx.declared().orders(of) {
            [] => continue,
            _ => with_parameter(&api.collection(of.many).await?, "per_page", FEW),
        };
        for field in cx.declared().orders(of) {
            let (mut pages, mut last) = (0_usize, None);
            let ordered = with_parameter(&url, "order", field);
            let walked = api.walk(&ordered, |page| {
                for member in page.embedded() {
                    let date = shown(&member, field).pop().and_then(|date| instant(&date));
                    cx.observe(ids::FLT_09, date.is_some() && date >= last, || {
                        format!(
                            "in the order of {field}, {} is after {last:?}",
                            member.short()
                        )
                    });
                    last = date;
                }
                pages = pages.saturating_add(1);
                pages < PAGES
            });
            let walked = walked.await?;
            cx.observe(
                ids::FLT_09,
                matches!(walked, crate::client::PageWalkEnd::Done),
                || {
                    format!(
                        "not all pages of a collection in the order of {field} can be read: {walked:?}"
                    )
                },
            );
            cx.observe(ids::FLT_08, pages > 0, || {
                format!("order={field} returns no page")
            });
        }
    }
    Ok(())
}

/// A tenant does not find the records of another tenant.
async fn tenants(cx: &CheckContext) -> Result<(), CheckStop> {
    let (api, other) = (
        cx.api(),
        cx.other().ok_or_else(|| none("no key of another tenant"))?,
    );
    for of in enough(cx, &OWN)? {
        let record = made(cx, &api, of).await?;
        let url = other.collection(of.many).await?;
        for field in OWN
            .into_iter()
            .filter(|field| cx.declared().filters(of).iter().any(|one| one == field))
        {
            let Some(value) = shown(&record, field).into_iter().next() else {
                continue;
            };
            let text = format!("{field} eq {}", quoted(&value));
            finds_nothing_of_others(cx, &other, &url, &text).await?;
        }
    }
    Ok(())
}

/// Checks that a filter finds no records with the key of another tenant.
async fn finds_nothing_of_others(
    cx: &CheckContext,
    other: &CheckClient<'_>,
    url: &str,
    text: &str,
) -> Result<(), CheckStop> {
    let (page, members) = found(cx, other, url, text, &[ids::FLT_11]).await?;
    cx.observe(ids::FLT_11, members.is_empty(), || {
        format!(
            "with the key of another tenant, filter={text} returns {}",
            page.short()
        )
    });
    Ok(())
}
