//! The code that these tests share with those of the demo.

#![allow(
    dead_code,
    unused_imports,
    reason = "each test program uses a part of it"
)]

#[path = "../../../server/tests/it/support/client.rs"]
pub(crate) mod client;
#[path = "../../../server/tests/it/support/docs.rs"]
pub(crate) mod docs;
#[path = "../../../server/tests/it/support/loopback.rs"]
mod loopback;
#[path = "../../../server/tests/it/support/program.rs"]
pub(crate) mod program;
#[path = "../../../server/tests/it/support/raw.rs"]
mod raw;

pub(crate) use loopback::own_loopback_address;
pub(crate) use raw::{Answer, Raw, TestResult};
