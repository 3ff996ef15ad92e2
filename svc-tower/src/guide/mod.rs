//! Guides for developers who add the API to an existing program.
//!
//! 1. [Add the endpoints to your service](add_the_endpoints)
//! 2. [Map your tables](map_your_tables)
//! 3. [Old and wide tables](old_and_wide_tables)
//! 4. [What to declare](what_to_declare)
//! 5. [Person matching](person_matching)
//! 6. [Errors your users will see](errors)
//! 7. [From demo to production](production)
//! 8. [Keeping two systems in step](keep_in_step)
//! 9. [Webhooks](webhooks)
//! 10. [Merging people](merge_people)
//! 11. [What is supported, and the limits](supported)
//!
//! `cargo test` with the feature `server` compiles every example in them, and runs it where
//! possible.

#![cfg_attr(
    not(feature = "server"),
    allow(
        rustdoc::broken_intra_doc_links,
        reason = "the guides also link to the server"
    )
)]

#[cfg_attr(any(not(doctest), feature = "server"), doc = include_str!("add_the_endpoints.md"))]
pub mod add_the_endpoints {}

#[doc = include_str!("map_your_tables.md")]
pub mod map_your_tables {}

#[doc = include_str!("old_and_wide_tables.md")]
pub mod old_and_wide_tables {}

#[cfg_attr(any(not(doctest), feature = "server"), doc = include_str!("what_to_declare.md"))]
pub mod what_to_declare {}

#[cfg_attr(any(not(doctest), feature = "server"), doc = include_str!("person_matching.md"))]
pub mod person_matching {}

#[cfg_attr(any(not(doctest), feature = "server"), doc = include_str!("errors.md"))]
pub mod errors {}

#[cfg_attr(any(not(doctest), feature = "server"), doc = include_str!("production.md"))]
pub mod production {}

#[cfg_attr(any(not(doctest), feature = "server"), doc = include_str!("keep_in_step.md"))]
pub mod keep_in_step {}

#[doc = include_str!("webhooks.md")]
pub mod webhooks {}

#[doc = include_str!("merge_people.md")]
pub mod merge_people {}

#[doc = include_str!("supported.md")]
pub mod supported {}
