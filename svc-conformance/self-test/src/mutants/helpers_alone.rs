//! Faults of a service that offers only record helpers. Their responses, which embed the person,
//! are all that it returns.

use serde_json::{Map, Value, json};
use svc_conformance::ids;

use super::{BaseServer, Mutant};
use crate::independent_server::Containers;
use crate::interceptor::Interceptor;
use crate::link_map::LinkMap;
use crate::transport::{BufferedRequest, BufferedResponse};

const FAMILY: &str = "helpers alone";

/// A fault in the responses of helpers.
fn answers(
    name: &'static str,
    row: &'static str,
    damage: fn(&BufferedRequest, &mut Map<String, Value>, &LinkMap),
) -> Mutant {
    changes(name, row, move |call, answer, sight| {
        if let Some(Value::Object(mut document)) = answer.json()
            && answer.is_success()
        {
            damage(call, &mut document, sight);
            answer.set_json(&Value::Object(document));
        }
    })
}

fn changes(
    name: &'static str,
    row: &'static str,
    change: impl Fn(&BufferedRequest, &mut BufferedResponse, &LinkMap) + Copy + Send + Sync + 'static,
) -> Mutant {
    let twist = move || {
        Interceptor::after(move |call, answer, sight| {
            if call.uri.path().contains("/do/") {
                change(call, answer, sight);
            }
        })
    };
    Mutant::new(FAMILY, name, &[row], twist).over(BaseServer::SecondServer(|options| {
        (options.helpers_only, options.containers) = (true, Containers::Hidden);
    }))
}

/// Returns the embedded person of a response.
fn person<'d>(
    document: &'d mut Map<String, Value>,
    sight: &LinkMap,
) -> Option<&'d mut Map<String, Value>> {
    document
        .get_mut("_embedded")?
        .get_mut(sight.rel("person"))?
        .as_object_mut()
}

pub(super) fn faults() -> Vec<Mutant> {
    vec![
        answers(
            "the comments of a signature are lost",
            ids::HLP_11,
            |_, document, _| {
                drop(document.remove("comments"));
            },
        ),
        answers(
            "another person is embedded",
            ids::HLP_11,
            |_, document, sight| {
                if let Some(person) = person(document, sight) {
                    person.insert("identifiers".to_owned(), json!(["second:0"]));
                }
            },
        ),
        answers(
            "the name of an embedded person is lost",
            ids::HLP_03,
            |_, document, sight| {
                if let Some(person) = person(document, sight) {
                    person.remove("family_name");
                }
            },
        ),
        answers(
            "no person is embedded in a donation",
            ids::HLP_13,
            |call, document, _| {
                if call.uri.path().contains("/record_donation/") {
                    document.remove("_embedded");
                }
            },
        ),
        answers(
            "a call without a key is shown what it made",
            ids::HLP_07,
            |call, document, _| {
                if !call.headers.contains_key("svc-api-token") {
                    document.insert("origin_system".to_owned(), json!("Elsewhere"));
                }
            },
        ),
        changes(
            "a helper is refused for a tag that is not there, without its code",
            ids::ERR_37,
            |_, answer, _| {
                if let Some(json) = answer.json() {
                    let other = json
                        .to_string()
                        .replace("TAG_NAME_DOES_NOT_EXIST", "NO_SUCH_TAG");
                    answer.set_json(&serde_json::from_str(&other).unwrap_or_default());
                }
            },
        ),
    ]
}
