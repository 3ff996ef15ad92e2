//! Members of a body that a server does not accept, with and without `Prefer: handling=strict`.
//!
//! Requirements: STR-01 to STR-08.

use std::collections::BTreeSet;

use http::HeaderName;

use super::helper_calls::{PreparedHelper, declared_helpers, ignored, new_person};
use super::invalid_bodies::{CreateTarget, unchanged};
use super::prelude::*;
use super::subject::changeable_text;
use crate::catalogue::Ability;
use crate::counted::may_be_of;
use crate::fixtures::full;
use crate::generate::{restored, with, without};

/// The preference for errors, as a response repeats it.
pub(super) const STRICT: &str = "handling=strict";
/// The same after a preference that no server supports (RFC 7240, section 2).
const STRICT_AS_SECOND: &str = "svc-conformance, handling=strict";
/// The preference for a server that ignores unknown members.
const LENIENT: &str = "handling=lenient";

/// Returns the header with a preference.
pub(super) const fn prefer(preference: &str) -> [(HeaderName, &str); 1] {
    [(HeaderName::from_static("prefer"), preference)]
}

pub(super) const CHECKS: &[Check] = &[
    check!(
        "str/creates",
        [STR_01, STR_03, STR_04, STR_05, STR_06],
        creates
    )
    .needs("strict_handling and *.create"),
    check!(
        "str/changes",
        [STR_02, STR_04, STR_05, STR_06, STR_07],
        changes
    )
    .needs("strict_handling and *.change"),
    check!("str/helpers", [STR_04, STR_05, STR_06, STR_08], helpers)
        .needs("strict_handling and helper.*.but_schedule"),
];

/// A body with unknown members.
#[derive(Debug)]
pub(super) struct Spoiled {
    pub(super) body: Value,
    /// The paths of the unknown members, as an error names them.
    ///
    /// Requirements: ERR-26.
    paths: Vec<String>,
    /// A unique part of their names and values.
    word: String,
}

impl Spoiled {
    /// Creates a body with an unknown top-level member.
    pub(super) fn new(cx: &CheckContext, body: &Value) -> Self {
        let word = cx.token("unknown");
        let mut spoiled = Self {
            body: body.clone(),
            paths: Vec::new(),
            word,
        };
        spoiled.add("", "");
        spoiled
    }

    /// Adds one to the object at a pointer, which an error names by this path.
    fn add(&mut self, pointer: &str, path: &str) {
        let name = format!("unknown{}_{}", self.paths.len(), self.word);
        if let Some(object) = self
            .body
            .pointer_mut(pointer)
            .and_then(Value::as_object_mut)
        {
            object.insert(name.clone(), self.word.clone().into());
            self.paths.push(if path.is_empty() {
                name
            } else {
                format!("{path}.{name}")
            });
        }
    }

    /// Adds one inside an object of a record of a kind, if the kind has an object that can be sent.
    fn nested(mut self, cx: &CheckContext, one: &str) -> Self {
        let inner = json!({
            "email_addresses": [{"address": format!("{}@example.org", cx.unique())}],
            "referrer_data": {"source": "mail"},
            "location": {"venue": "Hall"},
        });
        let inner = part(cx, one, &inner);
        if let Some((name, value)) = inner.as_object().and_then(|inner| inner.iter().next()) {
            put(&mut self.body, name, value.clone());
            let (pointer, path) = if value.is_array() {
                ("/0", "[0]")
            } else {
                ("", "")
            };
            self.add(&format!("/{name}{pointer}"), &format!("{name}{path}"));
        }
        self
    }

    /// Returns a member of the body.
    fn member(&self, name: &str) -> &Value {
        self.body.get(name).unwrap_or(&Value::Null)
    }

    /// Whether a document contains one of the unknown members, or its value.
    pub(super) fn is_in(&self, document: &Value) -> bool {
        document.to_string().contains(&self.word)
    }

    /// Checks the response to the body with the preference: it rejects the body and names every
    /// unknown member.
    fn refused(&self, cx: &CheckContext, row: &str, answer: &TestResponse) {
        let paths: Vec<&str> = self.paths.iter().map(String::as_str).collect();
        refused(cx, row, answer, &paths);
    }

