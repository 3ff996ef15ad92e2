//! The conformance suite as a program; `svc-conformance --help` says how.

use std::process::ExitCode;

fn main() -> ExitCode {
    svc_conformance::program::main()
}
