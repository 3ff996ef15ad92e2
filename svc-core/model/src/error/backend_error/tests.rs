use std::io;

use super::*;
use crate::error::ErrorCode;

/// A vendor's error that has a cause.
#[derive(Debug, thiserror::Error)]
#[error("the ledger cannot be read")]
struct Ledger(#[source] io::Error);

fn ledger() -> Ledger {
    Ledger(io::Error::other("the disk is gone"))
}

#[test]
fn display_is_plain_english_without_values() {
    let title = Problem::new(
        ErrorCode::FieldInvalid,
        "tickets[0].title",
        "`Ada's secret` is not a title.",
    )
    .with_hint("secret");
    let dates = Problem::for_properties(
        ErrorCode::StartDateAfterEndDate,
        &["start_date", "end_date"],
        "secret",
    );
    let full = Problem::for_request(ErrorCode::CapacityExceeded, "secret");
    for (error, text) in [
        (
            Error::invalid(title.clone()),
            "the request is invalid: FIELD_INVALID (`tickets[0].title`)",
        ),
        (
            Error::invalid_all(vec![dates, full]),
            "the request is invalid: START_DATE_AFTER_END_DATE (`start_date`, `end_date`), CAPACITY_EXCEEDED",
        ),
        (Error::invalid_all(Vec::new()), "the request is invalid"),
        (
            Error::invalid(title).with_path_prefix("canvass"),
            "the request is invalid: FIELD_INVALID (`canvass.tickets[0].title`)",
        ),
        (Error::not_found(), "not found"),
        (
            Error::not_found().with_address("people/7"),
            "people/7: not found",
        ),
        (
            Error::unavailable(Duration::from_secs(7)),
            "unavailable, try again in 7s",
        ),
        (
            Error::not_implemented().with_operation("people.create"),
            "people.create: not supported",
        ),
        (Error::unexpected("a bug"), "a bug"),
        (ledger().into(), "the ledger cannot be read"),
        (
            Error::from(ledger())
                .with_operation("people.update")
                .with_address("people/7"),
            "people.update at people/7: the ledger cannot be read",
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(
        format!("{:#}", Error::from(ledger())),
        "the ledger cannot be read: the disk is gone"
    );
}

#[test]
fn debug_is_what_main_shows() {
    assert_eq!(format!("{:?}", Error::not_found()), "not found");
    assert_eq!(
        format!("{:?}", Error::unexpected("a bug")),
        "a bug",
        "no cause is repeated"
    );
    assert_eq!(
        format!("{:?}", Error::from(ledger()).with_operation("people.list")),
        "people.list: the ledger cannot be read\n\nCaused by:\n    the disk is gone"
    );
    assert_eq!(
        format!(
            "{:?}",
            Error::unavailable(Duration::from_millis(1500)).with_source(ledger())
        ),
        "unavailable, try again in 1.5s\n\nCaused by:\n    the ledger cannot be read\n    the disk is gone"
    );
    let nested = Error::unexpected(Error::from(ledger()).with_operation("people.find"));
    assert_eq!(
        format!("{nested:?}"),
        "people.find: the ledger cannot be read\n\nCaused by:\n    the disk is gone",
        "no cause is repeated"
    );
    assert!(format!("{nested:#?}").contains("kind: Unexpected"));
}

#[test]
fn the_question_mark_works_both_ways() {
    fn in_backend() -> Result<u32> {
        Ok("seven".parse::<u32>()?)
    }
    fn in_main() -> Result<u32, Box<dyn StdError>> {
        Ok(in_backend()?)
    }
    fn in_thread() -> Result<u32, Box<dyn StdError + Send + Sync>> {
        Ok(in_backend().map_err(|error| error.with_operation("people.list"))?)
    }
    assert!(in_backend().unwrap_err().is_unexpected());
    let bare = in_main().unwrap_err();
    assert!(
        bare.is::<std::num::ParseIntError>(),
        "without context it is the original error"
    );
    let told = in_thread().unwrap_err();
    assert_eq!(
        told.to_string(),
        "people.list: invalid digit found in string"
    );
    assert!(
        told.source()
            .and_then(|source| source.downcast_ref::<std::num::ParseIntError>())
            .is_some()
    );
    let missing: Box<dyn StdError> = Error::not_found().into();
    assert_eq!(
        (missing.to_string(), format!("{missing:?}")),
        ("not found".to_owned(), "not found".to_owned())
    );
}

#[test]
fn the_chain_of_causes_is_reachable() {
    let error = Error::from(ledger());
    assert!(error.source().unwrap().downcast_ref::<Ledger>().is_some());
    let cause = error
        .source()
        .and_then(StdError::source)
        .and_then(|cause| cause.downcast_ref::<io::Error>());
    assert_eq!(cause.unwrap().kind(), io::ErrorKind::Other);
    let outer = Error::unexpected(error.with_address("people/7"));
    let ledger = std::iter::successors(outer.source(), |&cause| cause.source())
        .find_map(|it| it.downcast_ref::<Ledger>());
    assert!(ledger.is_some());
    assert!(Error::not_found().source().is_none());
}

#[test]
fn the_kind_the_problems_and_the_context_are_told() {
    let problem = Problem::for_request(ErrorCode::CapacityExceeded, "The event is full.");
    let error = Error::invalid(problem.clone())
        .with_operation("attendances.create")
        .with_address("events/7");
    assert_eq!(
        (error.operation(), error.address()),
        (Some("attendances.create"), Some("events/7"))
    );
    assert_eq!(error.kind(), &ErrorKind::Invalid(vec![problem.clone()]));
    assert_eq!(error.problems(), std::slice::from_ref(&problem));
    assert!(
        error.is_invalid()
            && !error.is_not_found()
            && !error.is_unavailable()
            && !error.is_unexpected()
    );
    assert_eq!(error.into_problems().unwrap(), [problem]);
    let error = Error::not_found()
        .with_address("people/7")
        .into_problems()
        .unwrap_err();
    assert!(error.is_not_found() && error.problems().is_empty() && error.operation().is_none());
    assert_eq!(
        error.address(),
        Some("people/7"),
        "the context is preserved"
    );
    let retry_after = Duration::from_secs(1);
    assert!(Error::unavailable(retry_after).is_unavailable());
    assert_eq!(
        Error::unavailable(retry_after).into_kind(),
        ErrorKind::Unavailable { retry_after }
    );
}
