//! Mutants: correct services with one fault each, and the requirements that the fault breaks.

mod access;
mod anonymous;
mod answers;
mod backend;
mod batch;
mod codes;
mod collections;
mod complete_errors;
pub(crate) mod conditional;
mod deliveries;
mod duplicate_people;
mod duplicates;
mod errors;
mod feed;
mod fields;
mod filters;
mod headers;
mod helpers;
mod helpers_alone;
mod hypermedia;
mod idempotency;
mod links;
mod merge_undo;
mod merges;
mod moves;
mod page_links;
mod planted;
mod strict;
mod table;
mod totals;
mod unchanged;
mod updates;
mod values;
mod webhooks;

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use svc_core::api::ApiBuilder;

use super::independent_server::ServerOptions;
use super::interceptor::Interceptor;
use super::subject::{SubjectError, TestSubject};
use svc_conformance::Declaration;

pub use planted::{SequenceMutant, planted};

/// Where a fault is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MutationPoint {
    /// The request of a client is changed.
    Request,
    /// The response of the server is changed.
    Response,
    /// The behaviour of the server is changed.
    Backend,
    /// The clock of the server is changed.
    Clock,
}

impl MutationPoint {
    /// Returns the name of this value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
            Self::Backend => "backend",
            Self::Clock => "clock",
        }
    }
}

/// The correct service that a fault is applied to.
#[derive(Debug, Clone, Copy)]
pub enum BaseServer {
    /// The second service, configured for the fault.
    SecondServer(fn(&mut ServerOptions)),
    /// The reference server, configured for the fault.
    Reference(fn(ApiBuilder) -> ApiBuilder),
    /// The reference server, which sends the messages of its webhooks.
    Sending,
}

impl BaseServer {
    /// Returns whether the service sends the messages of its webhooks.
    pub(crate) const fn sends(self) -> bool {
        matches!(self, Self::Sending)
    }
}

/// A server with one planted fault.
#[derive(Clone)]
pub struct Mutant {
    /// The name of the mutant.
    pub name: String,
    /// The family of the fault.
    pub family: &'static str,
    /// The requirements that the fault breaks. An id that ends in `*` matches all ids with that
    /// prefix.
    pub rows: Vec<String>,
    /// Where the fault is applied.
    pub place: MutationPoint,
    /// The service that the fault is applied to.
    pub over: BaseServer,
    pub(crate) twist: Arc<dyn Fn() -> Interceptor + Send + Sync>,
}

impl fmt::Debug for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutant")
            .field("name", &self.name)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl Mutant {
    /// Creates a fault in the responses of the second service.
    pub(super) fn new(
        family: &'static str,
        name: impl Into<String>,
        rows: &[&str],
        twist: impl Fn() -> Interceptor + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            family,
            rows: rows.iter().map(ToString::to_string).collect(),
            place: MutationPoint::Response,
            over: BaseServer::SecondServer(|_| {}),
            twist: Arc::new(twist),
        }
    }

    /// Sets where the fault is applied.
    pub(super) fn at(self, place: MutationPoint) -> Self {
        Self { place, ..self }
    }

    /// Applies the fault to the reference server.
    pub(super) fn on_reference(self) -> Self {
        Self {
            over: BaseServer::Reference(|api| api),
            ..self
        }
    }

    /// Applies the fault to a service that is configured for it.
    pub(super) fn over(self, over: BaseServer) -> Self {
        Self { over, ..self }
    }

    /// Returns whether the fault breaks a requirement.
    #[must_use]
    pub fn breaks(&self, row: &str) -> bool {
        self.rows.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => row.starts_with(start),
            None => known == row,
        })
    }

    /// Starts the mutant.
    ///
    /// # Errors
    /// Returns an error if the service does not start.
    pub async fn start(&self) -> Result<TestSubject, SubjectError> {
        let subject = self.over.start().await?;
        let (twist, base) = ((self.twist)(), subject.base.clone());
        Ok(subject.behind(|wire, prefix| twist.over(wire, prefix, &base)))
    }
}

