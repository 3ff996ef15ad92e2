//! Keys, rights and tenants.
//!
//! Requirements: AUT-01 to AUT-08, COL-02, HAL-10, ERR-08, ERR-09.

use http::Method;

use super::functions::any_helper;
use super::helper_calls::{PreparedHelper, declared_helpers, ignored, new_person};
use super::prelude::*;
use super::record_comparison;
use crate::counted::may_be_of;
use crate::fixtures::helper_address;
use crate::kinds::{ACTIONS, kind_of};

/// A key that no server has issued.
const WRONG: &str = "no-such-key-0000";

pub(super) const CHECKS: &[Check] = &[
    check!("aut/key", [AUT_01, HAL_10], key)
        .needs("auth")
        .only_reads(),
    check!("aut/wrong-key", [AUT_03, AUT_05, ERR_08], wrong)
        .needs("auth")
        .only_reads(),
    check!("aut/no-key", [AUT_07, AUT_05], without)
        .needs("auth")
        .only_reads(),
    check!(
        "aut/refused-writes",
        [AUT_01, AUT_03, AUT_07, AUT_08, ERR_08, HAL_10],
        refused_writes
    )
    .needs("auth"),
    check!(
        "aut/missing-right",
        [AUT_04, AUT_08, ERR_09, AUT_05],
        missing_right
    )
    .needs("auth.restricted_key"),
    check!("aut/tenants", [COL_02, COL_30, AUT_02], tenants).needs("auth.multi_key and *.list"),
    check!("aut/anonymous-helpers", [AUT_06], anonymous).needs("auth"),
];

/// Returns the URLs of every collection of the entry point.
async fn collections(
    cx: &CheckContext,
    api: &CheckClient<'_>,
) -> Result<Vec<(CatalogueKind, String)>, CheckStop> {
    let entry = api.entry().await?;
    let declared = cx.declared();
    let listed = declared
        .kinds()
        .filter(|kind| declared.offers(kind.one, "list"));
    Ok(listed
        .filter_map(|kind| Some((kind, entry.href(kind.many)?)))
        .collect())
}

/// A request that is rejected without the header is accepted with it.
async fn key(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let all = collections(cx, &api).await?;
    let (_, url) = all.first().ok_or_else(|| none("no collection is linked"))?;
    let answer = api.get(url).await?;
    holds(
        cx,
        &[ids::AUT_01, ids::HAL_10],
        answer.status == 200,
        || format!("with the key: {answer}"),
    );
    Ok(())
}

/// An invalid key is rejected with 401 everywhere.
async fn wrong(cx: &CheckContext) -> Result<(), CheckStop> {
    let (api, wrong) = (cx.api(), cx.with_key(WRONG));
    let rows = &[ids::AUT_03, ids::ERR_08];
    let mut urls = vec![cx.run.target.base().to_owned()];
    urls.extend(collections(cx, &api).await?.into_iter().map(|(_, url)| url));
    for url in urls {
        let answer = wrong.get(&url).await?;
        holds(cx, rows, answer.status == 401, || {
            format!("with an invalid key: {answer}")
        });
        cx.observe(ids::AUT_05, true, String::new);
    }
    Ok(())
}

/// Whether a request without a key was rejected because it needs one.
fn is_refused(answer: &TestResponse) -> bool {
    matches!(answer.status, 401 | 403)
}

async fn without(cx: &CheckContext) -> Result<(), CheckStop> {
    let (api, anonymous) = (cx.api(), cx.anonymous());
    for (_, url) in collections(cx, &api).await? {
        let answer = anonymous.get(&url).await?;
        cx.observe(ids::AUT_07, is_refused(&answer), || {
            format!("without a key: {answer}")
        });
        cx.chose("status without a key", answer.status.to_string());
        cx.observe(ids::AUT_05, true, String::new);
    }
    Ok(())
}

