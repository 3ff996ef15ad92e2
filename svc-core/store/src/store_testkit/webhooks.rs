//! The contract of a webhook store, as a test for its authors.

use svc_core::{
    auth::Tenant,
    backend::{
        StoredWebhook, WebhookStore,
        WebhookWrite::{Conflict, LimitReached, Written},
    },
    error::Result,
    value::{Id, Timestamp},
    webhooks::MAX_WEBHOOKS,
};

use super::{ContractViolation, concurrency::poll_all};

/// Checks the contract of a webhook store.
///
/// A write only succeeds if it follows the stored version, also with concurrent writers. A webhook
/// belongs to one tenant. Each due webhook is returned once, in pages.
///
/// # Errors
///
/// Returns the first violation.
///
/// Requirements: HOOK-12, HOOK-14.
pub async fn check_webhooks<S: WebhookStore>(
    store: &S,
    tenants: [Tenant; 2],
) -> Result<(), ContractViolation> {
    let failed = |error: svc_core::Error| broken(&format!("the store failed: {error:?}"));
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
        "a webhook exists that was never written"
    );
    hold!(
        store.put_webhook(&one, &stored(id, 2, None, "{}")).await? == Conflict,
        "version 2 was accepted before version 1"
    );
    let first = stored(id, 1, Some(10), r#"{"a":1}"#);
    hold!(
        store.put_webhook(&one, &first).await? == Written,
        "version 1 was rejected"
    );
    hold!(
        store.get_webhook(&one, id).await? == Some(first.clone()),
        "the webhook is not read as it was written"
    );
    let again = stored(id, 1, Some(10), r#"{"a":2}"#);
    hold!(
        store.put_webhook(&one, &again).await? == Conflict,
        "version 1 was accepted twice"
    );
    let (mine, theirs) = (
        stored(id, 2, Some(20), "{}"),
        stored(id, 2, None, r#"{"b":2}"#),
    );
    hold!(
        store.put_webhook(&one, &mine).await? == Written,
        "the next version was rejected"
    );
    hold!(
        store.put_webhook(&one, &theirs).await? == Conflict,
        "two writers of the same version were both accepted"
    );
    hold!(
        store.put_webhook(&one, &stored(id, 4, None, "{}")).await? == Conflict,
        "a skipped version was accepted"
    );
    hold!(
        store.get_webhook(&one, id).await? == Some(mine.clone()),
        "a rejected version was stored"
    );
    hold!(
        store.get_webhook(&two, id).await?.is_none(),
        "another tenant can read the webhook"
    );
    hold!(
        store.put_webhook(&two, &stored(id, 3, None, "{}")).await? == Conflict,
        "another tenant can write the webhook"
    );
    hold!(
        !store.delete(&two, id).await?,
        "another tenant can delete the webhook"
    );
    for (number, id) in ids.iter().enumerate().skip(1) {
        let tenant = if number % 2 == 0 { &one } else { &two };
        let next = (number != 3).then_some(30);
        hold!(
            store
                .put_webhook(tenant, &stored(id, 1, next, "{}"))
                .await?
                == Written,
            "version 1 was rejected"
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
        "the list does not contain the webhooks of the tenant, ordered by id"
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
        "the webhook is due too early"
    );
    let found = due(store.list_due_webhooks(at(20), None, 100).await?);
    hold!(
        found == [(one.clone(), id.clone())],
        "the webhook is not due at its time, or has the wrong tenant"
    );
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let part = store.list_due_webhooks(at(30), after.as_ref(), 2).await?;
        hold!(
            part.len() <= 2,
            "more due webhooks were returned than requested"
        );
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
        "the pages of due webhooks do not contain each due webhook once"
    );
    hold!(
        store.delete(&one, id).await? && !store.delete(&one, id).await?,
        "the webhook was not deleted exactly once"
    );
    hold!(
        store.put_webhook(&one, &stored(id, 3, None, "{}")).await? == Conflict,
        "a write to a deleted webhook was accepted"
    );
    for (tenant, id) in expected.iter().skip(1).map(|(tenant, id)| (tenant, id)) {
        store.delete(tenant, id).await?;
    }
    limited(store, [&one, &two]).await
}

/// A tenant has at most [`MAX_WEBHOOKS`] webhooks, even if several are created concurrently.
async fn limited<S: WebhookStore>(
    store: &S,
    [one, two]: [&Tenant; 2],
) -> Result<Result<(), ContractViolation>> {
    let before = store.list_webhooks(one).await?.len();
    let ids: Vec<Id> = (0..MAX_WEBHOOKS + 8)
        .map(|_| uuid::Uuid::now_v7().into())
        .collect();
    let first: Vec<StoredWebhook> = ids.iter().map(|id| stored(id, 1, None, "{}")).collect();
    let mut written = before;
    for write in poll_all(
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
            Conflict => {
                return Ok(Err(broken(
                    "version 1 was rejected with a conflict, but there is none",
                )));
            }
        }
    }
    if written != MAX_WEBHOOKS || store.list_webhooks(one).await?.len() != MAX_WEBHOOKS {
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
                "at the limit, an existing webhook cannot be changed",
            )));
        }
        let other = stored(&uuid::Uuid::now_v7().into(), 1, None, "{}");
        if store.put_webhook(two, &other).await? != Written || !store.delete(two, &other.id).await?
        {
            return Ok(Err(broken(
                "the limit of one tenant affects another tenant",
            )));
        }
        let next = stored(&uuid::Uuid::now_v7().into(), 1, None, "{}");
        store.delete(one, &removed).await?;
        if store.put_webhook(one, &next).await? != Written || !store.delete(one, &next.id).await? {
            return Ok(Err(broken(
                "no webhook can be created after the number has fallen below the limit",
            )));
        }
    }
    for id in &ids {
        store.delete(one, id).await?;
    }
    Ok(Ok(()))
}
