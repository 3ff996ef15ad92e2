//! Objects that several kinds contain.

mod email_address;
mod phone_number;
mod postal_address;
mod referrer_data;
mod share_options;
mod target;

pub use email_address::{EmailAddress, EmailAddressType, EmailStatus};
pub use phone_number::{PhoneNumber, PhoneNumberType};
pub use postal_address::{
    Accuracy, Geocode, PostalAddress, PostalAddressStatus, PostalAddressType,
};
pub use referrer_data::ReferrerData;
pub use share_options::{EmailShare, NetworkAShare, NetworkBShare, ShareOption};
pub use target::Target;
