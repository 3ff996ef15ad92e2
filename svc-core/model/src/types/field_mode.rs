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
    (outside absent) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::AlwaysAbsent)
    };
    (relation $kind:ident) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::Relation($crate::model::Kind::$kind))
    };
    (count ($kind:ident)) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::Count($crate::model::Kind::$kind))
    };
    (count ($($measure:tt)+)) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::Measure($crate::types::measure!(Count $($measure)+)))
    };
    (sum ($($measure:tt)+)) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::Measure($crate::types::measure!(Sum $($measure)+)))
    };
    (part $field:ident) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::Part(stringify!($field)))
    };
    (former $member:ident) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::Former(stringify!($member)))
    };
    (schedule start) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::ScheduledStart)
    };
    (schedule stop) => {
        $crate::schema::FieldMode::Computed($crate::schema::ComputedSource::ScheduledStop)
    };
    (computed $($rest:tt)*) => {
        compile_error!("a computed field must name its source: `= count(Signature)`, `= sum(Donation.amount)`, `= outside`, ...")
    };
    ($mark:ident $($rest:tt)*) => {
        compile_error!(concat!("no field is `= ", stringify!($mark $($rest)*), "`: see `mode!` for the allowed forms"))
    };
}

/// Returns a measure, from what its line has in parentheses.
macro_rules! measure {
    (
        $aggregate:ident $kind:ident $(. $member:ident)*
        $(where $field:ident is $value:tt $(or $absent:ident)?)? $(unless $flag:ident)?
        $(, $parts:ident $by:ident)?
    ) => {
        $crate::schema::Measure {
            aggregate: $crate::schema::Aggregate::$aggregate,
            of: $crate::model::Kind::$kind,
            path: &[$(stringify!($member)),*],
            condition: $crate::types::measure!(@condition $($field $value $($absent)?)? $(unless $flag)?),
            parts: $crate::types::measure!(@parts $($parts $by)?),
        }
    };
    (@condition) => {
        $crate::schema::MeasureCondition::All
    };
    (@condition unless $flag:ident) => {
        $crate::schema::MeasureCondition::Unless(stringify!($flag))
    };
    (@condition $field:ident $value:tt) => {
        $crate::schema::MeasureCondition::Is { field: stringify!($field), value: $crate::types::measure!(@value $value), or_absent: false }
    };
    (@condition $field:ident $value:tt absent) => {
        $crate::schema::MeasureCondition::Is { field: stringify!($field), value: $crate::types::measure!(@value $value), or_absent: true }
    };
    (@value $value:ident) => {
        stringify!($value)
    };
    (@value $value:literal) => {
        $value
    };
    (@parts) => {
        $crate::schema::MeasureParts::Whole
    };
    (@parts each $member:ident) => {
        $crate::schema::MeasureParts::Each(stringify!($member))
    };
    (@parts of $member:ident) => {
        $crate::schema::MeasureParts::Of(stringify!($member))
    };
}

pub(crate) use {measure, mode};
