//# error: mismatched types
//# says: expected `RunPlan<RecordSignature>`, found `RunPlan<RecordDonation>`
use svc_core::helper::{Plan, RecordDonation, RecordSignature};
use svc_core::{Context, Helper};

async fn run(crm: &dyn Helper<RecordSignature>, cx: &Context, plan: Plan<RecordDonation>) {
    let _ = crm.run(cx, plan).await;
}

fn main() {
    let _ = run;
}
