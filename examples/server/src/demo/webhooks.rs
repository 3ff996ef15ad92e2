//! The commands about webhooks. They send requests to the API, as a client with all rights does.

use std::fmt::Write as _;

use http::Method;
use serde_json::{Map, Value, json};
use svc_core::Tenant;
use svc_core::api::{Api, Request};
use svc_core::auth::{Caller, Identity, Principal, Rights};
use svc_core::link::Target;
use svc_core::value::Id;

use super::cli::{ServerArgs, WebhookAction};
use super::database::DemoStore;
use super::delivery::LogOnlyDelivery;
use super::location::DataLocation;
use super::run::say;
use super::service::service;
use super::settings::ServerSettings;
use super::startup_error::StartupError;

/// The name that webhooks show as their creator if this program created or changed them.
const COMMAND: &str = "svc-demo";

/// Any URL works, because links are not shown.
const BASE: &str = "http://localhost/";

/// Creates, lists or changes webhooks of the data at a location.
///
/// # Errors
///
/// Returns an error if there is no such data, tenant or webhook, or if the API rejects the request.
pub(super) async fn manage(
    options: &ServerArgs,
    tenant: &str,
    action: WebhookAction,
) -> Result<(), StartupError> {
    let store = DemoStore::beside(&DataLocation::of(options)?).await?;
    store.require_tenant(tenant).await?;
    let service = service(
        &store,
        &ServerSettings::check(options)?,
        BASE,
        LogOnlyDelivery::default(),
    )?;
    let hooks = WebhookCommands {
        api: service.api(),
        tenant: Tenant::new(tenant),
    };
    match action {
        WebhookAction::List => {
            let all = hooks.ask(Method::GET, Target::Webhooks, None).await?;
            say(&table(&all, service.api()));
        }
        WebhookAction::Add { url, kinds, events } => {
            let mut body = Map::from_iter([("url".to_owned(), json!(url))]);
            let given = [("kinds", kinds), ("events", events)]
                .into_iter()
                .filter(|(_, words)| !words.is_empty());
            body.extend(given.map(|(name, words)| (name.to_owned(), json!(words))));
            let made = hooks
                .ask(Method::POST, Target::Webhooks, Some(&body.into()))
                .await?;
            say(&format!(
                "Created webhook {}. Save its signing secret, which cannot be shown again:\n{}\n",
                id_of(&made),
                text(at(&made, &["secret"]))
            ));
        }
        WebhookAction::Remove { id } => {
            hooks
                .ask(Method::DELETE, Target::Webhook(named(&id)?), None)
                .await?;
            say(&format!("Deleted webhook {id}.\n"));
        }
        WebhookAction::Pause { id } => {
            hooks
                .ask(
                    Method::PUT,
                    Target::Webhook(named(&id)?),
                    Some(&json!({"status": "paused"})),
                )
                .await?;
            say(&format!("Paused webhook {id}.\n"));
        }
        WebhookAction::Resume { id } => {
            hooks
                .ask(
                    Method::PUT,
                    Target::Webhook(named(&id)?),
                    Some(&json!({"status": "active"})),
                )
                .await?;
            say(&format!("Resumed webhook {id}.\n"));
        }
        WebhookAction::Redeliver { id, after } => {
            let body = after.map_or_else(|| json!({}), |after| json!({"after": after}));
            hooks
                .ask(Method::POST, Target::Redelivery(named(&id)?), Some(&body))
                .await?;
            say(&format!("Webhook {id} sends the changes again.\n"));
        }
        WebhookAction::Rotate { id } => {
            let changed = hooks
                .ask(Method::POST, Target::SecretRotation(named(&id)?), None)
                .await?;
            say(&format!(
                "Replaced the signing secret of webhook {id}. Save the new secret, which cannot be shown again:\n{}\n",
                text(at(&changed, &["secret"]))
            ));
        }
    }
    Ok(())
}

/// The commands about the webhooks of a tenant.
struct WebhookCommands<'a> {
    api: &'a Api,
    tenant: Tenant,
}

