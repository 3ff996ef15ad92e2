//! Resources, operations, links, capabilities, errors and HAL rendering of the Activist Data Exchange API. No I/O.

pub mod api;
pub mod auth;
pub mod context;
pub mod describe;
pub mod draft;
pub mod error;
pub mod export;
pub mod field_set;
mod hal;
pub mod helper;
pub mod link;
pub mod model;
pub mod ops;
pub mod page;
pub mod read;
pub mod record;
pub mod schema;
pub mod value;

pub use api::{Api, ApiBuilder, Vendor};
pub use context::{Base, Context, Tenant};
pub use draft::{Draft, Patch};
pub use error::{Code, Error, Problem, Result};
pub use ops::{Create, Created, Delete, Find, FindKey, Get, Helper, List, Update};
pub use page::{Next, Page, PageRequest};
pub use record::Record;
