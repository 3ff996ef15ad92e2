//# error: the trait bound `svc_core::helper::RecordSubmission: OneActionHelper` is not satisfied
//# contains: required by a bound in `ApiBuilder::one_action_per_person`
use svc_core::helper::RecordSubmission;
use svc_core::{Api, Vendor};

fn main() {
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    api.one_action_per_person::<RecordSubmission>();
}
