//! The settings of an API, in addition to its operations.

use std::sync::Arc;

use super::{classify::ErrorMapper, extensions::Extensions};
use crate::{
    auth::{Authenticator, TenantResolver},
    backend::{Deliver, ErasedTransactions},
    helper::{AnonymousPolicy, Atomicity, DefaultMatching, HelperName, PersonMatching},
    json::{ContentLimits, JsonLimits},
    link::{ConventionalLayout, Layout},
    model::Kind,
    operation::ResponseStyle,
    schema::KindFeature,
    store::Store,
};

/// The settings that the builder collects and the API stores unchanged.
pub(super) struct ApiSettings {
    pub(super) vendor: Vendor,
    pub(super) layout: Arc<dyn Layout>,
    pub(super) authenticator: Option<Arc<dyn Authenticator>>,
    pub(super) anonymous: Option<Arc<dyn TenantResolver>>,
    pub(super) matching: Arc<dyn PersonMatching>,
    pub(super) strangers: AnonymousPolicy,
    pub(super) classify: ErrorMapper,
    pub(super) style: ResponseStyle,
    pub(super) entry_links: EntryLinks,
    pub(super) sizes: ApiLimits,
    pub(super) error_bodies: ErrorBodies,
    pub(super) atomicity: Atomicity,
    /// The registered store, if there is one.
    pub(super) store: Option<Arc<dyn Store>>,
    /// Delivers server responses that are triggered, and scheduled messages.
    pub(super) deliver: Option<Arc<dyn Deliver>>,
    /// The transactions of composed helpers.
    pub(super) transactions: Option<Arc<dyn ErasedTransactions>>,
    pub(super) patch: PatchMethod,
    pub(super) behaviours: Vec<Behaviour>,
    /// The helpers with one action for each person, and the behaviours that declare this.
    pub(super) one_action: Vec<(HelperName, &'static str)>,
    pub(super) extensions: Extensions,
    /// The base URL of the requirement pages.
    pub(super) rule_pages: Option<String>,
}

impl ApiSettings {
    pub(super) fn new(vendor: Vendor) -> Self {
        Self {
            vendor,
            layout: Arc::new(ConventionalLayout),
            authenticator: None,
            anonymous: None,
            matching: Arc::new(DefaultMatching),
            strangers: AnonymousPolicy::new(),
            classify: ErrorMapper::default(),
            style: ResponseStyle::default(),
            entry_links: EntryLinks::default(),
            sizes: ApiLimits::default(),
            error_bodies: ErrorBodies::default(),
            atomicity: Atomicity::default(),
            store: None,
            deliver: None,
            transactions: None,
            patch: PatchMethod::default(),
            behaviours: Vec::new(),
            one_action: Vec::new(),
            extensions: Extensions::default(),
            rule_pages: None,
        }
    }
}

/// The vendor of the server, and the names on the entry point.
///
/// Requirements: ENT-02 to ENT-07.
#[derive(Debug, Clone)]
pub struct Vendor {
    pub(crate) name: String,
    pub(crate) product_name: String,
    pub(crate) motd: String,
    pub(crate) namespace: String,
    pub(crate) version: String,
}

impl Vendor {
    /// Creates a vendor with its name and the name of its product.
    ///
    /// Requirements: ENT-04, ENT-05.
    pub fn new(vendor_name: impl Into<String>, product_name: impl Into<String>) -> Self {
        Self {
            name: vendor_name.into(),
            product_name: product_name.into(),
            motd: "Welcome".to_owned(),
            namespace: "svc_sqlite".to_owned(),
            version: "1.2.0".to_owned(),
        }
    }

    /// Returns the name of the vendor.
    ///
    /// Requirements: ENT-04.
    #[must_use]
    pub fn vendor_name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the product.
    ///
    /// Requirements: ENT-05.
    #[must_use]
    pub fn product_name(&self) -> &str {
        &self.product_name
    }

    /// Returns the version of the specification that the entry point reports.
    ///
    /// Requirements: ENT-06.
    #[must_use]
    pub fn interface_version(&self) -> &str {
        &self.version
    }

    /// Sets the namespace: the prefix of the identifiers that the server generates. It matches
    /// `[A-Za-z0-9_.-]+`.
    ///
    /// Requirements: ENT-07, ENT-08, UND-41.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets the message of the day.
    ///
    /// Requirements: ENT-02.
    #[must_use]
    pub fn message_of_the_day(mut self, motd: impl Into<String>) -> Self {
        self.motd = motd.into();
        self
    }

    /// Sets the version of the specification that the entry point reports.
    ///
    /// Requirements: ENT-06, VER-01.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }
}

/// The error responses that have the error object.
///
/// Requirements: ERR-11, AUT-05.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ErrorBodies {
    /// All except 401, 403 and the 404 of a read.
    #[default]
    AsSpecified,
    /// All.
    Everywhere,
}

