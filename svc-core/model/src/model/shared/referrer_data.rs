//! The origin of an action.

use crate::types::object;

object! {
    /// The origin of an action (RES-referrer_data-01).
    ReferrerData: "referrer_data" {
        /// Source code used when the action was created; tracks an individual link
        "RES-referrer_data-02" source: String,
        /// Code or id of the person or group that referred the action
        "RES-referrer_data-03" referrer: String,
        /// Top-level domain the person clicked from
        "RES-referrer_data-04" website: String,
        /// Specific URL the person clicked from
        "RES-referrer_data-05" url: String,
    }
}
