//! Dispatches a request. The checks are in this order: key, support, right, body, record.

use bytes::Bytes;
use http::{Method, Request};
use serde_json::{Map, Value};

use super::answer::{self, BodyProblem, ServerResponse};
use super::declare;
use super::handling::Sent;
use super::helper::HelperCaller;
use super::kinds::{self, KINDS, ServerKind, is_record_helper};
use super::options::{HrefStyle, ServerKey, ServerOptions};
use super::render::{self, RenderContext, is_helper_served, is_listed, is_served};
use super::store::{AllTenants, RecordNumber, TenantData};
use super::write::TenantWrite;

/// The target of an address.
#[derive(Debug, Clone, Copy)]
enum RouteTarget<'p> {
    Entry,
    Docs,
    Capabilities,
    All(&'static ServerKind),
    One(RecordNumber),
    Below(RecordNumber, &'p str),
    Helper(&'p str, Option<RecordNumber>),
}

/// Responds to one request.
pub(super) fn answer(
    options: &ServerOptions,
    tenants: &mut AllTenants,
    request: &Request<Bytes>,
) -> ServerResponse {
    tenants.requests = tenants.requests.saturating_add(1);
    let Ok(key) = key(options, request) else {
        return ServerResponse::empty(401);
    };
    let path = match options.hrefs {
        HrefStyle::InQuery => render::without_query(
            request.uri().path(),
            request.uri().query().unwrap_or_default(),
        ),
        _ => request.uri().path().to_owned(),
    };
    let Some(place) = place(options, &path) else {
        return answer::not_found(options, "error");
    };
    let method = if request.method() == Method::HEAD {
        &Method::GET
    } else {
        request.method()
    };
    match place {
        RouteTarget::Docs if method == Method::GET => {
            let page =
                "<!doctype html><title>Reference</title><p>The reference of this service.</p>"
                    .to_owned();
            return ServerResponse {
                status: 200,
                body: None,
                page: Some(("text/html; charset=utf-8", page)),
            };
        }
        RouteTarget::Capabilities if method == Method::GET => {
            let page = declare::document(options).to_string();
            return ServerResponse {
                status: 200,
                body: None,
                page: Some(("application/json", page)),
            };
        }
        RouteTarget::Entry if method == Method::GET => {
            let view = RenderContext {
                options,
                data: &TenantData::default(),
                turn: tenants.requests,
            };
            return view.entry_point();
        }
        _ => {}
    }
    let anonymous = match (key, place) {
        (None, RouteTarget::Helper(helper, _))
            if is_record_helper(helper) && options.anonymous_helpers =>
        {
            options.keys.first().map(|key| key.tenant.clone())
        }
        (None, _) => return ServerResponse::empty(401),
        (Some(_), _) => None,
    };
    let tenant = anonymous
        .or_else(|| key.map(|key| key.tenant.clone()))
        .unwrap_or_default();
    let mut data = tenants.all.remove(&tenant).unwrap_or_default();
    // Reads change nothing that must be rolled back.
    let before = (method != Method::GET).then(|| data.clone());
    let now = options.clock.now();
    let mut work = TenantWrite {
        options,
        data: &mut data,
        tenants,
        now,
    };
    let answer = work.serve(place, method, key, request);
    let is_whole = answer.status < 400 || is_partial(options, &answer);
    let kept = match before {
        Some(before) if !is_whole => before,
        _ => data,
    };
    tenants.all.insert(tenant, kept);
    answer
}

/// Returns whether this is the response of a helper request that succeeded partly.
fn is_partial(options: &ServerOptions, answer: &ServerResponse) -> bool {
    let error = answer
        .body
        .as_ref()
        .and_then(|body| body.get(options.rel("error")));
    error
        .and_then(|error| error.get("request_type"))
        .and_then(Value::as_str)
        == Some("non-atomic")
}

/// Returns the key of a request: none, a known one, or an error.
fn key<'o>(
    options: &'o ServerOptions,
    request: &Request<Bytes>,
) -> Result<Option<&'o ServerKey>, ()> {
    let Some(sent) = request.headers().get(options.key_header.as_str()) else {
        return Ok(None);
    };
    let known = options
        .keys
        .iter()
        .find(|key| key.token.as_bytes() == sent.as_bytes());
    known.map(Some).ok_or(())
}

