//# error: no method named `execute` found for struct `ResolvedRequest<'a>` in the current scope
use svc_core::api::{ResolvedRequest, Response};

async fn answer(call: ResolvedRequest<'_>) -> Response {
    call.execute().await
}

fn main() {
    let _ = answer;
}
