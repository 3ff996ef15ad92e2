//# error: `Crm` cannot change `svc_core::model::Event`, so `.update()` cannot be registered for it
//# contains: implement `svc_core::Update<svc_core::model::Event>` for `Crm`, or do not register the operation: the server then does not offer it
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    api.resource::<model::Event, _>(&crm, |events| events.update());
}