/// Returns the target of a path.
fn place<'p>(options: &ServerOptions, path: &'p str) -> Option<RouteTarget<'p>> {
    let base = options.path();
    if path == base.trim_end_matches('/') {
        return Some(RouteTarget::Entry);
    }
    let below = path.strip_prefix(base)?;
    let below = match below.strip_prefix('~') {
        Some(changing) => changing.split_once('/')?.1,
        None => below,
    };
    let mut parts = below.trim_end_matches('/').split('/');
    let first = parts.next().unwrap_or_default();
    let second = parts.next();
    let third = parts.next();
    if parts.next().is_some() {
        return None;
    }
    Some(match (first, second, third) {
        ("", None, None) => RouteTarget::Entry,
        ("docs" | "about", Some("capabilities"), None) => RouteTarget::Capabilities,
        ("about", _, None) => RouteTarget::Docs,
        ("all", Some(many), None) => RouteTarget::All(
            KINDS
                .iter()
                .find(|kind| kind.many == many && is_listed(options, kind))?,
        ),
        ("r", Some(number), None) if !options.helpers_only => {
            RouteTarget::One(number.parse().ok()?)
        }
        ("r", Some(number), Some(name)) if !options.helpers_only => {
            RouteTarget::Below(number.parse().ok()?, name)
        }
        ("do", Some("person_signup"), None) if is_helper_served(options, "person_signup") => {
            RouteTarget::Helper("person_signup", None)
        }
        ("do", Some(helper), Some(number)) if is_helper_served(options, helper) => {
            RouteTarget::Helper(helper, Some(number.parse().ok()?))
        }
        _ => return None,
    })
}

fn may(key: Option<&ServerKey>, right: &str) -> bool {
    key.is_none_or(|key| key.only.is_empty() || key.only.iter().any(|one| one == right))
}

