//! The demo's access log.
//!
//! Requirements: UND-42.

use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex};

use http::{HeaderName, Request, Response};
use svc_server::demo::AccessLog;
use tower::ServiceExt;

/// A writer that stores its output.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .map_err(|_| io::ErrorKind::Other)?
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn und_42_the_log_has_one_line_per_request_and_no_secret()
-> Result<(), Box<dyn std::error::Error>> {
    let kept = Kept::default();
    let (log, writer) = AccessLog::to(kept.clone(), HeaderName::from_static("svc-api-token"));
    let answers = tower::service_fn(|request: Request<&'static str>| {
        Box::pin(async move {
            if request.uri().path() == "/never" {
                std::future::pending::<()>().await;
            }
            Ok::<_, Infallible>(Response::new(()))
        })
    });
    let service = log.before(answers);
    let post = Request::post("/people?email=ada%40example.org")
        .header("SVC-API-Token", "planted-key-4711");
    service.clone().oneshot(post.body("planted-body")?).await?;
    service
        .clone()
        .oneshot(Request::get("/tags").body("")?)
        .await?;
    let mut left = Box::pin(service.oneshot(Request::get("/never").body("")?));
    let begun = std::future::poll_fn(|cx| std::task::Poll::Ready(left.as_mut().poll(cx))).await;
    assert!(begun.is_pending());
    drop(left);
    writer.finish();
    let text = String::from_utf8(kept.0.lock().map_err(|_| "poisoned")?.clone())?;
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[0].starts_with("POST    200 ") && lines[0].ends_with("  4711  /people"),
        "{text}"
    );
    assert!(
        lines[1].starts_with("GET     200 ") && lines[1].ends_with("  -     /tags"),
        "{text}"
    );
    assert!(
        lines[2].starts_with("GET     --- ") && lines[2].ends_with("  -     /never"),
        "its client disconnected: {text}"
    );
    for secret in ["planted", "ada", "email", "?"] {
        assert!(!text.contains(secret), "{text}");
    }
    Ok(())
}
