//! The builder of an API: it registers what a server supports and checks that it is consistent.

mod composed;
mod constraints;
mod deliver;
mod error_mapper;
mod functions;
mod partial_store;
mod stores;
mod validate;
mod withdrawn;

pub use partial_store::KeptKind;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use super::{
    Api, ApiInner,
    extensions::{
        Extension,
        idempotency::{NextSweep, ResponseStorage},
    },
    membership_filter,
    operation_store::{HelperBackend, NativeHelper, OperationStore},
    registration::KindRegistration,
    resource_config::ResourceConfig,
    settings::{ApiLimits, ApiSettings, Behaviour, EntryLinks, ErrorBodies, PatchMethod, Vendor},
    stored_bodies::StoredBodies,
};
use crate::{
    auth::{Authenticator, Operation, TenantResolver},
    backend::Helper,
    context::BaseUrl,
    hal::{DocumentSettings, ExternalDocs, RecordLink, RelationNames},
    helper::{
        AnonymousPolicy, Atomicity, FunctionName, HelperName, HelperSpec, OneActionHelper,
        PersonMatching,
    },
    link::{Dialect, Layout, VendorRelations},
    model::{Kind, Resource},
    operation::ResponseStyle,
    schema::{Constraints, LinkSpec, LinkTarget},
    store::Store,
};

/// The error of [`ApiBuilder::build`]. It has every contradiction, not only the first one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the API cannot be built:\n  - {}", .problems.join("\n  - "))]
#[non_exhaustive]
pub struct BuildError {
    problems: Vec<String>,
}

impl BuildError {
    /// Returns the contradictions. Each one names the problem and how to fix it.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

/// Registers the operations and settings of an API. The order of the calls does not matter.
///
/// # Examples
///
/// The error of an incomplete API lists every problem:
///
/// ```
/// # use std::sync::Arc;
/// # use svc_core::{Context, Delete, DeleteRequest, Result, model::Signature};
/// use svc_core::{Api, Vendor, api::ResourceConfig};
///
/// struct Crm;
/// # #[async_trait::async_trait]
/// # impl Delete<Signature> for Crm {
/// #     async fn delete(&self, _: &Context, _: &DeleteRequest) -> Result<bool> { Ok(false) }
/// # }
/// // impl Delete<Signature> for Crm { ... }
///
/// let api = Api::builder(Vendor::new("Acme", "Acme CRM"))
///     .base_url("crm.example.org")
///     .resource::<Signature, _>(&Arc::new(Crm), ResourceConfig::delete)
///     .build();
/// let error = api.unwrap_err();
/// let problems = error.problems();
/// assert_eq!(problems.len(), 2);
/// assert!(problems[0].contains("`crm.example.org` is not a valid base URL"));
/// assert!(problems[1].contains("call `.authenticator(...)`"));
/// ```
pub struct ApiBuilder {
    pub(super) settings: ApiSettings,
    base: Option<BaseUrl>,
    wrong: Vec<String>,
    dialect: Dialect,
    kinds: BTreeMap<Kind, KindRegistration>,
    helpers: BTreeMap<HelperName, HelperBackend>,
    functions: Option<Vec<FunctionName>>,
    /// The action functions of a store. They are offered unless `action_functions` names some.
    stock: Option<Vec<FunctionName>>,
    /// The store that schedules messages. The helper is offered if a delivery is registered.
    scheduling: Option<Arc<dyn Store>>,
    /// The helpers that the rules compose, even if a backend executes them.
    composed: BTreeSet<HelperName>,
    /// The capabilities to remove after everything is registered.
    without: BTreeSet<String>,
    narrowings: Vec<(Kind, Constraints)>,
    /// The operations that are not offered for any kind.
    withheld: &'static [Operation],
    docs: Option<ExternalDocs>,
    own: Option<VendorRelations>,
}

impl fmt::Debug for ApiBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiBuilder")
            .field("kinds", &self.kinds.keys())
            .finish_non_exhaustive()
    }
}

impl ApiBuilder {
    pub(super) fn new(vendor: Vendor) -> Self {
        Self {
            settings: ApiSettings::new(vendor),
            base: None,
            wrong: Vec::new(),
            dialect: Dialect::default(),
            kinds: BTreeMap::new(),
            helpers: BTreeMap::new(),
            functions: None,
            stock: None,
            scheduling: None,
            composed: BTreeSet::new(),
            without: BTreeSet::new(),
            narrowings: Vec::new(),
            withheld: &[],
            docs: None,
            own: None,
        }
    }

