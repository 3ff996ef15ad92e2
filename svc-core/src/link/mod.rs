//! Addresses: the dialect, what an address can lead to, and how it is written and read.

mod conventional;
mod dialect;
pub(crate) mod law;
mod layout;
mod target;

pub use conventional::ConventionalLayout;
pub use dialect::{Dialect, ShareNames};
pub use layout::Layout;
pub use target::{Address, Ref, Scope, Target};
