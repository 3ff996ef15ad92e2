//! The demo server. All of it stands in the library, which compiles it once for this program and for the tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    svc_examples::demo::main()
}
