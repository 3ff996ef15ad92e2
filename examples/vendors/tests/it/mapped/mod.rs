//! Tests of the mapped example for both databases.
pub(crate) mod guide;
mod merges;

use std::{error::Error, sync::Arc};

use async_trait::async_trait;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use svc_conformance::{InProcess, Intensity, Keys, Suite};
use svc_core::{
    Api, Tenant, Vendor,
    auth::{FixedKeys, Rights},
};
use svc_sql::{Database, DatabaseError, MappedStore, SqlDialect, Statement, TextRow, Transaction};
use svc_tower::SvcService;
use svc_vendor_examples::mapped::{interface, mapping};
use tower::ServiceExt;

pub(crate) type TestResult<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

pub(crate) const BASE: &str = "http://localhost/";
/// The keys of the tests, with the number of the organisation and their rights.
pub(crate) const KEYS: [(&str, i64, &str); 3] = [
    ("key of acme 0123456789", 1, "all"),
    ("key of other 0123456789", 2, "all"),
    (
        "key of a form 0123456789",
        1,
        "helper.person_signup people.read",
    ),
];

/// Returns the rows for the table of keys.
pub(crate) fn keys() -> impl Iterator<Item = (Vec<u8>, i64, &'static str)> {
    KEYS.into_iter()
        .map(|(key, org, scope)| (Sha256::digest(key).to_vec(), org, scope))
}

/// The tables in a database.
pub(crate) struct Place {
    database: Arc<dyn Database>,
}

impl Place {
    pub(crate) fn new(database: Arc<dyn Database>) -> Self {
        Self { database }
    }

    pub(crate) fn database(&self) -> Arc<dyn Database> {
        Arc::clone(&self.database)
    }

    pub(crate) async fn service(&self) -> TestResult<SvcService> {
        MappedStore::create_library_tables(&self.database).await?;
        Ok(interface(Arc::clone(&self.database), BASE).await?)
    }

    /// Runs the suite with the server's own declaration only.
    pub(crate) async fn conforms(&self) -> TestResult {
        let [primary, other, restricted] = KEYS.map(|(key, ..)| key);
        let keys = Keys::primary(primary)
            .other_tenant(other)
            .restricted(restricted, "tags.create");
        let intensity = match std::env::var("SVC_INTENSITY").as_deref() {
            Ok("default") => Intensity::Default,
            _ => Intensity::Quick,
        };
        let suite = Suite::new(InProcess::new(self.service().await?).base_url(BASE)).keys(keys);
        let report = suite.intensity(intensity).seed(42).run().await?;
        println!("{report}");
        assert_eq!(report.exit_code(), 0, "{report}");
        Ok(())
    }

    /// Several callers sign the same new person up simultaneously, in several rounds.
    pub(crate) async fn signs_up_at_once(&self, rounds: usize) -> TestResult {
        let service = self.service().await?;
        for round in 0..rounds {
            let body = json!({ "person": { "email_addresses": [{ "address": format!("ada{round}@example.org") }] } });
            let calls = (0..20).map(|_| {
                tokio::spawn(call(
                    service.clone(),
                    "POST",
                    "people/person_signup",
                    Some(body.clone()),
                ))
            });
            let mut ids = Vec::new();
            for call in calls.collect::<Vec<_>>() {
                let (status, answer) = call.await??;
                assert!(status.is_success(), "HLP-04: {status} {answer}");
                ids.push(answer["_links"]["self"]["href"].as_str().map(str::to_owned));
            }
            ids.dedup();
            assert_eq!(ids.len(), 1, "HLP-04: one person in round {round}: {ids:?}");
        }
        let (_, people) = call(service, "GET", "people?per_page=1", None).await?;
        assert_eq!(people["total_records"], rounds, "HLP-04");
        Ok(())
    }

