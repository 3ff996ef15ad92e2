//# error: cannot construct `OfferedOperation` with struct literal syntax due to private fields
use svc_core::{api::OfferedOperation, operation::OperationSpec};

fn offered(spec: &'static OperationSpec) -> OfferedOperation {
    OfferedOperation { spec }
}

fn main() {
    let _ = offered;
}
