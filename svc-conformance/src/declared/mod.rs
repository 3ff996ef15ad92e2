//! What the server under test declares, with the questions that checks ask about it.

mod abilities;
mod unknown_members;

use std::collections::BTreeMap;

pub(crate) use abilities::FIRM;
use serde_json::Value;
pub use svc_declaration::Declaration;
use svc_declaration::{DeclaredCollection, DeclaredField};

use crate::catalogue::Ability;
use crate::fields;
use crate::kinds::{CatalogueKind, KINDS, kind, kind_of};
use crate::outcome::CheckStop;
use crate::response::Representation;

/// The source of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeclarationSource {
    /// Passed by the program that runs the suite.
    Given,
    /// Published by the server.
    ///
    /// Requirements: UND-40.
    Published,
    /// Read from a file.
    File,
    /// Found by probing the server.
    Probed,
}

/// Error returned when a declaration cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeclarationError {
    /// The text is not a declaration, neither in JSON nor in TOML.
    #[error("the declaration cannot be read: {0}")]
    Unreadable(String),
    /// The version of the format is unknown.
    #[error("the declaration has version {0}; this suite reads version 1")]
    Version(u32),
    /// A file contains unknown names. Each is reported with the names that are allowed in its
    /// place.
    #[error("the declaration contains unknown names, which would count as not supported:\n  {}", .0.join("\n  "))]
    Unknown(Vec<String>),
}

/// Reads a hand-written declaration, from JSON or TOML. An unknown name is an error, because it is
/// probably mistyped.
///
/// # Errors
/// Returns an error if the text is neither, its `declaration_version` is not 1, or it contains
/// unknown names.
pub fn parse_declaration(text: &str) -> Result<Declaration, DeclarationError> {
    let whole: Value = if is_json(text) {
        serde_json::from_str(text).map_err(|error| unreadable(&error))?
    } else {
        toml::from_str(text).map_err(|error| unreadable(&error))?
    };
    // Names of a later version are not mistyped.
    let version = whole
        .get("declaration_version")
        .and_then(Value::as_u64)
        .filter(|version| *version != 1);
    if let Some(version) = version.and_then(|version| u32::try_from(version).ok()) {
        return Err(DeclarationError::Version(version));
    }
    let unknown = unknown_members::unknown(&whole);
    if unknown.is_empty() {
        read(text)
    } else {
        Err(DeclarationError::Unknown(unknown))
    }
}

/// Reads a declaration that a server publishes, which may contain unknown members.
pub(crate) fn read(text: &str) -> Result<Declaration, DeclarationError> {
    let declaration = if is_json(text) {
        Declaration::from_json(text).map_err(|error| unreadable(&error))?
    } else {
        Declaration::from_toml(text).map_err(|error| unreadable(&error))?
    };
    if declaration.declaration_version != 1 {
        return Err(DeclarationError::Version(declaration.declaration_version));
    }
    Ok(declaration)
}

fn unreadable(error: &dyn ToString) -> DeclarationError {
    DeclarationError::Unreadable(error.to_string())
}

/// Whether a text is JSON, which starts as an object, and not TOML.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Returns the source that the text of a declaration states: `source = "probed"`, as `probe` writes
/// it, otherwise a file.
#[must_use]
pub fn source(text: &str) -> DeclarationSource {
    #[derive(serde::Deserialize)]
    struct SourceMember {
        source: Option<String>,
    }
    let said: Option<SourceMember> = if is_json(text) {
        serde_json::from_str(text).ok()
    } else {
        toml::from_str(text).ok()
    };
    match said.and_then(|said| said.source).as_deref() {
        Some("probed") => DeclarationSource::Probed,
        _ => DeclarationSource::File,
    }
}

/// A declaration with the questions that checks ask about it.
#[derive(Debug, Clone)]
pub(crate) struct DeclaredApi {
    pub(crate) text: Declaration,
    pub(crate) source: DeclarationSource,
}

impl DeclaredApi {
    pub(crate) const fn new(text: Declaration, source: DeclarationSource) -> Self {
        Self { text, source }
    }

    /// Returns a name of the specification with the prefix in use, such as `svc:person`.
    pub(crate) fn rel(&self, name: &str) -> String {
        format!("{}:{name}", self.text.dialect.prefix)
    }

