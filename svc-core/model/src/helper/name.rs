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
