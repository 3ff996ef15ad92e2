//! Undone merges of two people, in the file and in memory: what comes back, and what stays.
//!
//! Requirements: MRG-20, MRG-21.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Value, json};
use svc_core::{
    ErrorCode, Result, Tenant,
    backend::ChangeKind,
    helper::{Trigger, Triggers},
    link::RecordAddress,
    model::Kind,
    raw::RawRecord,
    store::{
        ApartPeople, LookupKey, MergeRequest, Precondition, ResponseRecorder, StoredMerge,
        UndoMergeOutcome, UndoMergeRequest, WriteOperation, WriteOutcome,
    },
    value::{Id, Identifier, Timestamp},
};
use svc_store::{
    memory::MemoryStore,
    transfer::{ExportBatch, ExportPosition},
};

use crate::merges::{World, codes, each, file, signature_of_eve};

const MONTH: Duration = Duration::from_secs(30 * 86_400);

impl World {
    /// Merges the second person into the first one, so that it can be undone.
    async fn merge_undoable(&self, to: &RecordAddress, from: &RecordAddress) -> StoredMerge {
        let mut request = MergeRequest::new(to.clone(), from.clone());
        request.undo_for = Some(MONTH);
        request.key_name = Some("Office".to_owned());
        let outcome = self.merge(request).await.unwrap();
        let undo = outcome.undo.unwrap();
        assert_eq!((&undo.remaining, &undo.merged), (&to.id, &from.id));
        assert_eq!(undo.until, undo.at.saturating_add(MONTH));
        undo
    }

    async fn try_undo(&self, merge: &StoredMerge) -> Result<UndoMergeOutcome> {
        let remaining = RecordAddress::without_parent(Kind::Person, merge.remaining.clone());
        let request = UndoMergeRequest::new(remaining, merge.id.clone());
        match self.write(WriteOperation::UndoMerge(request)).await? {
            WriteOutcome::MergeUndone(outcome) => Ok(*outcome),
            other => panic!("{other:?}"),
        }
    }

    async fn undo(&self, merge: &StoredMerge) -> UndoMergeOutcome {
        self.try_undo(merge).await.unwrap()
    }

    async fn merges_of(&self, person: &RecordAddress) -> Vec<StoredMerge> {
        self.store.merges(&self.cx(), &person.id).await.unwrap()
    }

    /// Returns everything that clients see of records, except modification dates.
    async fn undated(&self, all: &[&RecordAddress]) -> Vec<String> {
        let mut texts = Vec::new();
        for at in all {
            let record = self.get(at).await.unwrap_or_else(|| panic!("{at:?}"));
            let (meta, fields) = (record.meta(), record.wire_fields());
            let mut links: Vec<String> =
                record.links().iter().map(|it| format!("{it:?}")).collect();
            links.sort_unstable();
            texts.push(format!(
                "{:?} {:?} {} {} {links:?} {:?}",
                meta.id,
                meta.created,
                meta.identifiers.as_json(),
                String::from_utf8_lossy(fields),
                record.computed()
            ));
        }
        texts
    }

    async fn identifiers_of(&self, at: &RecordAddress) -> Vec<String> {
        let record = self.get(at).await.unwrap();
        let all = record.meta().identifiers.to_vec();
        all.iter().map(ToString::to_string).collect()
    }

    async fn by_identifier(&self, kind: Kind, text: &str) -> Option<RecordAddress> {
        let identifier = Identifier::parse(text).unwrap();
        self.find(LookupKey::Identifier(kind, identifier)).await
    }
}

fn not_undoable() -> Vec<(ErrorCode, Vec<String>)> {
    vec![(ErrorCode::MergeNotUndoable, Vec::new())]
}

fn person(name: &str, identifier: &str, addresses: &Value) -> Value {
    json!({"given_name": name, "identifiers": [identifier], "email_addresses": addresses})
}

