//! The page *Import*: a user drops a table of people, corrects what its columns contain, and imports it. The rows
//! are sent to the API of this server with the key of the user, so that its rules apply.
//!
//! Files are stored without names until the import is deleted, at the latest 30 minutes after it was last used.

mod job;
mod run;
mod table;

use std::convert::Infallible;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, REFERRER_POLICY, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Limited};
use serde_json::{Value, json};
use svc_core::api::Api;
use svc_core::auth::{Credentials, Right};
use svc_core::helper::HelperName;
use svc_core::link::Target;
use svc_core::value::Timestamp;
use svc_import::Member;
use svc_tower::ResponseBody;
use tokio::sync::Semaphore;
use tower_service::Service;
use uuid::Uuid;

use self::job::{ImportJob, ImportOwner, Imports, JobPhase, PartError, TooMany};
use self::table::ImportChoice;
use super::database::DemoStore;
use super::import::MAX_PREVIEW;
use super::monitor::MonitoredService;

/// The path of the page.
pub(super) const PATH: &str = "/import/";
/// The maximum size of a file.
const MAX_FILE: u64 = 256 * 1024 * 1024;
/// The maximum size of the body of a request. Files are sent in parts of this size.
const MAX_BODY: usize = 1024 * 1024;
/// The maximum number of bodies that are read at the same time.
const MAX_BODIES: usize = 8;
/// The seconds after which a rejected user can try again.
const RETRY_SECONDS: u64 = 60;
/// Bytes of a report in one part of a response.
const PART: u64 = 64 * 1024;

const HTML: &str = "text/html; charset=utf-8";
/// The policy of the page, as that of the explorer.
const POLICY: &str =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Files of the documentation that the page uses.
const SHARED_FILES: [&str; 2] = ["explorer.css", "icon.svg"];
/// Scripts of the documentation that the script of the page imports.
const SHARED_SCRIPTS: [&str; 4] = ["dom.js", "key.js", "save.js", "server.js"];

/// Returns whether the page is part of the server: it needs a path next to those of the API, and batches of the
/// person signup helper.
pub(super) fn is_offered(api: &Api) -> bool {
    let mount = mount(api);
    let is_next_to_it = mount != "/" && !mount.starts_with(PATH);
    is_next_to_it
        && api
            .helpers()
            .any(|helper| helper == HelperName::PersonSignup)
}

/// Returns the path of the API, with a slash at the end.
fn mount(api: &Api) -> String {
    let path = api.base_url().as_str().splitn(4, '/').nth(3);
    match path.unwrap_or_default().trim_end_matches('/') {
        "" => "/".to_owned(),
        path => format!("/{path}/"),
    }
}

/// The page, and the imports of its users. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct ImportPage {
    imports: Arc<Imports>,
    store: DemoStore,
    key_header: HeaderName,
    /// The entry point of this server, as it is reached on this computer.
    entry_point: Arc<str>,
    html: Bytes,
    script: Bytes,
    bodies: Arc<Semaphore>,
}

impl ImportPage {
    /// Returns the page of an API that this process serves at an address, if the server has one.
    pub(super) fn of(api: &Api, store: &DemoStore, address: SocketAddr) -> Option<Self> {
        if !is_offered(api) {
            return None;
        }
        let ip = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let here = SocketAddr::new(ip, address.port());
        Some(Self {
            imports: Imports::new(),
            store: store.clone(),
            key_header: api.dialect().key_header().clone(),
            entry_point: format!("http://{here}{}", mount(api)).into(),
            html: html(api).into(),
            script: script(api).into(),
            bodies: Arc::new(Semaphore::new(MAX_BODIES)),
        })
    }

    /// Stops all imports, and deletes their files.
    pub(super) fn stop(&self) {
        self.imports.stop();
    }