/// A record that can be written to, and its original state.
struct AccessSubject {
    kind: CatalogueKind,
    record: Representation,
    /// The collection to post to, with its kind and the body. For a nested kind, it belongs to a
    /// new container.
    posts: Option<(CatalogueKind, String, Value)>,
}

impl AccessSubject {
    async fn make(cx: &CheckContext, api: &CheckClient<'_>) -> Result<Self, CheckStop> {
        let declared = cx.declared();
        for one in [
            "petition",
            "form",
            "event",
            "advocacy_campaign",
            "fundraising_page",
            "question",
            "person",
            "tag",
        ] {
            let Some(kind) = kind(one) else { continue };
            if !declared.offers(one, "create") || !declared.offers(one, "read") {
                continue;
            }
            let record = api.reread(&api.make(one, &json!({})).await?).await?;
            let below = declared
                .kinds()
                .find(|below| below.under == Some(one) && declared.lists_below(one, below.many));
            let below = below.filter(|below| {
                declared.offers(below.one, "create") && record_comparison::can_make(cx, "person")
            });
            let posts = match below.and_then(|below| Some((below, record.href(below.many)?))) {
                Some((below, url)) => {
                    let person = api.person().await?;
                    let body = api.linked(
                        &cx.marked(&crate::generate::minimal_body(cx, below.one)),
                        "person",
                        &person.self_url()?,
                    );
                    Some((below, url, body))
                }
                None => None,
            };
            return Ok(Self {
                kind,
                record,
                posts,
            });
        }
        Err(none("no record can be created and read"))
    }

    /// Sends an update, a create in the collection, and a delete, as a caller without the right.
    async fn attack(
        &self,
        cx: &CheckContext,
        who: &CheckClient<'_>,
    ) -> Result<Vec<TestResponse>, CheckStop> {
        let mut answers = Vec::new();
        let own = self.record.self_url()?;
        if cx.declared().offers(self.kind.one, "update") {
            answers.push(
                who.put(&own, &json!({ "origin_system": cx.unique() }))
                    .await?,
            );
        }
        if let Some((_, url, body)) = &self.posts {
            answers.push(who.post(url, body).await?);
        }
        if cx.declared().offers(self.kind.one, "delete") {
            answers.push(who.delete(&own).await?);
        }
        Ok(answers)
    }

    /// Whether everything is unchanged.
    async fn untouched(&self, cx: &CheckContext, api: &CheckClient<'_>) -> Result<(), CheckStop> {
        let answer = api.get(&self.record.self_url()?).await?;
        let again = answer.record();
        let same = answer.status == 200
            && is_one(&again, &self.record)
            && again["modified_date"] == self.record["modified_date"]
            && again["origin_system"] == self.record["origin_system"];
        cx.observe(ids::AUT_08, same, || {
            format!("after rejected writes {} is {answer}", self.record.short())
        });
        if let Some((_, url, _)) = &self.posts {
            let answer = api.get(url).await?;
            let none = answer.status == 200 && answer.record().embedded().is_empty();
            cx.observe(ids::AUT_08, none, || {
                format!("after a rejected create: {answer}")
            });
        }
        Ok(())
    }
}

