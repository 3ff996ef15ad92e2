//# error: `Crm` cannot execute the helper `svc_core::helper::RecordSignature`
//# contains: implement `svc_core::Helper<svc_core::helper::RecordSignature>` for `Crm`, or register it with `.compose_helper::<svc_core::helper::RecordSignature>()`
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    api.helper::<helper::RecordSignature>(&crm);
}
