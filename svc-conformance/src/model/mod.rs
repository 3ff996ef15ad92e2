//! The reference model: what a server must show after a sequence of operations, and the search for
//! a sequence that shows a difference.
//!
//! A [`ModelStep`] refers to earlier steps by name, not by position. Steps can therefore be removed
//! one by one until only those remain that a failure needs.

mod execute;
mod resolve;
mod shrink;
mod state;
mod tour;

use serde_json::Value;

use crate::cause::Cause;
use crate::kinds::CatalogueKind;

pub(crate) use execute::execute;
pub(crate) use resolve::{Choice, choices, resolve};
pub(crate) use shrink::shortened;
pub(crate) use tour::tours;

/// One operation on records that earlier steps created.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelStep {
    /// Names the step, and the record that it creates.
    pub(crate) id: usize,
    pub(crate) act: ModelAction,
}

/// The action of a step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ModelAction {
    /// Creates a top-level record.
    Create { kind: CatalogueKind, body: Value },
    /// Records an action of a person in a container, by REST or with the helper of the container.
    Record {
        kind: CatalogueKind,
        container: usize,
        person: usize,
        body: Value,
        helper: bool,
    },
    /// Changes fields of a record.
    Update { of: usize, body: Value },
    /// Deletes a record.
    Delete { of: usize },
}

impl ModelStep {
    /// Returns the steps on which this one depends.
    pub(crate) fn needs(&self) -> Vec<usize> {
        match &self.act {
            ModelAction::Create { .. } => Vec::new(),
            ModelAction::Record {
                container, person, ..
            } => vec![*container, *person],
            ModelAction::Update { of, .. } | ModelAction::Delete { of } => vec![*of],
        }
    }

    /// Returns the step on one line.
    pub(crate) fn line(&self, rel: &dyn Fn(&str) -> String) -> String {
        let short = |body: &Value| body.to_string().chars().take(240).collect::<String>();
        let name = |id: &usize| letter(*id);
        let own = letter(self.id);
        match &self.act {
            ModelAction::Create { kind, body } => {
                format!("{own} = POST {} {}", rel(kind.many), short(body))
            }
            ModelAction::Record {
                kind,
                container,
                person,
                body,
                helper,
            } => {
                let (container, person) = (name(container), name(person));
                if *helper {
                    let helper = rel(&format!("{}_helper", kind.helper.unwrap_or_default()));
                    format!(
                        "{own} = POST {helper} of {container} {} with the identifiers of {person}",
                        short(body)
                    )
                } else {
                    format!(
                        "{own} = POST {} of {container} {} linked to {person}",
                        rel(kind.many),
                        short(body)
                    )
                }
            }
            ModelAction::Update { of, body } => format!("PUT {} {}", name(of), short(body)),
            ModelAction::Delete { of } => format!("DELETE {}", name(of)),
        }
    }
}

/// Returns `a`, `b`, ..., `z`, `a1`, ...
fn letter(id: usize) -> String {
    let letter = char::from(b'a'.saturating_add(u8::try_from(id % 26).unwrap_or(0)));
    match id / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

/// An observation of a requirement that differs from the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelMismatch {
    pub(crate) row: String,
    pub(crate) message: String,
    pub(crate) cause: Option<Cause>,
    /// The step after which it was found.
    pub(crate) after: usize,
}
