//! The fields and links of the catalogue, as the checks use them.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

pub(crate) use crate::catalogue::ObservationMethod;
use crate::catalogue::{Catalogue, CatalogueLink, CatalogueType, Requirement};

/// The types that checks distinguish.
///
/// Requirements: TYP-01 to TYP-12.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ValueShape {
    Text,
    Integer,
    Float,
    Number,
    Boolean,
    Time,
    Date,
    Enum,
    Flexible,
    Object,
    /// Strings.
    Texts,
    /// Objects.
    Objects,
    /// A URL, an identifier, or an object with `href`.
    Reference,
    /// One object or several.
    OneOrMany,
}

impl From<&CatalogueType> for ValueShape {
    fn from(kind: &CatalogueType) -> Self {
        match kind {
            CatalogueType::String => Self::Text,
            CatalogueType::Integer => Self::Integer,
            CatalogueType::Float => Self::Float,
            CatalogueType::Number => Self::Number,
            CatalogueType::Boolean => Self::Boolean,
            CatalogueType::Datetime => Self::Time,
            CatalogueType::Date => Self::Date,
            CatalogueType::Enum => Self::Enum,
            CatalogueType::Flexenum => Self::Flexible,
            CatalogueType::Object
            | CatalogueType::Map
            | CatalogueType::Person
            | CatalogueType::Shared(_) => Self::Object,
            CatalogueType::Strings => Self::Texts,
            CatalogueType::Objects | CatalogueType::SharedList(_) => Self::Objects,
            CatalogueType::Reference | CatalogueType::Link => Self::Reference,
            CatalogueType::OneOrMany => Self::OneOrMany,
        }
    }
}

/// One field of the catalogue.
#[derive(Debug, Clone)]
pub(crate) struct CheckedField {
    /// Its requirement.
    pub(crate) row: &'static str,
    /// The resource or shared object that contains it.
    pub(crate) owner: &'static str,
    /// Its path in the owner, such as `share_options[].network_a_share.title`; `[]` after an array.
    pub(crate) path: &'static str,
    pub(crate) shape: ValueShape,
    pub(crate) values: Vec<&'static str>,
    pub(crate) way: ObservationMethod,
}

static FIELDS: LazyLock<Vec<CheckedField>> =
    LazyLock::new(|| rows().iter().filter_map(field).collect());

/// The fields and links by their owner. Every record of every response is checked against them.
static OWNED: LazyLock<HashMap<&str, Vec<&CheckedField>>> =
    LazyLock::new(|| by_owner(all().iter().map(|one| (one.owner, one))));
static LINKS: LazyLock<HashMap<&str, Vec<(&Requirement, &CatalogueLink)>>> = LazyLock::new(|| {
    by_owner(
        rows()
            .iter()
            .filter_map(|row| row.link().map(|link| (link.owner.as_str(), (row, link)))),
    )
});

fn by_owner<T>(all: impl Iterator<Item = (&'static str, T)>) -> HashMap<&'static str, Vec<T>> {
    all.fold(
        HashMap::new(),
        |mut owned: HashMap<_, Vec<T>>, (owner, one)| {
            owned.entry(owner).or_default().push(one);
            owned
        },
    )
}

/// The shared objects by the names of the fields that contain them, in any resource or object.
static SHARED: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    let fields = rows().iter().filter_map(Requirement::field);
    fields
        .filter_map(|field| Some((last(&field.path), field.kind.shared()?)))
        .collect()
});

fn rows() -> &'static [Requirement] {
    Catalogue::built_in().map_or(&[], Catalogue::requirements)
}

fn field(row: &'static Requirement) -> Option<CheckedField> {
    let field = row.field()?;
    let values = field.values.iter().map(String::as_str).collect();
    let shape = ValueShape::from(&field.kind);
    Some(CheckedField {
        row: &row.id,
        owner: &field.owner,
        path: &field.path,
        shape,
        values,
        way: field.way,
    })
}

/// Returns the shared object that a field of this name contains.
pub(crate) fn shared(name: &str) -> Option<&'static str> {
    SHARED.get(name).copied()
}

/// Returns the first field that contains a shared object.
pub(crate) fn carrier(object: &str) -> Option<&'static str> {
    let mut fields = rows().iter().filter_map(Requirement::field);
    fields
        .find(|field| field.kind.shared() == Some(object))
        .map(|field| last(&field.path))
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Returns every field of the catalogue, in its order.
pub(crate) fn all() -> &'static [CheckedField] {
    &FIELDS
}

/// Returns the fields of a resource or shared object.
pub(crate) fn of(owner: &str) -> impl Iterator<Item = &'static CheckedField> + use<> {
    OWNED.get(owner).into_iter().flatten().copied()
}

/// Returns the field at a path of an owner.
pub(crate) fn find(owner: &str, path: &str) -> Option<&'static CheckedField> {
    of(owner).find(|field| field.path == path)
}

/// Returns the links of a resource or of the entry point, each with its requirement.
pub(crate) fn links(
    owner: &str,
) -> impl Iterator<Item = (&'static Requirement, &'static CatalogueLink)> + use<> {
    LINKS.get(owner).into_iter().flatten().copied()
}
