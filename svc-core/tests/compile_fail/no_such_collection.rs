//# error: the specification has no collection of `svc_core::model::Signature` under `svc_core::model::Tag`
//# contains: see the `links` of `svc_core::model::Tag` for the collections it has
use std::sync::Arc;
use svc_core::{Api, Vendor, fields, helper, model, writable};

struct Crm;

#[async_trait::async_trait]
impl svc_core::List<model::Signature> for Crm {
    async fn list(
        &self,
        _: &svc_core::Context,
        _: &svc_core::ListRequest,
    ) -> svc_core::Result<svc_core::Page<model::Signature>> {
        Err(svc_core::Error::not_implemented())
    }
}

fn main() {
    let crm = Arc::new(Crm);
    let api = Api::builder(Vendor::new("Acme", "CRM"));
    api.resource::<model::Signature, _>(&crm, |signatures| signatures.list_under::<model::Tag>());
}
