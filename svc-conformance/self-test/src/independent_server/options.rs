//! The options of a second service; every choice that the specification permits is an option.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time that passes without waiting; a clone shares it.
#[derive(Debug, Clone, Default)]
pub struct SimulatedTime(Arc<AtomicU64>);

impl SimulatedTime {
    /// Advances the time.
    pub fn pass(&self, duration: Duration) {
        self.0.fetch_add(
            u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
            Ordering::Relaxed,
        );
    }

    /// Returns the time that has passed.
    #[must_use]
    pub fn passed(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }
}

/// A clock in microseconds since 1970.
#[derive(Clone)]
pub struct SimulatedClock(Arc<dyn Fn() -> i64 + Send + Sync>);

impl SimulatedClock {
    /// Creates a clock from a function.
    #[must_use]
    pub fn new(now: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Returns the clock of this machine.
    #[must_use]
    pub fn system() -> Self {
        Self::new(|| {
            let since = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
        })
    }

    /// Returns a clock that also advances by the simulated time.
    #[must_use]
    pub fn with(&self, time: &SimulatedTime) -> Self {
        let (clock, time) = (self.clone(), time.clone());
        Self::new(move || {
            clock
                .now()
                .saturating_add(i64::try_from(time.passed().as_micros()).unwrap_or(i64::MAX))
        })
    }

    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> i64 {
        (self.0)()
    }
}

impl fmt::Debug for SimulatedClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// A key with its rights.
#[derive(Debug, Clone)]
pub struct ServerKey {
    /// The key itself.
    pub token: String,
    /// The tenant of the key.
    pub tenant: String,
    /// The rights of the key; all of them if empty.
    pub only: Vec<String>,
}

impl ServerKey {
    /// Creates a key with every right.
    #[must_use]
    pub fn new(token: &str, tenant: &str) -> Self {
        Self {
            token: token.to_owned(),
            tenant: tenant.to_owned(),
            only: Vec::new(),
        }
    }

    /// Creates a key with these rights only.
    #[must_use]
    pub fn only(token: &str, tenant: &str, rights: &[&str]) -> Self {
        Self {
            only: rights.iter().map(|right| (*right).to_owned()).collect(),
            ..Self::new(token, tenant)
        }
    }
}

/// The style of the hrefs of links.
///
/// Requirements: CAP-04, COL-19, HAL-06.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HrefStyle {
    /// Absolute.
    #[default]
    Absolute,
    /// A path without scheme and host.
    Relative,
    /// Absolute, and different on every read.
    Changing,
    /// Absolute, with the number and the part of a record in the query.
    InQuery,
}

/// The containers of a service with helpers only. It neither creates nor returns a record directly.
///
/// Requirements: CAP-10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Containers {
    /// No containers: a client can use only the sign-up.
    #[default]
    None,
    /// One of each kind. The entry point links no helper, and there is no sign-up; a client gets
    /// the addresses separately.
    Hidden,
    /// One of each kind. The entry point lists them, each with a link to its helper.
    Listed,
}

/// The effect of an anonymous caller on a matched person.
///
/// Requirements: HLP-04.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnonymousEffect {
    /// The same effect as with a key.
    #[default]
    Change,
    /// No effect on the person, as declared; the action belongs to that person.
    Leave,
    /// No person is matched; the declaration is the same as for [`Self::Leave`].
    MatchNobody,
}

