//! The demo server: its options, its HTTP server, its data.

mod access_log;
mod address;
mod body;
pub mod cli;
mod limits;
pub mod seed;
mod server;
mod settings;
mod trouble;
mod watch;

pub use access_log::{AccessLog, LogWriter};
pub use address::Address;
pub use body::{BodyError, TimedBody};
pub use limits::Limits;
pub use server::serve;
pub use settings::{Cors, FixedKey, Settings};
pub use trouble::Trouble;
