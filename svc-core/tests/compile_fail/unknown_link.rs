//# error: cannot find value `petiton` in module `signature::link`
//# contains: a constant with a similar name exists
use svc_core::link::RecordAddress;
use svc_core::model::{Kind, Signature, signature};
use svc_core::record::{Meta, Record};
use svc_core::value::{Id, Timestamp};

fn main() {
    let meta = Meta::new(Id::from(1), Timestamp::from_micros(0));
    let to = RecordAddress::top(Kind::Petition, Id::from(1));
    let _ = Record::new(meta, Signature::default()).with_link(signature::link::petiton, to);
}
