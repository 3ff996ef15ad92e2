//# error: evaluation panicked: `network_a_share` has no member `total_shares` that clients may write
//# contains: `network_a_share` has no member `total_shares` that clients may write
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    let _ = writable!(petition::{title, share_options::{network_a_share::{title, total_shares}}});
}
