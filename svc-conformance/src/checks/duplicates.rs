//! Pairs of people who may be the same person: their links, their pages, and their dismissal.
//!
//! Requirements: DUP-01 to DUP-04, DUP-06, DUP-07.

use std::collections::BTreeSet;

use super::merges::{Pair, created, named, sharing};
use super::prelude::*;
use crate::address;
use crate::passive::forbids_storage;

pub(super) const CHECKS: &[Check] = &[
    check!("dup/link", [DUP_01], link).needs("people.create and people.read"),
    check!("dup/pairs", [DUP_01, DUP_02], pairs)
        .needs("duplicates and people.create and people.read"),
    check!("dup/access", [DUP_03], access).needs("duplicates and people.create and people.read"),
    check!("dup/pages", [DUP_04], pages).needs("duplicates and people.create and people.read"),
    check!("dup/dismissed", [DUP_06], dismissed)
        .needs("duplicates and people.create and people.read"),
    check!("dup/changed", [DUP_07], changed).needs(
        "duplicates and people.create and people.read and people.update or duplicates and \
         people.create and people.read and people.delete or duplicates and people.create and \
         people.read and merge_people",
    ),
];

/// The relation of the pages.
const LINK: &str = "duplicates";

/// The maximum number of pages that are read of the pairs of one person.
const MOST_OF_PERSON: usize = 50;

/// The maximum number of pages that are read of the pairs of all people. They can contain people of
/// others.
const MOST_OF_ALL: usize = 20;

/// Returns the values of a person that servers compare. They are equal for the same word and given
/// name.
fn values(cx: &CheckContext, given_name: &str, word: &str) -> Value {
    let mut rng = cx.rng(word);
    let mut number = |from: usize, count: usize| rng.below(count).saturating_add(from);
    let body = json!({ "given_name": given_name, "family_name": word,
        "email_addresses": [{ "address": format!("{word}@example.org") }],
        "phone_numbers": [{ "number": format!("1212{}", number(1_000_000, 9_000_000)) }],
        "postal_addresses": [{ "address_lines": [format!("{} First Street", number(1, 900))],
            "locality": "Springfield", "region": "IL",
            "postal_code": number(10_000, 90_000).to_string(), "country": "US" }],
        "birthdate": { "year": number(1900, 90), "month": number(1, 12), "day": number(1, 28) } });
    part(cx, "person", &body)
}

/// Creates several people with equal values.
async fn alike(
    api: &CheckClient<'_>,
    row: &str,
    body: &Value,
    count: usize,
) -> Result<Vec<Representation>, CheckStop> {
    let first = created(api, body).await?;
    let mut people = vec![first.clone()];
    while people.len() < count {
        people.push(sharing(api, row, &first, body).await?);
    }
    Ok(people)
}

/// Returns a person of a list.
fn nth(people: &[Representation], at: usize) -> Result<&Representation, CheckStop> {
    people.get(at).ok_or(CheckStop::Failed)
}

/// Returns the URL of the pairs of a person.
fn pages_of(cx: &CheckContext, person: &Representation) -> Result<String, CheckStop> {
    let href = cx.declared().extension_href(person, LINK);
    cx.observe(ids::DUP_01, href.is_some(), || {
        format!("no link {LINK} in {}", person.short())
    });
    href.ok_or(CheckStop::Failed)
}

/// Returns the URL of the pairs of all people.
async fn pages_of_all(api: &CheckClient<'_>) -> Result<String, CheckStop> {
    pages_of(api.cx, &api.entry().await?)
}

/// Reads a page, and verifies its structure.
async fn page(api: &CheckClient<'_>, url: &str) -> Result<Representation, CheckStop> {
    let (cx, answer) = (api.cx, api.get(url).await?);
    let page = answer.record();
    let name = cx.declared().extension(&page, "_embedded", LINK);
    let list = name.and_then(|name| page["_embedded"].get(name));
    // Some servers send an empty object for an empty collection.
    let is_page = list.map_or_else(|| page.embedded().is_empty(), Value::is_array);
    cx.must(ids::DUP_01, answer.status == 200 && is_page, || {
        format!("not a page of pairs: {answer}")
    })?;
    let (has_more, next) = (page["has_more"].as_bool(), page.link("next"));
    cx.must(ids::DUP_04, has_more == Some(next.is_some()), || {
        format!(
            "has_more is {}, but `next` is {next:?} in {}",
            page["has_more"],
            page.short()
        )
    })?;
    let (size, count) = (page["per_page"].as_u64(), page.embedded().len());
    let fits = size.is_none_or(|size| usize::try_from(size).is_ok_and(|size| count <= size));
    cx.observe(ids::DUP_04, fits, || {
        format!("{count} entries, but per_page is {}", page["per_page"])
    });
    Ok(page)
}

