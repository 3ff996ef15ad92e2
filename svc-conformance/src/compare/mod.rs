//! Two servers side by side: what can be carried from one to the other, kind by kind and field by
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
    /// How it is called in the comparison.
    name: String,
    declared: DeclaredApi,
    /// What a report saw it not do as it declares.
    causes: Vec<CauseReport>,
}

/// What can be carried between two servers.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Comparison {
    a: String,
    b: String,
    kinds: Vec<KindPair>,
    helpers: Vec<FeaturePair>,
    action_functions: Vec<FeaturePair>,
}

/// One kind in both.
#[derive(Debug, Clone, Serialize)]
struct KindPair {
    kind: &'static str,
    a_operations: Vec<String>,
    b_operations: Vec<String>,
    /// Why no record can be carried; none where they can.
    a_to_b_blocked: Option<String>,
    b_to_a_blocked: Option<String>,
    fields: Vec<FieldPair>,
}

/// One field in both.
#[derive(Debug, Clone, Serialize)]
struct FieldPair {
    field: String,
    a: &'static str,
    b: &'static str,
    a_to_b: TransferResult,
    b_to_a: TransferResult,
}

/// What becomes of a value on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "fate", content = "why", rename_all = "snake_case")]
enum TransferResult {
    /// There is nothing to carry.
    Nothing,
    /// It arrives.
    Whole,
    /// Some values do not arrive.
    Part(String),
    /// It does not arrive.
    Lost(String),
    /// Without it, no record is taken.
    Blocks(String),
}

/// Something that a server has or lacks.
#[derive(Debug, Clone, Serialize)]
struct FeaturePair {
    name: String,
    a: bool,
    b: bool,
}

impl ComparedServer {
    /// From a capability document, TOML or JSON, or from a JSON report.
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

    /// Why records of a kind cannot be had from here.
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
            Err(format!("{} gives none (no list)", self.name))
        }
    }

    /// Why records of a kind are not taken here.
    fn create_obstacle(&self, kind: CatalogueKind) -> Result<(), String> {
        let helper = kind.helper.filter(|helper| self.declared.helps(helper));
        if self.declared.offers(kind.one, "create") || helper.is_some() {
            return Ok(());
        }
        Err(format!("{} takes none (no create, no helper)", self.name))
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
