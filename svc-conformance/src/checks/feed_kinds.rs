//! What the change feed reports of each kind: direct writes, and the writes of helpers and their
//! functions.
//!
//! Requirements: SYN-02, SYN-03, SYN-05.

use super::change_feed::{behind, end, page};
use super::functions::{any_helper, below, call, simple};
use super::helper_calls::{PreparedHelper, declared_helpers, ignored, new_person};
use super::prelude::*;
use super::subject::{changeable_text, touch};
use crate::address::with_parameter;
use crate::values::instant;

pub(super) const CHECKS: &[Check] = &[
    check!("syn/kinds", [SYN_02, SYN_03, SYN_05], kinds).needs("changes and *.create and *.read"),
    check!("syn/helpers", [SYN_02, SYN_03], helpers)
        .needs("changes and helper.*.but_schedule and *.read"),
    check!("syn/functions", [SYN_02, SYN_03], functions)
        .needs("changes and haf.* and helper.*.shows_person and *.read"),
];

/// The maximum difference in seconds between the date of an entry and that of its record. A feed
/// may have its own clock.
const APART: i64 = 60;
/// The largest page of the feed that is read.
const LARGEST: &str = "100";

/// A record of a kind.
type Made = (CatalogueKind, Representation);

/// One record of each kind is created, changed and deleted. The feed reports each step.
async fn kinds(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let able = |kind: &CatalogueKind| cx.declared().offers_all(kind.one, &["create", "read"]);
    let mut made: Vec<Made> = Vec::new();
    let (mut at, mut each) = (end(&api).await?, SubjectLoop::default());
    // Containers are first: a server may change a container when an action is recorded in it.
    for is_nested in [false, true] {
        let mut own: Vec<Made> = Vec::new();
        for kind in cx
            .declared()
            .kinds()
            .filter(able)
            .filter(|kind| kind.under.is_some() == is_nested)
        {
            each.took(
                create(&api, kind, &made)
                    .await
                    .map(|record| own.push((kind, record))),
            )?;
        }
        exact_page(&api, &at).await?;
        at = reported(&api, &at, "created", &own).await?;
        made.extend(own);
    }
    let mut changed = Vec::new();
    for (kind, record) in &made {
        changed.extend(
            change(&api, *kind, record)
                .await?
                .map(|record| (*kind, record)),
        );
    }
    at = reported(&api, &at, "changed", &changed).await?;
    let mut gone = Vec::new();
    for (kind, record) in made.into_iter().rev() {
        if cx.declared().offers(kind.one, "delete")
            && api.delete(&record.self_url()?).await?.is_removal()
        {
            gone.push((kind, record));
        }
    }
    reported(&api, &at, "deleted", &gone).await?;
    each.end()
}

/// Creates a record of a kind. If the kind has a container, it is one of the records created
/// before.
async fn create(
    api: &CheckClient<'_>,
    kind: CatalogueKind,
    made: &[Made],
) -> Result<Representation, CheckStop> {
    let Some(under) = kind.under else {
        return api.make(kind.one, &json!({})).await;
    };
    let of = |one: &str| {
        made.iter()
            .find(|(kind, _)| kind.one == one)
            .map(|(_, record)| record.clone())
    };
    let container = match of(under) {
        Some(container) => container,
        None => api.make(under, &json!({})).await?,
    };
    let person = match of("person") {
        Some(person) => person,
        None => api.person().await?,
    };
    api.act(&container, kind.one, &person, &api.cx.marked(&json!({})))
        .await
}

/// Returns a record after a change of a text field. `None` if that is not possible, or if
/// `modified_date` stays the same.
async fn change(
    api: &CheckClient<'_>,
    kind: CatalogueKind,
    record: &Representation,
) -> Result<Option<Representation>, CheckStop> {
    if changeable_text(api.cx, kind.one).is_none() {
        return Ok(None);
    }
    let before = api.reread(record).await?;
    let after = touch(api, kind.one, record).await?;
    Ok(after.filter(|after| after["modified_date"] != before["modified_date"]))
}

/// Verifies that each of these records has an entry with this change after a cursor, which links to
/// the record. Returns the end of the entries.
async fn reported(
    api: &CheckClient<'_>,
    at: &str,
    what: &str,
    records: &[Made],
) -> Result<String, CheckStop> {
    let cx = api.cx;
    let owns: Vec<String> = records
        .iter()
        .map(|(_, record)| record.self_url())
        .collect::<Result<_, _>>()?;
    let (told, shown, next) = behind(api, at, &owns).await?;
    for (place, ((kind, _), own)) in records.iter().zip(&owns).enumerate() {
        let of_record = told
            .iter()
            .zip(&shown)
            .filter(|(one, _)| one.record == place);
        let entries: Vec<(&str, &Representation)> = of_record
            .map(|(one, entry)| (one.what.as_str(), entry))
            .collect();
        let last = entries.last().copied();
        let read = match last {
            Some((done, entry)) if done != "deleted" => follow(api, kind.one, entry).await?,
            _ => None,
        };
        let is_right = match what {
            // A feed with one entry for all changes of a record may report a record as changed if
            // it was changed after its creation.
            "created" => {
                let is_changed = read
                    .as_ref()
                    .is_some_and(|read| read["created_date"] != read["modified_date"]);
                entries.first().is_some_and(|(done, _)| {
                    *done == "created" || (is_changed && *done == "changed")
                })
            }
            "changed" => !entries.is_empty() && entries.iter().all(|(done, _)| *done == what),
            _ => last.is_some_and(|(done, _)| done == what),
        };
        cx.observe(ids::SYN_02, is_right, || {
            let entries: Vec<&str> = entries.iter().map(|(done, _)| *done).collect();
            format!(
                "the {} {own} was {what}, but its entries are {entries:?}",
                kind.one
            )
        });
    }
    Ok(next)
}

