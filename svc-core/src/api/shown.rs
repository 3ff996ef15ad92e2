//! What of a record its caller may see.

use std::borrow::Cow;

use crate::{context::Context, record::RawRecord};

/// A record as its caller may see it: whole with the right to read it, else its id, dates and
/// links.
///
/// Requirements: AUT-04.
pub(super) fn shown<'r>(cx: &Context, record: &'r RawRecord) -> Cow<'r, RawRecord> {
    if cx.may_read(record.kind()) {
        Cow::Borrowed(record)
    } else {
        Cow::Owned(record.bare())
    }
}
