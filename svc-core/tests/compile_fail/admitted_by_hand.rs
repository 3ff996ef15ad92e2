//# error: cannot construct `Admitted<'_>` with struct literal syntax due to private fields
use svc_core::api::{Admitted, Reply};

async fn answer() -> Reply {
    Admitted {}.answer().await
}

fn main() {
    let _ = answer;
}
