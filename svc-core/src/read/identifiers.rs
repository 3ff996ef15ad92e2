//! The identifiers of a body: the server's own and foreign ones, with the positions at which they
//! were sent.
//!
//! Requirements: UND-24.

use std::collections::{HashMap, HashSet};

use super::{BodyReader, Json, Object, Validator, ignored::RecordPart, value_path::ValuePath};
use crate::{
    error::{ErrorCode, PathSegment, Problem, PropertyPath},
    schema::COMMON,
    value::{Id, Identifier, forms},
};

const IDENTIFIERS: &str = "identifiers";

/// Maximum number of identifiers in the server's own namespace in a body.
const MAX_OWN: usize = 1_000;

impl BodyReader<'_> {
    /// Returns the foreign identifiers of a body, and the ids of those in the server's own namespace.
    /// There is at most one of these, except for a person in a store that merges people.
    ///
    /// Requirements: UND-24.
    pub(super) fn identifiers(
        &self,
        body: &Object,
        path: &ValuePath<'_>,
        validator: &mut Validator<'_>,
        part: RecordPart<'_>,
    ) -> (Option<Vec<Identifier>>, Vec<Id>) {
        let Some(list) = body.get(IDENTIFIERS) else {
            return (None, Vec::new());
        };
        let is_own = |identifier: &Identifier| identifier.system() == self.namespace;
        let sent = self::list(body).iter().filter_map(identifier);
        let most = if part.accepts_merged_people() {
            MAX_OWN
        } else {
            1
        };
        // A client may send the server's own identifiers back, and they do not count.
        validator.uncounted_identifiers = sent.filter(is_own).count().min(most);
        let only = Object::from_iter([(IDENTIFIERS, list.clone())]);
        let valid = validator.part(COMMON, &only, path);
        let list = match valid.get(IDENTIFIERS) {
            Some(Json::Array(list)) => list,
            Some(Json::Null) => return (Some(Vec::new()), Vec::new()),
            _ => return (None, Vec::new()),
        };
        let mut own: Vec<Id> = Vec::new();
        let mut foreign = Vec::new();
        // Filled when the first problem is found.
        let mut places: HashMap<Identifier, usize> = HashMap::new();
        for identifier in list.iter().filter_map(identifier) {
            if !is_own(&identifier) {
                foreign.push(identifier);
                continue;
            }
            let named = self.own_id(identifier.as_str());
            if let Some(named) = named.filter(|_| own.len() < most) {
                own.push(named);
                continue;
            }
            if places.is_empty() {
                let sent = self::list(body).iter().enumerate().rev();
                places.extend(
                    sent.filter_map(|(place, sent)| Some((self::identifier(sent)?, place))),
                );
            }
            let place = places.get(&identifier).copied().unwrap_or_default();
            validator.problems.push(own_in_use(
                path.property().push_member(IDENTIFIERS).push_index(place),
            ));
        }
        (Some(foreign), own)
    }

    /// Removes the server's own identifiers from the holders of tickets, and returns their ids with
    /// the index of the ticket.
    pub(super) fn holders(&self, fields: &mut Object) -> Vec<(usize, Id)> {
        let mut named = Vec::new();
        let tickets = fields.get_mut("tickets").and_then(Json::as_array_mut);
        for (place, ticket) in tickets.into_iter().flatten().enumerate() {
            let holder = ticket
                .as_object_mut()
                .and_then(|ticket| ticket.get_mut("person")?.as_object_mut());
            let Some(Json::Array(list)) = holder.and_then(|holder| holder.get_mut(IDENTIFIERS))
            else {
                continue;
            };
            list.retain(|sent| {
                let own = identifier(sent).filter(|sent| sent.system() == self.namespace);
                named.extend(
                    own.iter()
                        .filter_map(|own| Some((place, self.own_id(own.as_str())?))),
                );
                own.is_none()
            });
        }
        named
    }

    /// Returns the id of an identifier in the server's own namespace.
    pub(super) fn own_id(&self, identifier: &str) -> Option<Id> {
        let identifier = Identifier::parse(identifier)?;
        (identifier.system() == self.namespace)
            .then(|| Id::new(identifier.id()))
            .flatten()
    }

    /// Returns the position of the server's own identifier.
    pub(super) fn own_position(&self, body: &Object) -> PropertyPath {
        PropertyPath::member(IDENTIFIERS)
            .push_index(self.places(body).own.first().copied().unwrap_or_default())
    }

    /// Converts the problems of a store to the positions of identifiers, addresses and links in the
    /// body.
    ///
    /// A store counts the foreign identifiers of a draft without duplicates, followed by the server's
    /// own ones. It can also name the first of these `identifiers`. It counts the e-mail addresses
    /// without empty and equal ones. It names a link as a link of the draft, wherever the body contains
    /// it.
    pub(crate) fn as_sent(&self, body: &Object, problems: Vec<Problem>) -> Vec<Problem> {
        let mut problems = problems;
        let mut places = HashMap::new();
        for problem in &mut problems {
            for property in &mut problem.properties {
                let sent = match problem.code {
                    ErrorCode::IdentifierInUse => self.place_as_sent(body, property, &mut places),
                    ErrorCode::AddressShared => address_as_sent(body, property),
                    ErrorCode::PersonNotFound | ErrorCode::LinkNotFound => {
                        self.links.as_sent(body, property)
                    }
                    _ => None,
                };
                if let Some(sent) = sent {
                    *property = sent;
                }
            }
        }
        problems
    }

    /// Converts one problem. `places` caches the positions of each list.
    fn place_as_sent(
        &self,
        body: &Object,
        property: &PropertyPath,
        places: &mut HashMap<PropertyPath, IdentifierPositions>,
    ) -> Option<PropertyPath> {
        let segments = property.segments();
        let at = segments
            .iter()
            .rposition(|segment| *segment == PathSegment::Member(IDENTIFIERS.into()))?;
        let (part, counted) = segments.split_at_checked(at)?;
        let part: PropertyPath = part.iter().cloned().collect();
        if !places.contains_key(&part) {
            places.insert(part.clone(), self.places(part_of(body, part.segments())?));
        }
        let places = places.get(&part)?;
        let place = match counted {
            [_, PathSegment::Element(counted)] => {
                let mut all = places.foreign.iter().chain(&places.own);
                *all.nth(*counted)?
            }
            _ => places.own.first().copied().unwrap_or_default(),
        };
        Some(
            PropertyPath::member(IDENTIFIERS)
                .push_index(place)
                .prefixed_with(&part),
        )
    }

    fn places(&self, part: &Object) -> IdentifierPositions {
        let mut places = IdentifierPositions::default();
        let mut seen = HashSet::new();
        for (place, sent) in list(part).iter().enumerate() {
            let Some(sent) = identifier(sent) else {
                continue;
            };
            let list = if sent.system() != self.namespace {
                &mut places.foreign
            } else if self.own_id(sent.as_str()).is_some() {
                &mut places.own
            } else {
                continue;
            };
            if seen.insert(sent) {
                list.push(place);
            }
        }
        places
    }
}

