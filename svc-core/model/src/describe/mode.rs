//! What stands behind the `=` of a field.
//!
//! The macro has a file of its own so that a test can hold what it refuses: see
//! `tests/compile_fail/computed_without_source.rs`.

/// Who sets a field, after the `=` of its line.
macro_rules! mode {
    () => {
        $crate::schema::Mode::Stored
    };
    (required) => {
        $crate::schema::Mode::Required
    };
    (receipt_time) => {
        $crate::schema::Mode::ReceiptTime
    };
    (default $value:literal) => {
        $crate::schema::Mode::Default($value)
    };
    (outside) => {
        $crate::schema::Mode::Computed($crate::schema::Source::Outside)
    };
    (relation $kind:ident) => {
        $crate::schema::Mode::Computed($crate::schema::Source::Relation($crate::model::Kind::$kind))
    };
    (count $kind:ident) => {
        $crate::schema::Mode::Computed($crate::schema::Source::Count($crate::model::Kind::$kind))
    };
    (accepted $kind:ident) => {
        $crate::schema::Mode::Computed($crate::schema::Source::Accepted($crate::model::Kind::$kind))
    };
    (number $kind:ident) => {
        $crate::schema::Mode::Computed($crate::schema::Source::Number($crate::model::Kind::$kind))
    };
    (sum $kind:ident) => {
        $crate::schema::Mode::Computed($crate::schema::Source::Sum($crate::model::Kind::$kind))
    };
    (schedule start) => {
        $crate::schema::Mode::Computed($crate::schema::Source::ScheduledStart)
    };
    (schedule stop) => {
        $crate::schema::Mode::Computed($crate::schema::Source::ScheduledStop)
    };
    (computed $($rest:tt)*) => {
        compile_error!("a computed field names its source: `= count Signature`, `= sum Donation`, `= outside`, ...")
    };
    ($mark:ident $($rest:tt)*) => {
        compile_error!(concat!("no field is `= ", stringify!($mark $($rest)*), "`: see `mode!` for what there is"))
    };
}

pub(crate) use mode;