/// Writes with an invalid key, and without a key, are rejected and change nothing. With the key
/// they are accepted.
async fn refused_writes(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let declared = cx.declared();
    if let Some(of) = declared
        .kinds()
        .find(|of| of.under.is_none() && declared.offers(of.one, "create"))
    {
        let body = cx.marked(&crate::generate::minimal_body(cx, of.one));
        let answer = api.post(&api.collection(of.many).await?, &body).await?;
        holds(
            cx,
            &[ids::AUT_01, ids::HAL_10],
            !is_refused(&answer),
            || format!("with the key: {answer}"),
        );
    }
    if let Ok(ready) = any_helper(&api).await {
        helper_needs_key(cx, &api, &ready).await?;
        // A helper that needs no key shows nothing of the helpers that do.
        let keyed = declared_helpers(cx)
            .into_iter()
            .find(|name| !declared.helps_anyone(name));
        if let Some(name) = keyed.filter(|_| declared.helps_anyone(ready.name)) {
            helper_needs_key(cx, &api, &api.ready(name).await?).await?;
        }
    }
    let subject = AccessSubject::make(cx, &api).await?;
    for answer in subject.attack(cx, &cx.with_key(WRONG)).await? {
        holds(
            cx,
            &[ids::AUT_03, ids::ERR_08],
            answer.status == 401,
            || format!("with an invalid key: {answer}"),
        );
    }
    for answer in subject.attack(cx, &cx.anonymous()).await? {
        cx.observe(ids::AUT_07, is_refused(&answer), || {
            format!("without a key: {answer}")
        });
    }
    let of = subject.kind;
    if of.under.is_none() && cx.declared().offers(of.one, "list") {
        top_level(cx, &api, of).await?;
    }
    subject.untouched(cx, &api).await?;
    for answer in subject.attack(cx, &api).await? {
        let right = !is_refused(&answer);
        holds(cx, &[ids::AUT_01, ids::HAL_10], right, || {
            format!("with the key: {answer}")
        });
    }
    Ok(())
}

/// A helper rejects an invalid key, and accepts valid keys. Without a key it is rejected unless
/// anonymous access is declared.
async fn helper_needs_key(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    ready: &PreparedHelper,
) -> Result<(), CheckStop> {
    let body = || ready.body(cx, Some(&new_person(cx)));
    let answer = cx.with_key(WRONG).post(&ready.url, &body()).await?;
    holds(
        cx,
        &[ids::AUT_03, ids::ERR_08],
        answer.status == 401,
        || format!("with an invalid key: {answer}"),
    );
    if !cx.declared().helps_anyone(ready.name) {
        let answer = cx.anonymous().post(&ready.url, &body()).await?;
        cx.observe(ids::AUT_07, is_refused(&answer), || {
            format!("without a key: {answer}")
        });
    }
    let answer = api.post(&ready.url, &body()).await?;
    holds(
        cx,
        &[ids::AUT_01, ids::HAL_10],
        !is_refused(&answer),
        || format!("with the key: {answer}"),
    );
    if answer.is_created() {
        api.about(ready, &answer.record())
            .await
            .map(drop)
            .or_else(ignored)?;
    }
    Ok(())
}

/// Tries to create in a collection of the entry point.
async fn top_level(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    of: CatalogueKind,
) -> Result<(), CheckStop> {
    let url = api.collection(of.many).await?;
    let before = api.total(&url).await?;
    let wrong = cx.marked(&crate::generate::minimal_body(cx, of.one));
    let answer = cx.with_key(WRONG).post(&url, &wrong).await?;
    cx.observe(ids::AUT_03, answer.status == 401, || {
        format!("with an invalid key: {answer}")
    });
    let keyless = cx.marked(&crate::generate::minimal_body(cx, of.one));
    let answer = cx.anonymous().post(&url, &keyless).await?;
    cx.observe(ids::AUT_07, is_refused(&answer), || {
        format!("without a key: {answer}")
    });
    nothing_new(cx, api, &url, before, &[wrong, keyless]).await
}

/// No collection contains a record of a rejected body.
async fn nothing_new(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    url: &str,
    before: Option<u64>,
    bodies: &[Value],
) -> Result<(), CheckStop> {
    let grown = api.has_grown_by(url, before, may_be_of(cx, bodies)).await?;
    cx.observe(ids::AUT_08, !grown, || {
        format!(
            "{} records before rejected creates, and one of the rejected records after them, in {url}",
            json!(before)
        )
    });
    Ok(())
}

