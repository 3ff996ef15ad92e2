//! What a merge changed, as HAL.
//!
//! Requirements: MRG-02, MRG-05.

use crate::{
    error::PropertyPath,
    hal::{Hal, close},
    helper::{OverruledValue, TightenedValue},
    json::{Json, write_string},
    link::{RecordAddress, Target},
    model::Kind,
    store::FoldedRecord,
};

/// What a merge changed, as far as the caller may see it.
#[derive(Debug)]
pub(super) struct MergeView<'a> {
    pub(super) is_preview: bool,
    pub(super) is_repeated: bool,
    /// The former address of the merged person.
    pub(super) merged: &'a RecordAddress,
    pub(super) moved: Vec<(Kind, u64)>,
    pub(super) folded: Vec<&'a FoldedRecord>,
    pub(super) overruled: Vec<OverruledValue>,
    pub(super) tightened: Vec<&'a TightenedValue>,
}

/// Adds the member to the written document of the remaining person.
pub(super) fn merge(hal: &Hal<'_>, view: &MergeView<'_>, out: &mut Vec<u8>) {
    if out.pop() != Some(b'}') {
        return;
    }
    out.push(b',');
    write_string(&hal.relations.dialect.relation("merge"), out);
    let flags = format!(
        ":{{\"preview\":{},\"already\":{},\"moved\":{{",
        view.is_preview, view.is_repeated
    );
    out.extend_from_slice(flags.as_bytes());
    for (kind, count) in &view.moved {
        out.extend_from_slice(format!("\"{}\":{count},", kind.plural()).as_bytes());
    }
    close(out, b'}');
    out.extend_from_slice(b",\"folded\":[");
    for pair in &view.folded {
        out.extend_from_slice(b"{\"kind\":");
        write_string(pair.remaining.kind.singular(), out);
        out.extend_from_slice(b",\"_links\":{");
        for (name, at) in [("remaining", &pair.remaining), ("merged", &pair.merged)] {
            hal.write_relation(name, &Target::Record(at.clone()), out);
            out.push(b',');
        }
        close(out, b'}');
        out.extend_from_slice(b"},");
    }
    close(out, b']');
    out.extend_from_slice(b",\"overruled\":[");
    for it in &view.overruled {
        let values = [
            ("remaining", it.remaining.as_ref()),
            ("merged", it.merged.as_ref()),
        ];
        values_of(&it.property, &values, out);
    }
    close(out, b']');
    out.extend_from_slice(b",\"tightened\":[");
    for it in &view.tightened {
        let values = [("from", it.from.as_ref()), ("to", Some(&it.to))];
        values_of(&it.property, &values, out);
    }
    close(out, b']');
    out.extend_from_slice(b",\"_links\":{");
    hal.write_relation("merged", &Target::Record(view.merged.clone()), out);
    out.extend_from_slice(b"}}}");
    hal.extend_curies(out);
}

/// Writes a property with two values, `null` for a missing one, and a trailing comma.
fn values_of(property: &PropertyPath, values: &[(&str, Option<&Json>)], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"property\":");
    write_string(&property.to_string(), out);
    for (name, value) in values {
        out.extend_from_slice(format!(",\"{name}\":").as_bytes());
        value.unwrap_or(&Json::Null).write(out);
    }
    out.extend_from_slice(b"},");
}
