//! The ignored members of a body: unknown, read-only or overruled.
//!
//! The readers of a body report them, each for the object that it reads.
//!
//! Requirements: UND-22.

use super::{
    AcceptedMembers, BodyReader, Json, Object, Validator, link::LinkPurpose, value_path::ValuePath,
};
use crate::{
    error::{ErrorCode, Problem, PropertyPath},
    helper::HelperName,
    model::{Kind, person::gender_of},
    schema::{COMMON, KindFeature, LinkSpec, LinkTarget, ObjectSchema},
};

pub(super) const LINKS: &str = "_links";
/// Maximum number of ignored members that one response names. Otherwise a small request could cause
/// a very large response.
const MAX_IGNORED: usize = 100;
/// A longer name is not a typing error, and responses do not repeat it.
const LONGEST_NAME: usize = 64;

/// The problems of a body, and its ignored members.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BodyReport {
    /// The reasons why the body is invalid.
    pub problems: Vec<Problem>,
    /// The members that were ignored, if the reader [reports](BodyReader::reports_ignored) them.
    pub ignored: Vec<Problem>,
}

impl BodyReport {
    /// Adds what a validator has found.
    pub(super) fn take(&mut self, validator: Validator<'_>) {
        self.problems.extend(validator.problems);
        self.ignore(validator.ignored.unwrap_or_default());
    }

    pub(super) fn ignore(&mut self, ignored: Vec<Problem>) {
        let left = MAX_IGNORED.saturating_sub(self.ignored.len());
        self.ignored.extend(ignored.into_iter().take(left));
    }
}

/// The role of a name in an object of a body.
pub(super) enum MemberRole {
    /// Another reader takes it.
    Part,
    ReadOnly,
    /// Overruled by this other member.
    Overruled(String),
}

/// The members of an object that are not fields of its table.
pub(super) struct OtherMembers<'o> {
    /// The tables of other readers of the same object.
    pub(super) tables: &'o [&'static ObjectSchema],
    /// Returns the role of another name, or `None` if it is unknown.
    pub(super) role: &'o dyn Fn(&str) -> Option<MemberRole>,
    /// Other names that a client may send, for hints.
    pub(super) names: &'o [&'o str],
}

impl OtherMembers<'_> {
    /// There are no others.
    pub(super) const NONE: Self = OtherMembers {
        tables: &[],
        role: &|_| None,
        names: &[],
    };

    /// Returns the role of a name.
    pub(super) fn role(&self, name: &str) -> Option<MemberRole> {
        if self.tables.iter().any(|table| is_field(table, name)) {
            Some(MemberRole::Part)
        } else {
            (self.role)(name)
        }
    }

    /// Returns the names that a client may send, for hints.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let fields = self.tables.iter().flat_map(|table| table.fields);
        fields
            .map(|field| field.name)
            .chain(self.names.iter().copied())
    }
}

/// A record in a body, and what a client may send for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordPart<'a> {
    pub(super) kind: Kind,
    pub(super) taken: AcceptedMembers<'a>,
    pub(super) purpose: LinkPurpose,
    /// The helper whose other members are in the same object.
    pub(super) helper: Option<HelperName>,
}

impl RecordPart<'_> {
    /// Returns a link that this server stores, by its name without prefix.
    fn link(&self, name: &str) -> Option<&'static LinkSpec> {
        let link = self.kind.schema().link(name)?;
        (!self.taken.unlinked.contains(&link.name)).then_some(link)
    }

    /// Returns whether a client may send a link.
    fn accepts(&self, link: &LinkSpec) -> bool {
        match link.target {
            LinkTarget::One { write, .. } => {
                self.purpose.accepts(self.kind.schema(), link.name, write)
            }
            _ => false,
        }
    }
}

/// The ignored members of one object.
pub(super) struct IgnoredIn<'o> {
    path: &'o ValuePath<'o>,
    found: Vec<Problem>,
    /// The number of members that can still be added.
    room: usize,
}

impl<'o> IgnoredIn<'o> {
    /// `before` is the number of ignored members in other objects.
    pub(super) fn new(path: &'o ValuePath<'o>, before: usize) -> Self {
        Self {
            path,
            found: Vec::new(),
            room: MAX_IGNORED.saturating_sub(before),
        }
    }

    /// Adds a member with its role. Returns `false` if there is no more room.
    ///
    /// `names` returns the known names, for hints.
    pub(super) fn add(
        &mut self,
        name: &str,
        role: Option<MemberRole>,
        names: &mut dyn Iterator<Item = &str>,
    ) -> bool {
        if self.room == self.found.len() {
            return false;
        }
        let at = || ValuePath::Member(self.path, name).property();
        self.found.push(match role {
            Some(MemberRole::Part) => return true,
            Some(MemberRole::ReadOnly) => read_only_at(at()),
            Some(MemberRole::Overruled(by)) => overruled(at(), &by),
            None if name.len() > LONGEST_NAME => {
                let text = format!("A property name must have at most {LONGEST_NAME} characters.");
                Problem::new(ErrorCode::PropertyUnknown, self.path.property(), text)
            }
            None => {
                let text = "{property} is not a known property.";
                let problem = Problem::new(ErrorCode::PropertyUnknown, at(), text);
                match nearest(name, names) {
                    Some(meant) => problem.with_hint(meant.to_owned()),
                    None => problem,
                }
            }
        });
        self.found.len() < self.room
    }

    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.found
    }
}

