//! The conformance suite against a vendor's own service, in process: no port, no second program.
//! `cargo run --bin compliance_check [quick|default|deep]`; the exit code is that of
//! `svc-conformance`.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use svc_conformance::{InProcess, Intensity, Keys, Profile, Suite};
use svc_vendor_examples::crm::{Crm, interface};

/// What its links begin with; nobody listens there.
const BASE: &str = "http://localhost/api/v1/";

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let intensity = match std::env::args().nth(1).as_deref() {
        Some("quick") => Intensity::Quick,
        Some("deep") => Intensity::Deep,
        None | Some("default") => Intensity::Default,
        Some(other) => {
            return Err(format!("`{other}` is no intensity: quick, default or deep").into());
        }
    };
    // The vendor's service, with data of its own that nobody else uses, and a key for each thing
    // that the suite tries.
    let crm = Arc::new(Crm::open(":memory:")?);
    let (acme, other) = (crm.company("Acme").await?, crm.company("Other").await?);
    let keys = Keys::primary(crm.new_key(acme, true).await?)
        .other_tenant(crm.new_key(other, true).await?)
        .restricted(crm.new_key(acme, false).await?, "people.create");
    let service = interface(&crm, BASE)?.mounted_at("/api/v1");
    // The suite reads what the service declares, tries all of it, and removes what it made.
    let suite = Suite::new(InProcess::new(service).base_url(BASE))
        .keys(keys)
        .profile(Profile::Actions);
    let report = suite.intensity(intensity).seed(42).run().await?;
    println!("{report}");
    Ok(ExitCode::from(report.exit_code()))
}
