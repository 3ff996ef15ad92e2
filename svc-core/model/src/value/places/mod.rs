//! Codes of countries and regions by their names.

mod tables;

use std::{collections::HashMap, sync::LazyLock};

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use self::tables::{COUNTRIES, NamedPlace, REGIONS};
use super::codes;

type Names = HashMap<String, &'static str>;

/// The codes of countries by their plain names.
static COUNTRY_CODES: LazyLock<Names> = LazyLock::new(|| by_name(COUNTRIES));

/// The codes of regions by their plain names, by the code of the country.
static REGION_CODES: LazyLock<Vec<(&'static str, Names)>> = LazyLock::new(|| {
    REGIONS
        .iter()
        .map(|(country, regions)| (*country, by_name(regions)))
        .collect()
});

fn by_name(places: &'static [NamedPlace]) -> Names {
    let mut codes = Names::new();
    for (code, names) in places {
        for name in *names {
            codes.entry(plain_name(name)).or_insert(code);
        }
    }
    codes
}

/// Returns a name without case, accents, spaces and punctuation: `emailadresse` for `E-Mail-Adresse`.
#[doc(hidden)]
#[must_use]
pub fn plain_name(name: &str) -> String {
    let letters = name.nfkd().filter(|one| !is_combining_mark(*one));
    let mut plain = String::with_capacity(name.len());
    for one in letters.flat_map(char::to_lowercase) {
        match one {
            'ß' => plain.push_str("ss"),
            'ø' => plain.push('o'),
            'ł' => plain.push('l'),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            one if one.is_alphanumeric() => plain.push(one),
            _ => {}
        }
    }
    plain
}

/// Returns the codes of all countries of ISO 3166-1, each with its English name.
///
/// ```
/// use svc_core::value::country_names;
///
/// assert!(country_names().any(|pair| pair == ("DE", "Germany")));
/// ```
pub fn country_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    first_names(COUNTRIES)
}

/// Returns the codes of the regions of a country, each with its usual name. There are none for
/// countries whose regions are not known by name.
///
/// ```
/// use svc_core::value::region_names;
///
/// assert!(region_names("US").any(|pair| pair == ("NY", "New York")));
/// ```
pub fn region_names(country: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let regions = REGIONS.iter().find(|(of, _)| *of == country);
    first_names(regions.map_or(&[], |(_, regions)| *regions))
}

fn first_names(
    places: &'static [NamedPlace],
) -> impl Iterator<Item = (&'static str, &'static str)> {
    places
        .iter()
        .filter_map(|(code, names)| Some((*code, *names.first()?)))
}

/// Returns the code of ISO 3166-1 for a country: its code, one that is often used instead, or its name in
/// English, German, French or Spanish.
///
/// ```
/// use svc_core::value::country_named;
///
/// assert_eq!(country_named("Deutschland"), Some("DE"));
/// assert_eq!(country_named("UK"), Some("GB"));
/// ```
#[must_use]
pub fn country_named(text: &str) -> Option<&'static str> {
    let text = text.trim();
    codes::country(text)
        .or_else(|| codes::similar_country(text))
        .or_else(|| COUNTRY_CODES.get(&plain_name(text)).copied())
}

/// Returns the code of a region, and that of its country if it is not given: the text itself if it is a code, or
/// the code of the region with this name. Without a country, a name counts if only one country has such a region.
///
/// ```
/// use svc_core::value::region_named;
///
/// assert_eq!(region_named("New York", Some("US")), Some(("NY".to_owned(), None)));
/// assert_eq!(region_named("California", None), Some(("CA".to_owned(), Some("US"))));
/// ```
#[must_use]
pub fn region_named(text: &str, country: Option<&str>) -> Option<(String, Option<&'static str>)> {
    let text = text.trim();
    // Such as `US-CA`.
    let (before, short) = match text.split_once('-') {
        Some((before, code)) => (codes::country(before), code),
        None => (None, text),
    };
    let (short, named_country) = match (before, country) {
        (Some(before), Some(country)) if before == country => (short, None),
        (Some(before), None) => (short, Some(before)),
        _ => (text, None),
    };
    let name = plain_name(text);
    if let Some(country) = country {
        let names = REGION_CODES.iter().find(|(of, _)| *of == country);
        if let Some(code) = names.and_then(|(_, names)| names.get(&name)) {
            return Some(((*code).to_owned(), None));
        }
    } else {
        let mut named = REGION_CODES
            .iter()
            .filter_map(|(country, names)| Some(((*names.get(&name)?).to_owned(), Some(*country))));
        if let (Some(found), None) = (named.next(), named.next()) {
            return Some(found);
        }
    }
    // `Zug` and `Var` are names. `D.C.` is a code.
    let letters: String = short.chars().filter(|one| *one != '.').collect();
    let is_name = letters.len() > 2 && letters.chars().any(char::is_lowercase);
    let code = codes::region(&letters).filter(|_| !is_name)?;
    Some((code, named_country))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_country_and_region_is_found_by_its_names() {
        assert_eq!(COUNTRIES.len(), 250);
        for (code, names) in COUNTRIES {
            assert_eq!(codes::country(code), Some(*code));
            for name in *names {
                assert_eq!(country_named(name), Some(*code), "{name}");
            }
        }
        for (country, regions) in REGIONS {
            assert_eq!(codes::country(country), Some(*country));
            for (code, names) in *regions {
                assert_eq!(codes::region(code).as_deref(), Some(*code));
                for name in *names {
                    let found = region_named(name, Some(country));
                    assert_eq!(found, Some(((*code).to_owned(), None)), "{name}");
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
            assert_eq!(country_named(text), code, "{text}");
        }
        let both = |code: &str, country| Some((code.to_owned(), Some(country)));
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
            assert_eq!(region_named(text, country), code, "{text}");
        }
    }

    #[test]
    fn names_are_compared_by_their_letters_and_digits() {
        for (name, plain) in [
            ("E-Mail Address", "emailaddress"),
            (" first_name ", "firstname"),
            ("Prénom", "prenom"),
            ("Straße & Nr.", "strassenr"),
            ("Zip/Postal*", "zippostal"),
            ("ADRESSE 2", "adresse2"),
            ("Wojewódzwo łódzkie", "wojewodzwolodzkie"),
            ("---", ""),
        ] {
            assert_eq!(plain_name(name), plain);
        }
    }
}