    /// Sets the base URL: the public URL of the entry point, such as
    /// `https://crm.example.org/api/v1/`.
    ///
    /// A missing or invalid base URL is a build error.
    ///
    /// Requirements: HAL-01.
    #[must_use]
    pub fn base_url(mut self, url: &str) -> Self {
        let base = BaseUrl::new(url);
        if base.is_none() {
            self.wrong.push(format!(
                "`{url}` is not a valid base URL: use an absolute http or https URL without a query"
            ));
        }
        // An invalid base URL counts as set, because it is already reported.
        self.base = Some(base.unwrap_or_default());
        self
    }

    /// Sets the names that replace those of the specification.
    ///
    /// Requirements: HAL-09 to HAL-11.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Sets the layout of URL paths.
    ///
    /// Requirements: HAL-05.
    #[must_use]
    pub fn layout(mut self, layout: impl Layout + 'static) -> Self {
        self.settings.layout = Arc::new(layout);
        self
    }

    /// Sets the authenticator, which determines the tenant and the caller of a request. Required.
    ///
    /// Requirements: AUT-01.
    #[must_use]
    pub fn authenticator(mut self, authenticator: impl Authenticator + 'static) -> Self {
        self.settings.authenticator = Some(Arc::new(authenticator));
        self
    }

    /// Allows anonymous calls of the record helpers. `tenants` returns the tenant of the addressed
    /// container.
    ///
    /// Requirements: AUT-06.
    #[must_use]
    pub fn anonymous_helpers(mut self, tenants: impl TenantResolver + 'static) -> Self {
        self.settings.anonymous = Some(Arc::new(tenants));
        self
    }

