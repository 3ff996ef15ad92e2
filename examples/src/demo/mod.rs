//! The demo server: its options, its HTTP server, its data.

mod access_log;
mod address;
mod banner;
mod body;
pub mod cli;
mod data;
mod export;
mod gate;
mod interface;
mod keys;
mod limits;
mod load;
mod places;
mod run;
mod scratch;
pub mod seed;
mod server;
mod settings;
mod signals;
mod trouble;
mod watch;

pub use access_log::{AccessLog, LogWriter};
pub use address::Address;
pub use banner::Banner;
pub use body::{BodyError, TimedBody};
pub use data::Data;
pub use gate::{Gate, Gated, Opener};
pub use interface::{dialect, service};
pub use limits::Limits;
pub use load::{Load, Progress};
pub use places::{KeysFile, ShownKey, data_file};
pub use run::run;
pub use server::serve;
pub use settings::{Cors, FixedKey, Settings};
pub use trouble::Trouble;
