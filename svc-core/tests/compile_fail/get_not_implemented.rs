//# error: `Crm` cannot read one `svc_core::model::Petition`, so `.get()` cannot be registered for it
//# contains: implement `svc_core::Get<svc_core::model::Petition>` for `Crm`, or do not register the operation: the server then does not offer it
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    api.resource::<model::Petition, _>(&crm, |petitions| petitions.get());
}
