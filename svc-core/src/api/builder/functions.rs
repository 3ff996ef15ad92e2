//! The action functions that an API offers.

use super::{ApiBuilder, HelperBackend, composed::supports_function};
use crate::{helper::FunctionName, value::ClosedEnum};

impl ApiBuilder {
    /// Returns the action functions that every registered helper supports.
    pub(super) fn supported_functions(&self) -> Vec<FunctionName> {
        let is_composed = |helper: &HelperBackend| matches!(helper, HelperBackend::Composed);
        let any_composed = self.helpers.values().any(is_composed);
        let all_composed = self.helpers.values().all(is_composed);
        FunctionName::all()
            .filter(|function| {
                let named = self
                    .functions
                    .as_ref()
                    .or(self.stock.as_ref())
                    .map_or(all_composed, |named| named.contains(function));
                let composed = !any_composed || supports_function(*function, &self.kinds);
                named && composed && !self.without.contains(&format!("haf.{}", function.as_str()))
            })
            .collect()
    }
}