    /// Returns the response to a request for the page, or with its imports.
    async fn answer<B>(self, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body + Send,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        let is_head = head.method == Method::HEAD;
        let answered = match self.file(&head) {
            Some(response) => response,
            // The key is checked before the body is read.
            None => match self.owner(&head).await {
                Ok((owner, key)) => match self.body(&head, body).await {
                    Ok(body) => self.call(&head, &owner, key, &body).await,
                    Err(rejection) => Err(rejection),
                },
                Err(rejection) => Err(rejection),
            },
        };
        let mut response = answered.unwrap_or_else(Rejection::response);
        let headers = response.headers_mut();
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if !headers.contains_key(CACHE_CONTROL) {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
        if is_head {
            *response.body_mut() = ResponseBody::default();
        }
        response
    }

    /// Returns the page or a file that it uses.
    fn file(&self, head: &Parts) -> Option<Result<Response<ResponseBody>, Rejection>> {
        let (media, content) = match head.uri.path() {
            "/import" | PATH => (HTML, self.html.clone()),
            "/import/import.js" => ("text/javascript; charset=utf-8", self.script.clone()),
            "/import/import.css" => (
                "text/css; charset=utf-8",
                Bytes::from_static(include_bytes!("import.css")),
            ),
            _ => return None,
        };
        if !matches!(head.method, Method::GET | Method::HEAD) {
            return Some(Err(Rejection::method("GET")));
        }
        let mut response = Response::new(ResponseBody::from(content));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if media == HTML {
            headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
            headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        }
        Some(Ok(response))
    }

    /// Returns whose imports a request is about, and the key.
    async fn owner(&self, head: &Parts) -> Result<(ImportOwner, HeaderValue), Rejection> {
        let mut keys = head.headers.get_all(&self.key_header).iter();
        let invalid = || {
            Rejection::new(
                StatusCode::UNAUTHORIZED,
                "The server does not know this API key.",
            )
        };
        let (Some(key), None) = (keys.next(), keys.next()) else {
            return Err(Rejection::new(
                StatusCode::UNAUTHORIZED,
                "Enter your API key.",
            ));
        };
        let text = key.to_str().map_err(|_| invalid())?;
        let now = Timestamp::now();
        let credentials = Credentials::new(Some(text), &head.headers, &head.extensions, now);
        let principal = self.store.authenticate(credentials).await;
        let principal = principal.map_err(|_| Rejection::busy("The server is not available."))?;
        let principal = principal.ok_or_else(invalid)?;
        if !principal
            .caller
            .has_right(Right::Helper(HelperName::PersonSignup))
        {
            return Err(Rejection::new(
                StatusCode::FORBIDDEN,
                "This API key may not import people. Ask for a key with the right helper.person_signup.",
            ));
        }
        let mut key = key.clone();
        key.set_sensitive(true);
        Ok((ImportOwner::new(&principal), key))
    }

    /// Reads the body of a request.
    async fn body<B>(&self, head: &Parts, body: B) -> Result<Bytes, Rejection>
    where
        B: Body + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if matches!(head.method, Method::GET | Method::HEAD) {
            return Ok(Bytes::new());
        }
        let _permit = self.bodies.acquire().await;
        let whole = Limited::new(body, MAX_BODY).collect().await;
        let whole = whole.map_err(|error| {
            if error.is::<http_body_util::LengthLimitError>() {
                let text = "The body of a request must be at most 1 MiB.";
                return Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, text);
            }
            Rejection::new(
                StatusCode::BAD_REQUEST,
                "The request did not arrive completely.",
            )
        })?;
        Ok(whole.to_bytes())
    }

    /// Returns the response to a request with the imports of a key.
    async fn call(
        &self,
        head: &Parts,
        owner: &ImportOwner,
        key: HeaderValue,
        body: &Bytes,
    ) -> Result<Response<ResponseBody>, Rejection> {
        let path = head.uri.path().strip_prefix("/import/files");
        let missing = || Rejection::new(StatusCode::NOT_FOUND, "There is no such import.");
        let parts: Vec<&str> = path.ok_or_else(missing)?.split('/').skip(1).collect();
        let (id, action) = match parts.as_slice() {
            [] => return self.collection(&head.method, owner, body),
            [id] => (id, ""),
            [id, action] => (id, *action),
            _ => return Err(missing()),
        };
        let id = Uuid::parse_str(id).map_err(|_| missing())?;
        let job = self.imports.find(owner, Some(id)).ok_or_else(missing)?;
        match (action, &head.method) {
            ("", &Method::GET) => Ok(document(StatusCode::OK, &job.view())),
            ("", &Method::DELETE) => {
                self.imports.remove(id);
                Ok(document(StatusCode::OK, &json!({ "import": null })))
            }
            ("parts", &Method::POST) => self.receive(job, head, body.clone()).await,
            ("run", &Method::POST) => self.run(job, key, body, false),
            ("preview", &Method::POST) => self.run(job, key, body, true),
            ("stop", &Method::POST) => {
                job.stop();
                Ok(document(StatusCode::ACCEPTED, &job.view()))
            }
            ("rejected" | "incomplete", &Method::GET) => {
                let state = job.state();
                let report = match action {
                    "rejected" => state.reports.rejected.clone(),
                    _ => state.reports.incomplete.clone(),
                };
                let is_complete = matches!(state.phase, JobPhase::Ended(_));
                report
                    .filter(|_| is_complete)
                    .and_then(download)
                    .ok_or_else(missing)
            }
            ("", _) => Err(Rejection::method("GET, DELETE")),
            ("parts" | "run" | "preview" | "stop", _) => Err(Rejection::method("POST")),
            ("rejected" | "incomplete", _) => Err(Rejection::method("GET")),
            _ => Err(missing()),
        }
    }

    /// Returns the import of a key, or begins one.
    fn collection(
        &self,
        method: &Method,
        owner: &ImportOwner,
        body: &Bytes,
    ) -> Result<Response<ResponseBody>, Rejection> {
        if *method == Method::GET {
            let job = self.imports.find(owner, None);
            let view = job.map_or(Value::Null, |job| job.view());
            return Ok(document(StatusCode::OK, &json!({ "import": view })));
        }
        if *method != Method::POST {
            return Err(Rejection::method("GET, POST"));
        }
        let size = serde_json::from_slice::<Value>(body).ok();
        let size = size.and_then(|body| body.get("size")?.as_u64());
        let size = size.filter(|size| *size > 0).ok_or_else(|| {
            let text = "The file is empty. Choose a file with a table.";
            Rejection::new(StatusCode::BAD_REQUEST, text)
        })?;
        if size > MAX_FILE {
            return Err(too_large());
        }
        let begun = self.imports.begin(owner.clone(), size);
        match begun.map_err(|_| Rejection::busy("The server cannot store the file."))? {
            Ok(job) => Ok(document(StatusCode::CREATED, &job.view())),
            Err(TooMany::OfKey) => {
                let text = "Another import with this API key has not ended. Reload this page to see it. Wait until it ends, or discard it.";
                let mut rejection = Rejection::busy(text);
                rejection.status = StatusCode::TOO_MANY_REQUESTS;
                Err(rejection)
            }
            Err(TooMany::OfServer) => Err(Rejection::busy(
                "Other people are importing tables. Try again in a few minutes.",
            )),
        }
    }

    /// Stores a part of a file. After the last one, the table is read.
    async fn receive(
        &self,
        job: Arc<ImportJob>,
        head: &Parts,
        part: Bytes,
    ) -> Result<Response<ResponseBody>, Rejection> {
        let at = head.uri.query().and_then(|query| query.strip_prefix("at="));
        let at = at.and_then(|at| at.parse().ok());
        let at: u64 = at.ok_or_else(|| {
            let text = "A part needs its position, such as `?at=0`.";
            Rejection::new(StatusCode::BAD_REQUEST, text)
        })?;
        let writer = Arc::clone(&job);
        let received = tokio::task::spawn_blocking(move || writer.receive(at, &part)).await;
        match received {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(file))) => {
                tokio::spawn(run::read(self.clone(), Arc::clone(&job), file));
            }
            Ok(Err(PartError::TooLarge)) => return Err(too_large()),
            Ok(Err(PartError::Misplaced)) => {
                let text = "The parts of the file did not arrive in order. Choose the file again.";
                return Err(Rejection::new(StatusCode::CONFLICT, text));
            }
            Ok(Err(PartError::Io(error))) => {
                tracing::warn!(%error, "a file for an import cannot be stored");
                return Err(Rejection::busy("The server cannot store the file."));
            }
            Err(_) => return Err(Rejection::busy("The server cannot store the file.")),
        }
        Ok(document(StatusCode::OK, &job.view()))
    }

    /// Starts to send the rows, or continues after an interruption.
    fn run(
        &self,
        job: Arc<ImportJob>,
        key: HeaderValue,
        body: &Bytes,
        is_preview: bool,
    ) -> Result<Response<ResponseBody>, Rejection> {
        let wrong = |text: &str| Rejection::new(StatusCode::BAD_REQUEST, text);
        let has_room = self.imports.has_room();
        let mut state = job.state();
        let has_ended = matches!(state.phase, JobPhase::Ended(_));
        let can_run = state.can_run();
        let Some(table) = state.table.as_mut().filter(|_| can_run) else {
            return Err(Rejection::new(
                StatusCode::CONFLICT,
                "The import cannot start now. Reload the page.",
            ));
        };
        // An import that continues has its choice.
        let choice = if body.is_empty() {
            table.choice.clone()
        } else {
            let columns = table.table.head().len();
            let choice = ImportChoice::from_json(body, columns);
            choice.ok_or_else(|| wrong("The choice of columns cannot be read."))?
        };
        let mapping = table.mapping(&choice).map_err(|why| wrong(&why))?;
        table.choice = choice.clone();
        if is_preview && (has_ended || table.overview.total() > MAX_PREVIEW) {
            return Err(wrong("This table has too many rows for a preview."));
        }
        if has_ended && !has_room {
            return Err(Rejection::busy(
                "Other people are importing tables. Try again in a few minutes.",
            ));
        }
        // Within the same lock, so that no other request starts it too.
        let stops = job.stops();
        state.phase = JobPhase::Reading;
        drop(state);
        let view = job.view();
        let run = run::ImportRun {
            page: self.clone(),
            stops,
            job,
            choice,
            mapping,
            key,
            is_preview,
        };
        tokio::spawn(run.execute());
        Ok(document(StatusCode::ACCEPTED, &view))
    }
}