/// An operation to which a key has no right is rejected with 403 and has no effect.
async fn missing_right(cx: &CheckContext) -> Result<(), CheckStop> {
    let Some((key, lacks)) = cx.run.keys.restricted.clone() else {
        return Ok(());
    };
    let (api, narrow) = (cx.api(), cx.with_key(&key));
    let Some((many, operation)) = lacks.split_once('.') else {
        return Err(none(format!("`{lacks}` is not a right")));
    };
    if many == "helper" {
        let answer = narrow
            .post(
                &helper(cx, &api, operation).await?,
                &json!({"person": cx.marked(&json!({}))}),
            )
            .await?;
        forbidden(cx, &answer);
        return Ok(());
    }
    let of = kind_of(many).filter(|of| cx.declared().offers(of.one, operation));
    let of = of.ok_or_else(|| none(format!("{lacks} is not declared")))?;
    let record = if operation == "list" {
        None
    } else {
        Some(api.make(of.one, &json!({})).await?)
    };
    let readable = cx.declared().offers(of.one, "read");
    let before = match &record {
        Some(record) if readable => Some(api.reread(record).await?),
        _ => None,
    };
    match (operation, &record) {
        ("create" | "list", _) => {
            let url = api.collection(of.many).await?;
            if operation == "list" {
                forbidden(cx, &narrow.get(&url).await?);
                return Ok(());
            }
            let listed = cx.declared().offers(of.one, "list");
            let before = if listed { api.total(&url).await? } else { None };
            let body = cx.marked(&crate::generate::minimal_body(cx, of.one));
            forbidden(cx, &narrow.post(&url, &body).await?);
            if listed {
                nothing_new(cx, &api, &url, before, &[body]).await?;
            }
        }
        ("read", Some(record)) => {
            forbidden(cx, &narrow.get(&record.self_url()?).await?);
            if of.one == "person" && cx.declared().acts("add_tags") {
                super::anonymous_disclosure::hidden_from(cx, &narrow).await?;
            }
        }
        ("update", Some(record)) => {
            forbidden(
                cx,
                &narrow
                    .put(
                        &record.self_url()?,
                        &json!({ "origin_system": cx.unique() }),
                    )
                    .await?,
            );
        }
        ("delete", Some(record)) => forbidden(cx, &narrow.delete(&record.self_url()?).await?),
        _ => return Err(none(format!("`{lacks}` is not a right"))),
    }
    if let Some(before) = before {
        let answer = api.get(&before.self_url()?).await?;
        let same = answer.status == 200 && answer["modified_date"] == before["modified_date"];
        cx.observe(ids::AUT_08, same, || {
            format!(
                "after a rejected {operation} {} is {answer}",
                before.short()
            )
        });
    }
    Ok(())
}

fn forbidden(cx: &CheckContext, answer: &TestResponse) {
    holds(
        cx,
        &[ids::AUT_04, ids::ERR_09],
        answer.status == 403,
        || format!("with a key without the right: {answer}"),
    );
    cx.observe(ids::AUT_05, true, String::new);
}

/// Returns the URL of a helper of a new container.
async fn helper(cx: &CheckContext, api: &CheckClient<'_>, name: &str) -> Result<String, CheckStop> {
    if name == "person_signup" {
        return helper_address(&api.entry().await?, name);
    }
    let of = cx.declared().kinds().find(|kind| kind.helper == Some(name));
    let under = of
        .and_then(|of| of.under)
        .ok_or_else(|| none(format!("no helper {name}")))?;
    helper_address(&api.container(under, name, &json!({})).await?, name)
}

