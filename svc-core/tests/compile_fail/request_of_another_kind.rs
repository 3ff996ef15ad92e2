//# error: mismatched types
//# contains: expected `CreateRequest<Petition>`, found `CreateRequest<Person>`
use svc_core::model::{Person, Petition};
use svc_core::{Context, Create, CreateRequest};

async fn create(crm: &dyn Create<Petition>, cx: &Context, request: CreateRequest<Person>) {
    let _ = crm.create(cx, request).await;
}

fn main() {
    let _ = create;
}
