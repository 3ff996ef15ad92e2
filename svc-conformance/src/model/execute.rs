//! Executes steps on the server and compares the server with the model after each step.

use serde_json::{Value, json};

use super::resolve::sent;
use super::state::{ModelRecord, ModelState, name};
use super::{ModelAction, ModelMismatch, ModelStep};
use crate::address::with_parameter;
use crate::cause::Cause;
use crate::check::CheckContext;
use crate::counted::Listed;
use crate::fields;
use crate::fixtures::helper_address;
use crate::generate;
use crate::ids;
use crate::kinds::{CatalogueKind, collection_rows};
use crate::outcome::CheckStop;
use crate::response::{Representation, TestResponse};
use crate::values::instant;

/// The result of a sequence: every requirement that was observed to hold, or the first difference.
pub(crate) struct SequenceResult {
    pub(crate) held: Vec<String>,
    pub(crate) difference: Option<ModelMismatch>,
}

/// Executes the steps in order, up to the first difference.
pub(crate) async fn execute(
    cx: &CheckContext,
    steps: &[ModelStep],
) -> Result<SequenceResult, CheckStop> {
    let mut execution = SequenceRun {
        cx,
        state: ModelState::default(),
        held: Vec::new(),
    };
    for step in steps {
        if let Err(halt) = execution.step(step).await {
            return match halt {
                SequenceStop::Differs(row, message, cause) => {
                    let difference = Some(ModelMismatch {
                        row,
                        message,
                        cause,
                        after: step.id,
                    });
                    Ok(SequenceResult {
                        held: execution.held,
                        difference,
                    })
                }
                SequenceStop::Stop(stop) => Err(stop),
            };
        }
    }
    Ok(SequenceResult {
        held: execution.held,
        difference: None,
    })
}

enum SequenceStop {
    Differs(String, String, Option<Cause>),
    Stop(CheckStop),
}

impl From<CheckStop> for SequenceStop {
    fn from(stop: CheckStop) -> Self {
        Self::Stop(stop)
    }
}

struct SequenceRun<'c> {
    cx: &'c CheckContext,
    state: ModelState,
    held: Vec<String>,
}

