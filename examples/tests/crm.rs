//! The `crm` example under the conformance suite, and how long its integration is.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use svc_conformance::{InProcess, Intensity, Keys, Outcome, Profile, Suite};
use svc_examples::crm::{Crm, interface};

/// The MUST rows that apply to it and cannot be seen in it, and why.
const UNDECIDED: &[(&str, &str)] = &[
    ("ERR-07", "it offers every operation of what it has, and what it does not have has no address"),
    ("ERR-34", "its helpers are atomic, and it declares no action function that could fail after the person is known"),
    ("TYP-11", "of its fields, none is a single object: `email_addresses` is an array of them"),
];

/// Where the suite reaches it.
const BASE: &str = "http://localhost/api/v1/";

#[tokio::test]
async fn the_suite_finds_that_crm_conforms() -> Result<(), Box<dyn Error>> {
    let crm = Arc::new(Crm::open(":memory:")?);
    let (acme, other) = (crm.company("Acme").await?, crm.company("Other").await?);
    let keys = Keys::primary(crm.new_key(acme, true).await?)
        .other_tenant(crm.new_key(other, true).await?)
        .restricted(crm.new_key(acme, false).await?, "people.create");
    let service = interface(&crm, BASE)?.under("/api/v1");
    let suite = Suite::new(InProcess::new(service).base(BASE)).keys(keys).profile(Profile::Actions);
    let report = suite.intensity(Intensity::Quick).seed(42).run().await?;
    println!("{report}");
    assert_eq!(report.count(Outcome::Fail) + report.count(Outcome::Error), 0, "{report}");
    assert!(report.count(Outcome::Pass) > 100 && report.profile_lacks.is_empty(), "{report}");
    let undecided: Vec<&str> = report.inconclusive().map(|row| row.id.as_str()).collect();
    let mut expected: Vec<&str> = UNDECIDED.iter().map(|(row, _)| *row).collect();
    expected.sort_by_key(|row| report.rows.iter().position(|found| found.id == *row));
    assert_eq!(undecided, expected, "{report}");
    assert_eq!((report.clean_up.removed, report.clean_up.left.len()), (report.clean_up.created, 0), "{report}");
    Ok(())
}

#[test]
fn the_integration_of_crm_is_counted() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/crm");
    let (mut integration, mut before) = (0, 0);
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        let code = std::fs::read_to_string(&path)?;
        let lines = code.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count();
        let name = path.file_name().ok_or("a name")?.to_string_lossy().into_owned();
        println!("crm/{name}: {lines} lines of code");
        // The client stands for a crate that a vendor depends on.
        *(if ["client.rs", "existing.rs"].contains(&name.as_str()) { &mut before } else { &mut integration }) += lines;
    }
    println!("crm: {integration} lines of integration beside {before} that were there before");
    assert!(integration <= 450, "{integration} lines of integration");
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md"))?;
    assert!(readme.contains(&format!("in {integration} lines")), "the README says another number than {integration}");
    Ok(())
}
