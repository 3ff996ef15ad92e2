//! Snapshots: the documents of a server without ids, dates and URLs, to compare them with earlier
//! ones. Differences do not affect conformance.

mod canonical;
mod compare;

use std::collections::BTreeMap;
use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};

use self::canonical::Canonical;
use crate::check::{Check, CheckContext};
use crate::client::CheckClient;
use crate::generate::{self, BodyVariant};
use crate::kinds::{CatalogueKind, KINDS};
use crate::outcome::CheckStop;
use crate::response::TestResponse;
use crate::run_context::RunContext;
use crate::seed::Seed;

pub use compare::differences;

/// The check that sends the requests. It proves no requirement.
const TAKING: Check = Check::new("snapshots", &[], |_| Box::pin(async { Ok(()) }));

/// Returns the documents of a server by name: its declaration, its entry point, a record of each
/// kind, and an error. Bodies are the same in every run, whatever its seed.
pub(crate) async fn take(run: &Arc<RunContext>) -> BTreeMap<String, Value> {
    let cx = CheckContext::new(Arc::clone(run), TAKING, 0);
    let api = cx.api();
    let mut taken = BTreeMap::new();
    let declaration = serde_json::to_value(&run.declared.text).unwrap_or_default();
    taken.insert(
        "declaration".to_owned(),
        Canonical::new(run.target.base()).document(&declaration),
    );
    let mut names: Vec<(&str, Option<CatalogueKind>)> =
        vec![("entry_point", None), ("error", None)];
    names.extend(KINDS.iter().map(|kind| (kind.one, Some(*kind))));
    for (name, kind) in names {
        let document = async {
            match (name, kind) {
                (_, Some(kind)) => record(&cx, &api, kind).await,
                ("error", _) => error(&cx, &api).await,
                _ => entry_point(&cx, &api).await,
            }
        };
        // A document that cannot be read is omitted. The checks report the reason.
        if let Ok(Ok(document)) = tokio::time::timeout(run.settings.check_timeout, document).await {
            taken.insert(name.to_owned(), document);
        }
    }
    taken
}

fn answered(answer: &TestResponse, canonical: &mut Canonical<'_>) -> Value {
    let media = answer.header("content-type").unwrap_or_default();
    json!({ "status": answer.status, "content_type": media, "body": canonical.document(&answer.json) })
}

async fn entry_point(cx: &CheckContext, api: &CheckClient<'_>) -> Result<Value, CheckStop> {
    let base = cx.run.target.base();
    Ok(answered(&api.get(base).await?, &mut Canonical::new(base)))
}

/// Returns the response to a create whose body is not an object.
async fn error(cx: &CheckContext, api: &CheckClient<'_>) -> Result<Value, CheckStop> {
    let takes =
        |kind: &&CatalogueKind| kind.under.is_none() && cx.declared().offers(kind.one, "create");
    let none = || CheckStop::Inconclusive("nothing can be created".to_owned());
    let kind = KINDS.iter().find(takes).ok_or_else(none)?;
    let url = api.collection(kind.many).await?;
    let answer = api.send(Method::POST, &url, Some("[]".to_owned())).await?;
    Ok(answered(&answer, &mut Canonical::new(cx.run.target.base())))
}

/// Returns a new record with every field that it accepts, as it is read.
async fn record(
    cx: &CheckContext,
    api: &CheckClient<'_>,
    kind: CatalogueKind,
) -> Result<Value, CheckStop> {
    let (one, declared) = (kind.one, cx.declared());
    let is_helped = kind.helper.is_some_and(|helper| declared.helps(helper));
    if !declared.offers(one, "read") || !(declared.offers(one, "create") || is_helped) {
        return Err(CheckStop::Inconclusive(format!(
            "no {one} can be created and read"
        )));
    }
    let seed = Seed::new(0).of("snapshots").of(one);
    let whole = generate::body(declared, one, BodyVariant::All(0), &seed.token());
    let whole = whole.and_then(|whole| generate::sample(&whole, seed));
    let mut sent = whole.unwrap_or_else(|| json!({}));
    let made = if let Ok(made) = api.make(one, &sent).await {
        made
    } else {
        sent = json!({});
        api.make(one, &sent).await?
    };
    let own = made.self_url()?;
    let mut canonical = Canonical::new(cx.run.target.base())
        .sent(&sent)
        .record(&own);
    // The prefix of every marker of this run.
    let unique = cx.unique();
    canonical = canonical.mark(
        unique
            .rsplit_once('-')
            .map_or(unique.as_str(), |(begin, _)| begin),
    );
    Ok(answered(&api.get(&own).await?, &mut canonical))
}
