//! The conformance suite behind pgbouncer in transaction mode, which knows no named statements; with pages in two routed
//! statements, and with row-level security for a role that it holds for.

mod served;
mod support;

use std::process::ExitCode;

use support::bouncer::Bouncer;
use svc_postgres::{Options, Pages, Statements};

fn main() -> ExitCode {
    let Some(server) = support::server() else { return ExitCode::SUCCESS };
    let schema = server.schema();
    server.psql(&format!("CREATE ROLE fenced LOGIN; CREATE SCHEMA {schema} AUTHORIZATION fenced"));
    let bouncer = Bouncer::start(server, 4);
    let url = bouncer.url().replace("svc@", "fenced@");
    let options = Options::new(&url).expect("a URL").schema(&schema).row_level_security();
    let options = options.statements(Statements::Unnamed).pages(Pages::Routed);
    svc_conformance::harness::main(|| served::suite(options))
}
