//! Nested collections: those of a container and those of a person.
//!
//! Requirements: COL-04 to COL-18, COL-30.

use super::crud::is_page;
use super::pages::two_pages;
use super::prelude::*;
use super::record_comparison;
use super::subject::touch;
use crate::catalogue::{Ability, Encounter};
use crate::generate::without;
use crate::kinds::collection_rows;

macro_rules! of_a_person {
    ($id:literal, ids::$row:ident, $one:literal) => {
        check!(
            $id,
            [$row, COL_21, COL_22, COL_23, COL_24, COL_27, COL_28],
            of_a_person
        )
        .about($one)
    };
}

macro_rules! below {
    ($(ids::$row:ident ids::$person:ident $one:literal $below:literal $of:literal;)*) => {
        &[$(
            check!($below, &[ids::$row, ids::COL_30, ids::COL_31, ids::COL_23, ids::COL_28], nested).about($one),
            of_a_person!($of, ids::$person, $one),
        )*
            of_a_person!("col/taggings-of-a-person", ids::COL_17, "tagging"),
            of_a_person!("col/items-of-a-person", ids::COL_18, "item"),
            check!("col/answers-of-a-submission", [COL_10, COL_30], of_a_submission)
                .needs("submissions.sub.answers"),
        ]
    };
}

/// The collections of a container, and those of a person.
pub(super) const CHECKS: &[Check] = below! {
    ids::COL_04 ids::COL_14 "signature" "col/signatures" "col/signatures-of-a-person";
    ids::COL_05 ids::COL_12 "submission" "col/submissions" "col/submissions-of-a-person";
    ids::COL_06 ids::COL_11 "donation" "col/donations" "col/donations-of-a-person";
    ids::COL_07 ids::COL_15 "outreach" "col/outreaches" "col/outreaches-of-a-person";
    ids::COL_08 ids::COL_13 "attendance" "col/attendances" "col/attendances-of-a-person";
    ids::COL_09 ids::COL_16 "answer" "col/answers" "col/answers-of-a-person";
};

/// Whether a response is a collection without members.
fn is_empty(answer: &TestResponse) -> bool {
    let Some(page) = answer.json.as_object() else {
        return false;
    };
    let empty = page.get("_embedded").is_none_or(|embedded| {
        let lists = embedded.as_object();
        lists.is_some_and(|lists| {
            lists
                .values()
                .all(|list| list.as_array().is_some_and(Vec::is_empty))
        })
    });
    answer.status == 200 && (page.is_empty() || (answer["total_records"] == 0 && empty))
}

/// Creates a container, and returns it with the URL of its nested collection.
pub(super) async fn container(
    api: &CheckClient<'_>,
    of: CatalogueKind,
) -> Result<(Representation, String), CheckStop> {
    let declared = api.cx.declared();
    let under = of
        .under
        .filter(|under| declared.lists_below(under, of.many));
    let under = under.ok_or_else(|| none(format!("{} are not in a container", of.many)))?;
    let container = api.make(under, &json!({})).await?;
    let container = api.as_read(under, container).await?;
    if let Some((row, _)) = collection_rows(of.one).filter(|(row, _)| !row.is_empty()) {
        let linked = container.href(of.many).is_some();
        api.cx.must(row, linked, || {
            format!("no link {} in {}", of.many, container.short())
        })?;
    }
    let url = container.require_link(of.many)?;
    Ok((container, url))
}

/// Returns the body of an action with every field that does not depend on another record.
fn filled(cx: &CheckContext, one: &str) -> Value {
    let fields = match one {
        // The fields of an answer depend on its question.
        "answer" => json!({}),
        // Tickets depend on the levels of the event, and `attended` may depend on the tickets.
        "attendance" => without(
            &record_comparison::filled(cx, one),
            &["tickets", "attended"],
        ),
        _ => record_comparison::filled(cx, one),
    };
    cx.marked(&crate::fixtures::full(cx, one, &fields))
}

/// The only member of a collection has every field. `total_records` is one after a change and zero
/// after a delete.
///
/// Requirements: COL-23, COL-28.
pub(super) async fn only_member(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    url: &str,
    member: &Representation,
    of: CatalogueKind,
) -> Result<(), CheckStop> {
    if cx.declared().offers(of.one, "read") {
        record_comparison::compare(cx, api, &[ids::COL_28], member, of.one).await?;
    }
    if cx.declared().behaves("totals_follow_later") {
        return Ok(());
    }
    if touch(api, of.one, member).await?.is_some() {
        let total = api.total(url).await?;
        cx.observe(ids::COL_23, total == Some(1), || {
            format!(
                "total_records is {} after a change of {}, the only member",
                json!(total),
                member.short()
            )
        });
    }
    if cx.declared().offers(of.one, "delete") {
        api.remove(member).await?;
        let answer = api.get(url).await?;
        cx.observe(ids::COL_23, is_empty(&answer), || {
            format!(
                "after {}, the only member, was deleted: {answer}",
                member.short()
            )
        });
    }
    Ok(())
}

