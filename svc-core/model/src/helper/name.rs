//! The eight helpers as types.

use crate::{
    model::{
        Attendance, Canvass, Donation, Kind, Message, Outreach, Person, Resource, Signature,
        Submission,
    },
    names::{HelperName, helpers},
};

/// A helper as a type: what it records. Implemented by the eight helpers of the interface only.
pub trait HelperSpec: Send + Sync + 'static {
    /// Which helper it is.
    const NAME: HelperName;
    /// What it creates or changes, and answers with.
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
                type Records = $records;
            }
        )+

        // What a name says that it records is what its type records.
        $( const _: () = assert!(matches!(<$records as Resource>::KIND, Kind::$records)); )+
    };
}

helpers!(types);
