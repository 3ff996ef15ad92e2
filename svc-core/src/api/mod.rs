//! The built API, and how it responds to a request.
//!
//! A [`Request`] is [resolved](Api::resolve) to a [`ResolvedRequest`].
//! [Authorization](ResolvedRequest::authorize) turns that into an [`AuthorizedRequest`], or into an
//! error response. Only an [`AuthorizedRequest`] reaches a backend.

mod admitted;
mod builder;
mod capabilities;
mod classify;
mod collect_problems;
pub(crate) mod document_renderer;
mod execute;
mod extensions;
mod introspection;
mod list_request;
mod membership_filter;
mod offered_operation;
mod operation_store;
mod preferences;
mod registration;
mod request;
mod resolve;
mod resource_config;
mod response;
mod settings;
mod shown;
mod stored_bodies;
mod write;
mod write_response;

use std::{collections::BTreeMap, fmt, sync::Arc};

pub use crate::link::VendorRelations;
pub use admitted::AuthorizedRequest;
pub use builder::{ApiBuilder, BuildError, KeptKind};
pub use capabilities::{capabilities, json_schema_names, type_name};
#[cfg(feature = "webhooks")]
pub use extensions::webhooks::WebhookSources;
pub use extensions::{
    batch::{BatchEntry, BatchRun, MAX_BATCH_ENTRIES},
    changes::{EventStream, WaitLimits},
    conditional::{EntityTag, EntityTagCondition, IfMatchPolicy},
    operations,
};
pub use offered_operation::OfferedOperation;
pub use request::{Request, RequestTarget, Timer};
pub use resolve::ResolvedRequest;
pub use resource_config::ResourceConfig;
pub use response::{ContentType, Response};
use settings::ApiSettings;
pub use settings::{ApiLimits, Behaviour, EntryLinks, ErrorBodies, PatchMethod, Vendor};

pub use crate::{helper::Atomicity, operation::ResponseStyle};
pub(crate) use registration::KindRegistration;

use extensions::{Extensions, idempotency::NextSweep};
use operation_store::HelperBackend;
use stored_bodies::StoredBodies;
use write_response::WriteRenderer;

use crate::{
    context::{BaseUrl, Context},
    hal::{Hal, RelationNames},
    helper::{FunctionName, HelperName},
    link::{Dialect, Target},
    model::Kind,
    operation::ExtensionName,
    page::{PageRequest, QueryParameter},
    read::{BodyReader, LinkReader},
    schema::Constraints,
    store::Store,
};

/// A built API. It offers, links and declares exactly what is registered.
///
/// Cloning is cheap.
///
/// Requirements: CAP-04.
#[derive(Clone)]
pub struct Api {
    inner: Arc<ApiInner>,
    /// Whether the HTTP layer serves the `OpenAPI` document.
    has_openapi: bool,
}

struct ApiInner {
    settings: ApiSettings,
    base: BaseUrl,
    relations: RelationNames,
    /// The constraints of people, for the context of each request.
    person_constraints: Arc<Constraints>,
    /// One entry for each kind, in the order of [`Kind::ALL`].
    registered: Vec<KindRegistration>,
    helpers: BTreeMap<HelperName, HelperBackend>,
    /// Where every record is read and written.
    store: Arc<dyn Store>,
    functions: Vec<FunctionName>,
    next_sweep: NextSweep,
    stored_bodies: StoredBodies,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("vendor", &self.inner.settings.vendor)
            .field("base", &self.inner.base)
            .finish_non_exhaustive()
    }
}

impl Api {
    /// Returns a builder of an API.
    #[must_use]
    pub fn builder(vendor: Vendor) -> ApiBuilder {
        ApiBuilder::new(vendor)
    }

