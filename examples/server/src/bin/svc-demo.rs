//! The demo server. The code is in the library, which is compiled once for this program and for the
//! tests.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// The memory of a request is allocated on one thread and freed on another, which is slow with the
/// allocator of the system.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    svc_server::demo::main()
}
