//! The paths of the examples in the specification.
//!
//! Requirements: COL-19.

use std::borrow::Cow;

use super::{Layout, RecordAddress, Scope, Target};
use crate::{
    names::{HelperName, Kind},
    schema::{KindFeature, LinkTarget},
    value::Id,
};

/// The conventional layout: `/people/<id>`, `/petitions/<p>/signatures/<id>`,
/// `/events/<e>/record_attendance_helper` ...
///
/// It also resolves some aliases: `attendance` for a person's `attendances`, `/submissions/<id>`, a
/// donation under its page, both sign-up paths, and a trailing slash.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConventionalLayout;

const CHANGES: &str = "changes";
const DUPLICATES: &str = "duplicates";
const WEBHOOKS: &str = "webhooks";
const REDELIVER: &str = "redeliver";
const ROTATE_SECRET: &str = "rotate_secret";
const DOCS: &str = "docs/";
const DOCS_PAGE: &str = "docs/v1/";
const EXPLORER: &str = "docs/explorer";
const CAPABILITIES: &str = "docs/capabilities";
const OPENAPI: &str = "docs/openapi.json";
const SCHEMAS: &str = "docs/schemas/";
const FORMS: &str = "docs/forms/";
const JSON: &str = ".json";
const SIGNUP: &str = "person_signup";
const SIGNUP_ALIAS: &str = "person_signup_helper";
const SCHEDULE: &str = "schedule";
const BATCH: &str = "batch";
const MERGE: &str = "merge_helper";
const MERGES: &str = "merges";
const UNDO: &str = "undo";

impl Layout for ConventionalLayout {
    fn path(&self, target: &Target, out: &mut String) {
        match target {
            Target::EntryPoint => {}
            Target::Changes => out.push_str(CHANGES),
            Target::Duplicates => out.push_str(DUPLICATES),
            Target::PersonDuplicates(person) => push_below(person, DUPLICATES, out),
            Target::DuplicatePair(one, other) => {
                // An id contains no dot.
                for part in [DUPLICATES, "/", one.as_str(), ".", other.as_str()] {
                    out.push_str(part);
                }
            }
            Target::Webhooks => out.push_str(WEBHOOKS),
            Target::Webhook(id) => push_webhook(id, "", out),
            Target::Redelivery(id) => push_webhook(id, REDELIVER, out),
            Target::SecretRotation(id) => push_webhook(id, ROTATE_SECRET, out),
            Target::Docs => out.push_str(DOCS),
            Target::DocsPage(relation) => {
                out.push_str(DOCS_PAGE);
                out.push_str(relation);
            }
            Target::Explorer(file) => {
                out.push_str(EXPLORER);
                if !file.is_empty() {
                    out.push('/');
                    out.push_str(file);
                }
            }
            Target::Capabilities => out.push_str(CAPABILITIES),
            Target::OpenApi => out.push_str(OPENAPI),
            Target::JsonSchema(name) => {
                out.push_str(SCHEMAS);
                out.push_str(name);
                out.push_str(JSON);
            }
            Target::Form(name) => {
                out.push_str(FORMS);
                out.push_str(name);
                out.push_str(JSON);
            }
            Target::Collection { kind, scope } => {
                if let Scope::Under(parent) = scope {
                    push_record(parent, out);
                    out.push('/');
                }
                out.push_str(kind.plural());
            }
            Target::Record(address) => push_record(address, out),
            Target::Helper { helper, container } => push_helper(*helper, container.as_ref(), out),
            Target::Batch { helper, container } => {
                push_helper(*helper, container.as_ref(), out);
                out.push('/');
                out.push_str(BATCH);
            }
            Target::Merge(person) => push_below(person, MERGE, out),
            Target::MergeBatch(person) => {
                push_below(person, MERGE, out);
                out.push('/');
                out.push_str(BATCH);
            }
            Target::PersonMerges(person) => push_below(person, MERGES, out),
            Target::UndoMerge(person, merge) => {
                push_below(person, MERGES, out);
                for part in ["/", merge.as_str(), "/", UNDO] {
                    out.push_str(part);
                }
            }
        }
    }

