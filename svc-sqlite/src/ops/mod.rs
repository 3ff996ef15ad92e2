//! The operations of the interface, one file each, generic over the kinds (UND-12, UND-13, UND-38).

pub(crate) mod create;
mod delete;
pub(crate) mod get;
mod helper;
mod list;
mod update;
