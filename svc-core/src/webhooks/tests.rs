use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

fn webhook() -> Webhook {
    let kinds = vec![Kind::Person, Kind::Tag];
    Webhook::new(
        "https://example.org/".to_owned(),
        kinds,
        EventType::ALL.to_vec(),
        "c0".to_owned(),
        at(0),
    )
    .unwrap()
}

fn event(number: i64) -> WebhookEvent {
    let record = RecordAddress::without_parent(Kind::Person, Id::from(number));
    WebhookEvent::from(&RecordChange::new(ChangeKind::Created, at(number), record))
}

fn status(status: u16) -> AttemptResult {
    AttemptResult::Responded {
        status,
        retry_after: None,
    }
}

#[test]
fn a_webhook_is_read_as_it_was_written() {
    let mut webhook = webhook();
    webhook.record_attempt(&event(1), &status(500), at(1));
    webhook.rotate_secret(at(1)).unwrap();
    let stored = webhook.to_stored(3, None, at(1)).unwrap();
    assert_eq!(Webhook::from_stored(&stored).unwrap(), webhook);
    assert_eq!((stored.version, stored.due_at), (3, Some(at(1))));
    let leased = webhook.to_stored(3, Some(at(60)), at(1)).unwrap();
    assert_eq!(leased.due_at, Some(at(60)));
    let shown = format!("{webhook:?}");
    assert!(!shown.contains("whsec_"), "{shown}");
}

/// A message that waits for a retry has the address of the remaining person. Webhooks of earlier versions
/// have neither it nor the event type.
#[test]
fn a_waiting_message_has_the_remaining_person() {
    let mut webhook = webhook();
    let at_id = |id: i64| RecordAddress::without_parent(Kind::Person, Id::from(id));
    let entry = RecordChange::new(ChangeKind::Deleted, at(1), at_id(1));
    let merged = entry.clone().with_merged_into(Some(at_id(2)));
    let parent = Some(Id::from(3));
    let canvass = RecordAddress::new(Kind::Canvass, Id::from(1), parent.clone());
    let moved = RecordChange::new(ChangeKind::Deleted, at(1), canvass.clone());
    let moved = moved.with_merged_into(Some(canvass));
    for entry in [&entry, &merged, &moved] {
        webhook.record_attempt(&WebhookEvent::from(entry), &status(500), at(1));
        let stored = webhook.to_stored(3, None, at(1)).unwrap();
        let read = Webhook::from_stored(&stored).unwrap();
        let waiting = read.pending_retries.last().unwrap();
        assert_eq!(waiting.event.entry(), *entry);
    }
    let types = |webhook: &Webhook| [&entry, &merged, &moved].map(|it| webhook.event_type(it));
    let (deleted, merged) = (EventType::Deleted, EventType::Merged);
    assert_eq!(types(&webhook), [deleted, merged, deleted]);
    let stored = webhook.to_stored(3, None, at(1)).unwrap();
    let mut document: serde_json::Value = serde_json::from_slice(&stored.document).unwrap();
    document["events"] = serde_json::json!(["created", "changed", "deleted"]);
    let mut stored = stored;
    stored.document = serde_json::to_vec(&document).unwrap().into();
    let webhook = Webhook::from_stored(&stored).unwrap();
    assert_eq!(types(&webhook), [deleted; 3]);
}

/// The member names of a stored webhook are a stored format. The Rust names may differ.
#[test]
fn the_stored_document_keeps_its_member_names() {
    let mut webhook = webhook();
    webhook.record_attempt(&event(1), &status(500), at(1));
    webhook.record_attempt(&event(2), &status(503), at(2));
    let document: serde_json::Value =
        serde_json::from_slice(&webhook.to_stored(3, None, at(1)).unwrap().document).unwrap();
    for member in ["turn", "waiting", "held_until", "given_up", "last"] {
        assert!(document.get(member).is_some(), "{member}: {document}");
    }
    for member in ["what", "at", "kind", "id", "parent"] {
        let path = format!("/waiting/0/event/{member}");
        assert!(document.pointer(&path).is_some(), "{path}: {document}");
    }
}

