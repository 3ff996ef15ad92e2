//! Value types of the interface.