impl SequenceRun<'_> {
    fn expect(
        &mut self,
        row: &str,
        holds: bool,
        found: impl FnOnce() -> String,
    ) -> Result<(), SequenceStop> {
        if holds {
            self.held.push(row.to_owned());
            Ok(())
        } else {
            Err(SequenceStop::Differs(row.to_owned(), found(), None))
        }
    }

    async fn step(&mut self, step: &ModelStep) -> Result<(), SequenceStop> {
        match &step.act {
            ModelAction::Create { kind, body } => self.create(step.id, *kind, body).await,
            ModelAction::Record {
                kind,
                container,
                person,
                body,
                helper,
            } => {
                self.record(step.id, *kind, *container, *person, body, *helper)
                    .await
            }
            ModelAction::Update { of, body } => self.update(*of, body).await,
            ModelAction::Delete { of } => self.delete(*of).await,
        }
    }

    async fn create(
        &mut self,
        id: usize,
        kind: CatalogueKind,
        fields: &Value,
    ) -> Result<(), SequenceStop> {
        let api = self.cx.api();
        let url = api.collection(kind.many).await?;
        let before = self.total(kind, &url).await?;
        let body = sent(self.cx, kind, fields);
        let answer = api.post(&url, &body).await?;
        self.made(id, kind, &body, &answer, None, None)?;
        let after = self.total(kind, &url).await?;
        self.grown(before, after, id, 1, &url).await?;
        self.verify(id).await?;
        self.verify_isolation(id).await
    }

    async fn record(
        &mut self,
        id: usize,
        kind: CatalogueKind,
        container: usize,
        person: usize,
        fields: &Value,
        helper: bool,
    ) -> Result<(), SequenceStop> {
        let api = self.cx.api();
        let (Some(under), Some(who)) = (self.state.get(container), self.state.get(person)) else {
            return Ok(());
        };
        let body = sent(self.cx, kind, fields);
        let answer = if helper {
            let url = helper_address(&under.record, kind.helper.unwrap_or_default())?;
            let mut person = generate::minimal_body(self.cx, "person");
            // Fields that a person needs are not changed.
            for (name, value) in person.as_object_mut().into_iter().flatten() {
                value.clone_from(who.fields.get(name).unwrap_or(&Value::Null));
            }
            let person =
                generate::with(&person, &json!({ "identifiers": who.record.identifiers() }));
            api.post(&url, &generate::with(&body, &json!({ "person": person })))
                .await?
        } else {
            let url = under.record.require_link(kind.many)?;
            api.post(&url, &api.linked(&body, "person", &who.own))
                .await?
        };
        self.made(id, kind, &body, &answer, Some(container), Some(person))?;
        if helper && !self.is_about(id, person).await? {
            // The server matches people by something other than their identifiers.
            if let Some(known) = self.state.get_mut(id) {
                known.person = None;
            }
        }
        self.verify(id).await?;
        self.collections(container, person, kind).await
    }

    /// Whether a record that a helper created links to this person. Different URLs do not prove the
    /// opposite.
    async fn is_about(&self, id: usize, person: usize) -> Result<bool, SequenceStop> {
        let (Some(made), Some(who)) = (self.state.get(id), self.state.get(person)) else {
            return Ok(false);
        };
        let Some(href) = made.record.href("person") else {
            return Ok(false);
        };
        let found = self.cx.api().get(&href).await?.record();
        Ok(found.link("self").is_some_and(|own| own == who.own))
    }

    /// Adds the response to a create to the model.
    fn made(
        &mut self,
        id: usize,
        kind: CatalogueKind,
        body: &Value,
        answer: &TestResponse,
        container: Option<usize>,
        person: Option<usize>,
    ) -> Result<(), SequenceStop> {
        self.expect(
            ids::ERR_13,
            answer.is_created() && answer.json.is_object(),
            || answer.to_string(),
        )?;
        let record = answer.record();
        let own = record.self_url()?;
        let marker = body
            .pointer("/identifiers/0")
            .and_then(Value::as_str)
            .map(ToOwned::to_owned);
        let mut fields = body.as_object().cloned().unwrap_or_default();
        fields.remove("identifiers");
        let created = record["created_date"].clone();
        self.state.all.push(ModelRecord {
            id,
            kind,
            record,
            own,
            created,
            marker,
            fields,
            container,
            person,
            alive: true,
        });
        Ok(())
    }

    async fn update(&mut self, of: usize, body: &Value) -> Result<(), SequenceStop> {
        let Some(known) = self.state.get(of).filter(|known| known.alive) else {
            return Ok(());
        };
        let answer = self.cx.api().put(&known.own, body).await?;
        self.expect(
            ids::ERR_15,
            answer.status == 200 && answer.json.is_object(),
            || answer.to_string(),
        )?;
        let Some(known) = self.state.get(of) else {
            return Ok(());
        };
        let before = known.record["modified_date"].clone();
        let is_different = generate::differs(self.cx, known.kind.one, body, &known.record.json);
        let touched: Vec<String> = body
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect();
        if let Some(known) = self.state.get_mut(of) {
            known
                .fields
                .extend(body.as_object().cloned().unwrap_or_default());
        }
        self.shows(of, &answer.record(), &touched)?;
        let again = self.read(of).await?;
        self.shows(of, &again, &touched)?;
        let (old, new) = (time(&before), time(&again["modified_date"]));
        if let (Some(old), Some(new)) = (old, new) {
            // Dates may have whole seconds.
            let may_be_equal = !is_different || new.timestamp_subsec_micros() == 0;
            self.expect(
                ids::CRU_19,
                new > old || (may_be_equal && new == old),
                || format!("modified_date was {old} before the change and is {new}"),
            )?;
        }
        self.neighbour(of).await
    }

    async fn delete(&mut self, of: usize) -> Result<(), SequenceStop> {
        let Some(known) = self.state.get(of).filter(|known| known.alive).cloned() else {
            return Ok(());
        };
        let api = self.cx.api();
        let top = known.container.is_none();
        let url = if top {
            Some(api.collection(known.kind.many).await?)
        } else {
            None
        };
        let before = match &url {
            Some(url) => self.total(known.kind, url).await?,
            None => None,
        };
        let answer = api.delete(&known.own).await?;
        self.expect(ids::CRU_14, answer.is_removal(), || answer.to_string())?;
        if let Some(known) = self.state.get_mut(of) {
            known.alive = false;
        }
        let gone = api.get(&known.own).await?;
        self.expect(ids::ERR_11, gone.status == 404, || {
            format!("a deleted record can still be read: {gone}")
        })?;
        if let Some(url) = url {
            let after = self.total(known.kind, &url).await?;
            self.grown(before, after, of, -1, &url).await?;
        }
        if let (Some(container), Some(person)) = (known.container, known.person) {
            self.state.thinned.push(container);
            self.collections(container, person, known.kind).await?;
        }
        Ok(())
    }

    /// Reads a record by its URL.
    async fn read(&mut self, id: usize) -> Result<Representation, SequenceStop> {
        let Some(known) = self.state.get(id) else {
            return Err(CheckStop::Failed.into());
        };
        let answer = self.cx.api().get(&known.own).await?;
        self.expect(
            ids::CRU_22,
            answer.status == 200 && answer.json.is_object(),
            || answer.to_string(),
        )?;
        let record = answer.record();
        // A URL may change at any time: the latest one counts.
        // Requirements: HAL-06.
        let own = record.self_url()?;
        if let Some(known) = self.state.get_mut(id) {
            known.record = record.clone();
            known.own = own;
        }
        Ok(record)
    }

    /// Verifies that a record equals the model.
    async fn verify(&mut self, id: usize) -> Result<(), SequenceStop> {
        let record = self.read(id).await?;
        self.shows(id, &record, &[])
    }

    /// Compares every field of the model with a representation.
    fn shows(
        &mut self,
        id: usize,
        record: &Representation,
        touched: &[String],
    ) -> Result<(), SequenceStop> {
        let Some(known) = self.state.get(id).cloned() else {
            return Ok(());
        };
        let prefix = self.cx.declared().text.custom_field_prefix.clone();
        for (name, value) in &known.fields {
            let Some(field) = fields::find(known.kind.one, name) else {
                continue;
            };
            let readable = self
                .cx
                .declared()
                .field(known.kind.one, name)
                .is_some_and(|field| field.readable);
            if !readable {
                continue;
            }
            let got = record.json.get(name);
            let default = self
                .cx
                .declared()
                .field(known.kind.one, name)
                .is_some_and(|field| field.default.is_some());
            let same = generate::same(field, value, got, &prefix) || (value.is_null() && default);
            let row = match (touched.contains(name), value.is_null()) {
                (true, true) => ids::CRU_17,
                // The change is lost, whatever the field.
                (true, false) => ids::ERR_15,
                (false, _) if touched.is_empty() => field.row,
                (false, _) => ids::CRU_15,
            };
            let now = if touched.is_empty() {
                ""
            } else {
                " after the change"
            };
            if !same {
                let message = format!(
                    "{}.{name} is {}{now}, but the model expects {value}",
                    known.kind.one,
                    json!(got)
                );
                let cause = generate::lost(
                    self.cx,
                    known.kind.one,
                    &json!({ name: value }),
                    &record.json,
                    &[],
                );
                return Err(SequenceStop::Differs(
                    row.to_owned(),
                    message,
                    cause.filter(|_| row != ids::CRU_15),
                ));
            }
            self.held.push(row.to_owned());
        }
        let created = &record["created_date"];
        if !known.created.is_null() {
            self.expect(ids::TYP_15, *created == known.created, || {
                format!("created_date was {} and is {created}", known.created)
            })?;
        }
        if let Some(marker) = &known.marker {
            let own = record
                .identifiers()
                .iter()
                .filter(|one| *one == marker)
                .count();
            self.expect(ids::TYP_13, own == 1, || {
                format!(
                    "the identifier {marker} that was sent is present {own} times: {}",
                    record.short()
                )
            })?;
        }
        Ok(())
    }

    /// Verifies that another record of the same kind did not change.
    async fn neighbour(&mut self, of: usize) -> Result<(), SequenceStop> {
        let kind = self.state.get(of).map(|known| known.kind);
        let other = self
            .state
            .all
            .iter()
            .rev()
            .find(|one| one.alive && one.id != of && Some(one.kind) == kind);
        match other.map(|one| one.id) {
            Some(id) => {
                let record = self.read(id).await?;
                // A field that changed was not sent to this record.
                self.shows(id, &record, &[String::new()])
            }
            None => Ok(()),
        }
    }

    /// Verifies that a key of another tenant cannot read a record.
    async fn verify_isolation(&mut self, id: usize) -> Result<(), SequenceStop> {
        let (Some(other), Some(known)) = (self.cx.other(), self.state.get(id)) else {
            return Ok(());
        };
        if !id.is_multiple_of(3) {
            return Ok(());
        }
        let answer = other.get(&known.own).await?;
        let shown = answer.is_success() && answer.json.is_object();
        self.expect(ids::AUT_02, !shown, || {
            format!("a key of another tenant reads the record: {answer}")
        })
    }

    /// Verifies that the collections of a container and of a person contain exactly the records of
    /// the model, and that the container counts them.
    async fn collections(
        &mut self,
        container: usize,
        person: usize,
        kind: CatalogueKind,
    ) -> Result<(), SequenceStop> {
        let declared = self.cx.declared();
        let later = declared.behaves("totals_follow_later");
        let (Some(under), Some(who)) = (
            self.state.get(container).cloned(),
            self.state.get(person).cloned(),
        ) else {
            return Ok(());
        };
        if declared.lists_below(under.kind.one, kind.many)
            && let Some(url) = under.record.href(kind.many)
        {
            let owns: Vec<String> = self
                .state
                .under(container, kind)
                .iter()
                .map(|one| one.name())
                .collect();
            self.members(
                &url,
                &owns,
                &format!("{} of its {}", kind.many, under.kind.one),
                ids::COL_31,
                later,
            )
            .await?;
        }
        if declared.lists_below("person", kind.many)
            && let Some(url) = who.record.href(kind.many)
        {
            let owns: Vec<String> = self
                .state
                .of_person(person, kind)
                .iter()
                .map(|one| one.name())
                .collect();
            self.members(
                &url,
                &owns,
                &format!("{} of its person", kind.many),
                person_row(kind),
                later,
            )
            .await?;
        }
        if !later {
            self.counted(container, kind).await?;
        }
        Ok(())
    }

    async fn members(
        &mut self,
        url: &str,
        owns: &[String],
        what: &str,
        row: &str,
        later: bool,
    ) -> Result<(), SequenceStop> {
        let api = self.cx.api();
        let pages = api.pages(url).await?;
        let mut met: Vec<String> = pages
            .iter()
            .flat_map(Representation::embedded)
            .filter_map(|member| name(&member))
            .collect();
        let mut owns = owns.to_vec();
        met.sort();
        owns.sort();
        self.expect(row, met == owns, || {
            format!(
                "the {what} have {} members, but the model expects {}: {met:?} and {owns:?}",
                met.len(),
                owns.len()
            )
        })?;
        let total = pages
            .first()
            .and_then(|page| page["total_records"].as_u64());
        let expected = u64::try_from(owns.len()).unwrap_or(u64::MAX);
        let fits = total == Some(expected) || (owns.is_empty() && total.is_none());
        self.expect(ids::COL_23, fits || later, || {
            format!(
                "total_records of the {what} is {}, but the model expects {expected}",
                json!(total)
            )
        })
    }

    /// Verifies the number that the container maintains.
    async fn counted(&mut self, container: usize, kind: CatalogueKind) -> Result<(), SequenceStop> {
        let Some(name) = kind.counted else {
            return Ok(());
        };
        let Some(one) = self.state.get(container).map(|known| known.kind.one) else {
            return Ok(());
        };
        let Some(field) = fields::find(one, name) else {
            return Ok(());
        };
        let declared = self
            .cx
            .declared()
            .field(one, name)
            .is_some_and(|field| field.readable);
        // The catalogue defines the effect of a delete only for signatures and submissions.
        let thinned = self.state.thinned.contains(&container)
            && !matches!(kind.one, "signature" | "submission");
        if !declared || thinned {
            return Ok(());
        }
        let expected = self.state.under(container, kind).len();
        let record = self.read(container).await?;
        let got = record[name].as_u64();
        self.expect(field.row, got == u64::try_from(expected).ok(), || {
            format!(
                "{one}.{name} is {}, but the model expects {expected}",
                record[name]
            )
        })
    }

    async fn total(&self, kind: CatalogueKind, url: &str) -> Result<Option<u64>, SequenceStop> {
        let declared = self.cx.declared();
        if declared.behaves("totals_follow_later") || !declared.offers(kind.one, "list") {
            return Ok(None);
        }
        // A sequence reads many totals. The default page is checked elsewhere.
        let small = (!url.contains('?')).then(|| with_parameter(url, "per_page", "1"));
        if let Some(small) = small
            && let Some(total) = self.cx.api().total(&small).await?
        {
            return Ok(Some(total));
        }
        Ok(self.cx.api().total(url).await?)
    }

    /// Verifies that a collection has one record more or less than before the step. If not, other
    /// clients may have written to it. Then the total must equal the number of its members, and the
    /// record must be among them or not.
    async fn grown(
        &mut self,
        before: Option<u64>,
        after: Option<u64>,
        id: usize,
        by: i64,
        url: &str,
    ) -> Result<(), SequenceStop> {
        let (Some(before), Some(after)) = (before, after) else {
            return Ok(());
        };
        let mut fits = before.checked_add_signed(by) == Some(after);
        if let Some(record) = self.state.get(id).filter(|_| !fits) {
            let listed = self.cx.api().listed(url, &record.own).await?;
            fits = listed.is_none_or(|listed| {
                listed
                    == Listed {
                        is_counted: true,
                        has_record: by > 0,
                    }
            });
        }
        self.expect(ids::COL_23, fits, || {
            format!("total_records of {url} was {before} before the step and is {after} after it")
        })
    }
}

fn time(value: &Value) -> Option<chrono::DateTime<chrono::Utc>> {
    value.as_str().and_then(instant)
}

/// Returns the requirement of the collection of a person.
fn person_row(kind: CatalogueKind) -> &'static str {
    collection_rows(kind.one).map_or(ids::COL_18, |(_, of_person)| of_person)
}
