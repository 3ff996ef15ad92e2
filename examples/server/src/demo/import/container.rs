//! The petition, fundraising page, event or form that gets the actions of a table.

use clap::{Args, ValueEnum};
use http::HeaderValue;
use serde_json::Value;
use svc_core::filter::name_key;
use svc_core::model::Kind;
use svc_import::ActionKind;

use super::server::ImportTarget;
use crate::demo::remote::{link, reachable};
use crate::demo::startup_error::StartupError;

/// The number of records that a message lists.
const SHOWN: usize = 10;

/// The start of the help of each option.
const OF: &str = "Title, name or URL of the";

/// What the rows of a table become.
#[derive(Debug, Clone, Args)]
pub(super) struct ActionArgs {
    /// What each row becomes: a person, or an action of a person
    #[arg(long = "as", value_name = "WHAT", default_value = "people")]
    rows: RowKind,
    #[arg(long, value_name = "NAME|URL", help = format!("{OF} petition that gets the signatures"))]
    petition: Option<String>,
    #[arg(long, value_name = "NAME|URL", help = format!("{OF} fundraising page that gets the donations"))]
    fundraising_page: Option<String>,
    #[arg(long, value_name = "NAME|URL", help = format!("{OF} event that gets the attendances"))]
    event: Option<String>,
    #[arg(long, value_name = "NAME|URL", help = format!("{OF} form that gets the submissions"))]
    form: Option<String>,
}

/// What a row becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RowKind {
    People,
    Signatures,
    Donations,
    Attendances,
    Submissions,
}

impl ActionArgs {
    /// Returns the kind of the actions; `None` for people.
    pub(super) fn kind(&self) -> Option<ActionKind> {
        let name = self.rows.to_possible_value()?;
        ActionKind::from_name(name.get_name())
    }

    /// Returns the title, name or URL of the container of the actions.
    ///
    /// # Errors
    ///
    /// Returns an error if a container of other actions is given.
    pub(super) fn container(&self) -> Result<Option<&str>, StartupError> {
        let kind = self.kind();
        let mut given = None;
        for (container, name) in [
            (Kind::Petition, &self.petition),
            (Kind::FundraisingPage, &self.fundraising_page),
            (Kind::Event, &self.event),
            (Kind::Form, &self.form),
        ] {
            let Some(name) = name else { continue };
            if kind.map(ActionKind::container) != Some(container) {
                let mut all = ActionKind::ALL.into_iter();
                let of = all.find(|kind| kind.container() == container);
                let option = option_of(container);
                return Err(StartupError::new(
                    format!("{option} is not possible with these actions."),
                    option,
                    format!("Use --as {}.", of.map_or("people", ActionKind::plural)),
                ));
            }
            given = Some(name.as_str());
        }
        Ok(given)
    }
}

/// Returns the option that names a container.
fn option_of(container: Kind) -> String {
    format!("--{}", container.schema().singular.replace('_', "-"))
}

/// Finds the URL of the helper that records the actions.
///
/// # Errors
///
/// Returns an error if no record, or more than one, has the title, name or URL, or if it has no such helper.
pub(super) async fn helper(
    server: &ImportTarget,
    key: &HeaderValue,
    kind: ActionKind,
    named: Option<&str>,
) -> Result<String, StartupError> {
    let container = kind.container();
    let one = container.schema().singular.replace('_', " ");
    let failed = |why: String| {
        let rights = format!(
            "{}.read and helper.{}",
            container.plural(),
            kind.helper().as_str()
        );
        StartupError::new(
            format!("The {one} of the {} cannot be found: {why}.", kind.plural()),
            server.entry_point(),
            format!("Use the URL of a server that offers it, and a key with the rights {rights}."),
        )
    };
    let mut found = Found::new(container, named, server.entry_point());
    let read = server.each(key, container, |record| {
        found.add(record);
        true
    });
    read.await.map_err(&failed)?;
    let record = found.only(&one, kind)?;
    let relation = format!(":{}", kind.helper().relation());
    let links = record.get("_links").unwrap_or(&Value::Null);
    let helper = link(links, |name| name.ends_with(&relation));
    let missing = || failed(format!("it has no link {}", kind.helper().relation()));
    Ok(helper.ok_or_else(missing)?.to_owned())
}

/// The records of a collection that can be meant.
struct Found<'n> {
    container: Kind,
    named: Option<&'n str>,
    entry_point: &'n str,
    /// The records with the title, name or URL.
    records: Vec<Value>,
    /// The first records of the collection, as text.
    first: Vec<String>,
    total: usize,
}

