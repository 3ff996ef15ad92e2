//! The fields and links of the catalogue as the checks look at them.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

pub(crate) use crate::catalogue::Way;
use crate::catalogue::{Catalogue, Link, Row, Type};

/// What checks tell types apart by (TYP-01 to TYP-12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
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
    /// Texts.
    Texts,
    /// Objects.
    Objects,
    /// An address, an identifier, or an object with `href`.
    Reference,
    /// One object or several.
    OneOrMany,
}

impl From<&Type> for Shape {
    fn from(kind: &Type) -> Self {
        match kind {
            Type::String => Self::Text,
            Type::Integer => Self::Integer,
            Type::Float => Self::Float,
            Type::Number => Self::Number,
            Type::Boolean => Self::Boolean,
            Type::Datetime => Self::Time,
            Type::Date => Self::Date,
            Type::Enum => Self::Enum,
            Type::Flexenum => Self::Flexible,
            Type::Object | Type::Map | Type::Person | Type::Shared(_) => Self::Object,
            Type::Strings => Self::Texts,
            Type::Objects | Type::SharedList(_) => Self::Objects,
            Type::Reference | Type::Link => Self::Reference,
            Type::OneOrMany => Self::OneOrMany,
        }
    }
}

/// One field of the catalogue.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    /// Its row.
    pub(crate) row: &'static str,
    /// The resource or shared object that has it.
    pub(crate) owner: &'static str,
    /// Its path in the owner, such as `share_options[].network_a_share.title`; `[]` after an array.
    pub(crate) path: &'static str,
    pub(crate) shape: Shape,
    pub(crate) values: Vec<&'static str>,
    pub(crate) way: Way,
}

static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(|| rows().iter().filter_map(field).collect());

/// The fields and links by their owner: every record of every answer is held against them.
static OWNED: LazyLock<HashMap<&str, Vec<&Field>>> =
    LazyLock::new(|| by_owner(all().iter().map(|one| (one.owner, one))));
static LINKS: LazyLock<HashMap<&str, Vec<(&Row, &Link)>>> = LazyLock::new(|| {
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

/// The shared objects by the names of the fields that carry them, in whatever resource or object
/// these stand.
static SHARED: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    let fields = rows().iter().filter_map(Row::field);
    fields
        .filter_map(|field| Some((last(&field.path), field.kind.shared()?)))
        .collect()
});

fn rows() -> &'static [Row] {
    Catalogue::built_in().map_or(&[], Catalogue::rows)
}

fn field(row: &'static Row) -> Option<Field> {
    let field = row.field()?;
    let values = field.values.iter().map(String::as_str).collect();
    let shape = Shape::from(&field.kind);
    Some(Field {
        row: &row.id,
        owner: &field.owner,
        path: &field.path,
        shape,
        values,
        way: field.way,
    })
}

/// The shared object that a field of this name carries.
pub(crate) fn shared(name: &str) -> Option<&'static str> {
    SHARED.get(name).copied()
}

/// The first field that carries a shared object.
pub(crate) fn carrier(object: &str) -> Option<&'static str> {
    let mut fields = rows().iter().filter_map(Row::field);
    fields
        .find(|field| field.kind.shared() == Some(object))
        .map(|field| last(&field.path))
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Every field of the catalogue, in its order.
pub(crate) fn all() -> &'static [Field] {
    &FIELDS
}

/// The fields of a resource or shared object.
pub(crate) fn of(owner: &str) -> impl Iterator<Item = &'static Field> + use<> {
    OWNED.get(owner).into_iter().flatten().copied()
}

/// The field at a path of an owner.
pub(crate) fn find(owner: &str, path: &str) -> Option<&'static Field> {
    of(owner).find(|field| field.path == path)
}

/// The links of a resource or of the entry point, each with its row.
pub(crate) fn links(owner: &str) -> impl Iterator<Item = (&'static Row, &'static Link)> + use<> {
    LINKS.get(owner).into_iter().flatten().copied()
}
