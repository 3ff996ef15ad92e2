//! What needs a PostgreSQL server. `.ci/postgres` runs it.

mod copy;
mod database;
#[path = "../../../../../svc-postgres/tests/it/postgres/support/mod.rs"]
mod support;