/// S5: both people are as before, and later changes stay.
#[tokio::test]
async fn later_changes_stay() {
    each(async |world| {
        let one = world
            .person(person("Ada", "crm:1", &json!([{"address": "ada@x.org", "status": "subscribed"}])))
            .await;
        let both = json!([{"address": "ADA@x.org", "status": "unsubscribed"}, {"address": "a@y.org", "status": "subscribed"}]);
        let other = world.person(person("Eve", "shop:2", &both)).await;
        let petition = world.petition().await;
        let first = world.sign(&petition, &other).await;
        let created = world.get(&other).await.unwrap().meta().created;
        let merge = world.merge_undoable(&one, &other).await;
        assert_eq!(merge.key_name.as_deref(), Some("Office"));
        assert_eq!(world.merges_of(&one).await, std::slice::from_ref(&merge));
        let statuses = json!([{"address": "ada@x.org", "status": "unsubscribed"}, {"address": "a@y.org", "status": "unsubscribed"}]);
        let changed = json!({"given_name": "Augusta", "email_addresses": statuses});
        world.update(&one, changed).await.unwrap();
        let second = world.sign(&petition, &other).await;
        let (_, cursor) = world.feed(None).await;

        let undone = world.undo(&merge).await;
        assert_eq!(undone.moved, [(Kind::Signature, 1)]);
        assert_eq!(undone.folded, []);
        let left: Vec<String> = undone.left.iter().map(ToString::to_string).collect();
        assert_eq!(left, ["email_addresses[1]", "given_name"]);
        let fields = world.fields(&one).await;
        assert_eq!(fields["given_name"], "Augusta");
        assert_eq!(
            fields["email_addresses"],
            json!([{"address": "ada@x.org", "status": "subscribed"}, {"address": "a@y.org", "status": "unsubscribed"}])
        );
        let fields = world.fields(&other).await;
        assert_eq!(fields["given_name"], "Eve");
        assert_eq!(
            fields["email_addresses"],
            json!([{"address": "ADA@x.org", "status": "unsubscribed"}, {"address": "a@y.org", "status": "unsubscribed"}])
        );
        let restored = world.get(&other).await.unwrap();
        assert_eq!(restored.meta().created, created);
        assert_eq!(restored.meta(), undone.restored.meta());
        assert_eq!(world.get(&one).await.unwrap().meta(), undone.person.meta());
        assert_eq!(world.list(Kind::Signature, Some(&one)).await, [second]);
        assert_eq!(world.list(Kind::Signature, Some(&other)).await, std::slice::from_ref(&first));
        assert_eq!(world.computed(&petition, "total_signatures").await, "Count(2)");
        assert_eq!(world.forwarded(&other).await, None);
        assert_eq!(world.identifiers_of(&one).await, ["crm:1"]);
        assert_eq!(world.identifiers_of(&other).await, ["shop:2"]);
        for (text, found) in [("crm:1", Some(&one)), ("shop:2", Some(&other)), (&*format!("ns:{}", other.id), None)] {
            assert_eq!(world.by_identifier(Kind::Person, text).await.as_ref(), found, "{text}");
        }
        assert_eq!(world.find(LookupKey::Email("ada@x.org".into())).await.as_ref(), Some(&one));
        let (entries, _) = world.feed(Some(cursor)).await;
        assert_eq!(
            entries,
            [
                (ChangeKind::Changed, one.clone()),
                (ChangeKind::Created, other.clone()),
                (ChangeKind::Changed, first),
            ]
        );
        let pair = world.store.duplicate_pair(&world.cx(), [&one.id, &other.id]).await.unwrap();
        assert!(pair.unwrap().is_dismissed);
        assert_eq!(world.merges_of(&one).await, []);
        assert!(world.try_undo(&merge).await.unwrap_err().is_not_found());
        // The restored person is one of its own.
        world.update(&other, json!({"given_name": "Eva"})).await.unwrap();
        world.delete(&other).await.unwrap();
        assert!(world.get(&one).await.is_some() && world.get(&other).await.is_none());
    })
    .await;
}

