//! What an operation is called on one target.

use super::OperationSpec;
use crate::link::{Address, Scope, Target};

impl OperationSpec {
    /// A name of it on a target that no other operation has, such as `list_signatures_of_petition`.
    #[must_use]
    pub fn id(&self, target: &Target) -> String {
        filled(self.id, target, str::to_owned, "_of_")
    }

    /// What it does on a target, in a sentence such as `Lists the signatures of a petition.`
    #[must_use]
    pub fn summary(&self, target: &Target) -> String {
        filled(self.summary, target, |name| name.replace('_', " "), " of a ")
    }
}

fn filled(template: &str, target: &Target, name: impl Fn(&str) -> String, of: &str) -> String {
    match target {
        Target::Collection { kind, scope } => {
            let place = match scope {
                Scope::All => String::new(),
                Scope::Under(parent) => format!("{of}{}", name(parent.kind.singular())),
            };
            let below = match scope {
                Scope::Under(parent) if kind.schema().is_recorded_below(parent.kind) => place.as_str(),
                _ => "",
            };
            let named = template.replace("{one}", &name(kind.singular())).replace("{many}", &name(kind.plural()));
            named.replace("{of}", &place).replace("{below}", below)
        }
        Target::Record(Address { kind, .. }) => template.replace("{one}", &name(kind.singular())),
        Target::Helper { helper, .. } | Target::Batch { helper, .. } => {
            template.replace("{helper}", helper.as_str()).replace("{text}", helper.text())
        }
        _ => template.to_owned(),
    }
}
