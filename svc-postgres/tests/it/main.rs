//! The integration tests of `svc-postgres`: one program, so that it is linked once.

#[path = "../../../svc-sqlite/tests/it/polling.rs"]
mod polling;
mod postgres;
