//! Alternate ways to share a page.

use crate::types::object;

object! {
    /// Texts for sharing a page (RES-share_options-01, RES-share_options-02).
    ShareOption: "share_options" {
        /// Default language and attributes for sharing on the first social network
        "RES-share_options-03" network_a_share: NetworkAShare,
        /// Language and attributes for sharing on the second social network
        "RES-share_options-04" network_b_share: NetworkBShare,
        /// Language and attributes for sharing by e-mail
        "RES-share_options-05" email_share: EmailShare,
    }
}

object! {
    /// Sharing on the first social network.
    NetworkAShare: "network_a_share" {
        /// Title
        "RES-share_options-06" title: String,
        /// Description
        "RES-share_options-07" description: String,
        /// Image URL
        "RES-share_options-08" image: String,
        /// Computed number of shares
        "RES-share_options-09" total_shares: i64 = outside,
    }
}

object! {
    /// Sharing on the second social network.
    NetworkBShare: "network_b_share" {
        /// Message; a system may append the `share_url` or insert it
        "RES-share_options-10" message: String,
        /// Computed number of shares
        "RES-share_options-11" total_shares: i64 = outside,
    }
}

object! {
    /// Sharing by e-mail.
    EmailShare: "email_share" {
        /// Subject
        "RES-share_options-12" subject: String,
        /// Body; a system may append the `share_url` or insert it
        "RES-share_options-13" body: String,
        /// Computed number of shares
        "RES-share_options-14" total_shares: i64 = outside,
    }
}