impl BaseServer {
    /// Starts the correct service.
    ///
    /// # Errors
    /// Returns an error if it does not start.
    pub async fn start(&self) -> Result<TestSubject, SubjectError> {
        match self {
            Self::SecondServer(set_up) => {
                let mut options = ServerOptions::default();
                set_up(&mut options);
                Ok(TestSubject::second_server(options))
            }
            Self::Reference(set_up) => TestSubject::reference(set_up).await,
            Self::Sending => TestSubject::sending(|api| api).await,
        }
    }

    /// Starts the correct service, configured for several faults. It is the second service unless
    /// one of the faults needs the reference server. It sends messages if one of the faults needs
    /// that.
    ///
    /// # Errors
    /// Returns an error if it does not start.
    pub async fn start_all(
        all: impl Iterator<Item = Self> + Clone,
    ) -> Result<TestSubject, SubjectError> {
        let set_ups = all.clone().filter_map(|over| {
            if let Self::Reference(set_up) = over {
                Some(set_up)
            } else {
                None
            }
        });
        let of_reference = |api| set_ups.clone().fold(api, |api, set_up| set_up(api));
        if all.clone().any(|over| matches!(over, Self::Sending)) {
            return TestSubject::sending(of_reference).await;
        }
        if set_ups.clone().next().is_some() {
            return TestSubject::reference(of_reference).await;
        }
        let mut options = ServerOptions::default();
        for over in all {
            if let Self::SecondServer(set_up) = over {
                set_up(&mut options);
            }
        }
        Ok(TestSubject::second_server(options))
    }

    /// Returns the declaration that the correct service publishes.
    ///
    /// # Errors
    /// Returns an error if the service does not start or publishes no declaration.
    pub async fn declaration(&self) -> Result<Declaration, SubjectError> {
        published(&self.start().await?)
            .await
            .ok_or(SubjectError::Declaration)
    }
}

/// Returns the declaration that a correct service publishes.
async fn published(subject: &TestSubject) -> Option<Declaration> {
    let entry = subject.get(&subject.base).await?;
    let links = entry.get("_links")?.as_object()?;
    let link = links.get("service-meta")?;
    // Both services write absolute addresses.
    serde_json::from_value(subject.get(link.get("href")?.as_str()?).await?).ok()
}

/// Returns every mutant, in a fixed order.
#[must_use]
pub fn registry() -> Vec<Mutant> {
    [
        headers::faults(),
        hypermedia::faults(),
        links::faults(),
        collections::faults(),
        filters::faults(),
        fields::faults(),
        values::faults(),
        updates::faults(),
        moves::faults(),
        access::faults(),
        helpers::faults(),
        helpers_alone::faults(),
        errors::faults(),
        backend::faults(),
        page_links::faults(),
        totals::faults(),
        duplicate_people::faults(),
        codes::faults(),
        anonymous::faults(),
        complete_errors::faults(),
        answers::faults(),
        conditional::faults(),
        idempotency::faults(),
        batch::faults(),
        strict::faults(),
        feed::faults(),
        unchanged::faults(),
        webhooks::faults(),
        deliveries::faults(),
        merges::faults(),
        merge_undo::faults(),
        duplicates::faults(),
        planted().into_iter().map(|planted| planted.fault).collect(),
    ]
    .concat()
}

/// Returns behaviour that looks like a fault but is permitted.
pub(crate) fn free() -> Vec<Mutant> {
    [
        hypermedia::free(),
        duplicate_people::free(),
        codes::free(),
        conditional::free(),
        idempotency::free(),
        batch::free(),
        feed::free(),
        webhooks::free(),
        deliveries::free(),
        merges::free(),
        merge_undo::free(),
        duplicates::free(),
    ]
    .concat()
}

/// Sets a member of an object.
pub(super) fn set(object: &mut Map<String, Value>, name: &str, value: impl Into<Value>) {
    object.insert(name.to_owned(), value.into());
}

/// Returns the links of a document.
pub(super) fn links(document: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    document.get_mut("_links").and_then(Value::as_object_mut)
}

/// Returns the members of a page.
pub(super) fn members(page: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
    let embedded = page.get_mut("_embedded").and_then(Value::as_object_mut)?;
    embedded.values_mut().find_map(Value::as_array_mut)
}

/// Adds to a number.
pub(super) fn add(object: &mut Map<String, Value>, name: &str, more: i64) {
    if let Some(number) = object.get(name).and_then(Value::as_i64) {
        set(object, name, number.saturating_add(more));
    }
}
