//! A form people can submit.

use super::shared::ShareOption;
use crate::types::resource;

resource! {
    /// A form people can submit.
    Form: "form" / "forms" {
        /// Name of the creating system
        "RES-form-01" origin_system: String,
        /// Administrative name
        "RES-form-02" name: String,
        /// Public title
        "RES-form-03" title: String,
        /// Description, text and/or HTML
        "RES-form-04" description: String,
        /// Single text paragraph
        "RES-form-05" summary: String,
        /// Call to action
        "RES-form-06" call_to_action: String,
        /// Public URL
        "RES-form-07" browser_url: String,
        /// Administrative URL
        "RES-form-08" administrative_url: String,
        /// Image URL
        "RES-form-09" featured_image_url: String,
        /// Number of submissions; computed by the server
        "RES-form-10" total_submissions: i64 = count(Submission),
        /// URL to share
        "RES-form-11" share_url: String,
        /// Computed number of shares
        "RES-form-12" total_shares: i64 = outside,
        /// Alternate ways to share the page
        "RES-form-13" share_options: Vec<ShareOption>,
    }
    links {
        /// The Person who created it
        "RES-form-15" creator: one Person Create,
        /// The Person who last changed it
        "RES-form-16" modified_by: one Person,
        /// Its submissions
        "RES-form-17" submissions: many Submission,
        /// URL of the helper
        "RES-form-18" record_submission_helper: helper RecordSubmission,
    }
}
