//! Tests that need a PostgreSQL server. `.ci/postgres` runs them.

mod copy;
mod database;
#[path = "../../../../../svc-postgres/tests/it/postgres/support/mod.rs"]
mod support;
