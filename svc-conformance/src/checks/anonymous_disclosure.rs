//! What an anonymous caller learns about a known person, and what it can change.
//!
//! Requirements: HLP-04, HLP-07.

use super::functions::note_rest;
use super::helper_calls::{PreparedHelper, declared_helpers, own_fields};
use super::prelude::*;
use super::record_comparison::different;
use crate::clean_up::own_up;
use crate::generate::with;

pub(super) const CHECKS: &[Check] = &[check!("hlp/without-key-of-somebody", [HLP_07], everywhere)
    .needs("helper.*.anonymous and people.read")];

async fn everywhere(cx: &CheckContext) -> Result<(), CheckStop> {
    let helpers = declared_helpers(cx)
        .into_iter()
        .filter(|name| cx.declared().helps_anyone(name));
    each!(name in helpers.filter(|name| !matches!(*name, "record_canvass" | "person_signup")).take(cx.cases(2, 5, 5))
        => known(cx, name))
}

/// Returns a person sent without a key, with an address and many possible new values.
fn posted(cx: &CheckContext, address: &str) -> Value {
    let mails = json!([{"address": address, "status": "subscribed"},
        {"address": format!("{}@example.net", cx.unique()), "primary": true}]);
    let person = json!({"given_name": "Mallory", "family_name": "Smith", "custom_fields": {"colour": "red"},
        "languages_spoken": ["en"], "email_addresses": mails,
        "phone_numbers": [{"number": "15550100107", "primary": "true"}],
        "postal_addresses": [{"venue": "Hall", "locality": "Springfield"}]});
    cx.marked(&part(cx, "person", &person))
}

/// Creates a person who has unsubscribed and of whom more than the address is stored. Returns the
/// record, the address, and the other stored values.
async fn stored(cx: &CheckContext) -> Result<(Representation, String, String), CheckStop> {
    let (address, secret) = (
        format!("{}@example.org", cx.unique()),
        format!("Ada {}", cx.unique()),
    );
    let mails = json!([{"address": address, "status": "unsubscribed"}]);
    let person = json!({"given_name": secret, "email_addresses": mails});
    Ok((
        cx.api()
            .make("person", &part(cx, "person", &person))
            .await?,
        address,
        secret,
    ))
}

/// Verifies that an error shows the caller nothing that it may not read. Returns the status of the
/// call.
async fn hidden(
    cx: &CheckContext,
    row: &str,
    caller: &CheckClient<'_>,
    ready: &PreparedHelper,
    address: &str,
    secret: &str,
) -> Result<u16, CheckStop> {
    let person = cx.marked(&part(
        cx,
        "person",
        &json!({"email_addresses": [{ "address": address }]}),
    ));
    let mut body = ready.body(cx, Some(&person));
    put(&mut body, "add_tags", json!([cx.unique()]));
    let answer = caller.post(&ready.url, &body).await?;
    note_rest(&cx.api(), ready, &answer, &body, &person).await?;
    cx.observe(row, !answer.text().contains(secret), || {
        format!("the response contains stored data of a person: {answer}")
    });
    Ok(answer.status)
}

/// Same as [`hidden`], for a key that may not read people, with a helper that it may call.
pub(super) async fn hidden_from(
    cx: &CheckContext,
    narrow: &CheckClient<'_>,
) -> Result<(), CheckStop> {
    let (_, address, secret) = stored(cx).await?;
    for name in declared_helpers(cx)
        .into_iter()
        .filter(|name| !matches!(*name, "record_canvass" | "person_signup"))
    {
        let ready = cx.api().ready(name).await?;
        if hidden(cx, ids::AUT_04, narrow, &ready, &address, &secret).await? != 403 {
            break;
        }
    }
    Ok(())
}

async fn known(cx: &CheckContext, name: &'static str) -> Result<(), CheckStop> {
    let (api, ready) = (cx.api(), cx.api().ready(name).await?);
    let (before, known, secret) = stored(cx).await?;
    let before = api.reread(&before).await?;
    if cx.declared().acts("add_tags") {
        hidden(cx, ids::HLP_07, &cx.anonymous(), &ready, &known, &secret).await?;
    }
    let unknown_person = || posted(cx, &format!("{}@example.org", cx.unique()));
    let mut by_identifier = unknown_person();
    put(
        &mut by_identifier,
        "identifiers",
        json!(cx.run.journal.marker(&before.json).as_slice()),
    );
    let mut statuses = Vec::new();
    for person in [posted(cx, &known), unknown_person(), by_identifier] {
        let answer = cx
            .anonymous()
            .post(&ready.url, &ready.body(cx, Some(&person)))
            .await?;
        // An identifier that is in use may be rejected.
        // Requirements: UND-24.
        if statuses.len() < 2 || !answer.is_refused() {
            let empty = answer
                .json
                .as_object()
                .is_some_and(serde_json::Map::is_empty);
            cx.observe(ids::HLP_07, answer.is_created() && empty, || {
                format!("without a key: {answer}")
            });
        }
        statuses.push(answer.status);
    }
    cx.prefers(ids::HLP_07, statuses.first() == statuses.get(1), || {
        format!("the statuses reveal who is known: {statuses:?}")
    });
    let after = api.reread(&before).await?;
    let mut differs = different(&before.json, &after.json);
    // Members that are not part of the specification may depend on the clock of the server.
    let is_sent = |name: &str| {
        cx.declared()
            .field("person", name)
            .is_some_and(|field| field.writable)
    };
    differs.retain(|name| name == "identifiers" || is_sent(name));
    cx.chose(
        "somebody known, whom a call without a key names",
        match differs.as_slice() {
            [] => "is as before".to_owned(),
            _ => format!("has other {}", differs.join(", ")),
        },
    );
    if cx.declared().behaves("strangers_change_nobody") {
        cx.observe(ids::HLP_07, differs.is_empty(), || {
            format!("{differs:?} differ without a key: {}", after.short())
        });
        lent(cx, &ready, &after).await?;
    }
    found(cx, &ready).await
}

/// An anonymous repetition of an action does not apply its functions to the person of the action.
async fn lent(
    cx: &CheckContext,
    ready: &PreparedHelper,
    person: &Representation,
) -> Result<(), CheckStop> {
    let (api, body) = (cx.api(), cx.marked(&own_fields(cx, ready.kind.one)));
    let tag = super::functions::fresh_tag(&api).await?;
    let (Some(container), Some(tag)) = (&ready.container, tag) else {
        return Ok(());
    };
    api.act(container, ready.kind.one, person, &body).await?;
    let answer = cx
        .anonymous()
        .post(
            &ready.url,
            &with(&body, &json!({ "add_tags": [tag["name"]] })),
        )
        .await?;
    let taggings = api.total(&tag.require_link("taggings")?).await?;
    cx.observe(ids::HLP_07, taggings == Some(0), || {
        format!(
            "{} taggings of the person of an action: {answer}",
            json!(taggings)
        )
    });
    Ok(())
}

/// Records for clean-up what the calls created in a container of this run.
async fn found(cx: &CheckContext, ready: &PreparedHelper) -> Result<(), CheckStop> {
    let (api, journal) = (cx.api(), &cx.run.journal);
    let url = ready
        .container
        .as_ref()
        .and_then(|container| container.href(ready.kind.many));
    let Some(url) = url else { return Ok(()) };
    for action in api.members(&url).await? {
        if let Some(own) = action.link("self") {
            journal.created_at(own, journal.marker(&action.json), 0);
        }
        if action.href("person").is_some() {
            own_up(cx, &api.follow(&action, "person").await?);
        }
    }
    Ok(())
}