    fn route(&self, path: &str) -> Option<Target> {
        let path = path.strip_suffix('/').unwrap_or(path);
        if path.is_empty() {
            return Some(Target::EntryPoint);
        }
        if path == CHANGES {
            return Some(Target::Changes);
        }
        if path == "docs" {
            return Some(Target::Docs);
        }
        if path == EXPLORER {
            return Some(Target::Explorer(Cow::Borrowed("")));
        }
        if let Some(file) = path
            .strip_prefix(EXPLORER)
            .and_then(|rest| rest.strip_prefix('/'))
        {
            let good = |b: u8| {
                b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-' | b'.')
            };
            let is_file = (1..=64).contains(&file.len()) && file.bytes().all(good);
            return is_file.then(|| Target::Explorer(Cow::Owned(file.to_owned())));
        }
        if path == CAPABILITIES {
            return Some(Target::Capabilities);
        }
        if path == OPENAPI {
            return Some(Target::OpenApi);
        }
        if let Some(file) = path.strip_prefix(SCHEMAS) {
            return document(file).map(Target::JsonSchema);
        }
        if let Some(file) = path.strip_prefix(FORMS) {
            return document(file).map(Target::Form);
        }
        if let Some(relation) = path.strip_prefix(DOCS_PAGE) {
            let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b':');
            let is_page =
                !relation.is_empty() && relation.len() <= 64 && relation.bytes().all(good);
            return is_page.then(|| Target::DocsPage(Cow::Owned(relation.to_owned())));
        }
        let segments: Vec<&str> = path.split('/').collect();
        batch(&segments).or_else(|| route_segments(&segments))
    }

    fn is_conventional(&self) -> bool {
        true
    }
}

/// Returns the name of a JSON document from its file name.
fn document(file: &str) -> Option<Cow<'static, str>> {
    let name = file.strip_suffix(JSON)?;
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    let is_name = (1..=64).contains(&name.len()) && name.bytes().all(good);
    is_name.then(|| Cow::Owned(name.to_owned()))
}

fn push_record(address: &RecordAddress, out: &mut String) {
    if let (Some(home), Some(parent)) = (address.kind.schema().path_parent, &address.parent) {
        out.push_str(home.plural());
        out.push('/');
        out.push_str(parent.as_str());
        out.push('/');
    }
    out.push_str(address.kind.plural());
    out.push('/');
    out.push_str(address.id.as_str());
}

fn push_below(address: &RecordAddress, segment: &str, out: &mut String) {
    push_record(address, out);
    out.push('/');
    out.push_str(segment);
}

fn push_helper(helper: HelperName, container: Option<&RecordAddress>, out: &mut String) {
    match container {
        Some(container) => push_record(container, out),
        None => out.push_str(Kind::Person.plural()),
    }
    out.push('/');
    out.push_str(helper_segment(helper));
}

fn push_webhook(id: &Id, below: &str, out: &mut String) {
    out.push_str(WEBHOOKS);
    out.push('/');
    out.push_str(id.as_str());
    if !below.is_empty() {
        out.push('/');
        out.push_str(below);
    }
}

fn helper_segment(helper: HelperName) -> &'static str {
    match helper {
        HelperName::PersonSignup => SIGNUP,
        HelperName::Schedule => SCHEDULE,
        other => other.relation(),
    }
}

/// Resolves a batch of a helper or of merges; a record may have the same word as its id.
fn batch(segments: &[&str]) -> Option<Target> {
    let [call @ .., BATCH] = segments else {
        return None;
    };
    match route_segments(call)? {
        Target::Helper { helper, container } if helper.accepts_batches() => {
            Some(Target::Batch { helper, container })
        }
        Target::Merge(person) => Some(Target::MergeBatch(person)),
        _ => None,
    }
}

