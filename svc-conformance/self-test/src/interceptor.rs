//! One change to the messages between a client and a server.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use super::link_map::{LinkMap, ResourceKind};
use super::transport::{BoxFuture, BufferedRequest, BufferedResponse, Transport};

type Before = Box<dyn FnMut(&mut BufferedRequest, &LinkMap) -> Option<BufferedResponse> + Send>;
type After = Box<dyn FnMut(&BufferedRequest, &mut BufferedResponse, &LinkMap) + Send>;
type Around =
    Arc<dyn Fn(BufferedRequest, InterceptedServer) -> BoxFuture<BufferedResponse> + Send + Sync>;

/// A change to requests, to responses, or to the whole exchange. It can have state.
#[derive(Default)]
pub struct Interceptor {
    before: Option<Before>,
    after: Option<After>,
    around: Option<Around>,
}

impl fmt::Debug for Interceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interceptor")
    }
}

/// The server that a change is applied to, with its known addresses.
#[derive(Debug, Clone)]
pub struct InterceptedServer {
    wire: Transport,
    sight: Arc<Mutex<LinkMap>>,
    answers: Arc<Mutex<HashMap<String, BufferedResponse>>>,
}

impl InterceptedServer {
    /// Forwards one request.
    pub async fn send(&self, call: BufferedRequest) -> BufferedResponse {
        let answer = self.wire.send(call.clone()).await;
        self.with(|sight| sight.learn(&call, &answer));
        answer
    }

    /// Returns the target of a request.
    #[must_use]
    pub fn what(&self, call: &BufferedRequest) -> Option<ResourceKind> {
        self.with(|sight| sight.what(call))
    }

    /// Returns a relation name with the prefix.
    #[must_use]
    pub fn rel(&self, name: &str) -> String {
        self.with(|sight| sight.rel(name))
    }

    /// Returns the address of a known record of a kind, or an empty text.
    #[must_use]
    pub fn known(&self, kind: &'static str) -> String {
        self.with(|sight| sight.place(ResourceKind::Record(kind)).unwrap_or_default())
    }

    /// Returns the address of the helper that creates a kind.
    #[must_use]
    pub fn helper(&self, kind: &'static str) -> Option<String> {
        self.with(|sight| sight.place(ResourceKind::Helper(kind)))
    }

    /// Returns the address of a collection of a kind.
    #[must_use]
    pub fn collection(&self, kind: &'static str) -> Option<String> {
        self.with(|sight| sight.place(ResourceKind::Collection(kind)))
    }

    /// Returns a response that a fault has stored.
    #[must_use]
    pub fn remembered(&self, name: &str) -> Option<BufferedResponse> {
        self.answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .cloned()
    }

    /// Stores a response under a name.
    pub fn remember(&self, name: String, answer: &BufferedResponse) {
        self.answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name, answer.clone());
    }

    fn with<T>(&self, look: impl FnOnce(&mut LinkMap) -> T) -> T {
        look(&mut self.sight.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Calls a function with every error object of a document: its own one and those of the results in
/// it. The document can be a single result.
fn each_error(
    document: &mut Map<String, Value>,
    name: &str,
    act: &mut dyn FnMut(&mut Map<String, Value>),
) {
    if let Some(Value::Object(error)) = document.get_mut(name) {
        act(error);
    }
    if let Some(Value::Object(body)) = document.get_mut("body") {
        each_error(body, name, act);
    }
    for result in document
        .get_mut("results")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Some(result) = result.as_object_mut() {
            each_error(result, name, act);
        }
    }
}

/// Parses a body with one JSON value per line.
fn lines(body: &[u8]) -> Option<Vec<Value>> {
    let lines = body
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).ok())
        .collect()
}

impl Interceptor {
    /// Creates a change of requests, which can also respond to them.
    pub fn before(
        act: impl FnMut(&mut BufferedRequest, &LinkMap) -> Option<BufferedResponse> + Send + 'static,
    ) -> Self {
        Self {
            before: Some(Box::new(act)),
            ..Self::default()
        }
    }

    /// Creates a change of responses.
    pub fn after(
        act: impl FnMut(&BufferedRequest, &mut BufferedResponse, &LinkMap) + Send + 'static,
    ) -> Self {
        Self {
            after: Some(Box::new(act)),
            ..Self::default()
        }
    }

