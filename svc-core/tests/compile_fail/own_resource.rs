//# error: `Mine` is not a kind of resource
//# contains: the kinds are closed: use one of `svc_core::model`, such as `svc_core::model::Person`
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    struct Mine;
    api.resource::<Mine, _>(&crm, |mine| mine);
}
