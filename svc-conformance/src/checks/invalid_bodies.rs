//! Bodies with exactly one error are rejected. The response names the error, and nothing is
//! changed.
//!
//! Requirements: ERR-12, ERR-14, ERR-26, ERR-39, CRU-20, CRU-21, CAP-05.

use super::prelude::*;
use crate::counted::may_be_of;
use crate::fixtures::helper_address;
use crate::generate::{self, InvalidBody, without};

/// The requirements of every closed list of a kind, and of the shared objects.
macro_rules! rows_of {
    ($own:literal) => {
        &[
            $own,
            "field:postal_address.",
            "field:email_address.",
            "field:phone_number.",
            ids::ERR_12,
            ids::ERR_26,
            ids::CRU_21,
            ids::ERR_04,
            ids::TYP_08,
        ]
    };
}

macro_rules! checks {
    ($($one:literal $own:literal $create:literal $update:literal;)*) => {
        pub(super) const CHECKS: &[Check] = &[
            $(
                check!($create, rows_of!($own), creates).needs("<kind>.create and <kind>.break").about($one),
                check!($update, &[ids::ERR_14, ids::CRU_20, ids::ERR_04], updates).needs("<kind>.update and <kind>.read and <kind>.break").about($one),
            )*
            check!("err/several", [ERR_26, ERR_39], several).needs("*.create and rule.two"),
            check!("cap/required", [CAP_05, ERR_12, ERR_26], required).needs("*.lack"),
            check!("err/malformed", [ERR_12, CRU_21], malformed).needs("*.create and rule.one"),
        ];
    };
}

checks! {
    "person" "field:person." "err/creates-of-person" "err/updates-of-person";
    "petition" "field:petition." "err/creates-of-petition" "err/updates-of-petition";
    "event" "field:event." "err/creates-of-event" "err/updates-of-event";
    "form" "field:form." "err/creates-of-form" "err/updates-of-form";
    "fundraising_page" "field:fundraising_page." "err/creates-of-fundraising_page" "err/updates-of-fundraising_page";
    "question" "field:question." "err/creates-of-question" "err/updates-of-question";
    "share_page" "field:share_page." "err/creates-of-share_page" "err/updates-of-share_page";
    "advocacy_campaign" "field:advocacy_campaign." "err/creates-of-advocacy_campaign" "err/updates-of-advocacy_campaign";
    "signature" "field:signature." "err/creates-of-signature" "err/updates-of-signature";
    "submission" "field:submission." "err/creates-of-submission" "err/updates-of-submission";
    "donation" "field:donation." "err/creates-of-donation" "err/updates-of-donation";
    "outreach" "field:outreach." "err/creates-of-outreach" "err/updates-of-outreach";
    "attendance" "field:attendance." "err/creates-of-attendance" "err/updates-of-attendance";
}

/// The URL at which records of a kind are created, and what a body needs for it.
pub(super) struct CreateTarget {
    kind: CatalogueKind,
    pub(super) url: String,
    person: Option<String>,
}

impl CreateTarget {
    /// Returns the collection of a kind, in a new container if the kind has one.
    pub(super) async fn of(
        cx: &CheckContext,
        api: &CheckClient<'_>,
        one: &str,
    ) -> Result<Self, CheckStop> {
        let kind = kind(one).ok_or_else(|| none(format!("no kind {one}")))?;
        needs(cx, one, "create")?;
        let Some(under) = kind.under else {
            return Ok(Self {
                kind,
                url: api.collection(kind.many).await?,
                person: None,
            });
        };
        let container = api.make(under, &json!({})).await?;
        let person = api.person().await?;
        Ok(Self {
            kind,
            url: container.require_link(kind.many)?,
            person: Some(person.self_url()?),
        })
    }

    pub(super) fn body(&self, api: &CheckClient<'_>, body: &Value) -> Value {
        match &self.person {
            Some(person) => api.linked(body, "person", person),
            None => body.clone(),
        }
    }

    /// Returns the number of members at this URL, if the collection can be read.
    pub(super) async fn count(
        &self,
        cx: &CheckContext,
        api: &CheckClient<'_>,
    ) -> Result<Option<u64>, CheckStop> {
        let listed = match self.kind.under {
            None => cx.declared().offers(self.kind.one, "list"),
            Some(under) => cx.declared().lists_below(under, self.kind.many),
        };
        if listed {
            api.total(&self.url).await
        } else {
            Ok(None)
        }
    }
}