/// The options of a second service.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each option is a choice that the specification permits"
)]
pub struct ServerOptions {
    /// The base URL, with a slash at its end.
    pub base: String,
    /// The prefix of relations.
    pub prefix: String,
    /// The header that contains the key.
    pub key_header: String,
    /// The namespace of the identifiers.
    pub namespace: String,
    /// The keys.
    pub keys: Vec<ServerKey>,
    /// The clock.
    pub clock: SimulatedClock,
    /// Default number of members on a page.
    pub per_page: usize,
    /// Maximum number of members on a page.
    pub max_pagesize: usize,
    /// The status of a create: 200 or 201.
    pub create_status: u16,
    /// Whether a delete responds with 200 and a notice.
    pub delete_notice: bool,
    /// Whether non-atomic entries use the names `errors` and `code`.
    ///
    /// Requirements: ERR-33.
    pub short_entries: bool,
    /// Whether an empty collection is `{}`.
    ///
    /// Requirements: COL-30.
    pub empty_is_bare: bool,
    /// The style of hrefs.
    pub hrefs: HrefStyle,
    /// Whether anonymous callers may use record helpers.
    pub anonymous_helpers: bool,
    /// Whether a helper request that fails partly stores nothing.
    ///
    /// Requirements: ERR-34.
    pub atomic_helpers: bool,
    /// Whether dates of records have whole seconds.
    pub whole_seconds: bool,
    /// Whether the service offers only helpers.
    ///
    /// Requirements: CAP-10.
    pub helpers_only: bool,
    /// The containers of a service that offers only helpers.
    pub containers: Containers,
    /// Whether the service rejects all writes.
    pub read_only: bool,
    /// Whether a value for a read-only field is rejected.
    pub rejects_read_only: bool,
    /// Whether a body with an unknown member is rejected.
    ///
    /// Requirements: UND-22.
    pub rejects_unknown: bool,
    /// Whether a client may request such a rejection (STR).
    pub strict_handling: bool,
    /// Whether links have titles.
    pub titles: bool,
    /// Whether a 404 has a body, also on a read.
    pub not_found_bodies: bool,
    /// The prefix of every custom field's key.
    pub custom_field_prefix: String,
    /// Whether a representation has fields and links that the specification does not have.
    pub extras: bool,
    /// Whether people are matched by e-mail address.
    ///
    /// Requirements: HLP-04.
    pub matches_people: bool,
    /// The effect of an anonymous caller on a matched person.
    pub strangers: AnonymousEffect,
    /// Whether matching distinguishes upper and lower case.
    pub matches_exact_case: bool,
    /// Whether a second action of a person changes the first one.
    pub one_action_per_person: bool,
    /// Kinds of which a person can have several actions in one container despite
    /// `one_action_per_person`, by singular name.
    pub repeatable_kinds: Vec<String>,
    /// Whether an update can link an action to another person.
    ///
    /// Requirements: CRU-16.
    pub moves_actions: bool,
    /// Whether the total of a page includes credits to donors.
    pub totals_with_credits: bool,
    /// Whether attendances of a cancelled event are rejected.
    ///
    /// Requirements: UND-11.
    pub cancelled_is_final: bool,
    /// Whether a tag or list that one request names twice gets two members.
    pub repeats_count: bool,
    /// Kinds that are omitted, by plural name.
    pub without: Vec<String>,
    /// Fields that are omitted from every kind, by name; `*` is every field that is not required.
    pub without_fields: Vec<String>,
    /// The faults of the service.
    pub defects: Vec<super::Defect>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            base: "http://crm.example.org/rest/".to_owned(),
            prefix: "svc".to_owned(),
            key_header: "SVC-API-Token".to_owned(),
            namespace: "second".to_owned(),
            keys: vec![
                ServerKey::new("k-one", "one"),
                ServerKey::new("k-two", "two"),
                ServerKey::only("k-narrow", "one", &["people.list", "people.read"]),
            ],
            clock: SimulatedClock::system(),
            per_page: 20,
            max_pagesize: 50,
            create_status: 201,
            delete_notice: true,
            short_entries: false,
            empty_is_bare: false,
            hrefs: HrefStyle::Absolute,
            anonymous_helpers: true,
            atomic_helpers: false,
            whole_seconds: false,
            helpers_only: false,
            containers: Containers::default(),
            read_only: false,
            rejects_read_only: false,
            rejects_unknown: false,
            strict_handling: false,
            titles: true,
            not_found_bodies: false,
            custom_field_prefix: String::new(),
            extras: false,
            matches_people: false,
            strangers: AnonymousEffect::default(),
            matches_exact_case: false,
            one_action_per_person: false,
            repeatable_kinds: Vec::new(),
            moves_actions: false,
            totals_with_credits: false,
            cancelled_is_final: false,
            repeats_count: false,
            without: Vec::new(),
            without_fields: Vec::new(),
            defects: Vec::new(),
        }
    }
}

impl ServerOptions {
    /// Returns a relation name with the prefix.
    pub(super) fn rel(&self, name: &str) -> String {
        format!("{}:{name}", self.prefix)
    }

    pub(super) fn has(&self, bug: super::Defect) -> bool {
        self.defects.contains(&bug)
    }

    /// Returns the path of the base URL.
    pub(super) fn path(&self) -> &str {
        let rest = self
            .base
            .split_once("://")
            .map_or(self.base.as_str(), |(_, rest)| rest);
        rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/")
    }
}
