//! Unusual but conformant servers. Each one uses a freedom of the specification in a way that a
//! client might not expect. The suite must not report a failure for any of them.

mod forms;
mod layers;
mod updates;

use std::fmt;
use std::sync::Arc;

use super::fields::{self, ObjectField};
use super::independent_server::{
    AnonymousEffect, Containers, HrefStyle, ServerKey, ServerOptions, SimulatedTime,
};
use super::interceptor::Interceptor;
use super::subject::{SubjectError, TestSubject};
use crate::mutants::{self, BaseServer, Mutant, conditional};
use svc_core::api::{Atomicity, ErrorBodies, ResponseStyle};
use svc_core::link::Dialect;

/// Creates the unusual layer around a service, which can use its simulated time.
type UnusualLayer = Arc<dyn Fn(&SimulatedTime) -> Interceptor + Send + Sync>;

/// An unusual but conformant server.
#[derive(Clone)]
pub struct UnusualServer {
    /// The name, which describes what is unusual.
    pub name: String,
    over: BaseServer,
    twist: Option<UnusualLayer>,
    /// Whether the suite gets a key to other data, and one that lacks a right.
    more_keys: bool,
}

impl fmt::Debug for UnusualServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnusualServer")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl UnusualServer {
    fn second_server(name: &'static str, set_up: fn(&mut ServerOptions)) -> Self {
        Self {
            name: name.to_owned(),
            over: BaseServer::SecondServer(set_up),
            twist: None,
            more_keys: true,
        }
    }

    fn reference(
        name: &'static str,
        set_up: fn(svc_core::ApiBuilder) -> svc_core::ApiBuilder,
    ) -> Self {
        Self {
            name: name.to_owned(),
            over: BaseServer::Reference(set_up),
            twist: None,
            more_keys: true,
        }
    }

    /// Behaves in a way that looks like a fault.
    fn free(fault: Mutant) -> Self {
        Self {
            name: fault.name,
            over: fault.over,
            twist: Some(Arc::new(move |_| (fault.twist)())),
            more_keys: true,
        }
    }

    fn with(self, twist: impl Fn() -> Interceptor + Send + Sync + 'static) -> Self {
        self.timed(move |_| twist())
    }

    fn timed(self, twist: impl Fn(&SimulatedTime) -> Interceptor + Send + Sync + 'static) -> Self {
        Self {
            twist: Some(Arc::new(twist)),
            ..self
        }
    }

    /// Returns whether the service sends the messages of its webhooks.
    pub(crate) const fn sends(&self) -> bool {
        self.over.sends()
    }

    /// Starts the server.
    ///
    /// # Errors
    /// Returns an error if the service does not start.
    pub async fn start(&self) -> Result<TestSubject, SubjectError> {
        let mut subject = self.over.start().await?;
        if !self.more_keys {
            subject.other_key = None;
            subject.restricted_key = None;
        }
        let Some(twist) = &self.twist else {
            return Ok(subject);
        };
        let time = subject.time.clone().unwrap_or_default();
        let (twist, base) = (twist(&time), subject.base.clone());
        Ok(subject.behind(|wire, prefix| twist.over(wire, prefix, &base)))
    }
}

