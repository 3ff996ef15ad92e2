//! The identifiers of a body: the server's own and foreign ones, each named by its place as it was sent (UND-24).

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Bodies, Json, Object, Validator, path::Path};
use crate::{
    error::{Code, Problem},
    schema::COMMON,
    value::{Id, Identifier},
};

const IDENTIFIERS: &str = "identifiers";

impl Bodies<'_> {
    /// The foreign identifiers of a body, and the id that one in the server's own namespace names (UND-24).
    pub(super) fn identifiers(
        &self,
        body: &Object,
        path: &Path<'_>,
        validator: &mut Validator<'_>,
    ) -> (Option<Vec<Identifier>>, Option<Id>) {
        let only = Object::from_iter(body.get(IDENTIFIERS).map(|list| (IDENTIFIERS, list.clone())));
        let valid = validator.nested(COMMON, &only, path);
        let list = match valid.get(IDENTIFIERS) {
            Some(Json::Array(list)) => list,
            Some(Json::Null) => return (Some(Vec::new()), None),
            _ => return (None, None),
        };
        let mut own: Option<Id> = None;
        let mut foreign = Vec::new();
        // Filled for the first problem.
        let mut places: HashMap<Identifier, usize> = HashMap::new();
        for identifier in list.iter().filter_map(identifier) {
            if identifier.system() != self.namespace {
                foreign.push(identifier);
                continue;
            }
            let named = self.own_id(identifier.as_str());
            if named.is_none() || own.is_some() {
                if places.is_empty() {
                    let sent = self::list(body).iter().enumerate().rev();
                    places.extend(sent.filter_map(|(place, sent)| Some((self::identifier(sent)?, place))));
                }
                let place = places.get(&identifier).copied().unwrap_or_default();
                validator.problems.push(own_in_use(&format!("{}[{place}]", path.member(IDENTIFIERS))));
            }
            own = own.or(named);
        }
        (Some(foreign), own)
    }

    /// Takes the server's own identifiers out of the holders of tickets: whom they name, with the place of the ticket.
    pub(super) fn holders(&self, fields: &mut Object) -> Vec<(usize, Id)> {
        let mut named = Vec::new();
        let tickets = fields.get_mut("tickets").and_then(Json::as_array_mut);
        for (place, ticket) in tickets.into_iter().flatten().enumerate() {
            let holder = ticket.as_object_mut().and_then(|ticket| ticket.get_mut("person")?.as_object_mut());
            let Some(Json::Array(list)) = holder.and_then(|holder| holder.get_mut(IDENTIFIERS)) else { continue };
            list.retain(|sent| {
                let own = identifier(sent).filter(|sent| sent.system() == self.namespace);
                named.extend(own.iter().filter_map(|own| Some((place, self.own_id(own.as_str())?))));
                own.is_none()
            });
        }
        named
    }

    /// The id in an identifier of the server's own namespace.
    pub(super) fn own_id(&self, identifier: &str) -> Option<Id> {
        let identifier = Identifier::parse(identifier)?;
        (identifier.system() == self.namespace).then(|| Id::new(identifier.id())).flatten()
    }

    /// Where the server's own identifier stands, as `identifiers[<n>]`.
    pub(super) fn own_place(&self, body: &Object, path: &str) -> String {
        format!("{path}[{}]", self.places(body).own.unwrap_or_default())
    }

    /// The problems of a store, each identifier named by its place in the body, each link as it was sent.
    ///
    /// A store counts the foreign identifiers of a draft, each once; the server's own it names `identifiers`. A link it
    /// names `_links.person`, wherever it stands.
    pub(crate) fn as_sent(&self, body: &Object, problems: Vec<Problem>) -> Vec<Problem> {
        let mut problems = problems;
        let mut places = BTreeMap::new();
        for problem in &mut problems {
            for place in 0..problem.properties.len() {
                match problem.code {
                    Code::IdentifierInUse => problem.rename(place, |property| {
                        self.place_as_sent(body, property, &mut places).unwrap_or_else(|| property.to_owned())
                    }),
                    Code::PersonNotFound | Code::LinkNotFound => problem.rename(place, |property| {
                        self.links.as_sent(body, property).unwrap_or_else(|| property.to_owned())
                    }),
                    _ => {}
                }
            }
        }
        problems
    }

    /// `places` keeps what was found out of each list, however many problems there are.
    fn place_as_sent(&self, body: &Object, property: &str, places: &mut BTreeMap<String, Places>) -> Option<String> {
        let (prefix, counted) = property.rsplit_once(IDENTIFIERS)?;
        if !places.contains_key(prefix) {
            places.insert(prefix.to_owned(), self.places(part_of(body, prefix)?));
        }
        let places = places.get(prefix)?;
        let place = if counted.is_empty() {
            places.own.unwrap_or_default()
        } else {
            let counted: usize = counted.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
            *places.foreign.get(counted)?
        };
        Some(format!("{prefix}{IDENTIFIERS}[{place}]"))
    }

    fn places(&self, part: &Object) -> Places {
        let mut places = Places::default();
        let mut seen = HashSet::new();
        for (place, sent) in list(part).iter().enumerate() {
            let Some(sent) = identifier(sent) else { continue };
            if sent.system() == self.namespace {
                places.own = places.own.or(Some(place));
            } else if seen.insert(sent) {
                places.foreign.push(place);
            }
        }
        places
    }
}

/// Where the identifiers of a list stand.
#[derive(Debug, Default)]
struct Places {
    /// The first one in the server's own namespace.
    own: Option<usize>,
    /// Each foreign one where it stands first.
    foreign: Vec<usize>,
}

/// The part of a body in front of a property, such as `person.` or `tickets[0].person.`.
fn part_of<'a>(body: &'a Object, prefix: &str) -> Option<&'a Object> {
    let mut part = body;
    for member in prefix.split_terminator('.') {
        part = match member.strip_suffix(']').and_then(|member| member.split_once('[')) {
            Some((list, place)) => part.get(list)?.as_array()?.get(place.parse::<usize>().ok()?)?.as_object()?,
            None => part.get(member)?.as_object()?,
        };
    }
    Some(part)
}

fn list(body: &Object) -> &[Json] {
    body.get(IDENTIFIERS).and_then(Json::as_array).unwrap_or_default()
}

fn identifier(sent: &Json) -> Option<Identifier> {
    sent.as_str().and_then(Identifier::parse)
}

/// The problem of an identifier in the server's own namespace that names another record.
pub(super) fn own_in_use(property: &str) -> Problem {
    let text = format!("`{property}` names another record of this server's own namespace.");
    Problem::new(Code::IdentifierInUse, property, text).hint("leave the server's own identifiers out")
}
