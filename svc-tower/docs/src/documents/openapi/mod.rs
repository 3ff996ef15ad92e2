//! The `OpenAPI` 3.1 document of an API: every route, method and body, generated from the tables
//! that route and read requests.

mod batches;
mod conditional;
mod idempotency;
mod operations;
mod parts;
mod routes;

pub(super) use routes::{OpenApiPath, routes};

use serde_json::{Map, Value, json};
use svc_core::{api::Api, context::BaseUrl, model::Kind};

use super::json_schema::Definitions;

/// The name of the security scheme: a key in the header of the dialect.
const KEY: &str = "key";

/// Returns the `OpenAPI` 3.1 document of an API under a base URL.
///
/// It contains only what the server offers ([`Api::operations`](svc_core::Api::operations)).
/// Extensions of the schemas express what JSON Schema cannot:
///
/// - `x-max-decimals`: the maximum number of decimal places of a number.
/// - `x-unique-by`: elements must differ in this member.
/// - `x-not-after`: the first of two timestamps must not be after the second.
///
/// # Examples
///
/// ```
/// # use svc_core::Api;
/// # fn about(api: &Api) {
/// let document = svc_docs::documents::openapi(api, api.base_url());
/// assert_eq!(document["openapi"], "3.1.0");
/// # }
/// ```
#[must_use]
pub fn openapi(api: &Api, base: &BaseUrl) -> Value {
    let mut all = Definitions::new(api, base, "#/components/schemas/");
    let mut paths: Map<String, Value> = Map::new();
    for route in routes::routes(api, base) {
        if let Some(item) = operations::path_item(&mut all, &route) {
            paths.entry(route.path).or_insert(item);
        }
    }
    let tags = Kind::ALL
        .iter()
        .filter(|kind| api.shows_kind(**kind))
        .map(|kind| json!({ "name": kind.plural(), "description": kind.schema().doc }));
    let tags: Vec<Value> = tags.collect();
    let server = base.as_str().trim_end_matches('/');
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": api.vendor().product_name(),
            "version": api.vendor().interface_version(),
            "description": "Generated from the tables that route and validate the requests of this server. Bodies are JSON; \
                            members that are not described are ignored. Every path with `GET` also supports `HEAD`, \
                            with the same headers and without the body. `OPTIONS` on every path returns its methods. A \
                            slash at the end of a path is ignored.",
        },
        "servers": [{ "url": if server.is_empty() { "/" } else { server } }],
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": all.finish(),
            "securitySchemes": {
                KEY: { "type": "apiKey", "in": "header", "name": api.dialect().key_header_text() },
            },
        },
        "security": [{ KEY: [] }],
    })
}
