//! Rules of single resources beyond a round trip: people, donations, events, questions, totals
//! (RES).

use super::prelude::*;
use super::record_comparison;
use crate::fixtures::ticketed;
use crate::generate::max_items;
use crate::values::first;

pub(super) const CHECKS: &[Check] = &[
    check!("res/gender", [RES_PERSON_08, RES_PERSON_09], gender).needs(
        "field:person.gender and field:person.gender_identity and people.create or \
             field:person.gender and field:person.gender_identity and helper.*.shows_person",
    ),
    check!("res/one-primary-address", [RES_POSTAL_ADDRESS_02], primary)
        .about("postal_addresses")
        .needs("field:person.postal_addresses"),
    check!("res/one-primary-mail", [RES_EMAIL_ADDRESS_02], primary)
        .about("email_addresses")
        .needs("field:person.email_addresses"),
    check!("res/one-primary-phone", [RES_PHONE_NUMBER_02], primary)
        .about("phone_numbers")
        .needs("field:person.phone_numbers"),
    check!("res/phone-mark", [RES_PHONE_NUMBER_01], mark).needs("field:phone_number.primary"),
    check!("res/digits", [RES_PHONE_NUMBER_03, LIM_03], digits).needs("field:phone_number.number"),
    check!("res/unique-texts", [RES_PERSON_16, RES_PERSON_17], unique)
        .needs("field:person.ethnicities or field:person.languages_spoken"),
    check!("res/handle", [RES_PERSON_35], handle).needs("field:person.profiles[].handle"),
    check!("res/voided", [RES_DONATION_18], voided)
        .needs("field:donation.voided and field:donation.voided_date"),
    check!("res/transparence", [RES_EVENT_29], transparence).needs("field:event.transparence"),
    check!("res/response-keys", [RES_QUESTION_08], super::errors::keys)
        .needs("questions.create and field:question.responses[].key"),
    check!("res/total-signatures", [RES_PETITION_10, ERR_11], total)
        .about("signature")
        .needs("field:petition.total_signatures"),
    check!("res/total-submissions", [RES_FORM_10, ERR_11], total)
        .about("submission")
        .needs("field:form.total_submissions"),
    check!("res/total-outreaches", [RES_ADVOCACY_CAMPAIGN_12], total)
        .about("outreach")
        .needs("field:advocacy_campaign.total_outreaches"),
    check!("res/total-accepted", [RES_EVENT_18], total)
        .about("attendance")
        .needs("field:event.total_accepted"),
    check!("res/total-donations", [RES_FUNDRAISING_PAGE_09], total)
        .about("donation")
        .needs("field:fundraising_page.total_donations"),
    check!("res/total-amount", [RES_FUNDRAISING_PAGE_10], amounts)
        .needs("field:fundraising_page.total_amount and field:donation.amount"),
    check!(
        "res/ticket-totals",
        [RES_EVENT_16, RES_EVENT_17, RES_EVENT_19, RES_EVENT_20],
        sold
    )
    .needs("events.create and field:event.ticket_levels and field:attendance.tickets"),
];

/// Creates a person, which a server may reject with 400 as these requirements state. Any other
/// response is judged as a create. Returns `None` if rejected.
async fn person(
    cx: &CheckContext,
    rows: &[&str],
    fields: &Value,
) -> Result<Option<Representation>, CheckStop> {
    let api = cx.api();
    let (creates, posts) = (
        cx.declared().offers("person", "create"),
        cx.declared().posts_persons(),
    );
    let Some(kind) = kind("person").filter(|_| creates || posts) else {
        return api.make("person", fields).await.map(Some);
    };
    let answer = if creates {
        api.post(&api.collection(kind.many).await?, &cx.marked(fields))
            .await?
    } else {
        api.post_person(&cx.marked(fields)).await?
    };
    if answer.status == 400 {
        holds(cx, rows, true, String::new);
        return Ok(None);
    }
    let made = if creates {
        api.created(kind, &answer)?
    } else {
        api.posted_person(&answer).await?
    };
    api.as_read("person", made).await.map(Some)
}

