//! What a store of webhooks does, as a test that whoever writes one calls.

use svc_core::{
    auth::Tenant,
    error::Result,
    ops::{
        StoredWebhook, WebhookStore,
        WebhookWrite::{Conflict, LimitReached, Written},
    },
    value::{Id, Timestamp},
    webhook::MOST_WEBHOOKS,
};

use super::{ContractViolation, together::at_once};

/// Checks what a store does with webhooks: a write counts only in place of the version before it,
/// whoever is faster; a document is one tenant's; and what is due is found, each once, in parts.
///
/// # Errors
///
/// The first thing that was otherwise.
///
/// Requirements: HOOK-12, HOOK-14.
pub async fn check_webhooks<S: WebhookStore>(
    store: &S,
    tenants: [Tenant; 2],
) -> Result<(), ContractViolation> {
    let failed = |error: svc_core::Error| broken(&format!("it failed: {error:?}"));
    checked(store, tenants).await.map_err(failed)?
}

fn broken(text: &str) -> ContractViolation {
    ContractViolation {
        law: "webhooks",
        seed: 0,
        step: 0,
        text: text.to_owned(),
    }
}

fn stored(id: &Id, version: i64, next: Option<i64>, body: &'static str) -> StoredWebhook {
    StoredWebhook::new(
        id.clone(),
        version,
        next.map(Timestamp::from_micros),
        body.into(),
    )
}

