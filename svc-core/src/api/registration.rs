//! What is registered for a kind, and which part of it is offered.

use std::sync::Arc;

use super::operation_store::KindOperations;
use crate::{
    auth::Operation, field_set::FieldBits, filter::FilterField, link::Scope, model::Kind,
    read::AcceptedMembers, schema::Constraints, store::Store,
};

/// Where the records of a kind are.
#[derive(Clone)]
pub(crate) enum KindBackend {
    /// A store that has every operation of the specification.
    Store(Arc<dyn Store>),
    /// The operations that a backend implements.
    Operations(KindOperations),
}

impl Default for KindBackend {
    fn default() -> Self {
        Self::Operations(KindOperations::default())
    }
}

impl KindBackend {
    /// Returns whether the backend has an operation. For lists, any collection is sufficient.
    pub(crate) fn has(&self, kind: Kind, operation: Operation) -> bool {
        match self {
            Self::Store(_) => {
                operation == Operation::List || kind.schema().has_operation(operation)
            }
            Self::Operations(operations) => match operation {
                Operation::List => operations.list.is_some(),
                Operation::Read => operations.get.is_some(),
                Operation::Create => operations.create.is_some(),
                Operation::Update => operations.update.is_some(),
                Operation::Delete => operations.delete.is_some(),
            },
        }
    }

    /// Returns whether records can be looked up by name, identifier and e-mail address.
    pub(crate) fn finds(&self) -> bool {
        match self {
            Self::Store(_) => true,
            Self::Operations(operations) => operations.find.is_some(),
        }
    }

    /// Returns whether two people can be merged.
    pub(crate) fn merges_people(&self) -> bool {
        match self {
            Self::Store(store) => store.merges_people(),
            Self::Operations(operations) => operations.merge.is_some(),
        }
    }

    /// Returns whether the address of a merged person finds the remaining one. Operations find that person
    /// by the own identifier of the merged one.
    ///
    /// Requirements: MRG-09.
    pub(crate) fn forwards_merged_people(&self) -> bool {
        match self {
            Self::Store(store) => store.merges_people(),
            Self::Operations(operations) => {
                operations.merge.is_some() && operations.get.is_some() && operations.find.is_some()
            }
        }
    }

    /// Returns the store, if the records are in one.
    pub(crate) fn store(&self) -> Option<&Arc<dyn Store>> {
        match self {
            Self::Store(store) => Some(store),
            Self::Operations(_) => None,
        }
    }
}

/// Returns whether clients can read every member that they can send.
fn shows_members(members: &Constraints) -> bool {
    let mut accepted = members.members().filter(|(_, member)| !member.read_only);
    accepted.all(|(_, member)| !member.hidden && shows_members(&member.members))
}

/// The registered operations of a kind. An operation that is not registered does not exist.
///
/// Requirements: CAP-04.
#[derive(Default, Clone)]
pub(crate) struct KindRegistration {
    pub(crate) backend: KindBackend,
    /// Whether the collection of all records is offered.
    pub(crate) has_full_collection: bool,
    /// The kinds that it is listed under.
    pub(crate) scopes: Vec<Kind>,
    /// Operations that are registered for helpers, but not offered to clients.
    ///
    /// Requirements: CAP-10.
    pub(crate) withdrawn: Vec<Operation>,
    pub(crate) readable: Option<FieldBits>,
    pub(crate) writable: Option<FieldBits>,
    /// The fields by which the collection of all records can be filtered and ordered.
    pub(crate) filterable: Vec<FilterField>,
    /// The links to one record that the store does not have.
    pub(crate) omitted_links: Vec<&'static str>,
    /// The constraints; `None` if there are none.
    pub(crate) constraints: Option<Constraints>,
}

impl KindRegistration {
    /// Registers every operation that the specification has for a kind, for a store of every kind.
    pub(crate) fn of_store(store: &Arc<dyn Store>, kind: Kind) -> Self {
        let schema = kind.schema();
        let has_full_collection = schema.has_operation(Operation::List);
        Self {
            backend: KindBackend::Store(Arc::clone(store)),
            has_full_collection,
            scopes: schema.scope_kinds().collect(),
            filterable: if has_full_collection {
                store.filter_fields(kind)
            } else {
                Vec::new()
            },
            ..Self::default()
        }
    }

    /// Returns whether a field of the kind is shown to clients.
    pub(crate) fn shows(&self, kind: Kind, field: &str) -> bool {
        let readable = self.readable.unwrap_or(FieldBits::ALL);
        let place = kind.schema().fields.position(field);
        place.is_none_or(|place| readable.contains(place))
    }

    /// Returns whether clients can read every value that they can send.
    pub(crate) fn shows_what_it_accepts(&self, kind: Kind) -> bool {
        let readable = self.readable.unwrap_or(FieldBits::ALL);
        let writable = self.writable.unwrap_or(FieldBits::ALL);
        let constraint = |name| self.constraints.as_ref()?.member(name);
        let fields = kind.schema().fields.fields.iter().enumerate();
        let mut accepted = fields.filter(|(place, _)| writable.contains(*place));
        accepted.all(|(place, field)| {
            let members = constraint(field.name).map(|it| &it.members);
            readable.contains(place) && members.is_none_or(shows_members)
        })
    }

    /// Returns whether the value at a path of names is shown to clients.
    pub(crate) fn shows_path(&self, kind: Kind, path: &[&str]) -> bool {
        let mut narrowing = self.constraints.as_ref();
        let is_hidden = |name: &&str| {
            let narrow = narrowing.and_then(|it| it.member(name));
            narrowing = narrow.map(|it| &it.members);
            narrow.is_some_and(|it| it.hidden)
        };
        path.first().is_none_or(|field| self.shows(kind, field)) && !path.iter().any(is_hidden)
    }

    /// Returns the members that are accepted from bodies.
    pub(crate) fn accepted_members(&self) -> AcceptedMembers<'_> {
        AcceptedMembers {
            writable: self.writable.unwrap_or(FieldBits::ALL),
            narrowing: self.constraints.as_ref(),
            unlinked: &self.omitted_links,
            moves: true,
            merges: self.backend.merges_people(),
        }
    }

    /// Returns whether an operation is offered. For lists, this is the list of all records.
    pub(crate) fn offers(&self, kind: Kind, operation: Operation) -> bool {
        let is_registered = match operation {
            Operation::List => self.has_full_collection,
            operation => self.backend.has(kind, operation),
        };
        is_registered && !self.withdrawn.contains(&operation)
    }

    /// Returns whether the collection in this scope is offered.
    pub(crate) fn lists(&self, kind: Kind, scope: &Scope) -> bool {
        match scope {
            Scope::All => self.offers(kind, Operation::List),
            Scope::Under(parent) => self.is_listed_under(kind, parent.kind),
        }
    }

    /// Returns whether the collection under each record of another kind is offered.
    pub(crate) fn is_listed_under(&self, kind: Kind, parent: Kind) -> bool {
        self.backend.has(kind, Operation::List) && self.scopes.contains(&parent)
    }
}
