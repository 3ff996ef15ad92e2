//! The file format of the catalogue, and how requirements are built from it.

use serde::Deserialize;
use toml::Spanned;

use super::condition::{UnknownWordError, Vocabulary, one_of};
use super::requirement::{
    CatalogueField, CatalogueLink, ObservationMethod, Requirement, RequirementSubject,
};
use super::types::CatalogueType;
use super::vocabulary::{Behaviour, CatalogueKindEntry};
use super::{CatalogueError, Level, split};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CatalogueFile {
    area: Vec<AreaRow>,
    #[serde(default)]
    kind: Vec<CatalogueKindEntry>,
    #[serde(default)]
    behaviour: Vec<Behaviour>,
    #[serde(default)]
    field: Vec<FieldRow>,
    #[serde(default)]
    link: Vec<LinkRow>,
    #[serde(default)]
    rule: Vec<RuleRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AreaRow {
    name: String,
    section: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldRow {
    id: Spanned<String>,
    owner: String,
    path: String,
    #[serde(rename = "type")]
    kind: CatalogueType,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    computed: bool,
    #[serde(default)]
    required: bool,
    way: Option<ObservationMethod>,
    like: Option<String>,
    #[serde(default)]
    without: Vec<String>,
    label: Option<String>,
    #[serde(default = "must")]
    level: Level,
    section: Option<String>,
    means: Option<String>,
    statement: Option<String>,
    observed: Option<String>,
    reference: Option<String>,
    checks: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkRow {
    id: Spanned<String>,
    owner: String,
    name: String,
    target: Option<String>,
    #[serde(default)]
    many: bool,
    helper: Option<String>,
    #[serde(default)]
    optional: bool,
    #[serde(default = "must")]
    level: Level,
    section: Option<String>,
    means: Option<String>,
    statement: Option<String>,
    condition: Option<String>,
    observed: Option<String>,
    reference: Option<String>,
    checks: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleRow {
    id: Spanned<String>,
    level: Level,
    section: Option<String>,
    statement: String,
    condition: String,
    observed: String,
    reference: String,
    checks: Vec<String>,
}

const fn must() -> Level {
    Level::Must
}

impl CatalogueFile {
    /// Returns the requirements in the order of the areas and their numbers, with the names that
    /// their conditions may use.
    pub(super) fn rows(self, text: &str) -> Result<(Vec<Requirement>, Vocabulary), CatalogueError> {
        let mut words = Vocabulary {
            kinds: self.kind,
            behaviours: self.behaviour,
            ..Vocabulary::default()
        };
        words.fields = self
            .field
            .iter()
            .map(|field| (field.owner.clone(), field.path.clone()))
            .collect();
        words.links = self
            .link
            .iter()
            .map(|link| (link.owner.clone(), link.name.clone()))
            .collect();
        let fields = self.field.into_iter().map(FieldRow::stated);
        let links = self.link.into_iter().map(LinkRow::stated);
        let mut rows = Vec::new();
        for stated in fields
            .chain(links)
            .chain(self.rule.into_iter().map(RuleRow::stated))
        {
            rows.push(stated.row(text, &self.area, &words)?);
        }
        rows.sort_by_key(|(area, row)| (*area, row.number()));
        Ok((rows.into_iter().map(|(_, row)| row).collect(), words))
    }
}

/// The common members of the three tables.
struct EntryCommon {
    id: Spanned<String>,
    level: Level,
    section: Option<String>,
    statement: String,
    condition: String,
    observed: String,
    reference: String,
    checks: Vec<String>,
    states: RequirementSubject,
}

impl EntryCommon {
    /// Builds the requirement, and returns it with the number of its area.
    fn row(
        self,
        text: &str,
        areas: &[AreaRow],
        words: &Vocabulary,
    ) -> Result<(usize, Requirement), CatalogueError> {
        let start = self.id.span().start;
        let id = self.id.into_inner();
        let Some((area, _)) = split(&id) else {
            return Err(CatalogueError::IdInvalid(id));
        };
        let unknown = |UnknownWordError { word, known }| {
            let line = text.get(..start).map_or(0, |before| before.lines().count());
            CatalogueError::Word {
                row: id.clone(),
                line,
                word,
                known,
            }
        };
        one_of(area, area, areas.iter().map(|area| area.name.as_str())).map_err(unknown)?;
        self.states.verify(words).map_err(unknown)?;
        let when = words.condition(&self.condition).map_err(unknown)?;
        let at = areas
            .iter()
            .position(|known| known.name == area)
            .unwrap_or_default();
        let section = self
            .section
            .or_else(|| areas.get(at).map(|area| area.section.clone()))
            .unwrap_or_default();
        let Self {
            level,
            statement,
            condition,
            observed,
            reference,
            checks,
            states,
            ..
        } = self;
        Ok((
            at,
            Requirement {
                id,
                level,
                section,
                statement,
                condition,
                observed,
                reference,
                checks,
                applies_if: when,
                states,
            },
        ))
    }
}

impl RequirementSubject {
    /// Verifies that everything that a field or a link refers to exists.
    fn verify(&self, words: &Vocabulary) -> Result<(), UnknownWordError> {
        match self {
            Self::Field(field) => {
                if let Some(name) = field.kind.shared() {
                    one_of(
                        name,
                        &field.kind.to_string(),
                        words.owners().chain(CatalogueType::words()),
                    )?;
                }
                match field.like.as_deref() {
                    Some(place) if place.contains('.') => words.field(place, place).map(drop),
                    Some(owner) => one_of(owner, owner, words.owners()).map(drop),
                    None => Ok(()),
                }
            }
            Self::Link(link) => {
                link.target
                    .as_deref()
                    .map_or(Ok(()), |one| words.kind(one).map(drop))?;
                link.helper
                    .as_deref()
                    .map_or(Ok(()), |name| words.helper(name, name).map(drop))
            }
            Self::Rule => Ok(()),
        }
    }
}

impl FieldRow {
    fn stated(self) -> EntryCommon {
        let Self {
            owner,
            path,
            kind,
            values,
            computed,
            required,
            ..
        } = self;
        let way = self.way.unwrap_or(if computed {
            ObservationMethod::Computed
        } else {
            ObservationMethod::RoundTrip
        });
        let label = self.label.unwrap_or_else(|| kind.label());
        let listed: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
        let listed = if listed.is_empty() {
            String::new()
        } else {
            format!(": {}", listed.join(", "))
        };
        let means = self.means.unwrap_or_default();
        let mark = match (way, &kind) {
            (ObservationMethod::Type, _) if computed => "TC; present when declared",
            (ObservationMethod::Type, _) => "TC",
            (ObservationMethod::Computed, _) => "CP",
            (ObservationMethod::RoundTrip, CatalogueType::Enum) => "EN",
            (ObservationMethod::RoundTrip, CatalogueType::Flexenum) => "FX",
            (ObservationMethod::RoundTrip, _) => "RT",
        };
        EntryCommon {
            id: self.id,
            level: self.level,
            section: self.section,
            statement: self
                .statement
                .unwrap_or_else(|| format!("`{path}` ({label}{listed}). {means}")),
            condition: format!("field:{owner}.{path}"),
            observed: self.observed.unwrap_or_else(|| mark.to_owned()),
            reference: self
                .reference
                .unwrap_or_else(|| if computed { "compute" } else { "store" }.to_owned()),
            checks: self.checks,
            states: RequirementSubject::Field(CatalogueField {
                owner,
                path,
                kind,
                values,
                computed,
                required,
                way,
                like: self.like,
                without: self.without,
            }),
        }
    }
}

impl LinkRow {
    fn stated(self) -> EntryCommon {
        let Self {
            owner,
            name,
            target,
            many,
            helper,
            optional,
            ..
        } = self;
        let wire = if name == "self" {
            String::new()
        } else {
            format!(" (wire name `svc:{name}`)")
        };
        let means = self.means.unwrap_or_default();
        let mark = if helper.is_some() { "HL" } else { "LK" };
        EntryCommon {
            id: self.id,
            level: self.level,
            section: self.section,
            statement: self
                .statement
                .unwrap_or_else(|| format!("Link `{name}`{wire}: {means}")),
            condition: self
                .condition
                .unwrap_or_else(|| format!("link:{owner}.{name}")),
            observed: self.observed.unwrap_or_else(|| mark.to_owned()),
            reference: self.reference.unwrap_or_else(|| "emit".to_owned()),
            checks: self.checks,
            states: RequirementSubject::Link(CatalogueLink {
                owner,
                name,
                target,
                many,
                helper,
                optional,
            }),
        }
    }
}

impl RuleRow {
    fn stated(self) -> EntryCommon {
        let Self {
            id,
            level,
            section,
            statement,
            condition,
            observed,
            reference,
            checks,
        } = self;
        EntryCommon {
            id,
            level,
            section,
            statement,
            condition,
            observed,
            reference,
            checks,
            states: RequirementSubject::Rule,
        }
    }
}
