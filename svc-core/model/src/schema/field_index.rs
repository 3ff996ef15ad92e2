//! An index that finds the position of a field by its name in constant time.

use super::{FieldSpec, ObjectSchema, is_same};

/// The positions of fields by a hash of their names. It has twice as many slots as a table can have
/// fields, so that searches are short.
#[derive(Debug)]
pub(super) struct FieldIndex([u8; SLOTS]);

const SLOTS: usize = 2 * ObjectSchema::MAX_FIELDS;
const EMPTY: u8 = u8::MAX;

impl FieldIndex {
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated by the compiler, which would report a panic"
    )]
    pub(super) const fn of(fields: &[FieldSpec]) -> Self {
        assert!(
            fields.len() <= ObjectSchema::MAX_FIELDS,
            "a table has at most 64 fields"
        );
        let mut slots = [EMPTY; SLOTS];
        let (mut rest, mut place) = (fields, 0_u8);
        while let [field, more @ ..] = rest {
            let mut slot = first_slot(field.name.as_bytes());
            while slots[slot] != EMPTY {
                let other = fields[slots[slot] as usize].name;
                assert!(
                    !is_same(other.as_bytes(), field.name.as_bytes()),
                    "a table has two fields with the same name"
                );
                slot = (slot + 1) % SLOTS;
            }
            slots[slot] = place;
            (rest, place) = (more, place + 1);
        }
        Self(slots)
    }

    /// Returns the field with this name and its position.
    pub(super) fn find(
        &self,
        fields: &'static [FieldSpec],
        name: &str,
    ) -> Option<(usize, &'static FieldSpec)> {
        let (before, from) = self.0.split_at_checked(first_slot(name.as_bytes()))?;
        for slot in from.iter().chain(before).take_while(|slot| **slot != EMPTY) {
            let place = usize::from(*slot);
            let field = fields.get(place)?;
            if field.name == name {
                return Some((place, field));
            }
        }
        None
    }
}

/// Returns the slot where the search for a name starts. Names of one table rarely have the same
/// length, first and last letter.
const fn first_slot(name: &[u8]) -> usize {
    match name {
        [first, .., last] => (name.len() * 5 + *first as usize * 31 + *last as usize * 7) % SLOTS,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use crate::{model::Kind, schema::COMMON};

    #[test]
    fn each_field_is_found_by_its_name_and_nothing_else_is() {
        for table in Kind::ALL
            .iter()
            .map(|kind| kind.schema().fields)
            .chain([COMMON])
        {
            for (place, field) in table.fields.iter().enumerate() {
                assert_eq!(
                    table
                        .find(field.name)
                        .map(|(place, field)| (place, field.requirement)),
                    Some((place, field.requirement))
                );
                assert!(table.find(&format!("{}_", field.name)).is_none());
            }
            assert!(
                ["", "x", "_links", "person name"]
                    .iter()
                    .all(|name| table.find(name).is_none())
            );
        }
    }
}
