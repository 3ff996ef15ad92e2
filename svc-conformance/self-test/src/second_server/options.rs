//! How a second service is set up; every choice that the interface leaves free is one.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time that is let pass instead of waiting for it; a clone shares it.
#[derive(Debug, Clone, Default)]
pub struct SimulatedTime(Arc<AtomicU64>);

impl SimulatedTime {
    /// Lets time pass.
    pub fn pass(&self, duration: Duration) {
        self.0.fetch_add(
            u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
            Ordering::Relaxed,
        );
    }

    /// How much of it has passed.
    #[must_use]
    pub fn passed(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }
}

/// Microseconds since 1970.
#[derive(Clone)]
pub struct SimulatedClock(Arc<dyn Fn() -> i64 + Send + Sync>);

impl SimulatedClock {
    /// A clock of one's own.
    #[must_use]
    pub fn new(now: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The clock of this machine.
    #[must_use]
    pub fn system() -> Self {
        Self::new(|| {
            let since = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
        })
    }

    /// The same clock, which goes on by what is let pass besides.
    #[must_use]
    pub fn with(&self, time: &SimulatedTime) -> Self {
        let (clock, time) = (self.clone(), time.clone());
        Self::new(move || {
            clock
                .now()
                .saturating_add(i64::try_from(time.passed().as_micros()).unwrap_or(i64::MAX))
        })
    }

    /// The time.
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

/// A key with what it may do.
#[derive(Debug, Clone)]
pub struct ServerKey {
    /// The key itself.
    pub token: String,
    /// Whose data it reaches.
    pub tenant: String,
    /// The only rights it has; all of them when empty.
    pub only: Vec<String>,
}

impl ServerKey {
    /// A key with every right.
    #[must_use]
    pub fn new(token: &str, tenant: &str) -> Self {
        Self {
            token: token.to_owned(),
            tenant: tenant.to_owned(),
            only: Vec::new(),
        }
    }

    /// A key with these rights and no other.
    #[must_use]
    pub fn only(token: &str, tenant: &str, rights: &[&str]) -> Self {
        Self {
            only: rights.iter().map(|right| (*right).to_owned()).collect(),
            ..Self::new(token, tenant)
        }
    }
}

/// How the hrefs of links look.
///
/// Requirements: CAP-04, COL-19, HAL-06.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HrefStyle {
    /// Absolute.
    #[default]
    Absolute,
    /// A path without scheme and host.
    Relative,
    /// Absolute, and another one at every reading.
    Changing,
    /// Absolute, with the number and the part of a record in the query.
    InQuery,
}

/// The containers that a service with helpers alone has. It neither creates nor shows a record.
///
/// Requirements: CAP-10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Containers {
    /// None: only the sign-up can be reached.
    #[default]
    None,
    /// One of each kind. The entry point leads to no helper, nor is there a sign-up; a client is
    /// given the addresses.
    Hidden,
    /// One of each kind. The entry point lists them, each with a link to its helper.
    Listed,
}

/// What a caller without a key does to somebody who is matched.
///
/// Requirements: HLP-04.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnonymousEffect {
    /// The same as one with a key.
    #[default]
    Change,
    /// Nothing, which is declared; the action is that person's.
    Leave,
    /// Nobody is matched, which is declared as leaving them, too.
    MatchNobody,
}

/// How a second service is set up.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one choice that the interface leaves free"
)]
pub struct ServerOptions {
    /// The base of every address, with a slash at its end.
    pub base: String,
    /// The prefix of relations.
    pub prefix: String,
    /// The header that carries the key.
    pub key_header: String,
    /// The namespace of its identifiers.
    pub namespace: String,
    /// The keys.
    pub keys: Vec<ServerKey>,
    /// What the time is.
    pub clock: SimulatedClock,
    /// Members on a page.
    pub per_page: usize,
    /// Members on a page at most.
    pub max_pagesize: usize,
    /// The status of a create: 200 or 201.
    pub create_status: u16,
    /// Whether a delete answers 200 with a notice.
    pub delete_notice: bool,
    /// Whether non-atomic entries are spelt `errors` and `code`.
    ///
    /// Requirements: ERR-33.
    pub short_entries: bool,
    /// Whether an empty collection is `{}`.
    ///
    /// Requirements: COL-30.
    pub empty_is_bare: bool,
    /// How hrefs look.
    pub hrefs: HrefStyle,
    /// Whether record helpers may be called without a key.
    pub anonymous_helpers: bool,
    /// Whether a helper that fails in part leaves nothing behind.
    ///
    /// Requirements: ERR-34.
    pub atomic_helpers: bool,
    /// Whether dates of records have whole seconds.
    pub whole_seconds: bool,
    /// Whether only helpers are there.
    ///
    /// Requirements: CAP-10.
    pub helpers_only: bool,
    /// The containers where only helpers are there.
    pub containers: Containers,
    /// Whether nothing can be written.
    pub read_only: bool,
    /// Whether a value for a read-only field is refused.
    pub rejects_read_only: bool,
    /// Whether a body with a member that is not known is refused.
    ///
    /// Requirements: UND-22.
    pub rejects_unknown: bool,
    /// Whether a client may ask for such a refusal (STR).
    pub strict_handling: bool,
    /// Whether links have titles.
    pub titles: bool,
    /// Whether a 404 has a body, also on a read.
    pub not_found_bodies: bool,
    /// What stands before every custom field's key.
    pub custom_field_prefix: String,
    /// Whether a representation has fields and links beyond the interface.
    pub extras: bool,
    /// Whether persons are matched by e-mail address.
    ///
    /// Requirements: HLP-04.
    pub matches_people: bool,
    /// What a caller without a key does to somebody who is matched.
    pub strangers: AnonymousEffect,
    /// Whether a second action of a person changes the first one.
    pub one_action_per_person: bool,
    /// Whether the total of a page also has what was credited back to donors.
    pub totals_with_credits: bool,
    /// Whether nobody can join an event that was cancelled.
    ///
    /// Requirements: UND-11.
    pub cancelled_is_final: bool,
    /// Whether a tag or list that one call names twice gets two members.
    pub repeats_count: bool,
    /// Kinds that are left out, by plural name.
    pub without: Vec<String>,
    /// Fields that are left out of every kind, by name; `*` for all that are not needed.
    pub without_fields: Vec<String>,
    /// What is wrong with it.
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
            one_action_per_person: false,
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
    /// A name of the interface with the prefix.
    pub(super) fn rel(&self, name: &str) -> String {
        format!("{}:{name}", self.prefix)
    }

    pub(super) fn has(&self, bug: super::Defect) -> bool {
        self.defects.contains(&bug)
    }

    /// The path of the base.
    pub(super) fn path(&self) -> &str {
        let rest = self
            .base
            .split_once("://")
            .map_or(self.base.as_str(), |(_, rest)| rest);
        rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/")
    }
}