fn too_large() -> Rejection {
    Rejection::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "The file is larger than 256 MB. Divide the table into several files, and import one after the other.",
    )
}

/// Returns a JSON document.
fn document(status: StatusCode, document: &Value) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::from(document.to_string()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// Returns a report, which is read while the client receives it.
fn download(report: Arc<Mutex<File>>) -> Option<Response<ResponseBody>> {
    let length = report
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .metadata()
        .ok()?
        .len();
    let body = ResponseBody::unfold(0_u64, move |position| {
        let report = Arc::clone(&report);
        let size = length.saturating_sub(position).min(PART);
        async move {
            let part = tokio::task::spawn_blocking(move || read_part(&report, position, size));
            let part = part.await.ok()?.ok().filter(|part| !part.is_empty())?;
            let read = u64::try_from(part.len()).unwrap_or(u64::MAX);
            Some((Bytes::from(part), position.saturating_add(read)))
        }
    });
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_LENGTH, length.into());
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/csv; charset=utf-8"),
    );
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    Some(response)
}

fn read_part(report: &Mutex<File>, position: u64, size: u64) -> io::Result<Vec<u8>> {
    let mut file = report.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(position))?;
    let mut part = Vec::new();
    (&mut *file).take(size).read_to_end(&mut part)?;
    Ok(part)
}