    /// Checks the response to the body without the preference: only the warnings name the unknown
    /// members.
    fn ignored(&self, cx: &CheckContext, answer: &TestResponse) -> Result<(), CheckStop> {
        let accepted = answer.is_created() && answer.json.is_object();
        cx.must(ids::STR_05, accepted, || {
            format!("a body with an unknown member, without `{STRICT}`: {answer}")
        })?;
        let name = cx.declared().extension_of(&answer.json, "warnings");
        let rest = without(&answer.json, &name.into_iter().collect::<Vec<_>>());
        cx.observe(ids::STR_05, !self.is_in(&rest), || {
            format!("an unknown member is echoed: {answer}")
        });
        // An anonymous caller gets no warnings.
        if cx.run.keys.primary.is_some() {
            let warned = warned(cx, answer);
            for path in &self.paths {
                cx.observe(ids::STR_06, warned.contains(path.as_str()), || {
                    format!("the warnings do not name {path}: {answer}")
                });
            }
        }
        Ok(())
    }

    /// Reads the record that was created from the body, if its kind can be read. It must have no
    /// unknown member.
    async fn not_stored(
        &self,
        api: &CheckClient<'_>,
        one: &str,
        record: Representation,
    ) -> Result<Representation, CheckStop> {
        if !api.cx.declared().offers(one, "read") {
            return Ok(record);
        }
        let read = api.reread(&record).await?;
        api.cx.observe(ids::STR_05, !self.is_in(&read.json), || {
            format!("an unknown member is stored: {}", read.short())
        });
        Ok(read)
    }
}

/// Checks a response: it is a 400 that names all of these properties, and repeats the preference.
fn refused(cx: &CheckContext, row: &str, answer: &TestResponse, paths: &[&str]) {
    let named: BTreeSet<String> = answer
        .problems()
        .into_iter()
        .flat_map(|problem| problem.properties)
        .collect();
    let missing: Vec<&&str> = paths
        .iter()
        .filter(|path| !named.contains(**path))
        .collect();
    cx.observe(row, answer.status == 400 && missing.is_empty(), || {
        format!(
            "with `{STRICT}`, {paths:?} are not accepted, but no error names {missing:?}: {answer}"
        )
    });
    applied(cx, answer);
}

/// Checks the header `Preference-Applied` of a response.
fn applied(cx: &CheckContext, answer: &TestResponse) {
    let lines = answer
        .headers
        .get_all("preference-applied")
        .iter()
        .filter_map(|line| line.to_str().ok());
    let is_applied = lines.flat_map(|line| line.split(',')).any(|one| {
        let preference: String = one
            .split(';')
            .take(1)
            .flat_map(str::chars)
            .filter(|c| !" \t\"".contains(*c))
            .collect();
        preference.eq_ignore_ascii_case(STRICT)
    });
    cx.observe(ids::STR_04, is_applied, || {
        format!("no `Preference-Applied: {STRICT}`: {answer}")
    });
}

/// Checks the response to a body without unknown members, with the preference.
fn accepted(cx: &CheckContext, answer: &TestResponse) -> Result<(), CheckStop> {
    cx.must(
        ids::STR_04,
        answer.is_created() && answer.json.is_object(),
        || format!("with `{STRICT}`, a body without an unknown member: {answer}"),
    )?;
    applied(cx, answer);
    Ok(())
}