/// The collection of a new container is empty, and then contains exactly the records created there.
/// Each links back to the container.
async fn nested(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let of = kind(cx.check.subject).ok_or_else(|| none("no such kind"))?;
    let (row, _) = collection_rows(of.one).unwrap_or_default();
    let (container, url) = container(&api, of).await?;
    let is_new = of
        .under
        .is_some_and(|under| record_comparison::can_make(cx, under));
    if is_new {
        let answer = api.get(&url).await?;
        cx.run.met.add(Encounter::EmptyCollection);
        for row in [row, ids::COL_30] {
            cx.must(row, is_empty(&answer), || {
                format!("{} of a new container: {answer}", of.many)
            })?;
        }
        cx.chose(
            "an empty collection",
            if answer.text().trim() == "{}" {
                "an empty object"
            } else {
                "a collection"
            },
        );
    }
    let person = api.person().await?;
    let record = api
        .act(&container, of.one, &person, &filled(cx, of.one))
        .await?;
    let rows = &[row, ids::COL_31, ids::COL_23];
    let members = if is_new {
        one_member(cx, &api, &url, rows, &record).await?
    } else {
        // Other clients may also write there.
        let member = api.find_in(&url, &record).await?;
        holds(cx, &[row, ids::COL_31], member.is_some(), || {
            format!(
                "{} of {} do not contain {}",
                of.many,
                container.short(),
                record.short()
            )
        });
        member
    };
    if let (Some(under), Some(member)) = (of.under, &members)
        && cx.declared().links(of.one, under)
        && cx.declared().offers(under, "read")
    {
        let href = member.href(under);
        let Some(href) = href else {
            cx.observe(row, false, || {
                format!("no link {under} in {}", member.short())
            });
            return Ok(());
        };
        let back = api.get(&href).await?;
        cx.observe(
            row,
            back.status == 200 && is_one(&back.record(), &container),
            || {
                format!(
                    "the target of the link {under} of {} is not the container: {back}",
                    member.short()
                )
            },
        );
    }
    match members.filter(|_| is_new) {
        Some(member) => only_member(cx, &api, &url, &member, of).await,
        None => Ok(()),
    }
}

/// The collection contains only this member.
async fn one_member(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    url: &str,
    rows: &[&str],
    record: &Representation,
) -> Result<Option<Representation>, CheckStop> {
    let answer = api.get(url).await?;
    let page = answer.record();
    let members = page.embedded();
    let right = answer.status == 200
        && page["total_records"] == 1
        && matches!(members.as_slice(), [one] if is_one(one, record));
    holds(cx, rows, right, || {
        format!("instead of only {}: {answer}", record.short())
    });
    Ok(members.into_iter().next().filter(|_| right))
}

/// Whether [`of_a_person`] checks the pages of the collection of the container, which has two
/// members. Another check reads all pages of the signatures.
pub(super) fn pages_of_container(cx: &CheckContext, of: CatalogueKind) -> bool {
    let declared = cx.declared();
    let is_listed =
        |under| record_comparison::can_make(cx, under) && declared.lists_below(under, of.many);
    of.one != "signature"
        && of.under.is_some_and(is_listed)
        && declared.lists_below("person", of.many)
        && record_comparison::can_make(cx, "person")
        && declared.can(of.one, Ability::Create)
}

/// The collection of a person contains exactly the actions of that person.
async fn of_a_person(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let of = kind(cx.check.subject).ok_or_else(|| none("no such kind"))?;
    let (_, row) = collection_rows(of.one).unwrap_or_default();
    if !cx.declared().lists_below("person", of.many) {
        return Err(none(format!(
            "the {} of a person are not declared",
            of.many
        )));
    }
    if !record_comparison::can_make(cx, "person") || !cx.declared().can(of.one, Ability::Create) {
        return known_of_a_person(cx, &api, of, row).await;
    }
    let under = of.under.ok_or_else(|| none("no container"))?;
    let (person, other) = (api.person().await?, api.person().await?);
    let container = api.make(under, &json!({})).await?;
    let mut made = Vec::new();
    for person in [&person, &other] {
        made.push(
            api.act(&container, of.one, person, &filled(cx, of.one))
                .await?,
        );
    }
    let Some(record) = made.first() else {
        return Ok(());
    };
    if pages_of_container(cx, of)
        && let Some(url) = container.href(of.many)
    {
        // If a client cannot choose the page size, two members have no second page. The rest of the
        // check continues.
        SubjectLoop::default().took(two_pages(cx, &api, &url, 1).await)?;
    }
    // A helper that does not match people created a new person.
    let person = if cx.declared().offers(of.one, "create") || !cx.declared().links(of.one, "person")
    {
        api.reread(&person).await?
    } else {
        api.follow(record, "person").await?
    };
    // The collections of tags and lists have no check of their own.
    if let Some(url) = container
        .href(of.many)
        .filter(|_| matches!(of.one, "tagging" | "item"))
        && cx.declared().offers(of.one, "read")
    {
        for member in api.get(&url).await?.record().embedded() {
            record_comparison::compare(cx, &api, &[ids::COL_28], &member, of.one).await?;
        }
    }
    let linked = person.href(of.many).is_some();
    cx.must(row, linked, || {
        format!("no link {} in {}", of.many, person.short())
    })?;
    let url = person.require_link(of.many)?;
    match one_member(cx, &api, &url, &[row], record).await? {
        Some(member) => only_member(cx, &api, &url, &member, of).await,
        None => Ok(()),
    }
}