/// Why a request is not executed, for the user.
#[derive(Debug)]
struct Rejection {
    status: StatusCode,
    text: String,
    retry: bool,
    allow: Option<&'static str>,
}

impl Rejection {
    fn new(status: StatusCode, text: &str) -> Self {
        Self {
            status,
            text: text.to_owned(),
            retry: false,
            allow: None,
        }
    }

    fn busy(text: &str) -> Self {
        Self {
            retry: true,
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
        }
    }

    fn method(allow: &'static str) -> Self {
        let text = format!("The method must be one of {allow}.");
        Self {
            allow: Some(allow),
            ..Self::new(StatusCode::METHOD_NOT_ALLOWED, &text)
        }
    }

    fn response(self) -> Response<ResponseBody> {
        let mut response = document(self.status, &json!({ "problem": self.text }));
        let headers = response.headers_mut();
        if self.retry {
            headers.insert(RETRY_AFTER, RETRY_SECONDS.into());
        }
        if let Some(allow) = self.allow {
            headers.insert(ALLOW, HeaderValue::from_static(allow));
        }
        // The body of the request may not have been read.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        response
    }
}

/// Returns the page. Its attributes and its list of members contain what the script needs.
fn html(api: &Api) -> String {
    let title = format!("Import – {}", api.vendor().product_name());
    let mut members = String::new();
    for group in Member::choices() {
        let _ = write!(members, "<optgroup label=\"{}\">", escaped(group.title));
        for member in &group.members {
            let (value, title) = (member.to_string(), member.title());
            let (value, title) = (escaped(&value), escaped(&title));
            let _ = write!(members, "<option value=\"{value}\">{title}</option>");
        }
        members.push_str("</optgroup>");
    }
    let values = [
        ("{title}", escaped(&title)),
        ("{base}", escaped(api.base_url().as_str())),
        ("{docs}", escaped(&path_of(api, &Target::Docs))),
        (
            "{explorer}",
            escaped(&path_of(api, &Target::Explorer("".into()))),
        ),
        ("{header}", escaped(&api.dialect().key_header_text())),
        ("{members}", members),
    ];
    let mut page = include_str!("page.html").to_owned();
    for (name, value) in values {
        page = page.replace(name, &value);
    }
    for name in SHARED_FILES {
        page = page.replace(&format!("{{{name}}}"), &escaped(&shared(api, name)));
    }
    page
}

