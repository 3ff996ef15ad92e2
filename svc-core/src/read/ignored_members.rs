//! The ignored members of a body: unknown, read-only or overruled.
//!
//! Requirements: UND-22.

use super::{AcceptedMembers, BodyReader, Json, Object, value_path::ValuePath};
use crate::{
    error::{ErrorCode, Problem, PropertyPath},
    field_set::FieldBits,
    helper::{FunctionFields, HelperName, ScheduleFields},
    model::{Kind, person::gender_of},
    schema::{
        COMMON, Constraint, Constraints, KindFeature, LinkSpec, LinkTarget, LinkWrite,
        ObjectSchema, ValueType,
    },
};

/// The purpose of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyPurpose {
    /// A record to create.
    Create(Kind),
    /// A record to create under a record that is not its container.
    Below(Kind),
    /// A change of a record.
    Update(Kind),
    /// A helper request, or a create with an inline person.
    Call(HelperName),
}

impl BodyReader<'_> {
    /// Returns the problems of the ignored members of a body. An unknown member has the most
    /// similar known name as a hint.
    pub(crate) fn ignored_members<'t>(
        &'t self,
        of: BodyPurpose,
        taken: &'t dyn Fn(Kind) -> AcceptedMembers<'t>,
        body: &Object,
    ) -> Vec<Problem> {
        let mut walk = IgnoredMemberWalk {
            tables: MemberTables {
                bodies: self,
                taken,
            },
            surplus: Vec::new(),
        };
        match of {
            BodyPurpose::Create(kind) => {
                walk.record(kind, body, &ValuePath::Root, AcceptedLinks::OfCreate);
            }
            BodyPurpose::Below(kind) => {
                walk.record(kind, body, &ValuePath::Root, AcceptedLinks::OfBelow);
            }
            BodyPurpose::Update(kind) => {
                walk.record(kind, body, &ValuePath::Root, AcceptedLinks::OfUpdate);
            }
            BodyPurpose::Call(helper) => walk.call(helper, body),
        }
        walk.surplus
    }
}

/// The accepted links of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AcceptedLinks {
    OfCreate,
    /// Also accepts the link to the container.
    OfBelow,
    OfUpdate,
    /// Also accepts links next to the fields.
    ///
    /// Requirements: RES-donation-22.
    OfCall,
    None,
}

impl AcceptedLinks {
    fn accepts(self, kind: Kind, link: &LinkSpec) -> bool {
        let LinkTarget::One { write, .. } = link.target else {
            return false;
        };
        match self {
            Self::OfCreate => write != LinkWrite::Never,
            Self::OfBelow => write != LinkWrite::Never || Some(link.name) == kind.schema().parent,
            Self::OfUpdate => write == LinkWrite::Update,
            // A person is posted inline instead of as a link. Requirements: UND-29.
            Self::OfCall => matches!(write, LinkWrite::Create | LinkWrite::Update),
            Self::None => false,
        }
    }
}

/// The role of a name in an object.
enum MemberRole<'a> {
    /// A value of a type, whose own members are also checked.
    Value(&'static ValueType, Option<&'a Constraint>),
    /// A part that other code checks.
    Part,
    ReadOnly,
    /// Overruled by another member with this name.
    Overruled(PropertyPath),
}

/// The meaning of names in the bodies of a server.
#[derive(Clone, Copy)]
struct MemberTables<'a> {
    bodies: &'a BodyReader<'a>,
    taken: &'a dyn Fn(Kind) -> AcceptedMembers<'a>,
}