/// Returns every invalid body. At the lowest intensity, returns every closed list and some of the
/// others.
fn chosen(cx: &CheckContext, one: &str) -> Vec<InvalidBody> {
    let (mut lists, others): (Vec<InvalidBody>, Vec<InvalidBody>) = generate::faults(cx, one)
        .into_iter()
        .partition(|fault| fault.is_list);
    let step = others.len().div_ceil(cx.cases(8, 400, 400)).max(1);
    let shift = cx.rng("which").below(step);
    lists.extend(others.into_iter().skip(shift).step_by(step));
    lists
}

async fn creates(cx: &CheckContext) -> Result<(), CheckStop> {
    let one = cx.check.subject;
    let api = cx.api();
    let place = CreateTarget::of(cx, &api, one).await?;
    let before = place.count(cx, &api).await?;
    let mut bodies = Vec::new();
    for fault in chosen(cx, one) {
        let body = cx.marked(&fault.body);
        let answer = api.post(&place.url, &place.body(&api, &body)).await?;
        refused(cx, &fault, &answer, ids::ERR_12);
        bodies.push(body);
    }
    let Some(count) = before else { return Ok(()) };
    let grown = api
        .has_grown_by(&place.url, before, may_be_of(cx, &bodies))
        .await?;
    holds(cx, &[ids::CRU_21, ids::ERR_04], !grown, || {
        format!(
            "{count} members before {} rejected creates, and one of the rejected records after them",
            bodies.len()
        )
    });
    Ok(())
}

/// Judges the response to a body with one error.
fn refused(cx: &CheckContext, fault: &InvalidBody, answer: &TestResponse, row: &str) {
    let said = answer.status == 400 && !answer.problems().is_empty();
    cx.observe(row, said, || format!("{}: {answer}", fault.what));
    if answer.status == 400 {
        cx.observe(ids::ERR_26, is_named(answer, &fault.property), || {
            format!("{} is not named: {answer}", fault.property)
        });
        let other = is_other(answer, &fault.property);
        cx.observe(ids::ERR_26, other.is_none(), || {
            format!(
                "only {} is wrong, but {} is named: {answer}",
                fault.property,
                json!(other)
            )
        });
    }
    if fault.is_list {
        // A response may omit the name of the member, which is checked above. A response that names
        // another member was rejected for another reason.
        let is_refused = answer.status == 400 && is_other(answer, &fault.property).is_none();
        for row in fault.row.into_iter().chain([ids::TYP_08]) {
            cx.observe(row, is_refused, || format!("{}: {answer}", fault.what));
        }
    }
}

/// Whether a description names the property: verbatim, without the objects around it, or with a
/// member of it.
pub(super) fn is_named(answer: &TestResponse, property: &str) -> bool {
    let last = property.rsplit('.').next().unwrap_or_default();
    answer
        .problems()
        .iter()
        .filter(|problem| !problem.properties.is_empty() || !problem.has_properties)
        .any(|problem| {
            !problem.has_properties
                || problem
                    .properties
                    .iter()
                    .any(|name| name == property || name == last || name.starts_with(property))
        })
}

/// Returns a property that a response to one error names and that is unrelated to it. The type of a
/// question and its responses are related, as are the gender of a person and the identity.
fn is_other(answer: &TestResponse, property: &str) -> Option<String> {
    let top = |name: &str| name.split(['.', '[']).next().unwrap_or_default().to_owned();
    let together = [
        "question_type",
        "responses",
        "gender",
        "gender_identity",
        "type",
        "ticket_levels",
        "tickets",
    ];
    let last = property.rsplit('.').next().unwrap_or_default();
    let fits = |name: &str| {
        top(name) == top(property)
            || top(name) == top(last)
            || together.contains(&top(name).as_str())
    };
    let names = answer
        .problems()
        .into_iter()
        .flat_map(|problem| problem.properties);
    names.into_iter().find(|name| !fits(name))
}

