//! Documents about an API, generated from the same tables that route its requests.

mod capability;

pub use capability::{capabilities, type_name};
