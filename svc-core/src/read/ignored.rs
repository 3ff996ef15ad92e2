//! The ignored members of a body: unknown, read-only or overruled.
//!
//! The readers of a body report them, each for the object that it reads.
//!
//! Requirements: UND-22.

use super::{
    AcceptedMembers, BodyReader, Json, Object, Validator,
    link::{LinkPurpose, href},
    value_path::ValuePath,
};
use crate::{
    capability::EXTENSIONS,
    draft::RawDraft,
    error::{ErrorCode, Problem, PropertyPath},
    helper::HelperName,
    json::{is_same, is_stored},
    model::{
        Kind,
        person::{KNOWN_BY, gender_of, similar_member},
    },
    schema::{COMMON, KindFeature, LinkSpec, ObjectSchema},
    value::trimmed,
};

pub(crate) const LINKS: &str = "_links";
/// The member of an envelope with the fields of a person.
pub(crate) const PERSON: &str = "person";
/// Maximum number of ignored members that one response names. Otherwise a small request could cause
/// a very large response.
pub(super) const MAX_IGNORED: usize = 100;
/// Maximum number of unknown members that the problem of an empty person names.
const MAX_NAMED: usize = 10;
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
    /// Whether `ignored` depends on the stored record, which the reader of a change did not get.
    pub needs_stored: bool,
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
    /// Read-only, with another value than that of the stored record.
    Changed,
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
    /// Returns the member that a client means by an unknown name.
    pub(super) similar: fn(&str) -> Option<&'static str>,
}

