//! Merges of people in mapped tables.

use http::StatusCode;
use serde_json::{Value, json};
use svc_core::{
    Api, Tenant, Vendor,
    auth::{FixedKeys, Rights},
};
use svc_sql::{MappedStore, Mapping, Statement};
use svc_tower::SvcService;
use svc_vendor_examples::mapped::mapping;

use super::{BASE, KEYS, Place, TestResult, call, call_of_another};

/// The table of another program, with the gifts of people. Each person has one gift for each page.
const GIFTS: &str = "CREATE TABLE gifts (id integer PRIMARY KEY, page varchar(20) NOT NULL, donor_id bigint NOT NULL, \
                     UNIQUE (donor_id, page), FOREIGN KEY (donor_id) REFERENCES contacts (id) ON DELETE CASCADE)";

/// A service over the tables, and the addresses of the people and records in a test.
struct Merges<'a> {
    place: &'a Place,
    service: SvcService,
}

impl Merges<'_> {
    async fn send(&self, method: &str, path: &str, body: Value) -> TestResult<(StatusCode, Value)> {
        let path = path.strip_prefix(BASE).unwrap_or(path);
        let body = (method != "GET").then_some(body);
        call(self.service.clone(), method, path, body).await
    }

    async fn get(&self, path: &str) -> TestResult<(StatusCode, Value)> {
        self.send("GET", path, Value::Null).await
    }

    /// Creates a record, and returns its URL.
    async fn create(&self, path: &str, body: Value) -> TestResult<String> {
        let (status, json) = self.send("POST", path, body).await?;
        assert_eq!(status, StatusCode::CREATED, "{json}");
        Ok(url(&json["_links"]["self"]))
    }

    /// Creates a person with an e-mail address.
    async fn person(&self, name: &str, address: &str) -> TestResult<String> {
        let addresses = json!([{"address": address}]);
        let body = json!({"given_name": name, "email_addresses": addresses});
        self.create("people", body).await
    }

    async fn merge(
        &self,
        [remaining, merged]: [&str; 2],
        is_preview: bool,
    ) -> TestResult<(StatusCode, Value)> {
        let link = json!({"svc:person": {"href": merged}});
        let body = json!({"_links": link, "preview": is_preview});
        self.send("POST", &format!("{remaining}/merge_helper"), body)
            .await
    }

    /// Creates a gift of a person, like another program.
    async fn give(&self, id: u32, page: &str, person: &str) -> TestResult {
        let person = person.rsplit('/').next().unwrap_or_default();
        self.place
            .execute(&format!(
                "INSERT INTO gifts (id, page, donor_id) \
                 SELECT {id}, '{page}', c.id FROM contacts c WHERE c.public_id = '{person}'"
            ))
            .await
    }

    /// Returns each gift with the first name of the person.
    async fn gifts(&self) -> TestResult<Vec<String>> {
        let sql = "SELECT g.page || ' ' || c.first_name FROM gifts g JOIN contacts c ON c.id = g.donor_id ORDER BY g.id";
        self.place.texts(sql).await
    }
}

fn url(link: &Value) -> String {
    link["href"].as_str().unwrap_or_default().to_owned()
}

/// Returns the codes of the problems in a response.
fn codes(json: &Value) -> Vec<&str> {
    let problems = json["svc:error"]["resource_status"].as_array();
    let descriptions = problems.into_iter().flatten();
    let descriptions = descriptions.filter_map(|it| it["error_descriptions"].as_array());
    let codes = descriptions
        .flatten()
        .filter_map(|it| it["error_code"].as_str());
    codes.collect()
}

impl Place {
    /// Executes SQL of another program.
    async fn execute(&self, sql: &str) -> TestResult {
        let statement = Statement::new(sql, Vec::new());
        let begun = self.database.begin(vec![statement]).await;
        let (transaction, _) = begun.map_err(|trouble| trouble.to_string())?;
        let ended = transaction.commit(Vec::new()).await;
        ended.map_err(|trouble| trouble.to_string())?;
        Ok(())
    }

    /// Returns the texts that a query selects.
    async fn texts(&self, sql: &str) -> TestResult<Vec<String>> {
        let read = self.database.read(vec![Statement::new(sql, Vec::new())]);
        let rows = read.await.map_err(|trouble| trouble.to_string())?;
        Ok(rows.into_iter().flatten().flatten().flatten().collect())
    }

