//! The undo of merges: what both people and their records are afterwards, and merges that cannot be
//! undone.
//!
//! Requirements: MRG-18, MRG-20 to MRG-22.

use http::Method;
use http::header::IF_MATCH;

use super::merge_actions::{action, belongs, counted, links_to, memberships, movable};
use super::merges::{Pair, bodies, created, entries, etag, named, sharing, strictness, unchanged};
use super::prelude::*;
use super::record_comparison::different;
use crate::generate::{max_items, without};
use crate::journal::JournalLine;

pub(super) const CHECKS: &[Check] = &[
    check!("mrg/undo", [MRG_18, MRG_20], undo)
        .needs("merge_people.undo and people.create and people.read"),
    check!("mrg/undo-changes", [MRG_20], changes)
        .needs("merge_people.undo and people.create and people.read and people.update"),
    check!("mrg/undo-actions", [MRG_20], actions)
        .needs("merge_people.undo and people.create and people.read"),
    check!("mrg/undo-order", [MRG_20, MRG_21], order)
        .needs("merge_people.undo and people.create and people.read"),
    check!("mrg/undo-erased", [MRG_21, MRG_22], erased)
        .needs("merge_people.undo and people.create and people.read and people.delete"),
];

/// The relation of the URL that undoes a merge.
const UNDO: &str = "undo_merge_helper";

/// The status of an e-mail address that is set after a merge.
const UNSUBSCRIBED: &str = "unsubscribed";

/// Merges two people. Returns the URL that undoes the merge.
async fn merge(api: &CheckClient<'_>, pair: &Pair) -> Result<String, CheckStop> {
    let declared = api.cx.declared();
    let answer = pair.merge(api).await?;
    let details = declared
        .extension_of(&answer.json, "merge")
        .map(|name| answer.document.beside(answer[name].clone()));
    let url = match details.and_then(|it| declared.extension_href(&it, UNDO)) {
        Some(url) => Some(url),
        None => listed(api, pair).await?,
    };
    api.cx.observe(ids::MRG_20, url.is_some(), || {
        format!("no link {UNDO} in the list of merges or in {answer}")
    });
    url.ok_or(CheckStop::Failed)
}

/// Returns the URL that undoes a merge from the list of the merges into the remaining person.
async fn listed(api: &CheckClient<'_>, pair: &Pair) -> Result<Option<String>, CheckStop> {
    let declared = api.cx.declared();
    let person = api.reread(&pair.remaining).await?;
    let Some(url) = declared.extension_href(&person, "merges") else {
        return Ok(None);
    };
    let all = api.get(&url).await?.record().embedded();
    let entry = all
        .iter()
        .find(|entry| declared.extension_href(entry, "merged").as_ref() == Some(&pair.old));
    Ok(entry.and_then(|entry| declared.extension_href(entry, UNDO)))
}

/// Sends an undo.
async fn send(caller: &CheckClient<'_>, pair: &Pair, url: &str) -> Result<TestResponse, CheckStop> {
    let cx = caller.cx;
    // Requirements: ETG-09.
    let tag = if cx.declared().behaves("require_if_match") {
        etag(&cx.api(), &pair.remaining.self_url()?).await?
    } else {
        None
    };
    let headers: Vec<_> = tag
        .as_deref()
        .map(|tag| (IF_MATCH, tag))
        .into_iter()
        .collect();
    let body = Some(json!({}).to_string());
    let answer = caller.send_with(Method::POST, url, body, &headers).await?;
    if answer.is_success() {
        // The merged person exists again, so that the clean-up must delete it.
        let journal = &cx.run.journal;
        let marker = journal.marker(&pair.merged.json);
        let own = pair.old.clone();
        journal.write(JournalLine::Created {
            own,
            marker,
            key: 0,
        });
    }
    Ok(answer)
}

/// Sends an undo that must succeed.
async fn undone(api: &CheckClient<'_>, pair: &Pair, url: &str) -> Result<(), CheckStop> {
    let answer = send(api, pair, url).await?;
    api.cx.must(ids::MRG_20, answer.is_success(), || {
        format!("the undo of a merge: {answer}")
    })
}

/// Verifies that a rejected undo has changed nothing. `before` is the person who remained.
async fn still_merged(
    api: &CheckClient<'_>,
    row: &str,
    before: &Representation,
    pair: &Pair,
    answer: &TestResponse,
) -> Result<(), CheckStop> {
    unchanged(api, row, before, answer).await?;
    let read = api.get(&pair.old).await?;
    api.cx.observe(row, read.status != 200, || {
        format!("after {answer}, the merged person is {read}")
    });
    Ok(())
}