/// Without a change in between, everything is as before the merge: memberships of both, actions, and totals.
#[tokio::test]
async fn without_a_change_everything_is_as_before() {
    each(async |world| {
        let [one, other] = world.ada_and_eve().await;
        let list = world.make(Kind::List, json!({"name": "L"}), &[]).await;
        let tag = world.make(Kind::Tag, json!({"name": "T"}), &[]).await;
        let of_list = |person| [("list", &list), ("person", person)];
        let of_tag = |person| [("tag", &tag), ("person", person)];
        let items = [
            world
                .make(Kind::Item, json!({"identifiers": ["i:1"]}), &of_list(&one))
                .await,
            world
                .make(
                    Kind::Item,
                    json!({"identifiers": ["i:2"]}),
                    &of_list(&other),
                )
                .await,
        ];
        // Here the merged person has the older one.
        let canvass = world
            .make(
                Kind::Canvass,
                json!({}),
                &[("target", &other), ("canvasser", &one)],
            )
            .await;
        let taggings = [
            world.make(Kind::Tagging, json!({}), &of_tag(&other)).await,
            world.make(Kind::Tagging, json!({}), &of_tag(&one)).await,
        ];
        let petition = world
            .make(Kind::Petition, json!({}), &[("creator", &other)])
            .await;
        let signature = world.sign(&petition, &other).await;
        let all = [
            &one,
            &other,
            &list,
            &tag,
            &items[0],
            &items[1],
            &taggings[0],
            &taggings[1],
            &canvass,
            &petition,
            &signature,
        ];
        let before = world.undated(&all).await;
        let merge = world.merge_undoable(&one, &other).await;
        let undone = world.undo(&merge).await;
        assert_eq!(undone.left, []);
        let moved = [
            (Kind::Petition, 1),
            (Kind::Canvass, 1),
            (Kind::Signature, 1),
        ];
        assert_eq!(undone.moved, Vec::from_iter(BTreeMap::from(moved)));
        assert_eq!(undone.folded.len(), 2);
        let after = world.undated(&all).await;
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before, after);
        }
        assert_eq!(world.list(Kind::Item, Some(&list)).await.len(), 2);
        assert_eq!(
            world.list(Kind::Tagging, Some(&other)).await,
            [taggings[0].clone()]
        );
        assert_eq!(
            world.list(Kind::Tagging, Some(&one)).await,
            [taggings[1].clone()]
        );
        for (text, item) in ["i:1", "i:2"].into_iter().zip(&items) {
            assert_eq!(
                world.by_identifier(Kind::Item, text).await.as_ref(),
                Some(item)
            );
        }
        // The people can be merged again, in both directions.
        let merge = world.merge_undoable(&other, &one).await;
        world.undo(&merge).await;
        assert_eq!(world.list(Kind::Item, Some(&list)).await.len(), 2);
        world.merged(&one, &other).await;
        assert_eq!(world.computed(&list, "total_items").await, "Count(1)");
    })
    .await;
}

/// A membership that was deleted since the merge does not come back, and one that has another person now
/// stays there.
#[tokio::test]
async fn records_that_were_changed_since_stay() {
    each(async |world| {
        let [one, other] = world.ada_and_eve().await;
        let third = world.person(json!({"given_name": "Kim"})).await;
        let list = world.make(Kind::List, json!({"name": "L"}), &[]).await;
        let item = async |person| {
            world
                .make(
                    Kind::Item,
                    json!({}),
                    &[("list", &list), ("person", person)],
                )
                .await
        };
        let (kept, folded) = (item(&one).await, item(&other).await);
        let petition = world.petition().await;
        let [moved, gone] = [
            world.sign(&petition, &other).await,
            world.sign(&petition, &other).await,
        ];
        let merge = world.merge_undoable(&one, &other).await;
        world.delete(&kept).await.unwrap();
        world.delete(&gone).await.unwrap();
        let mut patch =
            svc_core::raw::RawPatch::new(Kind::Signature, svc_core::read::Object::default());
        patch.links = vec![("person", Some(third.clone()))];
        world
            .write(WriteOperation::Update(moved.clone(), patch))
            .await
            .unwrap();
        let undone = world.undo(&merge).await;
        assert_eq!((undone.moved.len(), undone.folded.len()), (0, 0));
        assert!(world.get(&folded).await.is_none() && world.get(&gone).await.is_none());
        assert_eq!(world.list(Kind::Item, Some(&list)).await, []);
        assert_eq!(world.list(Kind::Signature, Some(&third)).await, [moved]);
        assert_eq!(
            world.computed(&petition, "total_signatures").await,
            "Count(1)"
        );
    })
    .await;
}

/// An identifier that another person got since stays there.
#[tokio::test]
async fn an_identifier_of_another_person_stays_there() {
    each(async |world| {
        let one = world
            .person(json!({"given_name": "Ada", "identifiers": ["crm:1"]}))
            .await;
        let other = world
            .person(json!({"given_name": "Eve", "identifiers": ["crm:2", "crm:3"]}))
            .await;
        let merge = world.merge_undoable(&one, &other).await;
        world
            .update(&one, json!({"identifiers": ["crm:1", "crm:3", "crm:4"]}))
            .await
            .unwrap();
        let third = world
            .person(json!({"given_name": "Kim", "identifiers": ["crm:2"]}))
            .await;
        world.undo(&merge).await;
        assert_eq!(world.identifiers_of(&one).await, ["crm:1", "crm:4"]);
        assert_eq!(world.identifiers_of(&other).await, ["crm:3"]);
        assert_eq!(world.identifiers_of(&third).await, ["crm:2"]);
        assert_eq!(
            world.by_identifier(Kind::Person, "crm:3").await,
            Some(other)
        );
    })
    .await;
}

