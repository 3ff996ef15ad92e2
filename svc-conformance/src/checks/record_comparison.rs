//! Functions for all checks of records: whether two representations are of one record, the targets
//! of links, and whether a body was stored.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use svc_declaration::DeclaredField;

use crate::address;
use crate::check::CheckContext;
use crate::client::{CheckClient, PageWalkEnd};
use crate::generate::{self, BodyVariant, max_items};
use crate::journal::{JournalLine, SYSTEM};
use crate::kinds::kind;
use crate::outcome::{CheckStop, none};
use crate::response::{Representation, TestResponse};
use crate::values::{at, first, instant, is_unset};

/// The maximum number of reads of a total that may be updated later, if that is declared.
const MOST_LOOKS: usize = 30;

/// Whether two representations are of one record: they share an identifier, or their `self` links.
/// URLs may change at every read, so different URLs prove nothing.
///
/// Requirements: HAL-06.
pub(super) fn is_one(one: &Representation, other: &Representation) -> bool {
    let identified = one
        .identifiers()
        .iter()
        .any(|identifier| other.carries(identifier));
    let own = one.link("self");
    identified || (own.is_some() && own == other.link("self"))
}

/// Whether a record was modified at a whole second. This is always so if the clock of a server has
/// no fractions.
pub(super) fn whole_seconds(record: &Representation) -> bool {
    record["modified_date"]
        .as_str()
        .and_then(instant)
        .is_some_and(|time| time.timestamp_subsec_nanos() == 0)
}

/// Returns the members of a body that are declared as fields that a client may send and read. Lists are
/// shortened to the declared number of entries.
pub(super) fn part(cx: &CheckContext, one: &str, body: &Value) -> Value {
    cx.declared()
        .fields(one)
        .map_or_else(|| Value::Object(Map::new()), |fields| within(fields, body))
}

fn within(fields: &BTreeMap<String, DeclaredField>, value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let known = members.iter().filter_map(|(name, value)| {
                let field = fields
                    .get(name)
                    .filter(|field| field.writable && field.readable && !field.computed)?;
                let mut value = value.clone();
                if let Value::Array(list) = &mut value {
                    list.truncate(max_items(field));
                }
                if let Some(inner) = &field.fields {
                    value = within(inner, &value);
                }
                Some((name.clone(), value))
            });
            Value::Object(known.collect())
        }
        Value::Array(list) => list.iter().map(|value| within(fields, value)).collect(),
        other => other.clone(),
    }
}

/// Sets a member of a body.
pub(super) fn put(body: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(members) = body.as_object_mut() {
        members.insert(name.to_owned(), value.into());
    }
}

/// Adds an identifier of another system, if the server stores identifiers.
///
/// Requirements: TYP-13.
pub(super) fn identified(cx: &CheckContext, mut body: Value) -> Value {
    if cx.declared().has_identifiers()
        && let Some(list) = body.get_mut("identifiers").and_then(Value::as_array_mut)
    {
        list.push(format!("other_system:{}", cx.unique()).into());
    }
    body
}

/// Compares the fields of a body, including identifiers, with a record.
pub(super) fn compare_stored(cx: &CheckContext, rows: &[&str], sent: &Value, got: &Representation) {
    for (name, value) in sent.as_object().into_iter().flatten() {
        let same = match name.as_str() {
            "_links" | "person" | "canvasser" | "question_response" => continue,
            "identifiers" => {
                let list = value.as_array().map_or(&[][..], Vec::as_slice);
                list.iter()
                    .filter_map(Value::as_str)
                    .all(|identifier| got.carries(identifier))
            }
            _ => generate::restored(value, got.json.get(name)),
        };
        for row in rows {
            let found = || {
                format!(
                    "{name} was sent as {value}, but is {} in {}",
                    got[name.as_str()],
                    got.short()
                )
            };
            cx.observe_with_cause(row, same, found, || generate::lost_in(cx, got, name, value));
        }
    }
}

/// Records one observation of several requirements.
pub(super) fn holds(
    cx: &CheckContext,
    rows: &[&str],
    holds: bool,
    found: impl Fn() -> String,
) -> bool {
    for row in rows {
        cx.observe(row, holds, &found);
    }
    holds
}

/// Ends a check that requires an operation if the operation is not declared.
pub(super) fn needs(cx: &CheckContext, one: &str, operation: &str) -> Result<(), CheckStop> {
    let offered = cx.declared().offers(one, operation);
    if offered {
        Ok(())
    } else {
        Err(none(format!("{operation} of a {one} is not declared")))
    }
}

