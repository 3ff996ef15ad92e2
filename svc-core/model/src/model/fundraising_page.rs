//! A page that accepts donations.

use super::shared::ShareOption;
use crate::{types::resource, schema::FieldRule, value::Amount};

resource! {
    /// A page that accepts donations.
    FundraisingPage: "fundraising_page" / "fundraising_pages" {
        /// Name of the creating system
        "RES-fundraising_page-01" origin_system: String,
        /// Administrative name
        "RES-fundraising_page-02" name: String,
        /// Public title
        "RES-fundraising_page-03" title: String,
        /// Description, text and/or HTML
        "RES-fundraising_page-04" description: String,
        /// Single text paragraph
        "RES-fundraising_page-05" summary: String,
        /// Public URL
        "RES-fundraising_page-06" browser_url: String,
        /// Administrative URL
        "RES-fundraising_page-07" administrative_url: String,
        /// Image URL
        "RES-fundraising_page-08" featured_image_url: String,
        /// Number of donations in `total_amount`; computed by the server
        "RES-fundraising_page-09" total_donations: i64 = count(Donation unless voided, of currency),
        /// Sum of the donations in the page's currency, without voided ones; computed by the server
        "RES-fundraising_page-10" total_amount: Amount = sum(Donation.amount unless voided, of currency),
        /// ISO 4217 code
        "RES-fundraising_page-11" currency: String [FieldRule::CurrencyCode],
        /// URL to share
        "RES-fundraising_page-12" share_url: String,
        /// Computed number of shares
        "RES-fundraising_page-13" total_shares: i64 = outside,
        /// Alternate ways to share the page
        "RES-fundraising_page-14" share_options: Vec<ShareOption>,
    }
    links {
        /// The Person who created it
        "RES-fundraising_page-16" creator: one Person Create,
        /// The Person who last changed it
        "RES-fundraising_page-17" modified_by: one Person,
        /// Its donations
        "RES-fundraising_page-18" donations: many Donation,
        /// URL of the helper
        "RES-fundraising_page-19" record_donation_helper: helper RecordDonation,
    }
}
