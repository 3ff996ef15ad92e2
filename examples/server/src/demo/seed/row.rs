//! One record to load, and short ways to write its fields.

use svc_core::link::RecordAddress;
use svc_core::raw::RawDraft;
use svc_core::read::{Json, Object};
use svc_core::value::{Amount, Timestamp};

/// One record to load: what a create would have made of it, with its id and date.
#[derive(Debug, Clone)]
pub struct SeedRow {
    /// Where it stands.
    pub address: RecordAddress,
    /// When it was created, and last changed.
    pub created: Timestamp,
    /// Its fields, identifiers and links, its container among them.
    pub draft: RawDraft,
}

/// An object with these members.
pub(super) fn object<const N: usize>(members: [(&str, Json); N]) -> Object {
    members
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// The same as a value.
pub(super) fn nested<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(object(members))
}

/// An array of strings.
pub(super) fn texts(values: &[&str]) -> Json {
    Json::Array(values.iter().map(|value| Json::from(*value)).collect())
}

/// An amount of money, from its cents.
pub(super) fn money(cents: u32) -> Json {
    Json::from(Amount::new(i128::from(cents), 2).unwrap_or_default())
}

/// A coordinate in degrees, from its ten-thousandths.
pub(super) fn degrees(ten_thousandths: i32) -> Json {
    Json::from(Amount::new(i128::from(ten_thousandths), 4).unwrap_or_default())
}