/// Returns the pairs of a page. An entry about very many people is not a pair.
///
/// Requirements: DUP-05.
fn pairs_on(page: &Representation) -> impl Iterator<Item = Representation> {
    let entries = page.embedded().into_iter();
    entries.filter(|entry| entry.json.get("crowd").is_none())
}

/// Returns the pairs of all pages, and whether these are all pages.
async fn read(
    api: &CheckClient<'_>,
    url: &str,
    most: usize,
) -> Result<(Vec<Representation>, bool), CheckStop> {
    let (mut pairs, mut met, mut next) = (Vec::new(), BTreeSet::new(), url.to_owned());
    while met.len() < most {
        let page = page(api, &next).await?;
        pairs.extend(pairs_on(&page));
        met.insert(next);
        match page.link("next") {
            Some(url) => next = url,
            None => return Ok((pairs, true)),
        }
        api.cx.must(ids::DUP_04, !met.contains(&next), || {
            format!("`next` links back to {next}, which was read before")
        })?;
    }
    Ok((pairs, false))
}

/// Returns the pairs of a person.
async fn of_person(
    api: &CheckClient<'_>,
    person: &Representation,
) -> Result<Vec<Representation>, CheckStop> {
    let url = pages_of(api.cx, person)?;
    match read(api, &url, MOST_OF_PERSON).await? {
        (pairs, true) => Ok(pairs),
        _ => Err(none(format!("{url} has more than {MOST_OF_PERSON} pages"))),
    }
}

/// Returns the two people of a pair: as they are embedded, or only with their URLs.
fn people_of(pair: &Representation) -> Vec<Representation> {
    let name = format!("{}:people", pair.prefix);
    let list = |part: &str| pair[part].get(&name).and_then(Value::as_array);
    if let Some(people) = list("_embedded") {
        return people.iter().map(|it| pair.beside(it.clone())).collect();
    }
    let links = list("_links").into_iter().flatten();
    let person = |link: &Value| pair.beside(json!({ "_links": { "self": link } }));
    links.map(person).collect()
}

/// Whether a person is in a pair.
fn is_in(pair: &Representation, person: &Representation) -> bool {
    people_of(pair).iter().any(|one| is_one(one, person))
}

/// Returns the pairs of two people among these pairs.
fn between<'p>(
    pairs: &'p [Representation],
    one: &'p Representation,
    other: &'p Representation,
) -> impl Iterator<Item = &'p Representation> {
    let is_both = move |pair: &&Representation| {
        let people = people_of(pair);
        people.len() == 2 && is_in(pair, one) && is_in(pair, other)
    };
    pairs.iter().filter(is_both)
}

/// Verifies how often two people are a pair among these pairs.
fn is_listed(
    cx: &CheckContext,
    row: &str,
    pairs: &[Representation],
    people: [&Representation; 2],
    count: usize,
    when: &str,
) -> bool {
    let [one, other] = people;
    let found = between(pairs, one, other).count();
    cx.observe(row, found == count, || {
        format!(
            "{when}, {} and {} are in {found} pairs instead of {count}",
            one.short(),
            other.short()
        )
    })
}

/// Returns the URL of the pair of two people, who must be a pair.
async fn pair_url(
    api: &CheckClient<'_>,
    row: &str,
    one: &Representation,
    other: &Representation,
) -> Result<String, CheckStop> {
    let pairs = of_person(api, one).await?;
    let pair = between(&pairs, one, other).next();
    api.cx.observe(row, pair.is_some(), || {
        format!(
            "{} and {}, who have equal values, are not a pair",
            one.short(),
            other.short()
        )
    });
    pair.ok_or(CheckStop::Failed)?.self_url()
}

