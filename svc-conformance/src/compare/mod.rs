//! Compares two servers: what can be transferred from one to the other, kind by kind and field by
//! field, and what is lost.

mod fields;
mod render;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::catalogue::FUNCTIONS;
use crate::declared::{self, DeclarationSource, DeclaredApi};
use crate::kinds::{CatalogueKind, KINDS};
use crate::report::{CauseReport, Report};

/// One of the two servers.
#[derive(Debug, Clone)]
pub(crate) struct ComparedServer {
    /// Its name in the comparison.
    name: String,
    declared: DeclaredApi,
    /// The declared features that failed according to a report.
    causes: Vec<CauseReport>,
}

/// What can be transferred between two servers.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Comparison {
    a: String,
    b: String,
    kinds: Vec<KindPair>,
    helpers: Vec<FeaturePair>,
    action_functions: Vec<FeaturePair>,
}

/// A kind in both servers.
#[derive(Debug, Clone, Serialize)]
struct KindPair {
    kind: &'static str,
    a_operations: Vec<String>,
    b_operations: Vec<String>,
    /// Why no record can be transferred. `None` if it can.
    a_to_b_blocked: Option<String>,
    b_to_a_blocked: Option<String>,
    fields: Vec<FieldPair>,
}

/// A field in both servers.
#[derive(Debug, Clone, Serialize)]
struct FieldPair {
    field: String,
    a: &'static str,
    b: &'static str,
    a_to_b: TransferResult,
    b_to_a: TransferResult,
}

/// What happens to a value in the transfer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "fate", content = "why", rename_all = "snake_case")]
enum TransferResult {
    /// There is no value to transfer.
    Nothing,
    /// It arrives.
    Whole,
    /// Some values are lost.
    Part(String),
    /// The value is lost.
    Lost(String),
    /// Without the value, no record is accepted.
    Blocks(String),
}

/// A feature that a server has or lacks.
#[derive(Debug, Clone, Serialize)]
struct FeaturePair {
    name: String,
    a: bool,
    b: bool,
}

impl ComparedServer {
    /// Reads a capability document (TOML or JSON) or a JSON report.
    pub(crate) fn read(name: &str, text: &str) -> Result<Self, String> {
        let report = serde_json::from_str::<Report>(text).ok();
        let causes = report
            .as_ref()
            .map(|report| report.causes.clone())
            .unwrap_or_default();
        let text = match report {
            Some(report) if report.declared.declaration_version == 0 => {
                return Err(
                    "the report has no `capabilities`: write it again with this version".to_owned(),
                );
            }
            Some(report) => report.declared,
            None => declared::read(text).map_err(|error| error.to_string())?,
        };
        Ok(Self {
            name: name.to_owned(),
            declared: DeclaredApi::new(text, DeclarationSource::File),
            causes,
        })
    }

    fn operations(&self, kind: CatalogueKind) -> Vec<String> {
        self.declared
            .collection(kind.many)
            .map(|collection| collection.operations.clone())
            .unwrap_or_default()
    }

    /// Returns an error with the reason if the server does not provide records of a kind.
    fn gives(&self, kind: CatalogueKind) -> Result<(), String> {
        let below = || {
            KINDS
                .iter()
                .any(|other| self.declared.lists_below(other.one, kind.many))
        };
        let offers = |operation| self.declared.offers(kind.one, operation);
        let given = offers("list") || (offers("read") && below());
        if given {
            Ok(())
        } else {
            Err(format!("{} provides none (no list)", self.name))
        }
    }

    /// Returns an error with the reason if the server does not accept records of a kind.
    fn create_obstacle(&self, kind: CatalogueKind) -> Result<(), String> {
        let helper = kind.helper.filter(|helper| self.declared.helps(helper));
        if self.declared.offers(kind.one, "create") || helper.is_some() {
            return Ok(());
        }
        Err(format!("{} accepts none (no create, no helper)", self.name))
    }
}

impl Comparison {
    pub(crate) fn of(a: &ComparedServer, b: &ComparedServer) -> Self {
        let is_known = |kind: &&CatalogueKind| {
            [a, b]
                .iter()
                .any(|side| side.declared.collection(kind.many).is_some())
        };
        let helpers: BTreeSet<&String> = a
            .declared
            .text
            .helpers
            .keys()
            .chain(b.declared.text.helpers.keys())
            .collect();
        let helper = |name: &String| FeaturePair {
            a: a.declared.helps(name),
            b: b.declared.helps(name),
            name: name.clone(),
        };
        let function = |name: &&str| FeaturePair {
            a: a.declared.acts(name),
            b: b.declared.acts(name),
            name: (*name).to_owned(),
        };
        Self {
            a: a.name.clone(),
            b: b.name.clone(),
            kinds: KINDS
                .iter()
                .filter(is_known)
                .map(|kind| KindPair::of(*kind, a, b))
                .collect(),
            helpers: helpers.into_iter().map(helper).collect(),
            action_functions: FUNCTIONS
                .iter()
                .map(function)
                .filter(|pair| pair.a || pair.b)
                .collect(),
        }
    }
}

impl KindPair {
    fn of(kind: CatalogueKind, a: &ComparedServer, b: &ComparedServer) -> Self {
        let fields = fields::of(kind, a, b);
        let blocked = |from: &ComparedServer,
                       to: &ComparedServer,
                       fate: fn(&FieldPair) -> &TransferResult| {
            let needs = fields
                .iter()
                .find(|pair| matches!(fate(pair), TransferResult::Blocks(_)));
            let needs = needs.map(|pair| {
                format!(
                    "{} requires {}, which {} lacks",
                    to.name, pair.field, from.name
                )
            });
            from.gives(kind)
                .and_then(|()| to.create_obstacle(kind))
                .err()
                .or(needs)
        };
        Self {
            kind: kind.many,
            a_operations: a.operations(kind),
            b_operations: b.operations(kind),
            a_to_b_blocked: blocked(a, b, |pair| &pair.a_to_b),
            b_to_a_blocked: blocked(b, a, |pair| &pair.b_to_a),
            fields,
        }
    }
}