    /// Returns the relation of an extension in `_links` or `_embedded` of a document: with the
    /// declared prefix if it is present, otherwise with any other prefix except the namespace of
    /// the vendor, whose relations are vendor-specific.
    ///
    /// Requirements: ENT-27.
    pub(crate) fn extension<'r>(
        &self,
        record: &'r Representation,
        part: &str,
        name: &str,
    ) -> Option<&'r str> {
        self.extension_of(&record[part], name)
    }

    /// Returns the name of an extension among the members of an object, selected as in
    /// [`DeclaredApi::extension`].
    pub(crate) fn extension_of<'r>(&self, object: &'r Value, name: &str) -> Option<&'r str> {
        let dialect = &self.text.dialect;
        let relations = object
            .as_object()
            .into_iter()
            .flat_map(serde_json::Map::keys);
        let named = relations.filter_map(|rel| {
            rel.split_once(':')
                .map(|(prefix, rest)| (prefix, rest, rel.as_str()))
        });
        let named =
            named.filter(|(prefix, rest, _)| *rest == name && *prefix != self.text.namespace);
        let by_preference = |(prefix, ..): &(&str, &str, &str)| match *prefix {
            prefix if prefix == dialect.extension_prefix => 0,
            prefix if prefix != dialect.prefix => 1,
            _ => 2,
        };
        named.min_by_key(by_preference).map(|(_, _, rel)| rel)
    }

    /// Returns the absolute URL of the relation of an extension.
    pub(crate) fn extension_href(&self, record: &Representation, name: &str) -> Option<String> {
        record.link(self.extension(record, "_links", name)?)
    }

    /// Same as [`DeclaredApi::extension_href`], but a missing link ends the check.
    pub(crate) fn extension_leads(
        &self,
        record: &Representation,
        name: &str,
    ) -> Result<String, CheckStop> {
        self.extension_href(record, name).ok_or_else(|| {
            CheckStop::Inconclusive(format!("there is no link {name} in {}", record.short()))
        })
    }

    /// Whether a person belongs to a container of this kind only once: to a tag, a list or a
    /// question, or if the behaviour is declared.
    pub(crate) fn has_one_per_person(&self, kind: CatalogueKind) -> bool {
        let by_behaviour = || {
            kind.helper
                .is_some_and(|helper| self.has_one_action(helper))
        };
        matches!(kind.one, "tagging" | "item" | "answer") || by_behaviour()
    }

    /// Whether a helper changes the action of a person in a container instead of recording a second
    /// one.
    pub(crate) fn has_one_action(&self, helper: &str) -> bool {
        self.behaves("one_action_per_person")
            || self.behaves(&format!("helper.{helper}.one_action_per_person"))
    }

    /// Whether a behaviour is declared.
    pub(crate) fn behaves(&self, name: &str) -> bool {
        self.text
            .behaviours
            .iter()
            .any(|behaviour| behaviour == name)
    }

    pub(crate) fn collection(&self, many: &str) -> Option<&DeclaredCollection> {
        self.text.collections.get(many)
    }

    /// Returns every declared kind, containers before their contents.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = CatalogueKind> + '_ {
        KINDS
            .iter()
            .copied()
            .filter(|kind| self.text.collections.contains_key(kind.many))
    }

    /// Whether an operation (`list`, `read`, `create`, `update`, `delete`) on a kind is declared.
    pub(crate) fn offers(&self, one: &str, operation: &str) -> bool {
        let collection = kind(one).and_then(|kind| self.collection(kind.many));
        collection.is_some_and(|collection| {
            collection
                .operations
                .iter()
                .any(|offered| offered == operation)
        })
    }

    /// Whether each of these operations on a kind is declared.
    pub(crate) fn offers_all(&self, one: &str, operations: &[&str]) -> bool {
        operations
            .iter()
            .all(|operation| self.offers(one, operation))
    }

    /// Returns the first kind that the entry point links to and that has each of these operations.
    pub(crate) fn first_with(&self, operations: &[&str]) -> Option<CatalogueKind> {
        self.kinds()
            .find(|kind| kind.under.is_none() && self.offers_all(kind.one, operations))
    }

    /// Returns the fields by which the collection of a kind can be filtered.
    pub(crate) fn filters(&self, kind: CatalogueKind) -> &[String] {
        self.listed(kind)
            .map_or(&[], |collection| &collection.filter)
    }

    /// Returns the dates by which the collection of a kind can be ordered.
    pub(crate) fn orders(&self, kind: CatalogueKind) -> &[String] {
        self.listed(kind)
            .map_or(&[], |collection| &collection.order)
    }

    /// Whether any collection can be filtered by a field, or by any field.
    pub(crate) fn filters_any(&self, field: Option<&str>) -> bool {
        let has = |filters: &[String]| match field {
            Some(field) => filters.iter().any(|one| one == field),
            None => !filters.is_empty(),
        };
        self.kinds().any(|kind| has(self.filters(kind)))
    }

    fn listed(&self, kind: CatalogueKind) -> Option<&DeclaredCollection> {
        self.collection(kind.many)
            .filter(|_| self.offers(kind.one, "list"))
    }

    /// Whether an operation is declared for any kind.
    pub(crate) fn offers_any(&self, operation: &str) -> bool {
        self.kinds().any(|kind| self.offers(kind.one, operation))
    }

    /// Whether records of a kind have the nested collection `many`.
    pub(crate) fn lists_below(&self, one: &str, many: &str) -> bool {
        let collection = kind(one).and_then(|kind| self.collection(kind.many));
        collection.is_some_and(|collection| collection.sub.iter().any(|sub| sub == many))
    }

    /// Whether records of a kind have a link. `self` is always present, except on servers that
    /// offer only helpers.
    pub(crate) fn links(&self, one: &str, name: &str) -> bool {
        if name == "self" {
            return kind(one).is_some_and(|kind| self.collection(kind.many).is_some())
                && !self.helpers_only();
        }
        let collection = kind(one).and_then(|kind| self.collection(kind.many));
        collection.is_some_and(|collection| collection.links.iter().any(|link| link == name))
    }

    /// Whether a helper such as `record_signature` is declared.
    pub(crate) fn helps(&self, helper: &str) -> bool {
        self.text.helpers.contains_key(helper)
    }

    /// Whether a helper may be called without a key.
    pub(crate) fn helps_anyone(&self, helper: &str) -> bool {
        self.text
            .helpers
            .get(helper)
            .is_some_and(|helper| helper.anonymous)
    }

    /// Whether an action function such as `add_tags` is declared.
    pub(crate) fn acts(&self, function: &str) -> bool {
        self.text
            .action_functions
            .iter()
            .any(|declared| declared == function)
    }

    /// Whether an operation such as `people.create` or a helper such as `helper.record_signature`
    /// is declared. For other names, the check that uses it decides.
    pub(crate) fn offers_right(&self, right: &str) -> bool {
        match right.split_once('.') {
            Some(("helper", helper)) => self.helps(helper),
            Some((many, operation)) => {
                kind_of(many).is_none_or(|kind| self.offers(kind.one, operation))
            }
            None => true,
        }
    }

    /// Whether helpers match people.
    ///
    /// Requirements: HLP-04.
    pub(crate) fn matches_persons(&self) -> bool {
        self.behaves("helper.match_person")
    }

    /// Whether there is no REST access.
    pub(crate) fn helpers_only(&self) -> bool {
        self.behaves("helpers_only")
            || (!self.text.helpers.is_empty()
                && self
                    .text
                    .collections
                    .values()
                    .all(|one| one.operations.is_empty() && one.sub.is_empty()))
    }

    /// Returns the fields of a kind.
    pub(crate) fn fields(&self, one: &str) -> Option<&BTreeMap<String, DeclaredField>> {
        kind(one)
            .and_then(|kind| self.collection(kind.many))
            .map(|collection| &collection.fields)
    }

    /// Returns the field of a kind at a path, such as `share_options[].network_a_share.title`.
    ///
    /// The two share objects of the networks have the neutral names of the catalogue in it.
    pub(crate) fn field(&self, one: &str, path: &str) -> Option<&DeclaredField> {
        // A field that no operation returns or accepts does not count.
        self.written(one, path)
            .filter(|field| self.reaches(one, field))
    }

    /// Whether a field of a kind is in the declaration, whatever operations the kind has.
    pub(crate) fn mentions(&self, one: &str, path: &str) -> bool {
        self.written(one, path)
            .is_some_and(|field| field.readable || field.writable)
    }

    fn written(&self, one: &str, path: &str) -> Option<&DeclaredField> {
        let mut at = self.fields(one)?;
        let mut steps = path.split('.').peekable();
        loop {
            let step = self.wire(steps.next()?.trim_end_matches("[]"));
            let field = at.get(step)?;
            if steps.peek().is_none() {
                return Some(field);
            }
            at = field.fields.as_ref()?;
        }
    }

    /// Returns the name in messages for a name in the catalogue.
    pub(crate) fn wire<'n>(&'n self, name: &'n str) -> &'n str {
        match name {
            "network_a_share" => &self.text.dialect.network_a_share,
            "network_b_share" => &self.text.dialect.network_b_share,
            "svc_version" => &self.text.dialect.version_field,
            other => other,
        }
    }

    /// Whether any name in messages differs from the catalogue.
    pub(crate) fn renames(&self) -> bool {
        ["network_a_share", "network_b_share", "svc_version"]
            .iter()
            .any(|name| self.wire(name) != *name)
    }

    /// Returns where the kinds contain a field of the catalogue: kind, and path from the top level.
    pub(crate) fn places(&self, owner: &str, path: &str) -> Vec<(CatalogueKind, String)> {
        let mut places = Vec::new();
        if let Some(kind) = kind(owner) {
            if self.field(owner, path).is_some() {
                places.push((kind, path.to_owned()));
            }
            return places;
        }
        for kind in self.kinds() {
            let Some(fields) = self.fields(kind.one) else {
                continue;
            };
            let mut carriers = Vec::new();
            carried(fields, owner, "", &mut carriers);
            let whole = carriers
                .into_iter()
                .map(|carrier| format!("{carrier}.{path}"));
            places.extend(
                whole
                    .filter(|place| self.field(kind.one, place).is_some())
                    .map(|place| (kind, place)),
            );
        }
        places
    }

    /// Whether a field of the catalogue is declared anywhere; `*` means any resource.
    pub(crate) fn has_field(&self, owner: &str, path: &str) -> bool {
        match (owner, path) {
            ("*", "identifiers" | "created_date" | "modified_date") => {
                (!self.text.collections.is_empty() || !self.text.helpers.is_empty())
                    && !self.behaves(&format!("without.{path}"))
            }
            ("*", path) => self
                .kinds()
                .any(|kind| self.field(kind.one, path).is_some()),
            ("entry_point", field) => {
                let declared = self.text.entry_point.as_ref();
                declared
                    .is_some_and(|entry| entry.fields.iter().any(|name| name == self.wire(field)))
            }
            // A field of the helper that a record returns as a link.
            // Requirements: RES-canvass-07.
            ("canvass", "canvasser") if self.links("canvass", "canvasser") => true,
            (owner, path) => !self.places(owner, path).is_empty(),
        }
    }

    /// Whether the server stores identifiers of the client.
    ///
    /// Requirements: TYP-13.
    pub(crate) fn has_identifiers(&self) -> bool {
        self.has_field("*", "identifiers")
    }

    /// Returns the undeclared operations on kinds whose URL a run can know: that of a listed
    /// collection, or of a record that it creates.
    pub(crate) fn unsupported(&self) -> Vec<(CatalogueKind, &'static str)> {
        let is_known = |kind: CatalogueKind, operation: &str| match operation {
            "create" => kind.under.is_none() && self.offers(kind.one, "list"),
            _ => self.makes(kind) && !self.helpers_only(),
        };
        let operations = ["create", "read", "update", "delete"];
        let missing = |kind: CatalogueKind| {
            operations
                .into_iter()
                .filter(move |operation| !self.offers(kind.one, operation))
        };
        let all = self
            .kinds()
            .flat_map(|kind| missing(kind).map(move |operation| (kind, operation)));
        all.filter(|(kind, operation)| is_known(*kind, operation))
            .collect()
    }

    /// Whether records of a kind can be created, for a new person, in a new or existing container.
    fn makes(&self, kind: CatalogueKind) -> bool {
        let has_container = |under: &str| {
            let has_address = || self.offers(kind.one, "read") || self.is_listed(kind.one);
            let is_known = || self.offers(under, "list") || self.text.fixture.contains_key(under);
            self.makes_alone(under) || (under != "person" && is_known() && has_address())
        };
        match kind.under {
            None => self.makes_alone(kind.one),
            Some(under) => {
                self.can(kind.one, Ability::Create)
                    && self.makes_alone("person")
                    && has_container(under)
            }
        }
    }
}

/// Returns the paths of a shared object in some fields, with `[]` after each array.
fn carried(
    fields: &BTreeMap<String, DeclaredField>,
    owner: &str,
    above: &str,
    out: &mut Vec<String>,
) {
    for (name, field) in fields {
        let array = if field.kind.ends_with("[]") { "[]" } else { "" };
        let place = format!("{above}{name}{array}");
        if fields::shared(name) == Some(owner) {
            out.push(place.clone());
        }
        if let Some(inner) = &field.fields {
            carried(inner, owner, &format!("{place}."), out);
        }
    }
}
