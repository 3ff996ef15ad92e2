//! Texts of an operation for one target.

use super::OperationSpec;
use crate::{
    link::{RecordAddress, Scope, Target},
    model::Kind,
};

impl OperationSpec {
    /// Returns a unique name of the operation on a target, such as `list_signatures_of_petition`.
    #[must_use]
    pub fn id(&self, target: &Target) -> String {
        filled(self.id, target, str::to_owned, |kind| {
            format!("_of_{}", kind.singular())
        })
    }

    /// Returns a summary of the operation on a target, such as
    /// `Lists the signatures of a petition.`
    #[must_use]
    pub fn summary(&self, target: &Target) -> String {
        filled(
            self.summary,
            target,
            |name| name.replace('_', " "),
            |kind| format!(" of {}", kind.with_article()),
        )
    }
}

fn filled(
    template: &str,
    target: &Target,
    name: impl Fn(&str) -> String,
    of: impl Fn(Kind) -> String,
) -> String {
    let of_kind = |kind: Kind| {
        template
            .replace("{one}", &name(kind.singular()))
            .replace("{any}", &kind.with_article())
    };
    match target {
        Target::Collection { kind, scope } => {
            let place = match scope {
                Scope::All => String::new(),
                Scope::Under(parent) => of(parent.kind),
            };
            let below = match scope {
                Scope::Under(parent) if kind.schema().is_nested_under(parent.kind) => {
                    place.as_str()
                }
                _ => "",
            };
            let named = of_kind(*kind).replace("{many}", &name(kind.plural()));
            named.replace("{of}", &place).replace("{below}", below)
        }
        Target::Record(RecordAddress { kind, .. }) => of_kind(*kind),
        Target::Helper { helper, .. } | Target::Batch { helper, .. } => template
            .replace("{helper}", helper.as_str())
            .replace("{text}", helper.description()),
        _ => template.to_owned(),
    }
}
