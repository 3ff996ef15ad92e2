//! Merges of two people: the link, the fields, the identifiers, and the preview.
//!
//! Requirements: MRG-01 to MRG-05, MRG-08, MRG-15, MRG-18, MRG-19.

use http::header::{IF_MATCH, LOCATION};
use http::{HeaderName, Method};

use super::filters;
use super::prelude::*;
use super::record_comparison::different;
use crate::fixtures::full;
use crate::generate::max_items;
use crate::journal::{JournalLine, SYSTEM};
use crate::values::is_unset;

/// The requirements that a merge with all fields shows.
#[rustfmt::skip]
const FIELDS: &[&str] = &[
    ids::MRG_02, ids::MRG_03, ids::MRG_04, ids::MRG_05, ids::MRG_08, ids::MRG_15, ids::MRG_19,
];

pub(super) const CHECKS: &[Check] = &[
    check!("mrg/link", [MRG_01, MRG_18], link).needs("people.create and people.read"),
    check!("mrg/fields", FIELDS, fields).needs("merge_people and people.create and people.read"),
];

/// The values of `status`, from less to more strict. The first two are equally strict.
const STATUSES: [&str; 5] = [
    "",
    "subscribed",
    "bouncing",
    "unsubscribed",
    "spam complaints",
];

/// Two people of whom the second is merged into the first.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) remaining: Representation,
    pub(super) merged: Representation,
    /// The URL of the merged person.
    pub(super) old: String,
}

impl Pair {
    /// Creates two people with these fields.
    pub(super) async fn create(
        api: &CheckClient<'_>,
        first: &Value,
        second: &Value,
    ) -> Result<Self, CheckStop> {
        let remaining = created(api, first).await?;
        let merged = created(api, second).await?;
        Self::of(remaining, merged)
    }

    /// Creates two people with a name.
    pub(super) async fn named(api: &CheckClient<'_>) -> Result<Self, CheckStop> {
        let [first, second] = [named(api.cx), named(api.cx)];
        Self::create(api, &first, &second).await
    }

    /// Returns two people who exist.
    pub(super) fn of(remaining: Representation, merged: Representation) -> Result<Self, CheckStop> {
        let old = merged.self_url()?;
        Ok(Self {
            remaining,
            merged,
            old,
        })
    }

    /// Sends a merge with more members of the body and these headers.
    pub(super) async fn send(
        &self,
        api: &CheckClient<'_>,
        more: &Value,
        headers: &[(HeaderName, &str)],
    ) -> Result<TestResponse, CheckStop> {
        send(api, &self.remaining, &self.old, more, headers).await
    }

    /// Sends a merge that must succeed.
    pub(super) async fn merge(&self, api: &CheckClient<'_>) -> Result<TestResponse, CheckStop> {
        let answer = self.send(api, &json!({}), &[]).await?;
        self.succeeded(api, &answer)?;
        Ok(answer)
    }

    /// Verifies the success of a merge.
    pub(super) fn succeeded(
        &self,
        api: &CheckClient<'_>,
        answer: &TestResponse,
    ) -> Result<(), CheckStop> {
        let is_merged = answer.status == 200 && answer.json.is_object();
        api.cx
            .must(ids::MRG_02, is_merged, || format!("a merge: {answer}"))?;
        self.note(api);
        Ok(())
    }

    /// Whether a response is the remaining person.
    pub(super) fn is_remaining(&self, answer: &TestResponse) -> bool {
        answer.status == 200 && is_one(&answer.record(), &self.remaining)
    }