/// A simple identity determines the gender. A compound identity means the closest gender.
///
/// Requirements: RES-person-08, RES-person-09.
async fn gender(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    for (row, identity, expected) in [
        (ids::RES_PERSON_08, "Female", "Female"),
        (ids::RES_PERSON_08, "Male", "Male"),
        (ids::RES_PERSON_09, "Transgender Female", "Female"),
        (ids::RES_PERSON_09, "Cisgender Male", "Male"),
    ] {
        let read = api
            .as_read(
                "person",
                api.make("person", &json!({ "gender_identity": identity }))
                    .await?,
            )
            .await?;
        cx.observe(row, read["gender"] == expected, || {
            format!("gender of {identity:?} is {}", read["gender"])
        });
    }
    for (gender, identity) in [("Male", "Female"), ("Female", "Male")] {
        if let Some(read) = person(
            cx,
            &[],
            &json!({"gender": gender, "gender_identity": identity}),
        )
        .await?
        {
            let found = || format!("gender {} with the identity {identity:?}", read["gender"]);
            cx.observe(ids::RES_PERSON_08, read["gender"] == identity, found);
        }
    }
    if cx.declared().offers("person", "update") {
        let made = api
            .make("person", &json!({"gender_identity": "Female"}))
            .await?;
        let answer = api
            .put(&made.self_url()?, &json!({"gender_identity": "Male"}))
            .await?;
        if answer.status != 400 {
            let gender = &answer["gender"];
            cx.observe(ids::RES_PERSON_08, gender == "Male", || {
                format!("gender of \"Male\" is {gender}: {answer}")
            });
        }
    }
    Ok(())
}

/// Two primaries are rejected or become one, in a create and in an update.
async fn primary(cx: &CheckContext) -> Result<(), CheckStop> {
    let name = cx.check.subject;
    let (row, list) = match name {
        "postal_addresses" => {
            let list = json!([{"primary": true, "venue": "Hall", "locality": "Springfield"},
                {"primary": true, "venue": "Barn", "locality": "Shelbyville"}]);
            (ids::RES_POSTAL_ADDRESS_02, list)
        }
        "email_addresses" => {
            let address = |at: usize| format!("{}-{at}@example.org", cx.unique());
            let list = json!([{"primary": true, "address": address(0)}, {"primary": true, "address": address(1)}]);
            (ids::RES_EMAIL_ADDRESS_02, list)
        }
        _ => {
            let list = json!([{"primary": "true", "number": "15550100101"}, {"primary": "true", "number": "15550100102"}]);
            (ids::RES_PHONE_NUMBER_02, list)
        }
    };
    let body = part(cx, "person", &json!({ name: list }));
    let primaries = |value: &Value| {
        let list = value.as_array().map_or(&[][..], Vec::as_slice);
        list.iter()
            .filter(|one| one["primary"] == true || one["primary"] == "true")
            .count()
    };
    if body.get(name).is_none_or(|value| primaries(value) != 2) {
        return Err(none(format!("{name}[].primary is not declared")));
    }
    let few = |value: &Value| primaries(value) <= 1;
    if let Some(read) = person(cx, &[row], &body).await? {
        cx.observe(row, few(&read[name]), || {
            format!("{name} has two primaries: {}", read.short())
        });
    }
    if !cx.declared().offers("person", "update") {
        return Ok(());
    }
    let api = cx.api();
    let list = body.get(name).and_then(Value::as_array);
    let first = json!({ name: list.into_iter().flatten().take(1).collect::<Vec<_>>() });
    let made = api.make("person", &first).await?;
    let answer = api.put(&made.self_url()?, &body).await?;
    let right = answer.status == 400 || (answer.status == 200 && few(&answer[name]));
    cx.observe(row, right, || {
        format!("{name} with two primaries: {answer}")
    });
    Ok(())
}

/// A boolean `primary` is rejected, or is read back as the same text as when it is sent as text.
///
/// Requirements: RES-phone_number-01.
async fn mark(cx: &CheckContext) -> Result<(), CheckStop> {
    for sent in [json!(true), json!(false), json!("true")] {
        let list = json!({"phone_numbers": [{"number": "15550100106", "primary": sent}]});
        if let Some(read) = person(cx, &[], &part(cx, "person", &list)).await? {
            let got = first(&read.json, "phone_numbers[].primary")
                .cloned()
                .unwrap_or_default();
            let right = got.is_string() || got.is_null();
            cx.observe(ids::RES_PHONE_NUMBER_01, right, || {
                format!("`primary` was sent as {sent}, it is {got}")
            });
        }
    }
    Ok(())
}