async fn updates(cx: &CheckContext) -> Result<(), CheckStop> {
    let one = cx.check.subject;
    if !cx.declared().offers(one, "update") || !cx.declared().offers(one, "read") {
        return Err(none(format!("{one} cannot be updated and read")));
    }
    let api = cx.api();
    let record = api
        .make(
            one,
            &part(
                cx,
                one,
                &json!({"origin_system": "before", "family_name": "before"}),
            ),
        )
        .await?;
    let mut before = api.reread(&record).await?;
    let faults = chosen(cx, one);
    let step = if cx.cases(0, 1, 1) == 0 {
        faults.len().div_ceil(4).max(1)
    } else {
        1
    };
    for fault in faults.iter().step_by(step) {
        // A valid change in the same body must not be applied either.
        let change = part(
            cx,
            one,
            &json!({"origin_system": cx.unique(), "family_name": cx.unique()}),
        );
        let body = generate::with(&change, &only(fault));
        let answer = api.put(&before.self_url()?, &body).await?;
        let said = answer.status == 400 && !answer.problems().is_empty();
        cx.observe(ids::ERR_14, said, || format!("{}: {answer}", fault.what));
        let after = api.reread(&before).await?;
        if answer.status >= 400 {
            holds(
                cx,
                &[ids::CRU_20, ids::ERR_04],
                unchanged(&before, &after),
                || {
                    format!(
                        "{}: rejected, but {} became {}",
                        fault.what,
                        before.short(),
                        after.short()
                    )
                },
            );
        }
        before = after;
    }
    Ok(())
}

/// Returns the invalid member without the other members that a create needs.
pub(super) fn only(fault: &InvalidBody) -> Value {
    let top = fault.property.split(['.', '[']).next().unwrap_or_default();
    json!({ top: fault.body.get(top) })
}

/// Whether two reads of a record have the same fields. Links may change.
///
/// Requirements: HAL-06.
pub(super) fn unchanged(before: &Representation, after: &Representation) -> bool {
    without(&before.json, &["_links"]) == without(&after.json, &["_links"])
}

/// All violated rules are reported together.
///
/// Requirements: ERR-39.
async fn several(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let kinds: Vec<CatalogueKind> = cx
        .declared()
        .kinds()
        .filter(|kind| cx.declared().offers(kind.one, "create") && kind.under.is_none())
        .collect();
    for kind in kinds {
        let all = generate::faults(cx, kind.one);
        let mut top: Vec<&InvalidBody> = all
            .iter()
            .filter(|fault| !fault.property.contains(['.', '[']))
            .collect();
        top.dedup_by_key(|fault| fault.property.clone());
        if top.len() < 2 {
            continue;
        }
        let url = api.collection(kind.many).await?;
        let mut rng = cx.rng(kind.one);
        for count in [2, 3, 5].into_iter().take(cx.cases(1, 2, 3)) {
            let mut chosen: Vec<&InvalidBody> = Vec::new();
            for _ in 0..count * 4 {
                let Some(fault) = rng.pick(&top) else { break };
                if chosen.len() < count
                    && chosen.iter().all(|other| other.property != fault.property)
                {
                    chosen.push(fault);
                }
            }
            let mut body = generate::minimal_body(cx, kind.one);
            for fault in &chosen {
                body = generate::with(&body, &only(fault));
            }
            let answer = api.post(&url, &cx.marked(&body)).await?;
            let problems = answer.problems();
            let named = chosen
                .iter()
                .all(|fault| is_named(&answer, &fault.property));
            cx.observe(
                ids::ERR_39,
                answer.status == 400 && problems.len() >= chosen.len() && named,
                || {
                    let properties: Vec<&str> =
                        chosen.iter().map(|fault| fault.property.as_str()).collect();
                    format!("{properties:?} are wrong: {answer}")
                },
            );
        }
        // One kind is sufficient.
        if kind.one == "person"
            && cx.declared().offers(kind.one, "update")
            && let [one, .., other] = top.as_slice()
        {
            let record = api.make(kind.one, &json!({})).await?;
            let answer = api
                .put(
                    &record.self_url()?,
                    &generate::with(&only(one), &only(other)),
                )
                .await?;
            both(cx, &answer, &one.property, &other.property);
        }
    }
    elements(cx, &api).await?;
    choices(cx, &api).await
}

/// Both errors are reported, each with its own property.
fn both(cx: &CheckContext, answer: &TestResponse, one: &str, other: &str) {
    let named = answer.problems().len() >= 2 && is_named(answer, one) && is_named(answer, other);
    cx.observe(ids::ERR_39, answer.status == 400 && named, || {
        format!("{one} and {other} are wrong: {answer}")
    });
}

