//! The integration tests of `svc-postgres`: one program, so that it is linked once.

#[path = "../../../svc-sqlite/tests/it/layers.rs"]
#[allow(dead_code, reason = "svc-sqlite tests these checks, too")]
mod layers;
#[path = "../../../svc-sqlite/tests/it/polling.rs"]
mod polling;
mod postgres;
mod structure;
