//! Reading requests: strict JSON, validation against the tables.
