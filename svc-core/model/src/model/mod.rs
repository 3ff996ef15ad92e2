//! The kinds of records of the specification, each in its own file.

pub mod shared;

pub use crate::names::{Kind, PerKind};
use crate::{
    json::Object,
    names::kinds,
    schema::KindSchema,
    types::{FieldType, MemberWriter},
};

/// A kind as a Rust type: a struct whose optional fields are those of the table.
///
/// Implemented only by the tables of this module.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of resource",
    label = "not one of the kinds in `svc_core::model`",
    note = "the kinds are closed: use one of `svc_core::model`, such as `svc_core::model::Person`"
)]
pub trait Resource: FieldType + Clone + Default + Send + Sync + 'static {
    /// The kind.
    const KIND: Kind;
    /// The table of the kind.
    const SCHEMA: &'static KindSchema;

    /// Converts an object that was validated against the table into the typed struct.
    fn from_object(object: &Object) -> Self;

    /// Writes the fields that are set, each with a trailing comma, without braces.
    fn write_members(&self, out: &mut MemberWriter<'_>);
}

/// A kind whose records are also listed under a `Parent`, such as the signatures of a petition.
///
/// Requirements: COL-04 to COL-18.
#[diagnostic::on_unimplemented(
    message = "the specification has no collection of `{Self}` under `{Parent}`",
    label = "the links table of `{Parent}` has no such collection",
    note = "see the `links` of `{Parent}` for the collections it has"
)]
pub trait Under<Parent: Resource>: Resource {}

macro_rules! tables {
    ($($name:ident = $number:literal in $file:ident),+ $(,)?) => {
        $( pub mod $file; pub use $file::$name; )+

        /// The kind of each table file, for [`fields!`](crate::fields).
        #[allow(non_camel_case_types, missing_docs, reason = "named as the table files are")]
        pub(crate) mod kind_of { $( pub type $file = super::$name; )+ }

        impl Kind {
            /// Returns the table of this kind.
            #[must_use]
            pub fn schema(self) -> &'static KindSchema {
                match self { $(Kind::$name => <$name as Resource>::SCHEMA),+ }
            }
        }

        /// Calls a macro with one argument of the caller and every kind.
        /// `each_kind!(register (api, store))` becomes
        /// `register!((api, store) Person Petition ...)`.
        #[macro_export]
        macro_rules! each_kind {
            ($callback:ident $args:tt) => { $callback!($args $($name)+) };
        }
    };
}

kinds!(tables);

impl Kind {
    /// Returns the singular relation without prefix.
    ///
    /// Requirements: HAL-14.
    #[must_use]
    pub fn singular(self) -> &'static str {
        self.schema().singular
    }

    /// Returns the plural relation without prefix, which is also the name of the collection.
    ///
    /// Requirements: HAL-14.
    #[must_use]
    pub fn plural(self) -> &'static str {
        self.schema().plural
    }

    /// Returns the name of the kind with an article for messages, such as `a petition` or
    /// `an advocacy campaign`.
    #[must_use]
    pub fn with_article(self) -> String {
        let words = self.singular().replace('_', " ");
        let article = if words.starts_with(['a', 'e', 'i', 'o', 'u']) {
            "an"
        } else {
            "a"
        };
        format!("{article} {words}")
    }

    /// Returns the kind whose collection has this name.
    #[must_use]
    pub fn from_plural(plural: &str) -> Option<Kind> {
        Kind::ALL
            .iter()
            .copied()
            .find(|kind| kind.plural() == plural)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_its_article() {
        let said = [
            Kind::Person,
            Kind::Item,
            Kind::AdvocacyCampaign,
            Kind::SharePage,
        ]
        .map(Kind::with_article);
        assert_eq!(
            said,
            [
                "a person",
                "an item",
                "an advocacy campaign",
                "a share page"
            ]
        );
    }

    #[test]
    fn every_field_and_link_of_a_specified_kind_names_its_row() {
        for kind in Kind::ALL {
            let schema = kind.schema();
            for field in schema.fields.fields {
                assert!(
                    !field.requirement.is_empty(),
                    "{}.{}",
                    schema.singular,
                    field.name
                );
            }
            for link in schema.links {
                assert!(
                    !link.requirement.is_empty(),
                    "{} link {}",
                    schema.singular,
                    link.name
                );
            }
            if let Some(parent) = schema.parent {
                assert!(
                    schema.link(parent).is_some(),
                    "{} parent {parent}",
                    schema.singular
                );
            }
        }
    }
}