/// A number with characters other than digits is rejected or reduced to digits: in a create, in an
/// update, and in a helper request.
async fn digits(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let holds = |sent: &str, read: &Representation| {
        let got = first(&read.json, "phone_numbers[].number")
            .cloned()
            .unwrap_or_default();
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let right = got.is_null() || got.as_str().is_some_and(digits);
        holds(cx, &[ids::RES_PHONE_NUMBER_03, ids::LIM_03], right, || {
            format!("the number {sent:?} became {got}")
        });
    };
    let body = |number: &str| {
        part(
            cx,
            "person",
            &json!({"phone_numbers": [{ "number": number }]}),
        )
    };
    let rough = "+1 (555) 010-0101";
    for number in [
        rough,
        "call me",
        "15550100103x7",
        " 15550100104",
        "\u{661}\u{665}\u{665}",
    ] {
        if let Some(read) = person(cx, &[ids::RES_PHONE_NUMBER_03], &body(number)).await? {
            holds(number, &read);
        }
    }
    if cx.declared().offers("person", "update") {
        let made = api.make("person", &json!({})).await?;
        let answer = api.put(&made.self_url()?, &body(rough)).await?;
        if answer.status != 400 {
            holds(rough, &answer.record());
        }
    }
    if cx.declared().helps("person_signup") {
        let url = crate::fixtures::helper_address(&api.entry().await?, "person_signup")?;
        let answer = api
            .post(&url, &json!({ "person": cx.marked(&body(rough)) }))
            .await?;
        if answer.is_created() {
            holds(rough, &answer.record());
        }
    }
    Ok(())
}

/// Repeated texts are rejected or become one.
async fn unique(cx: &CheckContext) -> Result<(), CheckStop> {
    for (row, name, list) in [
        (
            ids::RES_PERSON_16,
            "ethnicities",
            json!(["one", "two", "one"]),
        ),
        (
            ids::RES_PERSON_17,
            "languages_spoken",
            json!(["en", "de", "en"]),
        ),
    ] {
        // In a shorter list, the first two are equal.
        let field = cx.declared().field("person", name);
        let list = if field.is_some_and(|field| max_items(field) < 3) {
            let first = list.get(0).cloned().unwrap_or_default();
            json!([first, first])
        } else {
            list
        };
        let body = part(cx, "person", &json!({ name: list }));
        if body.get(name).is_none() {
            continue;
        }
        if let Some(read) = person(cx, &[row], &body).await? {
            let got = read[name].as_array().map_or(&[][..], Vec::as_slice);
            let right = got
                .iter()
                .enumerate()
                .all(|(at, one)| !got.iter().take(at).any(|other| other == one));
            cx.observe(row, right, || format!("{name} is {}", read[name]));
        }
    }
    Ok(())
}

/// A handle with an @ is rejected or stored without it.
async fn handle(cx: &CheckContext) -> Result<(), CheckStop> {
    let sent = json!({"profiles": [{"provider": "network", "handle": "@ada", "url": "https://example.org/ada"}]});
    let body = part(cx, "person", &sent);
    if let Some(read) = person(cx, &[ids::RES_PERSON_35], &body).await? {
        let got = first(&read.json, "profiles[].handle")
            .cloned()
            .unwrap_or_default();
        let right = got.as_str().is_none_or(|handle| !handle.starts_with('@'));
        cx.observe(ids::RES_PERSON_35, right, || format!("the handle is {got}"));
    }
    Ok(())
}

/// A voided donation has its date. A donation that is not voided has none.
///
/// Requirements: RES-donation-18.
async fn voided(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let base = part(cx, "donation", &json!({"amount": 5, "currency": "EUR"}));
    let date = "2026-01-06T10:00:00Z";
    let sent = crate::generate::with(&base, &json!({"voided": true, "voided_date": date}));
    let read = api
        .as_read("donation", api.make("donation", &sent).await?)
        .await?;
    let right = read["voided"] == true
        && crate::generate::restored(&json!(date), read.json.get("voided_date"));
    cx.prefers(ids::RES_DONATION_18, right, || {
        format!("sent voided on {date}: {}", read.short())
    });
    let read = api
        .as_read(
            "donation",
            api.make(
                "donation",
                &crate::generate::with(&base, &json!({"voided": false})),
            )
            .await?,
        )
        .await?;
    cx.prefers(ids::RES_DONATION_18, read["voided_date"].is_null(), || {
        format!("not voided: {}", read.short())
    });
    Ok(())
}

/// An event without a value is opaque.
///
/// Requirements: RES-event-29.
async fn transparence(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    needs(cx, "event", "create")?;
    let read = api
        .as_read("event", api.make("event", &json!({})).await?)
        .await?;
    let got = &read["transparence"];
    cx.observe(ids::RES_EVENT_29, got.is_null() || got == "opaque", || {
        format!("transparence was left out and is {got}")
    });
    Ok(())
}

