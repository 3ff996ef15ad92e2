//! Records, collections and the entry point as HAL documents.

use std::cmp::Ordering;

use serde_json::{Map, Value, json};

use super::Defect;
use super::answer::ServerResponse;
use super::dates;
use super::kinds::{self, KINDS, ServerKind};
use super::options::{Containers, HrefStyle, ServerOptions};
use super::store::{RecordData, RecordNumber, TenantData};
use crate::fields::{FieldShape, ObjectField};

/// The source of a document.
#[derive(Debug, Clone, Copy)]
pub(super) struct RenderContext<'v> {
    pub(super) options: &'v ServerOptions,
    pub(super) data: &'v TenantData,
    /// The number of the response, which changing hrefs contain.
    pub(super) turn: u64,
}

impl RenderContext<'_> {
    /// Returns the href of an address below the base URL.
    pub(super) fn href(&self, address: &str) -> String {
        match self.options.hrefs {
            HrefStyle::Absolute => format!("{}{address}", self.options.base),
            HrefStyle::Relative => format!("{}{address}", self.options.path()),
            HrefStyle::Changing => format!("{}~{}/{address}", self.options.base, self.turn),
            HrefStyle::InQuery => format!("{}{}", self.options.base, in_query(address)),
        }
    }

    fn link(&self, address: &str) -> Value {
        json!({ "href": self.href(address) })
    }

    fn curies(&self) -> Value {
        json!([{ "name": self.options.prefix, "href": format!("{}about/{{rel}}", self.options.base), "templated": true }])
    }

    /// Renders a record, alone or among others.
    pub(super) fn record(&self, record: &RecordData, is_alone: bool) -> Value {
        let options = self.options;
        let mut object: Map<String, Value> = record.body.clone();
        for field in record.kind.fields() {
            self.compute(record, field, &mut object);
        }
        let left_out = &options.without_fields;
        object.retain(|name, _| !left_out.contains(name));
        let own = format!("{}:{}", options.namespace, record.number);
        let identifiers: Vec<&String> = record.identifiers.iter().chain([&own]).collect();
        object.insert("identifiers".to_owned(), json!(identifiers));
        object.insert(
            "created_date".to_owned(),
            dates::write(record.created, options.whole_seconds).into(),
        );
        object.insert(
            "modified_date".to_owned(),
            dates::write(record.modified, options.whole_seconds).into(),
        );
        if record.kind.one == "person" {
            object.insert("id".to_owned(), record.number.to_string().into());
        }
        let mut links = Map::new();
        if !options.helpers_only {
            links.insert("self".to_owned(), self.link(&address(record.number)));
        }
        if is_alone {
            links.insert("curies".to_owned(), self.curies());
        }
        for name in record.kind.container.iter().chain(record.kind.to_one) {
            if let Some(number) = record.links.get(name) {
                links.insert(options.rel(name), self.link(&address(*number)));
            }
        }
        if !options.helpers_only {
            for below in record
                .kind
                .below
                .iter()
                .filter(|below| is_served(options, below.of))
            {
                links.insert(
                    options.rel(below.name),
                    self.link(&format!("{}/{}", address(record.number), below.name)),
                );
            }
        }
        if let Some(helper) = record.kind.helper
            && is_helper_served(options, helper)
        {
            let name = options.rel(&format!("{helper}_helper"));
            links.insert(name, self.link(&format!("do/{helper}/{}", record.number)));
        }
        if options.extras {
            object.insert("x_colour".to_owned(), "green".into());
            object.insert("x_history".to_owned(), json!([{ "seen": 1 }, null]));
            links.insert("describedby".to_owned(), self.link("about/"));
        }
        if options.titles && is_alone {
            let title =
                json!({ "href": self.href(&address(record.number)), "title": record.kind.one });
            links.insert("self".to_owned(), title);
        }
        if !options.helpers_only || is_listed(options, record.kind) {
            object.insert("_links".to_owned(), Value::Object(links));
        }
        if options.containers != Containers::None
            && let Some(person) = record
                .links
                .get("person")
                .and_then(|number| self.data.of("person", *number))
        {
            let embedded = json!({ options.rel("person"): self.record(person, false) });
            object.insert("_embedded".to_owned(), embedded);
        }
        Value::Object(object)
    }

    fn compute(&self, record: &RecordData, field: &ObjectField, object: &mut Map<String, Value>) {
        if field.name == "share_options" || field.name == "ticket_levels" {
            let is_level = field.name == "ticket_levels";
            for member in object
                .get_mut(&field.name)
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                if is_level {
                    self.level(record.number, member);
                } else {
                    shares(field.shape.members(), member);
                }
            }
            return;
        }
        if !field.computed || record.kind.one == "message" {
            return;
        }
        let members = |name: &str| {
            record
                .kind
                .below(name)
                .map(|below| self.data.below(record.number, below))
                .unwrap_or_default()
        };
        let value: Value = match field.name.as_str() {
            "total_signatures" => members("signatures").len().into(),
            "total_submissions" => members("submissions").len().into(),
            "total_donations" => members("donations").len().into(),
            "total_outreaches" => members("outreaches").len().into(),
            "total_items" => members("items").len().into(),
            "total_accepted" => {
                let accepted = |one: &&&RecordData| {
                    one.text("status").is_none_or(|status| status == "accepted")
                };
                members("attendances")
                    .iter()
                    .filter(accepted)
                    .count()
                    .into()
            }
            "total_tickets" => self.data.tickets(record.number).len().into(),
            "total_amount" if record.kind.one == "event" => sum(self
                .data
                .tickets(record.number)
                .iter()
                .map(|ticket| price(record, ticket))),
            "total_amount" => {
                let donations = members("donations");
                let counted = donations.iter().filter(|one| {
                    let same = one
                        .text("currency")
                        .zip(record.text("currency"))
                        .is_none_or(|(one, other)| one == other);
                    same && one.body.get("voided") != Some(&Value::Bool(true))
                });
                let credits = f64::from(u8::from(self.options.totals_with_credits))
                    - f64::from(u8::from(self.options.has(Defect::CreditsTakenOffTwice)));
                let number = |one: &RecordData, name: &str| {
                    one.body.get(name).and_then(Value::as_f64).unwrap_or(0.0)
                };
                sum(counted
                    .map(|one| number(one, "amount") + credits * number(one, "credited_amount")))
            }
            _ => 0.into(),
        };
        object.insert(field.name.clone(), value);
    }

    /// Computes the totals of a ticket level.
    fn level(&self, event: RecordNumber, level: &mut Value) {
        let Some(level) = level.as_object_mut() else {
            return;
        };
        let title = level.get("title").cloned();
        let unit = level.get("amount").and_then(Value::as_f64).unwrap_or(0.0);
        let tickets = self.data.tickets(event);
        let of_level = tickets
            .iter()
            .filter(|ticket| title.is_some() && ticket.get("title") == title.as_ref());
        let prices: Vec<f64> = of_level
            .map(|ticket| ticket.get("amount").and_then(Value::as_f64).unwrap_or(unit))
            .collect();
        level.insert("total_tickets".to_owned(), prices.len().into());
        level.insert("total_amount".to_owned(), sum(prices.into_iter()));
    }

    /// Renders a page of a collection; `address` is the address of the collection.
    pub(super) fn page(
        &self,
        kind: &ServerKind,
        address: &str,
        members: &[&RecordData],
        page: usize,
        size: Option<usize>,
    ) -> ServerResponse {
        let options = self.options;
        let per_page = size
            .unwrap_or(options.per_page)
            .clamp(1, options.max_pagesize);
        if members.is_empty() && options.empty_is_bare {
            return ServerResponse::json(200, json!({}));
        }
        let pages = members.len().div_ceil(per_page);
        let shown: Vec<Value> = members
            .iter()
            .skip(page.saturating_sub(1).saturating_mul(per_page))
            .take(per_page)
            .map(|record| self.record(record, false))
            .collect();
        let address_of = |page: usize| match size {
            Some(size) => format!("{address}?page={page}&per_page={size}"),
            None => format!("{address}?page={page}"),
        };
        let mut links = Map::new();
        links.insert("self".to_owned(), self.link(&address_of(page)));
        links.insert("curies".to_owned(), self.curies());
        if page < pages {
            links.insert(
                "next".to_owned(),
                self.link(&address_of(page.saturating_add(1))),
            );
        }
        let own: Vec<Value> = shown
            .iter()
            .filter_map(|record| Some(json!({ "href": record.pointer("/_links/self/href")? })))
            .collect();
        let rel = options.rel(kind.many);
        links.insert(rel.clone(), own.into());
        ServerResponse::json(
            200,
            json!({
                "total_pages": pages,
                "per_page": per_page,
                "page": page,
                "total_records": members.len(),
                "_links": links,
                "_embedded": { rel: shown },
            }),
        )
    }

    /// Renders the entry point.
    pub(super) fn entry_point(&self) -> ServerResponse {
        let options = self.options;
        let titled = |address: &str, title: &str| {
            let mut link = self.link(address);
            if options.titles
                && let Some(link) = link.as_object_mut()
            {
                link.insert("title".to_owned(), title.into());
            }
            link
        };
        let mut links = Map::new();
        links.insert("self".to_owned(), titled("", "Entry point"));
        links.insert("curies".to_owned(), self.curies());
        for kind in KINDS.iter().filter(|kind| is_listed(options, kind)) {
            links.insert(
                options.rel(kind.many),
                titled(&format!("all/{}", kind.many), kind.many),
            );
        }
        if is_helper_served(options, "person_signup") {
            links.insert(
                options.rel("person_signup_helper"),
                titled("do/person_signup", "Sign up"),
            );
        }
        links.insert(
            "service-meta".to_owned(),
            titled("about/capabilities", "Capabilities"),
        );
        let mut docs = titled("about/", "Documentation");
        if let Some(docs) = docs.as_object_mut() {
            docs.insert("name".to_owned(), "Reference".into());
            docs.insert("index".to_owned(), "start".into());
        }
        links.insert("docs".to_owned(), docs);
        ServerResponse::json(
            200,
            json!({
                "motd": "Good morning.",
                "max_pagesize": options.max_pagesize,
                "vendor_name": "Second",
                "product_name": "Second service",
                format!("{}_version", options.prefix): "1.2.0",
                "namespace": options.namespace,
                "_links": links,
            }),
        )
    }
}

