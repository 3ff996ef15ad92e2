//# error: `Crm` cannot create `svc_core::model::Tag`, so `.create()` cannot be registered for it
//# contains: implement `svc_core::Create<svc_core::model::Tag>` for `Crm`, or do not register the operation: the server then does not offer it
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    api.resource::<model::Tag, _>(&crm, |tags| tags.create());
}