/// The entry point and people have the link exactly if pairs are declared.
async fn link(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let declared = cx.declared().behaves(LINK);
    let person = created(&api, &named(cx)).await?;
    let entry = api.entry().await?;
    for document in [&entry, &person] {
        let link = cx.declared().extension_href(document, LINK);
        cx.observe(ids::DUP_01, link.is_some() == declared, || {
            format!(
                "pairs are {}declared, but the link is {} in {}",
                if declared { "" } else { "not " },
                json!(link),
                document.short()
            )
        });
    }
    if declared {
        page(&api, &pages_of_all(&api).await?).await?;
        let pairs = of_person(&api, &person).await?;
        cx.observe(ids::DUP_01, pairs.is_empty(), || {
            let pairs: Vec<String> = pairs.iter().map(Representation::short).collect();
            format!("a person who has a name alone is in the pairs {pairs:?}")
        });
    }
    Ok(())
}

/// Pairs of people with equal values, and of one with another date of birth.
async fn pairs(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let word = cx.unique();
    let body = values(cx, "Ada", &word);
    let people = alike(&api, ids::DUP_01, &body, 2).await?;
    let (one, other) = (nth(&people, 0)?, nth(&people, 1)?);
    let different = created(&api, &values(cx, "Grace", &cx.unique())).await?;
    let mut younger = body.clone();
    if let Some(date) = younger.get_mut("birthdate") {
        put(date, "year", 1991);
        sharing(&api, ids::DUP_02, one, &younger).await?;
    }
    let (all, is_whole) = read(&api, &pages_of_all(&api).await?, MOST_OF_ALL).await?;
    if is_whole {
        is_listed(cx, ids::DUP_01, &all, [one, other], 1, "in all pairs");
    }
    let own = of_person(&api, one).await?;
    is_listed(
        cx,
        ids::DUP_01,
        &own,
        [one, other],
        1,
        "in those of a person",
    );
    for pair in all.iter().chain(&own).filter(|pair| is_in(pair, one)) {
        formed(cx, pair);
    }
    let others = of_person(&api, &different).await?;
    for (person, pairs) in [(one, &own), (&different, &others)] {
        for pair in pairs {
            let is_own = people_of(pair).len() == 2 && is_in(pair, person);
            cx.observe(ids::DUP_01, is_own, || {
                format!("{} is in the pairs of {}", pair.short(), person.short())
            });
        }
        let people = [one, &different];
        is_listed(cx, ids::DUP_01, pairs, people, 0, "with other values");
    }
    Ok(())
}

/// Verifies the strength, the score and the reasons of a pair.
fn formed(cx: &CheckContext, pair: &Representation) {
    let reasons = pair["reasons"].as_array().map_or(&[][..], Vec::as_slice);
    let weights: Vec<f64> = reasons
        .iter()
        .filter(|reason| {
            reason["field"]
                .as_str()
                .is_some_and(|name| !name.is_empty())
        })
        .filter_map(|reason| reason["weight"].as_f64())
        .collect();
    let is_strength = matches!(pair["strength"].as_str(), Some("strong" | "weak"));
    let has_reasons = !reasons.is_empty() && weights.len() == reasons.len();
    cx.observe(ids::DUP_02, is_strength && has_reasons, || {
        format!(
            "no strength, or no reasons with weights, in {}",
            pair.short()
        )
    });
    let (score, sum) = (pair["score"].as_f64(), weights.iter().sum::<f64>());
    let is_sum = score.is_some_and(|score| (score - sum).abs() < 1e-6);
    cx.observe(ids::DUP_02, is_sum, || {
        format!(
            "the score is not the sum of the weights in {}",
            pair.short()
        )
    });
}

/// Whether a response shows one of these people.
fn shows(answer: &TestResponse, people: &[Representation]) -> bool {
    let text = answer.text();
    people.iter().any(|person| {
        let name = person["family_name"]
            .as_str()
            .filter(|name| !name.is_empty());
        let mut known = person.identifiers().into_iter().chain(name);
        answer.is_success() && known.any(|it| text.contains(it))
    })
}