/// Each event of a webhook has one id, which differs from those of other events and webhooks.
///
/// Requirements: HOOK-07.
#[test]
fn the_id_of_a_message_is_that_of_its_event() {
    let (one, other) = (webhook(), webhook());
    let mut ids: Vec<String> = (0..1_000)
        .map(|number| event(number).message_id(&one.id))
        .collect();
    assert_eq!(event(7).message_id(&one.id), ids[7]);
    ids.push(event(7).message_id(&other.id));
    let mut changed = event(7);
    changed.change = ChangeKind::Changed;
    ids.push(changed.message_id(&one.id));
    changed.changed_at += 1;
    ids.push(changed.message_id(&one.id));
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

/// A receiver that is unavailable for three days, with a simulated clock.
///
/// Requirements: HOOK-11.
#[test]
fn a_message_is_tried_ten_times_and_given_up() {
    let (mut webhook, event, mut now, mut attempts) = (webhook(), event(1), at(0), 1);
    webhook.record_attempt(
        &event,
        &AttemptResult::Failed("the receiver cannot be reached"),
        now,
    );
    while let [waiting] = webhook.pending_retries.as_slice() {
        assert!(webhook.due_retries(now).is_empty() && webhook.abandoned == 0);
        now = Timestamp::from_micros(waiting.next);
        assert_eq!(webhook.due_retries(now), std::slice::from_ref(&event));
        webhook.record_attempt(&event, &status(404), now);
        attempts += 1;
    }
    assert_eq!(
        (attempts, webhook.abandoned, webhook.delivered),
        (MAX_ATTEMPTS, 1, 0)
    );
    // The pauses are 75.6 hours in total. Each is up to a fifth longer, depending on the random id
    // of the webhook.
    assert!(
        (75..91).contains(&(now.as_micros() / 3_600_000_000)),
        "{now:?}"
    );
    assert_eq!(webhook.failing_since, Some(0));
    webhook.record_attempt(&event, &status(204), now);
    assert_eq!((webhook.failing_since, webhook.delivered), (None, 1));
}

/// Only 2xx is a success, 410 ends the webhook, and an overloaded receiver gets the pause that it
/// requests.
///
/// Requirements: HOOK-11.
#[test]
fn answers_mean_what_they_say() {
    for (code, arrives) in [
        (200, true),
        (299, true),
        (199, false),
        (301, false),
        (308, false),
        (400, false),
        (500, false),
    ] {
        let mut webhook = webhook();
        webhook.record_attempt(&event(1), &status(code), at(1));
        assert_eq!(
            (webhook.delivered == 1, webhook.pending_retries.is_empty()),
            (arrives, arrives),
            "{code}"
        );
        assert!(!webhook.is_idle(at(1)), "{code}");
    }
    let mut ended = webhook();
    ended.record_attempt(&event(1), &status(410), at(1));
    assert_eq!(
        (
            ended.status,
            ended.to_stored(1, Some(at(9)), at(1)).unwrap().due_at
        ),
        (WebhookStatus::Ended, None)
    );
    let mut busy = webhook();
    busy.record_attempt(
        &event(1),
        &AttemptResult::Responded {
            status: 503,
            retry_after: Some(Duration::from_secs(10 * 60)),
        },
        at(0),
    );
    assert!(busy.is_idle(at(599)) && !busy.is_idle(at(600)));
    assert_eq!(
        busy.to_stored(1, None, at(1)).unwrap().due_at,
        Some(at(600))
    );
}

/// The number of waiting messages is limited. With a full list, the webhook pauses until the first
/// of them is due.
///
/// Requirements: HOOK-12.
#[test]
fn the_list_of_what_waits_is_bounded() {
    let mut webhook = webhook();
    for number in 0..100 {
        assert!(webhook.available_slots() > 0);
        webhook.record_attempt(&event(number), &status(500), at(number));
    }
    assert_eq!(
        (webhook.available_slots(), webhook.pending_retries.len()),
        (0, MAX_PENDING_RETRIES)
    );
    let first = webhook
        .pending_retries
        .iter()
        .map(|waiting| waiting.next)
        .min()
        .unwrap();
    assert_eq!(
        webhook.to_stored(1, None, at(1)).unwrap().due_at,
        Some(Timestamp::from_micros(first))
    );
    // A retried message uses its previous slot.
    webhook.record_attempt(&event(3), &status(500), at(200));
    assert_eq!(webhook.pending_retries.len(), MAX_PENDING_RETRIES);
    webhook.record_attempt(&event(3), &status(200), at(201));
    assert_eq!(webhook.available_slots(), 1);
}

/// Both secrets sign for one day, then only the new one. A third secret disables the first one.
///
/// Requirements: HOOK-09.
#[test]
fn two_secrets_sign_while_one_is_changed() {
    let mut webhook = webhook();
    let first = webhook.secrets[0].0.clone();
    webhook.rotate_secret(at(10)).unwrap();
    let (second, day) = (webhook.secrets[0].0.clone(), 24 * 3_600);
    assert_eq!(
        webhook.active_secrets(at(10)).collect::<Vec<_>>(),
        [&second, &first]
    );
    assert_eq!(
        webhook.active_secrets(at(10 + day)).collect::<Vec<_>>(),
        [&second]
    );
    let both = webhook.signatures("msg_1", at(11), b"{}");
    assert_eq!(
        both,
        format!(
            "{} {}",
            second.sign("msg_1", 11, b"{}"),
            first.sign("msg_1", 11, b"{}")
        )
    );
    webhook.rotate_secret(at(20)).unwrap();
    assert!(
        !webhook
            .active_secrets(at(20))
            .any(|secret| *secret == first)
            && webhook.active_secrets(at(20)).count() == 2
    );
}

/// A cursor that a client sets while messages are being sent is not overwritten.
///
/// Requirements: HOOK-10.
#[test]
fn a_cursor_that_was_set_stays() {
    let mut webhook = webhook();
    let turn = webhook.cursor_generation;
    webhook.advance_cursor(turn, "c1");
    assert_eq!(webhook.cursor.as_deref(), Some("c1"));
    webhook.redeliver(None);
    webhook.advance_cursor(turn, "c2");
    assert_eq!(webhook.cursor, None);
    webhook.advance_cursor(webhook.cursor_generation, "c2");
    assert_eq!(webhook.cursor.as_deref(), Some("c2"));
}

/// `Retry-After` contains seconds or a date. A date in the past requests no pause.
///
/// Requirements: HOOK-11.
#[test]
fn a_receiver_asks_for_time_in_two_ways() {
    let now = Timestamp::parse("2026-11-24T12:00:00Z").unwrap();
    assert_eq!(
        parse_retry_after(" 120 ", now),
        Some(Duration::from_secs(2 * 60))
    );
    assert_eq!(
        parse_retry_after("Tue, 24 Nov 2026 12:01:00 GMT", now),
        Some(Duration::from_secs(60))
    );
    assert_eq!(
        parse_retry_after("Tue, 24 Nov 2026 11:00:00 GMT", now),
        Some(Duration::ZERO)
    );
    for wrong in ["", "-1", "soon", "1.5"] {
        assert_eq!(parse_retry_after(wrong, now), None, "{wrong}");
    }
}
