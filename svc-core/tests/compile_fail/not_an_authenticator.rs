//# error: `Crm` is not an authenticator
//# contains: implement `svc_core::auth::Authenticator` for it: a key goes in, tenant and rights come out
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    api.authenticator(Crm);
}
