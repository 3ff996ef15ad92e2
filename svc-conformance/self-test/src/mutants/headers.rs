//! Headers and media types.

use http::{HeaderValue, header};
use svc_conformance::ids;

use super::{Mutant, MutationPoint};
use crate::interceptor::Interceptor;
use crate::link_map::ResourceKind;
use crate::transport::{BufferedRequest, BufferedResponse};

const FAMILY: &str = "headers";

/// Replaces or removes a header of some responses.
fn header(
    name: &'static str,
    row: &'static str,
    which: header::HeaderName,
    value: Option<&'static str>,
    when: fn(&BufferedRequest, &BufferedResponse, Option<ResourceKind>) -> bool,
) -> Mutant {
    Mutant::new(FAMILY, name, &[row], move || {
        let which = which.clone();
        Interceptor::after(move |call, answer, sight| {
            if !answer.is_success() || !when(call, answer, sight.what(call)) {
                return;
            }
            match value {
                Some(value) => drop(
                    answer
                        .headers
                        .insert(which.clone(), HeaderValue::from_static(value)),
                ),
                None => drop(answer.headers.remove(which.clone())),
            }
        })
    })
}

pub(super) fn faults() -> Vec<Mutant> {
    let media = header::CONTENT_TYPE;
    let cache = header::CACHE_CONTROL;
    vec![
        header(
            "no-media-type",
            ids::HAL_03,
            media.clone(),
            None,
            |_, answer, _| answer.is_hal(),
        ),
        header(
            "media-type-plain-json",
            ids::HAL_03,
            media.clone(),
            Some("application/json"),
            |call, answer, _| answer.is_hal() && call.method == "GET",
        ),
        header(
            "media-type-text-on-create",
            ids::HAL_03,
            media.clone(),
            Some("text/plain"),
            |call, answer, _| answer.is_hal() && call.method == "POST",
        ),
        header(
            "media-type-of-collections",
            ids::HAL_03,
            media,
            Some("application/json"),
            |_, answer, what| answer.is_hal() && matches!(what, Some(ResourceKind::Collection(_))),
        )
        .on_reference(),
        header(
            "no-cache-control",
            ids::HAL_04,
            cache.clone(),
            None,
            |_, _, _| true,
        ),
        header(
            "cache-control-public",
            ids::HAL_04,
            cache.clone(),
            Some("max-age=0, public, must-revalidate"),
            |_, _, _| true,
        )
        .on_reference(),
        header(
            "cache-control-max-age-60",
            ids::HAL_04,
            cache.clone(),
            Some("max-age=60, private, must-revalidate"),
            |call, _, _| call.method == "GET",
        ),
        header(
            "no-must-revalidate-on-writes",
            ids::HAL_04,
            cache,
            Some("max-age=0, private"),
            |call, _, _| call.is_write(),
        ),
        Mutant::new(FAMILY, "body-cut-off", &[ids::HAL_02, "COL-*"], || {
            Interceptor::after(|call, answer, sight| {
                if matches!(sight.what(call), Some(ResourceKind::Collection(_)))
                    && call.method == "GET"
                    && answer.is_success()
                {
                    answer.body.truncate(answer.body.len() / 2);
                }
            })
        }),
        Mutant::new(
            FAMILY,
            "page-of-html-instead-of-a-record",
            &[ids::HAL_02, ids::HAL_17, ids::COL_03],
            || {
                Interceptor::after(|call, answer, sight| {
                    if matches!(sight.what(call), Some(ResourceKind::Record(_)))
                        && call.method == "GET"
                        && answer.is_success()
                    {
                        answer.body = "<html><body>A record</body></html>".into();
                    }
                })
            },
        ),
        Mutant::new(
            FAMILY,
            "another-key-header",
            &[ids::HAL_10, ids::AUT_01],
            || {
                Interceptor::before(|call, _| {
                    let own = call
                        .headers
                        .iter()
                        .find(|(_, value)| value.as_bytes().starts_with(b"k-"));
                    if let Some(name) = own.map(|(name, _)| name.clone()) {
                        call.headers.remove(name);
                    }
                    None
                })
            },
        )
        .at(MutationPoint::Request),
    ]
}
