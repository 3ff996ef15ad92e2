//! The id of each row as a constant, made from the catalogue: `ids::COL_23`, `ids::RES_PERSON_01`.
//! An id that the catalogue does not have does not compile.

include!(concat!(env!("OUT_DIR"), "/rows.rs"));
