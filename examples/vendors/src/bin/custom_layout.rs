//! The API with other paths and names: `cargo run --bin custom_layout [ADDRESS [FILE]]`.
//!
//! The program has a custom [`Layout`], a custom [`Dialect`] (prefix, key header, version field),
//! and a relation that the specification does not define. Clients that follow links work without
//! changes.

use axum::Router;
use axum::routing::get;
use svc_core::api::VendorRelations;
use svc_core::helper::HelperName;
use svc_core::link::{ConventionalLayout, Dialect, Layout, RecordAddress, Scope, Target};
use svc_core::model::Kind;
use svc_core::value::Id;
use svc_core::{Api, Error, Result, Vendor};
use svc_docs::Docs;
use svc_sqlite::{KeyOptions, SqliteOptions, SqliteStore};
use svc_tower::{SvcService, server::Server};
use tokio::net::TcpListener;

/// `all/people`, `one/people/7`, `one/signatures/7.3`, `of/people/7/signatures`,
/// `do/person_signup_helper` ...
#[derive(Debug)]
struct VerbLayout;

impl Layout for VerbLayout {
    fn path(&self, target: &Target, out: &mut String) {
        let path = match target {
            Target::EntryPoint => String::new(),
            Target::Collection {
                kind,
                scope: Scope::All,
            } => format!("all/{}", kind.plural()),
            Target::Collection {
                kind,
                scope: Scope::Under(above),
            } => {
                format!("of/{}/{}", record(above), kind.plural())
            }
            Target::Record(address) => format!("one/{}", record(address)),
            Target::Helper {
                helper,
                container: None,
            } => format!("do/{}", helper.relation()),
            Target::Helper {
                helper,
                container: Some(above),
            } => format!("do/{}/{}", helper.relation(), record(above)),
            // Documents about the API stay at their conventional paths below `docs/`.
            document => return ConventionalLayout.path(document, out),
        };
        out.push_str(&path);
    }

    fn route(&self, path: &str) -> Option<Target> {
        let segments: Vec<&str> = path.trim_end_matches('/').split('/').collect();
        Some(match *segments {
            [""] => Target::EntryPoint,
            ["all", kind] => {
                let kind = Kind::from_plural(kind).filter(|kind| kind.schema().has_collection())?;
                Target::Collection {
                    kind,
                    scope: Scope::All,
                }
            }
            ["of", above, ids, kind] => {
                let (above, kind) = (address(above, ids)?, Kind::from_plural(kind)?);
                kind.schema()
                    .scope_kinds()
                    .find(|scope| *scope == above.kind)?;
                Target::Collection {
                    kind,
                    scope: Scope::Under(above),
                }
            }
            ["one", kind, ids] => Target::Record(address(kind, ids)?),
            ["do", name] => Target::Helper {
                helper: helper(name, None)?,
                container: None,
            },
            ["do", name, above, ids] => {
                let above = address(above, ids)?;
                Target::Helper {
                    helper: helper(name, Some(above.kind))?,
                    container: Some(above),
                }
            }
            ["docs", ..] => ConventionalLayout.route(path)?,
            _ => return None,
        })
    }
}

/// Returns `people/7`, or `signatures/7.3` for signature 3 of petition 7. An id never contains a
/// dot.
fn record(address: &RecordAddress) -> String {
    let parent = address
        .parent
        .as_ref()
        .map(|parent| format!("{parent}."))
        .unwrap_or_default();
    format!("{}/{parent}{}", address.kind.plural(), address.id)
}

/// Parses the output of [`record`].
fn address(kind: &str, ids: &str) -> Option<RecordAddress> {
    let kind = Kind::from_plural(kind)?;
    match (kind.schema().path_parent, ids.split_once('.')) {
        (Some(_), Some((parent, id))) => Some(RecordAddress::with_parent(
            kind,
            Id::new(parent)?,
            Id::new(id)?,
        )),
        (None, None) => Some(RecordAddress::without_parent(kind, Id::new(ids)?)),
        _ => None,
    }
}

fn helper(name: &str, container: Option<Kind>) -> Option<HelperName> {
    HelperName::ALL
        .iter()
        .copied()
        .find(|helper| helper.relation() == name && helper.container_kind() == container)
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let listener =
        TcpListener::bind(arguments.next().as_deref().unwrap_or("127.0.0.1:8085")).await?;
    let site = format!("http://{}", listener.local_addr()?);
    let store = SqliteStore::open(SqliteOptions::new(
        arguments.next().as_deref().unwrap_or("custom_layout.db"),
    ))?;
    let key = store
        .create_key(
            &store.ensure_tenant("mine").await?,
            KeyOptions::new("custom layout"),
        )
        .await?;

    let dialect = Dialect::with_prefix("acme").ok_or_else(|| Error::unexpected("no prefix"))?;
    let header = http::HeaderName::from_static("x-acme-key");
    // `crm:shop` on the entry point. The curie links to the page below `relations/`.
    let shop = VendorRelations::new(format!("{site}/relations/")).link(
        "shop",
        format!("{site}/shop"),
        "Shop for supporters",
    );
    let api = store
        .register_all(Api::builder(
            Vendor::new("Acme", "Acme CRM").namespace("crm"),
        ))
        .base_url(&format!("{site}/hub/"))
        .dialect(
            dialect
                .with_key_header(header.clone())
                .with_version_field("acme_release"),
        )
        .layout(VerbLayout)
        .vendor_relations(shop)
        .authenticator(store.clone())
        .build()?;

    let app = Router::new()
        .route("/shop", get(|| async { "Badges and banners." }))
        .route(
            "/relations/shop",
            get(|| async { "`crm:shop`: where supporters buy badges and banners." }),
        )
        .nest_service("/hub", SvcService::new(api).with_docs(Docs::new()));
    println!("curl -H '{header}: {}' {site}/hub/", key.token);
    Server::new(app).serve(listener).await?;
    Ok(())
}
