//# error: `Crm` is not an authenticator
//# contains: implement `svc_core::auth::Authenticator` for it: it gets a key and returns a `Principal`, which is a tenant and a caller
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    api.authenticator(Crm);
}
