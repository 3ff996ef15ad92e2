//! The tables as constant data: every kind, nested object, link and helper of the specification.
//!
//! [`resource!`](crate::types) and `object!` generate this data. Validation, rendering, routing,
//! the capability document, the documentation and test generators read it.

mod constraints;
mod cross_field;
mod field;
mod field_index;
mod link;
mod measure;
mod money;
mod share_names;

use std::sync::LazyLock;

use field_index::FieldIndex;

pub use constraints::{Constraint, Constraints, EntryValues};
pub use cross_field::RecordValidator;
#[doc(hidden)]
pub use cross_field::new_problems;
pub use field::{ComputedSource, FieldMode, FieldRule, FieldSpec, ValueType};
pub use link::{LinkSpec, LinkTarget, LinkUpdate, LinkWrite, OnDelete, ReferenceSpec};
pub use measure::{Aggregate, Measure, MeasureCondition, MeasureParts, measures_text};
#[doc(hidden)]
pub use money::{currency_of, elements, excess_digits, wrong_amounts};
pub use share_names::ShareNames;

use crate::{
    json::Object,
    names::{Kind, Operation, PerKind},
};

/// The schema of a kind according to the specification.
#[derive(Debug)]
#[non_exhaustive]
pub struct KindSchema {
    /// The kind.
    pub kind: Kind,
    /// Singular relation without prefix, such as `person`.
    ///
    /// Requirements: HAL-14.
    pub singular: &'static str,
    /// Plural relation without prefix, also the name of the collection, such as `people`.
    ///
    /// Requirements: HAL-14.
    pub plural: &'static str,
    /// The meaning, as a sentence.
    pub doc: &'static str,
    /// The kind that the paths of its records are under, such as `Petition` for a signature; `None`
    /// for top-level kinds.
    ///
    /// Requirements: COL-19.
    pub path_parent: Option<Kind>,
    /// The link to the container that a record is created under, such as `petition` for a
    /// signature.
    pub parent: Option<&'static str>,
    /// The link that must be unique within one container: each target has at most one record there.
    ///
    /// Requirements: UND-38.
    pub unique_per: Option<&'static str>,
    /// The operations that the specification does not define for this kind.
    pub unsupported_operations: &'static [Operation],
    /// Features that only a few kinds have.
    pub features: &'static [KindFeature],
    /// The fields, without the common ones.
    pub fields: &'static ObjectSchema,
    /// The links, in the order in which they are sent.
    pub links: &'static [LinkSpec],
    /// The rules between fields, applied to the whole record after a write.
    pub rules: fn(&mut RecordValidator<'_>),
}

impl KindSchema {
    /// Returns the link with this name.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<&'static LinkSpec> {
        self.links.iter().find(|link| link.name == name)
    }

    /// Returns the kind of the container that a record is created under.
    #[must_use]
    pub fn parent_kind(&self) -> Option<Kind> {
        match self.link(self.parent?)?.target {
            LinkTarget::One { kind, .. } => Some(kind),
            _ => None,
        }
    }

    /// Returns whether the specification defines an operation for this kind.
    #[must_use]
    pub fn has_operation(&self, operation: Operation) -> bool {
        !self.unsupported_operations.contains(&operation)
            && (operation != Operation::List || self.has_collection())
    }

    /// Returns whether the kind has this feature.
    #[must_use]
    pub fn has_feature(&self, peculiarity: KindFeature) -> bool {
        self.features.contains(&peculiarity)
    }

