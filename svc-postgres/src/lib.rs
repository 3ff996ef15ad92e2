//! The Activist Data Exchange API on PostgreSQL. **Begun**: what stands keeps the laws of a store; keys, the demo, and what a
//! cluster needs are to come.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod apply;
mod error;
mod fetch;
mod layout;
mod migrate;
mod options;
mod pool;
mod rows;
mod sets;
mod statements;
mod store;
mod turns;

pub use migrate::ConnectError;
pub use options::Options;
pub use store::Store;