/// Returns an address such as `r/7/signatures?page=2` in the form `r?id=7&part=signatures&page=2`.
fn in_query(address: &str) -> String {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    if first == "about" || rest.is_empty() {
        return address.to_owned();
    }
    let (id, part) = rest.split_once('/').unwrap_or((rest, ""));
    let parameters = [format!("id={id}"), format!("part={part}"), query.to_owned()];
    let parameters: Vec<_> = parameters
        .into_iter()
        .filter(|one| !one.is_empty() && one != "part=")
        .collect();
    format!("{first}?{}", parameters.join("&"))
}

/// Returns the path of an address with [`HrefStyle::InQuery`].
pub(super) fn without_query(path: &str, query: &str) -> String {
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(known, _)| *known == name)
            .map(|(_, value)| format!("/{value}"))
    };
    format!(
        "{path}{}{}",
        value("id").unwrap_or_default(),
        value("part").unwrap_or_default()
    )
}

/// Returns the address of a record below the base URL.
pub(super) fn address(number: RecordNumber) -> String {
    format!("r/{number}")
}

/// Returns whether the service offers a kind.
pub(super) fn is_served(options: &ServerOptions, one: &str) -> bool {
    kinds::kind(one).is_some_and(|kind| !options.without.iter().any(|name| name == kind.many))
}