    /// Returns the field whose value must be unique among the records of a tenant.
    ///
    /// Requirements: UND-02, UND-03.
    #[must_use]
    pub fn unique_name(&self) -> Option<&'static FieldSpec> {
        self.fields
            .fields
            .iter()
            .find(|field| field.rules.contains(&FieldRule::UniqueName))
    }

    /// Returns the measures of the kind with the names of their fields.
    pub fn measures(&self) -> impl Iterator<Item = (&'static str, Measure)> + use<> {
        static OF_EACH_KIND: LazyLock<PerKind<Vec<(&'static str, Measure)>>> =
            LazyLock::new(|| {
                let measure = |field: &FieldSpec| match field.source() {
                    Some(ComputedSource::Measure(measure)) => Some((field.name, measure)),
                    _ => None,
                };
                let fields = |kind: Kind| kind.schema().fields.fields.iter();
                PerKind::new(|kind| fields(kind).filter_map(measure).collect())
            });
        OF_EACH_KIND.get(self.kind).iter().copied()
    }

    /// Returns whether a measure of the kind has parts, which a store saves in addition.
    #[must_use]
    pub fn has_parts(&self) -> bool {
        let mut measures = self.measures();
        measures.any(|(_, measure)| measure.parts != MeasureParts::Whole)
    }

    /// Returns the computed field with this source.
    #[must_use]
    pub fn computed_from(&self, source: ComputedSource) -> Option<&'static FieldSpec> {
        self.fields
            .fields
            .iter()
            .find(|field| field.source() == Some(source))
    }

    /// Returns the two links whose combination is unique, such as `tag` and `person` of a tagging.
    /// The link to the container is first.
    ///
    /// Requirements: UND-38.
    #[must_use]
    pub fn unique_links(&self) -> Option<[&'static str; 2]> {
        Some([self.parent?, self.unique_per?])
    }

    /// Returns the references of this kind to single records: its links, followed by the kinds it
    /// is listed under without a link.
    #[must_use]
    pub fn references(&self) -> &'static [ReferenceSpec] {
        static OF_EACH_KIND: LazyLock<Vec<Vec<ReferenceSpec>>> = LazyLock::new(|| {
            Kind::ALL
                .iter()
                .map(|kind| ReferenceSpec::all_of(kind.schema()))
                .collect()
        });
        OF_EACH_KIND
            .get(self.kind as usize)
            .map_or(&[], Vec::as_slice)
    }

    /// Returns whether a record that is created under this container gets its own container from a
    /// link in the body.
    ///
    /// Requirements: RES-submission-07.
    #[must_use]
    pub fn is_nested_under(&self, container: Kind) -> bool {
        container == Kind::Submission && self.has_feature(KindFeature::CreatableUnderSubmission)
    }

    /// Returns whether a collection of all records of this kind exists.
    ///
    /// Requirements: COL-01.
    #[must_use]
    pub fn has_collection(&self) -> bool {
        self.path_parent.is_none()
    }

    /// Returns the kinds under which records of this kind are listed.
    ///
    /// Requirements: COL-04 to COL-18.
    pub fn scope_kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        Kind::ALL.iter().copied().filter(|parent| {
            let many = |link: &LinkSpec| {
                link.target
                    == LinkTarget::Many {
                        kind: self.kind,
                        alias: false,
                    }
            };
            parent.schema().links.iter().any(many)
        })
    }
}

/// A feature that only a few kinds have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KindFeature {
    /// Its id is also sent as a member.
    ///
    /// Requirements: HLP-20.
    ExposesId,
    /// A link to a missing record has its own error code (Annex C).
    HasNotFoundCode,
    /// It is nested under another kind, and also has a short path without its container.
    ///
    /// Requirements: COL-05.
    HasShortAddress,
    /// It can also be created under a submission, with a link to its container.
    ///
    /// Requirements: RES-submission-07.
    CreatableUnderSubmission,
    /// The specification does not name it in the list of links of the entry point.
    ///
    /// Requirements: ENT-10 to ENT-21.
    NotOnEntryPoint,
}

/// The fields of a kind or of a nested object.
#[derive(Debug)]
#[non_exhaustive]
pub struct ObjectSchema {
    /// The name of the object in the specification, such as `postal_address`.
    pub name: &'static str,
    /// The fields, in the order in which they are sent.
    pub fields: &'static [FieldSpec],
    /// One bit for each field that is required on create.
    pub required: u64,
    /// The field that is a phone number, if there is one.
    pub phone_number: Option<&'static FieldSpec>,
    places: FieldIndex,
}

impl ObjectSchema {
    /// The maximum number of fields of a table.
    pub const MAX_FIELDS: usize = 64;