/// Returns the requirement of the total that counts a kind.
pub(super) fn counted(one: &str) -> &'static [&'static str] {
    match one {
        "signature" => &[ids::RES_PETITION_10],
        "submission" => &[ids::RES_FORM_10],
        "outreach" => &[ids::RES_ADVOCACY_CAMPAIGN_12],
        "attendance" => &[ids::RES_EVENT_18],
        _ => &[ids::RES_FUNDRAISING_PAGE_09],
    }
}

/// A container counts the actions in it, without deleted ones.
async fn total(cx: &CheckContext) -> Result<(), CheckStop> {
    let one = cx.check.subject;
    let Some(kind) = kind(one) else { return Ok(()) };
    let (Some(under), Some(counted)) = (kind.under, kind.counted) else {
        return Ok(());
    };
    let row = self::counted(one);
    let api = cx.api();
    // A page counts what is in its currency.
    let container = api
        .make(under, &part(cx, under, &json!({"currency": "EUR"})))
        .await?;
    let fields = match one {
        "attendance" => json!({"status": "accepted"}),
        "donation" => part(cx, one, &json!({"amount": 5, "currency": "EUR"})),
        _ => json!({}),
    };
    if one == "attendance"
        && cx
            .declared()
            .field(one, "status")
            .is_none_or(|field| !field.writable)
    {
        return Err(none("attendance.status is not declared writable"));
    }
    let before = api.counted(&container, counted).await?.unwrap_or_default();
    if cx.declared().offers(under, "create") {
        cx.observe(row.first().unwrap_or(&""), before == 0.0, || {
            format!("{counted} of a new {under} is {before}")
        });
    }
    let mut made = Vec::new();
    for more in [1.0, 2.0, 3.0] {
        let person = api.person().await?;
        made.push(
            api.act(&container, one, &person, &cx.marked(&fields))
                .await?,
        );
        api.total_is(row, &container, counted, before + more)
            .await?;
    }
    record_comparison::elsewhere(
        cx,
        &api,
        &container,
        under,
        &[(row.first().unwrap_or(&""), counted)],
    )
    .await?;
    if cx.declared().offers(one, "delete") {
        for (record, left) in made.iter().zip([2.0, 1.0, 0.0]) {
            api.remove(record).await?;
            if cx.declared().offers(one, "read") && matches!(one, "signature" | "submission") {
                let (gone, answer) = api.expect_not_found(&record.self_url()?).await?;
                cx.observe(ids::ERR_11, gone, || {
                    format!("a deleted {one} still exists: {answer}")
                });
            }
            api.total_is(row, &container, counted, before + left)
                .await?;
        }
    }
    Ok(())
}

/// The amount of a page is the sum of its donations in its currency, also after a change and a
/// delete.
async fn amounts(cx: &CheckContext) -> Result<(), CheckStop> {
    let row: &[&str] = &[ids::RES_FUNDRAISING_PAGE_10];
    let api = cx.api();
    let page = api
        .make(
            "fundraising_page",
            &part(cx, "fundraising_page", &json!({"currency": "EUR"})),
        )
        .await?;
    let mut expected = api
        .counted(&page, "total_amount")
        .await?
        .unwrap_or_default();
    if cx.declared().offers("fundraising_page", "create") {
        cx.observe(ids::RES_FUNDRAISING_PAGE_10, expected == 0.0, || {
            format!("total_amount of a new page is {expected}")
        });
    }
    let amounts = [0.1, 0.2, 12.55, 16_777_217.25, 3.0];
    let mut made = Vec::new();
    for amount in amounts {
        let person = api.person().await?;
        let fields = part(
            cx,
            "donation",
            &json!({"amount": amount, "currency": "EUR"}),
        );
        made.push(
            api.act(&page, "donation", &person, &cx.marked(&fields))
                .await?,
        );
        expected += amount;
        api.total_is(row, &page, "total_amount", expected).await?;
    }
    let (first, last) = (
        made.first().zip(amounts.first()),
        made.last().zip(amounts.last()),
    );
    if let Some((record, amount)) = first.filter(|_| cx.declared().offers("donation", "update")) {
        let less = amount / 2.0;
        let answer = api
            .put(&record.self_url()?, &json!({ "amount": less }))
            .await?;
        // A server may reject a change of the amount of a donation.
        if answer.status == 200 && answer["amount"].as_f64() == Some(less) {
            expected -= less;
            api.total_is(row, &page, "total_amount", expected).await?;
        }
    }
    if let Some((record, amount)) = last.filter(|_| cx.declared().offers("donation", "delete")) {
        api.remove(record).await?;
        expected -= amount;
        api.total_is(row, &page, "total_amount", expected).await?;
    }
    credited(cx, &api, &page, expected).await?;
    record_comparison::elsewhere(
        cx,
        &api,
        &page,
        "fundraising_page",
        &[(ids::RES_FUNDRAISING_PAGE_10, "total_amount")],
    )
    .await
}

