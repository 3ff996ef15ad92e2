//! One record to load, and short ways to write its fields.

use svc_core::link::RecordAddress;
use svc_core::raw::RawDraft;
use svc_core::read::{Json, Object};
use svc_core::value::{Amount, Timestamp};

/// One record to load, as a create request would store it, with its id and date.
#[derive(Debug, Clone)]
pub struct SeedRow {
    /// The record address.
    pub address: RecordAddress,
    /// When it was created and last changed.
    pub created: Timestamp,
    /// Its fields, identifiers and links, including its container.
    pub draft: RawDraft,
}

/// Returns an object with these members.
pub(super) fn object<const N: usize>(members: [(&str, Json); N]) -> Object {
    members
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Returns the same as a value.
pub(super) fn nested<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(object(members))
}

/// Returns an array of strings.
pub(super) fn texts(values: &[&str]) -> Json {
    Json::Array(values.iter().map(|value| Json::from(*value)).collect())
}

/// Returns an amount of money from cents.
pub(super) fn money(cents: u32) -> Json {
    Json::from(Amount::new(i128::from(cents), 2).unwrap_or_default())
}

/// Returns a coordinate in degrees from ten-thousandths.
pub(super) fn degrees(ten_thousandths: i32) -> Json {
    Json::from(Amount::new(i128::from(ten_thousandths), 4).unwrap_or_default())
}