    /// Creates the table of these fields.
    pub(crate) const fn new(name: &'static str, fields: &'static [FieldSpec]) -> Self {
        let (mut required, mut rest, mut place) = (0, fields, 0);
        let mut phone_number = None;
        while let [field, more @ ..] = rest {
            required |= (matches!(field.mode, FieldMode::Required) as u64) << place;
            if field.is_phone_number() {
                phone_number = Some(field);
            }
            (rest, place) = (more, place + 1);
        }
        Self {
            name,
            fields,
            required,
            phone_number,
            places: FieldIndex::of(fields),
        }
    }

    /// Returns the position of the field with this name. The compiler also evaluates it for names
    /// in [`fields!`](crate::fields).
    #[must_use]
    pub const fn position(&self, name: &str) -> Option<usize> {
        let (mut rest, mut place) = (self.fields, 0);
        while let [field, more @ ..] = rest {
            if is_same(field.name.as_bytes(), name.as_bytes()) {
                return Some(place);
            }
            (rest, place) = (more, place + 1);
        }
        None
    }

    /// Returns the field with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static FieldSpec> {
        self.find(name).map(|(_, field)| field)
    }

    /// Returns the field with this name and its position.
    pub(crate) fn find(&self, name: &str) -> Option<(usize, &'static FieldSpec)> {
        self.places.find(self.fields, name)
    }

    /// Returns the field that is sent under this name and its position.
    #[must_use]
    pub fn sent_as(&self, name: &str, names: &ShareNames) -> Option<(usize, &'static FieldSpec)> {
        let is_sent = |(_, field): &(usize, &'static FieldSpec)| names.to_wire(field.name) == name;
        self.find(name)
            .filter(is_sent)
            .or_else(|| self.find(names.from_wire(name)).filter(is_sent))
    }

    /// Returns whether objects in its fields have computed members, which [`fill_nested_computed`]
    /// adds.
    #[must_use]
    pub fn has_nested_computed(&self) -> bool {
        let inner = self.fields.iter().filter_map(|field| field.ty.object());
        inner.into_iter().any(|inner| {
            inner.fields.iter().any(FieldSpec::is_computed) || inner.has_nested_computed()
        })
    }
}

/// Returns whether two texts are equal; evaluated by the compiler.
const fn is_same(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, more @ ..], [b, rest @ ..]) = (one, other) {
        if *a != *b {
            return false;
        }
        (one, other) = (more, rest);
    }
    one.is_empty() && other.is_empty()
}

/// The fields that every kind has.
///
/// Requirements: TYP-13 to TYP-16.
pub const COMMON: &ObjectSchema = &ObjectSchema::new(
    "common",
    &[
        FieldSpec {
            name: "identifiers",
            requirement: "TYP-13",
            doc: "Identifiers of the form `<system_name>:<id>`",
            ty: ValueType::Array(&ValueType::String),
            mode: FieldMode::Stored,
            rules: &[FieldRule::Identifiers, FieldRule::Unique],
        },
        FieldSpec {
            name: "created_date",
            requirement: "TYP-15",
            doc: "When the record was created",
            ty: ValueType::Timestamp,
            mode: FieldMode::Computed(ComputedSource::Clock),
            rules: &[],
        },
        FieldSpec {
            name: "modified_date",
            requirement: "TYP-16",
            doc: "When the record was last changed",
            ty: ValueType::Timestamp,
            mode: FieldMode::Computed(ComputedSource::Clock),
            rules: &[],
        },
    ],
);

