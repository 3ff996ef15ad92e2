//! Writes a list of a record to columns of its row.
//!
//! An entry with the constant of certain columns, such as a number of the type `Mobile`, is stored
//! there. The other entries stay in their columns, or fill the remaining ones in their order.

use svc_core::{
    error::{Error, ErrorCode, Problem, Result},
    helper::entry_key,
    json::{Json, Object},
};

use crate::{
    dialect::SqlDialect,
    resolved_mapping::{FieldStorage, ResolvedColumn, ResolvedField},
    row::at,
};

/// The columns of the entries of a list of a record, by their positions in the mapping.
#[derive(Debug, Clone)]
pub(crate) struct ListPlaces {
    /// The name of the list.
    pub(crate) name: &'static str,
    /// The columns of each entry.
    pub(crate) entries: Vec<usize>,
    /// The columns with a text that is not an entry, such as a remark in place of a phone number.
    pub(crate) unread: Vec<usize>,
}

/// The status of an e-mail address that is not an objection.
const SUBSCRIBED: &str = "subscribed";

/// A list with the columns of its entries.
pub(super) struct EntryList<'m> {
    pub(super) name: &'static str,
    pub(super) columns: &'m [Vec<ResolvedField>],
}

impl<'m> EntryList<'m> {
    /// Returns the list in columns that a member is; `None` for another member.
    pub(super) fn of(member: &'m ResolvedField) -> Option<Self> {
        let FieldStorage::Entries(columns) = &member.stored else {
            return None;
        };
        let name = member.field()?.name;
        Some(Self { name, columns })
    }

    /// Returns the columns of each entry.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no columns for an entry.
    pub(super) fn places(
        &self,
        now: &[&Object],
        before: &[&Object],
        before_places: &[usize],
        unread: &[usize],
    ) -> Result<Vec<usize>> {
        let mut places: Vec<Option<usize>> = vec![None; now.len()];
        for (place, entry) in places.iter_mut().zip(now) {
            *place = self.named_place(entry);
        }
        remove_repeated(&mut places);
        let taken: Vec<usize> = places.iter().flatten().copied().collect();
        let kept = self.rest(now, &places, &taken, unread, |entry| {
            let key = entry_key(self.name, entry);
            let known = before.iter().map(|entry| entry_key(self.name, entry));
            let at = known.zip(before_places).find(|(known, _)| *known == key)?;
            Some(*at.1)
        });
        let kept = kept.filter(|places| is_ascending(places, &taken));
        let found = kept.or_else(|| self.rest(now, &places, &taken, unread, |_| None));
        found.ok_or_else(|| self.full())
    }

    /// Returns the places of all entries. An entry without a place gets the one that it had, or the next
    /// free one, those with an unread text last. `None` if there are too few.
    fn rest(
        &self,
        now: &[&Object],
        places: &[Option<usize>],
        taken: &[usize],
        unread: &[usize],
        had: impl Fn(&Object) -> Option<usize>,
    ) -> Option<Vec<usize>> {
        let mut taken = taken.to_vec();
        let mut found = places.to_vec();
        for (place, entry) in found.iter_mut().zip(now) {
            let stayed = had(entry).filter(|at| !taken.contains(at) && self.accepts(*at, entry));
            if let (None, Some(at)) = (&place, stayed) {
                taken.push(at);
                *place = Some(at);
            }
        }
        for (place, entry) in found.iter_mut().zip(now) {
            if place.is_none() {
                let free = (0..self.columns.len()).filter(|at| !taken.contains(at));
                let mut free: Vec<usize> = free.collect();
                free.sort_by_key(|at| unread.contains(at));
                let at = free.into_iter().find(|at| self.accepts(*at, entry))?;
                taken.push(at);
                *place = Some(at);
            }
        }
        found.into_iter().collect()
    }

    /// Returns the first columns with a constant that the entry has.
    fn named_place(&self, entry: &Object) -> Option<usize> {
        // What is not primary can be anywhere.
        let has_constant = |member: &ResolvedField| match &member.stored {
            FieldStorage::Constant(value) if value == "false" => false,
            FieldStorage::Constant(value) => is_text(at(entry, member), value),
            _ => false,
        };
        let mut all = self.columns.iter().enumerate();
        all.find(|(at, members)| members.iter().any(has_constant) && self.accepts(*at, entry))
            .map(|(at, _)| at)
    }

