//# error: mismatched types
//# contains: expected `HelperRequest<RecordSignature>`, found `HelperRequest<RecordDonation>`
use svc_core::helper::{HelperRequest, RecordDonation, RecordSignature};
use svc_core::{Context, Helper};

async fn run(crm: &dyn Helper<RecordSignature>, cx: &Context, plan: HelperRequest<RecordDonation>) {
    let _ = crm.run(cx, plan).await;
}

fn main() {
    let _ = run;
}
