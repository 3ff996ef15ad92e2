//# error: mismatched types
//# contains: expected `WritableSet<Person>`, found `FieldSet<Person>`
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    api.resource::<model::Person, _>(&crm, |people| people.writable_fields(fields!(person::{given_name})));
}