/// Tickets name the restored person again, and the totals of the event stay the same.
#[tokio::test]
async fn tickets_name_the_restored_person_again() {
    each(async |world| {
        let [one, other] = world.ada_and_eve().await;
        let event = json!({"type": "ticketed", "capacity": 3,
            "ticket_levels": [{"title": "A", "amount": 5, "currency": "EUR", "limit": 3}]});
        let event = world.make(Kind::Event, event, &[]).await;
        let ticket = |name: &str, address: &str| {
            json!({"title": "A", "person": {"given_name": name, "email_addresses": [{"address": address}]}})
        };
        let buys = async |person: &RecordAddress, tickets: Vec<Value>| {
            let links = [("event", &event), ("person", person)];
            world.make(Kind::Attendance, json!({"tickets": tickets}), &links).await
        };
        let first = buys(&one, vec![ticket("Eve", "eve@x.org")]).await;
        let second = buys(&other, vec![ticket("Ada", "ada@x.org"), ticket("Eve", "eve@x.org")]).await;
        let all = [&one, &other, &event, &first, &second];
        let before = world.undated(&all).await;
        let merge = world.merge_undoable(&one, &other).await;
        world.undo(&merge).await;
        assert_eq!(world.undated(&all).await, before);
        // The tickets belong to their holders again.
        world.delete(&other).await.unwrap();
        let fields = [world.fields(&first).await, world.fields(&second).await].map(|it| it.to_string());
        assert!(fields.iter().all(|it| !it.contains("eve@x.org")), "{fields:?}");
        assert!(fields[1].contains("ada@x.org"), "{fields:?}");
    })
    .await;
}

/// A ticket that has another place since the merge names the restored person again.
#[tokio::test]
async fn tickets_at_another_place_name_the_restored_person_again() {
    each(async |world| {
        let [one, other] = world.ada_and_eve().await;
        let level = json!({"title": "A", "amount": 5, "currency": "EUR", "limit": 3});
        let event = json!({"type": "ticketed", "capacity": 3, "ticket_levels": [level]});
        let event = world.make(Kind::Event, event, &[]).await;
        let ticket = |address: &str| {
            let person = json!({"given_name": "X", "email_addresses": [{"address": address}]});
            json!({"title": "A", "person": person})
        };
        let tickets = json!({"tickets": [ticket("kim@x.org"), ticket("eve@x.org")]});
        let links = [("event", &event), ("person", &one)];
        let attendance = world.make(Kind::Attendance, tickets, &links).await;
        let holders = async || {
            let fields = world.fields(&attendance).await;
            let tickets = fields["tickets"].as_array().unwrap().clone();
            let own = |it: &Value| it["person"]["identifiers"][0].as_str().map(str::to_owned);
            tickets.iter().map(own).collect::<Vec<_>>()
        };
        let eve = format!("ns:{}", other.id);
        let before = holders().await;
        assert_eq!(before[1].as_ref(), Some(&eve));
        let merge = world.merge_undoable(&one, &other).await;
        let mut tickets = world.fields(&attendance).await["tickets"].clone();
        tickets.as_array_mut().unwrap().reverse();
        let patch = json!({"tickets": tickets});
        world.update(&attendance, patch).await.unwrap();
        assert_eq!(holders().await[0], Some(format!("ns:{}", one.id)));
        world.undo(&merge).await;
        let mut after = holders().await;
        after.reverse();
        assert_eq!(after, before);
        world.delete(&other).await.unwrap();
        let fields = world.fields(&attendance).await.to_string();
        assert!(
            !fields.contains("eve@x.org") && fields.contains("kim@x.org"),
            "{fields}"
        );
    })
    .await;
}

