//! The server that receives the import.

use std::io;
use std::net::IpAddr;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode, Uri};
use http_body::Body;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::demo::StartupError;

/// The URL of the batch of sign-ups, and its headers.
#[derive(Debug)]
pub(super) struct ImportTarget {
    batch: Uri,
    key_header: HeaderName,
}

impl ImportTarget {
    /// Finds the batch by the links of an entry point.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not respond, or does not support batches of sign-ups.
    pub(super) async fn find(entry_point: &str) -> Result<Self, StartupError> {
        let hint = "Set --url to the entry point of a running server, such as http://localhost:8080/api/v1/.";
        let failed = |why: String| {
            StartupError::new(
                format!("The server at {entry_point} cannot be used: {why}."),
                entry_point,
                hint,
            )
        };
        let read = async |address: &str| read(address).await.map_err(&failed);
        let links = read(entry_point).await?;
        let link = |wanted: &dyn Fn(&str) -> bool| {
            let links = links.get("_links")?.as_object()?;
            links
                .iter()
                .find(|(name, _)| wanted(name))
                .and_then(|(_, link)| link.get("href")?.as_str())
        };
        let about = link(&|name| name == "service-meta")
            .ok_or_else(|| failed("the URL is not an entry point".to_owned()))?;
        let about = read(&reachable(entry_point, about)).await?;
        let has_batches = about
            .get("behaviours")
            .and_then(Value::as_array)
            .is_some_and(|all| all.iter().any(|one| one == "batch"));
        let helper = link(&|name| name.ends_with(":person_signup_helper")).filter(|_| has_batches);
        let helper = helper.ok_or_else(|| {
            let remedy = "Use a server whose capability document declares `batch` and that offers helper.person_signup.";
            StartupError::new(
                "The server does not support batches of the person signup helper.",
                entry_point,
                remedy,
            )
        })?;
        let batch = format!("{}/batch", helper.trim_end_matches('/'));
        let batch = reachable(entry_point, &batch);
        let header = about
            .pointer("/dialect/key_header")
            .and_then(Value::as_str)
            .and_then(|name| name.parse().ok());
        match (batch.parse(), header) {
            (Ok(batch), Some(key_header)) => Ok(Self { batch, key_header }),
            _ => Err(failed("its capability document cannot be read".to_owned())),
        }
    }

    /// Starts to send lines. The response starts before the request has ended.
    pub(super) async fn send<B>(
        &self,
        key: &HeaderValue,
        name: &str,
        lines: B,
    ) -> Result<Response<Incoming>, String>
    where
        B: Body<Data = Bytes, Error = io::Error> + Send + 'static,
    {
        let request = Request::post(self.batch.clone())
            .header(CONTENT_TYPE, "application/x-ndjson")
            .header("idempotency-key", format!("\"{name}\""))
            .header(&self.key_header, key);
        exchange(request.body(lines).map_err(|error| error.to_string())?).await
    }
}

/// Returns the URL at which a link of the entry point is reached. A server on this computer can have links with
/// the URL of the proxy in front of it, such as `https://crm.example.org/`.
fn reachable(entry_point: &str, link: &str) -> String {
    let (Ok(entry_point), Ok(url)) = (entry_point.parse::<Uri>(), link.parse::<Uri>()) else {
        return link.to_owned();
    };
    let is_here = entry_point.host().is_some_and(|host| {
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    });
    match (entry_point.scheme_str(), entry_point.authority()) {
        (Some(scheme), Some(authority)) if is_here => {
            let path = url.path_and_query().map_or("/", PathAndQuery::as_str);
            format!("{scheme}://{authority}{path}")
        }
        _ => link.to_owned(),
    }
}

/// Reads a document without a key.
async fn read(address: &str) -> Result<Value, String> {
    let request = Request::get(address)
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    let response = exchange(request).await?;
    let status = response.status();
    let body = response
        .into_body()
        .collect()
        .await
        .map_err(|error| error.to_string())?
        .to_bytes();
    match serde_json::from_slice(&body) {
        Ok(document) if status == StatusCode::OK => Ok(document),
        _ => Err(format!("{address} returned status {status}")),
    }
}

/// Sends a request on a new connection.
async fn exchange<B>(mut request: Request<B>) -> Result<Response<Incoming>, String>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let uri = request.uri().clone();
    let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http"));
    let authority =
        authority.ok_or_else(|| format!("{uri} is not a URL that starts with http://"))?;
    let stream = TcpStream::connect((authority.host(), authority.port_u16().unwrap_or(80))).await;
    let stream = stream.map_err(|error| format!("{authority}: {error}"))?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| format!("{authority}: {error}"))?;
    // It ends when the response has been read.
    tokio::spawn(connection);
    let host = HeaderValue::from_str(authority.as_str()).map_err(|error| error.to_string())?;
    request.headers_mut().insert(HOST, host);
    let path = uri
        .path_and_query()
        .map_or("/", |path| path.as_str())
        .to_owned();
    *request.uri_mut() = path.parse().map_err(|_| format!("{uri} is not a URL"))?;
    sender
        .send_request(request)
        .await
        .map_err(|error| format!("{authority}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::reachable;

    #[test]
    fn a_server_behind_a_proxy_is_reached_on_this_computer() {
        let link = "https://crm.example.org/api/v1/people/person_signup?x=1";
        for (entry_point, url) in [
            (
                "http://localhost:8080/api/v1/",
                "http://localhost:8080/api/v1/people/person_signup?x=1",
            ),
            (
                "http://127.0.0.1/",
                "http://127.0.0.1/api/v1/people/person_signup?x=1",
            ),
            (
                "http://[::1]:9/",
                "http://[::1]:9/api/v1/people/person_signup?x=1",
            ),
            ("http://crm.example.org/", link),
            ("none", link),
        ] {
            assert_eq!(reachable(entry_point, link), url);
        }
    }
}
