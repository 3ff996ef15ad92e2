//# error: cannot construct `AuthorizedRequest<'_>` with struct literal syntax due to private fields
use svc_core::api::{Admitted, Reply};

async fn answer() -> Reply {
    Admitted {}.answer().await
}

fn main() {
    let _ = answer;
}
