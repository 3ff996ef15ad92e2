//! Sends the steps again.

use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http::{Method, Request};
use serde_json::Value;

use super::{Replay, ReplayReport, ReplayStep, StepTextPart, parts};
use crate::address;
use crate::error::SuiteError;
use crate::journal::SYSTEM;
use crate::keys::Keys;
use crate::target::Target;
use crate::values::display_text;

const TIMEOUT: Duration = Duration::from_secs(10);
const LIMIT: usize = 8 * 1024 * 1024;

/// The response to a step: the requested URL, and the body.
struct ReplayResponse {
    url: String,
    json: Value,
}

impl Replay {
    /// Sends every step, and deletes what the steps created.
    ///
    /// # Errors
    /// Returns an error if a step needs a key that is not given, or if the target does not respond.
    pub async fn send(&self, target: &dyn Target, keys: &Keys) -> Result<ReplayReport, SuiteError> {
        let token = format!("replay{:x}", chrono::Utc::now().timestamp_micros());
        let mut answers: Vec<ReplayResponse> = Vec::new();
        let mut created: Vec<(String, Vec<(String, String)>)> = Vec::new();
        let mut lines = Vec::new();
        let mut same = true;
        for (at, step) in self.steps.iter().enumerate() {
            let number = at.saturating_add(1);
            let Some(url) = resolved(&step.url, target.base(), &token, &answers) else {
                lines.push(format!(
                    "{number:>3} {} {}: the URL is not in the earlier response",
                    step.method, step.url
                ));
                same = false;
                break;
            };
            let body = resolved(&step.body, target.base(), &token, &answers).unwrap_or_default();
            let request = request(step, &url, &body, keys)?;
            let line = format!(
                "{number:>3} {} {url} {}",
                step.method,
                display_text(&body, 400)
            );
            let (status, text) = match target.send(request, LIMIT, TIMEOUT).await {
                Ok(answer) => (
                    Some(answer.status().as_u16()),
                    String::from_utf8_lossy(answer.body()).into_owned(),
                ),
                Err(error) => (None, error.to_string()),
            };
            let json: Value = serde_json::from_str(&text).unwrap_or_default();
            let ok = status.is_some_and(|status| (200..300).contains(&status));
            if step.method == "POST" && ok && carries(&json, &token) {
                let own = json
                    .pointer("/_links/self/href")
                    .and_then(Value::as_str)
                    .and_then(|href| address::resolve(&url, href));
                created.extend(own.map(|own| (own.into_owned(), step.headers.clone())));
            }
            same &= status == step.status;
            lines.push(line);
            lines.push(format!(
                "      {}  {}",
                compared(status, step.status),
                display_text(&text, 600)
            ));
            answers.push(ReplayResponse { url, json });
        }
        let removed = remove(target, keys, &created).await?;
        if !created.is_empty() {
            lines.push(format!(
                "    removed {removed} of {} records",
                created.len()
            ));
        }
        Ok(ReplayReport { lines, same })
    }
}

/// Deletes what the steps created, newest first, in rounds: a container is deleted after its
/// contents.
async fn remove(
    target: &dyn Target,
    keys: &Keys,
    created: &[(String, Vec<(String, String)>)],
) -> Result<usize, SuiteError> {
    let mut left: Vec<_> = created.iter().rev().collect();
    for _ in 0..3 {
        let mut still = Vec::new();
        for one in left {
            let (own, headers) = one;
            let step = ReplayStep {
                method: "DELETE".to_owned(),
                url: own.clone(),
                headers: headers
                    .iter()
                    .filter(|(name, _)| name != "content-type")
                    .cloned()
                    .collect(),
                body: String::new(),
                status: None,
                answer: String::new(),
            };
            let answer = target
                .send(request(&step, own, "", keys)?, LIMIT, TIMEOUT)
                .await;
            if !answer.is_ok_and(|answer| matches!(answer.status().as_u16(), 200 | 204 | 404 | 410))
            {
                still.push(one);
            }
        }
        left = still;
    }
    Ok(created.len().saturating_sub(left.len()))
}

fn compared(now: Option<u16>, before: Option<u16>) -> String {
    let word = |status: Option<u16>| {
        status.map_or_else(|| "no response".to_owned(), |status| status.to_string())
    };
    if now == before {
        word(now)
    } else {
        format!("{} (it was {})", word(now), word(before))
    }
}

fn carries(json: &Value, token: &str) -> bool {
    let begin = format!("{SYSTEM}:{token}-");
    let identifiers = json["identifiers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    identifiers
        .into_iter()
        .any(|identifier| identifier.starts_with(&begin))
}

/// Replaces every placeholder in a text of a step. `None` if a response lacks the value of a
/// placeholder.
fn resolved(text: &str, base: &str, token: &str, answers: &[ReplayResponse]) -> Option<String> {
    let mut out = String::new();
    for part in parts(text) {
        match part {
            StepTextPart::Text(text) => out.push_str(text),
            StepTextPart::Base => out.push_str(base),
            StepTextPart::Run => out.push_str(token),
            StepTextPart::Of(step, pointer) => {
                let answer = answers.get(step.checked_sub(1)?)?;
                out.push_str(&address::resolve(
                    &answer.url,
                    answer.json.pointer(pointer)?.as_str()?,
                )?);
            }
        }
    }
    Some(out)
}

fn request(
    step: &ReplayStep,
    url: &str,
    body: &str,
    keys: &Keys,
) -> Result<Request<Bytes>, SuiteError> {
    let broken = |what: &str| SuiteError::Usage(format!("a step cannot be sent: {what}"));
    let mut request = Request::new(Bytes::from(body.to_owned()));
    *request.method_mut() =
        Method::from_bytes(step.method.as_bytes()).map_err(|_| broken("its method"))?;
    *request.uri_mut() = url.parse().map_err(|_| broken("its URL"))?;
    let secrets = keys.secrets();
    for (name, value) in &step.headers {
        let mut value = value.clone();
        for (secret, stands_for) in &secrets {
            value = value.replace(stands_for, secret);
        }
        if matches!(value.as_str(), "<key>" | "<other key>" | "<restricted key>") {
            return Err(SuiteError::Usage(format!(
                "the steps need a key that is not given: {value}"
            )));
        }
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| broken("a header"))?;
        let value = HeaderValue::from_str(&value).map_err(|_| broken("a header"))?;
        request.headers_mut().append(name, value);
    }
    Ok(request)
}