impl WebhookCommands<'_> {
    /// Returns the response of the API, or its rejection as an error.
    async fn ask(
        &self,
        method: Method,
        target: Target,
        body: Option<&Value>,
    ) -> Result<Value, StartupError> {
        let identity = Identity::Authenticated(Principal::new(
            self.tenant.clone(),
            Caller::with_rights(Rights::all()).with_key_name(COMMAND),
        ));
        let id = match &target {
            Target::Webhook(id) | Target::Redelivery(id) | Target::SecretRotation(id) => {
                id.to_string()
            }
            _ => String::new(),
        };
        let mut place = format!("--tenant {}", self.tenant.as_str());
        if let Some(body) = body {
            // Writing to a string does not fail.
            let _ = write!(place, ", request body {body}");
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        let reply = self
            .api
            .handle(identity, Request::new(&method, target).with_body(body))
            .await;
        let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        if reply.status.is_success() {
            return Ok(answer);
        }
        if reply.status == 404 {
            return Err(unknown(&id));
        }
        let mut said = Vec::new();
        descriptions(&answer, &mut said);
        Err(StartupError::new(
            said.join(" "),
            place,
            "Correct the arguments and run the command again. To allow http URLs and private addresses, add --allow-private-webhooks.",
        ))
    }
}

fn named(id: &str) -> Result<Id, StartupError> {
    Id::new(id).ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> StartupError {
    let id = id.escape_debug();
    StartupError::new(
        format!("This tenant has no webhook with the id `{id}`."),
        format!("webhook id {id}"),
        "Run `svc-demo webhooks list` to see the ids of the webhooks of a tenant.",
    )
}

fn table(all: &Value, api: &Api) -> String {
    let mut table = row([
        "id",
        "state",
        "delivered",
        "queued",
        "abandoned",
        "last attempt",
        "created by",
        "changed by",
        "url",
    ]);
    for webhook in at(all, &["_embedded", &api.webhooks_relation()])
        .as_array()
        .into_iter()
        .flatten()
    {
        let state = match (
            at(webhook, &["status"]).as_str(),
            at(webhook, &["is_failing"]).as_bool(),
        ) {
            (Some("active"), Some(true)) => "failing",
            (status, _) => status.unwrap_or_default(),
        };
        let last = |name| at(webhook, &["last_attempt", name]);
        let last = last("status").as_u64().map_or_else(
            || text(last("error")).to_owned(),
            |status| status.to_string(),
        );
        let changed = match (
            at(webhook, &["changed_by", "key"]),
            at(webhook, &["changed_by", "at"]).as_str(),
        ) {
            (_, None) => String::new(),
            (key, Some(at)) => format!("{} {at}", key.as_str().unwrap_or("a key without a label")),
        };
        let number = |name: &str| at(webhook, &[name]).to_string();
        let [arrived, waiting, given_up] =
            ["total_delivered", "total_waiting", "total_given_up"].map(number);
        table.push_str(&row([
            id_of(webhook),
            state,
            &arrived,
            &waiting,
            &given_up,
            &last,
            text(at(webhook, &["created_by"])),
            &changed,
            text(at(webhook, &["url"])),
        ]));
    }
    table
}

fn row(cells: [&str; 9]) -> String {
    let [
        id,
        state,
        arrived,
        waiting,
        given_up,
        last,
        created_by,
        changed_by,
        url,
    ] = cells;
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "{id:<36}  {state:<8}  {arrived:>9}  {waiting:>6}  {given_up:>9}  {last:<14}  {created_by:<16}  {changed_by:<43}  {url}"
    );
    text
}

/// Collects the descriptions of a rejection, at any depth.
fn descriptions<'v>(refusal: &'v Value, said: &mut Vec<&'v str>) {
    match refusal {
        Value::Object(members) => {
            for (name, member) in members {
                if name == "description" {
                    said.extend(member.as_str());
                }
                descriptions(member, said);
            }
        }
        Value::Array(members) => members.iter().for_each(|member| descriptions(member, said)),
        _ => {}
    }
}

/// Returns the value at a path, or null if there is none.
fn at<'v>(value: &'v Value, path: &[&str]) -> &'v Value {
    path.iter()
        .try_fold(value, |value, name| value.get(name))
        .unwrap_or(&Value::Null)
}

/// Returns the last part of its URL.
fn id_of(webhook: &Value) -> &str {
    text(at(webhook, &["_links", "self", "href"]))
        .rsplit('/')
        .next()
        .unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