async fn checked<S: WebhookStore>(
    store: &S,
    [one, two]: [Tenant; 2],
) -> Result<Result<(), ContractViolation>> {
    macro_rules! hold {
        ($fact:expr, $text:literal) => {
            if !$fact {
                return Ok(Err(broken($text)));
            }
        };
    }
    let ids: Vec<Id> = (0..5).map(|_| uuid::Uuid::now_v7().into()).collect();
    let [id, other, ..] = ids.as_slice() else {
        return Ok(Err(broken("no ids")));
    };
    hold!(
        store.get_webhook(&one, id).await?.is_none(),
        "one that was never written is there"
    );
    hold!(
        store.put_webhook(&one, &stored(id, 2, None, "{}")).await? == Conflict,
        "a second version came before the first"
    );
    let first = stored(id, 1, Some(10), r#"{"a":1}"#);
    hold!(
        store.put_webhook(&one, &first).await? == Written,
        "a first version was not taken"
    );
    hold!(
        store.get_webhook(&one, id).await? == Some(first.clone()),
        "it is not read as it was written"
    );
    let again = stored(id, 1, Some(10), r#"{"a":2}"#);
    hold!(
        store.put_webhook(&one, &again).await? == Conflict,
        "a first version came twice"
    );
    let (mine, theirs) = (
        stored(id, 2, Some(20), "{}"),
        stored(id, 2, None, r#"{"b":2}"#),
    );
    hold!(
        store.put_webhook(&one, &mine).await? == Written,
        "the next version was not taken"
    );
    hold!(
        store.put_webhook(&one, &theirs).await? == Conflict,
        "of two writers at the same version both were taken"
    );
    hold!(
        store.put_webhook(&one, &stored(id, 4, None, "{}")).await? == Conflict,
        "a version was passed over"
    );
    hold!(
        store.get_webhook(&one, id).await? == Some(mine.clone()),
        "what was refused was written"
    );
    hold!(
        store.get_webhook(&two, id).await?.is_none(),
        "another tenant reads it"
    );
    hold!(
        store.put_webhook(&two, &stored(id, 3, None, "{}")).await? == Conflict,
        "another tenant writes it"
    );
    hold!(
        !store.delete_webhook(&two, id).await?,
        "another tenant deletes it"
    );
    for (number, id) in ids.iter().enumerate().skip(1) {
        let tenant = if number % 2 == 0 { &one } else { &two };
        let next = (number != 3).then_some(30);
        hold!(
            store
                .put_webhook(tenant, &stored(id, 1, next, "{}"))
                .await?
                == Written,
            "a first version was not taken"
        );
    }
    let of_one: Vec<Id> = store
        .list_webhooks(&one)
        .await?
        .into_iter()
        .map(|webhook| webhook.id)
        .collect();
    let expected: Vec<Id> = ids.iter().step_by(2).cloned().collect();
    hold!(
        of_one == expected,
        "the list of a tenant is not what it has, by id"
    );
    let at = Timestamp::from_micros;
    let due = |webhooks: Vec<(Tenant, StoredWebhook)>| -> Vec<(Tenant, Id)> {
        let own = webhooks
            .into_iter()
            .map(|(tenant, webhook)| (tenant, webhook.id));
        own.filter(|(_, id)| ids.contains(id)).collect()
    };
    hold!(
        due(store.list_due_webhooks(at(19), None, 100).await?).is_empty(),
        "it is due before its moment"
    );
    let found = due(store.list_due_webhooks(at(20), None, 100).await?);
    hold!(
        found == [(one.clone(), id.clone())],
        "it is not due at its moment, or not as its tenant's"
    );
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let part = store.list_due_webhooks(at(30), after.as_ref(), 2).await?;
        hold!(part.len() <= 2, "there is more due than was asked for");
        let Some((_, last)) = part.last() else { break };
        after = Some(last.id.clone());
        all.extend(due(part));
    }
    let [_, _, third, _, fifth] = ids.as_slice() else {
        return Ok(Err(broken("no ids")));
    };
    let expected = [
        (one.clone(), id),
        (two.clone(), other),
        (one.clone(), third),
        (one.clone(), fifth),
    ]
    .map(|(t, i)| (t, i.clone()));
    hold!(
        all == expected,
        "in parts, what is due is not each that is, once"
    );
    hold!(
        store.delete_webhook(&one, id).await? && !store.delete_webhook(&one, id).await?,
        "it is not deleted once"
    );
    hold!(
        store.put_webhook(&one, &stored(id, 3, None, "{}")).await? == Conflict,
        "a deleted one is written"
    );
    for (tenant, id) in expected.iter().skip(1).map(|(tenant, id)| (tenant, id)) {
        store.delete_webhook(tenant, id).await?;
    }
    limited(store, [&one, &two]).await
}

/// A tenant has at most [`MOST_WEBHOOKS`], whoever creates them at the same time.
async fn limited<S: WebhookStore>(
    store: &S,
    [one, two]: [&Tenant; 2],
) -> Result<Result<(), ContractViolation>> {
    let before = store.list_webhooks(one).await?.len();
    let ids: Vec<Id> = (0..MOST_WEBHOOKS + 8)
        .map(|_| uuid::Uuid::now_v7().into())
        .collect();
    let first: Vec<StoredWebhook> = ids.iter().map(|id| stored(id, 1, None, "{}")).collect();
    let mut written = before;
    for write in at_once(
        first
            .iter()
            .map(|webhook| store.put_webhook(one, webhook))
            .collect(),
    )
    .await
    {
        match write? {
            Written => written += 1,
            LimitReached => {}
            Conflict => return Ok(Err(broken("a first version conflicts with nothing"))),
        }
    }
    if written != MOST_WEBHOOKS || store.list_webhooks(one).await?.len() != MOST_WEBHOOKS {
        return Ok(Err(broken(
            "concurrent creations give a tenant more webhooks than the limit, or fewer",
        )));
    }
    let (mut kept, mut removed) = (None, None);
    for webhook in store
        .list_webhooks(one)
        .await?
        .into_iter()
        .filter(|webhook| ids.contains(&webhook.id))
    {
        match kept {
            None => kept = Some(webhook),
            Some(_) => removed = Some(webhook.id),
        }
    }
    if let (Some(mut kept), Some(removed)) = (kept, removed) {
        kept.version = 2;
        if store.put_webhook(one, &kept).await? != Written {
            return Ok(Err(broken(
                "at the limit, a webhook cannot be changed any more",
            )));
        }
        let other = stored(&uuid::Uuid::now_v7().into(), 1, None, "{}");
        if store.put_webhook(two, &other).await? != Written
            || !store.delete_webhook(two, &other.id).await?
        {
            return Ok(Err(broken(
                "the limit of one tenant is that of another one",
            )));
        }
        let next = stored(&uuid::Uuid::now_v7().into(), 1, None, "{}");
        store.delete_webhook(one, &removed).await?;
        if store.put_webhook(one, &next).await? != Written
            || !store.delete_webhook(one, &next.id).await?
        {
            return Ok(Err(broken("below the limit again, no webhook is created")));
        }
    }
    for id in &ids {
        store.delete_webhook(one, id).await?;
    }
    Ok(Ok(()))
}
