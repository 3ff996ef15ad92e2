//! Statements about temporary data: stored responses, old feed entries, and the outbox.

/// Stores a response, deletes expired feed entries and responses, and lists the tenants that have
/// expired responses.
pub(super) fn stored_response_sql(s: &str, from_ledger: &dyn Fn(&str) -> String) -> [String; 4] {
    [
        format!(
            "INSERT INTO {s}.kept AS o (tenant, key, person, at, answer) {} \
             ON CONFLICT (tenant, key, person) DO UPDATE SET at = excluded.at, answer = excluded.answer",
            from_ledger("text uuid bigint bytea")
        ),
        // Each transaction with feed entries deletes a few, so that none has many to delete.
        format!(
            "DELETE FROM {s}.feed WHERE tenant = $1 AND seq = ANY (ARRAY( \
             SELECT f.seq FROM {s}.feed f WHERE f.tenant = $1 AND f.seq > 0 ORDER BY f.seq, f.step LIMIT 256)) AND at < $2"
        ),
        // The same with each stored response.
        format!(
            "DELETE FROM {s}.kept WHERE tenant = $1 AND key = ANY (ARRAY( \
             SELECT o.key FROM {s}.kept o WHERE o.tenant = $1 AND o.at < $2 ORDER BY o.at LIMIT 256)) AND at < $2"
        ),
        // A lookup that does not start with the tenant, because it returns the tenant.
        format!(
            "SELECT l.tenant FROM {s}.ledger l WHERE EXISTS (SELECT 1 FROM {s}.kept o WHERE o.tenant = l.tenant AND o.at < $1) \
             LIMIT $2"
        ),
    ]
}

/// Statements about the outbox: add, cancel with a message, find due, find next, claim, delete, and
/// repeat.
pub(super) fn of_outbox(s: &str, from_ledger: &dyn Fn(&str) -> String) -> [String; 7] {
    [
        format!(
            "INSERT INTO {s}.outbox (tenant, seq, person, message, due, body) {}",
            from_ledger("bigint uuid uuid bigint text")
        ),
        format!("DELETE FROM {s}.outbox WHERE tenant = $1 AND message = $2"),
        // Lookups that do not start with the tenant, because they return the tenant.
        format!(
            "SELECT o.tenant, o.seq, t.name FROM {s}.outbox o JOIN {s}.tenant t ON t.id = o.tenant WHERE o.due <= $1 \
             ORDER BY o.due, o.seq LIMIT $2"
        ),
        format!("SELECT min(o.due) FROM {s}.outbox o"),
        format!(
            "UPDATE {s}.outbox o SET due = $4, attempts = o.attempts + 1 WHERE o.tenant = $1 AND o.seq = ANY ($2) \
             AND o.due <= $3 RETURNING o.seq, o.attempts, o.body"
        ),
        format!("DELETE FROM {s}.outbox WHERE tenant = $1 AND seq = $2"),
        format!(
            "UPDATE {s}.outbox o SET due = $4 WHERE o.tenant = $1 AND o.seq = $2 AND o.attempts = $3"
        ),
    ]
}