/// Same as [`holds`], but a failure ends the check.
pub(super) fn must(
    cx: &CheckContext,
    rows: &[&str],
    right: bool,
    found: impl Fn() -> String,
) -> Result<(), CheckStop> {
    if holds(cx, rows, right, found) {
        Ok(())
    } else {
        Err(CheckStop::Failed)
    }
}

/// Records a record that a request created in addition to its response, for clean-up. Only records
/// with a marker of this run are recorded.
pub(super) fn adopt(cx: &CheckContext, record: &Representation) {
    let ours = format!("{SYSTEM}:{}-", cx.run.token);
    let marker = record
        .identifiers()
        .into_iter()
        .find(|identifier| identifier.starts_with(&ours));
    if let (Some(own), Some(marker)) = (record.link("self"), marker) {
        cx.run.journal.write(JournalLine::Created {
            own,
            marker: Some(marker.to_owned()),
            key: 0,
        });
    }
}

/// The state of a check with several subjects. A subject that could not be checked does not end the
/// check; it is reported at the end.
#[derive(Debug, Default)]
pub(super) struct SubjectLoop {
    reason: Option<String>,
}

impl SubjectLoop {
    /// Accepts the result of one subject.
    pub(super) fn took(&mut self, result: Result<(), CheckStop>) -> Result<(), CheckStop> {
        match result {
            Ok(()) | Err(CheckStop::Failed) => {}
            Err(CheckStop::Inconclusive(reason)) => drop(self.reason.get_or_insert(reason)),
            Err(stop @ (CheckStop::Disabled(_) | CheckStop::UnexpectedResponse(_))) => {
                return Err(stop);
            }
        }
        Ok(())
    }

    pub(super) fn end(self) -> Result<(), CheckStop> {
        self.reason
            .map_or(Ok(()), |reason| Err(CheckStop::Inconclusive(reason)))
    }
}

/// Runs a part of a check for each of several subjects.
macro_rules! each {
    ($one:pat in $all:expr => $part:expr) => {{
        let mut each = $crate::checks::record_comparison::SubjectLoop::default();
        for $one in $all {
            each.took($part.await)?;
        }
        each.end()
    }};
}

pub(super) use each;

