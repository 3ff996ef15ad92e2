//! The registry of mutants is large, has unique names, and contains a fault for every binding
//! requirement.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use svc_conformance::catalogue::{Catalogue, Level};
use svc_conformance::{DeclarationSource, Intensity, RequirementOutcome};
use svc_self_test::mutants::{BaseServer, MutationPoint, planted, registry};
use svc_self_test::trial::suite;
use tokio::runtime::Builder;

/// Binding requirements that no server can be observed to break, with the reason.
const NO_FAULT: [(&str, &str); 2] = [
    (
        "HAL-12",
        "binds the suite: an id is never read from an address",
    ),
    (
        "SCH-09",
        "nothing is sent that a server could accept wrongly",
    ),
];

#[test]
fn there_are_many_of_every_sort() {
    let faults = registry();
    let names: BTreeSet<&str> = faults.iter().map(|fault| fault.name.as_str()).collect();
    let twice: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| faults.iter().filter(|fault| fault.name == *name).count() > 1)
        .collect();
    assert_eq!(twice, Vec::<&str>::new(), "names are unique");
    let mut families: BTreeMap<&str, usize> = BTreeMap::new();
    for fault in &faults {
        *families.entry(fault.family).or_default() += 1;
    }
    assert!(faults.len() >= 120, "{} faults", faults.len());
    assert!(families.len() >= 25, "{families:?}");
    for place in [
        MutationPoint::Request,
        MutationPoint::Response,
        MutationPoint::Backend,
        MutationPoint::Clock,
    ] {
        assert!(
            faults.iter().any(|fault| fault.place == place),
            "{}",
            place.as_str()
        );
    }
    assert!(
        faults
            .iter()
            .filter(|fault| matches!(fault.over, BaseServer::Reference(_)))
            .count()
            >= 40
    );
    assert_eq!(planted().len(), 5);
}

#[test]
fn every_row_that_binds_is_broken_by_a_fault() {
    let faults = registry();
    let catalogue = Catalogue::built_in().expect("a catalogue");
    for fault in &faults {
        for row in &fault.rows {
            let known = catalogue
                .requirements()
                .iter()
                .any(|known| fault.breaks(&known.id) && known.level == Level::Must);
            assert!(
                known,
                "{} breaks {row}, which is not a binding requirement",
                fault.name
            );
            assert!(
                row.ends_with('*') || catalogue.requirement(row).is_some(),
                "{}: {row}",
                fault.name
            );
        }
    }
    // A fault that can be visible anywhere in an area does not count for a single requirement of
    // it.
    let named = |row: &str| {
        faults
            .iter()
            .any(|fault| fault.rows.iter().any(|one| one == row))
    };
    let left: Vec<&str> = catalogue
        .requirements()
        .iter()
        .filter(|row| row.level == Level::Must && !named(&row.id))
        .map(|row| row.id.as_str())
        .filter(|id| NO_FAULT.iter().all(|(exempt, _)| exempt != id))
        .collect();
    assert_eq!(left, Vec::<&str>::new(), "requirements without a mutant");
}

#[test]
fn one_of_each_service_starts_and_answers() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let faults = registry();
        let second_server = faults
            .iter()
            .find(|fault| matches!(fault.over, BaseServer::SecondServer(_)))
            .expect("a fault");
        let reference = faults
            .iter()
            .find(|fault| matches!(fault.over, BaseServer::Reference(_)))
            .expect("a fault");
        for fault in [second_server, reference] {
            let subject = fault.start().await.expect("a service");
            let call = svc_self_test::transport::BufferedRequest {
                method: http::Method::GET,
                uri: subject.base.parse().expect("an address"),
                headers: http::HeaderMap::new(),
                body: bytes::Bytes::new(),
            };
            let answer = subject.wire.send(call).await;
            assert_eq!(answer.status, 200, "ENT-01 {}", fault.name);
        }
    });
}

#[test]
fn odd_servers_are_many_and_start() {
    let odd = svc_self_test::unusual::registry();
    let names: BTreeSet<&str> = odd.iter().map(|odd| odd.name.as_str()).collect();
    assert!(
        names.len() == odd.len() && odd.len() >= 27,
        "{} unusual servers",
        odd.len()
    );
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        for odd in odd {
            let subject = odd
                .start()
                .await
                .unwrap_or_else(|error| panic!("{}: {error}", odd.name));
            let target = svc_conformance::InProcess::new(subject.wire.clone())
                .base_url(subject.base.clone());
            let suite = svc_conformance::Suite::new(target)
                .keys(svc_conformance::Keys::primary(&subject.key));
            // Its declaration is readable, and its entry point is valid.
            let report = suite
                .only(["ENT-01"])
                .run()
                .await
                .unwrap_or_else(|error| panic!("{}: {error}", odd.name));
            assert_eq!(
                report.requirement("ENT-01").map(|row| row.outcome),
                Some(svc_conformance::RequirementOutcome::Pass),
                "{}",
                odd.name
            );
        }
    });
}

/// Below containers, a quick run also checks the pages of records that are not listed below a
/// person.
///
/// Requirements: COL-24.
#[tokio::test]
async fn a_skipped_page_is_found_without_collections_of_a_person() -> Result<(), Box<dyn Error>> {
    for one in ["attendance", "submission", "tagging"] {
        let name = format!("next of {one}s skips a page");
        let fault = registry()
            .into_iter()
            .find(|fault| fault.name == name)
            .ok_or("the fault does not exist")?;
        let mut declaration = fault.over.declaration().await?;
        declaration
            .collections
            .get_mut("people")
            .ok_or("no people")?
            .sub
            .clear();
        let suite = suite(&fault.start().await?, Intensity::Quick, 7)
            .declaration_from(declaration, DeclarationSource::File);
        let report = suite.only(["COL-24"]).run().await?;
        assert_eq!(
            report.requirement("COL-24").map(|row| row.outcome),
            Some(RequirementOutcome::Fail),
            "{name}: {report}"
        );
    }
    Ok(())
}
