//# error: non-exhaustive patterns: `_` not covered
//# says: `Kind` is marked as non-exhaustive, so a wildcard `_` is necessary to match exhaustively

// A kind may come later: a vendor's `match` says now what becomes of it.
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
