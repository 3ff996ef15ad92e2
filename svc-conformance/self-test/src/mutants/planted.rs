//! Faults that become visible only in a sequence of requests, with the length of the shortest
//! sequence.

use svc_conformance::ids;

use super::{BaseServer, Mutant, MutationPoint};
use crate::independent_server::{Defect, ServerOptions};
use crate::interceptor::Interceptor;

/// A fault that needs a sequence of requests.
#[derive(Debug, Clone)]
pub struct SequenceMutant {
    /// The mutant.
    pub fault: Mutant,
    /// The number of requests of the shortest case, including the one that detects the fault.
    pub steps: usize,
}

fn planted_as(
    name: &'static str,
    rows: &[&str],
    steps: usize,
    set_up: fn(&mut ServerOptions),
) -> SequenceMutant {
    let fault = Mutant::new("stateful", name, rows, Interceptor::default)
        .over(BaseServer::SecondServer(set_up))
        .at(MutationPoint::Backend);
    SequenceMutant { fault, steps }
}

/// Returns the five planted faults.
#[must_use]
pub fn planted() -> Vec<SequenceMutant> {
    vec![
        // Create with a field, three updates of another one; the third response lacks the field.
        planted_as(
            "the third update drops a field",
            &[ids::CRU_15, ids::CRU_04, ids::CRU_08, ids::CRU_11],
            4,
            |options| {
                options.defects.push(Defect::ThirdUpdateDropsField);
            },
        ),
        // A person, a container, two records of both, two deletes.
        planted_as(
            "the second delete is lost",
            &[
                ids::CRU_05,
                ids::CRU_09,
                ids::COL_23,
                ids::ERR_11,
                ids::CRU_14,
            ],
            6,
            |options| {
                options.defects.push(Defect::SecondDeleteLost);
            },
        ),
        // A person with a foreign identifier, a tag, a tagging, an update.
        planted_as(
            "an update of a tagged person loses identifiers",
            &[ids::TYP_13, ids::CRU_15],
            4,
            |options| {
                options.defects.push(Defect::TaggedUpdateLosesIdentifiers);
            },
        ),
        // A person, a container, a record of both, its delete, an update of the container.
        planted_as(
            "an update after a delete is lost",
            &[
                ids::CRU_15,
                ids::CRU_04,
                ids::CRU_08,
                ids::CRU_11,
                ids::CRU_17,
                ids::CRU_18,
                ids::ERR_15,
            ],
            5,
            |options| {
                options.defects.push(Defect::UpdateAfterDeleteLost);
            },
        ),
        // A create, two updates of which the second empties a field.
        planted_as(
            "emptying a field later moves the creation date",
            &[ids::TYP_15],
            3,
            |options| {
                options.defects.push(Defect::EmptiedFieldMovesCreation);
            },
        ),
    ]
}
