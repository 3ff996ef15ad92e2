//! Resources, operations, links, capabilities, errors and HAL rendering of the Activist Data Exchange API. No I/O.

pub mod error;
pub mod read;
pub mod value;
