//# error: `Crm` cannot delete `svc_core::model::Form`, so `.delete()` cannot be registered for it
//# contains: implement `svc_core::Delete<svc_core::model::Form>` for `Crm`, or do not register the operation: the server then does not offer it
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    api.resource::<model::Form, _>(&crm, |forms| forms.delete());
}