    /// Filters people by identifiers of the merged person, if the server has such filters. Returns each
    /// filter with its page and the people on it.
    pub(super) async fn by_identifier(
        &self,
        api: &CheckClient<'_>,
        row: &'static str,
    ) -> Result<Vec<(String, Representation, Vec<Representation>)>, CheckStop> {
        let (cx, mut pages) = (api.cx, Vec::new());
        let declared = cx.declared();
        let has_filter = kind("person").is_some_and(|kind| {
            let filters = declared.filters(kind);
            declared.offers("person", "list") && filters.iter().any(|one| one == "identifiers")
        });
        if has_filter {
            let url = api.collection("people").await?;
            for identifier in few(&self.merged) {
                let text = format!("identifiers eq {}", filters::quoted(identifier));
                let (page, found) = filters::found(cx, api, &url, &text, &[row]).await?;
                pages.push((text, page, found));
            }
        }
        Ok(pages)
    }

    /// Records for the clean-up that the merged person no longer exists.
    pub(super) fn note(&self, api: &CheckClient<'_>) {
        let own = self.old.clone();
        api.cx.run.journal.write(JournalLine::Removed { own });
    }

    /// Verifies that neither person has changed.
    pub(super) async fn unchanged(
        &self,
        api: &CheckClient<'_>,
        row: &str,
        after: &TestResponse,
    ) -> Result<(), CheckStop> {
        for person in [&self.remaining, &self.merged] {
            unchanged(api, row, person, after).await?;
        }
        Ok(())
    }
}

/// Returns a body of a person with a name.
pub(super) fn named(cx: &CheckContext) -> Value {
    let body = json!({ "given_name": "Ada", "family_name": cx.unique() });
    part(cx, "person", &body)
}

/// Creates a person and reads it.
pub(super) async fn created(
    api: &CheckClient<'_>,
    body: &Value,
) -> Result<Representation, CheckStop> {
    api.reread(&api.make("person", body).await?).await
}

/// Sends a merge of the person at a URL into another person.
pub(super) async fn send(
    api: &CheckClient<'_>,
    remaining: &Representation,
    merged: &str,
    more: &Value,
    headers: &[(HeaderName, &str)],
) -> Result<TestResponse, CheckStop> {
    let declared = api.cx.declared();
    let url = declared.extension_leads(remaining, "merge_helper")?;
    let (mut body, mut headers) = (more.clone(), headers.to_vec());
    let mut tag = None;
    // Requirements: ETG-09.
    if declared.behaves("require_if_match") {
        if body.get("merged_etag").is_none()
            && let Some(tag) = etag(api, merged).await?
        {
            put(&mut body, "merged_etag", tag);
        }
        if !headers.iter().any(|(name, _)| *name == IF_MATCH) {
            tag = etag(api, &remaining.self_url()?).await?;
        }
    }
    headers.extend(tag.as_deref().map(|tag| (IF_MATCH, tag)));
    let body = api.linked(&body, "person", merged).to_string();
    api.send_with(Method::POST, &url, Some(body), &headers)
        .await
}

/// Returns the `ETag` of a read.
pub(super) async fn etag(api: &CheckClient<'_>, url: &str) -> Result<Option<String>, CheckStop> {
    let answer = api.get(url).await?;
    Ok(answer.header("etag").map(ToOwned::to_owned))
}

/// Verifies that a person has not changed since it was read.
pub(super) async fn unchanged(
    api: &CheckClient<'_>,
    row: &str,
    before: &Representation,
    after: &TestResponse,
) -> Result<(), CheckStop> {
    let now = api.get(&before.self_url()?).await?;
    let differs = different(&before.json, &now.json);
    api.cx
        .observe(row, now.status == 200 && differs.is_empty(), || {
            let names = differs.join(", ");
            format!("{names} of {} changed, after {after}", before.short())
        });
    Ok(())
}

/// Reads the target of a redirect, if the response is one.
pub(super) async fn redirected(
    api: &CheckClient<'_>,
    answer: &TestResponse,
) -> Result<Option<TestResponse>, CheckStop> {
    let target = answer
        .header(LOCATION.as_str())
        .filter(|_| matches!(answer.status, 301 | 308))
        .and_then(|target| answer.document.resolved(target));
    match target {
        Some(target) => api.get(&target).await.map(Some),
        None => Ok(None),
    }
}

