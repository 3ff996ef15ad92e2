//# error: non-exhaustive patterns: `_` not covered
//# contains: `Kind` is marked as non-exhaustive, so a wildcard `_` is necessary to match exhaustively

// Later versions can add kinds, so a vendor's `match` needs a wildcard arm.
use svc_core::model::Kind;

macro_rules! every {
    (($kind:expr) $($name:ident)+) => {
        match $kind { $(Kind::$name => stringify!($name)),+ }
    };
}

fn name(kind: Kind) -> &'static str {
    svc_core::each_kind!(every(kind))
}

fn main() {
    name(Kind::Person);
}
