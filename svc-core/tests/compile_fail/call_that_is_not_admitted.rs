//# error: no method named `answer` found for struct `svc_core::api::Call<'a>` in the current scope
use svc_core::api::{Call, Reply};

async fn answer(call: Call<'_>) -> Reply {
    call.answer().await
}

fn main() {
    let _ = answer;
}
