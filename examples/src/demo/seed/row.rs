//! One record to load, and short ways to write its fields.

use svc_core::read::{Json, Object};
use svc_core::value::{Amount, Id, Identifier, Timestamp};

/// Stands in for `svc_core::model::Kind` until it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "stand-in")]
pub enum Kind {
    Person,
    Petition,
    Event,
    Form,
    FundraisingPage,
    Donation,
    Tag,
    List,
    Query,
    Question,
    SharePage,
    AdvocacyCampaign,
    Message,
    Signature,
    Submission,
    Attendance,
    Outreach,
    Answer,
    Tagging,
    Item,
    Canvass,
}

/// Stands in for `svc_core::link::Address` until it is there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "stand-in")]
pub struct Address {
    pub kind: Kind,
    pub id: Id,
    pub parent: Option<Id>,
}

/// One record to load: what a create would have made of it, with its id and dates.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Where it stands.
    pub address: Address,
    /// When it was created, and last changed.
    pub created: Timestamp,
    /// Its foreign identifiers.
    pub identifiers: Vec<Identifier>,
    /// Its fields under the names of the tables, computed ones apart.
    pub fields: Object,
    /// The records it links to, its container among them.
    pub links: Vec<(&'static str, Address)>,
    /// The submission or canvass whose helper call recorded it.
    pub recorded_by: Option<Address>,
}

/// An object with these members.
pub(super) fn object<const N: usize>(members: [(&str, Json); N]) -> Object {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
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
