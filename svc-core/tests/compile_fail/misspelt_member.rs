//# error: evaluation panicked: `email_addresses` has no member `adress`
//# contains: `email_addresses` has no member `adress`
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    let _ = fields!(person::{given_name, email_addresses::{adress, primary}});
}
