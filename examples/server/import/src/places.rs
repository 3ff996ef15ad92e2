//! Codes of countries and regions by their names.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use svc_core::value;

use crate::names::NameTable;

/// The names of countries and regions.
static PLACES: LazyLock<Places> = LazyLock::new(|| {
    // A test reads the file.
    let file: PlacesFile = toml::from_str(include_str!("places.toml")).unwrap_or_default();
    let mut places = Places::default();
    for (code, names) in &file.countries {
        for name in names {
            places.countries.add(name, code.clone());
        }
    }
    for (country, regions) in &file.regions {
        let table = places.regions.entry(country.clone()).or_default();
        for (code, names) in regions {
            for name in names {
                table.add(name, code.clone());
            }
        }
    }
    places
});

type NamesByCode = BTreeMap<String, Vec<String>>;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlacesFile {
    countries: NamesByCode,
    regions: BTreeMap<String, NamesByCode>,
}

#[derive(Debug, Default)]
struct Places {
    countries: NameTable<String>,
    /// By the code of the country.
    regions: BTreeMap<String, NameTable<String>>,
}

/// Returns the code of ISO 3166-1 for a country: its code, one that is often used instead, or its name in
/// English, German, French or Spanish.
#[must_use]
pub fn country_code(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(code) = value::country(text).or_else(|| value::similar_country(text)) {
        return Some(code.to_owned());
    }
    PLACES.countries.get(text).cloned()
}

/// Returns the code of a region, and that of its country if it is not given: the text itself if it is a code, or
/// the code of the region with this name. Without a country, a name counts if only one country has such a region.
#[must_use]
pub fn region_code(text: &str, country: Option<&str>) -> Option<(String, Option<String>)> {
    let text = text.trim();
    // Such as `US-CA`.
    let (before, short) = match text.split_once('-') {
        Some((before, code)) => (value::country(before), code),
        None => (None, text),
    };
    let (short, named_country) = match (before, country) {
        (Some(before), Some(country)) if before == country => (short, None),
        (Some(before), None) => (short, Some(before.to_owned())),
        _ => (text, None),
    };
    if let Some(country) = country {
        let table = PLACES.regions.get(country);
        if let Some(code) = table.and_then(|table| table.get(text)) {
            return Some((code.clone(), None));
        }
    } else {
        let mut named = PLACES.regions.iter().filter_map(|(country, table)| {
            let code = table.get(text)?;
            Some((code.clone(), Some(country.clone())))
        });
        if let (Some(found), None) = (named.next(), named.next()) {
            return Some(found);
        }
    }
    // `Zug` and `Var` are names. `D.C.` is a code.
    let letters: String = short.chars().filter(|one| *one != '.').collect();
    let is_name = letters.len() > 2 && letters.chars().any(char::is_lowercase);
    let code = value::region(&letters).filter(|_| !is_name)?;
    Some((code, named_country))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_a_name_for_each_country() {
        let file: PlacesFile = toml::from_str(include_str!("places.toml")).expect("a file");
        assert_eq!(file.countries.len(), 250);
        for (code, names) in &file.countries {
            assert_eq!(value::country(code), Some(code.as_str()));
            for name in names {
                assert_eq!(country_code(name).as_deref(), Some(code.as_str()), "{name}");
            }
        }
        for (country, regions) in &file.regions {
            assert_eq!(value::country(country), Some(country.as_str()));
            for (code, names) in regions {
                assert_eq!(value::region(code).as_deref(), Some(code.as_str()));
                for name in names {
                    let found = region_code(name, Some(country));
                    assert_eq!(found, Some((code.clone(), None)), "{name}");
                }
            }
        }
    }

    #[test]
    fn codes_and_names_of_places() {
        for (text, code) in [
            ("us", Some("US")),
            ("UK", Some("GB")),
            (" u.s.a. ", Some("US")),
            ("ESPAÑA", Some("ES")),
            ("Cote d'Ivoire", Some("CI")),
            ("D", Some("DE")),
            ("Atlantis", None),
        ] {
            assert_eq!(country_code(text).as_deref(), code, "{text}");
        }
        let both = |code: &str, country: &str| Some((code.to_owned(), Some(country.to_owned())));
        let only = |code: &str| Some((code.to_owned(), None));
        for (text, country, code) in [
            ("california", None, both("CA", "US")),
            ("Madrid", None, both("MD", "ES")),
            ("New York", Some("US"), only("NY")),
            ("ny", Some("US"), only("NY")),
            ("D.C.", Some("US"), only("DC")),
            ("US-NY", Some("US"), only("NY")),
            ("FR-IDF", None, both("IDF", "FR")),
            ("Thuringen", Some("DE"), only("TH")),
            ("75", Some("FR"), only("75")),
            ("Var", Some("FR"), None),
            ("Zug", Some("CH"), None),
            ("Oregon", Some("FR"), None),
            ("Greater Manchester", Some("GB"), None),
        ] {
            assert_eq!(region_code(text, country), code, "{text}");
        }
    }
}