impl<'a> MemberTables<'a> {
    /// Returns the names of the fields that a client may send.
    fn names(
        self,
        schema: &'static ObjectSchema,
        narrowing: Option<&'a Constraints>,
    ) -> impl Iterator<Item = &'a str> + Clone {
        let names = self.bodies.links.dialect.share_names();
        let is_taken = move |name| !narrow(narrowing, name).is_some_and(|narrow| narrow.read_only);
        let fields = schema
            .fields
            .iter()
            .filter(move |field| !field.is_computed() && is_taken(field.name));
        fields.map(|field| names.to_wire(field.name))
    }

    fn names_of(self, kind: Kind) -> impl Iterator<Item = &'a str> + Clone {
        self.names(kind.schema().fields, (self.taken)(kind).narrowing)
    }

    fn field(
        self,
        schema: &'static ObjectSchema,
        taken: AcceptedMembers<'a>,
        name: &str,
    ) -> Option<MemberRole<'a>> {
        let names = self.bodies.links.dialect.share_names();
        let (place, field) = schema.sent_as(name, names)?;
        let narrow = narrow(taken.narrowing, field.name);
        if narrow.is_some_and(Constraint::is_omitted) {
            return None;
        }
        let is_kept = field.is_computed() || narrow.is_some_and(|narrow| narrow.read_only);
        let is_taken = !is_kept && taken.writable.contains(place);
        Some(if is_taken {
            MemberRole::Value(&field.ty, narrow)
        } else {
            MemberRole::ReadOnly
        })
    }

    /// Returns a link of a kind that this server stores, by its name with or without prefix.
    fn link(self, kind: Kind, name: &str) -> Option<&'static LinkSpec> {
        let link = kind.schema().link(self.plain(name))?;
        (!(self.taken)(kind).unlinked.contains(&link.name)).then_some(link)
    }

    /// Returns the role of a member of a record of a kind.
    fn of_record(
        self,
        kind: Kind,
        links: AcceptedLinks,
        body: &Object,
        name: &str,
    ) -> Option<MemberRole<'a>> {
        let schema = kind.schema();
        match name {
            "identifiers" | LINKS => Some(MemberRole::Part),
            // It is `null` here; otherwise the body would be a helper request.
            "person"
                if links == AcceptedLinks::OfCreate
                    && HelperName::for_nested_create(kind).is_some() =>
            {
                Some(MemberRole::Part)
            }
            "gender" if kind == Kind::Person && gender_overrides(body) => Some(
                MemberRole::Overruled(PropertyPath::member("gender_identity")),
            ),
            // A client sent an earlier response back.
            name if self.bodies.links.dialect.strip_prefix(name) == Some("warnings") => {
                Some(MemberRole::Part)
            }
            "_embedded" => Some(MemberRole::ReadOnly),
            "id" if schema.has_feature(KindFeature::ExposesId) => Some(MemberRole::ReadOnly),
            name => {
                let own = self.field(schema.fields, (self.taken)(kind), name);
                own.or_else(|| self.field(COMMON, FieldBits::ALL.into(), name))
            }
        }
    }

    /// Returns the role of a member next to the fields of an action in the body of a helper.
    fn of_call(self, helper: HelperName, body: &Object, name: &str) -> Option<MemberRole<'a>> {
        match name {
            "person" if helper.accepts_person() => return Some(MemberRole::Part),
            "canvass" if helper == HelperName::RecordCanvass => return Some(MemberRole::Part),
            LINKS if helper != HelperName::PersonSignup => return Some(MemberRole::Part),
            _ => {}
        }
        if let Some(function) = self.field(FunctionFields::FIELDS, FieldBits::ALL.into(), name) {
            return Some(function);
        }
        if matches!(helper, HelperName::RecordCanvass | HelperName::PersonSignup) {
            return None;
        }
        let kind = helper.recorded_kind();
        self.of_record(kind, AcceptedLinks::OfCall, body, name)
            .or_else(|| {
                let inside = body.get(LINKS).and_then(Json::as_object);
                let relation = self.relation(name);
                let link = self
                    .link(kind, name)
                    .filter(|link| AcceptedLinks::OfCall.accepts(kind, link))?;
                let winner = [relation.as_str(), link.name]
                    .into_iter()
                    .find(|name| inside.is_some_and(|all| all.contains(name)));
                Some(match winner {
                    Some(_) => MemberRole::Overruled(PropertyPath::link(link.name)),
                    None => MemberRole::Part,
                })
            })
    }

    /// Returns the role of a link of a record of a kind.
    fn of_links(
        self,
        kind: Kind,
        links: &Object,
        wanted: AcceptedLinks,
        name: &str,
    ) -> Option<MemberRole<'a>> {
        let own = |name: &str| {
            name.strip_prefix(self.bodies.namespace)
                .is_some_and(|rest| rest.starts_with(':'))
        };
        match self.link(kind, name) {
            Some(link) if !wanted.accepts(kind, link) => Some(MemberRole::ReadOnly),
            Some(link) if name == link.name && links.contains(&self.relation(name)) => {
                Some(MemberRole::Overruled(PropertyPath::link(link.name)))
            }
            Some(_) => Some(MemberRole::Part),
            None if matches!(name, "self" | "curies") || own(name) => Some(MemberRole::ReadOnly),
            None => None,
        }
    }

    fn relation(self, name: &str) -> String {
        self.bodies.links.dialect.relation(self.plain(name))
    }

    /// Returns the name of a link without its prefix.
    fn plain(self, name: &str) -> &str {
        self.bodies.links.dialect.strip_prefix(name).unwrap_or(name)
    }
}