/// Returns every unusual server.
#[must_use]
pub fn registry() -> Vec<UnusualServer> {
    let plain: fn(&mut ServerOptions) = |_| {};
    let same: fn(svc_core::ApiBuilder) -> svc_core::ApiBuilder = |api| api;
    let mut all = vec![
        UnusualServer::second_server(
            "another service: numbers for ids, paths of its own, every field",
            plain,
        ),
        UnusualServer::second_server("a create answers 200", |options| {
            options.create_status = 200;
        }),
        UnusualServer::second_server("a delete answers 204", |options| {
            options.delete_notice = false;
        }),
        UnusualServer::second_server("entries are spelt errors and code", |options| {
            options.short_entries = true;
        }),
        UnusualServer::second_server("an empty collection is an empty object", |options| {
            options.empty_is_bare = true;
        }),
        UnusualServer::second_server("hrefs are relative", |options| {
            options.hrefs = HrefStyle::Relative;
        }),
        UnusualServer::second_server("hrefs change at every reading", |options| {
            options.hrefs = HrefStyle::Changing;
        }),
        UnusualServer::second_server("hrefs have ids and parts in the query", |options| {
            options.hrefs = HrefStyle::InQuery;
        }),
        UnusualServer::second_server("a cancelled event accepts no attendances", |options| {
            options.cancelled_is_final = true;
        }),
        UnusualServer::second_server("the total of a page includes credits", |options| {
            options.totals_with_credits = true;
        }),
        UnusualServer::second_server("dates of records have whole seconds", |options| {
            options.whole_seconds = true;
        }),
        UnusualServer::second_server("a clock of whole seconds writes milliseconds", |options| {
            options.whole_seconds = true;
        })
        .with(layers::milliseconds),
        UnusualServer::second_server("no optional field", |options| {
            options.without_fields = optional_fields();
        }),
        UnusualServer::second_server("a page has one member", |options| options.per_page = 1),
        UnusualServer::second_server("fields and links beyond the interface", |options| {
            options.extras = true;
        }),
        UnusualServer::second_server("headers in another order and case", plain)
            .with(layers::headers),
        UnusualServer::second_server("media types have a charset", plain).with(layers::charset),
        UnusualServer::second_server("links have no titles", |options| options.titles = false),
        UnusualServer::second_server("a 404 has a body", |options| {
            options.not_found_bodies = true;
        }),
        UnusualServer::second_server("values for read-only fields are refused", |options| {
            options.rejects_read_only = true;
        }),
        UnusualServer::second_server("custom fields have a prefix", |options| {
            options.custom_field_prefix.push_str("second_");
        }),
        UnusualServer::second_server("nothing can be written", |options| options.read_only = true),
        UnusualServer {
            more_keys: false,
            ..UnusualServer::second_server("one tenant", plain)
        },
        UnusualServer::second_server("people are matched", |options| {
            options.matches_people = true;
        }),
        UnusualServer::second_server(
            "anonymous callers do not change matched people, as declared",
            |options| {
                (options.matches_people, options.strangers) = (true, AnonymousEffect::Leave);
            },
        ),
        UnusualServer::second_server("anonymous callers match no one, as declared", |options| {
            (options.matches_people, options.strangers) = (true, AnonymousEffect::MatchNobody);
        }),
        UnusualServer::second_server("a key for a helper alone", |options| {
            options.keys.truncate(2);
            options.keys.push(ServerKey::only(
                "k-narrow",
                "one",
                &["helper.record_signature"],
            ));
        }),
        UnusualServer::second_server("lists have 20 elements at most", plain)
            .with(layers::short_lists),
        UnusualServer::second_server("responses of a question need a title", plain)
            .with(|| layers::needed_inside("question", "responses", "title")),
        UnusualServer::second_server("e-mail addresses need a type", plain)
            .with(|| layers::needed_inside("person", "email_addresses", "address_type")),
        UnusualServer::second_server("members that are not known are refused", |options| {
            options.rejects_unknown = true;
        }),
        UnusualServer::second_server("a person acts once, as declared", |options| {
            (options.matches_people, options.one_action_per_person) = (true, true);
        }),
        UnusualServer::second_server("a tag twice in one call is two taggings", |options| {
            options.repeats_count = true;
        }),
        UnusualServer::second_server("helpers are atomic", |options| {
            options.atomic_helpers = true;
        }),
        UnusualServer::second_server("helpers need a key", |options| {
            options.anonymous_helpers = false;
        }),
        UnusualServer::second_server("it takes its time", plain).with(layers::slow),
        UnusualServer::second_server("it limits the rate", plain).timed(layers::rate_limited),
        UnusualServer::second_server("totals follow later", plain).with(layers::later),
        UnusualServer::second_server("another prefix and key header", |options| {
            "osdi".clone_into(&mut options.prefix);
            "OSDI-API-Token".clone_into(&mut options.key_header);
        }),
        UnusualServer::second_server("few kinds", |options| {
            options.without = [
                "lists",
                "items",
                "share_pages",
                "messages",
                "canvasses",
                "donations",
                "fundraising_pages",
            ]
            .map(ToOwned::to_owned)
            .to_vec();
        }),
        UnusualServer::second_server("all freedoms together", |options| {
            options.create_status = 200;
            options.delete_notice = false;
            options.hrefs = HrefStyle::Relative;
            options.whole_seconds = true;
            options.empty_is_bare = true;
            options.per_page = 3;
            options.titles = false;
            options.extras = true;
        }),
        UnusualServer::reference("the reference server, its key bound to a person", same),
        UnusualServer::reference(
            "the reference server, whose declaration names few filters",
            same,
        )
        .with(layers::few_filters),
        UnusualServer::reference("the reference server under the style examples", |api| {
            api.response_style(ResponseStyle::Examples)
        }),
        UnusualServer::reference("the reference server with atomic helpers", |api| {
            api.atomicity(Atomicity::WholeCall)
        }),
        UnusualServer::reference(
            "the reference server with helpers only",
            svc_core::ApiBuilder::helpers_only,
        ),
        UnusualServer::reference("the reference server without one function", |api| {
            api.without_capability("haf.add_lists")
        }),
        UnusualServer::reference("the reference server with error bodies everywhere", |api| {
            api.error_bodies(ErrorBodies::Everywhere)
        }),
        UnusualServer::reference("the reference server under another prefix", |api| {
            match Dialect::with_prefix("osdi") {
                Some(dialect) => api.dialect(dialect),
                None => api,
            }
        }),
        UnusualServer::reference(
            "the reference server with conditional requests",
            conditional::conditional,
        ),
        UnusualServer::reference(
            "the reference server that changes nothing without If-Match",
            conditional::strict,
        ),
        UnusualServer::reference("the reference server with a charset", same).with(layers::charset),
        UnusualServer::reference("the reference server with other headers", same)
            .with(layers::headers),
    ];
    all.extend(helpers_alone());
    all.extend(strict_handling());
    all.extend(forms_of_values());
    all.extend(updates_and_repetitions());
    all.extend(mutants::free().into_iter().map(UnusualServer::free));
    all
}

