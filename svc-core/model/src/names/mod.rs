//! Names that all other modules use: kinds, helpers, operations. This module contains no tables.

mod helper;
mod kind;
mod operation;

pub use helper::HelperName;
pub(crate) use helper::helpers;
pub(crate) use kind::kinds;
pub use kind::{Kind, PerKind};
pub use operation::Operation;