/// The positions of the identifiers in a list, the first one of each.
#[derive(Debug, Default)]
struct IdentifierPositions {
    /// Those in the server's own namespace that contain an id.
    own: Vec<usize>,
    foreign: Vec<usize>,
}

/// Converts the path of an e-mail address of a draft to its position in the body.
fn address_as_sent(body: &Object, property: &PropertyPath) -> Option<PropertyPath> {
    let segments = property.segments();
    let [
        part @ ..,
        PathSegment::Member(list),
        PathSegment::Element(counted),
        address,
    ] = segments
    else {
        return None;
    };
    let mut seen = HashSet::new();
    let sent = part_of(body, part)?.get(list)?.as_array()?.iter();
    let mut places = sent.enumerate().filter_map(|(place, entry)| {
        let address = forms::match_form(entry.as_object()?.get("address")?.as_str()?);
        (!address.is_empty() && seen.insert(address)).then_some(place)
    });
    let place = PathSegment::Element(places.nth(*counted)?);
    let list = PathSegment::Member(list.clone());
    let path = [list, place, address.clone()].into_iter();
    Some(part.iter().cloned().chain(path).collect())
}

/// Returns the object at these segments of a body.
pub(super) fn part_of<'a>(body: &'a Object, segments: &[PathSegment]) -> Option<&'a Object> {
    let mut part = body;
    let mut segments = segments.iter();
    while let Some(segment) = segments.next() {
        let PathSegment::Member(name) = segment else {
            return None;
        };
        let mut value = part.get(name)?;
        while let Some(PathSegment::Element(place)) = segments.as_slice().first() {
            value = value.as_array()?.get(*place)?;
            segments.next();
        }
        part = value.as_object()?;
    }
    Some(part)
}

fn list(body: &Object) -> &[Json] {
    body.get(IDENTIFIERS)
        .and_then(Json::as_array)
        .unwrap_or_default()
}

fn identifier(sent: &Json) -> Option<Identifier> {
    sent.as_str().and_then(Identifier::parse)
}

/// Returns the problem of an identifier in the server's own namespace that belongs to another
/// record.
pub(super) fn own_in_use(property: PropertyPath) -> Problem {
    let text = "{property} is in this server's own namespace and identifies another record.";
    Problem::new(ErrorCode::IdentifierInUse, property, text)
        .with_hint("Omit identifiers of the server's own namespace.")
}