/// Returns the properties that the warnings of a response name, each with a code and a description.
fn warned(cx: &CheckContext, answer: &TestResponse) -> BTreeSet<String> {
    let name = cx
        .declared()
        .extension_of(&answer.json, "warnings")
        .unwrap_or_default();
    let has_text =
        |one: &&Value, name: &str| one[name].as_str().is_some_and(|text| !text.is_empty());
    let all = answer[name].as_array().into_iter().flatten();
    let whole = all.filter(|one| has_text(one, "error_code") && has_text(one, "description"));
    let names = whole
        .filter_map(|one| one["properties"].as_array())
        .flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns some of the kinds: first one of the entry point and one with a container.
fn some_kinds(cx: &CheckContext, able: impl Fn(CatalogueKind) -> bool) -> Vec<CatalogueKind> {
    let (below, roots): (Vec<CatalogueKind>, Vec<CatalogueKind>) = cx
        .declared()
        .kinds()
        .filter(|kind| able(*kind))
        .partition(|kind| kind.under.is_some());
    let mut rest = roots.into_iter();
    let all: Vec<CatalogueKind> = rest.next().into_iter().chain(below).chain(rest).collect();
    all.into_iter().take(cx.cases(2, 100, 100)).collect()
}

async fn creates(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    each!(kind in some_kinds(cx, |kind| cx.declared().offers(kind.one, "create")) => create(cx, &api, kind.one))
}

async fn create(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    one: &'static str,
) -> Result<(), CheckStop> {
    let place = CreateTarget::of(cx, api, one).await?;
    let body = || place.body(api, &cx.marked(&full(cx, one, &json!({}))));
    let before = place.count(cx, api).await?;
    let unknown = Spoiled::new(cx, &body()).nested(cx, one);
    unknown.refused(
        cx,
        ids::STR_01,
        &api.post_with(&place.url, &unknown.body, &prefer(STRICT))
            .await?,
    );
    let computed = computed(cx, one);
    let names: Vec<&str> = computed
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    let overwriting = with(&body(), &computed);
    if !names.is_empty() {
        refused(
            cx,
            ids::STR_03,
            &api.post_with(&place.url, &overwriting, &prefer(STRICT))
                .await?,
            &names,
        );
    }
    for (row, body) in [(ids::STR_01, &unknown.body), (ids::STR_03, &overwriting)] {
        let bodies = std::slice::from_ref(body);
        let is_done = before.is_some()
            && api
                .has_grown_by(&place.url, before, may_be_of(cx, bodies))
                .await?;
        cx.observe(row, !is_done, || {
            format!("a rejected {one} is in {}", place.url)
        });
    }
    let unknown = Spoiled::new(cx, &body()).nested(cx, one);
    let answer = api.post(&place.url, &unknown.body).await?;
    unknown.ignored(cx, &answer)?;
    unknown.not_stored(api, one, answer.record()).await?;
    // This is last: if a person has one record of a kind, this is the same record.
    accepted(
        cx,
        &api.post_with(&place.url, &body(), &prefer(STRICT)).await?,
    )
}

/// Returns members that only the server sets: the creation date, and what the kind declares so.
fn computed(cx: &CheckContext, one: &str) -> Value {
    let mut members = json!({});
    if cx.declared().has_field("*", "created_date") {
        put(&mut members, "created_date", "2001-02-03T04:05:06Z");
    }
    let fields = cx.declared().fields(one).into_iter().flatten();
    if let Some((name, field)) = fields
        .into_iter()
        .find(|(_, field)| field.computed || !field.writable)
    {
        put(
            &mut members,
            name,
            if field.kind == "integer" {
                json!(987_654)
            } else {
                json!("not mine")
            },
        );
    }
    members
}

async fn changes(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    each!(kind in some_kinds(cx, |kind| cx.declared().can(kind.one, Ability::Change)) => change(cx, &api, kind.one))
}

async fn change(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    one: &'static str,
) -> Result<(), CheckStop> {
    let text = changeable_text(cx, one);
    let valid = || text.map_or_else(|| json!({}), |name| json!({ name: cx.unique() }));
    let before = api.make(one, &json!({})).await?;
    let before = api.reread(&before).await?;
    let own = before.self_url()?;
    let unknown = Spoiled::new(cx, &valid());
    unknown.refused(
        cx,
        ids::STR_02,
        &api.put_with(&own, &unknown.body, &prefer(STRICT_AS_SECOND))
            .await?,
    );
    let after = api.reread(&before).await?;
    cx.observe(ids::STR_02, unchanged(&before, &after), || {
        format!(
            "the change was rejected, but {} became {}",
            before.short(),
            after.short()
        )
    });
    accepted(cx, &api.put_with(&own, &valid(), &prefer(STRICT)).await?)?;
    let unknown = Spoiled::new(cx, &valid());
    let lenient = api.put_with(&own, &unknown.body, &prefer(LENIENT)).await?;
    unknown.ignored(cx, &lenient)?;
    let read = unknown.not_stored(api, one, before).await?;
    if let Some(name) = text {
        cx.observe(
            ids::STR_05,
            restored(unknown.member(name), read.json.get(name)),
            || {
                format!(
                    "{name} of {} was not changed in a body with an unknown member",
                    read.short()
                )
            },
        );
    }
    put_back(cx, api, one, &with(&read.json, &valid()), &own).await
}

/// A record is sent back as it was read, with a change and an unknown member. The warnings name
/// only that member.
async fn put_back(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    one: &str,
    whole: &Value,
    own: &str,
) -> Result<(), CheckStop> {
    if cx.declared().behaves("rejects_read_only") {
        return Ok(());
    }
    let unknown = Spoiled::new(cx, whole);
    let answer = api.put(own, &unknown.body).await?;
    cx.must(ids::STR_07, answer.status == 200, || {
        format!("a {one} sent back as it was read: {answer}")
    })?;
    let warned = warned(cx, &answer);
    let other: Vec<&String> = warned
        .iter()
        .filter(|name| !unknown.paths.contains(name))
        .collect();
    cx.observe(ids::STR_07, other.is_empty(), || {
        format!("a {one} was sent back as it was read, but the warnings name {other:?}: {answer}")
    });
    unknown.ignored(cx, &answer)
}

async fn helpers(cx: &CheckContext) -> Result<(), CheckStop> {
    let api = cx.api();
    let mut all = declared_helpers(cx);
    // The sign-up helper is first, because its responses contain the person.
    all.rotate_right(usize::from(cx.declared().helps("person_signup")));
    each!(name in all.into_iter().take(cx.cases(2, 8, 8)) => help(cx, &api, name))
}

async fn help(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    name: &'static str,
) -> Result<(), CheckStop> {
    let ready = api.ready(name).await?;
    let part = if name == "record_canvass" {
        "canvass"
    } else {
        "person"
    };
    let spoiled = |body: &Value| {
        let mut spoiled = Spoiled::new(cx, body);
        spoiled.add(&format!("/{part}"), part);
        spoiled
    };
    let unknown = spoiled(&ready.body(cx, Some(&new_person(cx))));
    let mut homes = vec![api.home(ready.kind.one, ready.container.as_ref()).await?];
    if ready.kind.one != "person" && part == "person" {
        homes.push(api.home("person", None).await?);
    }
    let mut totals = Vec::new();
    for url in homes.into_iter().flatten() {
        let total = api.total(&url).await?;
        totals.push((url, total));
    }
    unknown.refused(
        cx,
        ids::STR_08,
        &api.post_with(&ready.url, &unknown.body, &prefer(STRICT))
            .await?,
    );
    let records = [unknown.body.clone(), unknown.member(part).clone()];
    for (url, before) in totals {
        let is_done = api
            .has_grown_by(&url, before, may_be_of(cx, &records))
            .await?;
        cx.observe(ids::STR_08, !is_done, || {
            format!("a call of {name} was rejected, but its record is in {url}")
        });
    }
    let answer = api
        .post_with(
            &ready.url,
            &ready.body(cx, Some(&new_person(cx))),
            &prefer(STRICT),
        )
        .await?;
    accepted(cx, &answer)?;
    adopted(api, &ready, &answer).await?;
    let unknown = spoiled(&ready.body(cx, Some(&new_person(cx))));
    let answer = api.post(&ready.url, &unknown.body).await?;
    unknown.ignored(cx, &answer)?;
    unknown
        .not_stored(api, ready.kind.one, answer.record())
        .await?;
    adopted(api, &ready, &answer).await
}

/// Records the person of a call for clean-up.
async fn adopted(
    api: &CheckClient<'_>,
    ready: &PreparedHelper,
    answer: &TestResponse,
) -> Result<(), CheckStop> {
    api.about(ready, &answer.record())
        .await
        .map(drop)
        .or_else(ignored)
}
