//! The server whose records are exported.

use std::fmt;
use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderName, HeaderValue, Request, StatusCode, Uri};
use serde_json::Value;
use svc_core::json::{Json, Object};
use svc_core::model::Kind;
use svc_import::error_text;
use tokio::sync::Mutex;

use super::spool::PendingPage;
use crate::demo::StartupError;
use crate::demo::remote::{ReusedConnection, document, link, reachable};

/// The maximum number of attempts while the server is busy, and the longest pause between them in seconds.
const TRIES: u32 = 6;
const MAX_PAUSE: u64 = 60;

/// A server, and how it is read.
#[derive(Debug)]
pub(super) struct ExportSource {
    entry_point: String,
    /// The entry point.
    start: Value,
    key_header: HeaderName,
    key: HeaderValue,
    connection: Mutex<ReusedConnection>,
}

/// What the server returns for a URL.
#[derive(Debug)]
pub(super) enum Reply {
    Document(Object),
    Rejected(Rejection),
}

/// A response that another request would not change.
#[derive(Debug)]
pub(super) struct Rejection {
    status: StatusCode,
    why: String,
}

impl Rejection {
    /// Whether the key is wrong, or has too few rights.
    pub(super) fn is_about_key(&self) -> bool {
        matches!(
            self.status,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
        )
    }

    /// Whether there is no such record.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self.status, StatusCode::NOT_FOUND | StatusCode::GONE)
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}. {}", self.status, self.why)
    }
}

impl ExportSource {
    /// Reads the entry point and the capability document of a server.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not return them.
    pub(super) async fn find(entry_point: &str, key: HeaderValue) -> Result<Self, StartupError> {
        let failed = |why: String| {
            StartupError::new(
                format!("The server at {entry_point} cannot be used: {why}."),
                entry_point,
                "Set --url to the entry point of a running server, such as http://localhost:8080/api/v1/.",
            )
        };
        let read = async |url: &str| document(Request::get(url)).await.map_err(&failed);
        let start = read(entry_point).await?;
        let about = start
            .get("_links")
            .and_then(|links| link(links, |name| name == "service-meta"));
        let about = about.ok_or_else(|| failed("the URL is not an entry point".to_owned()))?;
        let about = read(&reachable(entry_point, about)).await?;
        let header = about.pointer("/dialect/key_header").and_then(Value::as_str);
        let key_header = header
            .and_then(|name| name.parse().ok())
            .ok_or_else(|| failed("its capability document cannot be read".to_owned()))?;
        Ok(Self {
            entry_point: entry_point.to_owned(),
            start,
            key_header,
            key,
            connection: Mutex::default(),
        })
    }

    /// Returns the system name of the identifiers that the server assigns.
    pub(super) fn namespace(&self) -> Option<&str> {
        self.start.get("namespace")?.as_str()
    }

    /// Returns the first page from which the records of a kind are found: their collection, or that of their
    /// containers.
    ///
    /// # Errors
    ///
    /// Returns an error if the entry point does not link it.
    pub(super) fn first_page(
        &self,
        kind: Kind,
        filter: Option<&str>,
    ) -> Result<PendingPage, StartupError> {
        let container = kind.schema().path_parent;
        let url = match container {
            Some(container) => self.collection(container, None),
            None => self.collection(kind, filter),
        };
        let url = url.ok_or_else(|| {
            StartupError::new(
                format!(
                    "The server does not offer {}.",
                    container.unwrap_or(kind).plural()
                ),
                &self.entry_point,
                "Export other records, or use another server.",
            )
        })?;
        Ok(PendingPage {
            url,
            is_container: container.is_some(),
            is_first: true,
            is_of_container: false,
        })
    }

    /// Returns the first page of a collection, if the server has it.
    pub(super) fn collection(&self, kind: Kind, filter: Option<&str>) -> Option<String> {
        let is_wanted = |name: &str| {
            name.split_once(':')
                .is_some_and(|(_, name)| name == kind.plural())
        };
        let url = link(self.start.get("_links")?, is_wanted)?;
        Some(self.with_options(url, filter))
    }