    /// CRU-19: requests that send again what is stored write nothing. `writes` counts written rows.
    pub(crate) async fn writes_nothing_new(
        &self,
        writes: impl Fn() -> TestResult<i64>,
    ) -> TestResult {
        let service = self.service().await?;
        let person = json!({
            "given_name": "Ada", "email_addresses": [{ "address": "ada@example.org", "primary": true }]
        });
        let (_, events) = call(service.clone(), "GET", "events", None).await?;
        let links = &events["_embedded"]["svc:events"][0]["_links"];
        let helper = links["svc:record_attendance_helper"]["href"].as_str();
        let helper = helper.and_then(|helper| helper.strip_prefix(BASE));
        let helper = helper.ok_or("no helper")?.to_owned();
        let signup = "people/person_signup".to_owned();
        let requests = [
            ("POST", signup, json!({ "person": person })),
            (
                "POST",
                helper,
                json!({ "person": person, "status": "accepted" }),
            ),
        ];
        let mut paths = Vec::new();
        for (method, path, body) in requests {
            let send = async || call(service.clone(), method, &path, Some(body.clone())).await;
            let (status, first) = send().await?;
            assert!(status.is_success(), "{path}: {status} {first}");
            let before = writes()?;
            let (status, again) = send().await?;
            assert!(status.is_success(), "{path}: {status} {again}");
            assert_eq!(again["modified_date"], first["modified_date"], "{path}");
            assert_eq!(writes()?, before, "{path}");
            let own = first["_links"]["self"]["href"].as_str();
            paths.extend(
                own.and_then(|own| own.strip_prefix(BASE))
                    .map(str::to_owned),
            );
        }
        for (path, body) in paths.iter().zip([person, json!({ "status": "accepted" })]) {
            let before = writes()?;
            let (status, answer) = call(service.clone(), "PUT", path, Some(body)).await?;
            assert_eq!(status, StatusCode::OK, "{path}: {answer}");
            assert_eq!(writes()?, before, "{path}");
        }
        assert_eq!(paths.len(), 2);
        Ok(())
    }

    /// FLT-01, FLT-06 to FLT-08: people are filtered by the lookups that the mapping contains, page by
    /// page, and not by fields whose index the library does not know.
    pub(crate) async fn filters_by_lookups(&self) -> TestResult {
        let service = self.service().await?;
        let mut people = Vec::new();
        for system in ["a", "b", "c"] {
            let address = if system == "c" { "eve" } else { "home" };
            let body = json!({
                "email_addresses": [{ "address": format!("{address}@example.org") }],
                "identifiers": [format!("{system}:1")],
            });
            let (status, person) = call(service.clone(), "POST", "people", Some(body)).await?;
            assert!(status.is_success(), "{status} {person}");
            people.push(person["_links"]["self"]["href"].clone());
        }
        for (filter, expected) in [
            ("email_address eq 'HOME@example.org'", &people[..2]),
            (
                "identifiers in ('a:1', 'c:1', 'd:1')",
                &[people[0].clone(), people[2].clone()],
            ),
            (
                "email_address eq 'home@example.org' and identifiers ne 'a:1'",
                &people[1..2],
            ),
            ("identifiers eq 'A:1'", &[]),
        ] {
            let mut found = Vec::new();
            let mut next = Some(format!(
                "people?per_page=1&filter={}",
                filter.replace(' ', "%20")
            ));
            while let Some(path) = next {
                let (status, page) = call(service.clone(), "GET", &path, None).await?;
                assert_eq!(status, StatusCode::OK, "{filter}: {page}");
                assert_eq!(page["total_records"], expected.len(), "FLT-05: {filter}");
                let records = page["_embedded"]["svc:people"].as_array();
                let links = records.into_iter().flatten();
                found.extend(links.map(|person| person["_links"]["self"]["href"].clone()));
                let link = page["_links"]["next"]["href"].as_str();
                next = link
                    .and_then(|link| link.strip_prefix(BASE))
                    .map(str::to_owned);
            }
            assert_eq!(found, expected, "FLT-08: {filter}");
        }
        let path = "people?filter=modified_date%20gt%20'2026-11-01'";
        let (status, answer) = call(service.clone(), "GET", path, None).await?;
        assert_eq!(status, StatusCode::BAD_REQUEST, "FLT-04: {answer}");
        let path = "people?filter=identifiers%20eq%20'a:1'";
        let (_, other) = call_of_another(service, "GET", path, None).await?;
        assert_eq!(other["total_records"], 0, "FLT-11: {other}");
        Ok(())
    }

