//# error: mismatched types
//# contains: expected `LinkKey<Signature>`, found `LinkKey<Petition>`
use svc_core::link::RecordAddress;
use svc_core::model::{Kind, Signature, petition};
use svc_core::record::{Meta, Record};
use svc_core::value::{Id, Timestamp};

fn main() {
    let meta = Meta::new(Id::from(1), Timestamp::from_micros(0));
    let to = RecordAddress::without_parent(Kind::Person, Id::from(1));
    let _ = Record::new(meta, Signature::default()).with_link(petition::link::creator, to);
}