    /// Returns the first page of a collection, with as many records as the server allows.
    pub(super) fn with_options(&self, link: &str, filter: Option<&str>) -> String {
        let mut url = self.resolved(link);
        let size = self.start.get("max_pagesize").and_then(Value::as_u64);
        let options = [
            ("per_page", size.map(|size| size.to_string())),
            ("filter", filter.map(str::to_owned)),
        ];
        for (name, value) in options {
            if let Some(value) = value {
                url.push(if url.contains('?') { '&' } else { '?' });
                url.extend([name, "=", &encoded(&value)]);
            }
        }
        url
    }

    /// Returns the URL of a link.
    pub(super) fn resolved(&self, link: &str) -> String {
        reachable(&self.entry_point, link)
    }

    /// Reads a document. A busy server is asked again.
    ///
    /// # Errors
    ///
    /// Returns why there is no response, as the end of a sentence. It does not contain the query, which can name
    /// people.
    pub(super) async fn read(&self, link: &str) -> Result<Reply, String> {
        let url = self.resolved(link);
        let shown = url.split('?').next().unwrap_or_default();
        if !is_of(&self.entry_point, &url) {
            return Err(format!(
                "the server links to {shown}, and another server must not get the key"
            ));
        }
        let request = Request::get(&url).header(&self.key_header, &self.key);
        let request = request
            .body(())
            .map_err(|_| format!("{shown} is not a URL"))?;
        let mut tries = 1;
        loop {
            let response = self.connection.lock().await.exchange(&request).await?;
            let status = response.status();
            let pause = response.headers().get(RETRY_AFTER);
            let pause = pause.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
            let body = response.into_body();
            let is_busy = matches!(
                status,
                StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS
            );
            if status == StatusCode::OK {
                return match Json::read_kept(&body) {
                    Some(Json::Object(document)) => Ok(Reply::Document(document)),
                    _ => Err(format!("{shown} is not a JSON document")),
                };
            }
            if !is_busy && !status.is_server_error() {
                let why = error_text(&serde_json::from_slice(&body).unwrap_or_default());
                return Ok(Reply::Rejected(Rejection { status, why }));
            }
            if !is_busy || tries == TRIES {
                return Err(format!("{shown} returned status {status}"));
            }
            tries = tries.saturating_add(1);
            tokio::time::sleep(Duration::from_secs(pause.unwrap_or(1).min(MAX_PAUSE))).await;
        }
    }
}

/// Returns the records of a page.
pub(super) fn records(page: &Object) -> impl Iterator<Item = &Object> {
    let embedded = page.get("_embedded").and_then(Json::as_object);
    let lists = embedded.into_iter().flat_map(Object::iter);
    let records = lists.filter_map(|(_, list)| list.as_array()).flatten();
    records.filter_map(Json::as_object)
}

/// Whether a URL is one of the server of an entry point, over a connection that is as safe.
fn is_of(entry_point: &str, url: &str) -> bool {
    let (Ok(entry_point), Ok(url)) = (entry_point.parse::<Uri>(), url.parse::<Uri>()) else {
        return false;
    };
    let is_safe = url.scheme_str() == Some("https") || entry_point.scheme_str() == Some("http");
    let is_same_port = if url.scheme_str() == entry_point.scheme_str() {
        port_of(&url) == port_of(&entry_point)
    } else {
        // From HTTP to HTTPS, each with its usual port.
        url.port().is_none() && entry_point.port().is_none()
    };
    is_safe && is_same_port && url.host().is_some() && url.host() == entry_point.host()
}

fn port_of(url: &Uri) -> u16 {
    let usual = if url.scheme_str() == Some("https") {
        443
    } else {
        80
    };
    url.port_u16().unwrap_or(usual)
}

/// Returns a value of a query.
fn encoded(value: &str) -> String {
    use fmt::Write as _;
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{encoded, is_of};

    #[test]
    fn only_the_server_gets_the_key() {
        for (entry_point, url, expected) in [
            ("http://a.example/x/", "http://a.example/y?z", true),
            ("http://a.example/x/", "https://a.example/y", true),
            ("https://a.example/x/", "http://a.example/y", false),
            ("http://a.example/x/", "http://a.example:81/y", false),
            ("http://a.example/x/", "http://a.example:80/y", true),
            ("http://a.example:8080/x/", "https://a.example/y", false),
            ("https://a.example/x/", "https://b.example/y", false),
            ("https://a.example/x/", "/y", false),
        ] {
            assert_eq!(is_of(entry_point, url), expected, "{url}");
        }
        assert_eq!(encoded("name eq 'ü+1'"), "name%20eq%20%27%C3%BC%2B1%27");
    }
}
