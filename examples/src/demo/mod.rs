//! The demo server: its options, its HTTP server, its data.

mod access_log;
mod body;
mod limits;
mod server;
mod trouble;
mod watch;

pub use access_log::{AccessLog, LogWriter};
pub use body::{BodyError, TimedBody};
pub use limits::Limits;
pub use server::serve;
pub use trouble::Trouble;
