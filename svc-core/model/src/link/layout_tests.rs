//! Checks a layout with one target of each type.

use std::borrow::Cow;

use super::{ConventionalLayout, Layout, RecordAddress, Scope, Target};
use crate::{
    names::{HelperName, Kind},
    schema::LinkTarget,
    value::Id,
};

/// Returns one target of each type, with complete addresses.
#[must_use]
pub fn targets() -> Vec<Target> {
    let mut targets = vec![
        Target::EntryPoint,
        Target::Changes,
        Target::Webhooks,
        Target::Docs,
        Target::DocsPage(Cow::Borrowed("person")),
        Target::Explorer(Cow::Borrowed("")),
        Target::Explorer(Cow::Borrowed("explorer.js")),
        Target::Capabilities,
        Target::OpenApi,
        Target::JsonSchema(Cow::Borrowed("record_signature_helper")),
        Target::Form(Cow::Borrowed("petition_signatures")),
        Target::Helper {
            helper: HelperName::PersonSignup,
            container: None,
        },
    ];
    for of_webhook in [Target::Webhook, Target::Redelivery, Target::SecretRotation] {
        targets.extend(Id::new("0198-a_B").map(of_webhook));
    }
    let person = Id::new("0198-a_B").map(|id| RecordAddress::without_parent(Kind::Person, id));
    for of_person in [
        Target::Merge,
        Target::MergeBatch,
        Target::PersonMerges,
        Target::PersonDuplicates,
    ] {
        targets.extend(person.clone().map(of_person));
    }
    let merge = person.zip(Id::new("0198-m"));
    targets.extend(merge.map(|(person, merge)| Target::UndoMerge(person, merge)));
    let ids = Id::new("0198-a_B").zip(Id::new("0198-c"));
    targets.extend(ids.map(|(one, other)| Target::DuplicatePair(one, other)));
    targets.push(Target::Duplicates);
    for &kind in Kind::ALL {
        if kind.schema().has_collection() {
            targets.push(Target::Collection {
                kind,
                scope: Scope::All,
            });
        }
        let parent = kind.schema().path_parent.map(|_| Id::new("parent-1"));
        let (Some(id), Some(parent)) = (
            Id::new("0198-a_B"),
            parent.map_or(Some(None), |parent| parent.map(Some)),
        ) else {
            continue;
        };
        let address = RecordAddress { kind, id, parent };
        targets.push(Target::Record(address.clone()));
        for link in kind.schema().links {
            match link.target {
                LinkTarget::Many { kind, .. } => {
                    targets.push(Target::Collection {
                        kind,
                        scope: Scope::Under(address.clone()),
                    });
                }
                LinkTarget::Helper(helper) => {
                    targets.push(Target::Helper {
                        helper,
                        container: Some(address.clone()),
                    });
                }
                LinkTarget::One { .. } => {}
            }
        }
    }
    let batch = |target: &Target| match target {
        Target::Helper { helper, container } if helper.accepts_batches() => Some(Target::Batch {
            helper: *helper,
            container: container.clone(),
        }),
        _ => None,
    };
    let batches: Vec<Target> = targets.iter().filter_map(batch).collect();
    targets.extend(batches);
    targets
}

/// Returns the problem of how a layout writes and reads a target, as a sentence.
pub fn broken(layout: &dyn Layout, target: &Target) -> Option<String> {
    let written = |layout: &dyn Layout| {
        let mut path = String::new();
        layout.path(target, &mut path);
        path
    };
    let path = written(layout);
    if path.starts_with('/')
        || !path
            .bytes()
            .all(|b| b.is_ascii_graphic() && !matches!(b, b'?' | b'#' | b'"' | b'\\'))
    {
        return Some(format!(
            "the layout writes `{path}`, which is not a relative path: write no leading `/`, query, fragment or space"
        ));
    }
    let slashed = format!("{}/", path.strip_suffix('/').unwrap_or(&path));
    for path in [&path, &slashed] {
        if layout.route(path).as_ref() != Some(target) {
            return Some(format!(
                "the layout writes `{}` but does not read `{path}` back as the same target: make `route` the inverse of `path`",
                written(layout)
            ));
        }
    }
    let conventional = written(&ConventionalLayout);
    (layout.is_conventional() && path != conventional)
        .then(|| format!("the layout claims to be conventional but writes `{path}` for `{conventional}`: let `is_conventional` return false"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_holds_for_every_target_and_with_a_trailing_slash() {
        assert_eq!(
            targets()
                .iter()
                .find_map(|target| broken(&ConventionalLayout, target)),
            None
        );
    }

    /// A layout with one error.
    #[derive(Debug)]
    struct Wrong(fn(&mut String), fn(&str) -> &str, bool);

    impl Layout for Wrong {
        fn path(&self, target: &Target, out: &mut String) {
            ConventionalLayout.path(target, out);
            (self.0)(out);
        }

        fn route(&self, path: &str) -> Option<Target> {
            ConventionalLayout.route((self.1)(path))
        }

        fn is_conventional(&self) -> bool {
            self.2
        }
    }

    #[test]
    fn each_mistake_is_named() {
        let target = Target::Collection {
            kind: Kind::Person,
            scope: Scope::All,
        };
        let said = |layout: &Wrong| broken(layout, &target).unwrap_or_default();
        assert_eq!(said(&Wrong(|_| {}, |path| path, true)), "");
        assert!(
            said(&Wrong(|out| out.insert(0, '/'), |path| path, false))
                .contains("`/people`, which is not a relative path")
        );
        assert!(
            said(&Wrong(|out| out.push_str("?x=1"), |path| path, false))
                .contains("`people?x=1`, which is not a relative path")
        );
        assert!(
            said(&Wrong(|out| out.push('s'), |path| path, false))
                .contains("does not read `peoples` back as the same")
        );
        let strict = |path: &str| {
            if path == "people" {
                "people"
            } else {
                "nothing"
            }
        };
        assert!(
            said(&Wrong(|_| {}, strict, false))
                .contains("does not read `people/` back as the same")
        );
        let other = Wrong(
            |out| out.insert_str(0, "x/"),
            |path| path.strip_prefix("x/").unwrap_or(path),
            true,
        );
        assert!(said(&other).contains("writes `x/people` for `people`"));
    }
}