/// Applies no rules between fields.
pub fn no_rules(_: &mut RecordValidator<'_>) {}

/// Adds missing nested computed numbers with the value zero, so that stored bytes can be sent
/// unchanged.
///
/// Computed fields of the top level remain unchanged, because the renderer inserts them.
pub fn fill_nested_computed(schema: &ObjectSchema, object: &mut Object) {
    for (name, value) in object.iter_mut() {
        let Some(inner) = schema.field(name).and_then(|field| field.ty.object()) else {
            continue;
        };
        for member in value.objects_mut() {
            for field in inner.fields {
                let is_number = matches!(
                    field.source(),
                    Some(ComputedSource::AlwaysZero | ComputedSource::Part(_))
                );
                if is_number && !member.contains(field.name) {
                    member.insert(field.name, crate::json::Json::integer(0));
                }
            }
            fill_nested_computed(inner, member);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UND-26: the complete table of cascading, restricting and clearing links.
    #[test]
    fn und_26_each_link_says_what_a_delete_does() {
        let fate = |kind: Kind, name: &str| {
            let reference = kind
                .schema()
                .references()
                .iter()
                .find(|reference| reference.name == name);
            reference.map(|reference| reference.on_delete)
        };
        for kind in [
            Kind::Signature,
            Kind::Submission,
            Kind::Donation,
            Kind::Attendance,
            Kind::Outreach,
        ] {
            assert_eq!(fate(kind, "person"), Some(OnDelete::Clear), "{kind:?}");
            assert_eq!(
                fate(kind, kind.schema().parent.unwrap()),
                Some(OnDelete::Restrict),
                "{kind:?}"
            );
        }
        assert_eq!(fate(Kind::Answer, "question"), Some(OnDelete::Restrict));
        let gone = [
            (Kind::Answer, "person"),
            (Kind::Tagging, "person"),
            (Kind::Item, "person"),
            (Kind::Tagging, "tag"),
            (Kind::Item, "list"),
            (Kind::Canvass, "target"),
        ];
        for kind in Kind::ALL {
            for reference in kind.schema().references() {
                let is_gone = reference.on_delete == OnDelete::Cascade;
                assert_eq!(
                    is_gone,
                    gone.contains(&(*kind, reference.name)),
                    "{kind:?} {}",
                    reference.name
                );
                if reference.on_delete == OnDelete::Restrict {
                    assert_eq!(
                        Some(reference.name),
                        kind.schema().parent,
                        "{kind:?}: only the link to a container restricts deletion"
                    );
                }
            }
        }
    }

    /// COL-04 to COL-18, UND-01: each collection under a record uses one reference, and only these
    /// collections use references that are not links.
    #[test]
    fn und_01_references_name_each_container_once() {
        let mut hidden = Vec::new();
        for kind in Kind::ALL {
            let references = kind.schema().references();
            for scope in kind.schema().scope_kinds() {
                let by: Vec<_> = references
                    .iter()
                    .filter(|known| known.is_scope && known.kind == scope)
                    .collect();
                assert_eq!(by.len(), 1, "{kind:?} under {scope:?}");
            }
            let unnamed = references.iter().filter(|reference| !reference.is_link);
            hidden.extend(unnamed.map(|reference| (*kind, reference.name, reference.on_delete)));
        }
        let clear = OnDelete::Clear;
        assert_eq!(
            hidden,
            [
                (Kind::Answer, "submission", clear),
                (Kind::Answer, "canvass", clear),
                (Kind::Tagging, "canvass", clear)
            ]
        );
        let of_canvass = Kind::Canvass
            .schema()
            .references()
            .iter()
            .find(|known| known.is_scope);
        assert_eq!(
            of_canvass.map(|known| known.name),
            Some("target"),
            "a canvasser is not a container"
        );
    }

    /// UND-02, UND-03, UND-38: names of tags and lists are unique, and so is the tagging or item of
    /// a person.
    #[test]
    fn und_38_what_is_unique() {
        let named = Kind::ALL
            .iter()
            .filter(|kind| kind.schema().unique_name().is_some());
        assert_eq!(
            named.collect::<Vec<_>>(),
            [&Kind::Tag, &Kind::List],
            "UND-02, UND-03"
        );
        let tied = Kind::ALL
            .iter()
            .filter_map(|kind| Some((*kind, kind.schema().unique_links()?)));
        let expected = [
            (Kind::Tagging, ["tag", "person"]),
            (Kind::Item, ["list", "person"]),
        ];
        assert_eq!(tied.collect::<Vec<_>>(), expected, "UND-38");
        for (kind, links) in expected {
            for link in links {
                assert!(
                    kind.schema()
                        .references()
                        .iter()
                        .any(|known| known.name == link),
                    "{kind:?} {link}"
                );
            }
        }
    }

    /// UND-12, UND-13, UND-38: operations that the specification does not define.
    #[test]
    fn und_12_operations_that_are_none() {
        for kind in Kind::ALL {
            let without: &[Operation] = match kind {
                Kind::Query => &[Operation::Create, Operation::Delete],
                Kind::Tagging | Kind::Item => &[Operation::Update],
                Kind::Canvass => &[Operation::Create],
                _ => &[],
            };
            assert_eq!(kind.schema().unsupported_operations, without, "{kind:?}");
            assert_eq!(
                kind.schema().has_operation(Operation::List),
                kind.schema().path_parent.is_none(),
                "COL-01 {kind:?}"
            );
        }
    }

    /// Measured records are under the record, and are not deleted as dependents of another record.
    /// Each part has a measure of the record.
    #[test]
    fn res_event_16_sources_are_of_the_kind() {
        fn find<'a>(schema: &'a ObjectSchema, name: &str) -> &'a FieldSpec {
            let field = schema.fields.iter().find(|field| field.name == name);
            field.unwrap_or_else(|| panic!("no field `{name}`"))
        }
        fn check_measure(kind: Kind, field: &FieldSpec, measure: Measure) {
            let members = measure.of.schema();
            assert!(
                members
                    .references()
                    .iter()
                    .all(|reference| reference.on_delete != OnDelete::Cascade),
                "{kind:?}.{}: records deleted as dependents would still count",
                field.name
            );
            let mut schema = members.fields;
            let mut last = None;
            for member in measure.path {
                let spec = find(schema, member);
                last = Some(spec.ty);
                schema = spec.ty.object().unwrap_or(schema);
            }
            match measure.aggregate {
                Aggregate::Count => {
                    assert!(matches!(field.ty, ValueType::Integer), "{}", field.name);
                    assert!(matches!(last, None | Some(ValueType::Array(_))));
                }
                Aggregate::Sum => {
                    assert!(matches!(field.ty, ValueType::Amount), "{}", field.name);
                    assert!(matches!(last, Some(ValueType::Amount)));
                }
            }
            match measure.condition {
                MeasureCondition::All => {}
                MeasureCondition::Is { field, value, .. } => {
                    let ValueType::Enum(values) = find(members.fields, field).ty else {
                        panic!("`{field}` has no list of values");
                    };
                    assert!(values.contains(&value), "{value}");
                }
                MeasureCondition::Unless(flag) => {
                    assert!(matches!(find(members.fields, flag).ty, ValueType::Boolean));
                }
            }
            match measure.parts {
                MeasureParts::Whole => {}
                MeasureParts::Each(member) => {
                    let elements = find(members.fields, measure.path[0]).ty.object().unwrap();
                    find(elements, member);
                }
                MeasureParts::Of(member) => {
                    find(members.fields, member);
                    find(kind.schema().fields, member);
                }
            }
        }
        fn walk(kind: Kind, fields: &ObjectSchema, top: bool) {
            for field in fields.fields {
                if let Some(source) = field.source() {
                    if let Some(member) = source.measured_kind() {
                        assert_eq!(
                            member.schema().parent_kind(),
                            Some(kind),
                            "{kind:?} {}",
                            field.name
                        );
                    }
                    if let ComputedSource::Measure(measure) = source {
                        check_measure(kind, field, measure);
                    }
                    if let ComputedSource::Part(of) = source {
                        let (_, measure) = kind
                            .schema()
                            .measures()
                            .find(|(name, _)| *name == of)
                            .unwrap();
                        let MeasureParts::Each(title) = measure.parts else {
                            panic!("`{of}` has no parts");
                        };
                        assert!(fields.fields.iter().any(|field| field.name == title));
                    }
                    if let ComputedSource::Former(title) = source {
                        assert!(fields.fields.iter().any(|field| field.name == title));
                        assert!(matches!(field.ty, ValueType::Array(&ValueType::String)));
                    }
                    assert_ne!(
                        source,
                        ComputedSource::Clock,
                        "only common fields: {}",
                        field.name
                    );
                    let is_nested = matches!(
                        source,
                        ComputedSource::AlwaysZero
                            | ComputedSource::Part(_)
                            | ComputedSource::Former(_)
                    );
                    assert!(
                        top || is_nested,
                        "`fill_nested_computed` does not write {}",
                        field.name
                    );
                }
                if let Some(inner) = field
                    .ty
                    .object()
                    .filter(|inner| !std::ptr::eq(*inner, fields))
                {
                    walk(kind, inner, false);
                }
            }
        }
        for kind in Kind::ALL {
            walk(*kind, kind.schema().fields, true);
        }
    }
}
