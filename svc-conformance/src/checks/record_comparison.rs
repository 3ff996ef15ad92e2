//! What checks of records share: whether two representations are of one record, where links lead,
//! what a body keeps.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use svc_declaration::DeclaredField;

use crate::address;
use crate::check::CheckContext;
use crate::client::{CheckClient, PageWalkEnd};
use crate::generate::{self, BodyVariant};
use crate::journal::{JournalLine, SYSTEM};
use crate::kinds::kind;
use crate::outcome::{CheckStop, none};
use crate::response::{Representation, TestResponse};
use crate::values::{at, first, instant, is_unset};

/// Looks at a number that follows later, where that is declared.
const MOST_LOOKS: usize = 30;

/// Whether two representations are of one record: they share an identifier, or their `self`.
/// Addresses may change at every reading, so that two that differ say nothing.
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

/// Whether a record was modified at a whole second, as always where a server's clock knows no
/// fractions.
pub(super) fn whole_seconds(record: &Representation) -> bool {
    record["modified_date"]
        .as_str()
        .and_then(instant)
        .is_some_and(|time| time.timestamp_subsec_nanos() == 0)
}

/// The members of a body that the kind declares as fields that a client may send and read.
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
                let value = field
                    .fields
                    .as_ref()
                    .map_or_else(|| value.clone(), |inner| within(inner, value));
                Some((name.clone(), value))
            });
            Value::Object(known.collect())
        }
        Value::Array(list) => list.iter().map(|value| within(fields, value)).collect(),
        other => other.clone(),
    }
}

/// A member of a body under a name.
pub(super) fn put(body: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(members) = body.as_object_mut() {
        members.insert(name.to_owned(), value.into());
    }
}

/// Adds an identifier of another system, where identifiers are kept.
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

/// Holds the fields of a body, identifiers included, against a record.
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
                    "{name} was sent as {value}, it is {} in {}",
                    got[name.as_str()],
                    got.short()
                )
            };
            cx.observe_with_cause(row, same, found, || generate::lost_in(cx, got, name, value));
        }
    }
}

/// Records one look at several rows.
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

/// Ends a check that cannot do without an operation where that is not declared.
pub(super) fn needs(cx: &CheckContext, one: &str, operation: &str) -> Result<(), CheckStop> {
    let offered = cx.declared().offers(one, operation);
    if offered {
        Ok(())
    } else {
        Err(none(format!("{operation} of a {one} is not declared")))
    }
}

/// As [`holds`]; what does not hold ends the check.
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

/// Notes a record that a request made beside what it answered, so that clean-up removes it. Only
/// what carries a marker of this run is noted.
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

/// The rest of a check after one of several subjects: what could not be looked at does not end it,
/// and is told at its end.
#[derive(Debug, Default)]
pub(super) struct SubjectLoop {
    reason: Option<String>,
}

impl SubjectLoop {
    /// Takes what came of one subject.
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
    /// A record of a kind as it is read, where it can be.
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

    /// Holds a link of a record against the record that it leads to.
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
            // A server with helpers alone sends no links; it may embed what they would lead to.
            let embedded = from.embeds(name).filter(|_| cx.declared().helpers_only());
            let right = embedded.is_some_and(|embedded| is_one(&embedded, to));
            return Ok(holds(cx, rows, right, || {
                format!("no link {name} in {}", from.short())
            }));
        };
        if !cx.declared().offers(one, "read") {
            let same = to.link("self").is_some_and(|own| own == href);
            // An address that nobody may read, and that may change, can only agree.
            if same {
                holds(cx, rows, true, String::new);
            }
            return Ok(same);
        }
        let answer = self.get(&href).await?;
        let right = answer.status == 200 && is_one(&answer.record(), to);
        Ok(holds(cx, rows, right, || {
            format!(
                "the link {name} of {} does not lead to {}: {answer}",
                from.short(),
                to.short()
            )
        }))
    }

    /// The member of a collection that is a record, searched page by page.
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
                "the collection {collection} could not be read to its end"
            ))),
        }
    }

    /// Holds a nested collection against a member that it must have, if the collection is declared.
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
            format!("{many} of {} lacks {}", of.short(), member.short())
        });
        Ok(())
    }

    /// Holds a number that a record keeps against what it must be; waits for it where totals follow
    /// later.
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

    /// The address of somebody who does not exist; none where nobody can be removed.
    pub(super) async fn nobody(&self) -> Result<Option<String>, CheckStop> {
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

    /// How many people there are, where they are listed.
    pub(super) async fn people(&self) -> Result<Option<u64>, CheckStop> {
        if !self.cx.declared().offers("person", "list") {
            return Ok(None);
        }
        self.total(&self.collection("people").await?).await
    }

    /// Whether the answer to a `GET` of an address is that there is nothing.
    pub(super) async fn expect_not_found(
        &self,
        url: &str,
    ) -> Result<(bool, TestResponse), CheckStop> {
        let answer = self.get(url).await?;
        Ok((answer.status == 404, answer))
    }

    /// The person whom a record is about, noted for clean-up.
    pub(super) async fn person_of(
        &self,
        record: &Representation,
        name: &str,
    ) -> Result<Representation, CheckStop> {
        let person = self.follow(record, name).await?;
        adopt(self.cx, &person);
        Ok(person)
    }

    /// The collection in which a record of a kind is listed, if any is declared: that of its
    /// container, or that of the entry point.
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

/// Whether records of a kind can be made that nobody else knows.
pub(super) fn can_make(cx: &CheckContext, one: &str) -> bool {
    cx.declared().makes_alone(one)
}

/// Values for every field of a kind that a client may send; a name of its own where records are
/// told apart by it.
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

/// Holds a representation against what its `self` leads to, field by field.
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
        format!("`self` of the {one} {} leads to {answer}", record.short())
    });
    if !right {
        return Ok(());
    }
    let differs = different(&record.json, &alone.json);
    if differs.is_empty() {
        return Ok(());
    }
    // What differs between two readings, too, says nothing.
    let again = api.get(&record.self_url()?).await?;
    let volatile = different(&alone.json, &again.json);
    for name in differs.iter().filter(|name| !volatile.contains(name)) {
        holds(cx, rows, false, || {
            format!(
                "{name} of a {one} is {} in one place and {} by its address",
                record[name], alone[name]
            )
        });
    }
    Ok(())
}

/// A total is the same in the answer to an update, after it, and in the collection of the entry
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
            "the answer to an update",
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
                    "{path} is {} by its address, {} in {place}: {}",
                    json!(expected),
                    json!(got),
                    other.short()
                )
            });
        }
    }
    Ok(())
}

/// Names of members that two representations do not agree on; totals may follow later, links and
/// embedded records vary.
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

/// A value without what may change by itself: links, embedded records and totals, those of the
/// levels of an event, too.
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
