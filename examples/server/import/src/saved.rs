//! Mappings in files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::mapping::{ColumnMapping, MappingOptions};
use crate::names::plain_name;
use crate::table::column_letters;
use crate::{DateOrder, DecimalMark, Member};

/// A mapping of columns, as it is stored in a TOML file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SavedMapping {
    /// The order of day and month.
    #[serde(skip_serializing_if = "is_default")]
    pub dates: DateOrder,
    /// The decimal mark of amounts.
    #[serde(skip_serializing_if = "is_default")]
    pub decimal_mark: DecimalMark,
    /// Whether columns that are not in the file become custom fields.
    pub rest_custom: bool,
    /// The member of each column, by the name or the letters of the column.
    pub columns: BTreeMap<String, String>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl SavedMapping {
    /// Returns the mapping of a table with these column names. A column without a member is ignored.
    #[must_use]
    pub fn of(head: &[String], mapping: &ColumnMapping, options: &MappingOptions) -> Self {
        let key = |column: usize| {
            let name = head.get(column).map(String::as_str).unwrap_or_default();
            let plain = plain_name(name);
            let same = head.iter().filter(|other| plain_name(other) == plain);
            // Letters if the name does not identify the column.
            if plain.is_empty() || same.count() > 1 {
                column_letters(column)
            } else {
                name.to_owned()
            }
        };
        let mapped = mapping.columns().iter();
        let mapped = mapped.map(|mapped| (key(mapped.column), mapped.member.to_string()));
        let ignored = mapping.left_out().iter().chain(mapping.ignored());
        let ignored = ignored.map(|column| (key(*column), Member::Ignored.to_string()));
        Self {
            dates: options.dates,
            decimal_mark: options.decimal_mark,
            rest_custom: options.rest_custom,
            columns: mapped.chain(ignored).collect(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not TOML of this form.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Returns the text of a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the mapping cannot be written as TOML.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Adds the mapping to options. What the options have already counts.
    pub fn add_to(&self, options: &mut MappingOptions) {
        let pairs = self.columns.iter();
        options.saved = pairs
            .map(|(column, member)| (member.clone(), column.clone()))
            .collect();
        options.rest_custom |= self.rest_custom;
        if options.dates == DateOrder::Unknown {
            options.dates = self.dates;
        }
        if options.decimal_mark == DecimalMark::Unknown {
            options.decimal_mark = self.decimal_mark;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Synonyms;

    #[test]
    fn a_mapping_is_read_as_it_was_written() {
        let head: Vec<String> = ["Vorname", "Mail", "Mail", "Schuhgröße", "", "Notiz"]
            .map(str::to_owned)
            .to_vec();
        let synonyms = Synonyms::built_in().expect("the built-in names");
        let options = MappingOptions {
            pairs: vec![("custom_fields.shoe".to_owned(), "D".to_owned())],
            dates: DateOrder::DayFirst,
            ..MappingOptions::default()
        };
        let mapping = ColumnMapping::new(&head, &synonyms, &options).expect("a mapping");
        let saved = SavedMapping::of(&head, &mapping, &options);
        let text = saved.to_toml().expect("TOML");
        assert_eq!(
            text,
            "dates = \"day-first\"\nrest_custom = false\n\n[columns]\nB = \"email_addresses[1].address\"\n\
             C = \"email_addresses[2].address\"\nNotiz = \"ignored\"\n\"Schuhgröße\" = \"custom_fields.shoe\"\nVorname = \"given_name\"\n"
        );
        let read = SavedMapping::from_toml(&text).expect("the same");
        assert_eq!(read, saved);
        // The command line precedes the file.
        let mut options = MappingOptions {
            pairs: vec![("custom_fields.size".to_owned(), "D".to_owned())],
            ..MappingOptions::default()
        };
        read.add_to(&mut options);
        let again = ColumnMapping::new(&head, &synonyms, &options).expect("a mapping");
        let columns = again.columns().iter();
        let columns: Vec<String> = columns.map(|mapped| mapped.member.to_string()).collect();
        assert_eq!(
            columns,
            [
                "given_name",
                "email_addresses[1].address",
                "email_addresses[2].address",
                "custom_fields.size"
            ]
        );
        assert_eq!(again.ignored(), [5]);
        assert!(SavedMapping::from_toml("column = {}").is_err());
    }
}
