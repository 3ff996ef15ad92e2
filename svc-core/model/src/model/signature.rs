//! A signature on a petition.

use super::shared::ReferrerData;
use crate::types::resource;

resource! {
    /// A signature on a petition.
    Signature: "signature" / "signatures" in Petition under "petition" {
        /// Human-readable name of the system that created the record
        "RES-signature-01" origin_system: String,
        /// Date and time signed
        "RES-signature-02" action_date: String = receipt_time,
        /// Comments
        "RES-signature-03" comments: String,
        /// Where the action came from
        "RES-signature-04" referrer_data: ReferrerData,
    }
    links {
        /// The Person who signed
        "RES-signature-06" person: one Person Required Move,
        /// The Petition signed
        "RES-signature-07" petition: one Petition restrict,
    }
}
