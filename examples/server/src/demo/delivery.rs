//! The deliveries of the demo: it logs them, and sends nothing.

use async_trait::async_trait;
use svc_core::{
    Deliver, Result, Tenant,
    backend::{DeliveryOutcome, OutboxEntry, OutboxPayload},
};

use super::access_log::LogHandle;

/// Logs what a server would send: kinds and ids only, among the lines of requests.
#[derive(Debug, Clone, Default)]
pub struct LogOnlyDelivery(LogHandle);

impl LogOnlyDelivery {
    /// Creates a delivery that writes to this log.
    #[must_use]
    pub fn by(teller: LogHandle) -> Self {
        Self(teller)
    }
}

#[async_trait]
impl Deliver for LogOnlyDelivery {
    async fn deliver(&self, tenant: &Tenant, dispatch: &OutboxEntry) -> Result<DeliveryOutcome> {
        self.0.tell(&line(tenant, dispatch));
        Ok(DeliveryOutcome::Sent)
    }
}

/// Returns one line: the type, the record, the tenant and the id.
fn line(tenant: &Tenant, dispatch: &OutboxEntry) -> String {
    let about = match &dispatch.payload {
        OutboxPayload::Response { helper, action, .. } => {
            let action = action.as_ref().map_or_else(
                || "-".to_owned(),
                |id| format!("{}/{id}", helper.recorded_kind().plural()),
            );
            format!("{} {action}", helper.as_str())
        }
        OutboxPayload::Message { message, .. } => format!("schedule messages/{message}"),
        _ => "-".to_owned(),
    };
    format!(
        "SEND    {} {about} for {}, id {}",
        dispatch.log_label(),
        tenant.as_str(),
        dispatch.id
    )
}

#[cfg(test)]
mod tests {
    use svc_core::{
        helper::{HelperName, TriggerName},
        value::{Id, Timestamp},
    };

    use super::*;

    #[test]
    fn und_42_a_line_names_nobody() {
        let id = |text: &str| Id::new(text).unwrap();
        let what = OutboxPayload::Response {
            trigger: TriggerName::Autoresponse,
            identifiers: vec!["mail:dear-ada".to_owned()],
            helper: HelperName::RecordSignature,
            person: Some(id("ada")),
            action: Some(id("s1")),
        };
        let line = line(
            &Tenant::new("demo"),
            &OutboxEntry::new(id("d1"), Timestamp::MIN, what),
        );
        assert_eq!(
            line,
            "SEND    autoresponse record_signature signatures/s1 for demo, id d1"
        );
    }
}