/// Verifies the record of an entry: it can be read as soon as the entry exists, and has the same
/// date.
///
/// Requirements: SYN-03.
async fn follow(
    api: &CheckClient<'_>,
    one: &str,
    entry: &Representation,
) -> Result<Option<Representation>, CheckStop> {
    let Some(own) = entry.href(one) else {
        return Ok(None);
    };
    let answer = api.get(&own).await?;
    if !api.cx.observe(ids::SYN_03, answer.status == 200, || {
        format!("the target of {} is {answer}", entry.short())
    }) {
        return Ok(None);
    }
    let dates =
        [&entry["at"], &answer["modified_date"]].map(|date| date.as_str().and_then(instant));
    if let [Some(at), Some(modified)] = dates {
        let apart = at.signed_duration_since(modified).num_seconds().abs();
        api.cx.observe(ids::SYN_03, apart <= APART, || {
            format!(
                "`at` is {at}, but the `modified_date` of the record is {modified}: {}",
                entry.short()
            )
        });
    }
    Ok(Some(answer.record()))
}

/// A page that contains exactly all entries announces no more.
///
/// Requirements: SYN-05.
async fn exact_page(api: &CheckClient<'_>, at: &str) -> Result<(), CheckStop> {
    let whole = page(api, &with_parameter(at, "per_page", LARGEST)).await?;
    let count = whole.embedded().len();
    if count > 0 {
        behind(
            api,
            &with_parameter(at, "per_page", &count.to_string()),
            &[],
        )
        .await?;
    }
    Ok(())
}

/// The feed reports what each helper records, and the people that it creates or changes.
async fn helpers(cx: &CheckContext) -> Result<(), CheckStop> {
    each!(name in declared_helpers(cx) => helper(cx, name))
}

async fn helper(cx: &CheckContext, name: &'static str) -> Result<(), CheckStop> {
    let api = cx.api();
    let ready = api.ready(name).await?;
    let (person, at) = (new_person(cx), end(&api).await?);
    let made = help(&api, &ready, &person).await?;
    let about = match api.about(&ready, &made).await {
        Ok(about) if name != "record_canvass" => Some(about),
        Ok(_) => None,
        Err(stop) => ignored(stop).map(|()| None)?,
    };
    let people = kind("person").zip(about.clone());
    let own = Some((ready.kind, made)).filter(|_| name != "person_signup");
    let is_read = |(kind, record): &Made| {
        cx.declared().offers(kind.one, "read") && record.link("self").is_some()
    };
    let all: Vec<Made> = own.into_iter().chain(people).filter(is_read).collect();
    let at = reported(&api, &at, "created", &all).await?;
    // The same person again, with another name.
    let Some(before) =
        about.filter(|_| cx.declared().matches_persons() && cx.declared().offers("person", "read"))
    else {
        return Ok(());
    };
    let before = api.reread(&before).await?;
    let mut person = person;
    put(&mut person, "given_name", cx.unique());
    let body = ready.body(cx, Some(&part(cx, "person", &person)));
    if !api.post(&ready.url, &body).await?.is_created() {
        return Ok(());
    }
    let after = api.reread(&before).await?;
    if after["modified_date"] != before["modified_date"] {
        reported(
            &api,
            &at,
            "changed",
            &kind("person")
                .map(|kind| (kind, after))
                .into_iter()
                .collect::<Vec<_>>(),
        )
        .await?;
    }
    Ok(())
}

/// Calls a helper for a person.
async fn help(
    api: &CheckClient<'_>,
    ready: &PreparedHelper,
    person: &Value,
) -> Result<Representation, CheckStop> {
    let answer = api
        .post(&ready.url, &ready.body(api.cx, Some(person)))
        .await?;
    let is_created = answer.is_created() && answer.json.is_object();
    if is_created {
        Ok(answer.record())
    } else {
        Err(none(format!("a helper rejects the request: {answer}")))
    }
}

/// The feed reports the taggings, items and answers that the functions of a helper create.
async fn functions(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let all: Value = Value::Object(
        simple(cx)
            .await?
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    );
    let (ready, at) = (any_helper(&api).await?, end(&api).await?);
    let Some(person) = call(cx, &ready, &all).await?.person else {
        return Err(none("a helper with functions rejects the request"));
    };
    let mut made = Vec::new();
    for kind in ["tagging", "item", "answer"].into_iter().filter_map(kind) {
        if cx.declared().lists_below("person", kind.many) && cx.declared().offers(kind.one, "read")
        {
            made.extend(
                below(&api, &person, kind.many)
                    .await?
                    .into_iter()
                    .map(|record| (kind, record)),
            );
        }
    }
    if made.is_empty() {
        return Err(none(
            "the declared functions create nothing that a collection of a person contains",
        ));
    }
    reported(&api, &at, "created", &made).await.map(drop)
}