    /// Returns whether the columns at a position can store every member of an entry.
    fn accepts(&self, place: usize, entry: &Object) -> bool {
        let members = self
            .columns
            .get(place)
            .map(Vec::as_slice)
            .unwrap_or_default();
        entry
            .iter()
            .filter(|(_, value)| !is_unset(value))
            .all(|(name, value)| {
                let mut of_name = members
                    .iter()
                    .filter(|member| member.path.first().is_some_and(|first| first.name == name));
                of_name.any(|member| match &member.stored {
                    FieldStorage::Constant(constant) => is_text(Some(value), constant),
                    _ => true,
                })
            })
    }

    /// Returns the error for a list with too many entries.
    fn full(&self) -> Error {
        let constants = |members: &Vec<ResolvedField>| {
            let named = members.iter().filter_map(|member| match &member.stored {
                FieldStorage::Constant(value) => {
                    Some(format!("`{}` `{value}`", member.field()?.name))
                }
                _ => None,
            });
            let named: Vec<String> = named.collect();
            match named.as_slice() {
                [] => "one more".to_owned(),
                named => format!("one with {}", named.join(" and ")),
            }
        };
        let each: Vec<String> = self.columns.iter().map(constants).collect();
        let text = format!(
            "{{property}} has an entry that this server cannot store. It stores at most {}: {}.",
            each.len(),
            each.join(", ")
        );
        Error::invalid(Problem::new(ErrorCode::FieldInvalid, self.name, text))
    }

    /// Returns the columns whose values have changed, each with its text. All columns of the list are
    /// returned if it is not known what they contain.
    pub(super) fn changed(
        &self,
        dialect: &'static dyn SqlDialect,
        now: &[(usize, &Object)],
        before: Option<&[(usize, &Object)]>,
        is_merge: bool,
    ) -> Vec<(&'m ResolvedColumn, Option<String>)> {
        let mut changed = Vec::new();
        let mut shared: Vec<&ResolvedColumn> = Vec::new();
        let known_entries = before.unwrap_or_default();
        for (place, members) in self.columns.iter().enumerate() {
            let is_here = |(at, _): &&(usize, &Object)| *at == place;
            let here = now.iter().find(is_here).map(|(_, entry)| *entry);
            let was_here = known_entries.iter().find(is_here).map(|(_, entry)| *entry);
            for member in members {
                let FieldStorage::Column(stored) = &member.stored else {
                    continue;
                };
                let column = &stored.column;
                if !self.is_shared(column) {
                    let value = here.and_then(|entry| at(entry, member));
                    let known = was_here.and_then(|entry| at(entry, member));
                    if value != known || before.is_none() {
                        changed.push((column, stored.text(dialect, value)));
                    }
                    continue;
                }
                if shared.contains(&column) {
                    continue;
                }
                shared.push(column);
                let known = known_entries
                    .iter()
                    .find_map(|(_, entry)| at(entry, member));
                let mut values = now.iter().filter_map(|(_, entry)| at(entry, member));
                // A value that is new is meant for all entries.
                let new = values.clone().find(|value| Some(*value) != known);
                let value = new.or_else(|| values.next());
                // What is true of the person remains without an entry that has it. Without an entry
                // before, it is not known, so a merge of two people does not weaken it.
                let remains =
                    value.is_none() || is_merge && known.is_none() && is_text(value, SUBSCRIBED);
                if value != known && !remains {
                    changed.push((column, stored.text(dialect, value)));
                }
            }
        }
        changed
    }

    /// Returns whether several entries have a column.
    fn is_shared(&self, column: &ResolvedColumn) -> bool {
        let columns = self
            .columns
            .iter()
            .flatten()
            .flat_map(ResolvedField::columns);
        columns.filter(|stored| stored.column == *column).count() > 1
    }
}

/// Removes the later ones of equal places.
fn remove_repeated(places: &mut [Option<usize>]) {
    let mut seen = Vec::new();
    for place in places {
        match place {
            Some(at) if seen.contains(at) => *place = None,
            Some(at) => seen.push(*at),
            None => {}
        }
    }
}

/// Returns whether the entries whose places are not `fixed` are in the order of their columns.
fn is_ascending(places: &[usize], fixed: &[usize]) -> bool {
    places
        .iter()
        .filter(|place| !fixed.contains(place))
        .is_sorted()
}

/// Returns whether a value means that there is none. A list does not mark its other entries as not
/// primary.
fn is_unset(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::String(text) => text.is_empty() || text == "false",
        Json::Array(list) => list.is_empty(),
        Json::Object(object) => object.is_empty(),
        Json::Bool(true) | Json::Number(_) => false,
    }
}

/// Returns whether a value has this text.
fn is_text(value: Option<&Json>, text: &str) -> bool {
    match value {
        Some(Json::String(value)) => value == text,
        Some(Json::Bool(value)) => text == if *value { "true" } else { "false" },
        _ => false,
    }
}