fn route_segments(segments: &[&str]) -> Option<Target> {
    match *segments {
        [DUPLICATES] => Some(Target::Duplicates),
        [DUPLICATES, pair] => {
            let (one, other) = pair.split_once('.')?;
            Some(Target::DuplicatePair(Id::new(one)?, Id::new(other)?))
        }
        [WEBHOOKS] => Some(Target::Webhooks),
        [WEBHOOKS, id] => Id::new(id).map(Target::Webhook),
        [WEBHOOKS, id, REDELIVER] => Id::new(id).map(Target::Redelivery),
        [WEBHOOKS, id, ROTATE_SECRET] => Id::new(id).map(Target::SecretRotation),
        [collection] => {
            let kind = Kind::from_plural(collection)?;
            kind.schema()
                .has_collection()
                .then_some(Target::Collection {
                    kind,
                    scope: Scope::All,
                })
        }
        [collection, SIGNUP | SIGNUP_ALIAS]
            if collection == HelperName::PersonSignup.recorded_kind().plural() =>
        {
            Some(Target::Helper {
                helper: HelperName::PersonSignup,
                container: None,
            })
        }
        [collection, id] => {
            let kind = Kind::from_plural(collection)?;
            // Of the nested kinds, only a few have a short path. Requirements: COL-05.
            let addressed = kind.schema().has_collection()
                || kind.schema().has_feature(KindFeature::HasShortAddress);
            addressed.then_some(())?;
            Some(Target::Record(RecordAddress::without_parent(
                kind,
                Id::new(id)?,
            )))
        }
        [collection, id, below] => {
            let Target::Record(parent) = route_segments(&[collection, id])? else {
                return None;
            };
            below_record(parent, below)
        }
        [collection, id, below, member] => {
            let parent = Id::new(id)?;
            let home = Kind::from_plural(collection)?;
            let kind = Kind::from_plural(below)?;
            if kind.schema().path_parent == Some(home) {
                return Some(Target::Record(RecordAddress::with_parent(
                    kind,
                    parent,
                    Id::new(member)?,
                )));
            }
            // A donation is a top-level record and also has a path under its page.
            let also_here =
                kind.schema().has_collection() && kind.schema().parent_kind() == Some(home);
            also_here.then_some(Target::Record(RecordAddress::with_parent(
                kind,
                parent,
                Id::new(member)?,
            )))
        }
        [collection, id, MERGES, merge, UNDO] if collection == Kind::Person.plural() => {
            let person = RecordAddress::without_parent(Kind::Person, Id::new(id)?);
            Some(Target::UndoMerge(person, Id::new(merge)?))
        }
        [collection, id, below, member, last] => {
            let Target::Record(record) = route_segments(&[collection, id, below, member])? else {
                return None;
            };
            record.kind.schema().path_parent?;
            below_record(record, last)
        }
        _ => None,
    }
}

/// Resolves a collection or a helper under a record.
fn below_record(parent: RecordAddress, segment: &str) -> Option<Target> {
    match (parent.kind, segment) {
        (Kind::Person, MERGE) => return Some(Target::Merge(parent)),
        (Kind::Person, MERGES) => return Some(Target::PersonMerges(parent)),
        (Kind::Person, DUPLICATES) => return Some(Target::PersonDuplicates(parent)),
        _ => {}
    }
    for link in parent.kind.schema().links {
        match link.target {
            LinkTarget::Many { kind, .. } if kind.plural() == segment || link.name == segment => {
                return Some(Target::Collection {
                    kind,
                    scope: Scope::Under(parent),
                });
            }
            LinkTarget::Helper(helper) if helper_segment(helper) == segment => {
                return Some(Target::Helper {
                    helper,
                    container: Some(parent),
                });
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Id {
        Id::new(text).unwrap()
    }

    #[test]
    fn aliases_of_col_05_col_13_and_hlp_19_are_read() {
        let route = |path| ConventionalLayout.route(path);
        assert_eq!(route("people/p/attendance"), route("people/p/attendances"));
        assert_eq!(
            route("people/person_signup_helper/"),
            route("people/person_signup")
        );
        assert_eq!(
            route("people/person_signup_helper/batch/"),
            route("people/person_signup/batch")
        );
        assert!(
            matches!(route("people/batch"), Some(Target::Record(_))),
            "an id"
        );
        assert!(
            matches!(
                route("petitions/p/signatures/batch"),
                Some(Target::Record(_))
            ),
            "an id"
        );
        assert_eq!(
            route("submissions/s"),
            Some(Target::Record(RecordAddress::without_parent(
                Kind::Submission,
                id("s")
            )))
        );
        assert!(matches!(
            route("fundraising_pages/f/donations/d"),
            Some(Target::Record(_))
        ));
    }

    #[test]
    fn what_is_no_address_of_the_interface_is_refused() {
        for path in [
            "nothing",
            "signatures",
            "signatures/s",
            "people//",
            "people/a%20b",
            "people/p/donations/d/x",
            "docs/v1/",
            "docs/schemas/",
            "docs/schemas/person",
            "docs/schemas/.json",
            "docs/schemas/a/b.json",
            "docs/forms",
            "docs/forms/people",
            "docs/forms/.json",
            "docs/forms/a/b.json",
            "batch",
            "people/batch/batch",
            "people/person_signup/batch/batch",
            "messages/m/schedule/batch",
            "events/e/merge_helper",
            "people/merge_helper/batch",
            "events/e/merges",
            "people/p/merges/m",
            "people/p/merges/m/x",
            "people/p/merges/m!/undo",
            "events/e/merges/m/undo",
        ] {
            assert_eq!(ConventionalLayout.route(path), None, "{path}");
        }
    }
}
