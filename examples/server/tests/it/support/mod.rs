//! The code that the tests of the programs share.

#![allow(dead_code, reason = "each test program uses a part of it")]

pub(crate) mod client;
pub(crate) mod demo;
pub(crate) mod docs;
mod loopback;
pub(crate) mod program;
mod raw;
pub(crate) mod walk;

pub(crate) use loopback::own_loopback_address;
pub(crate) use raw::{Answer, Raw, TestResult};
