//! Compares names of columns, countries and regions as people write them.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Returns a name without case, accents, spaces and punctuation: `emailadresse` for `E-Mail-Adresse`.
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

/// Values by their names.
#[derive(Debug, Clone)]
pub(crate) struct NameTable<T>(HashMap<String, T>);

impl<T> Default for NameTable<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> NameTable<T> {
    /// Adds a name, if no earlier value has it.
    pub(crate) fn add(&mut self, name: &str, value: T) {
        let name = plain_name(name);
        if !name.is_empty() {
            self.0.entry(name).or_insert(value);
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.0.get(&plain_name(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