fn narrow<'a>(narrowing: Option<&'a Constraints>, name: &str) -> Option<&'a Constraint> {
    narrowing.and_then(|narrowing| narrowing.member(name))
}

const LINKS: &str = "_links";
/// Maximum number of ignored members that one response names. Otherwise a small request could cause
/// a very large response.
const MOST_SURPLUS: usize = 100;
/// A longer name is not a typing error, and responses do not repeat it.
const LONGEST_NAME: usize = 64;

struct IgnoredMemberWalk<'a> {
    tables: MemberTables<'a>,
    surplus: Vec<Problem>,
}

impl<'a> IgnoredMemberWalk<'a> {
    /// Checks each member of an object; `names` returns the known names.
    fn object(
        &mut self,
        raw: &Object,
        path: &ValuePath<'_>,
        names: &dyn Fn() -> Vec<String>,
        find: &dyn Fn(&str) -> Option<MemberRole<'a>>,
    ) {
        let mut known = None;
        for (name, value) in raw {
            if self.surplus.len() >= MOST_SURPLUS {
                return;
            }
            let at = ValuePath::Member(path, name);
            match find(name) {
                Some(MemberRole::Part) => {}
                Some(MemberRole::Value(ty, narrow)) => self.value(ty, narrow, value, &at),
                Some(MemberRole::ReadOnly) => {
                    let text = "{property} is read-only on this server.";
                    self.surplus.push(Problem::new(
                        ErrorCode::PropertyReadOnly,
                        at.property(),
                        text,
                    ));
                }
                Some(MemberRole::Overruled(by)) => {
                    let text = format!(
                        "{{property}} is ignored because the request contains `{}`.",
                        by.spelled(|name| self.tables.relation(name))
                    );
                    self.surplus.push(Problem::new(
                        ErrorCode::PropertyOverruled,
                        at.property(),
                        text,
                    ));
                }
                None if name.len() > LONGEST_NAME => {
                    let text =
                        format!("A property name must have at most {LONGEST_NAME} characters.");
                    self.surplus.push(Problem::new(
                        ErrorCode::PropertyUnknown,
                        path.property(),
                        text,
                    ));
                }
                None => self.surplus.push(unknown(
                    at.property(),
                    name,
                    known.get_or_insert_with(names),
                )),
            }
        }
    }

    fn value(
        &mut self,
        ty: &'static ValueType,
        narrow: Option<&'a Constraint>,
        value: &Json,
        path: &ValuePath<'_>,
    ) {
        match (ty, value) {
            (ValueType::Object(schema), Json::Object(object)) => {
                let (tables, narrowing) = (self.tables, narrow.map(|narrow| &narrow.members));
                let names = || tables.names(schema, narrowing).map(str::to_owned).collect();
                let taken = AcceptedMembers {
                    narrowing,
                    ..FieldBits::ALL.into()
                };
                self.object(object, path, &names, &|name| {
                    tables.field(schema, taken, name)
                });
            }
            (ValueType::Array(item) | ValueType::OneOrMany(item), Json::Array(items)) => {
                for (place, value) in items.iter().enumerate() {
                    self.value(item, narrow, value, &ValuePath::Element(path, place));
                }
            }
            (ValueType::OneOrMany(item), value) => self.value(item, narrow, value, path),
            _ => {}
        }
    }

