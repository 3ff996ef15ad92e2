//! Capabilities that are registered but not offered.
//!
//! Requirements: CAP-07, CAP-10.

use super::ApiBuilder;
use crate::{
    auth::Operation,
    helper::{FunctionName, HelperName},
    model::Kind,
    value::ClosedEnum,
};

impl ApiBuilder {
    /// Removes the capabilities of [`ApiBuilder::without_capability`] and
    /// [`ApiBuilder::helpers_only`].
    pub(super) fn withdraw_capabilities(&mut self) {
        let asked = std::mem::take(&mut self.without);
        let functions = self.supported_functions();
        for capability in asked {
            if self.take_capability(&capability, &functions) {
                self.without.insert(capability);
            } else {
                self.wrong.push(format!("`{capability}` is not a registered capability: correct the name in `.without_capability(...)`, or remove the call"));
            }
        }
        for registered in self.kinds.values_mut() {
            registered.withdrawn.extend_from_slice(self.withheld);
            if self.withheld.contains(&Operation::List) {
                registered.scopes.clear();
            }
        }
    }

    fn take_capability(&mut self, capability: &str, functions: &[FunctionName]) -> bool {
        let Some((area, name)) = capability.split_once('.') else {
            return false;
        };
        match area {
            "haf" => functions.iter().any(|function| function.as_str() == name),
            "helper" => {
                let helper = HelperName::ALL
                    .iter()
                    .find(|helper| helper.as_str() == name);
                helper.is_some_and(|helper| self.helpers.remove(helper).is_some())
            }
            _ => Kind::from_plural(area).is_some_and(|kind| self.take_operation(kind, name)),
        }
    }

    fn take_operation(&mut self, kind: Kind, operation: &str) -> bool {
        if let Some(below) = operation.strip_prefix("sub.") {
            let registered = Kind::from_plural(below).and_then(|below| self.kinds.get_mut(&below));
            let Some(registered) =
                registered.filter(|registered| registered.scopes.contains(&kind))
            else {
                return false;
            };
            registered.scopes.retain(|parent| *parent != kind);
            return true;
        }
        let Some(registered) = self.kinds.get_mut(&kind) else {
            return false;
        };
        let operation = Operation::ALL
            .iter()
            .copied()
            .find(|known| known.as_str() == operation);
        operation.is_some_and(|operation| {
            let offered = registered.offers(kind, operation);
            registered.withdrawn.push(operation);
            offered
        })
    }
}
