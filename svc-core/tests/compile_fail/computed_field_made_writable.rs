//# error: evaluation panicked: `total_signatures` is computed by the server: it cannot be made writable
//# contains: `total_signatures` is computed by the server: it cannot be made writable
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    let _ = writable!(petition::{name, total_signatures});
}
