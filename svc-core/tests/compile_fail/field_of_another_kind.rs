//# error: cannot find value `petition_text` in module `$crate::model::person::key`
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    let _ = fields!(person::{petition_text});
}
