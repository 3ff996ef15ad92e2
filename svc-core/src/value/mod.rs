//! Value types of the interface.

mod amount;
mod codes;
mod date;
mod decimal;
mod digest;
mod flex_enum;
mod id;
mod identifier;
mod timestamp;

#[cfg(test)]
pub(crate) mod testing;

pub use amount::Amount;
pub(crate) use codes::{calling_codes, currency};
pub use date::Date;
pub(crate) use date::digits;
pub(crate) use decimal::Parts;
#[cfg(feature = "store")]
pub(crate) use digest::HEX_DIGITS;
pub(crate) use digest::{digest, hex_digits, short_digest};
pub use flex_enum::{ClosedEnum, FlexEnum};
pub use id::Id;
pub use identifier::Identifier;
pub use timestamp::Timestamp;
