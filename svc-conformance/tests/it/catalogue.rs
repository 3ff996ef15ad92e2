//! The catalogue is complete, and its ids are frozen.

use std::collections::BTreeSet;

use svc_conformance::catalogue::{Catalogue, CatalogueError};

fn catalogue() -> &'static Catalogue {
    Catalogue::built_in().expect("the built-in catalogue is readable")
}

#[test]
fn ids_are_frozen() {
    let ids: BTreeSet<&str> = catalogue()
        .requirements()
        .iter()
        .map(|row| row.id.as_str())
        .collect();
    let frozen: BTreeSet<&str> = include_str!("../golden/catalogue.ids").lines().collect();
    let gone: Vec<&&str> = frozen.difference(&ids).collect();
    assert!(
        gone.is_empty(),
        "ids are permanent, but these are missing: {gone:?}"
    );
    let new: Vec<&&str> = ids.difference(&frozen).collect();
    assert!(
        new.is_empty(),
        "add the new requirements to golden/catalogue.ids: {new:?}"
    );
}

#[test]
fn numbers_are_contiguous_in_each_area() {
    let mut expected = 0;
    let mut area = "";
    for row in catalogue().requirements() {
        expected = if row.area() == area { expected + 1 } else { 1 };
        area = row.area();
        assert_eq!(row.number(), expected, "{}", row.id);
    }
}

#[test]
fn every_row_says_something() {
    for row in catalogue().requirements() {
        for text in [
            &row.section,
            &row.statement,
            &row.condition,
            &row.observed,
            &row.reference,
        ] {
            assert!(
                !text.trim().is_empty() && text.trim() == text,
                "{}: {text:?}",
                row.id
            );
        }
    }
}

/// Returns the names of a condition: a list of names joined by `and` and `or`, each optionally
/// preceded by `not`.
#[test]
fn every_condition_is_machine_readable() {
    let name = |word: &str| {
        let (kind, rest) = word.split_once(':').unwrap_or(("field", word));
        let mut bytes = rest.bytes();
        matches!(kind, "field" | "link" | "type")
            && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._*[]".contains(&b))
    };
    for row in catalogue().requirements() {
        let mut wants_name = true;
        for word in row.condition.split(' ') {
            match word {
                "not" => assert!(wants_name, "{}: {}", row.id, row.condition),
                "and" | "or" => {
                    assert!(!wants_name, "{}: {}", row.id, row.condition);
                    wants_name = true;
                }
                _ => {
                    assert!(wants_name && name(word), "{}: {}", row.id, row.condition);
                    wants_name = false;
                }
            }
        }
        assert!(!wants_name, "{}: {}", row.id, row.condition);
    }
}

#[test]
fn a_row_is_found_by_its_id() {
    let row = catalogue().requirement("RES-person-01").expect("a row");
    assert_eq!(
        (row.area(), row.number(), row.level.as_str()),
        ("RES-person", 1, "MUST")
    );
    assert_eq!(catalogue().requirement("COL-99"), None);
}

#[test]
fn a_broken_catalogue_is_refused() {
    let row = |id: &str| {
        format!(
            "[[rule]]\nid = \"{id}\"\nlevel = \"MUST\"\nstatement = \"s\"\ncondition = \"always\"\n\
             observed = \"o\"\nreference = \"-\"\nchecks = []\n"
        )
    };
    let area = "[[area]]\nname = \"COL\"\nsection = \"s\"\n".to_owned();
    let read = |text: &str| Catalogue::parse(&(area.clone() + text));
    assert!(read(&row("COL-01")).is_ok());
    assert_eq!(
        read(&(row("COL-01") + &row("COL-01"))),
        Err(CatalogueError::IdRepeated("COL-01".into()))
    );
    for id in ["COL", "COL-", "COL-1", "COL-1a", "-01", "col-01"] {
        assert_eq!(read(&row(id)), Err(CatalogueError::IdInvalid(id.into())));
    }
    let unknown = read(&row("CAL-01")).expect_err("no such area").to_string();
    assert_eq!(
        unknown,
        "line 5 of the catalogue: requirement CAL-01 contains `CAL`, which is unknown; allowed here: COL"
    );
    assert!(matches!(
        read("[[rule]]\nid = 1"),
        Err(CatalogueError::Unreadable(_))
    ));
}