/// The link exists exactly if the server declares merges and the key may merge people.
async fn link(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let person = created(&api, &named(cx)).await?;
    let declared = cx.declared().behaves("merge_people");
    let link = cx.declared().extension_href(&person, "merge_helper");
    cx.observe(ids::MRG_01, link.is_some() == declared, || {
        format!(
            "merges are {}declared, but the link is {}",
            if declared { "" } else { "not " },
            json!(link)
        )
    });
    if !declared || link.is_none() || !cx.declared().text.authentication.required {
        return Ok(());
    }
    let merged = created(&api, &named(cx)).await?;
    let pair = Pair::of(person, merged)?;
    for (who, caller) in [
        ("without a key", cx.anonymous()),
        ("with an invalid key", cx.with_key("no-such-key-0000")),
    ] {
        let answer = pair.send(&caller, &json!({}), &[]).await?;
        cx.observe(ids::MRG_18, answer.status == 401, || {
            format!("a merge {who}: {answer}")
        });
        pair.unchanged(&api, ids::MRG_18, &answer).await?;
    }
    restricted(cx, &pair).await
}

/// A restricted key gets the link exactly if it may merge people.
async fn restricted(cx: &CheckContext, pair: &Pair) -> Result<(), CheckStop> {
    let Some((key, right)) = cx.run.keys.restricted.clone() else {
        return Ok(());
    };
    let narrow = cx.with_key(&key);
    let read = narrow.get(&pair.remaining.self_url()?).await?;
    let link = cx
        .declared()
        .extension_href(&read.record(), "merge_helper")
        .filter(|_| read.status == 200);
    let answer = pair.send(&narrow, &json!({}), &[]).await?;
    let is_rejected = matches!(answer.status, 401 | 403);
    if read.status == 200 {
        cx.observe(ids::MRG_01, link.is_some() != is_rejected, || {
            format!("a restricted key gets the link {}: {answer}", json!(link))
        });
    }
    let lacks = right == "people.merge" || (read.status == 200 && link.is_none());
    if lacks {
        cx.observe(ids::MRG_18, answer.status == 403, || {
            format!("a merge with a key without the right: {answer}")
        });
    }
    if answer.is_success() {
        pair.note(&narrow);
        return Ok(());
    }
    pair.unchanged(&cx.api(), ids::MRG_18, &answer).await
}

/// Returns the fields of two people: lists with common entries, and names of both or of one.
pub(super) fn bodies(cx: &CheckContext) -> [Value; 2] {
    let unique = cx.unique();
    let digits: Vec<usize> = {
        let mut rng = cx.rng(&unique);
        (0..4)
            .map(|_| rng.below(9_000_000).saturating_add(1_000_000))
            .collect()
    };
    let number = |at: usize| format!("1212{}", digits.get(at).copied().unwrap_or_default());
    let phone =
        |at: usize, do_not_call: bool| json!({ "number": number(at), "do_not_call": do_not_call });
    let entry = |name: String, status: &str| match status {
        "" => json!({ "address": name }),
        _ => json!({ "address": name, "status": status }),
    };
    let mut mails: [Vec<Value>; 2] = Default::default();
    let allowed = |status: &&str| {
        let field = cx.declared().field("person", "email_addresses[].status");
        let values = field.and_then(|field| field.values.as_ref());
        status.is_empty() || values.is_none_or(|all| all.iter().any(|one| one == status))
    };
    let statuses: Vec<&str> = STATUSES.into_iter().filter(allowed).collect();
    for (at, one) in statuses.iter().enumerate() {
        for (to, other) in statuses.iter().enumerate() {
            // Pairs without a difference in strictness show nothing.
            if at == to || (at < 2 && to < 2) {
                continue;
            }
            let name = format!("{unique}-{at}{to}@example.org");
            let [first, second] = &mut mails;
            first.push(entry(name.clone(), one));
            second.push(entry(name, other));
        }
    }
    let [mut first, mut second] = mails;
    first.push(entry(format!("{unique}-first@example.org"), "subscribed"));
    second.push(entry(format!("{unique}-second@example.org"), "bouncing"));
    let address = |street: &str, code: &str| {
        json!([{ "address_lines": [street], "locality": "Springfield", "region": "IL",
            "postal_code": code, "country": "US" }])
    };
    let first = json!({ "given_name": "Ada", "family_name": unique, "honorific_prefix": "Dr.",
        "email_addresses": first, "phone_numbers": [phone(0, true), phone(1, false), phone(2, true)],
        "postal_addresses": address("1 First Street", "62701"),
        "custom_fields": { "colour": "blue", "first": "1" } });
    let second = json!({ "given_name": "Augusta", "family_name": cx.unique(), "additional_name": "King",
        "honorific_suffix": "PhD", "email_addresses": second,
        "phone_numbers": [phone(0, false), phone(1, true), phone(3, true)],
        "postal_addresses": address("2 Second Street", "62702"),
        "custom_fields": { "colour": "red", "second": "2" } });
    let first = part(cx, "person", &first);
    let second = mergeable(cx, &first, part(cx, "person", &second));
    [first, second]
}

