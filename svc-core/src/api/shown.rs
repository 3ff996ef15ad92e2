//! The parts of a record that its caller may see.

use std::borrow::Cow;

use crate::{context::Context, record::RawRecord};

/// Returns a record as its caller may see it.
///
/// With the right to read the record, this is the whole record. Otherwise it has only the id, the
/// dates and the links.
///
/// Requirements: AUT-04.
pub(super) fn shown<'r>(cx: &Context, record: &'r RawRecord) -> Cow<'r, RawRecord> {
    if cx.may_read(record.kind()) {
        Cow::Borrowed(record)
    } else {
        Cow::Owned(record.without_fields())
    }
}
