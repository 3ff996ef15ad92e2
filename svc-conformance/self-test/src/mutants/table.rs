//! Faults as data: where a fault applies, and a few steps that are executed in order until a
//! condition is false.
//!
//! A path goes through members (`a.b`), elements (`a[]` each, `a[1]`, `a[-1]` the last) and every
//! member (`*`). A name that begins with `svc:` gets the prefix of the server. A value is JSON, or
//! text if it is not JSON.

use serde_json::{Map, Value};

use super::{BaseServer, Mutant, MutationPoint, members};
use crate::interceptor::Interceptor;
use crate::link_map::{LinkMap, ResourceKind};
use crate::transport::{BufferedRequest, BufferedResponse};

/// Where a fault applies; `*` is every kind.
#[derive(Debug, Clone, Copy)]
pub(super) enum MutationTarget {
    /// Pages of collections of a kind.
    Pages(&'static str),
    /// Members of such pages.
    Members(&'static str),
    /// Records of a kind, in every response.
    Records(&'static str),
    /// Error objects.
    Errors,
    /// The entries of error objects.
    Entries,
    /// The descriptions of errors.
    Descriptions,
    /// Requests with a method to a target.
    Sent(&'static str, TriggerRequest),
    /// The whole response to a method at a target.
    Answers(&'static str, TriggerRequest),
}

/// The target of a request. `*` is every kind; for helpers, every one except the schedule.
#[derive(Debug, Clone, Copy)]
pub(super) enum TriggerRequest {
    Any,
    Record(&'static str),
    Collection(&'static str),
    Helper(&'static str),
}

/// One step of a fault.
#[derive(Debug, Clone, Copy)]
pub(super) enum MutationStep {
    /// Continues if a value is this one.
    Is(&'static str, &'static str),
    /// Continues if a value is not this one.
    Not(&'static str, &'static str),
    /// Continues if a value exists.
    Has(&'static str),
    /// Continues if a number is greater.
    Above(&'static str, f64),
    /// Continues if the address of the request contains this text.
    Asked(&'static str),
    /// Continues if the response has this status.
    Status(u16),
    /// Continues if the request failed.
    Failed,
    /// Continues if the request succeeded.
    Done,
    /// Removes a member.
    Drop(&'static str),
    /// Sets a member, or an existing element.
    Set(&'static str, &'static str),
    /// Adds to a number.
    Add(&'static str, i32),
    /// Copies the value at the first path to the second.
    Copy(&'static str, &'static str),
    /// Keeps only these members of an object.
    Keep(&'static str, &'static [&'static str]),
    /// Keeps only this many elements of a list.
    Cut(&'static str, usize),
    /// Removes the last element of a list.
    Pop(&'static str),
    /// Appends the first element of a list to its end.
    Repeat(&'static str),
    /// Reverses a list.
    Reverse(&'static str),
    /// Replaces a part of a text.
    Replace(&'static str, &'static str, &'static str),
    /// Changes a text.
    Text(&'static str, fn(&str) -> String),
    /// Changes a value.
    Value(&'static str, fn(&mut Value)),
    /// Responds with another status.
    Swap(u16),
    /// Responds with a status and without a body.
    Empty(u16),
    /// Responds with the same status and without a body.
    Bare,
    /// Responds with a status and a document.
    Body(u16, &'static str),
}

/// One line of a table of faults.
#[derive(Debug, Clone, Copy)]
pub(super) struct MutationRow {
    name: &'static str,
    /// The requirements that it breaks, separated by blanks.
    rows: &'static str,
    does: (MutationTarget, &'static [MutationStep]),
    also: Option<(MutationTarget, &'static [MutationStep])>,
    over: BaseServer,
    place: Option<MutationPoint>,
}

/// Creates a fault of the second service.
pub(super) const fn line(
    name: &'static str,
    rows: &'static str,
    spot: MutationTarget,
    verbs: &'static [MutationStep],
) -> MutationRow {
    MutationRow {
        name,
        rows,
        does: (spot, verbs),
        also: None,
        over: BaseServer::SecondServer(|_| {}),
        place: None,
    }
}

impl MutationRow {
    /// Adds a second change: to requests if the first one changes responses, or the other way
    /// round.
    pub(super) const fn and(self, spot: MutationTarget, verbs: &'static [MutationStep]) -> Self {
        Self {
            also: Some((spot, verbs)),
            ..self
        }
    }

    /// Applies the fault to the reference server.
    pub(super) const fn on_reference(self) -> Self {
        self.over(BaseServer::Reference(|api| api))
    }

    /// Applies the fault to a service that is configured for it.
    pub(super) const fn over(self, over: BaseServer) -> Self {
        Self { over, ..self }
    }

    /// Applies the fault at another layer than the spot implies.
    pub(super) const fn at(self, place: MutationPoint) -> Self {
        Self {
            place: Some(place),
            ..self
        }
    }

    fn fault(self, family: &'static str) -> Mutant {
        let rows: Vec<&str> = self.rows.split(' ').collect();
        let (spot, verbs) = self.does;
        let place = if matches!(spot, MutationTarget::Sent(..)) {
            MutationPoint::Request
        } else {
            MutationPoint::Response
        };
        let fault = Mutant::new(family, self.name, &rows, move || {
            let twist = twist(spot, verbs);
            match self.also {
                Some((spot, verbs)) => twist.joined(self::twist(spot, verbs)),
                None => twist,
            }
        });
        fault.over(self.over).at(self.place.unwrap_or(place))
    }
}

/// Returns the faults of a table.
pub(super) fn table(family: &'static str, lines: &[MutationRow]) -> Vec<Mutant> {
    lines.iter().map(|line| line.fault(family)).collect()
}

impl TriggerRequest {
    fn fits(self, what: Option<ResourceKind>) -> bool {
        let is = |wanted: &str, kind: &str| wanted == "*" || wanted == kind;
        match (self, what) {
            (Self::Any, _) => true,
            (Self::Helper("*"), Some(ResourceKind::Helper(kind))) => kind != "message",
            (Self::Record(wanted), Some(ResourceKind::Record(kind)))
            | (Self::Collection(wanted), Some(ResourceKind::Collection(kind)))
            | (Self::Helper(wanted), Some(ResourceKind::Helper(kind))) => is(wanted, kind),
            _ => false,
        }
    }
}

fn twist(spot: MutationTarget, verbs: &'static [MutationStep]) -> Interceptor {
    let object = move |call: &BufferedRequest, object: &mut Map<String, Value>, sight: &LinkMap| {
        let mut value = Value::Object(std::mem::take(object));
        act(verbs, call, &mut value, None, sight);
        if let Value::Object(changed) = value {
            *object = changed;
        }
    };
    let nowhere = BufferedRequest::nowhere();
    match spot {
        MutationTarget::Pages(kind) => Interceptor::pages(move |call, page, sight| {
            if TriggerRequest::Collection(kind).fits(sight.what(call)) {
                object(call, page, sight);
            }
        }),
        MutationTarget::Members(kind) => Interceptor::pages(move |call, page, sight| {
            if TriggerRequest::Collection(kind).fits(sight.what(call)) {
                for member in members(page)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_object_mut)
                {
                    object(call, member, sight);
                }
            }
        }),
        MutationTarget::Records(kind) => {
            Interceptor::records(kind, move |record, sight| object(&nowhere, record, sight))
        }
        MutationTarget::Errors => {
            Interceptor::errors(move |error, sight| object(&nowhere, error, sight))
        }
        MutationTarget::Entries => {
            Interceptor::entries(move |entry, sight| object(&nowhere, entry, sight))
        }
        MutationTarget::Descriptions => {
            Interceptor::descriptions(move |one, sight| object(&nowhere, one, sight))
        }
        MutationTarget::Sent(method, to) => Interceptor::sent(move |call, what, body, sight| {
            if (method == "*" || call.method == method) && to.fits(what) {
                object(call, body, sight);
            }
        }),
        MutationTarget::Answers(method, to) => Interceptor::after(move |call, answer, sight| {
            if (method == "*" || call.method == method) && to.fits(sight.what(call)) {
                let mut value = answer.json().unwrap_or_default();
                let before = value.clone();
                act(verbs, call, &mut value, Some(answer), sight);
                if value != before && !answer.body.is_empty() {
                    answer.set_json(&value);
                }
            }
        }),
    }
}

/// Executes the steps in order.
fn act(
    verbs: &[MutationStep],
    call: &BufferedRequest,
    value: &mut Value,
    mut answer: Option<&mut BufferedResponse>,
    sight: &LinkMap,
) {
    for verb in verbs {
        let goes_on = match *verb {
            MutationStep::Is(path, wanted) => found(value, path, sight) == Some(json(wanted)),
            MutationStep::Not(path, wanted) => found(value, path, sight) != Some(json(wanted)),
            MutationStep::Has(path) => found(value, path, sight).is_some(),
            MutationStep::Above(path, most) => {
                found(value, path, sight).and_then(|one| one.as_f64()) > Some(most)
            }
            MutationStep::Asked(text) => call.uri.to_string().contains(text),
            MutationStep::Status(status) => answer
                .as_ref()
                .is_some_and(|answer| answer.status == status),
            MutationStep::Failed => answer.as_ref().is_some_and(|answer| answer.status >= 400),
            MutationStep::Done => answer.as_ref().is_some_and(|answer| answer.is_success()),
            MutationStep::Swap(_)
            | MutationStep::Empty(_)
            | MutationStep::Bare
            | MutationStep::Body(..) => {
                if let Some(answer) = answer.as_mut() {
                    match *verb {
                        MutationStep::Swap(status) => answer.status = status,
                        MutationStep::Empty(status) => **answer = BufferedResponse::empty(status),
                        MutationStep::Body(status, text) => {
                            *value = json(text);
                            **answer = BufferedResponse::document(status, value);
                        }
                        _ => **answer = BufferedResponse::empty(answer.status),
                    }
                }
                true
            }
            change => {
                changed(change, value, sight);
                true
            }
        };
        if !goes_on {
            return;
        }
    }
}

fn changed(verb: MutationStep, value: &mut Value, sight: &LinkMap) {
    let list = |value: &mut Value, path, act: &mut dyn FnMut(&mut Vec<Value>)| {
        each(value, path, sight, &mut |one| {
            one.as_array_mut().into_iter().for_each(&mut *act);
        });
    };
    match verb {
        MutationStep::Drop(path) => put(value, path, None, sight),
        MutationStep::Set(path, new) => put(value, path, Some(&json(new)), sight),
        MutationStep::Copy(from, to) => {
            let new = found(value, from, sight);
            if new.is_some() {
                put(value, to, new.as_ref(), sight);
            }
        }
        MutationStep::Add(path, more) => each(value, path, sight, &mut |one| {
            if let Some(whole) = one.as_i64() {
                *one = whole.saturating_add(more.into()).into();
            } else if let Some(number) = one.as_f64() {
                *one = (number + f64::from(more)).into();
            }
        }),
        MutationStep::Keep(path, names) => each(value, path, sight, &mut |one| {
            if let Value::Object(object) = one {
                object.retain(|name, _| names.contains(&name.as_str()));
            }
        }),
        MutationStep::Cut(path, most) => list(value, path, &mut |list| list.truncate(most)),
        MutationStep::Pop(path) => list(value, path, &mut |list| drop(list.pop())),
        MutationStep::Repeat(path) => {
            list(value, path, &mut |list| list.extend(list.first().cloned()));
        }
        MutationStep::Reverse(path) => list(value, path, &mut |list| list.reverse()),
        MutationStep::Replace(path, old, new) => each(value, path, sight, &mut |one| {
            if let Value::String(text) = one {
                *text = text.replace(old, new);
            }
        }),
        MutationStep::Text(path, change) => each(value, path, sight, &mut |one| {
            if let Value::String(text) = one {
                *text = change(text);
            }
        }),
        MutationStep::Value(path, change) => each(value, path, sight, &mut |one| change(one)),
        _ => {}
    }
}

/// Parses JSON, or returns the text if it is not JSON.
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

fn found(value: &mut Value, path: &str, sight: &LinkMap) -> Option<Value> {
    let mut found = None;
    each(value, path, sight, &mut |one| {
        found.get_or_insert_with(|| one.clone());
    });
    found
}

/// Sets or removes a member of every object that the preceding path selects; an element is only
/// set.
fn put(value: &mut Value, path: &str, new: Option<&Value>, sight: &LinkMap) {
    if path.ends_with(']') || path.ends_with('*') || path.is_empty() {
        return each(value, path, sight, &mut |one| {
            *one = new.cloned().unwrap_or_default();
        });
    }
    let (parent, last) = path.rsplit_once('.').unwrap_or(("", path));
    each(value, parent, sight, &mut |one| {
        if let Value::Object(object) = one {
            match new {
                Some(new) => drop(object.insert(named(last, sight), new.clone())),
                None => drop(object.remove(&named(last, sight))),
            }
        }
    });
}

fn named(name: &str, sight: &LinkMap) -> String {
    name.strip_prefix("svc:")
        .map_or_else(|| name.to_owned(), |name| sight.rel(name))
}

/// Calls a function with each value at a path.
fn each(value: &mut Value, path: &str, sight: &LinkMap, act: &mut dyn FnMut(&mut Value)) {
    if path.is_empty() {
        return act(value);
    }
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let (name, place) = step.split_once('[').map_or((step, None), |(name, place)| {
        (name, place.strip_suffix(']'))
    });
    let Value::Object(object) = value else { return };
    let name = named(name, sight);
    for (_, inner) in object
        .iter_mut()
        .filter(|(known, _)| name == "*" || **known == name)
    {
        let Some(place) = place else {
            each(inner, rest, sight, act);
            continue;
        };
        let list = inner.as_array_mut().map_or(&mut [][..], Vec::as_mut_slice);
        let wanted = if place == "-1" {
            list.len().checked_sub(1)
        } else {
            place.parse().ok()
        };
        for (_, one) in list
            .iter_mut()
            .enumerate()
            .filter(|(at, _)| place.is_empty() || Some(*at) == wanted)
        {
            each(one, rest, sight, act);
        }
    }
}
