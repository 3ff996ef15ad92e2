//! The checks, one file per area. A check is an entry of a table and an async function.
//!
//! To add a check, write `async fn name(cx: &CheckContext) -> Result<(), CheckStop>` in the file of
//! its area and an entry `check!("area/what-it-looks-at", [ROW_01], name)` in the table above it.
//! In the function, send requests with `cx.api()` and create records with `make`. Record every
//! observation with `cx.holds`, `cx.must` or `cx.prefers`. A check that returns without an
//! observation of a requirement has not proven it.

mod access;
mod actions;
mod anonymous_disclosure;
mod anonymous_helpers;
mod answers;
mod batch;
mod canvasses;
mod change_feed;
mod changes;
mod collections;
mod complete_errors;
mod concurrent;
mod conditional;
mod crud;
mod deliveries;
mod duplicate_people;
mod duplicates;
mod entry_point;
mod errors;
mod event_stream;
mod failed_parts;
mod feed_kinds;
mod filters;
mod filters_changed;
mod functions;
mod helper_calls;
mod helpers;
mod hypermedia;
mod idempotency;
mod invalid_bodies;
mod limits;
mod links;
mod merge_actions;
mod merge_addresses;
mod merge_batch;
mod merge_errors;
mod merge_undo;
mod merges;
mod moves;
mod nested_collections;
mod page_links;
mod pages;
mod people;
mod prelude;
mod record_comparison;
mod round_trip;
mod rules;
mod schedule;
mod stateful;
mod strict;
mod subject;
mod unchanged;
mod webhooks;

use crate::check::Check;

/// Returns all checks, in the order in which they run.
pub(crate) fn all() -> Vec<Check> {
    [
        entry_point::CHECKS,
        hypermedia::CHECKS,
        collections::CHECKS,
        nested_collections::CHECKS,
        access::CHECKS,
        errors::CHECKS,
        limits::CHECKS,
        round_trip::CHECKS,
        invalid_bodies::CHECKS,
        complete_errors::CHECKS,
        crud::CHECKS,
        links::CHECKS,
        moves::CHECKS,
        rules::CHECKS,
        helpers::CHECKS,
        people::CHECKS,
        duplicate_people::CHECKS,
        anonymous_helpers::CHECKS,
        anonymous_disclosure::CHECKS,
        actions::CHECKS,
        canvasses::CHECKS,
        functions::CHECKS,
        answers::CHECKS,
        schedule::CHECKS,
        stateful::CHECKS,
        concurrent::CHECKS,
        conditional::CHECKS,
        idempotency::CHECKS,
        failed_parts::CHECKS,
        batch::CHECKS,
        strict::CHECKS,
        page_links::CHECKS,
        change_feed::CHECKS,
        feed_kinds::CHECKS,
        unchanged::CHECKS,
        event_stream::CHECKS,
        webhooks::CHECKS,
        deliveries::CHECKS,
        filters::CHECKS,
        filters_changed::CHECKS,
        merges::CHECKS,
        merge_actions::CHECKS,
        merge_addresses::CHECKS,
        merge_batch::CHECKS,
        merge_errors::CHECKS,
        merge_undo::CHECKS,
        duplicates::CHECKS,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::all;
    use crate::catalogue::{Catalogue, Level, Requirement};
    use crate::passive;

    fn rows() -> &'static [Requirement] {
        Catalogue::built_in().expect("a catalogue").requirements()
    }

    #[test]
    fn what_a_check_names_and_needs_exists() {
        let catalogue = Catalogue::built_in().expect("a catalogue");
        for check in all() {
            let needs = check.condition();
            assert!(
                catalogue.condition(&needs).is_ok(),
                "{}: {:?}",
                check.id,
                catalogue.condition(&needs)
            );
            assert!(
                !needs.contains("met."),
                "{}: its condition must be decidable before the run",
                check.id
            );
            for pattern in check.rows {
                assert!(
                    rows().iter().any(|row| names(pattern, row)),
                    "{}: no requirement matches {pattern}",
                    check.id
                );
            }
        }
        for id in passive::ROWS {
            assert!(
                rows().iter().any(|row| row.id == *id),
                "no requirement {id}"
            );
        }
    }

    fn names(pattern: &str, row: &Requirement) -> bool {
        row.id == pattern || (pattern.contains(':') && row.applies_if.starts_with(pattern))
    }

    #[test]
    fn ids_differ() {
        let mut ids = BTreeSet::new();
        for check in all() {
            assert!(ids.insert(check.id), "two checks {}", check.id);
            assert!(!check.rows.is_empty(), "{} has no requirement", check.id);
        }
    }

    #[test]
    fn every_must_row_has_a_check() {
        let checks = all();
        let missing: Vec<&str> = rows()
            .iter()
            .filter(|row| row.level == Level::Must)
            .filter(|row| {
                !checks.iter().any(|check| check.covers(row))
                    && !passive::ROWS.contains(&row.id.as_str())
            })
            .map(|row| row.id.as_str())
            .collect();
        assert!(missing.is_empty(), "no check observes {missing:?}");
    }

    /// `BLESS=1 cargo test -p svc-conformance --lib` writes the lists again.
    #[test]
    fn the_catalogue_lists_what_is_registered() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("catalogue/catalogue.toml");
        let text = fs::read_to_string(&path).expect("the catalogue");
        let checks = all();
        let mut out = String::with_capacity(text.len());
        let mut id = "";
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("id = \"") {
                id = rest.trim_end_matches('"');
            }
            match rows()
                .iter()
                .find(|row| line.starts_with("checks = ") && row.id == id)
            {
                Some(row) => {
                    let mut names: Vec<&str> = checks
                        .iter()
                        .filter(|check| check.covers(row))
                        .map(|check| check.id)
                        .collect();
                    names.extend(passive::ROWS.contains(&id).then_some("passive"));
                    out.extend(["checks = ", &format!("{names:?}")]);
                }
                None => out.push_str(line),
            }
            out.push('\n');
        }
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &out).expect("the catalogue can be written");
        } else {
            let differs = text
                .lines()
                .zip(out.lines())
                .find(|(one, other)| one != other);
            assert_eq!(differs, None, "run with BLESS=1");
        }
    }
}
