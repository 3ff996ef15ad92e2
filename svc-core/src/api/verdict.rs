//! Which methods a target has, and what right each needs (UND-35, UND-39).

use http::Method;

use super::Api;
use crate::{
    auth::{Operation, Right},
    helper::HelperName,
    link::{Address, Scope, Target},
    model::Kind,
};

/// What a request on a target needs, before anything of it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No key (ENT-01, ENT-22, UND-40).
    Public,
    /// A key with this right.
    Needs {
        /// The right.
        right: Right,
        /// Whether the request may also come without a key (AUT-06).
        anonymous: bool,
        /// Whether it has a body.
        takes_body: bool,
    },
    /// Not supported here: 500 `NOT_IMPLEMENTED` (ERR-07).
    NotImplemented,
}

impl Api {
    /// What a method on a target needs. `HEAD` counts as `GET`, and `PATCH` as `PUT` where that is switched on.
    #[must_use]
    pub fn verdict(&self, method: &Method, target: &Target) -> Verdict {
        let needs = |kind, operation, takes_body| {
            if self.slots(kind).offers(operation) {
                Verdict::Needs { right: Right::On(kind, operation), anonymous: false, takes_body }
            } else {
                Verdict::NotImplemented
            }
        };
        match (self.method(method), target) {
            (
                Method::GET,
                Target::EntryPoint
                | Target::Docs
                | Target::DocsPage(_)
                | Target::Explorer(_)
                | Target::Capabilities
                | Target::OpenApi
                | Target::JsonSchema(_),
            ) => Verdict::Public,
            (Method::GET, Target::Collection { kind, scope }) if self.slots(*kind).lists(scope) => {
                Verdict::Needs { right: Right::On(*kind, Operation::List), anonymous: false, takes_body: false }
            }
            (Method::POST, Target::Collection { kind, scope }) if creates_here(*kind, scope) => {
                self.create_verdict(*kind, scope)
            }
            (Method::GET, Target::Record(Address { kind, .. })) => needs(*kind, Operation::Read, false),
            (Method::PUT, Target::Record(Address { kind, .. })) => needs(*kind, Operation::Update, true),
            (Method::DELETE, Target::Record(Address { kind, .. })) => needs(*kind, Operation::Delete, false),
            (Method::POST, Target::Helper { helper, .. }) => self.helper_verdict(*helper, true),
            (Method::DELETE, Target::Helper { helper: helper @ HelperName::Schedule, .. }) => {
                self.helper_verdict(*helper, false)
            }
            _ => Verdict::NotImplemented,
        }
    }

    /// A sign-up on the people collection needs its create right (HLP-19), as an inline person does (UND-31).
    fn create_verdict(&self, kind: Kind, scope: &Scope) -> Verdict {
        let below_unread = match scope {
            Scope::All => false,
            Scope::Under(parent) => !self.slots(parent.kind).offers(Operation::Read),
        };
        if below_unread || !self.slots(kind).offers(Operation::Create) {
            return Verdict::NotImplemented;
        }
        Verdict::Needs { right: Right::On(kind, Operation::Create), anonymous: false, takes_body: true }
    }

    fn helper_verdict(&self, helper: HelperName, takes_body: bool) -> Verdict {
        if !self.inner.helpers.contains_key(&helper) {
            return Verdict::NotImplemented;
        }
        let anonymous = helper.may_be_anonymous() && self.inner.settings.anonymous.is_some();
        Verdict::Needs { right: Right::Helper(helper), anonymous, takes_body }
    }

    /// `HEAD` as `GET`, `PATCH` as `PUT` where that is switched on.
    #[must_use]
    pub fn method(&self, method: &Method) -> Method {
        match *method {
            Method::HEAD => Method::GET,
            Method::PATCH if self.inner.settings.patch_is_put => Method::PUT,
            _ => method.clone(),
        }
    }

    /// The methods that a target has on this server, for `Allow` (UND-28).
    #[must_use]
    pub fn allowed_methods(&self, target: &Target) -> Vec<Method> {
        let all = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
        let supported = all.into_iter().filter(|method| self.verdict(method, target) != Verdict::NotImplemented);
        supported.chain([Method::OPTIONS]).collect()
    }
}

/// Where records of a kind are created: in the collection of all, or under the container that the kind names (UND-12).
fn creates_here(kind: Kind, scope: &Scope) -> bool {
    match scope {
        Scope::All => kind.schema().parent.is_none(),
        // A canvass is recorded by its helper only (UND-38), which is registered without `Create`.
        Scope::Under(parent) => kind.schema().parent_kind() == Some(parent.kind),
    }
}
