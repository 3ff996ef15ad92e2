//! Runs the conformance suite on a vendor's service in the same process, without a port and a
//! second program: `cargo run --bin compliance_check [quick|default|deep]`. The exit code is that
//! of `svc-conformance`.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use svc_conformance::{InProcess, Intensity, Keys, Profile, Suite};
use svc_vendor_examples::crm::{Crm, interface};

/// The base URL of the links. No server listens on it.
const BASE: &str = "http://localhost/api/v1/";

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let intensity = match std::env::args().nth(1).as_deref() {
        Some("quick") => Intensity::Quick,
        Some("deep") => Intensity::Deep,
        None | Some("default") => Intensity::Default,
        Some(other) => {
            return Err(format!("`{other}` must be quick, default or deep").into());
        }
    };
    // The vendor's service, with its own data, and a key for each purpose of the suite.
    let crm = Arc::new(Crm::open(":memory:")?);
    let (acme, other) = (crm.company("Acme").await?, crm.company("Other").await?);
    let keys = Keys::primary(crm.new_key(acme, true).await?)
        .other_tenant(crm.new_key(other, true).await?)
        .restricted(crm.new_key(acme, false).await?, "people.create");
    let service = interface(&crm, BASE)?.mounted_at("/api/v1");
    // The suite reads what the service declares, tests all of it, and deletes the records that it
    // created.
    let suite = Suite::new(InProcess::new(service).base_url(BASE))
        .keys(keys)
        .profile(Profile::Actions);
    let report = suite.intensity(intensity).seed(42).run().await?;
    println!("{report}");
    Ok(ExitCode::from(report.exit_code()))
}
