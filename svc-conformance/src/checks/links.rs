//! Links of records (LK and HL requirements): a declared link is present, and its target is as its
//! name states.

use super::crud::is_page;
use super::helper_calls::{new_person, own_fields};
use super::prelude::*;
use crate::catalogue::CatalogueLink;
use crate::fields;
use crate::generate::with;
use crate::kinds::ACTIONS;

macro_rules! checks {
    ($($id:literal $one:literal $rows:literal;)*) => {
        pub(super) const CHECKS: &[Check] =
            &[$(check!($id, &[$rows, ids::HAL_16], links).about($one).needs("<kind>.make or <kind>.list"),)*];
    };
}

checks! {
    "res/links-of-person" "person" "link:person.";
    "res/links-of-petition" "petition" "link:petition.";
    "res/links-of-form" "form" "link:form.";
    "res/links-of-fundraising_page" "fundraising_page" "link:fundraising_page.";
    "res/links-of-event" "event" "link:event.";
    "res/links-of-advocacy_campaign" "advocacy_campaign" "link:advocacy_campaign.";
    "res/links-of-share_page" "share_page" "link:share_page.";
    "res/links-of-question" "question" "link:question.";
    "res/links-of-signature" "signature" "link:signature.";
    "res/links-of-submission" "submission" "link:submission.";
    "res/links-of-outreach" "outreach" "link:outreach.";
}

/// A record with the expected targets of its links.
struct LinkedRecord {
    record: Representation,
    person: Option<Representation>,
    container: Option<Representation>,
}

/// Every declared link of a kind, on a record that was created and changed.
async fn links(cx: &CheckContext) -> Result<(), CheckStop> {
    let one = cx.check.subject;
    if cx.declared().fields(one).is_none() {
        return Err(none(format!("{one} is not declared")));
    }
    let api = cx.api();
    let made = make(cx, &api, one).await?;
    // The author of a change is known after a change.
    let record = match part(
        cx,
        one,
        &json!({"origin_system": "Changed", "source": "Changed"}),
    ) {
        Value::Object(change) if !change.is_empty() && cx.declared().offers(one, "update") => {
            api.change(&made.record, &Value::Object(change)).await?
        }
        _ => made.record.clone(),
    };
    let record = api.as_read(one, record).await?;
    let made = LinkedRecord { record, ..made };
    let own = fields::links(one)
        .filter(|(row, link)| row.applies_if_declared() && cx.declared().links(one, &link.name));
    for (row, stated) in own {
        link(cx, &api, &made, &row.id, stated).await?;
    }
    Ok(())
}

/// Creates a record of a kind with its container and its person, and with a creator and an
/// organizer if they can be known.
async fn make(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    one: &str,
) -> Result<LinkedRecord, CheckStop> {
    let declared = cx.declared();
    let under = kind(one).and_then(|kind| kind.under);
    if let Some(under) = under.filter(|_| ACTIONS.contains(&one)) {
        let helper = kind(one).and_then(|kind| kind.helper).unwrap_or_default();
        let container = api.container(under, helper, &json!({})).await?;
        let person = api.actor(one).await?;
        let record = api
            .act(&container, one, &person, &cx.marked(&own_fields(cx, one)))
            .await?;
        return Ok(LinkedRecord {
            record,
            person: Some(person),
            container: Some(container),
        });
    }
    let known = ["creator", "organizer"]
        .into_iter()
        .filter(|name| declared.links(one, name))
        .collect::<Vec<_>>();
    let mut fields = json!({});
    if !known.is_empty() && declared.offers("person", "create") {
        let person = api.person().await?.self_url()?;
        for name in known {
            fields = api.linked(&fields, name, &person);
        }
    }
    Ok(LinkedRecord {
        record: api.make(one, &fields).await?,
        person: None,
        container: None,
    })
}

async fn link(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    made: &LinkedRecord,
    row: &str,
    stated: &CatalogueLink,
) -> Result<(), CheckStop> {
    let (record, name) = (&made.record, stated.name.as_str());
    if name == "self" {
        let own = record.link("self");
        if cx.observe(row, own.is_some(), || {
            format!("no link self in {}", record.short())
        }) && cx.declared().offers(cx.check.subject, "read")
        {
            let answer = api.get(&own.unwrap_or_default()).await?;
            let right = answer.status == 200 && is_one(&answer.record(), record);
            cx.observe(row, right, || {
                format!(
                    "the target of `self` of {} is something else: {answer}",
                    record.short()
                )
            });
            cx.observe(ids::HAL_16, right, || {
                format!(
                    "the target of `self` of {} is something else: {answer}",
                    record.short()
                )
            });
        }
        return Ok(());
    }
    if stated.optional {
        // Only if that person is known.
        let Some(href) = record.href(name) else {
            let one = cx.check.subject;
            cx.note_missing(
                row,
                format!("no {one} in the responses has the link `{name}`, which is sent if that person is known"),
            );
            return Ok(());
        };
        if !cx.declared().offers("person", "read") {
            return Ok(());
        }
        let answer = api.get(&href).await?;
        let right = answer.status == 200 && answer.json.is_object() && !is_page(&answer);
        cx.observe(row, right, || {
            format!("the target of the link {name} is not a person: {answer}")
        });
        return Ok(());
    }
    let to = match name {
        "person" => made.person.as_ref(),
        _ if kind(name).is_some() => made.container.as_ref(),
        _ => None,
    };
    if let Some(to) = to {
        return api
            .check_link(&[row], record, name, to, name)
            .await
            .map(drop);
    }
    let href = record.href(name);
    if !cx.observe(row, href.is_some(), || {
        format!("no link {name} in {}", record.short())
    }) {
        return Ok(());
    }
    let href = href.unwrap_or_default();
    let Some(helper) = &stated.helper else {
        let answer = api.get(&href).await?;
        cx.observe(row, is_page(&answer), || {
            format!("the target of the link {name} is not a collection: {answer}")
        });
        return Ok(());
    };
    let of = ACTIONS
        .iter()
        .find(|one| kind(one).is_some_and(|kind| kind.helper == Some(helper)));
    let Some(of) = of.filter(|_| cx.declared().helps(helper)) else {
        return Ok(());
    };
    let body = with(
        &cx.marked(&own_fields(cx, of)),
        &json!({ "person": new_person(cx) }),
    );
    let answer = api.post(&href, &body).await?;
    cx.observe(row, answer.is_created(), || {
        format!("the helper does not work: {answer}")
    });
    if answer.is_created() && answer.record().href("person").is_some() {
        api.person_of(&answer.record(), "person").await?;
    }
    Ok(())
}
