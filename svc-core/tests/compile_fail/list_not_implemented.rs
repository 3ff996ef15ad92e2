//# error: `Crm` cannot list `svc_core::model::Person`, so `.list()` and `.list_under()` cannot be registered for it
//# contains: implement `svc_core::List<svc_core::model::Person>` for `Crm`, or do not register the operation: the server then does not offer it
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    api.resource::<model::Person, _>(&crm, |people| people.list());
}