/// Another tenant sees no record of this tenant in any collection.
async fn tenants(cx: &CheckContext) -> Result<(), CheckStop> {
    let Some(other) = cx.other() else {
        return Ok(());
    };
    let (api, rows) = (cx.api(), &[ids::COL_02, ids::AUT_02]);
    let mut each = SubjectLoop::default();
    for (of, url) in collections(cx, &api).await? {
        let is_new = cx.declared().offers(of.one, "create");
        // If nothing can be created, each existing record also belongs to only one of the two
        // tenants.
        let record = match api.make(of.one, &json!({})).await {
            Err(stop @ CheckStop::Inconclusive(_)) if !is_new => {
                each.took(Err(stop))?;
                continue;
            }
            record => record?,
        };
        each.took(Ok(()))?;
        if is_new {
            let own = api.get(&url).await?;
            let seen = own.status == 200 && !own.record().embedded().is_empty();
            holds(cx, rows, seen, || {
                format!("its own tenant does not see {}: {own}", record.short())
            });
        }
        let Ok(theirs) = other.collection(of.many).await else {
            continue;
        };
        let total = other.total(&theirs).await?;
        if total > Some(2_000) {
            continue;
        }
        let members = other.members(&theirs).await?;
        // Unless another client wrote in between.
        let counted = total.unwrap_or_default() == u64::try_from(members.len()).unwrap_or(u64::MAX);
        let counted = counted || other.total(&theirs).await? != total;
        holds(cx, rows, counted, || {
            format!(
                "another tenant sees {} {} but counts {}",
                members.len(),
                of.many,
                json!(total)
            )
        });
        let leaked = members.iter().find(|member| is_one(member, &record));
        holds(cx, rows, leaked.is_none(), || {
            format!("{} of another tenant contain {}", of.many, record.short())
        });
        below(cx, &api, &other, of, &record).await?;
    }
    each.end()
}

/// The collections in a record of another tenant.
async fn below(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    other: &CheckClient<'_>,
    of: CatalogueKind,
    record: &Representation,
) -> Result<(), CheckStop> {
    let declared = cx.declared();
    for one in ACTIONS.iter().chain(&["tagging", "item"]) {
        let Some(kind) = kind(one).filter(|kind| kind.under == Some(of.one)) else {
            continue;
        };
        let may = declared.lists_below(of.one, kind.many) && declared.offers(one, "create");
        if !may || !record_comparison::can_make(cx, "person") {
            continue;
        }
        let person = api.person().await?;
        let made = api
            .act(record, one, &person, &cx.marked(&json!({})))
            .await?;
        let answer = other
            .send(Method::GET, &record.require_link(kind.many)?, None)
            .await?;
        let leaked = answer.status == 200
            && answer
                .record()
                .embedded()
                .iter()
                .any(|member| is_one(member, &made));
        holds(cx, &[ids::COL_02, ids::AUT_02], !leaked, || {
            format!("another tenant can read {}: {answer}", kind.many)
        });
    }
    if declared.offers(of.one, "read") {
        let answer = other.get(&record.self_url()?).await?;
        let leaked = answer.status == 200 && is_one(&answer.record(), record);
        cx.prefers(ids::AUT_02, !leaked, || {
            format!("another tenant can read {}", record.short())
        });
    }
    Ok(())
}

/// A helper can be called without a key exactly if that is declared.
async fn anonymous(cx: &CheckContext) -> Result<(), CheckStop> {
    let (api, anonymous) = (cx.api(), cx.anonymous());
    for one in ACTIONS.iter().chain(&["canvass"]) {
        let Some(kind) = kind(one) else { continue };
        let Some(name) = kind.helper.filter(|name| cx.declared().helps(name)) else {
            continue;
        };
        let Ok(url) = helper(cx, &api, name).await else {
            continue;
        };
        let body = match *one {
            "canvass" => json!({ "canvass": cx.marked(&json!({})) }),
            _ => cx.marked(&json!({ "person": cx.marked(&json!({})) })),
        };
        let answer = anonymous.post(&url, &body).await?;
        let declared = cx.declared().helps_anyone(name);
        let right = if declared {
            answer.is_success()
        } else {
            is_refused(&answer)
        };
        cx.observe(ids::AUT_06, right, || {
            format!(
                "{name} without a key is {}declared: {answer}",
                if declared { "" } else { "not " }
            )
        });
    }
    Ok(())
}