/// Two elements of one list are wrong, in a create and in the person of a helper.
async fn elements(cx: &CheckContext, api: &CheckClient<'_>) -> Result<(), CheckStop> {
    let status = cx
        .declared()
        .field("person", "email_addresses[].status")
        .is_some_and(|field| field.writable);
    let list = cx.declared().field("person", "email_addresses");
    let has_room = list.is_some_and(|list| generate::max_items(list) >= 2);
    if !status || !has_room || !cx.declared().behaves("validates_enums") {
        return Ok(());
    }
    let wrong = |at: usize| json!({"address": format!("{}-{at}@example.org", cx.unique()), "status": "svc-conformance unlisted"});
    let person = cx.marked(&json!({ "email_addresses": [wrong(0), wrong(1)] }));
    let place = |at: usize| format!("email_addresses[{at}].status");
    if cx.declared().offers("person", "create") {
        let answer = api.post(&api.collection("people").await?, &person).await?;
        both(cx, &answer, &place(0), &place(1));
        let named = |at: usize| {
            let mut names = answer
                .problems()
                .into_iter()
                .flat_map(|problem| problem.properties);
            // A name without the index does not identify the element.
            names.any(|name| !name.contains('[') || name.ends_with(&place(at)))
        };
        cx.observe(ids::ERR_26, named(0) && named(1), || {
            format!("{} and {}: {answer}", place(0), place(1))
        });
    }
    if cx.declared().helps("person_signup") {
        let url = helper_address(&api.entry().await?, "person_signup")?;
        let answer = api.post(&url, &json!({ "person": person })).await?;
        both(
            cx,
            &answer,
            &format!("person.{}", place(0)),
            &format!("person.{}", place(1)),
        );
    }
    Ok(())
}

/// The example of the catalogue: a paragraph with responses, one of which has an invalid name.
async fn choices(cx: &CheckContext, api: &CheckClient<'_>) -> Result<(), CheckStop> {
    if !cx.declared().offers("question", "create") || !cx.declared().behaves("rule.response_name") {
        return Ok(());
    }
    let url = api.collection("questions").await?;
    let body = json!({"question_type": "Paragraph", "responses": [{"key": "a1", "name": "good"}, {"key": "b2", "name": "not good!"}]});
    let answer = api.post(&url, &cx.marked(&body)).await?;
    let both = answer.refuses("PARAGRAPH_CANNOT_HAVE_RESPONSES", "question_type")
        && answer.refuses("RESPONSE_NAME_INVALID", "responses[1].name");
    cx.observe(ids::ERR_39, answer.status == 400 && both, || {
        answer.to_string()
    });
    Ok(())
}

/// A create without a required field is rejected, and the field is named.
///
/// Requirements: CAP-05.
async fn required(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let kinds: Vec<CatalogueKind> = cx
        .declared()
        .kinds()
        .filter(|kind| cx.declared().offers(kind.one, "create"))
        .collect();
    for kind in kinds {
        let fields = cx.declared().fields(kind.one).into_iter().flatten();
        for (name, _) in fields.filter(|(_, field)| field.required && field.writable) {
            let place = CreateTarget::of(cx, &api, kind.one).await?;
            // Fields that depend on the type of a question are removed with it.
            let also = if kind.one == "question" {
                "responses"
            } else {
                name
            };
            let body = without(&generate::minimal_body(cx, kind.one), &[name, also]);
            let answer = api
                .post(&place.url, &place.body(&api, &cx.marked(&body)))
                .await?;
            let said = answer.status == 400 && !answer.problems().is_empty();
            cx.observe(ids::CAP_05, said && is_named(&answer, name), || {
                format!("without {name}: {answer}")
            });
            cx.observe(ids::ERR_12, said, || format!("without {name}: {answer}"));
        }
    }
    Ok(())
}

/// A body that is not JSON is rejected.
///
/// Requirements: ERR-12.
async fn malformed(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let kinds: Vec<CatalogueKind> = cx
        .declared()
        .kinds()
        .filter(|kind| cx.declared().offers(kind.one, "create"))
        .collect();
    let tops = kinds
        .into_iter()
        .filter(|kind| kind.under.is_none())
        .take(cx.cases(2, 12, 12));
    for kind in tops {
        let place = CreateTarget::of(cx, &api, kind.one).await?;
        let before = place.count(cx, &api).await?;
        for text in [
            "{",
            "{\"name\": }",
            "[]",
            "\"text\"",
            "{\"name\": \"a\"} trailing",
        ] {
            let answer = api
                .send(http::Method::POST, &place.url, Some(text.to_owned()))
                .await?;
            let said = answer.status == 400 && !answer.problems().is_empty();
            cx.observe(ids::ERR_12, said, || answer.to_string());
        }
        let after = place.count(cx, &api).await?;
        // Other clients may write at the same time, but a growth by exactly the number of bodies is
        // not a coincidence.
        let grown = matches!((before, after), (Some(before), Some(after)) if after >= before.saturating_add(5));
        cx.observe(ids::CRU_21, !grown, || {
            format!(
                "{} members before, {} after bodies that are not JSON objects",
                json!(before),
                json!(after)
            )
        });
    }
    Ok(())
}
