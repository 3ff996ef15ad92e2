//! Every statement must follow the rules of a cluster that shards by tenant: one shard, one hop,
//! and no data of other tenants.

use svc_core::model::Kind;

use super::*;
use crate::{migrate, record_sets};

/// Statements about the directories, which are small and equal on every node, and the lookups that
/// return a tenant.
const WITHOUT_TENANT: [&str; 22] = [
    "tenant",
    "tenants",
    "make_tenant",
    "owners",
    "merged_owners",
    "due_webhooks",
    "key",
    "keys",
    "add_key",
    "revoke_key",
    "meta",
    "set_meta",
    "make_meta",
    "lease",
    "take_lease",
    "end_lease",
    "ask_lease",
    "next_webhook",
    "outbox_due",
    "outbox_next",
    "tenants_to_sweep",
    "merges_to_sweep",
];

/// Expressions that have another value each time, or affect more than the tenant.
const FORBIDDEN: [&str; 12] = [
    "now()",
    "random",
    "clock_timestamp",
    "current_timestamp",
    "nextval",
    "pg_advisory",
    "OFFSET $",
    "FOR UPDATE",
    "SKIP LOCKED",
    "TRUNCATE",
    "currval",
    "gen_random_uuid",
];

/// Returns every text with a name: those of the table, and those about sets of records.
fn all() -> Vec<(String, String)> {
    let texts = Texts::of("s");
    let mut all: Vec<_> = texts
        .all()
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .collect();
    all.extend(record_sets::all("s"));
    all
}

/// Returns the rules that a statement breaks.
fn broken(name: &str, text: &str) -> Vec<String> {
    let mut found: Vec<String> = FORBIDDEN
        .iter()
        .filter(|word| text.contains(**word))
        .map(|word| (*word).to_owned())
        .collect();
    if WITHOUT_TENANT.contains(&name) {
        return found;
    }
    // Each table of tenants is restricted to the tenant: `x.tenant = $1`, or by rows that were read
    // for it.
    for (alias, table) in tables(text) {
        let is_tenants = !migrate::DIRECTORIES.contains(&table.as_str());
        let own = format!("{alias}.tenant = $1");
        let is_bare = alias.is_empty()
            && (text.contains("WHERE tenant = $1") || text.contains("SELECT l.tenant"));
        if is_tenants && !is_bare && !text.contains(&own) {
            found.push(format!("{table} {alias} is not restricted to the tenant"));
        }
    }
    if !text.contains("tenant = $1") && name != "make_ledger" {
        found.push("no table is restricted to $1".to_owned());
    }
    // A cluster executes those that update or delete in one hop.
    if text.contains("WITH") && text.contains("INSERT") {
        found.push("an INSERT with a common table expression".to_owned());
    }
    if text.contains("SELECT $1") {
        found.push("the tenant of an INSERT ... SELECT does not come from a table".to_owned());
    }
    let targets = text.split("ON CONFLICT ").skip(1);
    found.extend(
        targets
            .filter(|target| !target.starts_with("(tenant"))
            .map(|_| "a conflict without tenant".to_owned()),
    );
    if let Some(inserted) = text.split("INSERT INTO ").nth(1)
        && !inserted
            .split('(')
            .nth(1)
            .is_some_and(|columns| columns.starts_with("tenant"))
    {
        found.push("the tenant does not come first".to_owned());
    }
    found
}

/// Returns the tables that a text reads or writes, each by its alias.
fn tables(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for word in ["FROM s.", "JOIN s.", "UPDATE s.", "USING s."] {
        for rest in text.split(word).skip(1) {
            let mut words = rest.split([' ', ',', ')']);
            let table = words.next().unwrap_or_default().to_owned();
            let alias = words
                .next()
                .filter(|alias| alias.chars().all(|letter| letter.is_ascii_lowercase()));
            found.push((alias.unwrap_or_default().to_owned(), table));
        }
    }
    found
}

#[test]
fn every_statement_is_one_tenants() {
    let all = all();
    assert!(all.len() > 150, "{}", all.len());
    for (name, text) in &all {
        assert_eq!(broken(name, text), Vec::<String>::new(), "{name}: {text}");
    }
}

#[test]
fn a_statement_that_breaks_a_rule_is_found() {
    let faulty = [
        ("SELECT r.id FROM s.record r WHERE r.id = $2", 2),
        (
            "SELECT r.id FROM s.record r JOIN s.total t ON t.owner = r.id WHERE r.tenant = $1",
            1,
        ),
        (
            "INSERT INTO s.email (hash, tenant) SELECT l.tenant, $2 FROM s.ledger l WHERE l.tenant = $1",
            1,
        ),
        (
            "INSERT INTO s.email (tenant, hash) SELECT $1, x.* FROM unnest($2) x WHERE tenant = $1",
            1,
        ),
        (
            "INSERT INTO s.email AS o (tenant) SELECT l.tenant FROM s.ledger l WHERE l.tenant = $1 ON CONFLICT (hash) DO NOTHING",
            1,
        ),
        (
            "WITH n AS (INSERT INTO s.turn (tenant) SELECT l.tenant FROM s.ledger l WHERE l.tenant = $1 RETURNING 1) SELECT 1",
            1,
        ),
        (
            "DELETE FROM s.turn t WHERE t.tenant = $1 AND t.at < now()",
            1,
        ),
    ];
    for (text, faults) in faulty {
        assert_eq!(
            broken("planted", text).len(),
            faults,
            "{text}: {:?}",
            broken("planted", text)
        );
    }
}

/// The lookup that does not know the tenant has an index on those kinds, and no code of them
/// contains a zero.
#[test]
fn containers_are_those_that_strangers_address() {
    assert_eq!(containers().split(", ").count(), 6, "{}", containers());
    assert!(Kind::ALL.iter().all(|kind| kind.code() > 0));
}
