//# error: evaluation panicked: there is no member `adress` here
//# contains: there is no member `adress` here
use std::sync::Arc;
use svc_core::{Api, Vendor, field, helper, model};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    let _ = field!(person::email_addresses::adress);
}
