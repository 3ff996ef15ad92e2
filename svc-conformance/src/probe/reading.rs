//! What a server returns to a client that only reads: links, pages, records, `OPTIONS`.

use http::Method;
use serde_json::Value;
use svc_declaration::{DeclaredCollection, DeclaredEntryPoint, DeclaredHelper};

use super::{ProbeState, candidate_fields};
use crate::check::CheckContext;
use crate::client::CheckClient;
use crate::kinds::{CatalogueKind, KINDS, kind_of};
use crate::outcome::CheckStop;
use crate::response::Representation;

/// The number of records of a collection that are examined.
const SAMPLES: usize = 10;

/// Reads all linked documents, one of each kind.
pub(super) async fn read(cx: &CheckContext, found: &mut ProbeState) -> Result<(), CheckStop> {
    let api = cx.api();
    let entry = api.entry().await?;
    entry_point(&entry, found);
    helpers_of(&entry, found);
    for kind in KINDS.iter() {
        if let Some(url) = entry.href(kind.many) {
            collection(&api, *kind, &url, true, found).await?;
        }
    }
    let listed = KINDS.iter().find_map(|kind| entry.href(kind.many));
    if let Some(url) = listed {
        let status = cx.anonymous().get(&url).await?.status;
        found.text.authentication.required = matches!(status, 401 | 403);
    }
    Ok(())
}

/// Reads the fields and links of the entry point.
///
/// Requirements: ENT-02 to ENT-26.
fn entry_point(entry: &Representation, found: &mut ProbeState) {
    let mut declared = DeclaredEntryPoint::default();
    for (name, value) in entry
        .json
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !name.starts_with('_'))
    {
        declared.fields.push(name.clone());
        match name.as_str() {
            "namespace" => value
                .as_str()
                .unwrap_or_default()
                .clone_into(&mut found.text.namespace),
            "max_pagesize" => {
                let most = value.as_u64().and_then(|most| u32::try_from(most).ok());
                found.text.limits.max_pagesize = most.unwrap_or_default();
            }
            other if other.ends_with("_version") => {
                other.clone_into(&mut found.text.dialect.version_field);
                value
                    .as_str()
                    .unwrap_or_default()
                    .clone_into(&mut found.text.interface_version);
            }
            _ => {}
        }
    }
    let own = |name: &str| {
        !matches!(name, "self" | "curies") && !name.ends_with("_helper") && kind_of(name).is_none()
    };
    declared.links = names(entry).into_iter().filter(|name| own(name)).collect();
    found.text.entry_point = Some(declared);
}

/// Returns the names of the links of a representation, without prefix.
pub(super) fn names(record: &Representation) -> Vec<String> {
    let prefix = format!("{}:", record.prefix);
    let links = record
        .json
        .get("_links")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    links
        .map(|(rel, _)| rel.strip_prefix(&prefix).unwrap_or(rel).to_owned())
        .collect()
}

/// Records the helpers to which a representation links.
pub(super) fn helpers_of(record: &Representation, found: &mut ProbeState) {
    for link in names(record) {
        let Some(name) = link.strip_suffix("_helper") else {
            continue;
        };
        // The helper of a person has two spellings.
        // Requirements: RES-person-48.
        let name = if name == "record_canvas" {
            "record_canvass"
        } else {
            name
        };
        let mut helper = DeclaredHelper::default();
        helper.relation = format!("{}:{link}", record.prefix);
        found.text.helpers.entry(name.to_owned()).or_insert(helper);
    }
}

/// Returns the declared collection of a kind.
pub(super) fn declared(found: &mut ProbeState, kind: CatalogueKind) -> &mut DeclaredCollection {
    let collection = found
        .text
        .collections
        .entry(kind.many.to_owned())
        .or_default();
    kind.one.clone_into(&mut collection.singular);
    collection
}

/// Adds an operation of a kind.
pub(super) fn offers(found: &mut ProbeState, kind: CatalogueKind, operation: &str) {
    let operations = &mut declared(found, kind).operations;
    if !operations.iter().any(|known| known == operation) {
        operations.push(operation.to_owned());
    }
}

/// Examines the first page of a collection and its records.
pub(super) async fn collection(
    api: &CheckClient<'_>,
    kind: CatalogueKind,
    url: &str,
    top: bool,
    found: &mut ProbeState,
) -> Result<bool, CheckStop> {
    let answer = api.get(url).await?;
    if answer.status != 200 {
        found.notes.push(format!(
            "{} is linked, but returns {}: not declared",
            kind.many, answer.status
        ));
        return Ok(false);
    }
    let page = answer.record();
    if top {
        offers(found, kind, "list");
        let size = page
            .json
            .get("per_page")
            .and_then(Value::as_u64)
            .and_then(|size| u32::try_from(size).ok());
        found.text.limits.per_page = size.unwrap_or(found.text.limits.per_page);
    } else {
        declared(found, kind);
    }
    let members = page.embedded();
    for member in members.iter().take(SAMPLES) {
        let assumed = candidate_fields::fields(kind.one, &found.text.dialect);
        let fields = candidate_fields::visible_fields(&assumed, &member.json, None);
        candidate_fields::merge(&mut declared(found, kind).fields, fields);
    }
    allowed(api, kind, url, &[("POST", "create")], found).await?;
    let Some(own) = members.first().and_then(|member| member.link("self")) else {
        return Ok(true);
    };
    let answer = api.get(&own).await?;
    if answer.status == 200 {
        offers(found, kind, "read");
        record(api, kind, &answer.record(), found).await?;
        allowed(
            api,
            kind,
            &own,
            &[("PUT", "update"), ("DELETE", "delete")],
            found,
        )
        .await?;
    }
    Ok(true)
}

/// Examines the links of a record, its helpers, and its nested collections.
pub(super) async fn record(
    api: &CheckClient<'_>,
    kind: CatalogueKind,
    record: &Representation,
    found: &mut ProbeState,
) -> Result<(), CheckStop> {
    helpers_of(record, found);
    for name in names(record)
        .into_iter()
        .filter(|name| !matches!(name.as_str(), "self" | "curies"))
    {
        let below = kind_of(&name).filter(|below| below.one != kind.one);
        let known = declared(found, kind).links.contains(&name);
        if known {
            continue;
        }
        declared(found, kind).links.push(name.clone());
        let (Some(below), Some(url)) = (below, record.href(&name)) else {
            continue;
        };
        if Box::pin(collection(api, below, &url, false, found)).await? {
            declared(found, kind).sub.push(name);
        }
    }
    Ok(())
}

/// Adds the operations of an `Allow` header.
async fn allowed(
    api: &CheckClient<'_>,
    kind: CatalogueKind,
    url: &str,
    operations: &[(&str, &str)],
    found: &mut ProbeState,
) -> Result<(), CheckStop> {
    let answer = api.options(url).await?;
    let allow = answer
        .header("allow")
        .filter(|_| answer.is_success())
        .unwrap_or_default()
        .to_ascii_uppercase();
    for (method, operation) in operations {
        if allow.split(',').any(|one| one.trim() == *method) {
            offers(found, kind, operation);
        }
    }
    Ok(())
}

impl CheckClient<'_> {
    /// Sends `OPTIONS` to a URL.
    async fn options(&self, url: &str) -> Result<crate::response::TestResponse, CheckStop> {
        self.send(Method::OPTIONS, url, None).await
    }
}
