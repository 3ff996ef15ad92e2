//! Stores: what keeps the records of every kind, and what the rulebook asks and tells it.
//!
//! The rules of the interface are in the rulebook and nowhere else: what a create, a change, a
//! deletion or a helper call means is decided by [`decide`](crate::rules::decide), a synchronous
//! function over [`Question`]s and [`Change`]s, both plain data. A [`Store`] fetches and writes. It
//! knows no rule, and the rulebook knows no database.
//!
//! A call has its turn inside a transaction of the store, after every write that was committed
//! before:
//!
//! ```text
//! Call ──► decide ──► Question ──► the store answers      (again, until nothing is missing)
//!             └─────► Change   ──► the store applies them, commits, and gives the outcome
//! ```
//!
//! A store that has its data at hand implements [`Answers`] by reading, and is never run twice; one
//! that has to fetch keeps what it fetched in [`Fetched`], beginning with
//! [`first_questions`](crate::rules::first_questions).
//!
//! `svc_core::memory` (feature `memory`) is the specification of a store; `svc_core::laws` (feature
//! `store-tests`) says whether another one behaves alike.
//!
//! With the feature `store` there is also what every store of its own tables needs and would have
//! to write again: cursors (`cursor`), pages of what a filter leads to (`filtered`), jumps to a
//! page (`offset_index`), keys (`keys`), what records are found by (`lookup`), the layout of tables
//! (`KindTable`), their migrations (`migration`), the count of transactions (`commits`), what a
//! replica must have (`written`), everything as changes for another store (`transfer`), and whether
//! that has the same then (`compare`).

pub use svc_rules::store::*;

#[cfg(feature = "store")]
pub mod commits;
#[cfg(feature = "store")]
pub mod compare;
#[cfg(feature = "store")]
pub mod cursor;
#[cfg(feature = "store")]
pub mod feed;
#[cfg(feature = "store")]
pub mod filtered;
#[cfg(feature = "store")]
pub mod hex;
#[cfg(feature = "store")]
pub mod keys;
#[cfg(feature = "store")]
mod load;
#[cfg(feature = "store")]
pub mod lookup;
#[cfg(feature = "store")]
pub mod migration;
#[cfg(feature = "store")]
pub mod offset_index;
#[cfg(feature = "store")]
pub mod rank_bitmap;
#[cfg(feature = "store")]
mod table;
#[cfg(feature = "store")]
mod tally;
#[cfg(feature = "store")]
mod tenant_name;
#[cfg(feature = "store")]
pub mod transfer;
#[cfg(feature = "store")]
pub mod written;

#[cfg(feature = "store")]
pub use load::at_fault;
#[cfg(feature = "store")]
pub use table::KindTable;
#[cfg(feature = "store")]
pub use tally::Tally;
#[cfg(feature = "store")]
pub use tenant_name::new_tenant;