    /// CRU-16, UND-38: an RSVP moves to another person, and not to one who already has one.
    ///
    /// The example does not offer changes of RSVPs, so this is an API with all operations.
    pub(crate) async fn moves_actions(&self) -> TestResult {
        MappedStore::create_library_tables(&self.database).await?;
        let store = MappedStore::connect(mapping(), self.database()).await?;
        let keys = FixedKeys::new().with_key(KEYS[0].0, Tenant::new("1"), Rights::all());
        let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"));
        let api = store.register(api.base_url(BASE).authenticator(keys));
        let service = SvcService::new(api.build()?);
        let send = async |method, path: &str, body| {
            let path = path.strip_prefix(BASE).unwrap_or(path);
            call(service.clone(), method, path, Some(body)).await
        };
        let link =
            |json: &Value, name: &str| json["_links"][name]["href"].as_str().map(str::to_owned);
        let make = async |path: &str, body| -> TestResult<String> {
            let (status, json) = send("POST", path, body).await?;
            assert_eq!(status, StatusCode::CREATED, "{json}");
            link(&json, "self").ok_or_else(|| "no address".into())
        };
        let ada = make("people", json!({"given_name": "Ada"})).await?;
        let eve = make("people", json!({"given_name": "Eve"})).await?;
        let kim = make("people", json!({"given_name": "Kim"})).await?;
        let event = make(
            "events",
            json!({"title": "Party", "start_date": "2030-01-01T18:00:00Z", "capacity": 9}),
        )
        .await?;
        let of = |person: &str| json!({"_links": {"svc:person": {"href": person}}});
        let attendances = format!("{event}/attendances");
        let rsvp = make(&attendances, of(&ada)).await?;
        make(&attendances, of(&kim)).await?;
        let (status, moved) = send("PUT", &rsvp, of(&eve)).await?;
        assert_eq!(
            (status, link(&moved, "svc:person")),
            (StatusCode::OK, Some(eve.clone()))
        );
        for (person, number) in [(&ada, 0), (&eve, 1)] {
            let path = format!("{person}/attendances");
            let path = path.trim_start_matches(BASE);
            let (_, page) = call(service.clone(), "GET", path, None).await?;
            assert_eq!(page["total_records"], number, "CRU-16: {page}");
        }
        let (status, refused) = send("PUT", &rsvp, of(&kim)).await?;
        assert_eq!(status, StatusCode::BAD_REQUEST, "UND-38: {refused}");
        assert!(
            refused.to_string().contains("_links.svc:person"),
            "{refused}"
        );
        let (status, same) = send("PUT", &rsvp, of(&eve)).await?;
        assert_eq!((status, &same), (StatusCode::OK, &moved), "CRU-19");
        Ok(())
    }

    /// HAF-11, UND-26: a server response is sent after its request is committed, and not to deleted
    /// people.
    pub(crate) async fn sends_what_is_triggered(&self) -> TestResult {
        let service = self.service().await?;
        let deliveries = service.delivery_worker().ok_or("deliveries")?;
        let body = |name: &str| {
            let person = json!({"email_addresses": [{"address": format!("{name}@example.org")}]});
            json!({"person": person, "triggers": {"autoresponse": {"enabled": true}}})
        };
        let mut people = Vec::new();
        for name in ["ada", "grace"] {
            let (status, json) = call(
                service.clone(),
                "POST",
                "people/person_signup",
                Some(body(name)),
            )
            .await?;
            assert_eq!(status, StatusCode::OK, "{json}");
            people.push(
                json["_links"]["self"]["href"]
                    .as_str()
                    .ok_or("no address")?
                    .to_owned(),
            );
        }
        let gone = people.pop().ok_or("nobody")?;
        let (status, _) = call(service, "DELETE", gone.trim_start_matches(BASE), None).await?;
        assert_eq!(status, StatusCode::NO_CONTENT);
        assert_eq!(deliveries.run_due().await?, None);
        assert_eq!(
            (deliveries.stats().sent, deliveries.stats().abandoned),
            (1, 0)
        );
        Ok(())
    }

