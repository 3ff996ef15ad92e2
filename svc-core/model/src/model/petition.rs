//! A petition people can sign.

use super::shared::ShareOption;
use crate::types::{object, resource};

resource! {
    /// A petition people can sign.
    Petition: "petition" / "petitions" {
        /// Name of the creating system
        "RES-petition-01" origin_system: String,
        /// Administrative name
        "RES-petition-02" name: String,
        /// Public title
        "RES-petition-03" title: String,
        /// Description, text and/or HTML
        "RES-petition-04" description: String,
        /// Single text paragraph
        "RES-petition-05" summary: String,
        /// Letter to the target
        "RES-petition-06" petition_text: String,
        /// Public URL
        "RES-petition-07" browser_url: String,
        /// Administrative URL
        "RES-petition-08" administrative_url: String,
        /// Image URL
        "RES-petition-09" featured_image_url: String,
        /// Number of signatures; computed by the server
        "RES-petition-10" total_signatures: i64 = count(Signature),
        /// Targets of the petition
        "RES-petition-11" target: Vec<PetitionTarget>,
        /// URL to share
        "RES-petition-13" share_url: String,
        /// Computed number of shares
        "RES-petition-14" total_shares: i64 = outside,
        /// Alternate ways to share the page
        "RES-petition-15" share_options: Vec<ShareOption>,
    }
    links {
        /// The Person who created it
        "RES-petition-17" creator: one Person Create,
        /// The Person who last changed it
        "RES-petition-18" modified_by: one Person,
        /// Its signatures
        "RES-petition-19" signatures: many Signature,
        /// URL of the helper
        "RES-petition-20" record_signature_helper: helper RecordSignature,
    }
}

object! {
    /// A target of a petition (RES-petition-11).
    PetitionTarget: "target" {
        /// Name of a target
        "RES-petition-12" name: String,
    }
}
