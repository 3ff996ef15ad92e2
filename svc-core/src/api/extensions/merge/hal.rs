//! Merges of people as HAL: what a merge changed, the list of merges, and what was undone.
//!
//! Requirements: MRG-02, MRG-05, MRG-20.

use crate::{
    error::PropertyPath,
    hal::{Hal, close, text_member},
    helper::{OverruledValue, TightenedValue},
    json::{Json, write_string},
    link::{RecordAddress, Target},
    model::Kind,
    operation::ExtensionName,
    store::{FoldedRecord, StoredMerge},
    value::Timestamp,
};

/// The relation of the URL that undoes a merge.
const UNDO: &str = "undo_merge_helper";

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
    /// The stored merge, if it can be undone.
    pub(super) undo: Option<&'a StoredMerge>,
}

/// What was undone, as far as the caller may see it.
#[derive(Debug)]
pub(super) struct UndoneMergeView<'a> {
    /// The address of the person that exists again.
    pub(super) restored: RecordAddress,
    pub(super) moved: Vec<(Kind, u64)>,
    pub(super) folded: Vec<&'a FoldedRecord>,
    pub(super) left: Vec<&'a PropertyPath>,
}

/// Adds the member to the written document of the remaining person.
pub(super) fn merge(hal: &Hal<'_>, view: &MergeView<'_>, out: &mut Vec<u8>) {
    if out.pop() != Some(b'}') {
        return;
    }
    out.push(b',');
    write_string(&hal.relations.dialect.relation("merge"), out);
    let flags = format!(
        ":{{\"preview\":{},\"already\":{},",
        view.is_preview, view.is_repeated
    );
    out.extend_from_slice(flags.as_bytes());
    records(hal, &view.moved, &view.folded, out);
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
    out.push(b',');
    if let Some(undo) = view.undo {
        text_member("undo_until", Some(&undo.until.to_string()), out);
    }
    out.extend_from_slice(b"\"_links\":{");
    hal.write_relation("merged", &Target::Record(view.merged.clone()), out);
    if let Some(undo) = view.undo {
        out.push(b',');
        undo_link(hal, undo, out);
    }
    out.extend_from_slice(b"}}}");
    hal.extend_curies(out);
}

/// Adds the member to the written document of the remaining person.
pub(super) fn undone_merge(hal: &Hal<'_>, view: &UndoneMergeView<'_>, out: &mut Vec<u8>) {
    if out.pop() != Some(b'}') {
        return;
    }
    out.push(b',');
    write_string(&hal.relations.dialect.relation("undone_merge"), out);
    out.extend_from_slice(b":{");
    records(hal, &view.moved, &view.folded, out);
    out.extend_from_slice(b",\"left\":[");
    for property in &view.left {
        write_string(&property.to_string(), out);
        out.push(b',');
    }
    close(out, b']');
    out.extend_from_slice(b",\"_links\":{");
    hal.write_relation("restored", &Target::Record(view.restored.clone()), out);
    out.extend_from_slice(b"}}}");
    hal.extend_curies(out);
}

/// Writes the document with the merges into a person. Those that can be undone have a link for that.
pub(super) fn merges(
    hal: &Hal<'_>,
    person: &RecordAddress,
    merges: &[StoredMerge],
    now: Timestamp,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"{\"_links\":{");
    hal.write_extended_curies(out);
    out.extend_from_slice(b",\"self\":");
    hal.write_link(&Target::PersonMerges(person.clone()), out);
    out.extend_from_slice(b"},\"_embedded\":{");
    let relation = ExtensionName::UndoMerge.relation();
    write_string(&hal.relations.dialect.relation(relation), out);
    out.extend_from_slice(b":[");
    for merge in merges {
        out.push(b'{');
        text_member("created_date", Some(&merge.at.to_string()), out);
        text_member("created_by", merge.key_name.as_deref(), out);
        text_member("undo_until", Some(&merge.until.to_string()), out);
        out.extend_from_slice(b"\"_links\":{");
        let former = RecordAddress::without_parent(Kind::Person, merge.merged.clone());
        hal.write_relation("merged", &Target::Record(former), out);
        if merge.is_undoable(now) {
            out.push(b',');
            undo_link(hal, merge, out);
        }
        out.extend_from_slice(b"}},");
    }
    close(out, b']');
    out.extend_from_slice(b"}}");
}

/// Writes the link that undoes a merge.
fn undo_link(hal: &Hal<'_>, merge: &StoredMerge, out: &mut Vec<u8>) {
    let remaining = RecordAddress::without_parent(Kind::Person, merge.remaining.clone());
    let target = Target::UndoMerge(remaining, merge.id.clone());
    hal.write_relation(UNDO, &target, out);
}

/// Writes the numbers of moved records, and the pairs of folded records.
fn records(hal: &Hal<'_>, moved: &[(Kind, u64)], folded: &[&FoldedRecord], out: &mut Vec<u8>) {
    out.extend_from_slice(b"\"moved\":{");
    for (kind, count) in moved {
        out.extend_from_slice(format!("\"{}\":{count},", kind.plural()).as_bytes());
    }
    close(out, b'}');
    out.extend_from_slice(b",\"folded\":[");
    for pair in folded {
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
