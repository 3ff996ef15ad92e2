//! Value types of the API.

mod amount;
mod codes;
mod date;
mod decimal;
mod digest;
mod email;
mod flex_enum;
pub mod forms;
mod hex;
mod id;
mod identifier;
mod phone;
mod places;
mod text;
mod timestamp;

#[cfg(test)]
pub(crate) mod proptest_config;

pub use amount::Amount;
#[doc(hidden)]
pub use codes::{
    calling_codes, country, currency, eu_country, minor_digits, region, similar_country,
};
pub use date::Date;
#[doc(hidden)]
pub use date::digits;
#[doc(hidden)]
pub use decimal::DecimalParts;
#[doc(hidden)]
pub use digest::{digest, short_digest};
pub use email::{EmailError, MAX_EMAIL, email_notations, stored_email};
#[doc(hidden)]
pub use email::{email_as_sent, is_invisible, trimmed};
pub use flex_enum::{ClosedEnum, FlexEnum};
#[doc(hidden)]
pub use hex::HEX_DIGITS;
#[doc(hidden)]
pub use hex::hex_digits;
pub use id::Id;
pub use identifier::Identifier;
pub use phone::{PhoneError, StoredPhone, stored_phone, typed_phone};
#[doc(hidden)]
pub use places::plain_name;
pub use places::{country_named, country_names, region_named, region_names};
pub use text::stored_text;
#[doc(hidden)]
pub use text::{without_at, without_control_characters};
pub use timestamp::Timestamp;
