//! The data of the benchmarks: generated people of about 2 KB as JSON, and their actions. It is the
//! same in every run.

use std::path::{Path, PathBuf};
use std::time::Instant;

use svc_core::link::RecordAddress;
use svc_core::model::Kind;
use svc_core::raw::RawDraft;
use svc_core::read::{Json, JsonLimits, Object};
use svc_core::store::ImportedRecord;
use svc_core::value::{Id, Timestamp};
use svc_core::{Api, ApiBuilder, Tenant, Vendor};
use svc_sqlite::{KeyOptions, SqliteOptions, SqliteStore};
use svc_tower::SvcService;

pub(crate) const TENANT: &str = "bench";
pub(crate) const BASE: &str = "http://api.example.org/api/v1/";
pub(crate) const NAMESPACE: &str = "bench";

/// 2026-01-05T09:00:00Z.
const BEGIN: i64 = 1_767_603_600_000_000;
/// Records loaded in one transaction.
const LOAD: usize = 5_000;

/// People of the large file: 40 000 pages of 25.
pub(crate) const MANY: u32 = 1_000_000;
/// Members of a small container in the same file.
pub(crate) const FEW: u32 = 1_000;
/// Change it together with [`fill`], so that files of an earlier version are created again.
const VERSION: &str = "2";

/// A container of the large file with one million members, and one with a thousand.
pub(crate) struct Pair {
    /// The counted value, as the line of the benchmark names it.
    pub(crate) counted: &'static str,
    pub(crate) container: Kind,
    pub(crate) member: Kind,
    pub(crate) many: RecordAddress,
    pub(crate) few: RecordAddress,
}

/// Returns the containers of the large file. Totals of other kinds are read by the same statement
/// as those of signatures.
pub(crate) fn pairs() -> Vec<Pair> {
    let counted = [
        ("total_signatures", Kind::Petition, Kind::Signature),
        (
            "total_amount of donations",
            Kind::FundraisingPage,
            Kind::Donation,
        ),
        (
            "total_accepted, total_tickets",
            Kind::Event,
            Kind::Attendance,
        ),
    ];
    let of = |(counted, container, member)| {
        let address = |number| RecordAddress::without_parent(container, id(container, number));
        Pair {
            counted,
            container,
            member,
            many: address(1),
            few: address(2),
        }
    };
    counted.map(of).into()
}

/// Returns the id of a record of the benchmarks.
pub(crate) fn id(kind: Kind, number: u32) -> Id {
    // A UUID of version 7 with the time of the record; the rest is distributed like random bits.
    let millis = created(number).as_micros() / 1000;
    let (one, two) = (
        mix(u64::from(number) << 8 | kind as u64),
        mix(u64::from(number) << 8 | kind as u64 | 1 << 60),
    );
    let text = format!(
        "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
        millis >> 16,
        millis & 0xFFFF,
        one & 0xFFF,
        one >> 16 & 0x3FFF | 0x8000,
        two & 0xFFFF_FFFF_FFFF
    );
    Id::new(&text).expect("a UUID")
}

/// Returns the creation time of a record of the benchmarks.
fn created(number: u32) -> Timestamp {
    Timestamp::from_micros(BEGIN + i64::from(number) * 20_000_123)
}

/// Scatters a number over 64 bits.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ mixed >> 31
}

fn object(text: &str) -> Object {
    match Json::read(text.as_bytes(), &JsonLimits::trusted()) {
        Ok(Json::Object(object)) => object,
        other => panic!("not an object: {other:?}"),
    }
}

