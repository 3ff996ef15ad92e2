//! What a vendor sets besides the operations.

use std::sync::Arc;

use super::{classify::ErrorMapper, extensions::Extensions};
use crate::{
    auth::{Authenticator, TenantResolver},
    helper::{AnonymousPolicy, DefaultMatching, PersonMatching},
    json::{ContentLimits, JsonLimits},
    link::{ConventionalLayout, Layout},
    model::Kind,
    operation::ResponseStyle,
    ops::{Deliver, ErasedTransactions},
    schema::KindFeature,
    store::Store,
};

/// What the builder collects and the finished API keeps as it is.
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
    pub(super) atomic: bool,
    /// The store that keeps every kind, where there is one: it tells what else is wrong with a body
    /// that is refused.
    pub(super) store: Option<Arc<dyn Store>>,
    /// Who sends what is triggered and scheduled.
    pub(super) deliver: Option<Arc<dyn Deliver>>,
    /// What composed helpers run in.
    pub(super) transactions: Option<Arc<dyn ErasedTransactions>>,
    pub(super) patch: PatchMethod,
    pub(super) behaviours: Vec<Behaviour>,
    pub(super) extensions: Extensions,
    /// The address below which the pages of the rows are.
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
            atomic: false,
            store: None,
            deliver: None,
            transactions: None,
            patch: PatchMethod::default(),
            behaviours: Vec::new(),
            extensions: Extensions::default(),
            rule_pages: None,
        }
    }
}

/// Who makes the server, and how it names itself on the entry point.
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
    /// A vendor and its product.
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

    /// The vendor's name.
    ///
    /// Requirements: ENT-04.
    #[must_use]
    pub fn vendor_name(&self) -> &str {
        &self.name
    }

    /// The product's name.
    ///
    /// Requirements: ENT-05.
    #[must_use]
    pub fn product_name(&self) -> &str {
        &self.product_name
    }

    /// The interface version that the entry point reports.
    ///
    /// Requirements: ENT-06.
    #[must_use]
    pub fn interface_version(&self) -> &str {
        &self.version
    }

    /// The prefix of the identifiers that the server generates: `[A-Za-z0-9_.-]+`.
    ///
    /// Requirements: ENT-07, ENT-08, UND-41.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// The message of the day.
    ///
    /// Requirements: ENT-02.
    #[must_use]
    pub fn message_of_the_day(mut self, motd: impl Into<String>) -> Self {
        self.motd = motd.into();
        self
    }

    /// The interface version that the entry point reports.
    ///
    /// Requirements: ENT-06, VER-01.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }
}

/// Which answers that report an error have the error object.
///
/// Requirements: ERR-11, AUT-05.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ErrorBodies {
    /// All but 401, 403 and the 404 of a read.
    #[default]
    AsSpecified,
    /// All.
    Everywhere,
}

/// What stays of a helper call of which one part fails.
///
/// Requirements: ERR-29, ERR-34.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Atomicity {
    /// Each resource by itself: what could be stored stays, and the answer says what became of
    /// each.
    #[default]
    PerResource,
    /// All of a call or nothing.
    WholeCall,
}

/// What a `PATCH` on a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PatchMethod {
    /// A method that the server does not have, as in the interface.
    #[default]
    Unsupported,
    /// The same as `PUT`.
    AsPut,
}

/// Which collections the entry point links.
///
/// Requirements: ENT-10 to ENT-21.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EntryLinks {
    /// Every collection that is served.
    #[default]
    All,
    /// Only those of the specification's list: clients exist that stop at others.
    Listed,
}

impl EntryLinks {
    pub(crate) fn includes(self, kind: Kind) -> bool {
        self == Self::All || !kind.schema().has(KindFeature::Unlisted)
    }
}

/// Sizes of pages and bodies.
///
/// Requirements: LIM-01, COL-21, UND-17.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ApiLimits {
    /// Records on a page when the client names no number.
    ///
    /// Requirements: COL-29.
    pub default_page_size: u32,
    /// The largest page.
    ///
    /// Requirements: ENT-03.
    pub max_page_size: u32,
    /// How deep and large the JSON of a body may be.
    pub json: JsonLimits,
    /// How much a record and a call may hold.
    pub content: ContentLimits,
    /// The same for a call without a key.
    pub anonymous_content: ContentLimits,
    /// The total size of the bodies in the response to a batch that is one document, in bytes. The
    /// results after that have none.
    ///
    /// Requirements: BAT-11.
    pub batch_response: usize,
}

impl ApiLimits {
    /// Records on a page when the client names no number.
    ///
    /// Requirements: COL-29.
    #[must_use]
    pub fn default_page_size(mut self, records: u32) -> Self {
        self.default_page_size = records;
        self
    }

    /// The largest page.
    ///
    /// Requirements: ENT-03.
    #[must_use]
    pub fn max_page_size(mut self, records: u32) -> Self {
        self.max_page_size = records;
        self
    }

    /// How deep and large the JSON of a body may be.
    #[must_use]
    pub fn json(mut self, limits: JsonLimits) -> Self {
        self.json = limits;
        self
    }

    /// How much a record and a call may hold.
    #[must_use]
    pub fn content(mut self, caps: ContentLimits) -> Self {
        self.content = caps;
        self
    }

    /// How much a call without a key may hold.
    #[must_use]
    pub fn anonymous_content(mut self, caps: ContentLimits) -> Self {
        self.anonymous_content = caps;
        self
    }

    /// Sets the total size of the bodies in the response to a batch that is one document, in bytes;
    /// 8 MiB by default. The results after that have no `body`. Responses to batches in lines have
    /// no such limit, because they are sent while the batch runs.
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
            anonymous_content: ContentLimits::STRANGERS,
            batch_response: 8 * 1024 * 1024,
        }
    }
}

/// A behaviour of the backend that the capability document declares; it switches stricter checks
/// on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Behaviour {
    /// A full event takes no more attendances.
    ///
    /// Requirements: LIM-04.
    CapacityEnforced,
    /// A ticket level without tickets left sells none.
    ///
    /// Requirements: LIM-05.
    TicketLimitEnforced,
    /// A natively run helper recognises a posted person by the method of
    /// [`ApiBuilder::person_matching`](crate::ApiBuilder::person_matching). Composed helpers that
    /// can look people up declare it by themselves.
    ///
    /// Requirements: HLP-04.
    MatchesPeople,
    /// A helper that is called again for a person whom it recognises changes or answers the action
    /// that is there, and records no second one: as tables have it in which a person answers an
    /// event once.
    ///
    /// Requirements: HLP-04.
    OneActionPerPerson,
}

impl Behaviour {
    /// Its name in the capability vocabulary.
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