/// Returns servers that offer only helpers, and neither create nor return a record directly.
///
/// Requirements: CAP-10.
fn helpers_alone() -> Vec<UnusualServer> {
    vec![
        UnusualServer::second_server("helpers only", |options| options.helpers_only = true),
        UnusualServer::second_server(
            "record helpers alone, whose addresses are given",
            |options| {
                (options.helpers_only, options.containers) = (true, Containers::Hidden);
            },
        ),
        UnusualServer::second_server("record helpers alone, which match people", |options| {
            (options.helpers_only, options.containers) = (true, Containers::Hidden);
            options.matches_people = true;
        }),
        UnusualServer::second_server("helpers only, of containers that are listed", |options| {
            (options.helpers_only, options.containers) = (true, Containers::Listed);
        }),
    ]
}

/// Returns servers with strict handling (STR), with codes, an order of errors and a prefix of
/// warnings that the reference server does not have.
fn strict_handling() -> Vec<UnusualServer> {
    vec![
        UnusualServer::second_server("strict handling", |options| options.strict_handling = true),
        UnusualServer::second_server(
            "strict handling, and values for read-only fields are refused",
            |options| {
                (options.strict_handling, options.rejects_read_only) = (true, true);
            },
        ),
        UnusualServer::second_server("strict handling, where a person acts once", |options| {
            (
                options.strict_handling,
                options.matches_people,
                options.one_action_per_person,
            ) = (true, true, true);
        }),
        UnusualServer::second_server("strict handling by helpers alone", |options| {
            (options.strict_handling, options.helpers_only) = (true, true);
            options.containers = Containers::Hidden;
        }),
    ]
}

/// Returns servers that decide in another way which forms of a value they accept and compare.
fn forms_of_values() -> Vec<UnusualServer> {
    let plain: fn(&mut ServerOptions) = |_| {};
    vec![
        UnusualServer::second_server("values in other forms are stored in one form", plain)
            .with(forms::stored),
        UnusualServer::second_server("values in other forms are refused", plain)
            .with(forms::refused),
        UnusualServer::second_server("people are matched by exact case", |options| {
            (options.matches_people, options.matches_exact_case) = (true, true);
        }),
        UnusualServer::second_server("pages have one size", |options| {
            options.max_pagesize = options.per_page;
        })
        .with(layers::one_page_size),
        UnusualServer::second_server("a person signs and attends once", |options| {
            (options.matches_people, options.one_action_per_person) = (true, true);
            options.repeatable_kinds = ["submission", "donation", "outreach", "canvass"]
                .map(ToOwned::to_owned)
                .to_vec();
        }),
    ]
}

/// Returns servers that decide in another way what updates and repeated requests change.
fn updates_and_repetitions() -> Vec<UnusualServer> {
    let same: fn(svc_core::ApiBuilder) -> svc_core::ApiBuilder = |api| api;
    vec![
        UnusualServer::reference("dates advance on every successful update", same)
            .with(updates::dates_advance),
        UnusualServer::reference("what failed in part is replayed", same)
            .with(updates::failed_parts_replayed),
        UnusualServer::reference("moves are rejected", same).with(updates::moves_refused),
        UnusualServer::reference("moves are ignored", same).with(updates::moves_ignored),
        UnusualServer::second_server("actions are moved to another person", |options| {
            options.moves_actions = true;
        }),
    ]
}

/// Returns every field except the required ones.
fn optional_fields() -> Vec<String> {
    fn names(fields: &[ObjectField], into: &mut Vec<String>) {
        into.extend(fields.iter().map(|field| field.name.clone()));
    }
    let mut all = Vec::new();
    for (_, described) in fields::all() {
        names(&described.fields, &mut all);
    }
    let needed = [
        "question_type",
        "responses",
        "name",
        "given_name",
        "type",
        "capacity",
        "ticket_levels",
        "tickets",
    ];
    all.retain(|name| !needed.contains(&name.as_str()));
    all.sort();
    all.dedup();
    all
}
