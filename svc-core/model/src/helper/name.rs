//! The eight helpers as types.

use crate::{
    model::{
        Attendance, Canvass, Donation, Kind, Message, Outreach, Person, Resource, Signature,
        Submission,
    },
    names::{HelperName, helpers},
};

/// A helper as a type. Implemented only by the eight helpers of the specification.
pub trait HelperSpec: Send + Sync + 'static {
    /// The name of the helper.
    const NAME: HelperName;
    /// The kind that the helper creates or changes, and returns.
    type Record: Resource;
}

macro_rules! types {
    ($(
        $(#[doc = $doc:literal])+
        $row:literal $name:ident: $wire:literal, $relation:literal, $container:expr, $records:ident, anonymous $anonymous:literal;
    )+) => {
        $(
            #[doc = concat!($($doc,)+ " (", $row, ").")]
            #[derive(Debug, Clone, Copy)]
            pub struct $name;

            impl HelperSpec for $name {
                const NAME: HelperName = HelperName::$name;
                type Record = $records;
            }
        )+

        // The kind that a helper name records must be the kind that its type records.
        $( const _: () = assert!(matches!(<$records as Resource>::KIND, Kind::$records)); )+
    };
}

helpers!(types);

/// A helper that can have one action for each person: `record_signature` and `record_attendance`.
///
/// This crate implements the trait. Other crates cannot implement it.
///
/// Requirements: HLP-04.
pub trait OneActionHelper: HelperSpec + sealed::Sealed {
    /// The behaviour that the capability document declares if the helper has one action for each
    /// person.
    const BEHAVIOUR: &'static str;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! one_action {
    ($($name:ident: $wire:literal),+ $(,)?) => {
        $(
            impl sealed::Sealed for $name {}

            impl OneActionHelper for $name {
                const BEHAVIOUR: &'static str = concat!("helper.", $wire, ".one_action_per_person");
            }
        )+

        /// The kinds of the actions of which a helper can have one for each person.
        ///
        /// Requirements: HLP-04.
        pub const ONE_ACTION_KINDS: [Kind; [$($wire),+].len()] = [$(<$name as HelperSpec>::Record::KIND),+];
    };
}

one_action!(RecordSignature: "record_signature", RecordAttendance: "record_attendance");
