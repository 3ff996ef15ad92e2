//! Containers that exist before the first request, for services where a client can only use their
//! helpers.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, json};

use super::kinds::{KINDS, ServerKind};
use super::options::{Containers, ServerOptions};
use super::render::{self, is_helper_served};
use super::store::{AllTenants, RecordData};

/// Stores one container of each kind that has a helper for each tenant, if the options require
/// containers.
pub(super) fn furnish(options: &ServerOptions, tenants: &mut AllTenants) {
    if options.containers == Containers::None {
        return;
    }
    for key in &options.keys {
        if tenants.all.contains_key(&key.tenant) {
            continue;
        }
        for kind in KINDS.iter().filter(|kind| kind.helper.is_some()) {
            let (number, now) = (tenants.next(), tenants.tick(options.clock.now()));
            let record = RecordData {
                number,
                kind,
                body: body(kind),
                identifiers: Vec::new(),
                created: now,
                modified: now,
                links: BTreeMap::new(),
                updates: 0,
            };
            tenants
                .all
                .entry(key.tenant.clone())
                .or_default()
                .records
                .insert(number, Arc::new(record));
        }
    }
}

/// Returns the fields of a container.
pub(super) fn body(kind: &ServerKind) -> Map<String, serde_json::Value> {
    let named = match kind.one {
        "person" => json!({"given_name": "Grace"}),
        "message" => json!({"subject": "Standing"}),
        "event" => json!({"title": "Standing", "type": "open"}),
        "fundraising_page" => json!({"title": "Standing", "currency": "EUR"}),
        _ => json!({"title": "Standing"}),
    };
    named.as_object().cloned().unwrap_or_default()
}

/// Returns the addresses of unlinked helpers of the first key's containers, each under its name.
pub(super) fn fixtures(options: &ServerOptions, tenants: &AllTenants) -> Vec<(String, String)> {
    let data = options
        .keys
        .first()
        .and_then(|key| tenants.all.get(&key.tenant));
    let records = data.into_iter().flat_map(|data| data.records.values());
    let is_unlinked = |kind: &ServerKind| {
        options.containers != Containers::None && !render::is_listed(options, kind)
    };
    let named = |record: &Arc<RecordData>| {
        let helper = record
            .kind
            .helper
            .filter(|helper| is_helper_served(options, helper))?;
        let address = format!("{}do/{helper}/{}", options.base, record.number);
        Some((format!("helper.{helper}"), address))
    };
    records
        .filter(|record| is_unlinked(record.kind))
        .filter_map(named)
        .collect()
}
