//! An outreach of a person to targets.

use super::{
    advocacy_campaign::OutreachType,
    shared::{ReferrerData, Target},
};
use crate::{types::resource, schema::FieldRule, value::FlexEnum};

resource! {
    /// An outreach of a person to targets.
    Outreach: "outreach" / "outreaches" in AdvocacyCampaign under "advocacy_campaign" {
        /// Creating system
        "RES-outreach-01" origin_system: String,
        /// When it was made
        "RES-outreach-02" action_date: String = receipt_time,
        /// Kind
        "RES-outreach-03" type_ as "type": FlexEnum<OutreachType>,
        /// Seconds; phone only
        "RES-outreach-04" duration: i64 [FieldRule::NotNegative],
        /// E-mail only
        "RES-outreach-05" subject: String,
        /// E-mail or postal mail
        "RES-outreach-06" message: String,
        /// Notes
        "RES-outreach-07" notes: String,
        /// Where the action came from
        "RES-outreach-08" referrer_data: ReferrerData,
        /// Targets, see RES-target
        "RES-outreach-09" targets: Vec<Target>,
    }
    links {
        /// The Person
        "RES-outreach-11" person: one Person Required Move,
        /// The campaign
        "RES-outreach-12" advocacy_campaign: one AdvocacyCampaign restrict,
    }
}
