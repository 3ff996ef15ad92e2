//! A message that can be scheduled.

use crate::{
    types::{closed_enum, resource},
    schema::FieldRule,
    value::Timestamp,
};

resource! {
    /// A message that can be scheduled.
    Message: "message" / "messages" also NotOnEntryPoint {
        /// Name of the creating system
        "UND-10" origin_system: String,
        /// Administrative name
        "UND-10" name: String,
        /// Subject
        "UND-10" subject: String,
        /// Body
        "UND-10" body: String,
        /// Sender
        "UND-10" from: String [FieldRule::OneLine],
        /// Address for replies
        "UND-10" reply_to: String [FieldRule::OneLine],
        /// Channel
        "UND-10" type_ as "type": MessageType,
        /// When sending to the targets starts
        "RES-message-01" scheduled_start_date: Timestamp = schedule start,
        /// When sending is scheduled to stop
        "RES-message-02" scheduled_stop_date: Timestamp = schedule stop,
    }
    links {
        /// The schedule helper
        "UND-10" schedule_helper: helper Schedule,
    }
}

closed_enum! {
    /// Channel of a message (UND-10).
    MessageType { Email = "email", Sms = "sms" }
}