/// Same as [`of_a_person`] if no record can be created: uses the record of the fixture, or the
/// first listed record of the first container.
async fn known_of_a_person(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    of: CatalogueKind,
    row: &str,
) -> Result<(), CheckStop> {
    let record = match api.fixture(of.one).await? {
        Some(record) => Some(record),
        None => first_listed(cx, api, of).await?,
    };
    let Some(record) = record else {
        return Err(none(format!(
            "no {one} can be created, none is listed, and none is named as a fixture ({one})",
            one = of.one
        )));
    };
    let person = api.follow(&record, "person").await?;
    let url = person.href(of.many);
    cx.must(row, url.is_some(), || {
        format!("no link {} in {}", of.many, person.short())
    })?;
    let member = api.find_in(&url.unwrap_or_default(), &record).await?;
    cx.observe(row, member.is_some(), || {
        format!(
            "{} of {} do not contain {}",
            of.many,
            person.short(),
            record.short()
        )
    });
    Ok(())
}

/// Returns the first record of a kind with a link to a person, in its own collection or in that of
/// the first container.
async fn first_listed(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    of: CatalogueKind,
) -> Result<Option<Representation>, CheckStop> {
    let first = async |url: &str| {
        let members = api.get(url).await?.record().embedded();
        Ok::<_, CheckStop>(
            members
                .into_iter()
                .find(|member| member.href("person").is_some()),
        )
    };
    let declared = cx.declared();
    if of.under.is_none() && declared.offers(of.one, "list") {
        return first(&api.collection(of.many).await?).await;
    }
    let listed =
        |under: &&str| declared.offers(under, "list") && declared.lists_below(under, of.many);
    let Some(under) = of.under.filter(listed).and_then(kind) else {
        return Ok(None);
    };
    let containers = api
        .get(&api.collection(under.many).await?)
        .await?
        .record()
        .embedded();
    for container in containers
        .iter()
        .filter_map(|container| container.href(of.many))
    {
        if let Some(record) = first(&container).await? {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

/// A new submission without answers has an empty collection. A submission with an answer has it
/// there.
async fn of_a_submission(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let plain = api.make("submission", &json!({})).await?;
    let plain = api.as_read("submission", plain).await?;
    let linked = plain.href("answers").is_some();
    cx.must(ids::COL_10, linked, || {
        format!("no link answers in {}", plain.short())
    })?;
    let answer = api.get(&plain.require_link("answers")?).await?;
    if !cx.declared().can("submission", Ability::Create) {
        // A fixture may have answers.
        cx.observe(ids::COL_10, is_page(&answer), || {
            format!("the target of the link answers is not a collection: {answer}")
        });
        return Ok(());
    }
    cx.run.met.add(Encounter::EmptyCollection);
    holds(cx, &[ids::COL_10, ids::COL_30], is_empty(&answer), || {
        format!("answers of a new submission: {answer}")
    });
    let asks = cx.declared().helps("record_submission")
        && cx.declared().acts("add_questions_responses_uri");
    if !asks
        || !cx.declared().offers("question", "create")
        || !record_comparison::can_make(cx, "form")
    {
        return Ok(());
    }
    let question = api.make("question", &json!({})).await?;
    let form = api.make("form", &json!({})).await?;
    let body = cx.marked(&json!({"person": cx.marked(&json!({})),
        "add_questions_responses_uri": [{"question": question.self_url()?, "responses": ["a1"]}]}));
    let submission = api.help(&form, "record_submission", &body).await?;
    let submission = api.as_read("submission", submission).await?;
    let answer = api.get(&submission.require_link("answers")?).await?;
    let right = answer.status == 200
        && answer["total_records"] == 1
        && answer.record().embedded().len() == 1;
    cx.observe(ids::COL_10, right, || {
        format!("one answer was given: {answer}")
    });
    Ok(())
}