/// An earlier merge into a person cannot be undone for longer than a later one, so that they end in order.
#[tokio::test]
async fn an_earlier_merge_ends_with_a_later_one() {
    each(async |world| {
        let [a, b, c] = &world.people(["A", "B", "C"]).await;
        let [one, other] = &world.people(["D", "E"]).await;
        let first = world.merge_undoable(a, b).await;
        let of_one = world.merge_undoable(one, other).await;
        let mut request = MergeRequest::new(a.clone(), c.clone());
        request.undo_for = Some(Duration::from_secs(3_600));
        let second = world.merge(request).await.unwrap().undo.unwrap();
        assert!(second.until < first.until);
        let until = async |person| {
            let listed = world.merges_of(person).await;
            listed.iter().map(|it| it.until).collect::<Vec<_>>()
        };
        assert_eq!(until(a).await, [second.until; 2]);
        assert_eq!(until(one).await, [of_one.until]);
        // A longer period of a later merge does not change that of earlier ones.
        let third = world.merge_undoable(a, one).await;
        assert_eq!(until(a).await, [third.until, second.until, second.until]);
    })
    .await;
}

/// Merges are undone in reverse order, and the ids of earlier merged people find the restored person.
#[tokio::test]
async fn chains_are_undone_in_reverse_order() {
    each(async |world| {
        let [a, b, c, d] = &world.people(["A", "B", "C", "D"]).await;
        let petition = world.petition().await;
        let signature = world.sign(&petition, c).await;
        let all = [a, b, c, d, &petition, &signature];
        let before = world.undated(&all).await;
        let first = world.merge_undoable(b, c).await;
        let second = world.merge_undoable(b, d).await;
        let third = world.merge_undoable(a, b).await;
        for refused in [&first, &second] {
            assert_eq!(codes(world.try_undo(refused).await), not_undoable());
        }
        assert_eq!(world.merges_of(a).await, std::slice::from_ref(&third));
        world.undo(&third).await;
        for merged in [c, d] {
            assert_eq!(world.forwarded(merged).await.as_ref(), Some(&b.id));
        }
        assert!(world.merged_into().await.contains(&(c.clone(), b.clone())));
        assert_eq!(
            world.list(Kind::Signature, Some(b)).await,
            std::slice::from_ref(&signature)
        );
        let listed = world.merges_of(b).await;
        let latest: Vec<_> = listed
            .iter()
            .map(|it| (it.id.clone(), it.is_latest))
            .collect();
        assert_eq!(
            latest,
            [(second.id.clone(), true), (first.id.clone(), false)]
        );
        assert_eq!(codes(world.try_undo(&first).await), not_undoable());
        world.undo(&second).await;
        world.undo(&first).await;
        assert_eq!(world.undated(&all).await, before);
    })
    .await;
}

/// A merge that cannot be undone stays as it is.
#[tokio::test]
async fn a_merge_that_cannot_be_undone_stays() {
    each(async |world| {
        let [one, other, third] = &world.people(["A", "B", "C"]).await;
        let mut request = MergeRequest::new(one.clone(), other.clone());
        request.undo_for = Some(Duration::ZERO);
        let mut preview = request.clone();
        preview.is_preview = true;
        assert_eq!(world.merge(preview).await.unwrap().undo, None);
        let expired = world.merge(request).await.unwrap().undo.unwrap();
        assert_eq!(world.merged(one, third).await.undo, None);
        let before = world.undated(&[one]).await;
        assert_eq!(codes(world.try_undo(&expired).await), not_undoable());
        let mut unknown = expired.clone();
        unknown.id = Id::from(7);
        assert!(world.try_undo(&unknown).await.unwrap_err().is_not_found());
        unknown.id = expired.id.clone();
        unknown.remaining = third.id.clone();
        assert!(world.try_undo(&unknown).await.unwrap_err().is_not_found());
        assert_eq!(world.undated(&[one]).await, before);
        // Expired merges are deleted with old responses.
        let far = Timestamp::now().saturating_add(MONTH);
        while world.store.sweep(far).await.unwrap() {}
        assert_eq!(world.merges_of(one).await, []);
        assert!(world.try_undo(&expired).await.unwrap_err().is_not_found());
    })
    .await;
}

/// MRG-21, UND-26: nothing is left of a merge after the remaining person is deleted.
#[tokio::test]
async fn merges_are_deleted_with_the_remaining_person() {
    each(async |world| {
        let [a, b, c] = &world.people(["A", "B", "C"]).await;
        let first = world.merge_undoable(b, c).await;
        let second = world.merge_undoable(a, b).await;
        world.delete(a).await.unwrap();
        for merge in [&first, &second] {
            assert!(world.try_undo(merge).await.unwrap_err().is_not_found());
        }
        assert_eq!(
            (world.merges_of(a).await, world.merges_of(b).await),
            (vec![], vec![])
        );
    })
    .await;
}

