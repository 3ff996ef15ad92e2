//! A submission of a form.

use super::shared::ReferrerData;
use crate::types::resource;

resource! {
    /// A submission of a form.
    Submission: "submission" / "submissions" in Form under "form" also HasShortAddress {
        /// Creating system
        "RES-submission-01" origin_system: String,
        /// Date and time submitted
        "RES-submission-02" action_date: String = receipt_time,
        /// Where the action came from
        "RES-submission-03" referrer_data: ReferrerData,
    }
    links {
        /// The Person
        "RES-submission-05" person: one Person Required Move,
        /// The Form
        "RES-submission-06" form: one Form restrict,
        /// The collection of Answer resources with the submitted data
        "RES-submission-07" answers: many Answer,
    }
}
