//! The comparison of the read-only members of a change with the stored record.
//!
//! Requirements: UND-22.

use super::{Json, Object, value_path::ValuePath};
use crate::{
    model::Kind,
    schema::{ComputedSource, FieldSpec, MeasureParts, ObjectSchema},
};

/// The stored record that a change is compared with, as the caller reads it.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredDocument<'a> {
    pub(super) kind: Kind,
    pub(super) document: &'a Object,
    /// The position of the record in the body.
    pub(super) path: &'a ValuePath<'a>,
}

impl<'a> StoredDocument<'a> {
    /// Returns the stored objects that an object of the body is compared with: the one at its path.
    /// If the elements of an array show the parts of a measure, those with the same title, if there
    /// are any: a level can have a new title.
    pub(super) fn objects(
        &self,
        schema: &ObjectSchema,
        sent: &Object,
        path: &ValuePath<'_>,
    ) -> Vec<&'a Object> {
        if let ValuePath::Element(list, _) = path
            && let Some(title) = self.title(schema)
        {
            let elements = self.value(list).and_then(Json::as_array);
            let titled: Vec<_> = elements
                .into_iter()
                .flatten()
                .filter_map(Json::as_object)
                .filter(|element| element.get(title) == sent.get(title))
                .collect();
            if !titled.is_empty() {
                return titled;
            }
        }
        let object = if path == self.path {
            Some(self.document)
        } else {
            self.value(path).and_then(Json::as_object)
        };
        object.into_iter().collect()
    }

    /// Returns the member with the title of an element that shows the part of a measure.
    fn title(&self, schema: &ObjectSchema) -> Option<&'static str> {
        let mut sources = schema.fields.iter().filter_map(FieldSpec::source);
        let of = sources.find_map(|source| match source {
            ComputedSource::Part(of) => Some(of),
            _ => None,
        })?;
        let mut measures = self.kind.schema().measures();
        measures.find_map(|(field, measure)| match measure.parts {
            MeasureParts::Each(title) if field == of => Some(title),
            _ => None,
        })
    }

    /// Returns the stored value at a path.
    fn value(&self, path: &ValuePath<'_>) -> Option<&'a Json> {
        match path {
            ValuePath::Root => None,
            ValuePath::Member(parent, name) if *parent == self.path => self.document.get(name),
            ValuePath::Member(parent, name) => self.value(parent)?.as_object()?.get(name),
            ValuePath::Element(list, place) => self.value(list)?.as_array()?.get(*place),
        }
    }
}
