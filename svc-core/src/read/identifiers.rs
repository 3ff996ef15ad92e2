//! The identifiers of a body: the server's own and foreign ones, each named by its place as it was sent (UND-24).

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
        for identifier in list.iter().filter_map(identifier) {
            if identifier.system() != self.namespace {
                foreign.push(identifier);
                continue;
            }
            let named = self.own_id(identifier.as_str());
            if named.is_none() || own.is_some() {
                let place = place_of(body, |sent| *sent == identifier);
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
        format!("{path}[{}]", place_of(body, |sent| sent.system() == self.namespace))
    }

    /// The problems of a store, each identifier named by its place in the body, each link as it was sent.
    ///
    /// A store counts the foreign identifiers of a draft, each once; the server's own it names `identifiers`. A link it
    /// names `_links.person`, wherever it stands.
    pub(crate) fn as_sent(&self, body: &Object, problems: Vec<Problem>) -> Vec<Problem> {
        let mut problems = problems;
        for problem in &mut problems {
            let name: fn(&Self, &Object, &str) -> Option<String> = match problem.code {
                Code::IdentifierInUse => Self::place_as_sent,
                Code::PersonNotFound | Code::LinkNotFound => {
                    |bodies, body, property| bodies.links.as_sent(body, property)
                }
                _ => continue,
            };
            for place in 0..problem.properties.len() {
                problem.rename(place, |property| name(self, body, property).unwrap_or_else(|| property.to_owned()));
            }
        }
        problems
    }

    fn place_as_sent(&self, body: &Object, property: &str) -> Option<String> {
        let (prefix, counted) = property.rsplit_once(IDENTIFIERS)?;
        let mut part = body;
        for member in prefix.split_terminator('.') {
            part = match member.strip_suffix(']').and_then(|member| member.split_once('[')) {
                Some((list, place)) => part.get(list)?.as_array()?.get(place.parse::<usize>().ok()?)?.as_object()?,
                None => part.get(member)?.as_object()?,
            };
        }
        let path = format!("{prefix}{IDENTIFIERS}");
        if counted.is_empty() {
            return Some(self.own_place(part, &path));
        }
        let counted: usize = counted.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
        let mut foreign: Vec<Identifier> = Vec::new();
        for (place, sent) in list(part).iter().enumerate() {
            let Some(sent) = identifier(sent).filter(|sent| sent.system() != self.namespace) else { continue };
            if foreign.contains(&sent) {
                continue;
            }
            if foreign.len() == counted {
                return Some(format!("{path}[{place}]"));
            }
            foreign.push(sent);
        }
        None
    }
}

fn list(body: &Object) -> &[Json] {
    body.get(IDENTIFIERS).and_then(Json::as_array).unwrap_or_default()
}

fn identifier(sent: &Json) -> Option<Identifier> {
    sent.as_str().and_then(Identifier::parse)
}

/// The place of the first identifier for which `holds`.
fn place_of(body: &Object, holds: impl Fn(&Identifier) -> bool) -> usize {
    list(body).iter().position(|sent| identifier(sent).as_ref().is_some_and(&holds)).unwrap_or_default()
}

/// The problem of an identifier in the server's own namespace that names another record.
pub(super) fn own_in_use(property: &str) -> Problem {
    let text = format!("`{property}` names another record of this server's own namespace.");
    Problem::new(Code::IdentifierInUse, property, text).hint("leave the server's own identifiers out")
}
