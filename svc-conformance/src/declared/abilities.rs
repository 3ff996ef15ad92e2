//! What the declaration allows a client to do with records of a kind, beyond single operations.

use svc_declaration::DeclaredField;

use super::DeclaredApi;
use crate::catalogue::Ability;
use crate::fields::{self, ValueShape};
use crate::kinds::{ACTIONS, CatalogueKind, kind};

/// Fields that cannot be cleared because of other fields. An event with levels has a type, a
/// question has a type, a question and its answers have responses, and a voided donation has a
/// date.
pub(crate) const FIRM: &[(&str, &str)] = &[
    ("donation", "voided_date"),
    ("event", "type"),
    ("question", "question_type"),
    ("question", "responses"),
    ("answer", "responses"),
    ("attendance", "tickets"),
    ("canvass", "canvasser"),
];

impl DeclaredApi {
    /// Whether any declared operation returns a record of a kind: a read, a list, or the response
    /// to a create or change.
    pub(crate) fn shows(&self, one: &str) -> bool {
        let Some(kind) = kind(one) else { return false };
        let answers = ["read", "create", "update"]
            .iter()
            .any(|operation| self.offers(one, operation));
        answers || kind.helper.is_some_and(|helper| self.helps(helper)) || self.is_listed(one)
    }

    /// Whether a collection of a kind is declared, in the entry point or in a record.
    pub(crate) fn is_listed(&self, one: &str) -> bool {
        let below =
            |kind: CatalogueKind| self.kinds().any(|of| self.lists_below(of.one, kind.many));
        self.offers(one, "list") || kind(one).is_some_and(below)
    }

    /// Whether a client can send any field of a record of a kind.
    pub(crate) fn accepts_any_field(&self, one: &str) -> bool {
        let own = kind(one)
            .and_then(|kind| kind.helper)
            .is_some_and(|helper| self.helps(helper));
        own || self.offers(one, "create")
            || self.offers(one, "update")
            || (one == "person" && self.helps_persons())
    }

    /// Whether any declared operation returns or accepts a field of a kind.
    pub(super) fn reaches(&self, one: &str, field: &DeclaredField) -> bool {
        (field.readable && self.shows(one)) || (field.writable && self.accepts_any_field(one))
    }

    /// Whether a declared helper accepts a person.
    pub(crate) fn helps_persons(&self) -> bool {
        self.text
            .helpers
            .keys()
            .any(|name| name != "schedule" && name != "record_canvass")
    }

    /// Whether the response of a declared helper is its person, or links to the person.
    pub(crate) fn shows_helped_person(&self) -> bool {
        self.helps("person_signup") || ACTIONS.iter().any(|one| self.shows_person_of(one))
    }

    /// Whether the response of the helper that records an action links to its person, or embeds it.
    pub(crate) fn shows_person_of(&self, one: &str) -> bool {
        let helper = kind(one).and_then(|kind| kind.helper);
        ACTIONS.contains(&one)
            && helper.is_some_and(|helper| self.helps(helper))
            && self.links(one, "person")
    }

    /// Whether a helper creates a person: the sign-up helper, or a helper for an action if people
    /// have no collection.
    pub(crate) fn posts_persons(&self) -> bool {
        self.helps("person_signup")
            || (!self.offers("person", "list") && self.shows_helped_person())
    }

    /// Whether a declared helper belongs to records that can be created and deleted.
    pub(crate) fn helps_removable(&self) -> bool {
        let of = |kind: &CatalogueKind| {
            kind.under
                .filter(|_| kind.helper.is_some_and(|helper| self.helps(helper)))
        };
        let removable = |one: &str| self.makes_alone(one) && self.offers(one, "delete");
        crate::kinds::KINDS.iter().filter_map(of).any(removable)
    }

    /// Whether a run can reach the helper of the records of a kind: it can create such a record,
    /// which links to the helper.
    pub(crate) fn leads_to_helper(&self, one: &str, helper: &str) -> bool {
        let is_linked = || self.links(one, &format!("{helper}_helper"));
        self.makes_alone(one) && (!self.helpers_only() || is_linked())
    }

    /// Whether records of a kind can be created that no other client knows, without a container.
    pub(crate) fn makes_alone(&self, one: &str) -> bool {
        self.offers(one, "create") || (one == "person" && self.helps("person_signup"))
    }

    /// Whether a client has an ability for records of a kind.
    pub(crate) fn can(&self, one: &str, ability: Ability) -> bool {
        let makes = || {
            let helper = kind(one).and_then(|kind| kind.helper);
            self.offers(one, "create") || helper.is_some_and(|helper| self.helps(helper))
        };
        let sends = || makes() && self.has(one, |_, field| field.writable && !field.computed);
        let changes = || sends() && self.offers(one, "update") && self.offers(one, "read");
        match ability {
            Ability::Create => makes(),
            Ability::Send => sends(),
            Ability::Omit => {
                makes()
                    && self.has(one, |_, field| {
                        field.readable && !field.computed && !field.required
                    })
            }
            Ability::Change => changes(),
            Ability::Clear => changes() && self.has(one, |name, field| empties(one, name, field)),
            Ability::ReplaceArrays => {
                changes() && self.has(one, |name, field| is_list(one, name, field))
            }
            Ability::OmitRequired => {
                self.offers(one, "create")
                    && self.has(one, |_, field| field.required && field.writable)
            }
            Ability::Invalid => {
                (self.offers(one, "create") || self.offers(one, "update"))
                    && self.breakable(one) > 0
            }
            Ability::TwoInvalid => self.offers(one, "create") && self.breakable(one) > 1,
        }
    }

    fn has(&self, one: &str, is: impl Fn(&str, &DeclaredField) -> bool) -> bool {
        self.fields(one)
            .into_iter()
            .flatten()
            .any(|(name, field)| is(name, field))
    }

    /// Returns the number of top-level fields of a kind with a rule that a body can violate.
    fn breakable(&self, one: &str) -> usize {
        let (types, enums) = (
            self.behaves("validates_types"),
            self.behaves("validates_enums"),
        );
        let breaks = |name: &str, field: &DeclaredField| {
            let shape = fields::find(one, name).map(|known| known.shape);
            let has_type = shape.is_some_and(|shape| {
                !matches!(shape, ValueShape::Reference | ValueShape::OneOrMany)
            });
            let ranged = field.maximum.is_some()
                || field.minimum.is_some()
                || field.max_length.is_some()
                || field.max_items.is_some();
            let narrowed = field.kind == "enum" && field.values.is_some();
            field.required
                || ranged
                || narrowed
                || (types && has_type)
                || (enums && shape == Some(ValueShape::Enum))
        };
        let own = self.fields(one).into_iter().flatten();
        own.filter(|(name, field)| field.writable && !field.computed && breaks(name, field))
            .count()
    }
}

/// Whether an update may clear a field.
///
/// Requirements: CRU-17.
fn empties(one: &str, name: &str, field: &DeclaredField) -> bool {
    let free = field.writable && field.readable && !field.computed && !field.required;
    free && !FIRM.contains(&(one, name)) && !(one == "person" && name == "gender")
}

/// Whether a field is a list that an update replaces.
///
/// Requirements: CRU-18.
fn is_list(one: &str, name: &str, field: &DeclaredField) -> bool {
    let shape = fields::find(one, name).map(|known| known.shape);
    let listed = matches!(
        shape,
        Some(ValueShape::Texts | ValueShape::Objects | ValueShape::OneOrMany)
    );
    listed
        && field.kind.ends_with("[]")
        && field.writable
        && field.readable
        && (one, name) != ("attendance", "tickets")
}
