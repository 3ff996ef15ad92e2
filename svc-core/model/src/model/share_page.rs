//! A page for sharing.

use super::shared::ShareOption;
use crate::types::resource;

resource! {
    /// A page for sharing.
    SharePage: "share_page" / "share_pages" {
        /// Name of the creating system
        "RES-share_page-01" origin_system: String,
        /// Administrative name
        "RES-share_page-02" name: String,
        /// Public title
        "RES-share_page-03" title: String,
        /// Description, text and/or HTML
        "RES-share_page-04" description: String,
        /// Single text paragraph
        "RES-share_page-05" summary: String,
        /// Public URL
        "RES-share_page-06" browser_url: String,
        /// Administrative URL
        "RES-share_page-07" administrative_url: String,
        /// URL to share
        "RES-share_page-08" share_url: String,
        /// Computed number of shares
        "RES-share_page-09" total_shares: i64 = outside,
        /// Alternate ways to share the page
        "RES-share_page-10" share_options: Vec<ShareOption>,
    }
    links {
        /// The Person who created it
        "RES-share_page-12" creator: one Person Create,
        /// The Person who last changed it
        "RES-share_page-13" modified_by: one Person,
    }
}
