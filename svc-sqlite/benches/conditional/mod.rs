//! Measures the cost of a client that already has the response, against one that receives it.
//!
//! Requirements: ETG-05.

use std::path::Path;

use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, header};
use http_body_util::Empty;
use svc_core::api::IfMatchPolicy;
use svc_core::model::Kind;
use svc_sqlite::SqliteOptions;
use svc_tower::SvcService;
use tokio::runtime::Runtime;
use tower::Service;

use crate::data::{self, Server};
use crate::measure::{Bound, CpuWatch, Report, interleaved};

const ROUNDS: usize = 15;
const READS: u32 = 1_000;

/// Measures 304 for a page of 25 people and for a person against their 200, which is read and
/// written again. For comparison, it also measures the same 200 without its tag, and from the
/// response cache.
pub(crate) fn conditional(report: &mut Report, runtime: &Runtime, folder: &Path) {
    let server = runtime.block_on(async {
        let server = Server::with(SqliteOptions::new(folder.join("conditional.db"))).await;
        server.load((0..1_000).map(data::person)).await;
        server
    });
    let plain = server.service.clone();
    let tagged = server.serving(|api| api.conditional_requests(IfMatchPolicy::Optional));
    let store = server.store.clone();
    let kept = server.serving(|api| {
        api.conditional_requests(IfMatchPolicy::Optional)
            .response_cache(store)
    });
    for (what, path, most) in [
        ("a page of 25 people", "people".to_owned(), 0.2),
        (
            "a person",
            format!("people/{}", data::id(Kind::Person, 7)),
            0.7,
        ),
    ] {
        let ask = |service: &SvcService, tag: Option<&HeaderValue>, status: StatusCode| {
            read(runtime, service, &server.key, &path, tag, status)
        };
        let (_, tag) = ask(&kept, None, StatusCode::OK);
        let [known, whole, untagged, again] = interleaved(
            ROUNDS,
            [
                &mut || ask(&kept, tag.as_ref(), StatusCode::NOT_MODIFIED).0,
                &mut || ask(&tagged, None, StatusCode::OK).0,
                &mut || ask(&plain, None, StatusCode::OK).0,
                &mut || ask(&kept, None, StatusCode::OK).0,
            ],
        );
        let detail = format!(
            "{known:.1} us, 200 {whole:.1} us, without tag {untagged:.1} us, cached {again:.1} us"
        );
        report.line(
            &format!("304 of {what} against its 200, CPU"),
            Bound::AtMost(most),
            known / whole,
            "x",
            &detail,
        );
        let name = format!("200 of {what} with its tag against without, CPU");
        report.line(&name, Bound::AtMost(1.3), whole / untagged, "x", &detail);
    }
}

/// Returns the CPU time of a read, and the tag of its response.
fn read(
    runtime: &Runtime,
    service: &SvcService,
    key: &str,
    path: &str,
    tag: Option<&HeaderValue>,
    status: StatusCode,
) -> (f64, Option<HeaderValue>) {
    let request = || {
        let request = Request::get(format!("/api/v1/{path}")).header("host", "api.example.org");
        let request = request.header("svc-api-token", key);
        let request = tag.into_iter().fold(request, |request, tag| {
            request.header(header::IF_NONE_MATCH, tag)
        });
        request.body(Empty::<Bytes>::new()).expect("a request")
    };
    let requests: Vec<_> = (0..READS).map(|_| request()).collect();
    let mut service = service.clone();
    runtime.block_on(async {
        let watch = CpuWatch::start();
        let mut last = None;
        for request in requests {
            let answer = service
                .call(request)
                .await
                .unwrap_or_else(|never| match never {});
            assert_eq!(answer.status(), status, "{path}");
            last = answer.headers().get(header::ETAG).cloned();
        }
        (watch.micros() / f64::from(READS), last)
    })
}
