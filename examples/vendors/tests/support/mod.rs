//! What these tests have in common with those of the demo.

#![allow(dead_code, unused_imports, reason = "each test program uses a part of it")]

#[path = "../../../tests/support/client.rs"]
pub(crate) mod client;
#[path = "../../../tests/support/docs.rs"]
pub(crate) mod docs;
#[path = "../../../tests/support/program.rs"]
pub(crate) mod program;
#[path = "../../../tests/support/raw.rs"]
mod raw;

pub(crate) use raw::{Answer, Raw, TestResult};