    /// Creates a change of the whole exchange.
    pub fn around(
        act: impl Fn(BufferedRequest, InterceptedServer) -> BoxFuture<BufferedResponse>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            around: Some(Arc::new(act)),
            ..Self::default()
        }
    }

    /// Adds a change of responses.
    #[must_use]
    pub fn and_after(
        mut self,
        act: impl FnMut(&BufferedRequest, &mut BufferedResponse, &LinkMap) + Send + 'static,
    ) -> Self {
        self.after = Some(Box::new(act));
        self
    }

    /// Adds the changes of another interceptor to requests or responses that this one does not
    /// change.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        Self {
            before: self.before.or(other.before),
            after: self.after.or(other.after),
            around: self.around.or(other.around),
        }
    }

    /// Creates a change of the HAL documents in responses.
    pub fn documents(
        mut act: impl FnMut(&BufferedRequest, &mut Map<String, Value>, u16, &LinkMap) + Send + 'static,
    ) -> Self {
        Self::after(move |call, answer, sight| {
            let status = answer.status;
            answer.edit(|document| act(call, document, status, sight));
        })
    }

    /// Creates a change of every record of a kind, in every response; `*` is every kind.
    pub fn records(
        wanted: &'static str,
        mut act: impl FnMut(&mut Map<String, Value>, &LinkMap) + Send + 'static,
    ) -> Self {
        Self::documents(move |call, document, _, sight| {
            sight.each_record(call, document, &mut |kind, record| {
                if wanted == "*" || wanted == kind {
                    act(record, sight);
                }
            });
        })
    }

    /// Creates a change of records in responses that contain only them.
    pub fn alone(
        wanted: &'static str,
        mut act: impl FnMut(&BufferedRequest, &mut Map<String, Value>, &LinkMap) + Send + 'static,
    ) -> Self {
        Self::documents(move |call, document, status, sight| {
            if status >= 300 || document.contains_key("_embedded") {
                return;
            }
            sight.each_record(call, document, &mut |kind, record| {
                if wanted == "*" || wanted == kind {
                    act(call, record, sight);
                }
            });
        })
    }

    /// Creates a change of the entry point.
    pub fn entry(mut act: impl FnMut(&mut Map<String, Value>, &LinkMap) + Send + 'static) -> Self {
        Self::documents(move |call, document, status, sight| {
            if status == 200 && sight.what(call) == Some(ResourceKind::Entry) {
                act(document, sight);
            }
        })
    }

    /// Creates a change of the pages of collections.
    pub fn pages(
        mut act: impl FnMut(&BufferedRequest, &mut Map<String, Value>, &LinkMap) + Send + 'static,
    ) -> Self {
        Self::documents(move |call, document, status, sight| {
            if status == 200 && document.contains_key("_embedded") {
                act(call, document, sight);
            }
        })
    }

    /// Creates a change of error objects, including those of batch entries: each entry is answered
    /// like a single request.
    pub fn errors(mut act: impl FnMut(&mut Map<String, Value>, &LinkMap) + Send + 'static) -> Self {
        Self::after(move |_, answer, sight| {
            let name = sight.rel("error");
            let mut change = |document: &mut Map<String, Value>| {
                each_error(document, &name, &mut |error| act(error, sight));
            };
            if answer.is_hal() {
                answer.edit(change);
            } else if let Some(mut lines) = lines(&answer.body) {
                let before = lines.clone();
                lines
                    .iter_mut()
                    .filter_map(Value::as_object_mut)
                    .for_each(&mut change);
                if lines != before {
                    answer.body = lines
                        .iter()
                        .map(|line| line.to_string() + "\n")
                        .collect::<String>()
                        .into();
                    answer.headers.remove(http::header::CONTENT_LENGTH);
                }
            }
        })
    }

    /// Creates a change of the entries of error objects.
    pub fn entries(
        mut act: impl FnMut(&mut Map<String, Value>, &LinkMap) + Send + 'static,
    ) -> Self {
        Self::errors(move |error, sight| {
            for entry in error
                .get_mut("resource_status")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                if let Some(entry) = entry.as_object_mut() {
                    act(entry, sight);
                }
            }
        })
    }

    /// Creates a change of the descriptions in error objects.
    pub fn descriptions(
        mut act: impl FnMut(&mut Map<String, Value>, &LinkMap) + Send + 'static,
    ) -> Self {
        Self::entries(move |entry, sight| {
            for list in ["error_descriptions", "errors"] {
                for one in entry
                    .get_mut(list)
                    .and_then(Value::as_array_mut)
                    .into_iter()
                    .flatten()
                {
                    if let Some(one) = one.as_object_mut() {
                        act(one, sight);
                    }
                }
            }
        })
    }

    /// Creates a change of the bodies of requests to targets of a kind.
    pub fn sent(
        mut act: impl FnMut(&BufferedRequest, Option<ResourceKind>, &mut Map<String, Value>, &LinkMap)
        + Send
        + 'static,
    ) -> Self {
        Self::before(move |call, sight| {
            let mut body = call.json()?;
            let before = body.clone();
            act(call, sight.what(call), &mut body, sight);
            if body != before {
                call.set_json(body);
            }
            None
        })
    }

    /// Returns the server with this change.
    #[must_use]
    pub fn over(self, wire: Transport, prefix: &str, base: &str) -> Transport {
        let server = InterceptedServer {
            wire,
            sight: Arc::new(Mutex::new(LinkMap::new(prefix, base))),
            answers: Arc::default(),
        };
        let around = self.around.clone();
        let changes = Arc::new(Mutex::new(self));
        Transport::new(move |mut call| {
            let (server, changes, around) = (server.clone(), changes.clone(), around.clone());
            Box::pin(async move {
                let lock = || changes.lock().unwrap_or_else(PoisonError::into_inner);
                let own = lock()
                    .before
                    .as_mut()
                    .and_then(|act| server.with(|sight| act(&mut call, sight)));
                let mut answer = match (own, around) {
                    (Some(answer), _) => answer,
                    (None, Some(around)) => around(call.clone(), server.clone()).await,
                    (None, None) => server.send(call.clone()).await,
                };
                if let Some(act) = lock().after.as_mut() {
                    server.with(|sight| act(&call, &mut answer, sight));
                }
                answer
            })
        })
    }
}
