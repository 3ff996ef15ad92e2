//! What a vendor registers for a kind: operations, scopes and constraints of fields.
//!
//! Requirements: CAP-04 to CAP-07.

mod constraints;

use std::{marker::PhantomData, sync::Arc};

use super::{
    operation_store::{KindOperations, TypedOperation},
    registration::{KindBackend, KindRegistration},
};
use crate::{
    backend::{Create, Delete, Find, Get, List, MergePeople, Update},
    field_set::{FieldSet, LinkKey, WritableSet},
    filter::FilterField,
    model::{Person, Resource, Under},
    names::Operation,
};

/// Configures the operations of a store that are offered for the kind `R`.
///
/// A method compiles only if the store implements its operation.
pub struct ResourceConfig<R, S> {
    store: Arc<S>,
    operations: KindOperations,
    registered: KindRegistration,
    kind: PhantomData<fn() -> R>,
}

impl<R: Resource, S: Send + Sync + 'static> ResourceConfig<R, S> {
    pub(super) fn new(store: &Arc<S>) -> Self {
        Self {
            store: Arc::clone(store),
            operations: KindOperations::default(),
            registered: KindRegistration::default(),
            kind: PhantomData,
        }
    }

    /// Returns what is registered.
    pub(super) fn into_registration(self) -> KindRegistration {
        KindRegistration {
            backend: KindBackend::Operations(self.operations),
            ..self.registered
        }
    }

    fn typed(&self) -> Arc<TypedOperation<R, S>> {
        Arc::new(TypedOperation::new(&self.store))
    }

    /// Offers the collection of all records.
    ///
    /// Requirements: COL-01.
    #[must_use]
    pub fn list(mut self) -> Self
    where
        S: List<R>,
    {
        self.operations.list = Some(self.typed());
        self.registered.has_full_collection = true;
        self
    }

    /// Offers the collection under each `Parent`, such as the signatures of a petition.
    ///
    /// Requirements: COL-04 to COL-18.
    #[must_use]
    pub fn list_under<Parent: Resource>(mut self) -> Self
    where
        S: List<R>,
        R: Under<Parent>,
    {
        self.operations.list = Some(self.typed());
        self.registered.scopes.push(Parent::KIND);
        self
    }

    /// Sets the fields by which the collection of all records can be filtered. It can be ordered by
    /// the dates among them.
    ///
    /// The library parses each filter. It rejects a filter that compares another field or has no
    /// [plan](crate::ListRequest::query_plan). Other filters are passed to [`List`] in the request.
    /// Filters by a [membership](FilterField::membership), such as a tag, are not: the library lists
    /// the members, and reads the record of each.
    ///
    /// Name only fields that have an index in the backend. Fields that are not readable are
    /// removed, because a filter could reveal them.
    ///
    /// Requirements: FLT-01, FLT-09.
    #[must_use]
    pub fn filter_fields(mut self, fields: impl IntoIterator<Item = FilterField>) -> Self
    where
        S: List<R>,
    {
        for field in fields {
            if !self.registered.filterable.contains(&field) {
                self.registered.filterable.push(field);
            }
        }
        self.registered.filterable.sort_unstable();
        self
    }

    /// Offers reading one record.
    ///
    /// Requirements: COL-03.
    #[must_use]
    pub fn get(mut self) -> Self
    where
        S: Get<R>,
    {
        self.operations.get = Some(self.typed());
        self
    }

    /// Offers creating records.
    ///
    /// Requirements: CRU-01.
    #[must_use]
    pub fn create(mut self) -> Self
    where
        S: Create<R>,
    {
        self.operations.create = Some(self.typed());
        self.operations.checks_container = self.store.checks_container();
        self
    }

    /// Offers changing records.
    ///
    /// Requirements: CRU-04.
    #[must_use]
    pub fn update(mut self) -> Self
    where
        S: Update<R>,
    {
        self.operations.update = Some(self.typed());
        self
    }

    /// Offers deleting records.
    ///
    /// Requirements: CRU-05.
    #[must_use]
    pub fn delete(mut self) -> Self
    where
        S: Delete<R>,
    {
        self.operations.delete = Some(self.typed());
        self
    }

    /// Offers every operation that the specification has for this kind, and all of its collections.
    #[must_use]
    pub fn all_operations(mut self) -> Self
    where
        S: List<R> + Get<R> + Create<R> + Update<R> + Delete<R>,
    {
        let has = |operation| R::SCHEMA.has_operation(operation);
        self.operations.list = Some(self.typed());
        self.registered.has_full_collection = has(Operation::List);
        self.registered.scopes = R::SCHEMA.scope_kinds().collect();
        self.operations.get = has(Operation::Read).then(|| self.typed() as _);
        self.operations.create = has(Operation::Create).then(|| self.typed() as _);
        self.operations.checks_container = self.store.checks_container();
        self.operations.update = has(Operation::Update).then(|| self.typed() as _);
        self.operations.delete = has(Operation::Delete).then(|| self.typed() as _);
        self
    }

    /// Lets composed helpers look up records.
    ///
    /// Requirements: HAF-02, HLP-04.
    #[must_use]
    pub fn find(mut self) -> Self
    where
        S: Find<R>,
    {
        self.operations.find = Some(self.typed());
        self
    }

    /// Omits a link to one record that the store does not have, such as `petition::link::creator`.
    /// It is neither sent nor declared.
    #[must_use]
    pub fn without_link(mut self, key: LinkKey<R>) -> Self {
        self.registered.omitted_links.push(key.name());
        self
    }

    /// Sends only these fields, even if the backend returns more.
    ///
    /// Members of an object or of a list of objects can be named:
    /// `fields!(person::{given_name, email_addresses::{address, primary}})`.
    #[must_use]
    pub fn readable_fields(mut self, fields: FieldSet<R>) -> Self {
        self.registered.readable = Some(fields.bits());
        self.narrowed(fields.others(|narrow| narrow.hidden = true))
    }

    /// Accepts only these fields from clients and ignores others.
    ///
    /// Members are named as for [`readable_fields`](Self::readable_fields). A member in neither set
    /// does not exist on this server.
    ///
    /// Requirements: CAP-06.
    #[must_use]
    #[allow(clippy::needless_pass_by_value, reason = "a set is made for each call")]
    pub fn writable_fields(mut self, fields: WritableSet<R>) -> Self {
        let fields = fields.fields();
        self.registered.writable = Some(fields.bits());
        self.narrowed(fields.others(|narrow| narrow.read_only = true))
    }
}

impl<S: Send + Sync + 'static> ResourceConfig<Person, S> {
    /// Executes merges of two people with the backend. [`ApiBuilder::merge_people`] offers them to clients.
    ///
    /// Requirements: MRG-01.
    ///
    /// [`ApiBuilder::merge_people`]: crate::ApiBuilder::merge_people
    #[must_use]
    pub fn merge(mut self) -> Self
    where
        S: MergePeople,
    {
        self.operations.merge = Some(Arc::<S>::clone(&self.store));
        self
    }
}

impl<R, S> std::fmt::Debug for ResourceConfig<R, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResourceConfig").finish_non_exhaustive()
    }
}
