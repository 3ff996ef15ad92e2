//! The integration tests of `svc-docs`: one program, so that it is linked once.
//! `cargo test -p svc-docs --test it MODULE`.

mod documents;
mod service;
