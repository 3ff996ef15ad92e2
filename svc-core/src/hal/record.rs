//! Renders a record: common fields, stored bytes or typed fields, computed fields, links.
//!
//! Requirements: HAL-13, HAL-16, HAL-17.

use std::ops::Range;

use super::{Hal, close, relations::KindRelations};
use crate::{
    json::write_string,
    link::{LinkValue, Scope, Target},
    record::{ComputedValue, FieldBytes, RawRecord, members_object},
    schema::{KindFeature, LinkTarget},
};

/// Writes a record; `top` adds the curies of a top-level document.
pub(crate) fn record(hal: &Hal<'_>, record: &RawRecord, top: bool, out: &mut Vec<u8>) {
    let href = hal.href(&Target::Record(record.address()));
    out.reserve(expected(hal, record, href.len()));
    record_at(hal, record, &SelfHref::Text(&href), top, out);
}

/// The URL of a record that is being written.
pub(super) enum SelfHref<'a> {
    /// As text.
    Text(&'a str),
    /// A copy of a part of the output, which is within the quotes of a JSON string.
    Written(Range<usize>),
}

/// Returns an estimate of the size of a record in bytes, rather too large. Its URL has `href`
/// bytes.
pub(super) fn expected(hal: &Hal<'_>, record: &RawRecord, href: usize) -> usize {
    let (FieldBytes::Stored(fields) | FieldBytes::Typed(fields)) = record.fields();
    let links = hal.relations.kind(record.kind()).map_or(0, |relations| {
        let operations = relations.operations.len();
        relations.links.len().saturating_add(operations)
    });
    // A link has its key, its braces and a word after the URL.
    let links = links
        .saturating_add(1)
        .saturating_mul(href.saturating_add(64));
    fields
        .len()
        .saturating_add(record.meta().identifiers.as_json().len())
        .saturating_add(links)
        .saturating_add(512)
}

/// Writes a record with this URL.
pub(super) fn record_at(
    hal: &Hal<'_>,
    record: &RawRecord,
    own: &SelfHref<'_>,
    top: bool,
    out: &mut Vec<u8>,
) {
    let Some(relations) = hal.relations.kind(record.kind()) else {
        return;
    };
    let meta = record.meta();
    out.extend_from_slice(b"{\"identifiers\":[\"");
    out.extend_from_slice(hal.relations.namespace.as_bytes());
    out.push(b':');
    out.extend_from_slice(meta.id.as_str().as_bytes());
    out.push(b'"');
    if !meta.identifiers.as_json().is_empty() {
        out.push(b',');
        out.extend_from_slice(meta.identifiers.as_json().as_bytes());
    }
    out.extend_from_slice(b"],\"created_date\":\"");
    let start = out.len();
    meta.created.write(out);
    let created = start..out.len();
    out.extend_from_slice(b"\",\"modified_date\":\"");
    if meta.modified == meta.created {
        out.extend_from_within(created);
    } else {
        meta.modified.write(out);
    }
    out.extend_from_slice(b"\",");
    if record.kind().schema().has_feature(KindFeature::ExposesId) {
        // Clients read the id of a signed-up person from this member. Requirements: HLP-20.
        out.extend_from_slice(b"\"id\":\"");
        out.extend_from_slice(meta.id.as_str().as_bytes());
        out.extend_from_slice(b"\",");
    }
    fields(hal, record, relations, out);
    out.extend_from_slice(b"\"_links\":{");
    if top {
        hal.write_record_curies(relations, out);
        out.push(b',');
    }
    links(hal, record, own, relations, out);
    close(out, b'}');
    out.push(b'}');
}

fn fields(hal: &Hal<'_>, record: &RawRecord, relations: &KindRelations, out: &mut Vec<u8>) {
    let names = hal.relations.dialect.share_names();
    let (bytes, renames) = match record.fields() {
        FieldBytes::Stored(bytes) => (bytes, false),
        FieldBytes::Typed(bytes) => (bytes, !names.is_default()),
    };
    let mut under_wire_names = Vec::new();
    let bytes: &[u8] = if renames {
        let mut object = members_object(bytes);
        names.rename_to_wire(&mut object);
        object.write_members(&mut under_wire_names);
        &under_wire_names
    } else {
        bytes
    };
    let start = out.len();
    match &relations.shown {
        Some(shown) => shown.copy(bytes, out),
        None => out.extend_from_slice(bytes),
    }
    if out.len() > start {
        out.push(b',');
    }
    for (name, value) in record.computed() {
        if relations
            .shown
            .as_ref()
            .is_none_or(|shown| shown.copies(name))
        {
            write_string(name, out);
            out.push(b':');
            computed(hal, value, out);
            out.push(b',');
        }
    }
}

fn computed(hal: &Hal<'_>, value: &ComputedValue, out: &mut Vec<u8>) {
    match value {
        ComputedValue::Count(count) => out.extend_from_slice(count.to_string().as_bytes()),
        ComputedValue::Amount(amount) => amount.write(out),
        ComputedValue::Timestamp(at) => {
            out.push(b'"');
            at.write(out);
            out.push(b'"');
        }
        ComputedValue::Relation(kind) => match hal.relations.kind(*kind) {
            Some(relations) => out.extend_from_slice(&relations.singular),
            None => out.extend_from_slice(b"null"),
        },
    }
}

fn links(
    hal: &Hal<'_>,
    record: &RawRecord,
    own: &SelfHref<'_>,
    relations: &KindRelations,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"\"self\":{\"href\":\"");
    // The URL is written as JSON once, and copied into the links under it.
    let own = match own {
        SelfHref::Written(own) => {
            out.extend_from_within(own.clone());
            own.clone()
        }
        SelfHref::Text(href) => {
            out.pop();
            let start = out.len().saturating_add(1);
            write_string(href, out);
            out.pop();
            start..out.len()
        }
    };
    out.extend_from_slice(b"\"},");
    for link in &relations.links {
        if let Some(below) = &link.below {
            out.extend_from_slice(&link.key);
            out.push(b'"');
            out.extend_from_within(own.clone());
            out.extend_from_slice(below.as_bytes());
            out.extend_from_slice(b"\"},");
            continue;
        }
        let target = match link.target {
            LinkTarget::Many { kind, .. } => Target::Collection {
                kind,
                scope: Scope::Under(record.address()),
            },
            LinkTarget::Helper(helper) => Target::Helper {
                helper,
                container: Some(record.address()),
            },
            LinkTarget::One { .. } => {
                match record.links().iter().find(|(name, _)| *name == link.name) {
                    Some((_, LinkValue::Local(to))) => Target::Record(to.clone()),
                    Some((_, LinkValue::Foreign(href))) => {
                        out.extend_from_slice(&link.key);
                        write_string(href, out);
                        out.extend_from_slice(b"},");
                        continue;
                    }
                    None => continue,
                }
            }
        };
        out.extend_from_slice(&link.key);
        hal.write_href(&target, out);
        out.extend_from_slice(b"},");
    }
    for link in hal.operation_links(relations) {
        out.extend_from_slice(&link.key);
        hal.write_href(&(link.target)(record.address()), out);
        out.extend_from_slice(b"},");
    }
    if hal.relations.own.is_some() {
        for (name, href) in record.own_links() {
            write_string(&format!("{}:{name}", hal.relations.namespace), out);
            out.extend_from_slice(b":{\"href\":");
            write_string(href, out);
            out.extend_from_slice(b"},");
        }
    }
}
