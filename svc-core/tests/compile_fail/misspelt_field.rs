//# error: cannot find value `given_nam` in module `$crate::model::person::key`
//# contains: a constant with a similar name exists
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    let _ = fields!(person::{given_nam});
}
