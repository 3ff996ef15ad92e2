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

/// Returns the code of a region: the text itself if it is a code, or the code of the region with this name.
/// Without a country, a name counts if only one country has such a region.
#[must_use]
pub fn region_code(text: &str, country: Option<&str>) -> Option<String> {
    let text = text.trim();
    // Such as `US-CA`.
    let short = match (text.split_once('-'), country) {
        (Some((before, code)), Some(country)) if before.eq_ignore_ascii_case(country) => code,
        (Some((before, code)), None) if value::country(before).is_some() => code,
        _ => text,
    };
    if let Some(table) = country.and_then(|country| PLACES.regions.get(country)) {
        return table.get(text).cloned().or_else(|| value::region(short));
    }
    if country.is_none() {
        let mut named = PLACES.regions.values().filter_map(|table| table.get(text));
        if let (Some(code), None) = (named.next(), named.next()) {
            return Some(code.clone());
        }
    }
    value::region(short)
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
                    assert_eq!(found.as_deref(), Some(code.as_str()), "{name}");
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
            ("Atlantis", None),
        ] {
            assert_eq!(country_code(text).as_deref(), code, "{text}");
        }
        for (text, country, code) in [
            ("california", None, Some("CA")),
            ("New York", Some("US"), Some("NY")),
            ("ny", Some("US"), Some("NY")),
            ("US-NY", Some("US"), Some("NY")),
            ("FR-IDF", None, Some("IDF")),
            ("Thuringen", Some("DE"), Some("TH")),
            ("Oregon", Some("FR"), None),
            ("Greater Manchester", Some("GB"), None),
        ] {
            assert_eq!(region_code(text, country).as_deref(), code, "{text}");
        }
    }
}
