//! A campaign that asks people to contact targets.

use super::shared::{ShareOption, Target};
use crate::{
    types::{closed_enum, resource},
    value::FlexEnum,
};

resource! {
    /// A campaign that asks people to contact targets.
    AdvocacyCampaign: "advocacy_campaign" / "advocacy_campaigns" also NotOnEntryPoint {
        /// Name of the creating system
        "RES-advocacy_campaign-01" origin_system: String,
        /// Administrative name
        "RES-advocacy_campaign-02" name: String,
        /// Public title
        "RES-advocacy_campaign-03" title: String,
        /// Description, text and/or HTML
        "RES-advocacy_campaign-04" description: String,
        /// Single text paragraph
        "RES-advocacy_campaign-05" summary: String,
        /// Phone script or postcard/e-mail templates, text and/or HTML
        "RES-advocacy_campaign-06" templates: Vec<String>,
        /// Human-readable target universe
        "RES-advocacy_campaign-07" targets: String,
        /// Targets, see RES-target
        "RES-advocacy_campaign-08" target_list: Vec<Target>,
        /// Public URL
        "RES-advocacy_campaign-09" browser_url: String,
        /// Administrative URL
        "RES-advocacy_campaign-10" administrative_url: String,
        /// Image URL
        "RES-advocacy_campaign-11" featured_image_url: String,
        /// Number of outreaches; computed by the server
        "RES-advocacy_campaign-12" total_outreaches: i64 = count(Outreach),
        /// Kind of outreach
        "RES-advocacy_campaign-13" type_ as "type": FlexEnum<OutreachType>,
        /// URL to share
        "RES-advocacy_campaign-14" share_url: String,
        /// Computed number of shares
        "RES-advocacy_campaign-15" total_shares: i64 = outside,
        /// Alternate ways to share the page
        "RES-advocacy_campaign-16" share_options: Vec<ShareOption>,
    }
    links {
        /// The Person who created it
        "RES-advocacy_campaign-18" creator: one Person Create,
        /// The Person who last changed it
        "RES-advocacy_campaign-19" modified_by: one Person,
        /// Its outreaches
        "RES-advocacy_campaign-20" outreaches: many Outreach,
        /// URL of the helper
        "RES-advocacy_campaign-21" record_outreach_helper: helper RecordOutreach,
    }
}

closed_enum! {
    /// Listed kinds of outreach (RES-outreach-03, RES-advocacy_campaign-13).
    OutreachType { Email = "email", InPerson = "in-person", Phone = "phone", PostalMail = "postal mail" }
}
