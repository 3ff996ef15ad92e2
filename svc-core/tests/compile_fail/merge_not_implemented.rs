//# error: `Crm` cannot merge people, so `.merge()` cannot be registered for `Person`
//# contains: implement `svc_core::backend::MergePeople` for `Crm`, or do not register the operation: the server then does not offer it
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    api.resource::<model::Person, _>(&crm, |people| people.merge());
}