/// Returns the problem of a member that only the server sets.
pub(crate) fn read_only(name: &str) -> Problem {
    read_only_at(PropertyPath::member(name.to_owned()))
}

fn read_only_at(property: PropertyPath) -> Problem {
    let text = "{property} is read-only on this server.";
    Problem::new(ErrorCode::PropertyReadOnly, property, text)
}

fn overruled(property: PropertyPath, by: &str) -> Problem {
    let text = format!("{{property}} is ignored because the request contains `{by}`.");
    Problem::new(ErrorCode::PropertyOverruled, property, text)
}

impl BodyReader<'_> {
    /// Returns the role of a member of a record that is not a field of its kind.
    pub(super) fn record_role(
        &self,
        part: RecordPart<'_>,
        body: &Object,
        name: &str,
    ) -> Option<MemberRole> {
        let RecordPart {
            kind,
            purpose,
            helper,
            ..
        } = part;
        match name {
            "identifiers" | LINKS => return Some(MemberRole::Part),
            "person" if helper.is_some_and(HelperName::accepts_person) => {
                return Some(MemberRole::Part);
            }
            // It is `null` here; otherwise the body would be a helper request.
            "person"
                if purpose == LinkPurpose::Create
                    && HelperName::for_nested_create(kind).is_some() =>
            {
                return Some(MemberRole::Part);
            }
            "_embedded" => return Some(MemberRole::ReadOnly),
            "id" if kind.schema().has_feature(KindFeature::ExposesId) => {
                return Some(MemberRole::ReadOnly);
            }
            _ => {}
        }
        let plain = self.plain(name);
        // A client sent an earlier response back.
        if plain == "warnings" && plain != name {
            return Some(MemberRole::Part);
        }
        if is_field(COMMON, name) {
            return Some(MemberRole::ReadOnly);
        }
        // The links of an action can also be next to its fields.
        let link = part.link(plain).filter(|link| part.accepts(link))?;
        if purpose != LinkPurpose::Helper {
            return None;
        }
        let inside = body.get(LINKS).and_then(Json::as_object);
        let is_inside = |links: &Object| self.links.named(links, link.name).is_some();
        Some(if inside.is_some_and(is_inside) {
            MemberRole::Overruled(self.spelled(link.name))
        } else {
            MemberRole::Part
        })
    }

    /// Returns the ignored links of an object.
    pub(super) fn ignored_links(
        &self,
        part: RecordPart<'_>,
        body: &Object,
        path: &ValuePath<'_>,
    ) -> Vec<Problem> {
        if !self.reports_ignored {
            return Vec::new();
        }
        let Some(Json::Object(links)) = body.get(LINKS) else {
            return Vec::new();
        };
        let path = ValuePath::Member(path, LINKS);
        let is_own = |name: &str| {
            name.strip_prefix(self.namespace)
                .is_some_and(|rest| rest.starts_with(':'))
        };
        let known = part.kind.schema().links.iter();
        let known = known.filter(|link| part.accepts(link) && part.link(link.name).is_some());
        let known: Vec<String> = known.map(|link| self.relation(link.name)).collect();
        let mut ignored = IgnoredIn::new(&path, 0);
        for name in links.keys() {
            let role = match part.link(self.plain(name)) {
                Some(link) if !part.accepts(link) => Some(MemberRole::ReadOnly),
                Some(link) if name == link.name && links.contains(&self.relation(name)) => {
                    Some(MemberRole::Overruled(self.spelled(link.name)))
                }
                Some(_) => Some(MemberRole::Part),
                None if matches!(name, "self" | "curies") || is_own(name) => {
                    Some(MemberRole::ReadOnly)
                }
                None => None,
            };
            if !ignored.add(name, role, &mut known.iter().map(String::as_str)) {
                break;
            }
        }
        ignored.into_problems()
    }

    /// Returns the name of a link without its prefix.
    fn plain<'n>(&self, name: &'n str) -> &'n str {
        self.links.dialect.strip_prefix(name).unwrap_or(name)
    }

    fn relation(&self, name: &str) -> String {
        self.links.dialect.relation(self.plain(name))
    }

    /// Returns the path of a link as clients write it.
    fn spelled(&self, link: &'static str) -> String {
        PropertyPath::link(link).spelled(|name| self.relation(name))
    }
}

/// Reports the `gender` of a person as ignored if the gender identity determines another one.
///
/// Requirements: RES-person-08.
pub(super) fn report_gender(
    identity: Option<&Json>,
    body: &Object,
    path: &ValuePath<'_>,
    report: &mut BodyReport,
) {
    let follows = identity.and_then(Json::as_str).and_then(gender_of);
    let sent = body.get("gender").and_then(Json::as_str);
    let (Some(follows), Some(sent)) = (follows, sent) else {
        return;
    };
    let gender = ValuePath::Member(path, "gender").property();
    let is_reported = |problem: &Problem| problem.properties.contains(&gender);
    if follows != sent && !report.ignored.iter().any(is_reported) {
        report.ignore(vec![overruled(gender, "gender_identity")]);
    }
}

fn is_field(schema: &ObjectSchema, name: &str) -> bool {
    schema.fields.iter().any(|field| field.name == name)
}

/// Returns the most similar name, if one is similar enough.
pub fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let far = name.chars().count().div_ceil(3);
    let near = names.map(|known| (strsim::osa_distance(name, known), known));
    near.filter(|(distance, _)| *distance <= far)
        .min()
        .map(|(_, meant)| meant)
}