/// Returns the fields of a person without the entries for which a merge into another person has no
/// room.
///
/// Requirements: CAP-04.
fn mergeable(cx: &CheckContext, first: &Value, mut second: Value) -> Value {
    let fields = cx.declared().fields("person").into_iter().flatten();
    for (name, field) in fields.filter(|(_, field)| field.max_items.is_some()) {
        let list = |person: &Value| person[name.as_str()].as_array().cloned();
        let key = |entry: &Value| ["address", "number"].map(|member| entry[member].clone());
        let (Some(known), Some(mut new)) = (list(first), list(&second)) else {
            continue;
        };
        let mut room = max_items(field).saturating_sub(known.len());
        new.retain(|entry| {
            let is_known = entry.get("address").or(entry.get("number")).is_some()
                && known.iter().any(|one| key(one) == key(entry));
            let has_room = room > 0;
            if !is_known && has_room {
                room = room.saturating_sub(1);
            }
            is_known || has_room
        });
        put(&mut second, name, new);
    }
    second
}

/// Creates a person whose addresses another one has. A server may reject that.
pub(super) async fn sharing(
    api: &CheckClient<'_>,
    row: &str,
    first: &Representation,
    body: &Value,
) -> Result<Representation, CheckStop> {
    let cx = api.cx;
    let url = api.collection("people").await?;
    let answer = api
        .post(&url, &cx.marked(&full(cx, "person", body)))
        .await?;
    let is_other = answer.is_created() && !is_one(&answer.record(), first);
    if is_other {
        return api.reread(&answer.record()).await;
    }
    cx.note_missing(
        row,
        format!("two people cannot have the same addresses: {answer}"),
    );
    let mut body = body.clone();
    if let Some(members) = body.as_object_mut() {
        members.remove("email_addresses");
        members.remove("phone_numbers");
    }
    created(api, &body).await
}

/// Merges two people with many fields, after a preview if that is declared.
async fn fields(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let [first, second] = bodies(cx);
    let remaining = created(&api, &first).await?;
    let merged = sharing(&api, ids::MRG_05, &remaining, &second).await?;
    let pair = Pair::of(remaining, merged)?;
    let preview = if cx.declared().behaves("merge_people.preview") {
        Some(previewed(&api, &pair).await?)
    } else {
        None
    };
    let answer = pair.merge(&api).await?;
    cx.must(ids::MRG_02, pair.is_remaining(&answer), || {
        format!(
            "{answer} is not the remaining person {}",
            pair.remaining.short()
        )
    })?;
    if let Some(preview) = &preview {
        as_previewed(cx, preview, &answer);
    }
    let read = api.get(&pair.remaining.self_url()?).await?;
    cx.must(ids::MRG_02, read.status == 200, || {
        format!("after a merge, the remaining person is {read}")
    })?;
    let [tag, next] = [&answer, &read].map(|answer| answer.header("etag"));
    cx.observe(ids::MRG_02, tag.is_none() || tag == next, || {
        format!("the ETag of a merge is {tag:?}, but that of the next read is {next:?}")
    });
    let mut differs = different(&answer.json, &read.json);
    differs.retain(|name| !name.contains(':'));
    cx.observe(ids::MRG_02, differs.is_empty(), || {
        let names = differs.join(", ");
        format!("{names} of the response differ from the next read: {answer}")
    });
    let after = read.record();
    lists(cx, &pair, &after);
    texts(cx, &pair, &after);
    identifiers(&api, &pair, &after).await?;
    repeated(&api, &pair, &after).await
}

