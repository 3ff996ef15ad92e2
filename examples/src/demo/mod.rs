//! The demo server: its options, its HTTP server, its data.

mod access_log;
mod address;
mod banner;
mod body;
pub mod cli;
mod gate;
mod limits;
mod places;
pub mod seed;
mod server;
mod settings;
mod trouble;
mod watch;

pub use access_log::{AccessLog, LogWriter};
pub use address::Address;
pub use banner::Banner;
pub use body::{BodyError, TimedBody};
pub use gate::{Gate, Opener};
pub use limits::Limits;
pub use places::{KeysFile, ShownKey, data_file};
pub use server::serve;
pub use settings::{Cors, FixedKey, Settings};
pub use trouble::Trouble;