    /// A row of a list stays with its entry. Unmapped columns keep their values, and so do rows
    /// that the existing program adds between reading the list and writing it.
    pub(crate) async fn keeps_rows_of_a_list(&self) -> TestResult {
        let first = self.service().await?;
        let list = |entries: &[(&str, bool)]| {
            let entry = |(address, primary): &(&str, bool)| json!({ "address": address, "primary": primary });
            json!({ "email_addresses": entries.iter().map(entry).collect::<Vec<_>>() })
        };
        let four = list(&[
            ("a@example.org", true),
            ("b@example.org", false),
            ("c@example.org", false),
            ("d@example.org", false),
        ]);
        let (status, person) = call(first, "POST", "people", Some(four)).await?;
        assert_eq!(status, StatusCode::CREATED, "{person}");
        let path = person["_links"]["self"]["href"]
            .as_str()
            .unwrap_or_default()
            .trim_start_matches(BASE)
            .to_owned();
        let run = async |sql: &str| -> TestResult {
            let (transaction, _) = self
                .database
                .begin(vec![Statement::new(sql, Vec::new())])
                .await
                .map_err(|trouble| trouble.to_string())?;
            transaction
                .commit(Vec::new())
                .await
                .map_err(|trouble| trouble.to_string())?;
            Ok(())
        };
        run("ALTER TABLE contact_emails ADD COLUMN verified text").await?;
        run("UPDATE contact_emails SET verified = 'as ' || address").await?;
        let service = self.service().await?;
        let rows = async || -> TestResult<Vec<String>> {
            let sql = "SELECT address || CASE WHEN is_primary THEN ', primary, ' ELSE ', ' END || coalesce(verified, 'new') \
                       FROM contact_emails ORDER BY id";
            let given = self
                .database
                .read(vec![Statement::new(sql, Vec::new())])
                .await
                .map_err(|trouble| trouble.to_string())?;
            Ok(given.into_iter().flatten().flatten().flatten().collect())
        };
        let three = list(&[
            ("b@example.org", true),
            ("d@example.org", false),
            ("e@example.org", false),
        ]);
        let (status, answer) = call(service, "PUT", &path, Some(three)).await?;
        assert_eq!(status, StatusCode::OK, "{answer}");
        let kept = [
            "b@example.org, primary, as b@example.org",
            "d@example.org, as d@example.org",
            "e@example.org, new",
        ];
        assert_eq!(
            rows().await?,
            kept,
            "RES-person-29: a row stays with its entry"
        );

        let adds = "INSERT INTO contact_emails (contact_id, address, verified) SELECT id, 'f@example.org', 'as f' FROM contacts";
        let meanwhile = Arc::new(Meanwhile {
            database: self.database(),
            adds,
        });
        let service = Self::new(meanwhile).service().await?;
        let (status, answer) = call(
            service,
            "PUT",
            &path,
            Some(list(&[("d@example.org", true)])),
        )
        .await?;
        assert_eq!(status, StatusCode::OK, "{answer}");
        let kept = [
            "d@example.org, primary, as d@example.org",
            "f@example.org, as f",
        ];
        assert_eq!(
            rows().await?,
            kept,
            "rows that were not read are not deleted"
        );
        Ok(())
    }
}

/// A database in which the existing program adds a row just before each request writes.
struct Meanwhile {
    database: Arc<dyn Database>,
    adds: &'static str,
}

struct Writes {
    transaction: Box<dyn Transaction>,
    adds: &'static str,
}

#[async_trait]
impl Database for Meanwhile {
    fn dialect(&self) -> &'static dyn SqlDialect {
        self.database.dialect()
    }

    async fn read(&self, statements: Vec<Statement>) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
        self.database.read(statements).await
    }

    async fn begin(
        &self,
        statements: Vec<Statement>,
    ) -> Result<(Box<dyn Transaction>, Vec<Vec<TextRow>>), DatabaseError> {
        let (transaction, given) = self.database.begin(statements).await?;
        Ok((
            Box::new(Writes {
                transaction,
                adds: self.adds,
            }),
            given,
        ))
    }
}

#[async_trait]
impl Transaction for Writes {
    async fn execute(
        &mut self,
        statements: Vec<Statement>,
    ) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
        self.transaction.execute(statements).await
    }

    async fn commit(
        mut self: Box<Self>,
        statements: Vec<Statement>,
    ) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
        // `create_library_tables` commits nothing after its first statements.
        if !statements.is_empty() {
            self.transaction
                .execute(vec![Statement::new(self.adds, Vec::new())])
                .await?;
        }
        self.transaction.commit(statements).await
    }

    async fn rollback(self: Box<Self>) {
        self.transaction.rollback().await;
    }
}

/// Returns the response to a request with the first key.
pub(crate) async fn call(
    service: SvcService,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> TestResult<(StatusCode, Value)> {
    call_by(KEYS[0].0, service, method, path, body).await
}

/// Returns the response to a request of the other organisation.
pub(crate) async fn call_of_another(
    service: SvcService,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> TestResult<(StatusCode, Value)> {
    call_by(KEYS[1].0, service, method, path, body).await
}

pub(crate) async fn call_by(
    key: &str,
    service: SvcService,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> TestResult<(StatusCode, Value)> {
    let request = Request::builder()
        .method(method)
        .uri(format!("{BASE}{path}"));
    let request = request
        .header("SVC-API-Token", key)
        .header("content-type", "application/json");
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let answer = service.oneshot(request.body(body)?).await?;
    let status = answer.status();
    let bytes = answer.into_body().collect().await?.to_bytes();
    Ok((
        status,
        serde_json::from_slice(&bytes).unwrap_or(Value::Null),
    ))
}
