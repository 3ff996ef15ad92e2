//! The conformance suite against PostgreSQL, each of its checks a test of its own: direct, with named statements.

mod served;
mod support;

use std::process::ExitCode;

use svc_postgres::Options;

fn main() -> ExitCode {
    let Some(server) = support::server() else { return ExitCode::SUCCESS };
    let options = Options::new(&server.url()).expect("a URL").schema(&server.schema());
    svc_conformance::harness::main(|| served::suite(options))
}
