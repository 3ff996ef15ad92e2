//! Resolves the path of a request to its target, and names routes and methods for the log.

use std::fmt;

use http::Method;
use svc_core::link::{RecordAddress, Scope, Target};

/// The mount path of the service as segments; empty at the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mount(String);

impl Mount {
    /// Mounts at this path, with or without slashes around it.
    pub(crate) fn under(path: &str) -> Self {
        let path = path.trim_matches('/');
        Self(if path.is_empty() {
            String::new()
        } else {
            format!("/{path}")
        })
    }

    /// Returns the path below the mount without a leading slash, or `None` outside the mount.
    pub(crate) fn strip<'p>(&self, path: &'p str) -> Option<&'p str> {
        let below = path.strip_prefix(self.0.as_str())?;
        match below.strip_prefix('/') {
            Some(below) => Some(below),
            None => below.is_empty().then_some(below),
        }
    }
}

/// The name of a target for logs: its template, without ids.
pub(crate) struct RouteTemplate<'a>(pub(crate) Option<&'a Target>);

impl fmt::Display for RouteTemplate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(target) = self.0 else {
            return f.write_str("none");
        };
        match target {
            Target::EntryPoint => f.write_str("entry point"),
            Target::Collection {
                kind,
                scope: Scope::All,
            } => f.write_str(kind.plural()),
            Target::Collection {
                kind,
                scope: Scope::Under(parent),
            } => {
                write!(f, "{}/{}", RecordTemplate(parent), kind.plural())
            }
            Target::Record(address) => write!(f, "{}", RecordTemplate(address)),
            Target::Helper {
                helper,
                container: Some(container),
            } => {
                write!(f, "{}/{}", RecordTemplate(container), helper.relation())
            }
            Target::Helper {
                helper,
                container: None,
            } => f.write_str(helper.relation()),
            Target::Batch {
                helper,
                container: Some(container),
            } => {
                write!(
                    f,
                    "{}/{}/batch",
                    RecordTemplate(container),
                    helper.relation()
                )
            }
            Target::Batch {
                helper,
                container: None,
            } => write!(f, "{}/batch", helper.relation()),
            Target::Merge(person) => write!(f, "{}/merge_helper", RecordTemplate(person)),
            Target::MergeBatch(person) => {
                write!(f, "{}/merge_helper/batch", RecordTemplate(person))
            }
            Target::PersonMerges(person) => write!(f, "{}/merges", RecordTemplate(person)),
            Target::UndoMerge(person, _) => {
                write!(f, "{}/merges/{{id}}/undo", RecordTemplate(person))
            }
            Target::Duplicates => f.write_str("duplicates"),
            Target::PersonDuplicates(person) => write!(f, "{}/duplicates", RecordTemplate(person)),
            Target::DuplicatePair(..) => f.write_str("duplicates/{id}.{id}"),
            Target::Changes => f.write_str("changes"),
            Target::Webhooks => f.write_str("webhooks"),
            Target::Webhook(_) => f.write_str("webhooks/{id}"),
            Target::Redelivery(_) => f.write_str("webhooks/{id}/redeliver"),
            Target::SecretRotation(_) => f.write_str("webhooks/{id}/rotate_secret"),
            Target::Docs | Target::DocsPage(_) => f.write_str("docs"),
            Target::Explorer(_) => f.write_str("explorer"),
            Target::Capabilities => f.write_str("capabilities"),
            Target::OpenApi => f.write_str("openapi"),
            Target::JsonSchema(_) => f.write_str("json schema"),
            Target::Form(_) => f.write_str("form"),
        }
    }
}

/// A record without its id.
struct RecordTemplate<'a>(&'a RecordAddress);

impl fmt::Display for RecordTemplate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(home), Some(_)) = (self.0.kind.schema().path_parent, &self.0.parent) {
            write!(f, "{}/{{id}}/", home.plural())?;
        }
        write!(f, "{}/{{id}}", self.0.kind.plural())
    }
}

/// Returns the name of a method for logs and metrics. Methods that clients invent are not shown.
pub(crate) fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::CONNECT => "CONNECT",
        Method::TRACE => "TRACE",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use svc_core::link::{ConventionalLayout, Layout};

    use super::*;

    #[test]
    fn hal_01_a_mount_strips_whole_segments() {
        let mount = Mount::under("/api/v1/");
        assert_eq!(mount, Mount::under("api/v1"));
        for (path, below) in [
            ("/api/v1", ""),
            ("/api/v1/", ""),
            ("/api/v1/people", "people"),
            ("/api/v1//p", "/p"),
        ] {
            assert_eq!(mount.strip(path), Some(below), "{path}");
        }
        for outside in [
            "",
            "/",
            "/api",
            "/api/v10",
            "/api/v1x/people",
            "api/v1/people",
            "*",
        ] {
            assert_eq!(mount.strip(outside), None, "{outside}");
        }
        assert_eq!(Mount::under("/").strip("/people/"), Some("people/"));
        assert_eq!(Mount::default().strip(""), Some(""));
    }

    #[test]
    fn und_42_routes_in_the_log_hold_no_ids() {
        let name = |path: &str| RouteTemplate(ConventionalLayout.route(path).as_ref()).to_string();
        assert_eq!(name("people/secret/signatures"), "people/{id}/signatures");
        assert_eq!(
            name("petitions/a/signatures/b"),
            "petitions/{id}/signatures/{id}"
        );
        assert_eq!(
            name("events/a/record_attendance_helper"),
            "events/{id}/record_attendance_helper"
        );
        assert_eq!(name("people/person_signup"), "person_signup_helper");
        assert_eq!(
            name("people/person_signup/batch"),
            "person_signup_helper/batch"
        );
        assert_eq!(
            name("petitions/a/record_signature_helper/batch"),
            "petitions/{id}/record_signature_helper/batch"
        );
        assert_eq!(name("people/a/merge_helper"), "people/{id}/merge_helper");
        assert_eq!(
            name("people/a/merge_helper/batch"),
            "people/{id}/merge_helper/batch"
        );
        assert_eq!(
            name("people/a/merges/b/undo"),
            "people/{id}/merges/{id}/undo"
        );
        assert_eq!(name("docs/v1/person"), "docs");
        assert_eq!(name("secret/path"), "none");
    }

    proptest! {
        #![proptest_config(crate::testing::config())]

        #[test]
        fn hal_01_what_a_mount_strips_is_what_it_was_put_before(path in "[ -~]{0,40}") {
            let mount = Mount::under("/api");
            let below = format!("/api/{path}");
            prop_assert_eq!(mount.strip(&below), Some(path.as_str()));
        }
    }
}