    /// Returns an API with all operations of a mapping that merges people, or the error of its build.
    async fn merging(&self, mapping: Mapping) -> TestResult<Result<Merges<'_>, String>> {
        MappedStore::create_library_tables(&self.database).await?;
        let store = MappedStore::connect(mapping, self.database()).await?;
        let [acme, other, _] = KEYS;
        let keys = FixedKeys::new()
            .with_key(acme.0, Tenant::from(acme.1), Rights::all())
            .with_key(other.0, Tenant::from(other.1), Rights::all());
        let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"));
        let api = store.register(api.base_url(BASE).authenticator(keys));
        let api = api
            .merge_people()
            .build()
            .map_err(|error| error.to_string());
        Ok(api.map(|api| Merges {
            place: self,
            service: SvcService::new(api),
        }))
    }

    /// MRG-02 to MRG-10, MRG-15, MRG-19: two people with tags and RSVPs are merged after a preview, and
    /// the old address finds the remaining person until it is deleted.
    pub(crate) async fn merges_people(&self) -> TestResult {
        let merges = self.merging(mapping()).await??;
        let ada = merges.person("Ada", "ada@example.org").await?;
        let eve = merges.person("Eve", "eve@example.org").await?;
        let of = |person: &str| json!({"_links": {"svc:person": {"href": person}}});
        let mut taggings = Vec::new();
        for (name, people) in [("both", vec![&eve, &ada]), ("one", vec![&eve])] {
            let tag = merges.create("tags", json!({"name": name})).await?;
            for person in people {
                let path = format!("{tag}/taggings");
                taggings.push(merges.create(&path, of(person)).await?);
            }
        }
        let event = json!({"title": "Party", "start_date": "2030-01-01T18:00:00Z"});
        let event = merges.create("events", event).await?;
        let rsvp = merges
            .create(&format!("{event}/attendances"), of(&eve))
            .await?;
        let before = merges.get("people").await?;

        let (status, preview) = merges.merge([&ada, &eve], true).await?;
        assert_eq!(status, StatusCode::OK, "{preview}");
        assert_eq!(merges.get("people").await?, before, "MRG-19");
        let (status, body) = merges.merge([&ada, &eve], false).await?;
        assert_eq!(status, StatusCode::OK, "{body}");
        let report = &body["ext:merge"];
        assert_eq!(report["moved"], json!({"taggings": 1, "attendances": 1}));
        assert_eq!(report["moved"], preview["ext:merge"]["moved"], "MRG-19");
        let folded = &report["folded"][0]["_links"];
        let folded = [&folded["ext:remaining"], &folded["ext:merged"]].map(url);
        assert_eq!(folded, [taggings[0].clone(), taggings[1].clone()], "MRG-07");
        assert!(report["undo_until"].is_null(), "{report}");
        let links = &body["_links"];
        assert!(links["ext:merges"].is_null(), "{links}");

        let (status, person) = merges.get(&ada).await?;
        assert_eq!(status, StatusCode::OK, "{person}");
        let addresses = person["email_addresses"].as_array();
        let addresses = addresses.into_iter().flatten();
        let addresses: Vec<&Value> = addresses.map(|it| &it["address"]).collect();
        assert_eq!(addresses, ["ada@example.org", "eve@example.org"], "MRG-03");
        let own = |person: &str| format!("acme:{}", person.rsplit('/').next().unwrap_or_default());
        assert_eq!(person["identifiers"], json!([own(&ada), own(&eve)]));
        for (collection, expected) in [
            ("taggings", vec![&taggings[0], &taggings[2]]),
            ("attendances", vec![&rsvp]),
        ] {
            let (_, page) = merges.get(&format!("{ada}/{collection}")).await?;
            let records = page["_embedded"][format!("svc:{collection}")].as_array();
            let records = records.into_iter().flatten();
            let records: Vec<String> = records.map(|it| url(&it["_links"]["self"])).collect();
            assert_eq!(records.iter().collect::<Vec<_>>(), expected, "MRG-06");
        }

        // The old address.
        let (status, _) = merges.get(&eve).await?;
        assert_eq!(status, StatusCode::MOVED_PERMANENTLY, "MRG-09");
        let (status, answer) = merges.send("PUT", &eve, json!({})).await?;
        assert_eq!(status, StatusCode::GONE, "MRG-10: {answer}");
        let (status, again) = merges.merge([&ada, &eve], false).await?;
        assert_eq!(status, StatusCode::OK, "MRG-15: {again}");
        assert_eq!(again["ext:merge"]["already"], true, "MRG-15");
        let path = eve.trim_start_matches(BASE);
        let (status, _) = call_of_another(merges.service.clone(), "GET", path, None).await?;
        assert_eq!(status, StatusCode::NOT_FOUND, "another tenant");
        // A second merge: the first address finds the last person.
        let kim = merges.person("Kim", "kim@example.org").await?;
        let (status, body) = merges.merge([&kim, &ada], false).await?;
        assert_eq!(status, StatusCode::OK, "{body}");
        let forwards = "SELECT count(*) || ' ' || count(DISTINCT remaining) FROM svc_forwards";
        assert_eq!(self.texts(forwards).await?, ["2 1"]);
        let (status, _) = merges.send("DELETE", &kim, Value::Null).await?;
        assert_eq!(status, StatusCode::NO_CONTENT);
        for person in [&eve, &ada, &kim] {
            let (status, answer) = merges.get(person).await?;
            assert_eq!(status, StatusCode::NOT_FOUND, "{answer}");
        }
        assert_eq!(self.texts(forwards).await?, ["0 0"]);
        Ok(())
    }

    /// MRG-01: a foreign key to people for which the mapping declares nothing makes merges unavailable. It
    /// can be moved or ignored.
    pub(crate) async fn merges_declared_tables(&self) -> TestResult {
        self.execute(GIFTS).await?;
        let Err(error) = self.merging(mapping()).await? else {
            return Err("merges are offered".into());
        };
        assert!(
            error.contains("`gifts.donor_id` refers to people"),
            "{error}"
        );
        assert!(
            error.contains(".move_in_merges(\"gifts\", \"donor_id\")"),
            "{error}"
        );
        for (wrong, said) in [
            (mapping().move_in_merges("gift", "donor_id"), "gift"),
            (
                mapping().move_in_merges("gifts", "donor"),
                "`gifts` has no column `donor`",
            ),
            (
                mapping().move_in_merges("rsvps", "contact_id"),
                "`rsvps.contact_id` is mapped",
            ),
            (
                mapping().move_in_merges("contact_emails", "contact_id"),
                "`contact_emails.contact_id` is mapped",
            ),
            (mapping().ignore_in_merges("gift"), "gift"),
        ] {
            let connected = MappedStore::connect(wrong, self.database()).await;
            let error = connected.err().ok_or("connected")?.to_string();
            assert!(error.contains(said), "{error}");
        }
        // The rows of other people do not change.
        let merges = self
            .merging(mapping().move_in_merges("gifts", "donor_id"))
            .await??;
        let ada = merges.person("Ada", "ada@example.org").await?;
        let eve = merges.person("Eve", "eve@example.org").await?;
        let kim = merges.person("Kim", "kim@example.org").await?;
        for (id, page, person) in [
            (1, "a", &ada),
            (2, "b", &eve),
            (3, "c", &eve),
            (4, "a", &kim),
        ] {
            merges.give(id, page, person).await?;
        }
        let (status, body) = merges.merge([&ada, &eve], true).await?;
        assert_eq!(status, StatusCode::OK, "{body}");
        assert_eq!(merges.gifts().await?, ["a Ada", "b Eve", "c Eve", "a Kim"]);
        let (status, body) = merges.merge([&ada, &eve], false).await?;
        assert_eq!(status, StatusCode::OK, "{body}");
        assert_eq!(merges.gifts().await?, ["a Ada", "b Ada", "c Ada", "a Kim"]);
        // Both people have a gift for the page, and the table accepts one.
        let people = merges.get("people").await?;
        let (status, refused) = merges.merge([&ada, &kim], false).await?;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{refused}");
        assert_eq!(codes(&refused), ["MERGE_CONFLICT"], "{refused}");
        assert_eq!(merges.get("people").await?, people, "nothing has changed");
        assert_eq!(merges.gifts().await?, ["a Ada", "b Ada", "c Ada", "a Kim"]);
        // The foreign key of an ignored table decides.
        let merges = self.merging(mapping().ignore_in_merges("gifts")).await??;
        let (status, body) = merges.merge([&ada, &kim], false).await?;
        assert_eq!(status, StatusCode::OK, "{body}");
        assert_eq!(merges.gifts().await?, ["a Ada", "b Ada", "c Ada"]);
        Ok(())
    }

    /// MRG-04: the remaining person gets an address of the merged one, also if each address can be in the
    /// table once.
    pub(crate) async fn merges_unique_addresses(&self) -> TestResult {
        self.execute("CREATE UNIQUE INDEX one_address ON contact_emails (address)")
            .await?;
        let merges = self.merging(mapping()).await??;
        let ada = merges.person("Ada", "ada@example.org").await?;
        let eve = merges.person("Eve", "eve@example.org").await?;
        let (status, body) = merges.merge([&ada, &eve], false).await?;
        assert_eq!(status, StatusCode::OK, "{body}");
        let addresses = "SELECT address FROM contact_emails ORDER BY id";
        assert_eq!(
            self.texts(addresses).await?,
            ["ada@example.org", "eve@example.org"]
        );
        Ok(())
    }
}