impl TenantWrite<'_> {
    fn serve(
        &mut self,
        place: RouteTarget<'_>,
        method: &Method,
        key: Option<&ServerKey>,
        request: &Request<Bytes>,
    ) -> ServerResponse {
        match place {
            RouteTarget::Entry | RouteTarget::Docs | RouteTarget::Capabilities => {
                answer::not_supported(self.options, "error")
            }
            RouteTarget::All(kind) => self.collection(kind, None, method, key, request),
            RouteTarget::Below(number, name) => {
                let below = self
                    .data
                    .records
                    .get(&number)
                    .and_then(|record| record.kind.below(name));
                let Some(below) = below.filter(|below| is_served(self.options, below.of)) else {
                    return self.missing(method);
                };
                let Some(kind) = kinds::kind(below.of) else {
                    return self.missing(method);
                };
                self.collection(kind, Some((number, name)), method, key, request)
            }
            RouteTarget::One(number) => self.one(number, method, key, request),
            RouteTarget::Helper(helper, container) => {
                self.helper(helper, container, method, key, request)
            }
        }
    }

    fn missing(&self, method: &Method) -> ServerResponse {
        if method == Method::GET && !self.options.not_found_bodies {
            return ServerResponse::empty(404);
        }
        answer::not_found(self.options, "error")
    }

    fn collection(
        &mut self,
        kind: &'static ServerKind,
        below: Option<(RecordNumber, &str)>,
        method: &Method,
        key: Option<&ServerKey>,
        request: &Request<Bytes>,
    ) -> ServerResponse {
        let container = below.and_then(|(number, _)| self.data.records.get(&number));
        // Only its container accepts a new action; its other collections do not.
        let is_home = match (kind.container, container) {
            (Some(home), Some(container)) => home == container.kind.one,
            (None, None) => true,
            _ => false,
        };
        let operation = match *method {
            Method::GET => "list",
            Method::POST
                if is_home
                    && kind.can("create")
                    && !self.options.read_only
                    && !self.options.helpers_only =>
            {
                "create"
            }
            _ => return answer::not_supported(self.options, kind.one),
        };
        if !may(key, &format!("{}.{operation}", kind.many)) {
            return ServerResponse::empty(403);
        }
        if operation == "create" {
            return match body(self.options, kind.one, request) {
                Ok(Some(body)) => {
                    let sent = Sent {
                        kind,
                        helper: None,
                        body: &body,
                        headers: request.headers(),
                        has_key: key.is_some(),
                    };
                    self.handled(sent, |work| {
                        work.create(kind, &body, below.map(|(number, _)| number))
                    })
                }
                Ok(None) => {
                    let problem =
                        BodyProblem::new("BODY_NEEDED", "The fields must be in a body.", &[]);
                    answer::refused(self.options, 400, kind.one, vec![problem])
                }
                Err(refused) => refused,
            };
        }
        let query = request.uri().query().unwrap_or_default();
        let parameter = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value.parse::<usize>().ok())
        };
        let (page, size) = match (parameter("page"), parameter("per_page")) {
            (Some(None | Some(0)), _) | (_, Some(None | Some(0))) => {
                let problem =
                    BodyProblem::new("NO_SUCH_PAGE", "Page numbers start at 1.", &["page"]);
                return answer::refused(self.options, 400, kind.one, vec![problem]);
            }
            (page, size) => (page.flatten().unwrap_or(1), size.flatten()),
        };
        let view = self.view();
        match below {
            None => view.page(
                kind,
                &format!("all/{}", kind.many),
                &self.data.all(kind),
                page,
                size,
            ),
            Some((number, name)) => {
                let found = self
                    .data
                    .records
                    .get(&number)
                    .and_then(|record| record.kind.below(name));
                let members = found
                    .map(|below| self.data.below(number, below))
                    .unwrap_or_default();
                view.page(kind, &format!("r/{number}/{name}"), &members, page, size)
            }
        }
    }

    fn one(
        &mut self,
        number: RecordNumber,
        method: &Method,
        key: Option<&ServerKey>,
        request: &Request<Bytes>,
    ) -> ServerResponse {
        let served = |one: &str| is_served(self.options, one);
        let Some(kind) = self
            .data
            .records
            .get(&number)
            .map(|record| record.kind)
            .filter(|kind| served(kind.one))
        else {
            return self.missing(method);
        };
        let operation = match *method {
            Method::GET => "read",
            Method::PUT => "update",
            Method::DELETE => "delete",
            _ => return answer::not_supported(self.options, kind.one),
        };
        if !kind.can(operation) || (self.options.read_only && operation != "read") {
            return answer::not_supported(self.options, kind.one);
        }
        if !may(key, &format!("{}.{operation}", kind.many)) {
            return ServerResponse::empty(403);
        }
        match operation {
            "read" => ServerResponse::json(200, self.shown(number)),
            "delete" => self.delete(number),
            _ => match body(self.options, kind.one, request) {
                Ok(body) => {
                    let body = body.unwrap_or_default();
                    let sent = Sent {
                        kind,
                        helper: None,
                        body: &body,
                        headers: request.headers(),
                        has_key: key.is_some(),
                    };
                    self.handled(sent, |work| work.update(number, &body))
                }
                Err(refused) => refused,
            },
        }
    }

    fn helper(
        &mut self,
        helper: &str,
        container: Option<RecordNumber>,
        method: &Method,
        key: Option<&ServerKey>,
        request: &Request<Bytes>,
    ) -> ServerResponse {
        let resource = match helper {
            "person_signup" => "person",
            "schedule" => "message",
            other => kinds::made_by(other).map_or("error", |kind| kind.one),
        };
        let is_cancel = helper == "schedule" && method == Method::DELETE;
        if method != Method::POST && !is_cancel {
            return answer::not_supported(self.options, resource);
        }
        if !may(key, &format!("helper.{helper}")) {
            return ServerResponse::empty(403);
        }
        if let Some(number) = container {
            let has_it = self
                .data
                .records
                .get(&number)
                .is_some_and(|record| record.kind.helper == Some(helper));
            if !has_it {
                return answer::not_found(self.options, resource);
            }
        }
        let sent = match body(self.options, resource, request) {
            Ok(sent) => sent.unwrap_or_default(),
            Err(refused) => return refused,
        };
        if let ("schedule", Some(message)) = (helper, container) {
            return self.schedule(message, (!is_cancel).then_some(&sent));
        }
        let caller = HelperCaller {
            has_key: key.is_some(),
            reads: may(key, "people.read"),
        };
        let Some(kind) = kinds::kind(resource) else {
            return answer::not_supported(self.options, resource);
        };
        let call = Sent {
            kind,
            helper: Some(helper),
            body: &sent,
            headers: request.headers(),
            has_key: caller.has_key,
        };
        self.handled(call, |work| work.help(helper, container, &sent, caller))
    }
}

/// Returns the object in a request's body, if it has a body.
fn body(
    options: &ServerOptions,
    resource: &str,
    request: &Request<Bytes>,
) -> Result<Option<Map<String, Value>>, ServerResponse> {
    if request.body().is_empty() {
        return Ok(None);
    }
    if let Ok(Value::Object(object)) = serde_json::from_slice(request.body()) {
        return Ok(Some(object));
    }
    let problem = BodyProblem::new("NO_JSON_OBJECT", "The body must be a JSON object.", &[]);
    Err(answer::refused(options, 400, resource, vec![problem]))
}
