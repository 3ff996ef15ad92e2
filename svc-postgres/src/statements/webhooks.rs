//! Statements about webhooks.

use svc_core::webhooks::MAX_WEBHOOKS;

/// Statements about webhooks: list, get, create, update and delete, and those due now and next, of
/// all tenants.
pub(super) fn of_webhooks(s: &str) -> [String; 7] {
    [
        format!(
            "SELECT h.id, h.version, h.next, h.body FROM {s}.webhook h WHERE h.tenant = $1 ORDER BY h.id"
        ),
        format!(
            "SELECT h.id, h.version, h.next, h.body FROM {s}.webhook h WHERE h.tenant = $1 AND h.id = $2"
        ),
        format!(
            "INSERT INTO {s}.webhook (tenant, id, version, next, body) \
             SELECT l.tenant, $2::uuid, $3::bigint, $4::bigint, $5::bytea FROM {s}.ledger l WHERE l.tenant = $1 \
             AND (SELECT count(*) FROM {s}.webhook h WHERE h.tenant = $1) < {MAX_WEBHOOKS} \
             ON CONFLICT (tenant, id) DO NOTHING RETURNING id"
        ),
        format!(
            "UPDATE {s}.webhook SET version = $3, next = $4, body = $5 \
             WHERE tenant = $1 AND id = $2 AND version = $3 - 1 RETURNING id"
        ),
        format!("DELETE FROM {s}.webhook WHERE tenant = $1 AND id = $2 RETURNING id"),
        // Over all tenants: one sender serves all of them. It claims what it finds tenant by
        // tenant.
        format!(
            "SELECT t.name, h.id, h.version, h.next, h.body FROM {s}.webhook h JOIN {s}.tenant t ON t.id = h.tenant \
             WHERE h.next <= $1 AND h.id > $2 ORDER BY h.id LIMIT $3"
        ),
        format!("SELECT min(h.next) FROM {s}.webhook h WHERE h.next > $1"),
    ]
}