impl OtherMembers<'_> {
    /// There are no others.
    pub(super) const NONE: Self = OtherMembers {
        tables: &[],
        role: &|_| None,
        names: &[],
        similar: |_| None,
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
        self.purpose.accepts(self.kind.schema(), link)
    }

    /// Returns whether a client may send several identifiers in the server's own namespace: those of
    /// people who were merged into the person.
    ///
    /// Requirements: UND-24.
    pub(super) fn accepts_merged_people(&self) -> bool {
        let is_existing = matches!(
            self.purpose,
            LinkPurpose::Helper | LinkPurpose::Update { .. }
        );
        is_existing && self.kind == Kind::Person && self.taken.merges
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
    /// `names` returns the known names, and `similar` the member that a client means by an unknown
    /// one, for hints.
    pub(super) fn add(
        &mut self,
        name: &str,
        role: Option<MemberRole>,
        names: &mut dyn Iterator<Item = &str>,
        similar: fn(&str) -> Option<&'static str>,
    ) -> bool {
        if self.room == self.found.len() {
            return false;
        }
        let at = || ValuePath::Member(self.path, name).property();
        self.found.push(match role {
            Some(MemberRole::Part) => return true,
            Some(MemberRole::ReadOnly) => read_only(at()),
            Some(MemberRole::Changed) => {
                let text =
                    "{property} is read-only on this server. Omit it, or send its stored value.";
                Problem::new(ErrorCode::PropertyReadOnly, at(), text)
            }
            Some(MemberRole::Overruled(by)) => overruled(at(), &by),
            None if name.len() > LONGEST_NAME => {
                let text = format!("A property name must have at most {LONGEST_NAME} characters.");
                Problem::new(ErrorCode::PropertyUnknown, self.path.property(), text)
            }
            None => {
                let text = "{property} is not a known property.";
                let problem = Problem::new(ErrorCode::PropertyUnknown, at(), text);
                match similar(name).or_else(|| nearest(name, names)) {
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

/// Returns the problem of a member or link that only the server sets.
pub(crate) fn read_only(property: PropertyPath) -> Problem {
    let text = "{property} is read-only on this server.";
    Problem::new(ErrorCode::PropertyReadOnly, property, text)
}

/// Returns the problem of an empty text in place of a value.
pub(super) fn empty_text(property: PropertyPath) -> Problem {
    let text = "{property} is ignored because its text is empty.";
    Problem::new(ErrorCode::PropertyEmpty, property, text)
}

fn overruled(property: PropertyPath, by: &str) -> Problem {
    let text = format!("{{property}} is ignored because the request contains `{by}`.");
    Problem::new(ErrorCode::PropertyOverruled, property, text)
}

/// Returns whether a value contains a text that is not blank, in one of these members if there are any.
fn has_text(value: &Json, members: &[&str]) -> bool {
    match value {
        Json::String(text) => !trimmed(text).is_empty(),
        Json::Array(items) => items.iter().any(|item| has_text(item, members)),
        Json::Object(object) => object.iter().any(|(name, value)| {
            (members.is_empty() || members.contains(&name)) && has_text(value, &[])
        }),
        _ => false,
    }
}

/// Returns the function that finds the members that clients mean by unknown names of a record.
pub(super) fn similar_members(kind: Kind) -> fn(&str) -> Option<&'static str> {
    match kind {
        Kind::Person => similar_member,
        _ => |_| None,
    }
}

impl BodyReader<'_> {
    /// Returns the problem of a new person of whom nothing is known. It names the unknown members,
    /// which are the usual cause.
    ///
    /// Requirements: UND-48.
    pub(super) fn empty_person(
        &self,
        draft: &RawDraft,
        body: &Object,
        part: RecordPart<'_>,
        path: &ValuePath<'_>,
    ) -> Option<Problem> {
        let is_known = |(name, members): &(&str, &[&str])| {
            let value = draft.fields.get(name);
            value.is_some_and(|value| has_text(value, members))
        };
        if draft.own.is_some() || !draft.identifiers.is_empty() || KNOWN_BY.iter().any(is_known) {
            return None;
        }
        let schema = Kind::Person.schema().fields;
        let is_unknown = |name: &&str| {
            name.len() <= LONGEST_NAME
                && !name.contains(|one: char| one.is_control() || matches!(one, '`' | '{' | '}'))
                && schema
                    .sent_as(name, self.links.dialect.share_names())
                    .is_none()
                && self.record_role(part, body, name).is_none()
        };
        let unknown: Vec<&str> = body.keys().filter(is_unknown).take(MAX_NAMED).collect();
        let named = unknown.iter().map(|name| match similar_member(name) {
            Some(meant) => format!(" `{name}` is not a known property. Use `{meant}`."),
            None => format!(" `{name}` is not a known property."),
        });
        let text = "The person needs an identifier, an e-mail address, a phone number, a name, an address, an \
                    online profile or a custom field.";
        let text: String = std::iter::once(text.to_owned()).chain(named).collect();
        let mut problem = Problem::for_request(ErrorCode::PersonEmpty, text);
        problem.properties = if unknown.is_empty() {
            let whole = path.property();
            (!whole.segments().is_empty())
                .then_some(whole)
                .into_iter()
                .collect()
        } else {
            let at = |name: &&str| ValuePath::Member(path, name).property();
            unknown.iter().map(at).collect()
        };
        problem.hint = unknown
            .iter()
            .find_map(|name| similar_member(name))
            .map(str::to_owned);
        Some(problem)
    }

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
            // It is `null` here; otherwise the body would be an envelope.
            "person" if matches!(purpose, LinkPurpose::Update { .. }) && has_envelope(kind) => {
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
        if matches!(plain, "warnings" | "merge") && plain != name {
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

    /// Returns the ignored members next to the `person` of an envelope.
    pub(super) fn beside_envelope(&self, body: &Object) -> Vec<Problem> {
        if !self.reports_ignored {
            return Vec::new();
        }
        let mut ignored = IgnoredIn::new(&ValuePath::Root, 0);
        for name in body.keys() {
            let role = (name == PERSON).then_some(MemberRole::Part);
            if !ignored.add(name, role, &mut std::iter::once(PERSON), |_| None) {
                break;
            }
        }
        ignored.into_problems()
    }

    /// Returns the unknown members of a body that is not a record, and its unknown links.
    pub(crate) fn unknown_members(
        &self,
        body: &Object,
        members: &[&str],
        links: &[&str],
    ) -> Vec<Problem> {
        if !self.reports_ignored {
            return Vec::new();
        }
        let mut ignored = IgnoredIn::new(&ValuePath::Root, 0);
        for name in body.keys() {
            let role = members.contains(&name).then_some(MemberRole::Part);
            if !ignored.add(name, role, &mut members.iter().copied(), |_| None) {
                break;
            }
        }
        let mut unknown = ignored.into_problems();
        let path = ValuePath::Member(&ValuePath::Root, LINKS);
        let mut ignored = IgnoredIn::new(&path, unknown.len());
        let known: Vec<String> = links.iter().map(|name| self.relation(name)).collect();
        let sent = body.get(LINKS).and_then(Json::as_object);
        for name in sent.into_iter().flat_map(Object::keys) {
            let role = links
                .contains(&self.plain(name))
                .then_some(MemberRole::Part);
            if !ignored.add(name, role, &mut known.iter().map(String::as_str), |_| None) {
                break;
            }
        }
        unknown.extend(ignored.into_problems());
        unknown
    }

    /// Returns the ignored links of an object. `stored` is the stored record of a change.
    pub(super) fn ignored_links(
        &self,
        part: RecordPart<'_>,
        body: &Object,
        path: &ValuePath<'_>,
        stored: Option<&Object>,
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
        let is_operation = |name: &str| {
            let plain = self.links.dialect.strip_prefix(name);
            plain.is_some_and(|plain| EXTENSIONS.contains(&plain))
        };
        let known = part.kind.schema().links.iter();
        let known = known.filter(|link| part.accepts(link) && part.link(link.name).is_some());
        let known: Vec<String> = known.map(|link| self.relation(link.name)).collect();
        let mut ignored = IgnoredIn::new(&path, 0);
        for (name, link) in links {
            let role = match part.link(self.plain(name)) {
                Some(link) if !part.accepts(link) => Some(MemberRole::ReadOnly),
                Some(link) if name == link.name && links.contains(&self.relation(name)) => {
                    Some(MemberRole::Overruled(self.spelled(link.name)))
                }
                Some(_) => Some(MemberRole::Part),
                None if matches!(name, "self" | "curies") || is_own(name) || is_operation(name) => {
                    Some(MemberRole::ReadOnly)
                }
                None => None,
            };
            let role = match (role, stored) {
                (Some(MemberRole::ReadOnly), Some(stored)) => {
                    Some(if self.is_stored_link(name, link, stored) {
                        MemberRole::Part
                    } else {
                        MemberRole::Changed
                    })
                }
                (role, _) => role,
            };
            if !ignored.add(name, role, &mut known.iter().map(String::as_str), |_| None) {
                break;
            }
        }
        ignored.into_problems()
    }

    /// Returns a body without the links to other servers that the stored record also has.
    pub(super) fn without_foreign_links(&self, body: &Object, stored: &Object) -> Object {
        let mut body = body.clone();
        if let Some(links) = body.get_mut(LINKS).and_then(Json::as_object_mut) {
            links.retain(|name, link| {
                let is_local = href(link).is_none_or(|href| self.links.parse(href).is_some());
                is_local || !self.is_stored_link(name, link, stored)
            });
        }
        body
    }

    /// Returns whether a link of a body has the target of the link of the stored record.
    fn is_stored_link(&self, name: &str, sent: &Json, stored: &Object) -> bool {
        let links = stored.get(LINKS).and_then(Json::as_object);
        let link =
            links.and_then(|links| links.get(name).or_else(|| links.get(&self.relation(name))));
        match (sent, link) {
            // The curies of a response depend on what else it contains.
            (Json::Array(sent), Some(Json::Array(all))) => sent
                .iter()
                .all(|one| all.iter().any(|known| is_same(one, known))),
            (sent, link) => match href(sent).zip(link.and_then(href)) {
                Some((sent, stored)) => self.links.is_same_target(sent, stored),
                None => is_stored(sent, link),
            },
        }
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

/// Returns whether the body of a change is an envelope, as a create of the kind accepts it: the
/// fields are in the member [`PERSON`].
pub(crate) fn is_enveloped(kind: Kind, body: &Object) -> bool {
    has_envelope(kind) && body.get(PERSON).is_some_and(|person| !person.is_null())
}

/// Returns whether a create of the kind is a helper request that has nothing else than a person.
fn has_envelope(kind: Kind) -> bool {
    HelperName::for_nested_create(kind) == Some(HelperName::PersonSignup)
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
