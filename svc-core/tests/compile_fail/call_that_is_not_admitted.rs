//# error: no method named `answer` found for struct `svc_core::api::ResolvedRequest<'a>` in the current scope
use svc_core::api::{ResolvedRequest, Response};

async fn answer(call: ResolvedRequest<'_>) -> Response {
    call.answer().await
}

fn main() {
    let _ = answer;
}