/// Pages and pairs are for callers that may read people, of this tenant, and no cache may store them.
async fn access(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let body = values(cx, "Ada", &cx.unique());
    let people = alike(&api, ids::DUP_03, &body, 2).await?;
    let (one, other) = (nth(&people, 0)?, nth(&people, 1)?);
    let urls = [
        pages_of_all(&api).await?,
        pages_of(cx, one)?,
        pair_url(&api, ids::DUP_03, one, other).await?,
    ];
    for url in &urls {
        let answer = api.get(url).await?;
        let cache = answer.header("cache-control").unwrap_or_default();
        cx.observe(ids::DUP_03, forbids_storage(cache), || {
            format!("Cache-Control {cache:?} on {answer}")
        });
    }
    if cx.declared().text.authentication.required {
        for (who, caller) in [
            ("without a key", cx.anonymous()),
            ("with an invalid key", cx.with_key("no-such-key-0000")),
        ] {
            for url in &urls {
                let answer = caller.get(url).await?;
                cx.observe(ids::DUP_03, answer.status == 401, || {
                    format!("pairs {who}: {answer}")
                });
            }
        }
        if let Some((key, _)) = &cx.run.keys.restricted {
            let narrow = cx.with_key(key);
            let read = narrow.get(&one.self_url()?).await?;
            for url in urls.iter().filter(|_| !read.is_success()) {
                let answer = narrow.get(url).await?;
                cx.observe(ids::DUP_03, answer.is_refused(), || {
                    format!("pairs with a key that may not read people: {answer}")
                });
            }
        }
    }
    match cx.other() {
        Some(theirs) => tenants(&api, &theirs, &body, &people, &urls).await,
        None => Ok(()),
    }
}

/// People of two tenants are never a pair.
async fn tenants(
    api: &CheckClient<'_>,
    theirs: &CheckClient<'_>,
    body: &Value,
    people: &[Representation],
    urls: &[String; 3],
) -> Result<(), CheckStop> {
    let cx = api.cx;
    let [_, own @ ..] = urls;
    for url in own {
        let answer = theirs.get(url).await?;
        cx.observe(ids::DUP_03, !shows(&answer, people), || {
            format!("pairs with the key of another tenant: {answer}")
        });
    }
    if !cx.declared().offers("person", "create") {
        return Ok(());
    }
    let foreign = created(theirs, body).await?;
    let one = nth(people, 0)?;
    for pair in of_person(api, one).await? {
        cx.observe(ids::DUP_03, !is_in(&pair, &foreign), || {
            format!("a person of another tenant is in {}", pair.short())
        });
    }
    let url = pages_of_all(theirs).await?;
    let (all, _) = read(theirs, &url, MOST_OF_ALL).await?;
    for pair in all.iter().chain(&of_person(theirs, &foreign).await?) {
        let is_foreign = people.iter().any(|person| is_in(pair, person));
        cx.observe(ids::DUP_03, !is_foreign, || {
            format!("another tenant gets {}", pair.short())
        });
    }
    Ok(())
}

/// The pages have each pair once, also if other people are created and deleted while they are read.
async fn pages(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let body = values(cx, "Ada", &cx.unique());
    let people = alike(&api, ids::DUP_04, &body, 4).await?;
    let one = nth(&people, 0)?;
    let url = pages_of(cx, one)?;
    let whole = of_person(&api, one).await?;
    let mut next = Some(address::with_parameter(&url, "per_page", "1"));
    let (mut small, mut met) = (Vec::new(), BTreeSet::new());
    while let Some(url) = next.take() {
        cx.must(ids::DUP_04, !met.contains(&url), || {
            format!("`next` links back to {url}, which was read before")
        })?;
        if met.len() >= MOST_OF_PERSON {
            return Err(none(format!("more than {MOST_OF_PERSON} pages of pairs")));
        }
        let page = page(&api, &url).await?;
        met.insert(url);
        small.extend(pairs_on(&page));
        next = page.link("next");
        if next.is_some() && met.len() <= 2 {
            change_others(&api, one, &body).await?;
        }
    }
    for other in people.iter().skip(1) {
        let both = [one, other];
        is_listed(cx, ids::DUP_04, &whole, both, 1, "in those of a person");
        is_listed(cx, ids::DUP_04, &small, both, 1, "on pages with one entry");
    }
    let (all, is_whole) = read(&api, &pages_of_all(&api).await?, MOST_OF_ALL).await?;
    for (at, one) in people.iter().enumerate() {
        for other in people.iter().skip(at.saturating_add(1)) {
            let found = between(&all, one, other).count();
            if is_whole || found > 0 {
                is_listed(cx, ids::DUP_04, &all, [one, other], 1, "in all pairs");
            }
        }
    }
    Ok(())
}

