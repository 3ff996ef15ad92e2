//! The id of each requirement as a constant, generated from the catalogue: `ids::COL_23`,
//! `ids::RES_PERSON_01`. An id that is not in the catalogue does not compile.

include!(concat!(env!("OUT_DIR"), "/rows.rs"));
