//! What can follow the `=` of a field.
//!
//! The macro has its own file so that a test can check what it rejects: see
//! `tests/compile_fail/computed_without_source.rs`.

/// Returns the mode of a field, from what follows the `=` of its line.
macro_rules! mode {
    () => {
        $crate::schema::FieldMode::Stored
    };
    (required) => {
        $crate::schema::FieldMode::Required
    };
    (receipt_time) => {
        $crate::schema::FieldMode::ReceiptTime
    };
    (default $value:literal) => {
        $crate::schema::FieldMode::Default($value)
    };
    (outside) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::AlwaysZero)
    };
    (relation $kind:ident) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::Relation($crate::model::Kind::$kind))
    };
    (count $kind:ident) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::Count($crate::model::Kind::$kind))
    };
    (accepted $kind:ident) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::Accepted($crate::model::Kind::$kind))
    };
    (number $kind:ident) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::SummedCount($crate::model::Kind::$kind))
    };
    (sum $kind:ident) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::SummedAmount($crate::model::Kind::$kind))
    };
    (schedule start) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::ScheduledStart)
    };
    (schedule stop) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::ScheduledStop)
    };
    (computed $($rest:tt)*) => {
        compile_error!("a computed field must name its source: `= count Signature`, `= sum Donation`, `= outside`, ...")
    };
    ($mark:ident $($rest:tt)*) => {
        compile_error!(concat!("no field is `= ", stringify!($mark $($rest)*), "`: see `mode!` for the allowed forms"))
    };
}

pub(crate) use mode;
