//! The results of a batch as HAL.
//!
//! Requirements: BAT-02, BAT-08.

use crate::{error::ErrorCode, hal::Hal, helper::WriteEffect, json::write_string, link::Target};

/// The result of one entry.
#[derive(Debug)]
pub(super) struct BatchResultView<'a> {
    /// Its position, from 0.
    pub(super) index: u64,
    pub(super) status: u16,
    /// The URL of the record in its response.
    pub(super) href: Option<&'a str>,
    /// The body of its response, if it is included.
    pub(super) body: Option<&'a [u8]>,
    /// The error code, in place of a body that did not fit into the response.
    ///
    /// Requirements: BAT-11.
    pub(super) code: Option<ErrorCode>,
    /// What the entry has changed, if it is known.
    ///
    /// Requirements: BAT-12.
    pub(super) effect: Option<WriteEffect>,
}

/// Writes the result of one entry.
pub(super) fn entry_result(view: &BatchResultView<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(
        format!("{{\"index\":{},\"status\":{}", view.index, view.status).as_bytes(),
    );
    if let Some(href) = view.href {
        out.extend_from_slice(b",\"href\":");
        write_string(href, out);
    }
    if let Some(effect) = view.effect {
        out.extend_from_slice(b",\"effect\":");
        write_string(effect.as_str(), out);
    }
    if let Some(body) = view.body {
        out.extend_from_slice(b",\"body\":");
        out.extend_from_slice(body);
    }
    if let Some(code) = view.code {
        out.extend_from_slice(b",\"code\":");
        write_string(code.as_str(), out);
    }
    out.push(b'}');
}

/// Writes the number of entries, without the closing brace.
fn open_totals(succeeded: u64, failed: u64, out: &mut Vec<u8>) {
    let total = succeeded.saturating_add(failed);
    out.extend_from_slice(
        format!("{{\"total\":{total},\"succeeded\":{succeeded},\"failed\":{failed}").as_bytes(),
    );
}

/// Writes the line that ends a stream.
pub(super) fn totals(succeeded: u64, failed: u64, out: &mut Vec<u8>) {
    open_totals(succeeded, failed, out);
    out.push(b'}');
}

/// Writes the document of a whole batch. `results` is already written, separated by commas.
pub(super) fn batch(
    hal: &Hal<'_>,
    here: &Target,
    succeeded: u64,
    failed: u64,
    results: &[u8],
    out: &mut Vec<u8>,
) {
    open_totals(succeeded, failed, out);
    out.extend_from_slice(b",\"results\":[");
    out.extend_from_slice(results);
    out.extend_from_slice(b"],\"_links\":{");
    hal.write_curies(out);
    out.extend_from_slice(b",\"self\":");
    hal.write_link(here, out);
    out.extend_from_slice(b"}}");
}