impl CheckClient<'_> {
    /// Reads a record of a kind, if it can be read.
    pub(super) async fn as_read(
        &self,
        one: &str,
        made: Representation,
    ) -> Result<Representation, CheckStop> {
        if self.cx.declared().offers(one, "read") {
            self.reread(&made).await
        } else {
            Ok(made)
        }
    }

    /// Verifies the target of a link of a record.
    pub(super) async fn check_link(
        &self,
        rows: &[&str],
        from: &Representation,
        name: &str,
        to: &Representation,
        one: &str,
    ) -> Result<bool, CheckStop> {
        let cx = self.cx;
        let Some(href) = from.href(name) else {
            // A server that offers only helpers sends no links. It may embed the targets instead.
            let embedded = from.embeds(name).filter(|_| cx.declared().helpers_only());
            let right = embedded.is_some_and(|embedded| is_one(&embedded, to));
            return Ok(holds(cx, rows, right, || {
                format!("no link {name} in {}", from.short())
            }));
        };
        if !cx.declared().offers(one, "read") {
            let same = to.link("self").is_some_and(|own| own == href);
            // A URL that cannot be read, and that may change, is accepted.
            if same {
                holds(cx, rows, true, String::new);
            }
            return Ok(same);
        }
        let answer = self.get(&href).await?;
        let right = answer.status == 200 && is_one(&answer.record(), to);
        Ok(holds(cx, rows, right, || {
            format!(
                "the target of the link {name} of {} is not {}: {answer}",
                from.short(),
                to.short()
            )
        }))
    }

    /// Returns the member of a collection that represents a record, searched page by page.
    pub(super) async fn find_in(
        &self,
        collection: &str,
        record: &Representation,
    ) -> Result<Option<Representation>, CheckStop> {
        let mut found = None;
        let walked = self.walk(collection, |page| {
            found = page
                .embedded()
                .into_iter()
                .find(|member| is_one(member, record));
            found.is_none()
        });
        match walked.await? {
            PageWalkEnd::Done => Ok(found),
            PageWalkEnd::Failed(answer) => {
                Err(none(format!("the collection cannot be read: {answer}")))
            }
            _ => Err(none(format!(
                "the collection {collection} could not be read completely"
            ))),
        }
    }

    /// Verifies that a nested collection contains a member, if the collection is declared.
    pub(super) async fn is_listed(
        &self,
        rows: &[&str],
        of: &Representation,
        owner: &str,
        many: &str,
        member: &Representation,
    ) -> Result<(), CheckStop> {
        let cx = self.cx;
        if !cx.declared().lists_below(owner, many) {
            return Ok(());
        }
        let Some(url) = of.href(many) else {
            return Ok(());
        };
        let found = self.find_in(&url, member).await?;
        holds(cx, rows, found.is_some(), || {
            format!("{many} of {} do not contain {}", of.short(), member.short())
        });
        Ok(())
    }

    /// Compares a number that the server maintains in a record with its expected value. Waits for
    /// it if totals are updated later.
    pub(super) async fn total_is(
        &self,
        rows: &[&str],
        record: &Representation,
        path: &str,
        expected: f64,
    ) -> Result<(), CheckStop> {
        let cx = self.cx;
        let later = cx.declared().behaves("totals_follow_later");
        let mut looks = 0_usize;
        loop {
            let read = self.reread(record).await?;
            let got = first(&read.json, path).cloned().unwrap_or_default();
            let right = got
                .as_f64()
                .is_some_and(|got| (got - expected).abs() <= 1e-9 * expected.abs().max(1.0));
            looks = looks.saturating_add(1);
            if right || !later || looks >= MOST_LOOKS {
                holds(cx, rows, right, || {
                    format!("{path} is {got} instead of {expected} in {}", read.short())
                });
                return Ok(());
            }
            cx.run.target.wait(Duration::from_millis(100)).await;
        }
    }

    /// Returns the URL of a person that does not exist. `None` if no person can be deleted.
    pub(super) async fn missing_person(&self) -> Result<Option<String>, CheckStop> {
        let declared = self.cx.declared();
        if declared.offers("person", "delete") && declared.offers("person", "create") {
            let person = self.person().await?;
            self.remove(&person).await?;
            return Ok(Some(person.self_url()?));
        }
        let base = self.cx.run.target.base();
        Ok(declared
            .text
            .missing_address
            .as_ref()
            .and_then(|missing| address::resolve(base, missing).map(String::from)))
    }

    /// Returns the number of people, if they are listed.
    pub(super) async fn people(&self) -> Result<Option<u64>, CheckStop> {
        if !self.cx.declared().offers("person", "list") {
            return Ok(None);
        }
        self.total(&self.collection("people").await?).await
    }

    /// Whether a `GET` of a URL reports that nothing exists there.
    pub(super) async fn expect_not_found(
        &self,
        url: &str,
    ) -> Result<(bool, TestResponse), CheckStop> {
        let answer = self.get(url).await?;
        Ok((answer.status == 404, answer))
    }

    /// Returns the person that a record is about, and records the person for clean-up.
    pub(super) async fn person_of(
        &self,
        record: &Representation,
        name: &str,
    ) -> Result<Representation, CheckStop> {
        let person = self.follow(record, name).await?;
        adopt(self.cx, &person);
        Ok(person)
    }

    /// Returns the collection in which a record of a kind is listed, if one is declared: that of
    /// its container, or that of the entry point.
    pub(super) async fn home(
        &self,
        one: &str,
        container: Option<&Representation>,
    ) -> Result<Option<String>, CheckStop> {
        let Some(kind) = kind(one) else {
            return Ok(None);
        };
        if let (Some(under), Some(container)) = (kind.under, container) {
            let listed = self.cx.declared().lists_below(under, kind.many);
            return Ok(container.href(kind.many).filter(|_| listed));
        }
        if kind.under.is_none() && self.cx.declared().offers(one, "list") {
            return self.collection(kind.many).await.map(Some);
        }
        Ok(None)
    }
}

/// Whether records of a kind can be created that no other client knows.
pub(super) fn can_make(cx: &CheckContext, one: &str) -> bool {
    cx.declared().makes_alone(one)
}

/// Returns values for every field of a kind that a client may send, with a unique name if the name
/// identifies the record.
pub(super) fn filled(cx: &CheckContext, one: &str) -> Value {
    let body = generate::body(cx.declared(), one, BodyVariant::All(0), &cx.unique());
    let body = body.and_then(|body| generate::sample(&body, cx.seed(one)));
    let Some(Value::Object(mut members)) = body else {
        return Value::Object(Map::new());
    };
    members.retain(|_, value| !is_unset(Some(value)));
    if matches!(one, "tag" | "list") {
        members.insert("name".to_owned(), cx.unique().into());
    }
    // Questions of some types have no responses.
    if let ("question", Value::Object(least)) = (one, generate::minimal_body(cx, one)) {
        members.extend(least);
    }
    Value::Object(members)
}

