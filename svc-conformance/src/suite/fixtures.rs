//! Fixtures by name: records that the run may use but not create, such as an event of a vendor
//! whose events are read-only. Each must exist before the run starts. A wrong name is an immediate
//! error, instead of a requirement that cannot be decided.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Suite, SuiteError};
use crate::address;
use crate::fields;
use crate::kinds::{self, CatalogueKind, HelperFixture};
use crate::linked_resources::{self, LinkedResource};
use crate::response::Representation;
use crate::run_context::RunContext;

/// The maximum number of pages of a collection that are read to find a record by its identifier.
const MOST_PAGES: usize = 40;

impl Suite {
    /// Reads every given fixture.
    pub(super) async fn fixtures(
        &self,
        run: &RunContext,
    ) -> Result<BTreeMap<String, Representation>, SuiteError> {
        let mut found = BTreeMap::new();
        for (name, given) in &run.declared.text.fixture {
            if let Some(fixture) = kinds::HELPERS.iter().find(|fixture| fixture.name == *name) {
                found.insert(name.clone(), helper(run, fixture, given)?);
                continue;
            }
            let Some(kind) = kinds::of_fixture(name) else {
                let known = kinds::fixtures().join(", ");
                return Err(SuiteError::Usage(format!(
                    "there is no fixture `{name}`; allowed: {known}"
                )));
            };
            let named = format!("the fixture {name} ({given})");
            let record = self.named(run, kind, &named, given).await?;
            is_of(run, kind, &named, &record)?;
            if name == kinds::TICKETED
                && record["ticket_levels"].as_array().is_none_or(Vec::is_empty)
            {
                return Err(SuiteError::Usage(format!(
                    "{named} has no `ticket_levels`: name an event that sells tickets"
                )));
            }
            // If it is not listed, no link identifies its URL, but it is judged as a record of its
            // kind.
            if let Some(own) = record.link("self") {
                run.relations.learn(&own, LinkedResource::Record(kind));
            }
            found.insert(name.clone(), record);
        }
        Ok(found)
    }

    /// Finds a record by its URL, or by an identifier or the end of its URL in its collection.
    async fn named(
        &self,
        run: &RunContext,
        kind: CatalogueKind,
        named: &str,
        given: &str,
    ) -> Result<Representation, SuiteError> {
        let prefix = &run.declared.text.dialect.prefix;
        let usage = |what: &str| SuiteError::Usage(format!("{named} {what}"));
        if given.contains('/') {
            let url = address::resolve(run.target.base(), given).map(String::from);
            let url = url.ok_or_else(|| usage("is not a URL"))?;
            let (status, json) = self.fetch(&run.recorder, &url, self.header(run)).await?;
            return match status {
                200 if json.is_object() => Ok(Representation::new(url, json, prefix.clone())),
                200 => Err(usage(
                    "is not a record: its URL returns 200 without a JSON object",
                )),
                404 => Err(usage(
                    "does not exist: its URL returns 404. Name one that the key may read",
                )),
                status => Err(usage(&format!("cannot be read: its URL returns {status}"))),
            };
        }
        let unlisted = || {
            usage(&format!(
                "is not a URL, and {} are not listed: pass the URL of one",
                kind.many
            ))
        };
        if kind.under.is_some() || !run.declared.offers(kind.one, "list") {
            return Err(unlisted());
        }
        let base = run.target.base();
        let (_, entry) = self.fetch(&run.recorder, base, self.header(run)).await?;
        let entry = Representation::new(base.to_owned(), entry, prefix.clone());
        let declared = run
            .declared
            .collection(kind.many)
            .and_then(|collection| collection.href.as_deref());
        let resolved = || address::resolve(base, declared?).map(String::from);
        let mut next = Some(
            entry
                .href(kind.many)
                .or_else(resolved)
                .ok_or_else(unlisted)?,
        );
        for _ in 0..MOST_PAGES {
            let Some(url) = next else { break };
            let (_, json) = self.fetch(&run.recorder, &url, self.header(run)).await?;
            let page = Representation::new(url, json, prefix.clone());
            let is_it = |record: &Representation| {
                let own = record.link("self").unwrap_or_default();
                record.carries(given) || own.trim_end_matches('/').rsplit('/').next() == Some(given)
            };
            if let Some(record) = page.embedded().into_iter().find(is_it) {
                return Ok(record);
            }
            next = page.link("next");
        }
        Err(usage(&format!(
            "does not exist: none of the listed {} has that identifier",
            kind.many
        )))
    }

    fn header(&self, run: &RunContext) -> Option<(String, String)> {
        Some((
            run.declared.text.dialect.key_header.clone(),
            self.keys.primary.clone()?,
        ))
    }
}

/// Returns the container of a helper whose URL is given: a record of which only this helper is
/// known.
fn helper(
    run: &RunContext,
    fixture: &HelperFixture,
    given: &str,
) -> Result<Representation, SuiteError> {
    let named = format!("the fixture {} ({given})", fixture.name);
    let usage = |what: &str| SuiteError::Usage(format!("{named} {what}"));
    if !run.declared.helps(fixture.helper) {
        return Err(usage(
            "belongs to a helper that the server does not declare",
        ));
    }
    let base = run.target.base();
    let url = Some(given)
        .filter(|given| given.contains('/'))
        .and_then(|given| address::resolve(base, given));
    let url = url.map(String::from).ok_or_else(|| usage("is not a URL"))?;
    if address::authority(&url) != address::authority(base) {
        return Err(usage("is on another host than the entry point"));
    }
    let relation = format!("{}_helper", fixture.helper);
    if let Some(known) = linked_resources::meaning(&relation, None) {
        run.relations.learn(&url, known);
    }
    let links = json!({ "_links": { run.declared.rel(&relation): { "href": url } } });
    Ok(Representation::new(
        url,
        links,
        run.declared.text.dialect.prefix.clone(),
    ))
}

/// A record of another kind is not a valid fixture. It must have the links that are declared for
/// the kind.
fn is_of(
    run: &RunContext,
    kind: CatalogueKind,
    named: &str,
    record: &Representation,
) -> Result<(), SuiteError> {
    let usage = |what: String| {
        Err(SuiteError::Usage(format!(
            "{named} is not of the kind {}: {what}",
            kind.one
        )))
    };
    if record
        .json
        .get("total_records")
        .is_some_and(Value::is_number)
    {
        return usage("its URL is a collection".to_owned());
    }
    if record.link("self").is_none() {
        return usage("it has no link `self`".to_owned());
    }
    let declared = |name: &str| name != "self" && run.declared.links(kind.one, name);
    let sent =
        fields::links(kind.one).filter(|(_, link)| !link.is_to_person() && declared(&link.name));
    match sent
        .map(|(_, link)| link.name.as_str())
        .find(|name| record.href(name).is_none())
    {
        Some(name) => usage(format!(
            "it lacks the link `{}`, which is declared for every {}",
            run.declared.rel(name),
            kind.one
        )),
        None => Ok(()),
    }
}