/// The precondition of an undo is about the remaining person.
#[tokio::test]
async fn a_failed_precondition_changes_nothing() {
    each(async |world| {
        let [one, other] = world.ada_and_eve().await;
        let merge = world.merge_undoable(&one, &other).await;
        let request = UndoMergeRequest::new(one.clone(), merge.id.clone());
        let fails = Precondition::new(true, |_| false);
        let operation = WriteOperation::UndoMerge(request);
        let failed = world
            .write_with(operation, |call| call.only_if(Some(&fails)))
            .await;
        assert!(failed.unwrap_err().is_precondition_failed());
        world.undo(&merge).await;
    })
    .await;
}

/// UND-26: outbox entries of the moved actions belong to the restored person, and stored responses are
/// deleted with either of the two people.
#[tokio::test]
async fn outbox_entries_and_responses_belong_to_the_restored_person() {
    each(async |world| {
        let [one, other] = world.ada_and_eve().await;
        let petition = world.petition().await;
        let mut plan = signature_of_eve(&petition);
        plan.functions.triggers =
            Some(Triggers::default().autoresponse(Trigger::default().enabled(true)));
        let recorder = ResponseRecorder::new("key".into(), |_, _| Ok("stored".into()));
        let call = async || {
            let operation = WriteOperation::Helper(Box::new(plan.clone()));
            world
                .write_with(operation, |call| call.keeping(&recorder))
                .await
                .unwrap()
        };
        call().await;
        let merge = world.merge_undoable(&one, &other).await;
        world.undo(&merge).await;
        let outbox = Arc::clone(&world.store).outbox().unwrap();
        let claimed = async |at: i64| {
            let (now, until) = (Timestamp::from_micros(at), Timestamp::from_micros(at + 1));
            outbox.claim_due(now, until, 10).await.unwrap().claims
        };
        let claims = claimed(10).await;
        let recipients: Vec<_> = claims
            .iter()
            .filter_map(|it| it.entry.recipient())
            .collect();
        assert_eq!(recipients, [&other.id]);
        assert!(matches!(call().await, WriteOutcome::Replayed(_)), "IDM-01");
        world.delete(&other).await.unwrap();
        assert!(claimed(20).await.is_empty());
        assert!(matches!(call().await, WriteOutcome::HelperDone(_)));
    })
    .await;
}

/// A dismissed pair of the two people can be brought back.
#[tokio::test]
async fn the_dismissed_pair_can_be_brought_back() {
    each(async |world| {
        let [one, other] = world.ada_and_eve().await;
        let merge = world.merge_undoable(&one, &other).await;
        world.undo(&merge).await;
        let pair = ApartPeople::new(one.id.clone(), other.id.clone(), None);
        assert!(world.store.set_apart(&world.cx(), &pair).await.unwrap());
        let pair = world
            .store
            .duplicate_pair(&world.cx(), [&one.id, &other.id])
            .await
            .unwrap();
        assert!(!pair.unwrap().is_dismissed);
    })
    .await;
}

/// A merge can be undone after the file is opened again, and in a copy of the data.
#[tokio::test]
async fn a_merge_is_undone_after_a_restart_and_in_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let store = file(&folder);
    let tenant = store.ensure_tenant("one").await.unwrap();
    let world = World::new(Arc::new(store.clone()), tenant.clone());
    let [a, b, c] = &world.people(["A", "B", "C"]).await;
    let before: Vec<Option<RawRecord>> = vec![world.get(b).await, world.get(c).await];
    let first = world.merge_undoable(b, c).await;
    let second = world.merge_undoable(a, b).await;
    let (copy, mut from) = (MemoryStore::new(), Some(ExportPosition::start()));
    while let Some(position) = from {
        let ExportBatch { changes, next, .. } = store.export(&tenant, position, 100).unwrap();
        let time = copy.next_timestamp(&tenant);
        copy.commit(&tenant, time, &changes).unwrap();
        from = next;
    }
    drop(world);
    drop(store);
    let again = file(&folder);
    for world in [
        World::new(Arc::new(again), Tenant::new("one")),
        World::new(Arc::new(copy), tenant),
    ] {
        assert_eq!(codes(world.try_undo(&first).await), not_undoable());
        world.undo(&second).await;
        world.undo(&first).await;
        for (at, before) in [b, c].into_iter().zip(&before) {
            let (found, before) = (world.get(at).await.unwrap(), before.as_ref().unwrap());
            assert_eq!(found.wire_fields(), before.wire_fields());
            assert_eq!(found.meta().created, before.meta().created);
        }
    }
}
