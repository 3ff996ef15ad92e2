//! Statements about what does not stay: answers that are kept for a while, old changes, and what is
//! to be sent.

/// A kept answer; what goes: changes and answers that are too old; and the tenants that have some
/// of the latter.
pub(super) fn stored_response_sql(s: &str, from_ledger: &dyn Fn(&str) -> String) -> [String; 4] {
    [
        format!(
            "INSERT INTO {s}.kept AS o (tenant, key, person, at, answer) {} \
             ON CONFLICT (tenant, key, person) DO UPDATE SET at = excluded.at, answer = excluded.answer",
            from_ledger("text uuid bigint bytea")
        ),
        // Some with each turn that tells something, so that none has many to throw away.
        format!(
            "DELETE FROM {s}.feed WHERE tenant = $1 AND seq = ANY (ARRAY( \
             SELECT f.seq FROM {s}.feed f WHERE f.tenant = $1 AND f.seq > 0 ORDER BY f.seq, f.step LIMIT 256)) AND at < $2"
        ),
        // The same with each answer that comes.
        format!(
            "DELETE FROM {s}.kept WHERE tenant = $1 AND key = ANY (ARRAY( \
             SELECT o.key FROM {s}.kept o WHERE o.tenant = $1 AND o.at < $2 ORDER BY o.at LIMIT 256)) AND at < $2"
        ),
        // A look-up that does not begin with the tenant, because it finds it.
        format!(
            "SELECT l.tenant FROM {s}.ledger l WHERE EXISTS (SELECT 1 FROM {s}.kept o WHERE o.tenant = l.tenant AND o.at < $1) \
             LIMIT $2"
        ),
    ]
}

/// What is to be sent: new, taken back with a message, due, next, claimed, done, and tried again.
pub(super) fn of_outbox(s: &str, from_ledger: &dyn Fn(&str) -> String) -> [String; 7] {
    [
        format!(
            "INSERT INTO {s}.outbox (tenant, seq, person, message, due, body) {}",
            from_ledger("bigint uuid uuid bigint text")
        ),
        format!("DELETE FROM {s}.outbox WHERE tenant = $1 AND message = $2"),
        // Look-ups that do not begin with the tenant, because they find it.
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
