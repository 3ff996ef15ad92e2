//! Raw types: records, drafts, pages, helper requests and outcomes whose kind or helper is known
//! only at run time.
//!
//! Most vendors use the typed counterparts: [`Record<R>`](crate::Record),
//! [`Draft<R>`](crate::Draft), [`Patch<R>`](crate::Patch), [`Page<R>`](crate::Page),
//! [`HelperRequest<H>`](crate::helper::HelperRequest) and
//! [`HelperOutcome<H>`](crate::helper::HelperOutcome). Each has `from_raw`, `as_raw` and
//! `into_raw`, which do not copy fields. The raw types are for programs that treat every kind
//! alike, such as a store that stores records as bytes (`store::Store`), an import, or a test.
//!
//! ```
//! use svc_core::{Draft, model::{Kind, Tag}, raw::RawDraft};
//!
//! let draft: RawDraft = Draft::new(&Tag::default().name("news")).into_raw();
//! assert!(draft.kind == Kind::Tag && draft.fields.contains("name"));
//! assert_eq!(Draft::<Tag>::from_raw(draft).fields().name.as_deref(), Some("news"));
//! ```

pub use crate::{
    draft::raw::{RawDraft, RawPatch},
    helper::raw::{RawHelperOutcome, RawHelperRequest},
    page::raw::RawPage,
    record::raw::RawRecord,
};
