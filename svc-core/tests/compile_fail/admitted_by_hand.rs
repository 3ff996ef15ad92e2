//# error: cannot construct `AuthorizedRequest<'_>` with struct literal syntax due to private fields
use svc_core::api::{AuthorizedRequest, Response};

async fn answer() -> Response {
    AuthorizedRequest {}.execute().await
}

fn main() {
    let _ = answer;
}
