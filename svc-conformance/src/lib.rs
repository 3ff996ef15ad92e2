//! The conformance suite of the Activist Data Exchange API.
