//! Records for checks, created in any way that the declaration allows.

use serde_json::{Value, json};

use crate::catalogue::Ability;
use crate::check::CheckContext;
use crate::client::CheckClient;
use crate::generate::{complete, minimal_body, with, without};
use crate::ids;
use crate::kinds::{self, CatalogueKind, TICKETED, helper_fixture, kind};
use crate::outcome::CheckStop;
use crate::response::{Representation, TestResponse};

/// Returns the body of a create: the minimum that a record requires, overwritten by these fields.
pub(crate) fn full(cx: &CheckContext, one: &str, fields: &Value) -> Value {
    // A question of another type may not accept the responses of the minimal question.
    let lacks: &[&str] = if fields.get("question_type").is_some() {
        &["responses"]
    } else {
        &[]
    };
    complete(
        cx,
        one,
        with(&without(&minimal_body(cx, one), lacks), fields),
    )
}

/// Returns an event that sells tickets of two levels.
pub(crate) fn ticketed() -> Value {
    json!({"type": "ticketed", "ticket_levels": [
        {"title": "Standard", "amount": 10, "currency": "USD", "limit": 1_000_000},
        {"title": "Balcony", "amount": 20.5, "currency": "USD", "limit": 1_000_000}]})
}

impl CheckClient<'_> {
    /// Creates a record of a kind with these fields and what it requires, by REST if that is
    /// declared, otherwise by a helper.
    ///
    /// The response is judged as a create. The record has a marker.
    ///
    /// Requirements: ERR-13, CRU-13.
    pub(crate) async fn make(
        &self,
        one: &str,
        fields: &Value,
    ) -> Result<Representation, CheckStop> {
        let cx = self.cx;
        let kind = kind(one).ok_or_else(|| CheckStop::Inconclusive(format!("no kind {one}")))?;
        let body = cx.marked(&full(cx, one, fields));
        match kind.under {
            None if cx.declared().offers(one, "create") => self.create(kind, &body).await,
            None if one == "person" && cx.declared().posts_persons() => {
                let answer = self.post_person(&body).await?;
                self.posted_person(&answer).await
            }
            None => self.existing(kind, fields["type"] == "ticketed").await,
            Some(_) if !cx.declared().can(one, Ability::Create) => self.existing(kind, false).await,
            Some("person") => {
                let person = self
                    .container("person", "record_canvass", &json!({}))
                    .await?;
                self.help(&person, "record_canvass", &json!({ "canvass": body }))
                    .await
            }
            Some(under) => {
                let sells = one == "attendance" && body.get("tickets").is_some();
                let container = if sells {
                    Box::pin(self.ticketed_event(&ticketed())).await?
                } else {
                    self.container(under, kind.helper.unwrap_or_default(), &json!({}))
                        .await?
                };
                let person = self.actor(one).await?;
                self.act(&container, one, &person, &body).await
            }
        }
    }

    /// Returns a person for an action of a kind: a new one, or the one in the body of the helper.
    pub(crate) async fn actor(&self, one: &str) -> Result<Representation, CheckStop> {
        let cx = self.cx;
        if cx.declared().offers(one, "create") || cx.declared().makes_alone("person") {
            return self.person().await;
        }
        let prefix = cx.declared().text.dialect.prefix.clone();
        Ok(Representation::new(
            cx.run.target.base().to_owned(),
            cx.marked(&json!({})),
            prefix,
        ))
    }

    /// Returns a record that has a helper: a new one with these fields, or the fixture if the
    /// helper cannot be reached otherwise.
    pub(crate) async fn container(
        &self,
        one: &'static str,
        helper: &str,
        fields: &Value,
    ) -> Result<Representation, CheckStop> {
        let declared = self.cx.declared();
        let Some(fixture) = helper_fixture(one).filter(|_| !declared.leads_to_helper(one, helper))
        else {
            return Box::pin(self.make(one, fields)).await;
        };
        if let Some(named) = self.cx.run.fixtures.get(&fixture.name) {
            return Ok(named.clone());
        }
        let unknown = || {
            let name = &fixture.name;
            CheckStop::Inconclusive(format!(
                "no link to the helper {helper} is known, and none is named as a fixture ({name})"
            ))
        };
        let promises =
            declared.offers(one, "read") || declared.links(one, &format!("{helper}_helper"));
        match Box::pin(self.make(one, fields)).await {
            Ok(made) if promises || helper_address(&made, helper).is_ok() => Ok(made),
            Ok(_) => Err(unknown()),
            Err(CheckStop::Inconclusive(_)) if !declared.offers(one, "read") => Err(unknown()),
            Err(stop) => Err(stop),
        }
    }

    /// Posts a person to a helper: the sign-up helper, or one that records an action and returns
    /// the person.
    pub(crate) async fn post_person(&self, person: &Value) -> Result<TestResponse, CheckStop> {
        let declared = self.cx.declared();
        if declared.helps("person_signup") {
            let url = helper_address(&self.entry().await?, "person_signup")?;
            return self.post(&url, &json!({ "person": person })).await;
        }
        let mut recorded = declared
            .kinds()
            .filter(|kind| declared.shows_person_of(kind.one));
        let recorded = recorded.find_map(|kind| Some((kind.under?, kind.helper?)));
        let (under, helper) = recorded
            .ok_or_else(|| CheckStop::Inconclusive("no person can be created".to_owned()))?;
        let url = helper_address(&self.container(under, helper, &json!({})).await?, helper)?;
        self.post(&url, &self.cx.marked(&json!({ "person": person })))
            .await
    }

    /// Returns the person in the response to [`CheckClient::post_person`]. The success is judged.
    ///
    /// Requirements: HLP-06.
    pub(crate) async fn posted_person(
        &self,
        answer: &TestResponse,
    ) -> Result<Representation, CheckStop> {
        self.cx.must(
            ids::HLP_06,
            answer.is_created() && answer.json.is_object(),
            || answer.to_string(),
        )?;
        if self.cx.declared().helps("person_signup") {
            return Ok(answer.record());
        }
        self.follow(&answer.record(), "person").await
    }

    /// Creates a person.
    pub(crate) async fn person(&self) -> Result<Representation, CheckStop> {
        Box::pin(self.make("person", &json!({}))).await
    }

    /// Posts a body to the collection of a kind.
    pub(crate) async fn create(
        &self,
        kind: CatalogueKind,
        body: &Value,
    ) -> Result<Representation, CheckStop> {
        let url = self.collection(kind.many).await?;
        let answer = self.post(&url, body).await?;
        self.created(kind, &answer)
    }

    /// Records an action of a person in a container: `POST` to the nested collection with the link
    /// to the person, or the record helper if only that is declared.
    pub(crate) async fn act(
        &self,
        container: &Representation,
        one: &str,
        person: &Representation,
        body: &Value,
    ) -> Result<Representation, CheckStop> {
        let cx = self.cx;
        let kind = kind(one).ok_or_else(|| CheckStop::Inconclusive(format!("no kind {one}")))?;
        if cx.declared().offers(one, "create") {
            let own = person.self_url()?;
            let url = container.require_link(kind.many)?;
            let answer = self
                .post(&url, &self.linked(&full(cx, one, body), "person", &own))
                .await?;
            return self.created(kind, &answer);
        }
        let Some(helper) = kind.helper.filter(|helper| cx.declared().helps(helper)) else {
            return Err(CheckStop::Inconclusive(format!(
                "no way to create a {one} is declared"
            )));
        };
        let identifiers = person.identifiers();
        let body = with(body, &json!({"person": {"identifiers": identifiers}}));
        self.help(container, helper, &body).await
    }

    /// Calls a helper of a record. The success is judged.
    ///
    /// Requirements: HLP-06.
    pub(crate) async fn help(
        &self,
        container: &Representation,
        helper: &str,
        body: &Value,
    ) -> Result<Representation, CheckStop> {
        let url = helper_address(container, helper)?;
        let answer = self.post(&url, body).await?;
        self.cx.must(
            ids::HLP_06,
            answer.is_created() && answer.json.is_object(),
            || answer.to_string(),
        )?;
        Ok(answer.record())
    }

    /// Returns an event that sells tickets: a new one with these fields, or an existing one.
    pub(crate) async fn ticketed_event(&self, fields: &Value) -> Result<Representation, CheckStop> {
        match kind("event").filter(|_| !self.cx.declared().offers("event", "create")) {
            Some(kind) => self.existing(kind, true).await,
            None => self.make("event", fields).await,
        }
    }

    /// Reads the fixture of a kind. `None` if no fixture is named.
    pub(crate) async fn fixture(&self, name: &str) -> Result<Option<Representation>, CheckStop> {
        let Some(named) = self.cx.run.fixtures.get(name) else {
            return Ok(None);
        };
        if self
            .cx
            .declared()
            .offers(kinds::of_fixture(name).map_or("", |kind| kind.one), "read")
        {
            return self.reread(named).await.map(Some);
        }
        Ok(Some(named.clone()))
    }

    /// Returns a record of a kind that cannot be created: the fixture, or else the first listed
    /// record. The record is not changed.
    async fn existing(
        &self,
        kind: CatalogueKind,
        sells: bool,
    ) -> Result<Representation, CheckStop> {
        let name = if sells { TICKETED } else { kind.one };
        if let Some(record) = self.fixture(name).await? {
            return Ok(record);
        }
        let lacking = |listed: &str| {
            CheckStop::Inconclusive(format!(
                "no {} can be created{listed}, and none is named as a fixture ({name})",
                kind.one
            ))
        };
        if kind.under.is_some() || !self.cx.declared().offers(kind.one, "list") {
            return Err(lacking(""));
        }
        let url = self.collection(kind.many).await?;
        let page = self.get(&url).await?.record();
        let fits = |record: &Representation| {
            !sells
                || record["ticket_levels"]
                    .as_array()
                    .is_some_and(|levels| !levels.is_empty())
        };
        let listed = if sells {
            ", none that sells tickets is listed"
        } else {
            ", none is listed"
        };
        let record = page
            .embedded()
            .into_iter()
            .find(fits)
            .ok_or_else(|| lacking(listed))?;
        self.cx.run.protect(&record);
        Ok(record)
    }

    /// Judges the response to a create.
    pub(crate) fn created(
        &self,
        kind: CatalogueKind,
        answer: &TestResponse,
    ) -> Result<Representation, CheckStop> {
        let cx = self.cx;
        cx.must(
            ids::ERR_13,
            answer.is_created() && answer.json.is_object(),
            || answer.to_string(),
        )?;
        // A record that already existed is not a create: a membership, an action of a person who
        // has one there, or a person that the sign-up helper matched.
        // Requirements: UND-38.
        let repeats = match kind.one {
            "person" => cx.declared().helps("person_signup"),
            _ => cx.declared().has_one_per_person(kind),
        };
        if !repeats {
            cx.chose("status of a create", answer.status.to_string());
        }
        let before = cx
            .run
            .consistent(&format!("{}.create", kind.many), answer.status);
        let agrees = before.is_none_or(|before| before == answer.status);
        if agrees || !repeats {
            cx.observe(ids::CRU_13, agrees, || {
                format!(
                    "an earlier create in {} returned {}, this one {}",
                    kind.many,
                    json!(before),
                    answer.status
                )
            });
        }
        Ok(answer.record())
    }

    /// Deletes a record. The response is judged.
    ///
    /// Requirements: CRU-14, ERR-17.
    pub(crate) async fn remove(&self, record: &Representation) -> Result<TestResponse, CheckStop> {
        let answer = self.delete(&record.self_url()?).await?;
        let form = answer.is_removal();
        self.cx.must(ids::CRU_14, form, || answer.to_string())?;
        self.cx.observe(ids::ERR_17, form, || answer.to_string());
        self.cx
            .chose("status of a delete", answer.status.to_string());
        Ok(answer)
    }

    /// Changes a record. A success is judged.
    ///
    /// Requirements: ERR-15.
    pub(crate) async fn change(
        &self,
        record: &Representation,
        body: &Value,
    ) -> Result<Representation, CheckStop> {
        let answer = self.put(&record.self_url()?, body).await?;
        self.cx.must(
            ids::ERR_15,
            answer.status == 200 && answer.json.is_object(),
            || answer.to_string(),
        )?;
        Ok(answer.record())
    }

    /// Reads a record again and returns a number that the server maintains in it.
    pub(crate) async fn counted(
        &self,
        record: &Representation,
        field: &str,
    ) -> Result<Option<f64>, CheckStop> {
        Ok(self.reread(record).await?[field].as_f64())
    }
}

/// Returns the URL of a helper of a record. The helper of a person has two spellings.
///
/// Requirements: RES-person-48.
pub(crate) fn helper_address(
    container: &Representation,
    helper: &str,
) -> Result<String, CheckStop> {
    let other = if helper == "record_canvass" {
        container.href("record_canvas_helper")
    } else {
        None
    };
    container
        .href(&format!("{helper}_helper"))
        .or(other)
        .ok_or_else(|| {
            CheckStop::Inconclusive(format!(
                "no link to the helper {helper} in {}",
                container.short()
            ))
        })
}
