//# error: cannot construct `Offered` with struct literal syntax due to private fields
use svc_core::{api::Offered, operation::OperationSpec};

fn offered(spec: &'static OperationSpec) -> Offered {
    Offered { spec }
}

fn main() {
    let _ = offered;
}