/// The meaning of `PATCH` on a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PatchMethod {
    /// The server does not support it, as in the specification.
    #[default]
    Unsupported,
    /// The same as `PUT`.
    AsPut,
}

/// The collections that the entry point links.
///
/// Requirements: ENT-10 to ENT-21.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EntryLinks {
    /// Every collection that is served.
    #[default]
    All,
    /// Only those that the specification lists, because some clients fail on other links.
    Listed,
}

impl EntryLinks {
    pub(crate) fn includes(self, kind: Kind) -> bool {
        self == Self::All || !kind.schema().has_feature(KindFeature::NotOnEntryPoint)
    }
}

/// The limits of pages and bodies.
///
/// Requirements: LIM-01, COL-21, UND-17.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ApiLimits {
    /// The number of records on a page if the client does not send one.
    ///
    /// Requirements: COL-29.
    pub default_page_size: u32,
    /// The maximum number of records on a page.
    ///
    /// Requirements: ENT-03.
    pub max_page_size: u32,
    /// The maximum depth and size of the JSON of a body.
    pub json: JsonLimits,
    /// The maximum content of a record and of a request.
    pub content: ContentLimits,
    /// The maximum content of an anonymous request.
    pub anonymous_content: ContentLimits,
    /// The maximum total size of the bodies in the response to a batch that is one document, in
    /// bytes. Further results have no body.
    ///
    /// Requirements: BAT-11.
    pub batch_response: usize,
}

impl ApiLimits {
    /// Sets the number of records on a page if the client does not send one; 25 by default.
    ///
    /// Requirements: COL-29.
    #[must_use]
    pub fn default_page_size(mut self, records: u32) -> Self {
        self.default_page_size = records;
        self
    }

    /// Sets the maximum number of records on a page; 100 by default.
    ///
    /// Requirements: ENT-03.
    #[must_use]
    pub fn max_page_size(mut self, records: u32) -> Self {
        self.max_page_size = records;
        self
    }

    /// Sets the maximum depth and size of the JSON of a body.
    #[must_use]
    pub fn json(mut self, limits: JsonLimits) -> Self {
        self.json = limits;
        self
    }

    /// Sets the maximum content of a record and of a request.
    #[must_use]
    pub fn content(mut self, caps: ContentLimits) -> Self {
        self.content = caps;
        self
    }

    /// Sets the maximum content of an anonymous request.
    #[must_use]
    pub fn anonymous_content(mut self, caps: ContentLimits) -> Self {
        self.anonymous_content = caps;
        self
    }

    /// Sets the maximum total size of the bodies in the response to a batch that is one document,
    /// in bytes; 8 MiB by default.
    ///
    /// Further results have no `body`. Responses to batches in lines have no such limit, because
    /// they are sent while the batch runs.
    ///
    /// Requirements: BAT-11.
    #[must_use]
    pub fn batch_response(mut self, bytes: usize) -> Self {
        self.batch_response = bytes;
        self
    }
}

impl Default for ApiLimits {
    fn default() -> Self {
        Self {
            default_page_size: 25,
            max_page_size: 100,
            json: JsonLimits::default(),
            content: ContentLimits::default(),
            anonymous_content: ContentLimits::ANONYMOUS,
            batch_response: 8 * 1024 * 1024,
        }
    }
}

/// A behaviour of the backend that the capability document declares. It enables stricter checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Behaviour {
    /// A full event accepts no more attendances.
    ///
    /// Requirements: LIM-04.
    CapacityEnforced,
    /// A ticket level without remaining tickets sells none.
    ///
    /// Requirements: LIM-05.
    TicketLimitEnforced,
    /// A native helper matches a posted person by the method of
    /// [`ApiBuilder::person_matching`](crate::ApiBuilder::person_matching).
    ///
    /// The library declares this itself for composed helpers that can look people up.
    ///
    /// Requirements: HLP-04.
    MatchesPeople,
    /// A person has at most one action in a container, such as one attendance at an event.
    ///
    /// A repeated helper request for a matched person changes or returns this action, and records
    /// no second one. For a helper of a store, the library itself declares
    /// [`ApiBuilder::one_action_per_person`](crate::ApiBuilder::one_action_per_person).
    ///
    /// Requirements: HLP-04.
    OneActionPerPerson,
}

impl Behaviour {
    /// Returns the name in the capability vocabulary.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CapacityEnforced => "capacity_enforced",
            Self::TicketLimitEnforced => "ticket_limit_enforced",
            Self::MatchesPeople => "helper.match_person",
            Self::OneActionPerPerson => "one_action_per_person",
        }
    }
}
