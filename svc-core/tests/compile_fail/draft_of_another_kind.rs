//# error: mismatched types
//# contains: expected `Draft<Petition>`, found `Draft<Person>`
use svc_core::model::{Person, Petition};
use svc_core::{CreateRequest, Draft};

fn request(draft: Draft<Person>) -> CreateRequest<Petition> {
    CreateRequest::new(draft)
}

fn main() {
    let _ = request;
}
