//# error: `Crm` cannot look up `svc_core::model::List`, so `.find()` cannot be registered for it
//# contains: implement `svc_core::Find<svc_core::model::List>` for `Crm`: by name, identifier or e-mail address
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    api.resource::<model::List, _>(&crm, |lists| lists.find());
}
