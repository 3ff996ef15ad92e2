//# error: cannot find value `signatures` in module `petition::link`
//# contains: not found in `petition::link`
use std::sync::Arc;
use svc_core::model::{Petition, petition};
use svc_core::{Api, Vendor};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    let _ = api.resource::<Petition, _>(&crm, |x| x.without_link(petition::link::signatures));
}