/// Returns the path of a target of the API.
fn path_of(api: &Api, target: &Target) -> String {
    let url = api.url(api.base_url(), target);
    format!("/{}", url.splitn(4, '/').nth(3).unwrap_or_default())
}

/// Returns the path of a file of the documentation.
fn shared(api: &Api, name: &str) -> String {
    let target = svc_docs::Docs::file(name);
    let target = target.unwrap_or_else(|| Target::Explorer(name.to_owned().into()));
    path_of(api, &target)
}

/// Returns the script, which imports files of the explorer.
fn script(api: &Api) -> String {
    let mut script = include_str!("import.js").to_owned();
    for name in SHARED_SCRIPTS {
        let path = shared(api, name);
        script = script.replace(&format!("\"./{name}\""), &format!("\"{path}\""));
    }
    script
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

/// The service, and the page next to it.
#[derive(Debug, Clone)]
pub(super) struct ImportPageService {
    service: MonitoredService,
    page: Option<ImportPage>,
}

impl ImportPageService {
    pub(super) fn new(service: MonitoredService, page: Option<ImportPage>) -> Self {
        Self { service, page }
    }
}

impl<B> Service<Request<B>> for ImportPageService
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let path = request.uri().path();
        let is_page = path == "/import" || path.starts_with(PATH);
        match &self.page {
            Some(page) if is_page => {
                let page = page.clone();
                Box::pin(async move { Ok(page.answer(request).await) })
            }
            _ => self.service.call(request),
        }
    }
}
