//! The contract of rollback: a rejected request changes nothing, and a partly failed request
//! changes exactly what its outcome reports.

use std::collections::{BTreeMap, HashMap};

use svc_core::{
    helper::{EntryStatus, ReportEntry},
    model::Kind,
    store::{Store, WriteOutcome},
    value::{Id, Timestamp},
};

use super::{ContractViolation, History};

/// The existing records with their kinds and modification dates, and all data as text.
struct TenantSnapshot {
    text: String,
    records: HashMap<Id, (Kind, Timestamp)>,
}

async fn see<S: Store>(history: &mut History<S>) -> Result<TenantSnapshot, ContractViolation> {
    let (text, cx, mut records) = (history.everything().await, history.cx(), HashMap::new());
    for at in &history.here.known.records {
        match history.store.get(&cx, at).await {
            Ok(Some(record)) => {
                _ = records.insert(at.id.clone(), (at.kind, record.meta().modified));
            }
            Ok(None) => {}
            Err(error) => return Err(history.broken("undo", format!("a read failed: {error:?}"))),
        }
    }
    Ok(TenantSnapshot { text, records })
}

/// Executes one request and checks its effects.
pub(super) async fn step<S: Store>(history: &mut History<S>) -> Result<(), ContractViolation> {
    history.choose();
    let before = see(history).await?;
    let told = history.step().await?;
    let after = see(history).await?;
    match told.outcome.as_ref().map(WriteOutcome::without_warnings) {
        Err(_) => history.agree("undo", &after.text, &before.text, &told.what),
        Ok(WriteOutcome::HelperDone(helped) | WriteOutcome::Resumed(helped)) => {
            let is_new = |entry: &&ReportEntry| entry.status == EntryStatus::Created;
            let said = count(helped.entries.iter().filter(is_new).map(|entry| entry.kind));
            let new = after
                .records
                .iter()
                .filter(|(id, _)| !before.records.contains_key(*id));
            let made = count(new.map(|(_, (kind, _))| *kind));
            // People that tickets name may also be created. They have no entry in the report.
            let has_holders = helped
                .entries
                .iter()
                .any(|entry| entry.kind == Kind::Attendance);
            let is_told = |kind: &Kind| !(has_holders && *kind == Kind::Person);
            if !Kind::ALL
                .iter()
                .filter(|kind| is_told(kind))
                .all(|kind| said.get(kind) == made.get(kind))
            {
                return Err(history.broken(
                    "undo",
                    format!(
                        "the report has {said:?}, the store created {made:?}: {} {}",
                        told.text, told.what
                    ),
                ));
            }
            let of_call: Vec<&Id> = helped
                .person
                .iter()
                .chain(&helped.action)
                .map(|it| &it.meta().id)
                .collect();
            for (id, (kind, modified)) in &before.records {
                let is_changed = after.records.get(id).map(|(_, now)| now) != Some(modified);
                if is_changed && is_told(kind) && !of_call.contains(&id) {
                    return Err(history.broken(
                        "undo",
                        format!("{kind:?} {id} changed: {} {}", told.text, told.what),
                    ));
                }
            }
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

fn count(kinds: impl Iterator<Item = Kind>) -> BTreeMap<Kind, usize> {
    kinds.fold(BTreeMap::new(), |mut counts, kind| {
        let count: &mut usize = counts.entry(kind).or_default();
        *count = count.saturating_add(1);
        counts
    })
}
