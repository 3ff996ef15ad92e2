//! The conformance suite as a program. `svc-conformance --help` lists its commands.

fn main() -> std::process::ExitCode {
    svc_conformance::program::main()
}