/// Creates a person who is in a pair with the person, and one who is not, and deletes both.
async fn change_others(
    api: &CheckClient<'_>,
    one: &Representation,
    body: &Value,
) -> Result<(), CheckStop> {
    let cx = api.cx;
    let other = created(api, &values(cx, "Grace", &cx.unique())).await?;
    if cx.declared().offers("person", "delete") {
        let more = sharing(api, ids::DUP_04, one, body).await?;
        api.remove(&other).await?;
        api.remove(&more).await?;
    }
    Ok(())
}

/// Dismisses the pair at a URL, or takes this back.
async fn dismiss(
    caller: &CheckClient<'_>,
    url: &str,
    is_dismissed: bool,
) -> Result<TestResponse, CheckStop> {
    caller.put(url, &json!({ "dismissed": is_dismissed })).await
}

/// Verifies that the pair at a URL is of two people, and whether it is dismissed.
async fn at_url(
    api: &CheckClient<'_>,
    url: &str,
    people: [&Representation; 2],
    is_dismissed: bool,
) -> Result<(), CheckStop> {
    let answer = api.get(url).await?;
    let pair = answer.record();
    let is_pair = answer.status == 200 && people.iter().all(|person| is_in(&pair, person));
    let is_right = is_pair && pair["dismissed"].as_bool().unwrap_or_default() == is_dismissed;
    api.cx.observe(ids::DUP_06, is_right, || {
        format!("not the pair of two people with `dismissed` = {is_dismissed}: {answer}")
    });
    Ok(())
}

/// A pair is dismissed, and is a pair again.
async fn dismissed(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let people = alike(&api, ids::DUP_06, &values(cx, "Ada", &cx.unique()), 3).await?;
    let (one, other, third) = (nth(&people, 0)?, nth(&people, 1)?, nth(&people, 2)?);
    let url = pair_url(&api, ids::DUP_06, one, other).await?;
    at_url(&api, &url, [one, other], false).await?;
    for is_dismissed in [true, false, true] {
        let answer = dismiss(&api, &url, is_dismissed).await?;
        cx.must(ids::DUP_06, answer.is_success(), || {
            format!("a change of a pair: {answer}")
        })?;
        let count = usize::from(!is_dismissed);
        let when = if is_dismissed {
            "after a dismissal"
        } else {
            "after a dismissal ended"
        };
        for person in [one, other] {
            let pairs = of_person(&api, person).await?;
            is_listed(cx, ids::DUP_06, &pairs, [one, other], count, when);
            is_listed(cx, ids::DUP_06, &pairs, [person, third], 1, when);
        }
        let (all, is_whole) = read(&api, &pages_of_all(&api).await?, MOST_OF_ALL).await?;
        if is_whole || is_dismissed {
            is_listed(cx, ids::DUP_06, &all, [one, other], count, when);
        }
        at_url(&api, &url, [one, other], is_dismissed).await?;
    }
    restricted(cx, &url, [one, other]).await?;
    ended(cx, &people, &url).await
}

/// A key that may not update people cannot change a dismissal.
async fn restricted(
    cx: &CheckContext,
    url: &str,
    people: [&Representation; 2],
) -> Result<(), CheckStop> {
    let mut callers = Vec::new();
    if cx.declared().text.authentication.required {
        callers.push(("without a key", cx.anonymous()));
    }
    if let Some((key, right)) = &cx.run.keys.restricted
        && cx.declared().offers("person", "update")
    {
        let narrow = cx.with_key(key);
        let [person, _] = people;
        let text = part(cx, "person", &json!({ "given_name": "Ada" }));
        let may_update = narrow.put(&person.self_url()?, &text).await?.is_success();
        if right == "people.update" || !may_update {
            callers.push(("with a key that may not update people", narrow));
        }
    }
    for (who, caller) in callers {
        let answer = dismiss(&caller, url, false).await?;
        cx.observe(ids::DUP_06, answer.is_refused(), || {
            format!("a change of a pair {who}: {answer}")
        });
        at_url(&cx.api(), url, people, true).await?;
    }
    Ok(())
}

