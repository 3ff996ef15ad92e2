//! Scheduling of messages.

use serde_json::json;
use svc_conformance::row;

use crate::client::own;
use crate::fixture::Fixture;
use crate::values::same;

pub(super) fn scheduling(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let message = api.create("messages", &json!({"subject": "Hello", "type": "email"}));
    let helper = api.href(&message, "schedule_helper");
    row!(ledger, "HLP-22", helper == format!("{}/schedule", own(&message)), "{helper}");
    let dates = json!({"scheduled_start_date": "2026-03-01T12:00:00Z", "scheduled_stop_date": "2026-03-02T12:00:00Z"});
    let reply = api.post(&helper, &dates);
    row!(
        ledger,
        "SCH-02",
        reply.status == 200 && reply.json["notice"].as_str().is_some_and(|notice| !notice.is_empty()),
        "{reply}"
    );
    row!(ledger, "HLP-22", reply.status == 200, "{reply}");
    let read = api.reread(&message);
    row!(ledger, "SCH-01", same(&dates, &read, true), "{read}");
    row!(ledger, "RES-message-01", read["scheduled_start_date"] == "2026-03-01T12:00:00Z", "{read}");
    row!(ledger, "RES-message-02", read["scheduled_stop_date"] == "2026-03-02T12:00:00Z", "{read}");
    let other = json!({"scheduled_start_date": "2026-04-01T12:00:00Z", "scheduled_end_date": "2026-04-02T12:00:00Z", "add_tags": ["ignored"]});
    let reply = api.post(&helper, &other);
    let read = api.reread(&message);
    row!(ledger, "SCH-07", reply.status == 200 && read["scheduled_stop_date"] == "2026-04-02T12:00:00Z", "{read}");
    row!(ledger, "SCH-08", read["scheduled_start_date"] == "2026-04-01T12:00:00Z", "{read}");
    row!(ledger, "SCH-09", reply.status == 200, "{reply}");
    let put = api.put(&own(&message), &dates).ok();
    row!(ledger, "RES-message-01", put["scheduled_start_date"] == "2026-04-01T12:00:00Z", "{put}");
    let reply = api.delete(&helper);
    row!(
        ledger,
        "SCH-05",
        reply.status == 200 && reply.json["notice"].as_str().is_some_and(|notice| !notice.is_empty()),
        "{reply}"
    );
    let read = api.reread(&message);
    row!(ledger, "SCH-04", read["scheduled_start_date"].is_null() && read["scheduled_stop_date"].is_null(), "{read}");
    let again = api.delete(&helper);
    row!(ledger, "SCH-08", again.status == 400 && again.says("MESSAGE_NOT_SCHEDULED"), "{again}");
    let start = api.post(&helper, &json!({"scheduled_start_date": "2026-03-01T12:00:00Z"}));
    row!(ledger, "SCH-03", start.status == 200, "{start}");
}

pub(super) fn scheduling_refused(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let message = api.create("messages", &json!({}));
    let helper = api.href(&message, "schedule_helper");
    for (body, property) in [
        (json!({"scheduled_start_date": "yesterday"}), "scheduled_start_date"),
        (json!({"scheduled_start_date": "2026-03-01T12:00:00Z", "scheduled_stop_date": 7}), "scheduled_stop_date"),
    ] {
        let reply = api.post(&helper, &body);
        row!(ledger, "SCH-06", reply.refuses("FIELD_INVALID", property), "{reply}");
    }
    let missing = api.post(&helper, &json!({"scheduled_stop_date": "2026-03-01T12:00:00Z"}));
    row!(ledger, "SCH-06", missing.refuses("FIELD_REQUIRED", "scheduled_start_date"), "{missing}");
    let turned = api.post(
        &helper,
        &json!({"scheduled_start_date": "2026-03-02T12:00:00Z", "scheduled_stop_date": "2026-03-01T12:00:00Z"}),
    );
    row!(ledger, "SCH-06", turned.says("START_DATE_AFTER_END_DATE") && turned.status == 400, "{turned}");
    row!(ledger, "SCH-06", api.reread(&message) == message, "{message}");
    assert_eq!(api.delete(&own(&message)).status, 204);
    let start = json!({"scheduled_start_date": "2026-03-01T12:00:00Z"});
    for reply in [api.post(&helper, &start), api.delete(&helper)] {
        row!(ledger, "SCH-06", reply.status == 404 && reply.says("RESOURCE_NOT_FOUND"), "{reply}");
    }
}
