//! The kinds of the API as a client knows them, from the catalogue.

use std::sync::LazyLock;

use crate::catalogue::{Catalogue, CatalogueKindEntry};
use crate::ids;

/// A kind: its relation, the relation of its collection, and how its records are created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CatalogueKind {
    /// The relation of one record.
    ///
    /// Requirements: HAL-14.
    pub(crate) one: &'static str,
    /// The relation of its collection.
    pub(crate) many: &'static str,
    /// The kind in whose collection it is created. `None` for the collections of the entry point.
    pub(crate) under: Option<&'static str>,
    /// The field of the container that counts its records.
    pub(crate) counted: Option<&'static str>,
    /// The helper of the container that creates its records.
    pub(crate) helper: Option<&'static str>,
}

/// All kinds, containers before their contents.
pub(crate) static KINDS: LazyLock<Vec<CatalogueKind>> = LazyLock::new(|| {
    let rows = Catalogue::built_in().map_or(&[][..], Catalogue::kinds);
    let kind = |row: &'static CatalogueKindEntry| CatalogueKind {
        one: &row.one,
        many: &row.many,
        under: row.under.as_deref(),
        counted: row.counted.as_deref(),
        helper: row.helper.as_deref(),
    };
    rows.iter().map(kind).collect()
});

/// The kinds that a helper records together with a person: those that a helper of their container
/// creates.
pub(crate) static ACTIONS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let is_action = |kind: &&CatalogueKind| {
        kind.helper.is_some() && kind.under.is_some_and(|under| under != "person")
    };
    KINDS
        .iter()
        .filter(is_action)
        .map(|kind| kind.one)
        .collect()
});

/// Returns the kind with this relation.
pub(crate) fn kind(one: &str) -> Option<CatalogueKind> {
    KINDS.iter().copied().find(|kind| kind.one == one)
}

/// Returns the kind whose collection has this name.
pub(crate) fn kind_of(many: &str) -> Option<CatalogueKind> {
    KINDS.iter().copied().find(|kind| kind.many == many)
}

/// The fixture for an event that sells tickets.
pub(crate) const TICKETED: &str = "ticketed_event";

/// The fixture for an event with few places, which a run may fill.
///
/// Requirements: LIM-04.
pub(crate) const LIMITED: &str = "limited_event";

/// The prefix of the names of helper fixtures.
pub(crate) const HELPER: &str = "helper.";

/// A fixture for a container of which a client knows only the URL of the helper.
#[derive(Debug)]
pub(crate) struct HelperFixture {
    /// The name of the fixture, such as `helper.record_signature`.
    pub(crate) name: String,
    /// The helper.
    pub(crate) helper: &'static str,
    /// The kind that has the helper.
    pub(crate) of: &'static str,
}

/// The fixtures of all helpers that records have.
pub(crate) static HELPERS: LazyLock<Vec<HelperFixture>> = LazyLock::new(|| {
    let recording = KINDS
        .iter()
        .filter_map(|kind| Some((kind.helper?, kind.under?)));
    let all = recording.chain([("schedule", "message")]);
    all.map(|(helper, of)| HelperFixture {
        name: format!("{HELPER}{helper}"),
        helper,
        of,
    })
    .collect()
});

/// Returns the names of all fixtures: of every kind, of an event that sells tickets or has few
/// places, and of every helper of a record.
pub(crate) fn fixtures() -> Vec<&'static str> {
    let helpers = HELPERS.iter().map(|fixture| fixture.name.as_str());
    KINDS
        .iter()
        .map(|kind| kind.one)
        .chain([TICKETED, LIMITED])
        .chain(helpers)
        .collect()
}

/// Returns the fixture of the helper that records of a kind have.
pub(crate) fn helper_fixture(one: &str) -> Option<&'static HelperFixture> {
    HELPERS.iter().find(|fixture| fixture.of == one)
}

/// Returns the kind of a fixture. `None` for fixtures of helpers.
pub(crate) fn of_fixture(name: &str) -> Option<CatalogueKind> {
    kind(if matches!(name, TICKETED | LIMITED) {
        "event"
    } else {
        name
    })
}

/// Returns the requirements of the collection in a container, and of the collection of a person.
pub(crate) fn collection_rows(one: &str) -> Option<(&'static str, &'static str)> {
    Some(match one {
        "signature" => (ids::COL_04, ids::COL_14),
        "submission" => (ids::COL_05, ids::COL_12),
        "donation" => (ids::COL_06, ids::COL_11),
        "outreach" => (ids::COL_07, ids::COL_15),
        "attendance" => (ids::COL_08, ids::COL_13),
        "answer" => (ids::COL_09, ids::COL_16),
        "tagging" => ("", ids::COL_17),
        "item" => ("", ids::COL_18),
        _ => return None,
    })
}
