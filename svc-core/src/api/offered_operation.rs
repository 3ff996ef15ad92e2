//! The operations that a server offers on each target.
//!
//! Requirements: CAP-04, UND-35, UND-39.

use http::Method;

use super::{Api, PatchMethod, extensions::operations};
use crate::{
    auth::{Operation, Right},
    link::{Scope, Target},
    model::Kind,
    operation::{KeyRequirement, OperationSpec, RequiredRight, TargetShape},
};

/// An operation that a server offers on a target.
#[derive(Debug, Clone, Copy)]
pub struct OfferedOperation {
    spec: &'static OperationSpec,
    right: Option<Right>,
    key: KeyRequirement,
}

impl OfferedOperation {
    /// Returns the operation.
    #[must_use]
    pub fn spec(&self) -> &'static OperationSpec {
        self.spec
    }

    /// Returns the right that the operation needs, or `None` if it needs no right.
    #[must_use]
    pub fn right(&self) -> Option<Right> {
        self.right
    }

    /// Returns whether the operation needs a key on this server.
    #[must_use]
    pub fn key_requirement(&self) -> KeyRequirement {
        self.key
    }
}

impl Api {
    /// Returns the operation of a method on a target, or `None` if this server does not offer it.
    ///
    /// `HEAD` is treated as `GET`. `PATCH` is treated as `PUT` if that is enabled.
    ///
    /// Requirements: ERR-07.
    #[must_use]
    pub fn operation(&self, method: &Method, target: &Target) -> Option<OfferedOperation> {
        let meant = self.effective_method(method);
        self.operations(target)
            .find(|offered| offered.spec.method == meant)
    }

    /// Returns the operations that this server offers on a target, in the order of the operation
    /// table.
    pub fn operations<'a>(
        &'a self,
        target: &'a Target,
    ) -> impl Iterator<Item = OfferedOperation> + 'a {
        let shape = TargetShape::from_target(target);
        operations()
            .filter(move |spec| spec.shape == shape)
            .filter_map(|spec| self.offered(spec, target))
    }

    /// Returns the methods of an operation on this server: its own method, and `HEAD` or `PATCH` if
    /// they are equivalent.
    ///
    /// Requirements: UND-28.
    pub fn methods(&self, operation: &OperationSpec) -> impl Iterator<Item = Method> + use<> {
        let beside = match operation.method {
            Method::GET => Some(Method::HEAD),
            Method::PUT if self.inner.settings.patch == PatchMethod::AsPut => Some(Method::PATCH),
            _ => None,
        };
        std::iter::once(operation.method.clone()).chain(beside)
    }

    /// Returns the methods of a target on this server, for the `Allow` header.
    ///
    /// Requirements: UND-28.
    #[must_use]
    pub fn allowed_methods(&self, target: &Target) -> Vec<Method> {
        let methods = self
            .operations(target)
            .flat_map(|offered| self.methods(offered.spec));
        methods.chain([Method::OPTIONS]).collect()
    }

    /// Maps `HEAD` to `GET`, and `PATCH` to `PUT` if that is enabled.
    fn effective_method(&self, method: &Method) -> Method {
        match *method {
            Method::HEAD => Method::GET,
            Method::PATCH if self.inner.settings.patch == PatchMethod::AsPut => Method::PUT,
            _ => method.clone(),
        }
    }

    fn offered(&self, spec: &'static OperationSpec, target: &Target) -> Option<OfferedOperation> {
        if !self.extensions().admit(spec) {
            return None;
        }
        let right = spec.right(target);
        if spec.need == RequiredRight::None {
            return Some(OfferedOperation {
                spec,
                right,
                key: KeyRequirement::None,
            });
        }
        if spec.need == RequiredRight::ReadAny {
            return Some(OfferedOperation {
                spec,
                right,
                key: KeyRequirement::Required,
            });
        }
        let is_offered = match (right?, target) {
            (Right::Operation(kind, Operation::List), Target::Collection { scope, .. }) => {
                self.registered(kind).lists(kind, scope)
            }
            (Right::Operation(kind, Operation::Create), Target::Collection { scope, .. }) => {
                self.creates(kind, scope)
            }
            (Right::Operation(kind, operation), _) => self.registered(kind).offers(kind, operation),
            (Right::Helper(helper), _) => self.inner.helpers.contains_key(&helper),
            (Right::Webhooks | Right::MergePeople, _) => true,
        };
        let is_optional = self.inner.settings.anonymous.is_some() && spec.allows_anonymous(target);
        is_offered.then_some(OfferedOperation {
            spec,
            right,
            key: if is_optional {
                KeyRequirement::Optional
            } else {
                KeyRequirement::Required
            },
        })
    }

    /// Returns whether records of a kind are created here: in the collection of all records, or
    /// under the container of the kind.
    ///
    /// A sign-up on the people collection needs the create right for people, like an inline person.
    ///
    /// Requirements: UND-12, HLP-19, UND-31, UND-38.
    fn creates(&self, kind: Kind, scope: &Scope) -> bool {
        let is_here = match scope {
            Scope::All => kind.schema().parent.is_none(),
            // A canvass is recorded only by its helper, which is registered without `Create`.
            Scope::Under(parent) => {
                // A vendor's `Create` supports only containers.
                let is_below = kind.schema().is_nested_under(parent.kind)
                    && self.registered(kind).backend.store().is_some();
                let is_container = kind.schema().parent_kind() == Some(parent.kind);
                (is_container || is_below)
                    && self
                        .registered(parent.kind)
                        .offers(parent.kind, Operation::Read)
            }
        };
        is_here && self.registered(kind).offers(kind, Operation::Create)
    }
}