/// Requests a preview, which changes nothing.
async fn previewed(api: &CheckClient<'_>, pair: &Pair) -> Result<TestResponse, CheckStop> {
    let preview = pair.send(api, &json!({ "preview": true }), &[]).await?;
    api.cx.must(ids::MRG_19, pair.is_remaining(&preview), || {
        format!("a preview: {preview}")
    })?;
    pair.unchanged(api, ids::MRG_19, &preview).await?;
    Ok(preview)
}

/// The response to a merge is that of its preview, except for the time.
fn as_previewed(cx: &CheckContext, preview: &TestResponse, answer: &TestResponse) {
    let details = |answer: &TestResponse| {
        let name = cx.declared().extension_of(&answer.json, "merge");
        name.map_or(Value::Null, |name| answer[name].clone())
    };
    let (before, after) = (details(preview), details(answer));
    let mut differs = different(&preview.json, &answer.json);
    differs.retain(|name| !name.contains(':') && name != "modified_date");
    if before.is_object() && after.is_object() {
        differs.extend(different(&before, &after));
        differs.retain(|name| !matches!(name.as_str(), "preview" | "already" | "undo_until"));
    }
    cx.observe(ids::MRG_19, differs.is_empty(), || {
        let names = differs.join(", ");
        format!("{names} of the preview {preview} differ from {answer}")
    });
}

/// Returns the entries of a list.
pub(super) fn entries<'r>(record: &'r Representation, list: &str) -> &'r [Value] {
    record[list].as_array().map_or(&[], Vec::as_slice)
}

/// Whether two entries of a list are equal in these members, without regard to case.
fn is_same(one: &Value, other: &Value, members: &[&str]) -> bool {
    let text = |value: &Value| value.to_string().to_lowercase();
    members
        .iter()
        .all(|name| text(&one[*name]) == text(&other[*name]))
}

/// Verifies the lists of the remaining person, and the consent in them.
fn lists(cx: &CheckContext, pair: &Pair, after: &Representation) {
    let both = [&pair.remaining, &pair.merged];
    for (list, members) in [
        ("email_addresses", &["address"][..]),
        ("phone_numbers", &["number"]),
        ("postal_addresses", &["address_lines", "postal_code"]),
    ] {
        for entry in both.iter().flat_map(|person| entries(person, list)) {
            let found: Vec<&Value> = entries(after, list)
                .iter()
                .filter(|one| is_same(one, entry, members))
                .collect();
            cx.observe(ids::MRG_03, found.len() == 1, || {
                format!(
                    "{} entries like {entry} in {list} of {}",
                    found.len(),
                    after.short()
                )
            });
            for one in found {
                consent(cx, entry, one);
            }
        }
    }
    let fields = |person: &Representation| person["custom_fields"].as_object().cloned();
    let after_fields = fields(after).unwrap_or_default();
    let all = both.iter().filter_map(|person| fields(person)).flatten();
    for (name, _) in all {
        cx.observe(ids::MRG_03, after_fields.contains_key(&name), || {
            format!("no custom field {name} in {}", after.short())
        });
    }
}

