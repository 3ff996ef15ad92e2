//! An attempt to reach a person.

use crate::types::{OneOrMany, RecordReference, object, resource};

resource! {
    /// An attempt to reach a person.
    Canvass: "canvass" / "canvasses" in Person under "target" without create {
        /// Creating system
        "RES-canvass-01" origin_system: String,
        /// When attempted
        "RES-canvass-02" action_date: String = receipt_time,
        /// Code, for example in-person
        "RES-canvass-03" contact_type: String,
        /// Code, for example mobile
        "RES-canvass-04" input_type: String,
        /// Whether contact was made
        "RES-canvass-05" success: bool,
        /// Reason of a failed contact, as a code; empty or missing if it succeeded
        "RES-canvass-06" status_code: String,
        /// Answer given, with the three members below
        "RES-canvass-08" question_response: OneOrMany<CanvassResponse>,
    }
    links {
        /// The Person who made the contact
        "RES-canvass-07" canvasser: one Person Create Change,
        /// The Person to be reached
        "RES-canvass-12" target: one Person cascade,
        /// The answers given
        "RES-canvass-12" answers: many Answer,
        /// The taggings made
        "RES-canvass-12" taggings: many Tagging,
    }
}

object! {
    /// An answer given to a canvasser (RES-canvass-08).
    CanvassResponse: "question_response" {
        /// The question
        "RES-canvass-09" question: RecordReference = required,
        /// For Paragraph or Other-type answers
        "RES-canvass-10" value: String,
        /// Chosen response keys
        "RES-canvass-11" responses: Vec<String>,
    }
}