/// Sends an undo that must be rejected. `before` is the person who remained.
async fn rejected(
    api: &CheckClient<'_>,
    before: &Representation,
    pair: &Pair,
    url: &str,
    when: &str,
) -> Result<(), CheckStop> {
    let before = api.reread(before).await?;
    let answer = send(api, pair, url).await?;
    api.cx.must(ids::MRG_21, answer.is_refused(), || {
        format!("an undo after {when}: {answer}")
    })?;
    still_merged(api, ids::MRG_21, &before, pair, &answer).await
}

/// Returns a value whose lists are sorted.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(list) => {
            let mut list: Vec<Value> = list.iter().map(sorted).collect();
            list.sort_by_key(Value::to_string);
            Value::Array(list)
        }
        Value::Object(members) => {
            let members = members.iter();
            Value::Object(
                members
                    .map(|(name, it)| (name.clone(), sorted(it)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

/// Returns the names of what a client can set in a person and that has changed. The order of lists
/// has no effect.
fn altered(cx: &CheckContext, before: &Representation, after: &Representation) -> Vec<String> {
    let mut names = different(&sorted(&before.json), &sorted(&after.json));
    names.retain(|name| {
        let field = cx.declared().field("person", name);
        name == "identifiers"
            || field.is_some_and(|field| field.writable && field.readable && !field.computed)
    });
    names
}

/// Verifies that both people are at their URLs as before the merge, except for these fields. Returns
/// them.
async fn restored(
    api: &CheckClient<'_>,
    pair: &Pair,
    except: [&[&str]; 2],
) -> Result<[Representation; 2], CheckStop> {
    let cx = api.cx;
    let mut people = [pair.remaining.clone(), pair.merged.clone()];
    for (person, except) in people.iter_mut().zip(except) {
        let read = api.get(&person.self_url()?).await?;
        let after = read.record();
        cx.must(
            ids::MRG_20,
            read.status == 200 && is_one(&after, person),
            || format!("after an undo, {} is {read}", person.short()),
        )?;
        let mut names = altered(cx, person, &after);
        names.retain(|name| !except.contains(&name.as_str()));
        cx.observe(ids::MRG_20, names.is_empty(), || {
            let names = names.join(", ");
            format!(
                "after an undo, {names} of {} differ: {read}",
                person.short()
            )
        });
        *person = after;
    }
    for (text, _, found) in pair.by_identifier(api, ids::MRG_20).await? {
        let is_found = matches!(found.as_slice(), [one] if is_one(one, &pair.merged));
        cx.observe(ids::MRG_20, is_found, || {
            format!(
                "after an undo, filter={text} does not return {} alone",
                pair.merged.short()
            )
        });
    }
    Ok(people)
}

/// A merge of two people with many fields is undone, with a key that has the right.
async fn undo(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let [first, second] = bodies(cx);
    let remaining = created(&api, &first).await?;
    let merged = sharing(&api, ids::MRG_20, &remaining, &second).await?;
    let pair = Pair::of(remaining, merged)?;
    let shown = merge(&api, &pair).await?;
    let url = listed(&api, &pair).await?.unwrap_or(shown);
    without_right(&api, &pair, &url).await?;
    undone(&api, &pair, &url).await?;
    restored(&api, &pair, [&[], &[]]).await.map(drop)
}

/// An undo without a key, with an invalid key, or with a key that may not merge people is rejected.
async fn without_right(api: &CheckClient<'_>, pair: &Pair, url: &str) -> Result<(), CheckStop> {
    let cx = api.cx;
    if !cx.declared().text.authentication.required {
        return Ok(());
    }
    let mut callers = vec![
        ("without a key", cx.anonymous(), 401),
        ("with an invalid key", cx.with_key("no-such-key-0000"), 401),
    ];
    if let Some((key, right)) = cx.run.keys.restricted.clone() {
        let narrow = cx.with_key(&key);
        let read = narrow.get(&pair.remaining.self_url()?).await?;
        let link = cx.declared().extension_href(&read.record(), "merge_helper");
        if right == "people.merge" || (read.status == 200 && link.is_none()) {
            callers.push(("with a key without the right", narrow, 403));
        }
    }
    let before = api.reread(&pair.remaining).await?;
    for (who, caller, status) in callers {
        let answer = send(&caller, pair, url).await?;
        cx.must(ids::MRG_18, answer.status == status, || {
            format!("an undo {who}: {answer}")
        })?;
        still_merged(api, ids::MRG_18, &before, pair, &answer).await?;
    }
    Ok(())
}

/// Whether two e-mail addresses are equal, without regard to case.
fn is_address(entry: &Value, address: &str) -> bool {
    let own = entry["address"].as_str().unwrap_or_default();
    own.eq_ignore_ascii_case(address)
}

/// The remaining person is changed after a merge. The undo keeps these changes.
async fn changes(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let [first, second, third] =
        ["first", "second", "third"].map(|name| format!("{}-{name}@example.org", cx.unique()));
    let entry = |address: &str| json!({ "address": address, "status": "subscribed" });
    let person = |given: &str, more: &str, address: &str| {
        let body = json!({ "given_name": given, "family_name": cx.unique(), more: "King",
            "email_addresses": [entry(address)] });
        let body = part(cx, "person", &body);
        let field = cx.declared().field("person", "email_addresses");
        // The remaining person gets a third address.
        if field.is_some_and(|field| max_items(field) < 3) {
            without(&body, &["email_addresses"])
        } else {
            body
        }
    };
    let one = person("Ada", "honorific_prefix", &first);
    let other = person("Augusta", "additional_name", &second);
    let pair = Pair::create(&api, &one, &other).await?;
    let url = merge(&api, &pair).await?;
    let after = api.reread(&pair.remaining).await?;
    let statuses = cx.declared().field("person", "email_addresses[].status");
    let statuses = statuses.filter(|field| field.writable && field.readable);
    let has_status = statuses.is_some_and(|field| {
        let values = field.values.as_ref();
        values.is_none_or(|all| all.iter().any(|one| one == UNSUBSCRIBED))
    });
    let mut mails = entries(&after, "email_addresses").to_vec();
    for mail in mails.iter_mut().filter(|mail| is_address(mail, &second)) {
        put(mail, "status", UNSUBSCRIBED);
    }
    let has_mails = !mails.is_empty();
    mails.push(entry(&third));
    let name = cx.unique();
    let body = json!({ "given_name": name, "email_addresses": mails });
    let answer = api
        .put(&after.self_url()?, &part(cx, "person", &body))
        .await?;
    if answer.status != 200 {
        return Err(none(format!(
            "the remaining person cannot be changed: {answer}"
        )));
    }
    let changed = answer.record();
    undone(&api, &pair, &url).await?;
    let except = [&["given_name", "email_addresses"][..], &["email_addresses"]];
    let people = restored(&api, &pair, except).await?;
    let [remaining, merged] = &people;
    cx.observe(
        ids::MRG_20,
        remaining["given_name"] == changed["given_name"],
        || {
            format!(
                "an undo changed given_name of {} in {}",
                changed.short(),
                remaining.short()
            )
        },
    );
    if !has_mails {
        return Ok(());
    }
    let has = |person: &Representation, address: &str| {
        let mut all = entries(person, "email_addresses").iter();
        all.any(|one| is_address(one, address))
    };
    for (person, address) in [(remaining, &first), (remaining, &third), (merged, &second)] {
        cx.observe(ids::MRG_20, has(person, address), || {
            format!("after an undo, {address} is not in {}", person.short())
        });
    }
    let least = strictness(&json!({ "status": UNSUBSCRIBED }));
    let all = people
        .iter()
        .flat_map(|person| entries(person, "email_addresses"));
    for entry in all.filter(|entry| has_status && is_address(entry, &second)) {
        let Some(now) = strictness(entry) else {
            continue;
        };
        cx.observe(ids::MRG_20, Some(now) >= least, || {
            format!(
                "the address was unsubscribed after the merge, but after the undo it is {entry}"
            )
        });
    }
    Ok(())
}

/// Actions that were moved belong to the merged person again, and both people have their own
/// memberships. An action that was recorded after the merge stays.
async fn actions(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let pair = Pair::named(&api).await?;
    let mut moved = Vec::new();
    for kind in movable(cx).take(cx.cases(2, 6, 6)) {
        moved.push(action(&api, kind, &pair.merged).await?);
    }
    let groups = memberships(&api, &pair).await?;
    let url = merge(&api, &pair).await?;
    let later = match moved.first() {
        Some(first) => Some(action(&api, first.kind, &pair.remaining).await?),
        None => None,
    };
    undone(&api, &pair, &url).await?;
    for action in &moved {
        belongs(&api, ids::MRG_20, action, &pair.merged).await?;
    }
    if let Some(action) = later {
        belongs(&api, ids::MRG_20, &action, &pair.remaining).await?;
    }
    for (container, one) in groups {
        each_once(&api, &container, one, &pair).await?;
    }
    restored(&api, &pair, [&[], &[]]).await.map(drop)
}

/// Verifies that each of the two people is in a group once.
async fn each_once(
    api: &CheckClient<'_>,
    container: &Representation,
    one: &str,
    pair: &Pair,
) -> Result<(), CheckStop> {
    let (cx, Some(of)) = (api.cx, kind(one)) else {
        return Ok(());
    };
    let under = of.under.unwrap_or_default();
    let both = [&pair.remaining, &pair.merged];
    let owners = both.map(|person| (person, "person", vec![person]));
    for (owner, kind, people) in [(container, under, both.to_vec())]
        .into_iter()
        .chain(owners)
    {
        let Some(url) = owner
            .href(of.many)
            .filter(|_| cx.declared().lists_below(kind, of.many))
        else {
            continue;
        };
        let members = api.members(&url).await?;
        let mut is_right = members.len() == people.len();
        for person in people {
            let mut found = 0_usize;
            for member in &members {
                let is_own = links_to(api, member, "person", person).await?;
                found = found.saturating_add(usize::from(is_own));
            }
            is_right &= found == 1;
        }
        cx.observe(ids::MRG_20, is_right, || {
            format!(
                "after an undo, the two people do not have their own {} in {url}",
                of.many
            )
        });
    }
    let shown = api.as_read(under, container.clone()).await?;
    match (of.counted, counted(cx, of, &shown)) {
        (Some(path), Some(_)) => api.total_is(&[ids::MRG_20], container, path, 2.0).await,
        _ => Ok(()),
    }
}

/// A merge is undone after the later merges of the remaining person are undone.
async fn order(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let pair = Pair::named(&api).await?;
    let url = merge(&api, &pair).await?;
    let person = api.reread(&pair.remaining).await?;
    let another = Pair::of(person, created(&api, &named(cx)).await?)?;
    let later = merge(&api, &another).await?;
    let when = "a later merge into the person";
    rejected(&api, &another.remaining, &pair, &url, when).await?;
    undone(&api, &another, &later).await?;
    restored(&api, &another, [&[], &[]]).await?;
    let person = api.reread(&pair.remaining).await?;
    let whole = Pair::of(created(&api, &named(cx)).await?, person)?;
    let later = merge(&api, &whole).await?;
    let when = "a merge of the person into another one";
    rejected(&api, &whole.remaining, &pair, &url, when).await?;
    undone(&api, &whole, &later).await?;
    restored(&api, &whole, [&[], &[]]).await?;
    // The URL can be another one after the later merges.
    let url = listed(&api, &pair).await?.unwrap_or(url);
    undone(&api, &pair, &url).await?;
    restored(&api, &pair, [&[], &[]]).await.map(drop)
}

/// After the remaining person is deleted, the merge cannot be undone.
async fn erased(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let pair = Pair::named(&api).await?;
    let undo = merge(&api, &pair).await?;
    let own = pair.remaining.self_url()?;
    let deleted = api.delete(&own).await?;
    if !deleted.is_removal() {
        return Err(none(format!(
            "the remaining person cannot be deleted: {deleted}"
        )));
    }
    let answer = send(&api, &pair, &undo).await?;
    cx.observe(ids::MRG_21, answer.is_refused(), || {
        format!("an undo after the remaining person was deleted: {answer}")
    });
    let names = [&pair.remaining, &pair.merged].map(|person| person["family_name"].as_str());
    let text = answer.text();
    let is_shown = names.into_iter().flatten().any(|name| text.contains(name));
    cx.observe(ids::MRG_22, !is_shown, || {
        format!("after the remaining person was deleted, an undo: {answer}")
    });
    for url in [&own, &pair.old] {
        let read = api.get(url).await?;
        cx.observe(ids::MRG_21, matches!(read.status, 404 | 410), || {
            format!("after {answer}, a deleted person is {read}")
        });
    }
    Ok(())
}