    fn record(&mut self, kind: Kind, raw: &Object, path: &ValuePath<'_>, links: AcceptedLinks) {
        let tables = self.tables;
        let names = || names_in(tables.names_of(kind), &["identifiers", LINKS]);
        self.object(raw, path, &names, &|name| {
            tables.of_record(kind, links, raw, name)
        });
        self.links(kind, raw, path, links);
    }

    fn links(&mut self, kind: Kind, raw: &Object, path: &ValuePath<'_>, wanted: AcceptedLinks) {
        let Some(Json::Object(links)) = raw.get(LINKS) else {
            return;
        };
        let tables = self.tables;
        let sent = kind
            .schema()
            .links
            .iter()
            .filter(|link| wanted.accepts(kind, link));
        let kept = sent.filter(|link| tables.link(kind, link.name).is_some());
        let names = || {
            kept.clone()
                .map(|link| tables.relation(link.name))
                .collect()
        };
        let find = |name: &str| tables.of_links(kind, links, wanted, name);
        self.object(links, &ValuePath::Member(path, LINKS), &names, &find);
    }

    fn call(&mut self, helper: HelperName, body: &Object) {
        let tables = self.tables;
        if helper == HelperName::Schedule {
            let find = |name: &str| match name {
                "scheduled_end_date" if body.contains("scheduled_stop_date") => Some(
                    MemberRole::Overruled(PropertyPath::member("scheduled_stop_date")),
                ),
                "scheduled_end_date" => Some(MemberRole::Part),
                name => tables.field(ScheduleFields::FIELDS, FieldBits::ALL.into(), name),
            };
            let names = || names_in(tables.names(ScheduleFields::FIELDS, None), &[]);
            return self.object(body, &ValuePath::Root, &names, &find);
        }
        let names = || {
            let functions = tables.names(FunctionFields::FIELDS, None);
            let fields = tables.names_of(helper.recorded_kind());
            names_in(functions.chain(fields), &["person", "canvass", LINKS])
                .into_iter()
                .filter(|name| tables.of_call(helper, body, name).is_some())
                .collect()
        };
        self.object(body, &ValuePath::Root, &names, &|name| {
            tables.of_call(helper, body, name)
        });
        self.links(
            helper.recorded_kind(),
            body,
            &ValuePath::Root,
            AcceptedLinks::OfCall,
        );
        for (part, kind, links) in [
            ("person", Kind::Person, AcceptedLinks::None),
            ("canvass", Kind::Canvass, AcceptedLinks::OfCall),
        ] {
            if let (Some(MemberRole::Part), Some(Json::Object(raw))) =
                (tables.of_call(helper, body, part), body.get(part))
            {
                self.record(kind, raw, &ValuePath::Member(&ValuePath::Root, part), links);
            }
        }
    }
}

/// Returns whether the sent gender identity determines another gender than the sent one.
///
/// Requirements: RES-person-08.
fn gender_overrides(body: &Object) -> bool {
    let text = |name| body.get(name).and_then(Json::as_str);
    let follows = text("gender_identity").and_then(gender_of);
    follows.is_some_and(|follows| text("gender").is_some_and(|sent| sent != follows))
}

fn names_in<'n>(names: impl Iterator<Item = &'n str>, more: &[&'n str]) -> Vec<String> {
    names
        .chain(more.iter().copied())
        .map(str::to_owned)
        .collect()
}

/// Returns the problem of an unknown member, with the most similar name as a hint.
fn unknown(property: PropertyPath, name: &str, names: &[String]) -> Problem {
    let problem = Problem::new(
        ErrorCode::PropertyUnknown,
        property,
        "{property} is not a known property.",
    );
    match nearest(name, names.iter().map(String::as_str)) {
        Some(meant) => problem.with_hint(meant),
        None => problem,
    }
}

/// Returns the most similar name, if one is similar enough.
pub fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let far = name.chars().count().div_ceil(3);
    let near = names.map(|known| (strsim::osa_distance(name, known), known));
    near.filter(|(distance, _)| *distance <= far)
        .min()
        .map(|(_, meant)| meant)
}
