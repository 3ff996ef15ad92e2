//! How checks call helpers: the body of each helper, and a new container for it.

use super::prelude::*;
use crate::fixtures::helper_address;
use crate::generate::with;
use crate::kinds::{ACTIONS, KINDS};

/// Returns the requirement of each record helper.
pub(super) fn row(one: &str) -> &'static str {
    match one {
        "signature" => ids::HLP_11,
        "submission" => ids::HLP_12,
        "donation" => ids::HLP_13,
        "outreach" => ids::HLP_14,
        "attendance" => ids::HLP_15,
        "canvass" => ids::HLP_16,
        _ => ids::HLP_19,
    }
}

/// Returns what each record helper accepts in addition to the person, if the kind has it.
pub(super) fn own_fields(cx: &CheckContext, one: &str) -> Value {
    let base = json!({"origin_system": "Elsewhere", "action_date": "2026-01-05T09:00:00Z", "referrer_data": {"source": "mail"}});
    let more = match one {
        "signature" => json!({"comments": "Yes"}),
        "donation" => json!({"amount": 12.5, "currency": "EUR", "payment": {"method": "Cash"},
            "recipients": [{"display_name": "r", "amount": 12.5}]}),
        "outreach" => {
            json!({"type": "email", "duration": 60, "subject": "s", "message": "m", "targets": [{"title": "Mayor"}]})
        }
        "attendance" => json!({"status": "accepted", "comment": "c", "attended": true}),
        "canvass" => {
            json!({"contact_type": "in-person", "input_type": "mobile", "success": true, "status_code": "9"})
        }
        _ => json!({}),
    };
    let whole = if one == "canvass" {
        with(
            &json!({"origin_system": "Elsewhere", "action_date": "2026-01-05T09:00:00Z"}),
            &more,
        )
    } else {
        with(&base, &more)
    };
    part(cx, one, &whole)
}

/// A declared helper, ready to be called.
#[derive(Debug, Clone)]
pub(super) struct PreparedHelper {
    pub(super) name: &'static str,
    pub(super) kind: CatalogueKind,
    /// The record that has the helper. `None` for the sign-up helper.
    pub(super) container: Option<Representation>,
    pub(super) url: String,
}

impl PreparedHelper {
    /// Returns a body without functions, with marked identifiers. `person` is added if the helper
    /// accepts a person.
    pub(super) fn body(&self, cx: &CheckContext, person: Option<&Value>) -> Value {
        let own = own_fields(cx, self.kind.one);
        match self.name {
            "record_canvass" => json!({ "canvass": cx.marked(&own) }),
            "person_signup" => {
                json!({ "person": person.cloned().unwrap_or_else(|| cx.marked(&json!({}))) })
            }
            _ => {
                let mut body = cx.marked(&own);
                if let Some(person) = person {
                    put(&mut body, "person", person.clone());
                }
                body
            }
        }
    }
}

/// Returns every declared helper that records something, in the order of the catalogue.
pub(super) fn declared_helpers(cx: &CheckContext) -> Vec<&'static str> {
    let all = ACTIONS.iter().chain(["canvass", "person"].iter());
    let named = all.filter_map(|one| kind(one)?.helper);
    named.filter(|helper| cx.declared().helps(helper)).collect()
}

impl CheckClient<'_> {
    /// Returns a helper of a new container.
    pub(super) async fn ready(&self, name: &'static str) -> Result<PreparedHelper, CheckStop> {
        let cx = self.cx;
        let found = KINDS.iter().copied().find(|kind| kind.helper == Some(name));
        let kind = found.ok_or_else(|| none(format!("no helper {name}")))?;
        if name == "person_signup" {
            let entry = self.entry().await?;
            let url = helper_address(&entry, name)?;
            return Ok(PreparedHelper {
                name,
                kind,
                container: None,
                url,
            });
        }
        let Some(under) = kind.under else {
            return Err(none(format!("{name} has no container")));
        };
        let fields = match kind.one {
            "donation" => part(cx, under, &json!({"currency": "EUR"})),
            "attendance" => part(cx, under, &json!({"type": "open"})),
            _ => json!({}),
        };
        let container = self.container(under, name, &fields).await?;
        let relation = format!("{name}_helper");
        let spelled = container.href(&relation).or_else(|| {
            container
                .href("record_canvas_helper")
                .filter(|_| name == "record_canvass")
        });
        if cx.declared().links(under, &relation) && spelled.is_none() {
            cx.observe(row(kind.one), false, || {
                format!("no link {relation} in {}", container.short())
            });
            return Err(CheckStop::Failed);
        }
        let url = helper_address(&container, name)?;
        Ok(PreparedHelper {
            name,
            kind,
            container: Some(container),
            url,
        })
    }

    /// Calls a helper. The requirements are judged by its success.
    ///
    /// Requirements: HLP-06.
    pub(super) async fn call(
        &self,
        rows: &[&str],
        ready: &PreparedHelper,
        body: &Value,
    ) -> Result<Representation, CheckStop> {
        let answer = self.post(&ready.url, body).await?;
        must(
            self.cx,
            rows,
            answer.is_created() && answer.json.is_object(),
            || answer.to_string(),
        )?;
        Ok(answer.record())
    }

    /// Returns the person of a helper call, and records the person for clean-up.
    pub(super) async fn about(
        &self,
        ready: &PreparedHelper,
        made: &Representation,
    ) -> Result<Representation, CheckStop> {
        match ready.name {
            "person_signup" => Ok(made.clone()),
            "record_canvass" => ready
                .container
                .clone()
                .ok_or_else(|| none("no person in the path")),
            _ => self.person_of(made, "person").await,
        }
    }
}

/// Returns a new person with a marker, which matches no existing person.
pub(super) fn new_person(cx: &CheckContext) -> Value {
    let unique = cx.unique();
    let named = json!({"given_name": "Ada", "family_name": unique,
        "email_addresses": [{"address": format!("{unique}@example.org"), "primary": true, "status": "subscribed"}]});
    cx.marked(&part(cx, "person", &named))
}

/// A failure in the preparation of the clean-up does not end a check.
pub(super) fn ignored(stop: CheckStop) -> Result<(), CheckStop> {
    match stop {
        CheckStop::Disabled(_) => Err(stop),
        _ => Ok(()),
    }
}