    /// Offers a kind.
    ///
    /// `expose` names the operations of the store. It compiles only if the store implements them.
    #[must_use]
    pub fn resource<R: Resource, S: Send + Sync + 'static>(
        mut self,
        store: &Arc<S>,
        expose: impl FnOnce(ResourceConfig<R, S>) -> ResourceConfig<R, S>,
    ) -> Self {
        let registered = expose(ResourceConfig::new(store)).into_registration();
        self.offer_kind(R::KIND, registered);
        self
    }

    /// Offers a native helper: the backend executes it itself.
    ///
    /// Requirements: HLP-01.
    #[must_use]
    pub fn helper<H: HelperSpec>(mut self, store: &Arc<impl Helper<H> + 'static>) -> Self {
        self.offer_helper(
            H::NAME,
            HelperBackend::Native(NativeHelper::new::<H>(store)),
        );
        self
    }

    /// Offers a helper that the rules compose of the registered operations.
    ///
    /// It replaces the native implementation of a store.
    ///
    /// Required are `get` of the container, `create` of the action, and `create` and `update` of
    /// people. Optional are:
    ///
    /// - `find` of people: matches people who already exist.
    /// - `find` of the action: makes retries safe.
    /// - `list_under` people of answers: a retry does not record its answers again.
    /// - `find` and `create` of tags, taggings, lists, items, questions and answers: its action
    ///   functions.
    ///
    /// Requirements: HLP-10, HLP-04, UND-24.
    #[must_use]
    pub fn compose_helper<H: HelperSpec>(mut self) -> Self {
        if !self.composed.insert(H::NAME) {
            self.report_second_helper(H::NAME);
        }
        self
    }

    fn offer_kind(&mut self, kind: Kind, registered: KindRegistration) {
        if self.kinds.insert(kind, registered).is_some() {
            self.wrong.push(format!(
                "{} are registered twice: register each kind once",
                kind.plural()
            ));
        }
    }

    fn offer_helper(&mut self, helper: HelperName, backend: HelperBackend) {
        if self.helpers.insert(helper, backend).is_some() {
            self.report_second_helper(helper);
        }
    }

    fn report_second_helper(&mut self, helper: HelperName) {
        self.wrong.push(format!(
            "the helper `{}` is registered twice: register each helper once",
            helper.as_str()
        ));
    }

    /// Sets the action functions that native helpers support; none by default.
    ///
    /// Composed helpers support the functions for which `Find` and `Create` are registered. If
    /// functions are named here, they support only those of them.
    ///
    /// Requirements: HAF-01.
    #[must_use]
    pub fn action_functions(mut self, functions: impl IntoIterator<Item = FunctionName>) -> Self {
        self.functions = Some(functions.into_iter().collect());
        self
    }

    /// Limits a helper of a store to one action of each person in a container: a further request for a
    /// person changes the newest action.
    ///
    /// - A request with a key gets 200 with this action. Sent values replace stored ones, and what was
    ///   not sent stays. If every value is equal, nothing changes. An answer is recorded if it differs
    ///   from the newest one.
    /// - An anonymous request never changes an action. It records another one only if its content
    ///   differs from the newest one; dates, the origin system and referrer data are not compared.
    ///   The response is the same in both cases.
    /// - An attendance with tickets, or at an event with ticket levels, is always a new one.
    ///
    /// Operations of a vendor and native helpers do not support this. The option is then a build
    /// error.
    ///
    /// Requirements: HLP-04, HLP-07.
    #[must_use]
    pub fn one_action_per_person<H: OneActionHelper>(mut self) -> Self {
        let declared = (H::NAME, H::BEHAVIOUR);
        if !self.settings.one_action.contains(&declared) {
            self.settings.one_action.push(declared);
        }
        self
    }

    /// Removes a registered capability by its name: `<collection>.<operation>`,
    /// `<collection>.sub.<name>`, `helper.<name>` or `haf.<name>`.
    ///
    /// An unknown name is a build error.
    #[must_use]
    pub fn without_capability(mut self, capability: &str) -> Self {
        self.without.insert(capability.to_owned());
        self
    }

    /// Offers helpers only, and no operation on collections.
    ///
    /// Requirements: CAP-10.
    #[must_use]
    pub fn helpers_only(mut self) -> Self {
        self.withheld = Operation::ALL;
        self
    }

    /// Sets the method of person matching and its published description.
    ///
    /// Requirements: HLP-04, HLP-05.
    #[must_use]
    pub fn person_matching(mut self, matching: impl PersonMatching + 'static) -> Self {
        self.settings.matching = Arc::new(matching);
        self
    }

    /// Sets what anonymous callers may do, if [they are allowed](Self::anonymous_helpers).
    ///
    /// Requirements: HLP-04, HLP-07.
    #[must_use]
    pub fn anonymous_policy(mut self, strangers: AnonymousPolicy) -> Self {
        self.settings.strangers = strangers;
        self
    }

    /// Selects the response style.
    #[must_use]
    pub fn response_style(mut self, style: ResponseStyle) -> Self {
        self.settings.style = style;
        self
    }

    /// Selects the collections that the entry point links.
    #[must_use]
    pub fn entry_links(mut self, links: EntryLinks) -> Self {
        self.settings.entry_links = links;
        self
    }

    /// Sets the limits of pages and bodies.
    #[must_use]
    pub fn limits(mut self, sizes: ApiLimits) -> Self {
        self.settings.sizes = sizes;
        self
    }

    /// Sets whether 401, 403 and the 404 of a read also have the error object.
    ///
    /// Requirements: ERR-11, AUT-05.
    #[must_use]
    pub fn error_bodies(mut self, error_bodies: ErrorBodies) -> Self {
        self.settings.error_bodies = error_bodies;
        self
    }

    /// Sets what remains of a helper request if one part fails.
    ///
    /// Composed helpers need [`transactions`](Self::transactions) for [`Atomicity::WholeCall`].
    ///
    /// Requirements: ERR-34.
    #[must_use]
    pub fn atomicity(mut self, atomicity: Atomicity) -> Self {
        self.settings.atomicity = atomicity;
        self
    }

    /// Sets the meaning of `PATCH` on a record. By default `PATCH` is not supported.
    #[must_use]
    pub fn patch_method(mut self, patch: PatchMethod) -> Self {
        self.settings.patch = patch;
        self
    }

    /// Declares a behaviour of the backend.
    #[must_use]
    pub fn behaviour(mut self, behaviour: Behaviour) -> Self {
        self.settings.behaviours.push(behaviour);
        self
    }

    /// Sets the base URL of the requirement pages, as `svc-conformance catalogue` writes them.
    ///
    /// The documentation then links the requirement of each field and link to its page.
    #[must_use]
    pub fn requirement_pages(mut self, url: impl Into<String>) -> Self {
        self.settings.rule_pages = Some(url.into());
        self
    }

    /// Replaces the built-in documentation pages with external ones.
    ///
    /// `start` is the URL of the start page. `pages` is the URL prefix of the relations; the curie
    /// appends `{rel}` to it. The curie of extensions uses the same prefix.
    ///
    /// Requirements: ENT-22.
    #[must_use]
    pub fn external_docs(mut self, start: impl Into<String>, pages: impl Into<String>) -> Self {
        self.docs = Some(ExternalDocs {
            start: start.into(),
            pages: pages.into(),
        });
        self
    }

    /// Adds relations of the vendor, under the vendor's namespace.
    ///
    /// Requirements: ENT-27.
    #[must_use]
    pub fn vendor_relations(mut self, relations: VendorRelations) -> Self {
        self.own = Some(relations);
        self
    }

    /// Returns the store of the API: the registered one, or one of the registered operations.
    fn store_of(&self, registered: &[KindRegistration]) -> Arc<dyn Store> {
        let settings = &self.settings;
        let operations = OperationStore {
            kinds: registered.iter().map(|it| it.backend.clone()).collect(),
            comparable: Kind::ALL
                .iter()
                .zip(registered)
                .filter(|(kind, it)| it.shows_what_it_accepts(**kind))
                .map(|(kind, _)| *kind)
                .collect(),
            helpers: self.helpers.clone(),
            lists_answers: registered
                .get(Kind::Answer as usize)
                .is_some_and(|it| it.is_listed_under(Kind::Answer, Kind::Person)),
            store: settings.store.clone(),
            responses: match &settings.extensions.idempotency {
                Some(ResponseStorage::Vendor(responses)) => Some(Arc::clone(responses)),
                _ => None,
            },
            transactions: settings.transactions.clone(),
            matching: Arc::clone(&settings.matching),
            errors: settings.classify.clone(),
        };
        match operations.only_store() {
            Some(store) => Arc::clone(store),
            None => Arc::new(operations),
        }
    }

    /// Builds the API.
    ///
    /// # Errors
    ///
    /// Returns every contradiction in what was registered.
    pub fn build(mut self) -> Result<Api, BuildError> {
        let composed = std::mem::take(&mut self.composed);
        self.helpers.extend(
            composed
                .into_iter()
                .map(|helper| (helper, HelperBackend::Composed)),
        );
        self.resolve_delivery();
        self.resolve_undo();
        self.resolve_merges();
        self.resolve_batches();
        let missing = membership_filter::never_registered(&self.kinds);
        self.wrong.extend(missing);
        self.withdraw_capabilities();
        self.merge_constraints();
        membership_filter::remove_unsupported(&mut self.kinds);
        let problems = self.contradictions();
        if !problems.is_empty() {
            return Err(BuildError { problems });
        }
        let functions = self.supported_functions();
        let registered: Vec<KindRegistration> = Kind::ALL
            .iter()
            .map(|kind| self.kinds.get(kind).cloned().unwrap_or_default())
            .collect();
        let store = self.store_of(&registered);
        self.add_remaining_people(&store);
        let at = |kind: Kind| registered.get(kind as usize);
        let is_sent = |kind: Kind, link: &LinkSpec| match link.target {
            LinkTarget::Many { kind: member, .. } => {
                at(member).is_some_and(|registered| registered.is_listed_under(member, kind))
            }
            LinkTarget::One { kind: target, .. } => {
                at(target).is_some_and(|registered| registered.offers(target, Operation::Read))
                    && at(kind)
                        .is_some_and(|registered| !registered.omitted_links.contains(&link.name))
            }
            LinkTarget::Helper(helper) => self.helpers.contains_key(&helper),
        };
        let readable = |kind: Kind| {
            at(kind).map(|registered| (registered.readable, registered.constraints.as_ref()))
        };
        let person_constraints = at(Kind::Person).and_then(|people| people.constraints.clone());
        let person_constraints = Arc::new(person_constraints.unwrap_or_default());
        let namespace = self.settings.vendor.namespace.as_str().into();
        let documents = DocumentSettings {
            dialect: self.dialect,
            namespace,
            docs: self.docs,
            own: self.own,
        };
        let extensions = &self.settings.extensions;
        let operations: Vec<RecordLink> = extensions
            .offered()
            .flat_map(Extension::record_links)
            .copied()
            .collect();
        let layout = self.settings.layout.as_ref();
        let relations = RelationNames::new(documents, layout, &operations, readable, is_sent);
        Ok(Api {
            inner: Arc::new(ApiInner {
                store,
                settings: self.settings,
                base: self.base.unwrap_or_default(),
                relations,
                person_constraints,
                registered,
                helpers: self.helpers,
                functions,
                next_sweep: NextSweep::default(),
                stored_bodies: StoredBodies::new(),
            }),
            has_openapi: false,
        })
    }
}
