//! Renders the entry point.
//!
//! Requirements: ENT-01 to ENT-27.

use super::Hal;
use crate::{
    helper::HelperName,
    json::write_string,
    link::{Scope, Target, VendorRelations},
    model::Kind,
};

/// The content of the entry point.
#[derive(Debug)]
pub(crate) struct EntryPointView<'a> {
    pub(crate) motd: &'a str,
    pub(crate) max_page_size: u32,
    pub(crate) vendor_name: &'a str,
    pub(crate) product_name: &'a str,
    pub(crate) version: &'a str,
    /// The collections that it links.
    pub(crate) collections: &'a [Kind],
    /// Whether person signup is available.
    ///
    /// Requirements: ENT-24.
    pub(crate) signup: bool,
    /// Whether the `OpenAPI` document is available.
    ///
    /// Requirements: UND-40.
    pub(crate) openapi: bool,
    /// The links of the extensions that the server offers.
    pub(crate) extensions: &'a [EntryLink],
}

/// A link on the entry point.
#[derive(Debug)]
pub(crate) struct EntryLink {
    /// The relation, without prefix.
    pub(crate) relation: &'static str,
    pub(crate) target: Target,
    pub(crate) title: &'static str,
}

/// Writes the entry point.
pub(crate) fn entry_point(hal: &Hal<'_>, view: &EntryPointView<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    text("motd", view.motd, out);
    out.extend_from_slice(format!("\"max_pagesize\":{},", view.max_page_size).as_bytes());
    text("vendor_name", view.vendor_name, out);
    text("product_name", view.product_name, out);
    text(hal.relations.dialect.version_field(), view.version, out);
    text("namespace", &hal.relations.namespace, out);
    out.extend_from_slice(b"\"_links\":{");
    if view.extensions.is_empty() {
        hal.write_curies(out);
    } else {
        hal.write_extended_curies(out);
    }
    out.push(b',');
    titled("self", &hal.href(&Target::EntryPoint), "Entry point", out);
    for &kind in view.collections {
        let relation = hal.relations.dialect.relation(kind.plural());
        titled(
            &relation,
            &hal.href(&Target::Collection {
                kind,
                scope: Scope::All,
            }),
            &title(kind.plural()),
            out,
        );
    }
    if view.signup {
        let relation = hal
            .relations
            .dialect
            .relation(HelperName::PersonSignup.relation());
        let href = hal.href(&Target::Helper {
            helper: HelperName::PersonSignup,
            container: None,
        });
        titled(&relation, &href, "Person signup", out);
    }
    for link in view.extensions {
        let relation = hal.relations.dialect.relation(link.relation);
        titled(&relation, &hal.href(&link.target), link.title, out);
    }
    // Registered relations of RFC 8631. Requirements: UND-40.
    titled(
        "service-meta",
        &hal.href(&Target::Capabilities),
        "What this server supports",
        out,
    );
    if view.openapi {
        titled(
            "service-desc",
            &hal.href(&Target::OpenApi),
            "OpenAPI document",
            out,
        );
    }
    for link in hal.relations.own.iter().flat_map(VendorRelations::links) {
        titled(
            &format!("{}:{}", hal.relations.namespace, link.name),
            &link.href,
            &link.title,
            out,
        );
    }
    let docs = hal
        .relations
        .docs
        .as_ref()
        .map_or_else(|| hal.href(&Target::Docs), |docs| docs.start.clone());
    // `docs` also has a name and an index. Requirements: ENT-23.
    out.extend_from_slice(b"\"docs\":{\"href\":");
    write_string(&docs, out);
    out.extend_from_slice(b",\"title\":\"Documentation\",\"name\":\"Docs\",\"index\":\"index\"}}}");
}

fn text(name: &str, value: &str, out: &mut Vec<u8>) {
    write_string(name, out);
    out.push(b':');
    write_string(value, out);
    out.push(b',');
}

fn titled(name: &str, href: &str, title: &str, out: &mut Vec<u8>) {
    write_string(name, out);
    out.extend_from_slice(b":{\"href\":");
    write_string(href, out);
    out.extend_from_slice(b",\"title\":");
    write_string(title, out);
    out.extend_from_slice(b"},");
}

/// Returns a title, such as `Fundraising pages` for `fundraising_pages`.
///
/// Requirements: ENT-25.
fn title(plural: &str) -> String {
    let words = plural.replace('_', " ");
    let mut letters = words.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}
