//! The building blocks of a store of the Activist Data Exchange API, except for its queries. A store
//! contains records of several kinds. A store of `svc-sql` has the kinds that its mapping names; the
//! others have every kind.
//!
//! | Module | Contents |
//! |---|---|
//! | [`cursor`], [`offset_index`], [`rank_bitmap`] | pages by `next` links and by number |
//! | [`ordered_pages`], [`lookup`] | the keys by which records are found |
//! | [`feed`], [`commits`] | the change feed, and the counter of commits |
//! | [`keys`], [`parse_tenant`] | API keys and tenants |
//! | [`KindTable`], [`migration`] | the layout of tables, and migrations |
//! | [`transfer`], [`compare`] | copying and comparing stores |
//! | [`write_watermarks`] | the last write of each tenant, which a replica must have before it is read |
//! | [`memory`] | a store in memory, which is the reference for other stores |
//! | `store_testkit` | feature `testkit`: tests that every store must pass |

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
pub mod duplicates;
pub mod feed;
pub mod hex;
mod import;
pub mod keys;
pub mod lookup;
pub mod memory;
pub mod migration;
pub mod offset_index;
pub mod ordered_pages;
pub mod rank_bitmap;
#[cfg(feature = "testkit")]
pub mod store_testkit;
mod table;
mod tenant_deltas;
mod tenant_name;
pub mod transfer;
pub mod write_watermarks;

pub use import::with_import_address;
pub use table::KindTable;
pub use tenant_deltas::TenantDeltas;
pub use tenant_name::parse_tenant;
