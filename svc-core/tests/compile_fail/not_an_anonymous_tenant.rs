//# error: `Crm` cannot find the tenant of an anonymous helper request
//# contains: implement `svc_core::auth::TenantResolver` for it, or leave anonymous helpers disabled
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    api.anonymous_helpers(Crm);
}
