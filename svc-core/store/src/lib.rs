//! The building blocks of a store of the Activist Data Exchange API, except for its queries.
//!
//! | Module | Contents |
//! |---|---|
//! | [`cursor`], [`offset_index`], [`rank_bitmap`] | pages by `next` links and by number |
//! | [`filtered`], [`lookup`] | the keys by which records are found |
//! | [`feed`], [`commits`] | the change feed, and the number of commits |
//! | [`keys`], [`new_tenant`] | API keys and tenants |
//! | [`KindTable`], [`migration`] | the layout of tables, and migrations |
//! | [`transfer`], [`compare`], [`written`] | copying and comparing stores, and the writes that a replica must have |
//! | [`memory`] | a store in memory, which is the reference for other stores |
//! | `laws` | feature `testkit`: tests that every store must pass |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

pub mod commits;
pub mod compare;
pub mod cursor;
pub mod feed;
pub mod filtered;
pub mod hex;
pub mod keys;
#[cfg(feature = "testkit")]
pub mod laws;
mod load;
pub mod lookup;
pub mod memory;
pub mod migration;
pub mod offset_index;
pub mod rank_bitmap;
mod table;
mod tally;
mod tenant_name;
pub mod transfer;
pub mod written;

pub use load::at_fault;
pub use table::KindTable;
pub use tally::TenantDeltas;
pub use tenant_name::new_tenant;