    /// Returns the store of the API.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.inner.store)
    }

    /// Adds a link to the `OpenAPI` document to the entry point.
    ///
    /// For HTTP layers that serve the document, such as `svc-tower`.
    ///
    /// Requirements: UND-40.
    #[must_use]
    pub fn with_openapi(mut self) -> Self {
        self.has_openapi = true;
        self
    }

    /// Returns the names that this deployment uses.
    #[must_use]
    pub fn dialect(&self) -> &Dialect {
        &self.inner.relations.dialect
    }

    /// Returns the base URL: the absolute URL of the entry point.
    ///
    /// Requirements: HAL-01.
    #[must_use]
    pub fn base_url(&self) -> &BaseUrl {
        &self.inner.base
    }

    /// Returns the target of a path, or `None` if the path is unknown.
    ///
    /// The path is relative to the base URL, without a leading slash and without a query.
    ///
    /// Requirements: UND-35.
    #[must_use]
    pub fn route(&self, path: &str) -> Option<Target> {
        self.inner.settings.layout.route(path)
    }

    /// Returns the absolute URL of a target under a base URL.
    #[must_use]
    pub fn url(&self, base: &BaseUrl, target: &Target) -> String {
        self.hal(base).href(target)
    }

    /// Returns a description of person matching, and of the policy for anonymous callers if they
    /// are allowed.
    ///
    /// Requirements: HLP-05.
    #[must_use]
    pub fn person_matching_description(&self) -> String {
        let settings = &self.inner.settings;
        let strangers = self
            .allows_anonymous()
            .then(|| settings.strangers.description());
        std::iter::once(settings.matching.description())
            .chain(strangers)
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Returns the limits of pages and bodies.
    #[must_use]
    pub fn limits(&self) -> ApiLimits {
        self.inner.settings.sizes
    }

    /// Returns the query parameters of collections.
    ///
    /// Requirements: COL-29, UND-14.
    #[must_use]
    pub fn collection_parameters(&self) -> Vec<QueryParameter> {
        let ApiLimits {
            default_page_size: page,
            max_page_size: max_page,
            ..
        } = self.limits();
        PageRequest::parameters(page, max_page)
    }

    /// Returns the names and the version that the server reports on the entry point.
    #[must_use]
    pub fn vendor(&self) -> &Vendor {
        &self.inner.settings.vendor
    }

    /// Returns whether the server offers webhooks.
    ///
    /// Requirements: HOOK-01.
    #[must_use]
    pub fn has_webhooks(&self) -> bool {
        self.extensions().has(ExtensionName::Webhooks)
    }

    /// Returns the relation of the webhooks.
    ///
    /// Requirements: HOOK-01.
    #[must_use]
    pub fn webhooks_relation(&self) -> String {
        self.dialect().relation(ExtensionName::Webhooks.relation())
    }

    fn extensions(&self) -> &Extensions {
        &self.inner.settings.extensions
    }

    fn registered(&self, kind: Kind) -> &KindRegistration {
        static NOTHING: std::sync::LazyLock<KindRegistration> =
            std::sync::LazyLock::new(KindRegistration::default);
        self.inner.registered.get(kind as usize).unwrap_or(&NOTHING)
    }

    pub(crate) fn hal<'a>(&'a self, base: &'a BaseUrl) -> Hal<'a> {
        Hal {
            base: base.as_str(),
            layout: self.inner.settings.layout.as_ref(),
            relations: &self.inner.relations,
            caller: None,
        }
    }

    /// Returns the context for rendering records for the caller of a request.
    pub(crate) fn hal_for<'a>(&'a self, cx: &'a Context) -> Hal<'a> {
        Hal {
            caller: Some(cx.caller()),
            ..self.hal(cx.base())
        }
    }

    fn bodies<'a>(&'a self, cx: &'a Context) -> BodyReader<'a> {
        let links = LinkReader {
            base: cx.base(),
            layout: self.inner.settings.layout.as_ref(),
            dialect: self.dialect(),
        };
        BodyReader {
            links,
            namespace: &self.inner.relations.namespace,
            limits: &self.inner.settings.sizes.json,
            caps: cx.limits(),
            now: cx.received_at(),
            reports_ignored: false,
        }
    }
}