impl<'n> Found<'n> {
    fn new(container: Kind, named: Option<&'n str>, entry_point: &'n str) -> Self {
        Self {
            container,
            named,
            entry_point,
            records: Vec::new(),
            first: Vec::new(),
            total: 0,
        }
    }

    fn add(&mut self, record: &Value) {
        self.total = self.total.saturating_add(1);
        if self.first.len() < SHOWN {
            self.first.push(match title_of(record) {
                Some(title) => format!("`{title}`"),
                None => url_of(record).to_owned(),
            });
        }
        let is_meant = |named| is_named(record, named) || self.is_at(record, named);
        if self.named.is_some_and(is_meant) && self.records.len() <= SHOWN {
            self.records.push(record.clone());
        }
    }

    /// Returns whether a URL is that of a record, or that of its public page.
    fn is_at(&self, record: &Value, url: &str) -> bool {
        let page = record.get("browser_url").and_then(Value::as_str);
        let [own, wanted] = [url_of(record), url].map(|url| reachable(self.entry_point, url));
        page == Some(url) || own.trim_end_matches('/') == wanted.trim_end_matches('/')
    }

    /// Returns the only record with the title, name or URL.
    fn only(mut self, one: &str, kind: ActionKind) -> Result<Value, StartupError> {
        let option = option_of(self.container);
        let several = self.container.plural().replace('_', " ");
        if self.records.len() > 1 {
            let all: Vec<&str> = self.records.iter().take(SHOWN).map(url_of).collect();
            let more = if self.records.len() > SHOWN {
                ", and more"
            } else {
                ""
            };
            return Err(StartupError::new(
                format!(
                    "Several {several} have this title, name or URL: {}{more}.",
                    all.join(", ")
                ),
                format!("{option} {}", self.named.unwrap_or_default()),
                format!("Name one by its URL, with {option} URL."),
            ));
        }
        if let Some(record) = self.records.pop() {
            return Ok(record);
        }
        let what = match self.named {
            Some(_) => format!("No {one} has this title, name or URL"),
            None => format!("It is not known which {one} gets the {}", kind.plural()),
        };
        let more = match self.total.saturating_sub(self.first.len()) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let known = match self.first.as_slice() {
            [] => format!("The server has no {several}"),
            first => format!("The server has {}{more}", first.join(", ")),
        };
        Err(StartupError::new(
            format!("{what}. {known}."),
            format!("{option} {}", self.named.unwrap_or_default()).trim_end(),
            format!("Name the {one} with {option} NAME or {option} URL."),
        ))
    }
}

/// Returns whether the title or the name of a record is this one. They are compared as the API compares names of tags.
fn is_named(record: &Value, named: &str) -> bool {
    let wanted = name_key(Kind::Tag, named);
    ["title", "name"].iter().any(|member| {
        let name = record.get(member).and_then(Value::as_str);
        wanted.is_some() && name.and_then(|name| name_key(Kind::Tag, name)) == wanted
    })
}

fn url_of(record: &Value) -> &str {
    let links = record.get("_links").unwrap_or(&Value::Null);
    link(links, |name| name == "self").unwrap_or_default()
}

fn title_of(record: &Value) -> Option<&str> {
    let text = |member| record.get(member).and_then(Value::as_str);
    text("title").or_else(|| text("name"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_become_people_or_each_kind_of_action() {
        for rows in RowKind::value_variants() {
            let name = rows.to_possible_value().expect("a value");
            let kind = ActionKind::from_name(name.get_name());
            assert_eq!(kind.is_none(), *rows == RowKind::People, "{rows:?}");
        }
        assert_eq!(RowKind::value_variants().len(), ActionKind::ALL.len() + 1);
    }

    #[test]
    fn a_record_is_found_by_its_url() {
        let record = json!({
            "browser_url": "https://example.org/park",
            "_links": {"self": {"href": "https://crm.example.org/api/v1/petitions/1"}},
        });
        let found = Found::new(Kind::Petition, None, "http://localhost:8080/api/v1/");
        for (url, is_same) in [
            ("https://example.org/park", true),
            ("http://localhost:8080/api/v1/petitions/1/", true),
            ("https://crm.example.org/api/v1/petitions/1", true),
            ("http://localhost:8080/api/v1/petitions/2", false),
            ("", false),
        ] {
            assert_eq!(found.is_at(&record, url), is_same, "{url}");
        }
    }

    #[test]
    fn titles_and_names_are_compared_without_case() {
        let record = json!({"title": "Save the Park", "name": "park-1"});
        for (name, is_same) in [
            (" save THE park ", true),
            ("PARK-1", true),
            ("park", false),
            ("", false),
        ] {
            assert_eq!(is_named(&record, name), is_same, "{name}");
        }
    }
}