/// A dismissal belongs to the remaining person after a merge, and ends with one of the people. The
/// pair of the first two people is dismissed.
async fn ended(cx: &CheckContext, people: &[Representation], url: &str) -> Result<(), CheckStop> {
    let api = cx.api();
    let (one, other, third) = (nth(people, 0)?, nth(people, 1)?, nth(people, 2)?);
    let (mut url, mut deleted) = (url.to_owned(), other);
    if cx.declared().behaves("merge_people") {
        let open = pair_url(&api, ids::DUP_06, one, third).await?;
        let apart = pair_url(&api, ids::DUP_06, other, third).await?;
        let answer = dismiss(&api, &apart, true).await?;
        cx.must(ids::DUP_06, answer.is_success(), || {
            format!("a change of a pair: {answer}")
        })?;
        Pair::of(one.clone(), other.clone())?.merge(&api).await?;
        let pairs = of_person(&api, one).await?;
        let when = "after a merge of a person with a dismissed pair";
        is_listed(cx, ids::DUP_06, &pairs, [one, third], 0, when);
        at_url(&api, &open, [one, third], true).await?;
        (url, deleted) = (open, third);
    }
    if cx.declared().offers("person", "delete") {
        let answer = api.delete(&deleted.self_url()?).await?;
        if !answer.is_removal() {
            return Err(none(format!("a person cannot be deleted: {answer}")));
        }
        let answer = api.get(&url).await?;
        cx.observe(ids::DUP_06, matches!(answer.status, 404 | 410), || {
            format!("a dismissed pair of a deleted person: {answer}")
        });
    }
    Ok(())
}

/// The pairs of a person follow the changes, deletions and merges of people.
async fn changed(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let body = values(cx, "Ada", &cx.unique());
    let people = alike(&api, ids::DUP_07, &body, 3).await?;
    let (one, other, third) = (nth(&people, 0)?, nth(&people, 1)?, nth(&people, 2)?);
    let url = pair_url(&api, ids::DUP_07, one, other).await?;
    let are = async |person: &Representation, count: usize, when: &str| {
        let pairs = of_person(&api, one).await?;
        is_listed(cx, ids::DUP_07, &pairs, [one, person], count, when);
        Ok::<_, CheckStop>(())
    };
    if cx.declared().offers("person", "update") {
        let all = values(cx, "Grace", &cx.unique());
        let fields = all.as_object().into_iter().flatten();
        let before = fields.map(|(name, _)| (name.clone(), other[name.as_str()].clone()));
        let before = part(cx, "person", &Value::Object(before.collect()));
        for (fields, count, when) in [
            (&all, 0, "after a change to other values"),
            (&before, 1, "after a change to equal values"),
        ] {
            let answer = api.put(&other.self_url()?, fields).await?;
            if answer.status != 200 {
                return Err(none(format!("a person cannot be changed: {answer}")));
            }
            are(other, count, when).await?;
        }
    }
    if cx.declared().offers("person", "delete") {
        let answer = api.delete(&other.self_url()?).await?;
        if !answer.is_removal() {
            return Err(none(format!("a person cannot be deleted: {answer}")));
        }
        are(other, 0, "after the deletion of one of them").await?;
        let answer = api.get(&url).await?;
        cx.observe(ids::DUP_07, matches!(answer.status, 404 | 410), || {
            format!("the pair of a deleted person: {answer}")
        });
    }
    if cx.declared().behaves("merge_people") {
        are(third, 1, "before a merge").await?;
        Pair::of(one.clone(), third.clone())?.merge(&api).await?;
        // The remaining person has the identifiers of the merged one.
        let is_known = |pair: &Representation| is_in(pair, other);
        for pair in of_person(&api, one).await? {
            cx.observe(ids::DUP_07, is_known(&pair), || {
                format!("after a merge, the merged person is in {}", pair.short())
            });
        }
    }
    Ok(())
}