/// A donation with a credit adds its `amount` to the total of its page. The amount does not contain
/// the credit; whether the total does is not specified.
async fn credited(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    page: &Representation,
    before: f64,
) -> Result<(), CheckStop> {
    let (amount, credit) = (10.0, 2.5);
    // A server may reject a credit that is older than its donation.
    let dates =
        json!({"action_date": "2026-01-05T09:00:00Z", "credited_date": "2026-01-06T09:00:00Z"});
    let sent = crate::generate::with(
        &json!({"amount": amount, "currency": "EUR", "credited_amount": credit}),
        &dates,
    );
    let fields = part(cx, "donation", &sent);
    let is_sent = ["amount", "credited_amount"]
        .iter()
        .all(|name| fields.get(name).is_some());
    if !is_sent || cx.declared().behaves("totals_follow_later") {
        return Ok(());
    }
    let person = api.person().await?;
    let donation = api
        .act(page, "donation", &person, &cx.marked(&fields))
        .await?;
    let total = api.counted(page, "total_amount").await?.unwrap_or_default();
    let is_near = |expected: f64| (total - expected).abs() <= 1e-9 * expected;
    let (net, gross) = (before + amount, before + amount + credit);
    cx.observe(
        ids::RES_FUNDRAISING_PAGE_10,
        is_near(net) || is_near(gross),
        || {
            format!(
                "total_amount was {before}, and is {total} instead of {net} or {gross} after {}",
                donation.short()
            )
        },
    );
    Ok(())
}

/// Sold tickets are counted, for the event and for each of its levels.
async fn sold(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let event = api.make("event", &part(cx, "event", &ticketed())).await?;
    let ticket =
        |title: &str, amount: f64| json!({"title": title, "amount": amount, "currency": "USD"});
    let sales = [
        vec![ticket("Standard", 10.0), ticket("Balcony", 20.5)],
        vec![ticket("Balcony", 20.5)],
        vec![ticket("Standard", 10.0), ticket("Standard", 10.0)],
    ];
    let (mut count, mut sum) = ([0.0, 0.0], [0.0, 0.0]);
    for sale in sales {
        for one in &sale {
            let at = usize::from(one["title"] != "Standard");
            if let (Some(count), Some(sum)) = (count.get_mut(at), sum.get_mut(at)) {
                *count += 1.0;
                *sum += one["amount"].as_f64().unwrap_or_default();
            }
        }
        let person = api.person().await?;
        let fields = part(
            cx,
            "attendance",
            &json!({"status": "accepted", "tickets": sale}),
        );
        api.act(&event, "attendance", &person, &cx.marked(&fields))
            .await?;
        for (row, path, expected) in [
            (
                ids::RES_EVENT_19,
                "total_tickets",
                count.iter().sum::<f64>(),
            ),
            (ids::RES_EVENT_20, "total_amount", sum.iter().sum::<f64>()),
        ] {
            if cx
                .declared()
                .field("event", path)
                .is_some_and(|field| field.readable)
            {
                api.total_is(&[row], &event, path, expected).await?;
            }
        }
        let read = api.reread(&event).await?;
        let levels = read["ticket_levels"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        for (at, title) in ["Standard", "Balcony"].into_iter().enumerate() {
            let Some(level) = levels.iter().find(|level| level["title"] == title) else {
                continue;
            };
            for (row, name, expected) in [
                (ids::RES_EVENT_16, "total_tickets", count.get(at)),
                (ids::RES_EVENT_17, "total_amount", sum.get(at)),
            ] {
                let declared = cx
                    .declared()
                    .field("event", &format!("ticket_levels[].{name}"));
                if cx.declared().behaves("totals_follow_later")
                    || declared.is_none_or(|field| !field.readable)
                {
                    continue;
                }
                let expected = expected.copied().unwrap_or_default();
                let right = level[name]
                    .as_f64()
                    .is_some_and(|got| (got - expected).abs() <= 1e-9 * expected.max(1.0));
                cx.observe(row, right, || {
                    format!("{name} of {title} is {}, not {expected}", level[name])
                });
            }
        }
    }
    let totals = [
        (ids::RES_EVENT_16, "ticket_levels[].total_tickets"),
        (ids::RES_EVENT_17, "ticket_levels[].total_amount"),
        (ids::RES_EVENT_19, "total_tickets"),
        (ids::RES_EVENT_20, "total_amount"),
    ];
    record_comparison::elsewhere(cx, &api, &event, "event", &totals).await
}
