//! Reads as a good engineer would write them by hand: hyper, rusqlite, a connection for each thread, and a table made for it, whose
//! columns are all text that only has to be copied.
//!
//! They check no key and keep nothing, send neither a tag nor a date of change, and find a page by its number alone, as nobody is ever
//! deleted here.

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;

use crate::baseline::{Pages, serve_with};
use crate::listening;

/// What the demo calls itself in identifiers, and its only tenant.
const NAMESPACE: &str = "svc_demo";
const TENANT: i64 = 1;

thread_local! {
    static PAGES: RefCell<Option<Pages>> = const { RefCell::new(None) };
}

/// Copies the people of the demo's file.
pub(crate) fn copy(demo: &Path, to: &Path) {
    Pages::copied(demo, to, "", NAMESPACE).expect("a copy of the people");
}

/// Serves such a copy, with the demo's address in its links. Prints where it listens.
pub(crate) fn serve(copy: &Path, base: &str) -> ExitCode {
    let (copy, base) = (copy.to_owned(), base.to_owned());
    listening(|listener| {
        serve_with(listener, move |asked| {
            PAGES.with_borrow_mut(|pages| {
                let pages =
                    pages.get_or_insert_with(|| Pages::open(&copy, &base, NAMESPACE).expect("a copy of the people"));
                match asked.rsplit_once("page=") {
                    Some((_, page)) => pages.page(TENANT, page.parse().expect("a number")),
                    None => pages.person(TENANT, asked.rsplit('/').next().unwrap_or_default()),
                }
                .expect("rows")
                .into()
            })
        })
    })
}
