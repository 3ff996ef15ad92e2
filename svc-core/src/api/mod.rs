//! The finished API: what is registered, and how each request on it is answered.
//!
//! A [`Request`] is [resolved](Api::resolve) to a [`ResolvedRequest`], which is
//! [admitted](ResolvedRequest::authorize) or not; only what is [`AuthorizedRequest`] reaches a
//! backend.

mod admitted;
mod answering;
mod builder;
mod call;
mod capabilities;
mod classify;
mod composed;
mod declared;
pub(crate) mod description;
mod exposure;
mod extensions;
mod filters;
mod handling;
mod judge;
mod lock_keys;
mod offered;
mod registry;
mod reply;
mod request;
mod respond;
mod settings;
mod shown;
mod stored_bodies;
mod transaction;
mod write;

use std::{collections::BTreeMap, fmt, sync::Arc};

pub use crate::link::VendorRelations;
pub use admitted::AuthorizedRequest;
pub use builder::{ApiBuilder, BuildError, KeptKind};
pub use call::ResolvedRequest;
pub use capabilities::{capabilities, json_schema_names, type_name};
pub use exposure::ResourceConfig;
#[cfg(feature = "webhooks")]
pub use extensions::webhooks::WebhookSources;
pub use extensions::{
    batch::{BatchEntry, BatchRun, MAX_BATCH_ENTRIES},
    changes::{EventStream, WaitLimits},
    conditional::{EntityTag, EntityTagCondition, IfMatchPolicy},
    operations,
};
pub use offered::OfferedOperation;
pub use reply::{ContentType, Response};
pub use request::{Request, RequestTarget, Timer};
use settings::ApiSettings;
pub use settings::{ApiLimits, Atomicity, Behaviour, EntryLinks, ErrorBodies, PatchMethod, Vendor};

pub use crate::operation::ResponseStyle;
pub(crate) use registry::KindRegistration;

use answering::WriteRenderer;
pub(crate) use builder::HelperRunner;
use extensions::{Extensions, idempotency::NextSweep};
use stored_bodies::StoredBodies;

use crate::{
    context::{BaseUrl, Context},
    hal::{Hal, RelationNames},
    helper::{FunctionName, HelperName},
    link::{Dialect, Target},
    model::Kind,
    operation::ExtensionName,
    page::{PageRequest, QueryParameter},
    read::{BodyReader, LinkReader},
};

/// A finished API: what is registered exists, is linked and is declared; nothing else is. Cheap to
/// clone.
///
/// Requirements: CAP-04.
#[derive(Clone)]
pub struct Api {
    inner: Arc<ApiInner>,
    /// Whether whoever serves it has its `OpenAPI` document, too.
    has_openapi: bool,
}

struct ApiInner {
    settings: ApiSettings,
    base: BaseUrl,
    relations: RelationNames,
    /// One for each kind, in the order of [`Kind::ALL`].
    registered: Vec<KindRegistration>,
    helpers: BTreeMap<HelperName, HelperRunner>,
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
    /// Begins an API.
    #[must_use]
    pub fn builder(vendor: Vendor) -> ApiBuilder {
        ApiBuilder::new(vendor)
    }

    /// Links the `OpenAPI` document on the entry point. For whoever answers at its address, as
    /// `svc-tower` does.
    ///
    /// Requirements: UND-40.
    #[must_use]
    pub fn with_openapi(mut self) -> Self {
        self.has_openapi = true;
        self
    }

    /// The names of this deployment.
    #[must_use]
    pub fn dialect(&self) -> &Dialect {
        &self.inner.relations.dialect
    }

    /// The address of the entry point.
    ///
    /// Requirements: HAL-01.
    #[must_use]
    pub fn base_url(&self) -> &BaseUrl {
        &self.inner.base
    }

    /// What a path below the entry point leads to: without a slash in front, without a query.
    ///
    /// Requirements: UND-35.
    #[must_use]
    pub fn route(&self, path: &str) -> Option<Target> {
        self.inner.settings.layout.route(path)
    }

    /// The absolute address of a target, under a base.
    #[must_use]
    pub fn url(&self, base: &BaseUrl, target: &Target) -> String {
        self.hal(base).href(target)
    }

    /// The method of person matching in words, and what calls without a key do where there are any.
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

    /// Sizes of pages and bodies.
    #[must_use]
    pub fn limits(&self) -> ApiLimits {
        self.inner.settings.sizes
    }

    /// The query parameters of its collections.
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

    /// What the server calls itself.
    #[must_use]
    pub fn vendor(&self) -> &Vendor {
        &self.inner.settings.vendor
    }

    /// Whether there are webhooks.
    ///
    /// Requirements: HOOK-01.
    #[must_use]
    pub fn has_webhooks(&self) -> bool {
        self.extensions().has(ExtensionName::Webhooks)
    }

    /// The relation that leads to the webhooks.
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
        }
    }

    fn bodies<'a>(&'a self, cx: &'a Context) -> BodyReader<'a> {
        let links = LinkReader {
            base: &cx.base,
            layout: self.inner.settings.layout.as_ref(),
            dialect: self.dialect(),
        };
        BodyReader {
            links,
            namespace: &self.inner.relations.namespace,
            limits: &self.inner.settings.sizes.json,
            caps: &cx.limits,
            now: cx.received_at,
        }
    }
}
