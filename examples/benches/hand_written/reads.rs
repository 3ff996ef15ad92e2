//! Reads as a good engineer would write them without the library: hyper, rusqlite, a connection for
//! each thread, and a table made for it. Its columns are text that only has to be copied.
//!
//! They check no keys, cache nothing, and send neither an entity tag nor a modification date. A
//! page is found by its number alone, because no person is ever deleted here.

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;

use crate::baseline::{People, serve_with};
use crate::listening;

/// The namespace of the demo's identifiers, and its only tenant.
const NAMESPACE: &str = "svc_demo";
const TENANT: i64 = 1;
/// The links of extensions in each person of the demo.
const EXTENSIONS: &[&str] = &["merge_helper", "merges", "duplicates"];

thread_local! {
    static PEOPLE: RefCell<Option<People>> = const { RefCell::new(None) };
}

/// Copies the people of the demo's file.
pub(crate) fn copy(demo: &Path, to: &Path) {
    People::copied(demo, to, "", NAMESPACE).expect("a copy of the people");
}

/// Serves such a copy, with the demo's address in its links. Prints its address.
pub(crate) fn serve(copy: &Path, base: &str) -> ExitCode {
    let (copy, base) = (copy.to_owned(), base.to_owned());
    listening(|listener| {
        serve_with(listener, move |asked| {
            PEOPLE.with_borrow_mut(|people| {
                let people = people.get_or_insert_with(|| {
                    let people = People::open(&copy, &base, NAMESPACE);
                    people
                        .expect("a copy of the people")
                        .with_extensions(EXTENSIONS)
                });
                let number = |name| {
                    asked
                        .split(['?', '&'])
                        .find_map(|part| part.strip_prefix(name)?.parse::<i64>().ok())
                };
                if asked.contains('?') {
                    people.page(
                        TENANT,
                        number("page=").unwrap_or(1),
                        number("per_page=").unwrap_or(25),
                    )
                } else {
                    people.person(TENANT, asked.rsplit('/').next().unwrap_or_default())
                }
                .expect("rows")
                .into()
            })
        })
    })
}