/// Compares a representation with the target of its `self` link, field by field.
pub(super) async fn compare(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    rows: &[&str],
    record: &Representation,
    one: &str,
) -> Result<(), CheckStop> {
    let answer = api.get(&record.self_url()?).await?;
    let alone = answer.record();
    let right = answer.status == 200 && answer.json.is_object() && is_one(&alone, record);
    holds(cx, rows, right, || {
        format!(
            "the target of `self` of the {one} {} is {answer}",
            record.short()
        )
    });
    if !right {
        return Ok(());
    }
    let differs = different(&record.json, &alone.json);
    if differs.is_empty() {
        return Ok(());
    }
    // A difference that also occurs between two reads proves nothing.
    let again = api.get(&record.self_url()?).await?;
    let volatile = different(&alone.json, &again.json);
    for name in differs.iter().filter(|name| !volatile.contains(name)) {
        holds(cx, rows, false, || {
            format!(
                "{name} of a {one} is {} in one representation and {} at its URL",
                record[name], alone[name]
            )
        });
    }
    Ok(())
}

/// A total is the same in the response to an update, after it, and in the collection of the entry
/// point.
pub(super) async fn elsewhere(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    record: &Representation,
    one: &str,
    totals: &[(&str, &str)],
) -> Result<(), CheckStop> {
    let (declared, Some(kind)) = (cx.declared(), kind(one)) else {
        return Ok(());
    };
    if declared.behaves("totals_follow_later") || !declared.offers(one, "read") {
        return Ok(());
    }
    let alone = api.reread(record).await?;
    let mut shown = Vec::new();
    let field = declared.field(one, "origin_system");
    if declared.offers(one, "update") && field.is_some_and(|field| field.writable) {
        shown.push((
            "the response to an update",
            api.change(&alone, &json!({ "origin_system": cx.unique() }))
                .await?,
        ));
        shown.push(("a read after an update", api.reread(&alone).await?));
    }
    if declared.offers(one, "list") {
        let member = api
            .find_in(&api.collection(kind.many).await?, &alone)
            .await?;
        shown.extend(member.map(|member| ("the collection", member)));
    }
    let number = |record: &Representation, path: &str| {
        at(&record.json, path)
            .into_iter()
            .map(Value::as_f64)
            .collect::<Vec<_>>()
    };
    let readable = |path: &str| {
        declared
            .field(one, path)
            .is_some_and(|field| field.readable)
    };
    for (row, path) in totals.iter().filter(|(_, path)| readable(path)) {
        let expected = number(&alone, path);
        for (place, other) in &shown {
            let got = number(other, path);
            cx.observe(row, got == expected, || {
                format!(
                    "{path} is {} at its URL, but {} in {place}: {}",
                    json!(expected),
                    json!(got),
                    other.short()
                )
            });
        }
    }
    Ok(())
}

/// Returns the names of members that differ between two representations. Totals may be updated
/// later, and links and embedded records vary.
pub(super) fn different(one: &Value, other: &Value) -> Vec<String> {
    let (one, other) = (lasting(one), lasting(other));
    let names: std::collections::BTreeSet<&String> = [&one, &other]
        .into_iter()
        .filter_map(Value::as_object)
        .flat_map(Map::keys)
        .collect();
    let differs = |name: &&&String| {
        let (one, other) = (one.get(*name), other.get(*name));
        let within =
            |one: Option<&Value>, other| generate::restored(one.unwrap_or(&Value::Null), other);
        !(within(one, other) && within(other, one))
    };
    names
        .iter()
        .filter(differs)
        .map(|name| (*name).clone())
        .collect()
}

/// Returns a value without what may change by itself: links, embedded records and totals, including
/// those of the levels of an event.
fn lasting(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members
                .iter()
                .filter(|(name, _)| !name.starts_with('_') && !name.starts_with("total_"));
            Value::Object(
                kept.map(|(name, value)| (name.clone(), lasting(value)))
                    .collect(),
            )
        }
        Value::Array(list) => list.iter().map(lasting).collect(),
        other => other.clone(),
    }
}
