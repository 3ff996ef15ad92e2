//! Properties that hold for every kind, with bodies generated from the tables.

use proptest::prelude::*;
use svc_core::{
    BaseUrl, Context, Create, Draft, Problem, Tenant,
    auth::{Caller, Rights},
    each_kind,
    field_set::FieldBits,
    link::{ConventionalLayout, Dialect, Layout, RecordAddress, Scope, ShareNames, Target},
    model::{Kind, Resource},
    raw::{RawDraft, RawRecord},
    read::{BodyReader, ContentLimits, Json, JsonLimits, LinkReader, Object},
    record::Meta,
    rules::{FormerValue, Recount},
    store::{Change, StoredRecord},
    value::{Amount, Id, Timestamp, stored_email},
};

use crate::support::{
    config,
    generate::{self, Dice},
    server::Server,
    typed_backend::Memory,
};

fn with_bodies<T>(dialect: &Dialect, read: impl FnOnce(&BodyReader<'_>) -> T) -> T {
    let (base, limits) = (BaseUrl::default(), JsonLimits::default());
    let links = LinkReader {
        base: &base,
        layout: &ConventionalLayout,
        dialect,
    };
    let now = Timestamp::parse("2026-01-05T09:00:00Z").expect("a timestamp");
    read(&BodyReader {
        links,
        namespace: "crm",
        limits: &limits,
        caps: &ContentLimits::default(),
        now,
        reports_ignored: false,
    })
}

/// Problems of links are not tested here.
fn without_links(problems: Vec<Problem>) -> Vec<Problem> {
    problems
        .into_iter()
        .filter(|problem| {
            !problem
                .properties
                .iter()
                .any(|at| at.to_string().starts_with("_links"))
        })
        .collect()
}

fn draft(dialect: &Dialect, kind: Kind, body: &Object) -> (RawDraft, Vec<Problem>) {
    let (draft, report) = with_bodies(dialect, |bodies| {
        bodies.draft(kind, FieldBits::ALL, body, None)
    });
    (draft, without_links(report.problems))
}

/// Addresses as older versions stored them.
const ADDRESSES: &[&str] = &[
    "ada@example.org",
    " ada@example.org",
    "ADA@EXAMPLE.ORG\u{a0}",
    "ada@b\u{fc}cher.example",
    "ada@xn--bcher-kva.example",
    "a@x..org",
    "a@x.org, b@x.org",
    "\u{feff}",
];

/// Phone numbers as older versions stored them.
const NUMBERS: &[&str] = &[
    "442079460000",
    "+44 (0)20 7946-0000",
    "tel:00442079460000 x12",
    "12345",
    "ask me",
];

fn any_kind() -> impl Strategy<Value = Kind> {
    (0..Kind::ALL.len()).prop_map(|place| Kind::ALL[place])
}

fn missing(paths: &[String], problems: &[Problem]) -> Vec<String> {
    let named = |path: &&String| {
        !problems
            .iter()
            .any(|problem| problem.properties.iter().any(|at| at.to_string() == **path))
    };
    paths.iter().filter(named).cloned().collect()
}

/// Brings the fields of a stored record into the form of this version. Returns them with the values
/// that were not in it.
fn in_form(kind: Kind, fields: &Object) -> (Object, Vec<FormerValue>) {
    let now = Timestamp::parse("2026-01-05T09:00:00Z").expect("a timestamp");
    let names = ShareNames::default();
    let record = |members| {
        let meta = Meta::new(Id::new("a").expect("an id"), now);
        RawRecord::from_wire(kind, meta, members)
    };
    let stored = record(names.wire_members(fields));
    let mut recount = Recount::default();
    let changes = recount.record(&StoredRecord::new(1, stored.clone()));
    let set = changes.into_iter().find_map(|change| match change {
        Change::SetFields { fields, .. } => Some(record(fields)),
        _ => None,
    });
    let fields = set.unwrap_or(stored).to_fields(&names);
    (
        fields.expect("fields"),
        recount.former_values().cloned().collect(),
    )
}

/// Sorts members, because their order has no meaning.
fn sorted(json: &Json) -> Json {
    match json {
        Json::Array(items) => Json::Array(items.iter().map(sorted).collect()),
        Json::Object(object) => {
            let mut members: Vec<(&str, Json)> = object
                .iter()
                .map(|(name, value)| (name, sorted(value)))
                .collect();
            members.sort_by(|left, right| left.0.cmp(right.0));
            Json::Object(members.into_iter().collect())
        }
        other => other.clone(),
    }
}

/// Creates a record of a kind directly in the backend.
fn create(server: &Server, draft: RawDraft) -> RecordAddress {
    macro_rules! create {
        (($server:ident, $draft:ident) $($kind:ident)+) => {
            match $draft.kind {
                $(Kind::$kind => {
                    let cx = Context::new(Tenant::new("one"), Caller::with_rights(Rights::all()), Timestamp::from_micros(0));
                    let made = Create::<svc_core::model::$kind>::create(&*$server.store, &cx, svc_core::CreateRequest::new(Draft::from_raw($draft)));
                    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
                    runtime.block_on(made).expect("a record").record.into_raw().address()
                })+
                kind => unreachable!("a kind that `each_kind!` does not name: {kind:?}"),
            }
        };
    }
    each_kind!(create(server, draft))
}

/// Creates a record of a kind with these fields, under a container of its own.
fn create_with_container(server: &Server, kind: Kind, fields: Object) -> RecordAddress {
    let mut draft = RawDraft::empty(kind).with_fields(fields);
    if let (Some(parent), Some(container)) = (kind.schema().parent, kind.schema().parent_kind()) {
        draft
            .links
            .push((parent, create(server, RawDraft::empty(container))));
    }
    create(server, draft)
}

/// ERR-39, ERR-26: every fault is reported, at any depth, on create and on update.
fn all_faults_are_named(dialect: &Dialect, kind: Kind, seed: u64) -> Result<(), TestCaseError> {
    let faulty = generate::faulty(&mut Dice::new(seed), kind);
    let (_, problems) = draft(dialect, kind, &faulty.body);
    let left_out = missing(&faulty.paths, &problems);
    prop_assert!(
        left_out.is_empty(),
        "ERR-39 {kind:?}: {left_out:?} not named in {:?} by {problems:#?}",
        faulty.body
    );
    prop_assert!(problems.len() >= faulty.paths.len(), "ERR-39 {kind:?}");
    for problem in &problems {
        prop_assert!(
            !problem.properties.is_empty() && !problem.description().is_empty(),
            "ERR-25, ERR-26: {problem:?}"
        );
    }
    let at = RecordAddress::without_parent(kind, Id::new("x").expect("an id"));
    let (_, report) = with_bodies(dialect, |bodies| {
        bodies.patch(&at, FieldBits::ALL, &faulty.body, None)
    });
    let problems = report.problems;
    let sent: Vec<String> = faulty
        .paths
        .iter()
        .filter(|path| is_sent(&faulty.body, path))
        .cloned()
        .collect();
    let left_out = missing(&sent, &problems);
    prop_assert!(
        left_out.is_empty(),
        "ERR-39 {kind:?} on update: {left_out:?} in {:?}",
        faulty.body
    );
    Ok(())
}

/// A missing required field is a fault of a create, but not of an update.
fn is_sent(body: &Object, path: &str) -> bool {
    path.contains(['.', '[']) || body.contains(path)
}

/// TYP-01 to TYP-13: a sent value returns unchanged through the typed view, the renderer and the
/// reader.
fn round_trip(server: &Server, kind: Kind, seed: u64) -> Result<(), TestCaseError> {
    let dialect = server.api.dialect().clone();
    let mut body = generate::body(&mut Dice::new(seed), kind);
    dialect.share_names().rename_to_wire(&mut body);
    let (sent, problems) = draft(&dialect, kind, &body);
    prop_assert!(problems.is_empty(), "{kind:?}: {body:?} {problems:#?}");
    let at = create_with_container(server, kind, sent.fields.clone());
    let href = server.api.url(server.api.base_url(), &Target::Record(at));
    let answer = server.get(&href);
    prop_assert_eq!(answer.status, 200, "COL-03 {}", answer.text);
    prop_assert_eq!(answer.link("self"), Some(href.as_str()), "HAL-16");
    let Ok(Json::Object(sent_back)) = Json::read(answer.text.as_bytes(), &JsonLimits::default())
    else {
        return Err(TestCaseError::fail("not an object"));
    };
    // A client that sends the whole representation back changes nothing. The identifier of the
    // server is removed, because it is known.
    let (read, problems) = draft(&dialect, kind, &{
        let mut body = sent_back.clone();
        body.remove("identifiers");
        body
    });
    prop_assert!(problems.is_empty(), "{kind:?}: {problems:#?}");
    prop_assert_eq!(
        sorted(&read.fields.into()),
        sorted(&sent.fields.into()),
        "round trip of {:?}",
        kind
    );
    // Stored bytes also have the nested computed members.
    if server.store.is_typed() {
        for (name, value) in &body {
            prop_assert_eq!(
                sent_back.get(name).map(sorted),
                Some(sorted(value)),
                "{:?}.{} as sent",
                kind,
                name
            );
        }
    }
    Ok(())
}

fn other_dialect() -> Dialect {
    let names = ShareNames::new("birdsite_share", "network_a_share").expect("names");
    Dialect::with_prefix("abc")
        .expect("a prefix")
        .with_share_names(names)
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn err_39_every_fault_of_any_kind_is_named(kind in any_kind(), seed in any::<u64>()) {
        all_faults_are_named(&Dialect::default(), kind, seed)?;
    }

    #[test]
    fn typ_01_to_12_valid_bodies_of_every_kind_come_back(kind in any_kind(), seed in any::<u64>()) {
        round_trip(&Server::with(|api| api), kind, seed)?;
    }

    #[test]
    fn hal_11_typed_records_speak_any_dialect(kind in any_kind(), seed in any::<u64>()) {
        round_trip(&Server::with(|api| api.dialect(other_dialect())), kind, seed)?;
    }

    #[test]
    fn hal_11_stored_records_speak_any_dialect(kind in any_kind(), seed in any::<u64>()) {
        let dialect = other_dialect();
        let store = Memory::stored(dialect.share_names().clone());
        round_trip(&Server::over(store, |api| api.dialect(dialect)), kind, seed)?;
    }

    #[test]
    fn cru_15_to_18_a_put_changes_what_it_sends(kind in any_kind(), before in any::<u64>(), change in any::<u64>()) {
        let server = Server::with(|api| api);
        let (sent, _) = draft(&Dialect::default(), kind, &generate::body(&mut Dice::new(before), kind));
        let at = create_with_container(&server, kind, sent.fields.clone());
        if !server.api.offers(kind, svc_core::auth::Operation::Update) {
            return Ok(());
        }
        let href = server.api.url(server.api.base_url(), &Target::Record(at));
        let read = |text: &str| Json::read(text.as_bytes(), &JsonLimits::default()).expect("JSON").into_object().expect("an object");
        let old = read(&server.get(&href).text);

        // Some fields change, some are cleared with `null` (CRU-17), the rest is omitted (CRU-15).
        let mut dice = Dice::new(change);
        let mut patch = generate::object(&mut dice, kind.schema().fields);
        patch.retain(|_, _| dice.once_in(2));
        for field in kind.schema().fields.fields.iter().filter(|field| !field.is_computed()) {
            if field.mode != svc_core::schema::FieldMode::Required && dice.once_in(4) {
                patch.insert(field.name, Json::Null);
            }
        }
        let answer = server.put(&href, &Json::Object(patch.clone()).to_string());
        let again = server.get(&href);
        if answer.status == 400 {
            // Only rules between fields reject a change with valid values, and then nothing changes
            // (CRU-20).
            prop_assert!(matches!(kind, Kind::Question | Kind::Event), "{kind:?} {}", answer.text);
            prop_assert_eq!(read(&again.text), old, "CRU-20");
            return Ok(());
        }
        prop_assert_eq!(answer.status, 200, "ERR-15 {}", answer.text);
        prop_assert_eq!(&again.text, &answer.text, "CRU-04");
        let new = read(&answer.text);
        let mut expected = old.clone();
        svc_core::read::merge_patch(&mut expected, &patch);
        // These fields depend on rules between fields (RES-person-08, RES-donation-03, RES-donation-18).
        let by_rule = |name: &str| matches!(name, "gender" | "amount" | "voided" | "voided_date" | "modified_date");
        let names: std::collections::BTreeSet<&str> = new.keys().chain(expected.keys()).collect();
        for name in names {
            if !by_rule(name) {
                let (new, expected) = (new.get(name).map(sorted), expected.get(name).map(sorted));
                prop_assert_eq!(new, expected, "CRU-15, CRU-17, CRU-18, UND-21: {:?}.{}", kind, name);
            }
        }
        let modified = |record: &Object| record.get("modified_date").and_then(Json::as_str).and_then(Timestamp::parse);
        let without_date = |record: &Object| record.iter().filter(|(name, _)| *name != "modified_date").map(|(name, value)| (name.to_owned(), value.clone())).collect::<Vec<_>>();
        let is_unchanged = without_date(&new) == without_date(&old) && modified(&new) == modified(&old);
        prop_assert!(is_unchanged || modified(&new) > modified(&old), "CRU-19");
        // Repeating the change only changes the date.
        let twice = read(&server.put(&href, &Json::Object(patch).to_string()).text);
        for (name, value) in new.iter().filter(|(name, _)| !by_rule(name)) {
            prop_assert_eq!(twice.get(name), Some(value), "UND-21: {}", name);
        }
    }

    #[test]
    fn und_27_no_body_breaks_a_request(seed in any::<u64>()) {
        let server = Server::with(|api| api);
        let dice = &mut Dice::new(seed);
        let person = server.made("people", r#"{"given_name":"Ada"}"#);
        let known = [person, server.made("petitions", "{}"), server.made("fundraising_pages", "{}"), server.made("events", "{}")];
        for _ in 0..6 {
            let kind = Kind::ALL[dice.below(Kind::ALL.len())];
            let body = Json::Object(generate::hostile(dice, kind)).to_string();
            let record = dice.pick(&known.each_ref().map(String::as_str)).to_owned();
            let helpers = server.get(&record).json["_links"].as_object().cloned().unwrap_or_default();
            let helpers: Vec<&str> =
                helpers.iter().filter(|(name, _)| name.ends_with("_helper")).filter_map(|(_, link)| link["href"].as_str()).collect();
            let answer = match dice.below(5) {
                0 if !helpers.is_empty() => server.post(dice.pick(&helpers), &body),
                1 if !helpers.is_empty() => server.post_unknown(dice.pick(&helpers), &body),
                2 => server.put(&record, &body),
                3 => server.post("people/person_signup", &body),
                _ if kind.schema().has_collection() && kind != Kind::Donation && kind != Kind::Query => server.post(kind.plural(), &body),
                _ => server.post(&format!("{}/signatures", known[1]), &body),
            };
            prop_assert!(matches!(answer.status, 200 | 201 | 400), "{} to {body}: {}", answer.status, answer.text);
            if answer.status == 400 {
                let faults = answer.problems();
                prop_assert!(!faults.is_empty() && !faults.iter().any(|fault| fault.starts_with('?')), "ERR-23 {}", answer.text);
            }
        }
        for kind in Kind::ALL.iter().filter(|kind| kind.schema().has_collection()) {
            prop_assert_eq!(server.get(kind.plural()).status, 200, "COL-31");
        }
    }

    #[test]
    fn col_19_the_layout_reads_what_it_writes(kind in any_kind(), id in "[A-Za-z0-9_-]{1,64}", parent in "[A-Za-z0-9_-]{1,64}") {
        let (Some(id), Some(parent)) = (Id::new(&id), Id::new(&parent)) else { return Ok(()) };
        let address = RecordAddress::new(kind, id, kind.schema().path_parent.map(|_| parent));
        let mut targets = vec![Target::Record(address.clone())];
        for link in kind.schema().links {
            match link.target {
                svc_core::schema::LinkTarget::Many { kind, .. } => {
                    targets.push(Target::Collection { kind, scope: Scope::Under(address.clone()) });
                }
                svc_core::schema::LinkTarget::Helper(helper) => {
                    targets.push(Target::Helper { helper, container: Some(address.clone()) });
                }
                svc_core::schema::LinkTarget::One { .. } => {}
            }
        }
        for target in targets {
            let mut path = String::new();
            ConventionalLayout.path(&target, &mut path);
            prop_assert_eq!(ConventionalLayout.route(&path), Some(target.clone()), "COL-19 {}", &path);
            prop_assert_eq!(ConventionalLayout.route(&format!("{path}/")), Some(target), "CRU-01 {}/", path);
        }
    }

    /// A store changes nothing that a client can send now.
    #[test]
    fn und_46_values_of_today_have_their_form(kind in any_kind(), seed in any::<u64>()) {
        let body = generate::body(&mut Dice::new(seed), kind);
        let (draft, problems) = draft(&Dialect::default(), kind, &body);
        prop_assert!(problems.is_empty(), "{problems:?}");
        let (_, former) = in_form(kind, &draft.fields);
        prop_assert!(former.is_empty(), "{former:?}");
    }

    /// A stored value of an earlier version gets the form that it would have if a client sent it now.
    /// A value that a client could not send now is unchanged.
    #[test]
    fn und_46_former_values_get_the_form_of_today(
        addresses in prop::collection::vec(prop::sample::select(ADDRESSES), 0..4),
        numbers in prop::collection::vec(prop::sample::select(NUMBERS), 0..3),
        country in prop::sample::select(&["GB", "gb", " gb", "ZZ"][..]),
        region in prop::sample::select(&["ENG", "eng", "Kent"][..]),
        handle in prop::sample::select(&["ada", "@ada", "@@a@b"][..]),
    ) {
        let object = |members: &[(&'static str, &str)]| {
            let mut object = Object::new();
            for (name, value) in members {
                object.insert(*name, Json::from(*value));
            }
            Json::Object(object)
        };
        let list = |name: &'static str, values: &[&str]| {
            Json::Array(values.iter().map(|value| object(&[(name, value)])).collect())
        };
        let mut person = Object::new();
        person.insert("email_addresses", list("address", &addresses));
        person.insert("phone_numbers", list("number", &numbers));
        let address = object(&[("country", country), ("region", region)]);
        person.insert("postal_addresses", Json::Array(vec![address]));
        person.insert("profiles", list("handle", &[handle]));
        let (sent, problems) = draft(&Dialect::default(), Kind::Person, &person);
        let (stored, former) = in_form(Kind::Person, &person);
        let is_valid = former.iter().all(|value| value.is_converted);
        prop_assert_eq!(is_valid, problems.is_empty(), "{:?} {:?}", problems, former);
        let list = stored.get("email_addresses").and_then(Json::as_array).unwrap_or_default();
        // A text without an address is removed.
        let is_refused = |address: &&&str| **address != "\u{feff}" && stored_email(address).is_err();
        for refused in addresses.iter().filter(is_refused) {
            let remains = |entry: &Json| entry.as_object().and_then(|it| it.get("address")) == Some(&Json::from(*refused));
            prop_assert!(list.iter().any(remains), "{refused:?} {list:?}");
        }
        if problems.is_empty() {
            prop_assert_eq!(sorted(&Json::Object(stored.clone())), sorted(&Json::Object(sent.fields)));
        }
        prop_assert_eq!(in_form(Kind::Person, &stored).0, stored, "once is enough");
    }

    #[test]
    fn und_35_no_path_whatever_breaks_the_layout(path in "[a-z_]{0,12}(/[A-Za-z0-9_%.-]{0,8}){0,6}/?|\\PC{0,40}") {
        if let Some(target) = ConventionalLayout.route(&path) {
            let mut again = String::new();
            ConventionalLayout.path(&target, &mut again);
            prop_assert!(ConventionalLayout.route(&again).is_some(), "COL-19 {path} {again}");
        }
    }

    #[test]
    fn typ_03_sums_of_amounts_are_exact_in_any_order(
        parts in prop::collection::vec((-1_000_000_000_000_i64..1_000_000_000_000, 0_u32..=4), 0..60), turn in any::<usize>(),
    ) {
        let amounts: Vec<Amount> = parts.iter().map(|&(m, s)| Amount::new(m.into(), s).expect("an amount")).collect();
        let sum = |amounts: &[Amount]| amounts.iter().try_fold(Amount::ZERO, |sum, it| sum.checked_add(*it));
        let exact: i128 = parts.iter().map(|&(m, s)| i128::from(m) * 10_i128.pow(4 - s)).sum();
        let mut turned = amounts.clone();
        turned.rotate_left(turn % amounts.len().max(1));
        prop_assert_eq!(sum(&amounts), Amount::new(exact, 4), "TYP-03");
        prop_assert_eq!(sum(&turned), sum(&amounts), "TYP-03");
        let back = amounts.iter().try_fold(sum(&amounts).expect("a sum"), |sum, it| sum.checked_sub(*it));
        prop_assert_eq!(back, Some(Amount::ZERO), "TYP-03");
    }
}

#[test]
fn the_tables_fit_the_field_sets() {
    fn places<R: Resource>() -> usize {
        R::SCHEMA.fields.fields.len()
    }
    macro_rules! fit {
        (() $($kind:ident)+) => { $(assert!(places::<svc_core::model::$kind>() <= 64);)+ };
    }
    each_kind!(fit());
}
