//! Every form that an address can have, with placeholders as ids.

use svc_core::{
    api::Api,
    context::BaseUrl,
    helper::HelperName,
    link::{RecordAddress, Scope, Target},
    model::Kind,
    schema::LinkTarget,
    value::Id,
};

use crate::documents::json_schema::{record, template};

/// A path of the document and its target.
#[derive(Debug)]
pub(in crate::documents) struct OpenApiPath {
    pub(in crate::documents) path: String,
    /// The names of the ids in the path.
    pub(super) ids: Vec<String>,
    pub(in crate::documents) target: Target,
}

/// Returns the paths of all targets, whether or not they are offered.
pub(in crate::documents) fn routes(api: &Api, base: &BaseUrl) -> Vec<OpenApiPath> {
    let mut routes: Vec<OpenApiPath> = Vec::new();
    let mut add = |target: Target, of: Option<Kind>| {
        let (path, ids) = template(api, base, &target, of);
        if !routes.iter().any(|known| known.path == path) {
            routes.push(OpenApiPath { path, ids, target });
        }
    };
    for target in [
        Target::EntryPoint,
        Target::Changes,
        Target::Duplicates,
        Target::Docs,
        Target::Capabilities,
        Target::OpenApi,
    ] {
        add(target, None);
    }
    add(Target::Webhooks, None);
    add(Target::Explorer("".into()), None);
    for target in helper(HelperName::PersonSignup, None) {
        add(target, None);
    }
    for &kind in Kind::ALL {
        let schema = kind.schema();
        if schema.has_collection() {
            add(
                Target::Collection {
                    kind,
                    scope: Scope::All,
                },
                None,
            );
        }
        let Some(address) = record(kind) else {
            continue;
        };
        add(Target::Record(address.clone()), Some(kind));
        if kind == Kind::Person {
            add(Target::Merge(address.clone()), Some(kind));
            add(Target::MergeBatch(address.clone()), Some(kind));
            add(Target::PersonMerges(address.clone()), Some(kind));
            add(Target::PersonDuplicates(address.clone()), Some(kind));
        }
        for link in schema.links {
            match link.target {
                LinkTarget::Many {
                    kind: member,
                    alias: false,
                } => {
                    add(
                        Target::Collection {
                            kind: member,
                            scope: Scope::Under(address.clone()),
                        },
                        Some(kind),
                    );
                }
                LinkTarget::Helper(name) => {
                    for target in helper(name, Some(&address)) {
                        add(target, Some(kind));
                    }
                }
                _ => {}
            }
        }
    }
    for target in [Target::Webhook, Target::Redelivery, Target::SecretRotation] {
        let Some(target) = Id::new(WEBHOOK).map(target) else {
            continue;
        };
        let path = template(api, base, &target, None)
            .0
            .replace(WEBHOOK, &format!("{{{WEBHOOK}}}"));
        routes.push(OpenApiPath {
            path,
            ids: vec![WEBHOOK.to_owned()],
            target,
        });
    }
    if let (Some(person), Some(merge)) = (record(Kind::Person), Id::new(MERGE)) {
        let target = Target::UndoMerge(person, merge);
        let (path, mut ids) = template(api, base, &target, Some(Kind::Person));
        ids.push(MERGE.to_owned());
        routes.push(OpenApiPath {
            path: path.replace(MERGE, &format!("{{{MERGE}}}")),
            ids,
            target,
        });
    }
    if let [Some(one), Some(other)] = PAIR.map(Id::new) {
        let target = Target::DuplicatePair(one, other);
        let mut path = template(api, base, &target, None).0;
        for id in PAIR {
            path = path.replace(id, &format!("{{{id}}}"));
        }
        routes.push(OpenApiPath {
            path,
            ids: PAIR.map(str::to_owned).into(),
            target,
        });
    }
    // These names are not ids. The placeholder is a name that none of them has.
    let named = [
        (page as fn(&'static str) -> Target, "relation"),
        (schema, "name"),
        (form, "name"),
    ];
    for (make, placeholder) in named {
        let (path, _) = template(api, base, &make(PLACEHOLDER), None);
        if path.contains(PLACEHOLDER) {
            let path = path.replace(PLACEHOLDER, &format!("{{{placeholder}}}"));
            routes.push(OpenApiPath {
                path,
                ids: vec![placeholder.to_owned()],
                target: make(PLACEHOLDER),
            });
        }
    }
    routes
}

/// Returns the targets of a helper and of its batch.
fn helper(helper: HelperName, container: Option<&RecordAddress>) -> impl Iterator<Item = Target> {
    let container = container.cloned();
    let batch = helper.accepts_batches().then(|| Target::Batch {
        helper,
        container: container.clone(),
    });
    [Target::Helper { helper, container }]
        .into_iter()
        .chain(batch)
}

/// The placeholder for the id of a webhook.
const WEBHOOK: &str = "webhook_id";
/// The placeholder for the id of a merge.
const MERGE: &str = "merge_id";
/// The placeholders for the ids of a pair of people.
const PAIR: [&str; 2] = ["older_id", "younger_id"];
const PLACEHOLDER: &str = "any_name_0";

fn page(name: &'static str) -> Target {
    Target::DocsPage(name.into())
}

/// The target of a form, which only the explorer uses.
fn form(name: &'static str) -> Target {
    Target::Form(name.into())
}

fn schema(name: &'static str) -> Target {
    Target::JsonSchema(name.into())
}