/// Returns the fields of a person, as a client sends them.
pub(crate) fn person_text(number: u32) -> String {
    let word = |salt: u64, words: &[&'static str]| {
        let place = mix(u64::from(number) | salt << 40) % words.len() as u64;
        words
            .get(usize::try_from(place).unwrap_or(0))
            .copied()
            .unwrap_or_default()
    };
    let given = word(
        1,
        &[
            "Ada", "Bela", "Carmen", "Dmitri", "Elif", "Femi", "Grace", "Hiro",
        ],
    );
    let family = word(
        2,
        &[
            "Okafor", "Nguyen", "Larsson", "Moreau", "Alvarez", "Kowalski", "Haddad", "Tanaka",
        ],
    );
    let city = word(
        3,
        &[
            "Springfield",
            "Riverside",
            "Franklin",
            "Clinton",
            "Georgetown",
        ],
    );
    format!(r#"{{"family_name":"{family}","given_name":"{given}","preferred_language":"en","#)
        + &format!(
            r#""postal_addresses":[{{"primary":true,"address_lines":["{number} Main Street"],"locality":"{city}","region":"IL","postal_code":"62701","country":"US"}}],"#
        )
        + &format!(
            r#""email_addresses":[{{"primary":true,"address":"person.{number}@example.org","status":"subscribed"}}],"phone_numbers":[{{"primary":true,"number":"1555{number:07}","number_type":"Mobile","country":"US"}}]}}"#
        )
}

/// Returns the body of a signature by a new person.
pub(crate) fn signature_text(number: u32) -> String {
    format!(
        r#"{{"comments":"Count me in.","person":{}}}"#,
        person_text(number)
    )
}

fn row(
    kind: Kind,
    number: u32,
    fields: &str,
    links: Vec<(&'static str, RecordAddress)>,
) -> ImportedRecord {
    let mut draft = RawDraft::empty(kind)
        .with_fields(object(fields))
        .with_links(links);
    assert!(
        draft.apply_defaults(created(number)).is_empty(),
        "a valid {kind:?}"
    );
    ImportedRecord::new(id(kind, number), created(number), draft)
}

pub(crate) fn person(number: u32) -> ImportedRecord {
    row(Kind::Person, number, &person_text(number), Vec::new())
}

pub(crate) fn petition(number: u32) -> ImportedRecord {
    container(Kind::Petition, number)
}

fn container(kind: Kind, number: u32) -> ImportedRecord {
    let fields = match kind {
        Kind::Event => format!(
            r#"{{"name":"number {number}","title":"A gathering","type":"ticketed","ticket_levels":[{{"title":"Standard","amount":12.50,"currency":"USD"}}]}}"#
        ),
        Kind::FundraisingPage => {
            format!(r#"{{"name":"number {number}","title":"A fund","currency":"USD"}}"#)
        }
        _ => format!(
            r#"{{"name":"number {number}","title":"A petition","petition_text":"We ask for more trams."}}"#
        ),
    };
    row(kind, number, &fields, Vec::new())
}

/// Returns the action of a person in a container.
fn member(pair: &Pair, container: &RecordAddress, number: u32, person: u32) -> ImportedRecord {
    let fields = match pair.member {
        Kind::Attendance => r#"{"status":"accepted","tickets":[{"title":"Standard"}]}"#,
        Kind::Donation => r#"{"amount":10.25,"currency":"USD"}"#,
        _ => r#"{"comments":"Count me in."}"#,
    };
    let person = RecordAddress::without_parent(Kind::Person, id(Kind::Person, person));
    row(
        pair.member,
        number,
        fields,
        vec![
            (pair.container.singular(), container.clone()),
            ("person", person),
        ],
    )
}

/// A store, the service over it, and a key for it.
pub(crate) struct Server {
    pub(crate) store: SqliteStore,
    pub(crate) service: SvcService,
    pub(crate) key: String,
}

fn service(store: &SqliteStore, set: impl FnOnce(ApiBuilder) -> ApiBuilder) -> SvcService {
    let vendor = Vendor::new("Bench", "Bench").namespace(NAMESPACE);
    let api = store
        .register_all(Api::builder(vendor))
        .base_url(BASE)
        .authenticator(store.clone());
    let api = set(api.anonymous_helpers(store.clone()));
    SvcService::new(api.build().expect("an API")).mounted_at("/api/v1")
}

impl Server {
    /// Opens the data file at `path`, which is created if it does not exist.
    pub(crate) async fn open(path: &Path) -> Self {
        Self::with(SqliteOptions::new(path)).await
    }

    pub(crate) async fn with(options: SqliteOptions) -> Self {
        let store = SqliteStore::open(options).expect("a store");
        let tenant = store.ensure_tenant(TENANT).await.expect("a tenant");
        let key = store
            .create_key(&tenant, KeyOptions::new("bench"))
            .await
            .expect("a key")
            .token;
        let service = service(&store, |api| api);
        Self {
            store,
            service,
            key,
        }
    }

    /// Returns another service over the same store.
    pub(crate) fn serving(&self, set: impl FnOnce(ApiBuilder) -> ApiBuilder) -> SvcService {
        service(&self.store, set)
    }

    pub(crate) async fn load(&self, rows: impl IntoIterator<Item = ImportedRecord>) {
        let tenant = Tenant::new(TENANT);
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let some = rows.by_ref().take(LOAD).collect();
            self.store
                .import_records(&tenant, some)
                .await
                .expect("records to load");
        }
    }

    /// Opens the file of one million people, which is created if no complete one exists.
    pub(crate) async fn large() -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("one-million-people.db");
        if path.exists() {
            let server = Self::open(&path).await;
            if server.store.metadata("bench").expect("a mark").as_deref() == Some(VERSION) {
                return server;
            }
            drop(server);
            svc_sqlite::remove_data_file(&path).expect("a file to remove");
        }
        println!(
            "(loading one million people and their actions into {}: takes some minutes, only once)",
            path.display()
        );
        let begin = Instant::now();
        let server = Self::open(&path).await;
        fill(&server).await;
        server
            .store
            .set_metadata("bench", VERSION)
            .await
            .expect("a mark");
        println!("(loaded in {:.0} s)", begin.elapsed().as_secs_f64());
        server
    }
}

/// Loads one million people, and one million and one thousand records for each pair of containers.
async fn fill(server: &Server) {
    server.load((0..MANY).map(person)).await;
    for pair in pairs() {
        server
            .load([1, 2].map(|number| container(pair.container, number)))
            .await;
        server
            .load((0..MANY).map(|number| member(&pair, &pair.many, number, number)))
            .await;
        server
            .load((0..FEW).map(|number| member(&pair, &pair.few, MANY + number, number)))
            .await;
    }
    server.store.checkpoint().await.expect("a checkpoint");
}