/// Returns how strict the status of an e-mail address is.
pub(super) fn strictness(entry: &Value) -> Option<usize> {
    let status = entry["status"].as_str().unwrap_or_default();
    let at = STATUSES.iter().position(|one| *one == status);
    at.map(|at| at.max(1))
}

/// Verifies that an entry of a list is not less strict than before.
fn consent(cx: &CheckContext, before: &Value, after: &Value) {
    if before.get("address").is_some()
        && let (Some(old), Some(new)) = (strictness(before), strictness(after))
    {
        cx.observe(ids::MRG_05, new >= old, || {
            format!("the status of {before} is now {}", after["status"])
        });
    }
    if before["do_not_call"] == json!(true) {
        cx.observe(ids::MRG_05, after["do_not_call"] == json!(true), || {
            format!("{before} may be called now: {after}")
        });
    }
}

/// Verifies the names of the remaining person.
fn texts(cx: &CheckContext, pair: &Pair, after: &Representation) {
    for name in [
        "given_name",
        "family_name",
        "additional_name",
        "honorific_prefix",
        "honorific_suffix",
    ] {
        let own = &pair.remaining[name];
        let expected = if is_unset(Some(own)) {
            &pair.merged[name]
        } else {
            own
        };
        if !is_unset(Some(expected)) {
            cx.observe(ids::MRG_04, after[name] == *expected, || {
                format!("{name} is {} instead of {expected}", after[name])
            });
        }
    }
}

/// Verifies the identifiers of the remaining person.
async fn identifiers(
    api: &CheckClient<'_>,
    pair: &Pair,
    after: &Representation,
) -> Result<(), CheckStop> {
    let cx = api.cx;
    if !cx.declared().has_identifiers() {
        return Ok(());
    }
    for person in [&pair.remaining, &pair.merged] {
        for identifier in person.identifiers() {
            cx.observe(ids::MRG_08, after.carries(identifier), || {
                format!("no identifier {identifier} in {}", after.short())
            });
        }
    }
    for (text, _, found) in pair.by_identifier(api, ids::MRG_08).await? {
        let is_found = matches!(found.as_slice(), [one] if is_one(one, &pair.remaining));
        cx.observe(ids::MRG_08, is_found, || {
            format!("filter={text} does not return {} alone", after.short())
        });
    }
    if cx.declared().offers("person", "update") {
        let sent = json!({ "identifiers": after.identifiers() });
        let answer = api.put(&after.self_url()?, &sent).await?;
        cx.observe(ids::MRG_08, answer.status == 200, || {
            format!("an update with the identifiers that were read: {answer}")
        });
        if answer.status == 200 {
            let sent = after.identifiers();
            let is_whole = sent.iter().all(|one| answer.document.carries(one));
            cx.observe(ids::MRG_08, is_whole, || {
                format!("{answer} lacks identifiers of {}", after.short())
            });
        }
    }
    Ok(())
}

/// Returns the identifier of a person that the suite sent, and one that the server set.
fn few(person: &Representation) -> impl Iterator<Item = &str> {
    let all = person.identifiers().into_iter();
    let mut sent = all.filter(|one| one.starts_with(SYSTEM));
    sent.next().into_iter().chain(own(person))
}

/// Returns an identifier of a person that the server set.
pub(super) fn own(person: &Representation) -> Option<&str> {
    let all = person.identifiers();
    all.into_iter().find(|one| !one.starts_with(SYSTEM))
}

/// The same merge again changes nothing.
async fn repeated(
    api: &CheckClient<'_>,
    pair: &Pair,
    after: &Representation,
) -> Result<(), CheckStop> {
    // The update of the identifiers may have changed the date.
    let before = api.reread(after).await?;
    let again = pair.send(api, &json!({}), &[]).await?;
    let is_allowed = (again.status == 200 && is_one(&again.record(), after)) || again.is_refused();
    api.cx.observe(ids::MRG_15, is_allowed, || {
        format!("the same merge again: {again}")
    });
    unchanged(api, ids::MRG_15, &before, &again).await
}
