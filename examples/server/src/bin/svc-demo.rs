//! The demo server. All of it stands in the library, which compiles it once for this program and
//! for the tests.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// What a request holds is allocated on one thread and freed on another, which the system's
/// allocator is slow at.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    svc_server::demo::main()
}
