//! Renders error objects, warnings and notices. Error objects contain no links (Annex C).
//!
//! Requirements: ERR-18 to ERR-33.

use std::borrow::Cow;

use super::{Hal, close, record};
use crate::{
    error::{ErrorCode, Problem, PropertyPath},
    helper::{EntryStatus, ReportEntry},
    json::write_string,
    link::Target,
    model::Kind,
    operation::ResponseStyle,
    record::RawRecord,
};

/// A failed atomic request.
#[derive(Debug)]
pub(crate) struct FailureView<'a> {
    /// The kind of the target; `None` if it is unknown.
    ///
    /// Requirements: ERR-21.
    pub(crate) kind: Option<Kind>,
    pub(crate) status: u16,
    pub(crate) problems: &'a [Problem],
    /// The code under which the log contains details.
    ///
    /// Requirements: ERR-28.
    pub(crate) reference_code: Option<&'a str>,
}

/// Writes the error object of a failed atomic request.
///
/// Requirements: ERR-18 to ERR-28.
pub(crate) fn failure(hal: &Hal<'_>, view: &FailureView<'_>, out: &mut Vec<u8>) {
    open(hal, "atomic", view.status, out);
    // An unsupported feature has its own status, at any position among the problems, even if the
    // whole request is rejected because of it. Requirements: ERR-38, ERR-34.
    let own = view
        .problems
        .iter()
        .map(|problem| problem.code)
        .find(|code| *code == ErrorCode::NotSupported);
    status_head(
        hal,
        view.kind,
        own.map_or(view.status, ErrorCode::status),
        out,
    );
    descriptions(
        hal,
        view.problems,
        view.reference_code,
        Spelling::Table,
        out,
    );
    out.extend_from_slice(b"}]}}");
}

/// The content of the report of a partly failed helper request.
///
/// Requirements: ERR-29 to ERR-33.
pub(crate) struct ReportView<'a> {
    pub(crate) entries: &'a [ReportEntry],
    /// The person and the action, if the caller may read them.
    ///
    /// Requirements: ERR-32.
    pub(crate) embedded: &'a [Cow<'a, RawRecord>],
    /// Whether the caller is anonymous.
    pub(crate) anonymous: bool,
    pub(crate) style: ResponseStyle,
}

/// Writes the report of a partly failed helper request.
///
/// For an anonymous caller, every entry that did not fail has the status 201, so that the report
/// does not reveal which records existed.
///
/// Requirements: ERR-29 to ERR-33, HLP-07.
pub(crate) fn non_atomic(hal: &Hal<'_>, view: &ReportView<'_>, out: &mut Vec<u8>) {
    open(hal, "non-atomic", 400, out);
    let spelling = match view.style {
        ResponseStyle::Table => Spelling::Table,
        ResponseStyle::Examples => Spelling::Examples,
    };
    for entry in view.entries {
        let (status, problems) = entry_status(entry, view.anonymous);
        status_head(hal, Some(entry.kind), status, out);
        if !problems.is_empty() {
            descriptions(hal, problems, None, spelling, out);
        }
        out.extend_from_slice(b"},");
    }
    close(out, b']');
    out.push(b'}');
    for part in view.embedded {
        out.push(b',');
        write_string(&hal.relations.dialect.relation(part.kind().singular()), out);
        out.push(b':');
        record(hal, part, false, out);
    }
    out.push(b'}');
}

fn entry_status(entry: &ReportEntry, anonymous: bool) -> (u16, &[Problem]) {
    match &entry.status {
        EntryStatus::Created => (201, &[]),
        EntryStatus::Existing => (if anonymous { 201 } else { 200 }, &[]),
        EntryStatus::Failed(problems) => (
            problems
                .first()
                .map_or(500, |problem| problem.code.status()),
            problems,
        ),
    }
}

/// Adds the member with the warnings to a written object.
///
/// Requirements: UND-22.
pub(crate) fn warnings(hal: &Hal<'_>, problems: &[Problem], out: &mut Vec<u8>) {
    if out.pop() != Some(b'}') {
        return;
    }
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    write_string(&hal.relations.dialect.relation("warnings"), out);
    out.push(b':');
    list(hal, problems, None, Spelling::Table, out);
    out.push(b'}');
    hal.extend_curies(out);
}

/// Writes `{"notice": "..."}`.
///
/// Requirements: SCH-02, CRU-05.
pub(crate) fn notice(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"notice\":");
    write_string(text, out);
    out.push(b'}');
}

fn open(hal: &Hal<'_>, request_type: &str, status: u16, out: &mut Vec<u8>) {
    out.push(b'{');
    write_string(&hal.relations.dialect.relation("error"), out);
    let head = format!(
        ":{{\"request_type\":\"{request_type}\",\"response_code\":{status},\"resource_status\":["
    );
    out.extend_from_slice(head.as_bytes());
}

fn status_head(hal: &Hal<'_>, kind: Option<Kind>, status: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"resource\":");
    write_string(
        &hal.relations
            .dialect
            .relation(kind.map_or("error", Kind::singular)),
        out,
    );
    out.extend_from_slice(format!(",\"response_code\":{status}").as_bytes());
}

/// The names of the members of an entry.
///
/// Requirements: ERR-33.
#[derive(Clone, Copy)]
enum Spelling {
    Table,
    Examples,
}

fn descriptions(
    hal: &Hal<'_>,
    problems: &[Problem],
    reference_code: Option<&str>,
    spelling: Spelling,
    out: &mut Vec<u8>,
) {
    let name = match spelling {
        Spelling::Table => "error_descriptions",
        Spelling::Examples => "errors",
    };
    out.extend_from_slice(format!(",\"{name}\":").as_bytes());
    list(hal, problems, reference_code, spelling, out);
}

fn list(
    hal: &Hal<'_>,
    problems: &[Problem],
    reference_code: Option<&str>,
    spelling: Spelling,
    out: &mut Vec<u8>,
) {
    let code = match spelling {
        Spelling::Table => "error_code",
        Spelling::Examples => "code",
    };
    out.push(b'[');
    for problem in problems {
        out.extend_from_slice(
            format!("{{\"{code}\":\"{}\",\"description\":", problem.code).as_bytes(),
        );
        let spelled =
            |property: &PropertyPath| property.spelled(|link| hal.relations.dialect.relation(link));
        write_string(&problem.described(spelled), out);
        out.extend_from_slice(b",\"properties\":[");
        for property in &problem.properties {
            write_string(&spelled(property), out);
            out.push(b',');
        }
        close(out, b']');
        if let Some(hint) = &problem.hint {
            out.extend_from_slice(b",\"hint\":");
            write_string(hint, out);
        }
        if let Some(other) = &problem.other {
            out.extend_from_slice(b",\"_links\":{");
            hal.write_relation(other.kind.singular(), &Target::Record(other.clone()), out);
            out.push(b'}');
        }
        if let Some(reference) = reference_code {
            out.extend_from_slice(b",\"reference_code\":");
            write_string(reference, out);
        }
        out.extend_from_slice(b"},");
    }
    close(out, b']');
}
