//! The conformance suite as a program; `svc-conformance --help` says how.

fn main() -> std::process::ExitCode {
    svc_conformance::program::main()
}