/// Returns whether the entry point links the collection of a kind. In a service with helpers only,
/// this is a container.
pub(super) fn is_listed(options: &ServerOptions, kind: &ServerKind) -> bool {
    let is_shown = || {
        options.containers == Containers::Listed && kind.helper.is_some() && kind.one != "person"
    };
    kind.listed && is_served(options, kind.one) && (!options.helpers_only || is_shown())
}

/// Returns whether the service offers a helper: it offers the kind that the helper creates, and
/// accepts writes.
pub(super) fn is_helper_served(options: &ServerOptions, helper: &str) -> bool {
    let made = match helper {
        "person_signup" => "person",
        "schedule" => "message",
        other => kinds::made_by(other).map_or("", |kind| kind.one),
    };
    let is_reached = match (options.helpers_only, options.containers, helper) {
        (true, Containers::None, helper) => helper == "person_signup",
        (true, Containers::Hidden, helper) => helper != "person_signup",
        _ => true,
    };
    is_reached && !options.read_only && is_served(options, made)
}

/// Computes the numbers of a share option.
fn shares(fields: &[ObjectField], option: &mut Value) {
    for field in fields {
        let FieldShape::Object(members) = &field.shape else {
            continue;
        };
        let Some(share) = option.get_mut(&field.name).and_then(Value::as_object_mut) else {
            continue;
        };
        for member in members.iter().filter(|member| member.computed) {
            share.insert(member.name.clone(), 0.into());
        }
    }
}

/// Returns the price of a ticket of an event: its own price, or that of its level.
fn price(event: &RecordData, ticket: &Value) -> f64 {
    let of = |value: &Value| value.get("amount").and_then(Value::as_f64);
    let level = || {
        event
            .list("ticket_levels")
            .iter()
            .find(|level| level.get("title") == ticket.get("title"))
    };
    of(ticket).or_else(|| level().and_then(of)).unwrap_or(0.0)
}

/// Returns a sum of amounts, exact to a millionth.
fn sum(amounts: impl Iterator<Item = f64>) -> Value {
    let total: f64 = amounts.map(|amount| (amount * 1e6).round()).sum();
    let value = total / 1e6;
    // Whole amounts are written without a fraction.
    match (
        value.fract().partial_cmp(&0.0),
        format!("{value:.0}").parse::<i64>(),
    ) {
        (Some(Ordering::Equal), Ok(whole)) => whole.into(),
        _ => json!(value),
    }
}
