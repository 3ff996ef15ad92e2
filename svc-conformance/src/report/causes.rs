//! Groups failures by cause, to show what to fix first.
//!
//! Every failed requirement has a cause. Three criteria decide which, in this order:
//! 1. Requirements that fail together for a known fault ([`known`]) have one cause, unless checks
//!    named a field that also fails elsewhere.
//! 2. Requirements whose checks named the same field, link or operation (the [`Cause`] of a
//!    finding) have one cause.
//! 3. Each other requirement joins the failures with which it has most in common ([`Clue`]): a
//!    member, a sentence, a check, a rejected request.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::RequirementReport;
use super::clues::{Clue, last};
use super::known::{self, Explained};
use crate::catalogue::Catalogue;
use crate::cause::{Cause, CauseKind};
use crate::outcome::{Finding, RequirementOutcome};

/// The maximum number of separate causes of one kind. More causes of one kind are merged.
const APART: usize = 3;
/// The same for action functions, which more often share an implementation.
const FUNCTIONS_APART: usize = 2;
/// The same if known faults explain them.
const KNOWN_APART: usize = 6;
/// The maximum number of known faults that a cause names. More would not help the reader.
const NAMED: usize = 3;

/// One cause with the requirements that fail because of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CauseReport {
    /// The kind of the cause, if a check named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaw: Option<CauseKind>,
    /// The affected fields, links, operations or headers. Empty if the kind needs no subject.
    pub subjects: Vec<String>,
    /// A description of what is wrong.
    pub what: String,
    /// What to do to fix it.
    pub remedy: String,
    /// The requirements that fail because of it, in the order of the catalogue.
    pub rows: Vec<String>,
    /// Faults of the self-test for which these requirements also fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub like: Vec<String>,
    /// The requirement that shows the cause best.
    #[serde(default)]
    pub shows: String,
    /// The statement of that requirement.
    #[serde(default)]
    pub expected: String,
    /// What was found instead.
    #[serde(default)]
    pub received: String,
}

impl CauseReport {
    /// Returns the number of failed requirements and what is wrong, in one sentence.
    pub(crate) fn sentence(&self) -> String {
        match self.rows.len() {
            1 => format!("1 requirement fails: {}.", self.what),
            rows => format!("{rows} requirements fail for one cause: {}.", self.what),
        }
    }

    fn new(failures: &[&Failure<'_>], known: &[Explained<'_>]) -> Option<Self> {
        let mut causes: Vec<&Cause> = failures
            .iter()
            .filter_map(|failure| failure.cause)
            .collect();
        causes.sort_by_key(|cause| (cause.flaw.rank(), &cause.subject));
        causes.dedup();
        let mut rows: Vec<&RequirementReport> = Vec::new();
        for failure in failures {
            if !rows.iter().any(|row| row.id == failure.row.id) {
                rows.push(failure.row);
            }
        }
        let catalogue = Catalogue::built_in().ok()?;
        let stated = |row: &RequirementReport| catalogue.requirement(&row.id);
        let shows = |failure: &&&Failure<'_>| failure.cause == causes.first().copied();
        let is_of_one = |failure: &&&Failure<'_>| {
            stated(failure.row).is_some_and(|row| row.field().is_some() || row.link().is_some())
        };
        let mut best = failures.iter().filter(shows);
        let best = best.clone().find(is_of_one).or_else(|| best.next())?;
        let expected = stated(best.row)
            .map(|row| row.statement.clone())
            .unwrap_or_default();
        let (what, remedy) = match causes.first() {
            Some(cause) => (named(cause, &causes), cause.remedy()),
            None => (format!("{} is not fulfilled", best.row.id), UNNAMED),
        };
        let of_known = failures
            .iter()
            .filter_map(|failure| known.get(failure.known?));
        let like: BTreeSet<&str> = of_known
            .flat_map(|known| known.names.iter().copied())
            .collect();
        let mut subjects: Vec<String> = Vec::new();
        for cause in &causes {
            if !cause.subject.is_empty() && !subjects.contains(&cause.subject) {
                subjects.push(cause.subject.clone());
            }
        }
        Some(Self {
            flaw: causes.first().map(|cause| cause.flaw),
            subjects,
            what,
            remedy: remedy.to_owned(),
            rows: rows.iter().map(|row| row.id.clone()).collect(),
            like: like
                .iter()
                .filter(|_| like.len() <= NAMED)
                .map(ToString::to_string)
                .collect(),
            shows: best.row.id.clone(),
            expected,
            received: best
                .found
                .first()
                .map(|finding| finding.message.clone())
                .unwrap_or_default(),
        })
    }
}

/// The remedy of a cause that no check named.
const UNNAMED: &str = "Change the server to fulfil the requirement, or declare less.";

/// Describes what is wrong, and how many other subjects are affected.
fn named(first: &Cause, causes: &[&Cause]) -> String {
    let subjects: BTreeSet<&str> = causes.iter().map(|cause| cause.subject.as_str()).collect();
    let others: Vec<&str> = subjects
        .into_iter()
        .filter(|subject| *subject != first.subject)
        .collect();
    match &*others {
        [] => first.description(),
        [other] => format!("{}; `{other}` is also affected", first.description()),
        [.., other] => format!(
            "{}; {} others are also affected, such as `{other}`",
            first.description(),
            others.len()
        ),
    }
}

/// A failed requirement with the findings of one cause, or with those that have no named cause.
struct Failure<'r> {
    row: &'r RequirementReport,
    cause: Option<&'r Cause>,
    /// The position of the known fault that explains the requirement.
    known: Option<usize>,
    /// Whether the requirement has no other failure.
    is_alone: bool,
    found: Vec<&'r Finding>,
    clues: BTreeSet<Clue<'r>>,
}

/// Returns the failures of a requirement: one for each named cause, and one for all findings
/// without a cause.
fn failures_of<'r>(row: &'r RequirementReport, known: &[Explained<'r>]) -> Vec<Failure<'r>> {
    let mut found: Vec<(Option<&Cause>, Vec<&Finding>)> = Vec::new();
    for finding in &row.findings {
        match found
            .iter_mut()
            .find(|(cause, _)| *cause == finding.cause.as_ref())
        {
            Some((_, findings)) => findings.push(finding),
            None => found.push((finding.cause.as_ref(), vec![finding])),
        }
    }
    let stated = Catalogue::built_in()
        .ok()
        .and_then(|catalogue| catalogue.requirement(&row.id));
    let known = known
        .iter()
        .enumerate()
        .find(|(_, known)| known.rows.contains(row.id.as_str()));
    let is_alone = found.len() == 1;
    let all = found.into_iter().map(|(cause, found)| {
        // One requirement can match many faults; a field that a check named is more specific.
        let names_a_member = cause.is_some_and(|cause| cause.flaw.is_of_a_member());
        let known = known
            .filter(|(_, known)| known.rows.len() > 1 || !names_a_member)
            .map(|(at, _)| at);
        let mut clues: BTreeSet<Clue<'_>> = found
            .iter()
            .flat_map(|finding| Clue::of(row, finding))
            .collect();
        clues.extend(
            stated
                .filter(|_| cause.is_none())
                .into_iter()
                .flat_map(Clue::of_row),
        );
        Failure {
            row,
            cause,
            known,
            is_alone,
            found,
            clues,
        }
    });
    all.collect()
}

/// Removes the known fault of failures with a named cause if other failures with that cause have no
/// known fault or another one. A fault that explains only some of them is probably not the reason.
fn keep_named(failures: &mut [Failure<'_>]) {
    let mut known: BTreeMap<&Cause, BTreeSet<Option<usize>>> = BTreeMap::new();
    for failure in failures.iter() {
        if let Some(cause) = failure.cause {
            known.entry(cause).or_default().insert(failure.known);
        }
    }
    for failure in failures {
        let is_in_part = |cause: &Cause| known.get(cause).is_some_and(|known| known.len() > 1);
        let is_other = |cause: &&Cause| {
            is_in_part(cause) && (cause.flaw.is_of_a_member() || !failure.is_alone)
        };
        if failure.cause.is_some_and(|cause| is_other(&cause)) {
            failure.known = None;
        }
    }
}

/// Disjoint sets of positions, which can be merged.
struct Sets(Vec<usize>);

impl Sets {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// Returns the first position of the set that contains this one.
    fn of(&self, mut one: usize) -> usize {
        while let Some(next) = self.0.get(one).copied().filter(|next| *next != one) {
            one = next;
        }
        one
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        if let Some(first) = self.0.get_mut(one.max(other)) {
            *first = one.min(other);
        }
    }
}

/// Returns the causes of the failed requirements, the ones with the most requirements first. A
/// requirement that fails for several causes is in each. The known faults in `without` are not
/// used.
pub(super) fn of(rows: &[RequirementReport], without: &BTreeSet<&str>) -> Vec<CauseReport> {
    let failed: Vec<&RequirementReport> = rows
        .iter()
        .filter(|row| row.outcome == RequirementOutcome::Fail)
        .collect();
    let passed = rows
        .iter()
        .filter(|row| row.outcome == RequirementOutcome::Pass);
    let ids: BTreeSet<&str> = failed.iter().map(|row| row.id.as_str()).collect();
    let judged: BTreeSet<&str> = passed
        .map(|row| row.id.as_str())
        .chain(ids.iter().copied())
        .collect();
    let known = known::explained(&ids, &judged, without);
    let mut failures: Vec<Failure<'_>> = failed
        .into_iter()
        .flat_map(|row| failures_of(row, &known))
        .collect();
    keep_named(&mut failures);
    let mut groups = Groups::of(&failures);
    groups.join_known();
    groups.join_named();
    groups.join_by(|clue| matches!(clue, Clue::Member(_)));
    groups.join_by(|clue| matches!(clue, Clue::Sentence(_)));
    groups.join_by(|clue| matches!(clue, Clue::Check(_)));
    groups.join_by(|clue| matches!(clue, Clue::Row(_)));
    groups.join_by(|clue| matches!(clue, Clue::Refusal(..)));
    groups.join_unnamed_by(|clue| matches!(clue, Clue::Area(_)));
    let mut causes = groups.reports(&known);
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.rows.len()));
    causes
}

/// What is known about the cause of a group of failures.
#[derive(Debug, Clone, Default)]
struct Names<'r> {
    /// The causes that checks named.
    causes: BTreeSet<&'r Cause>,
    /// The known faults that explain the requirements.
    known: BTreeSet<usize>,
}

impl Names<'_> {
    fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.known.is_empty()
    }

    /// Whether different known faults explain two groups.
    fn differ_in_known(&self, other: &Self) -> bool {
        !self.known.is_empty() && !other.known.is_empty() && self.known.is_disjoint(&other.known)
    }

    /// Whether two groups have different causes.
    fn differ(&self, other: &Self) -> bool {
        let named = !self.causes.is_empty()
            && !other.causes.is_empty()
            && self.causes.is_disjoint(&other.causes);
        named
            || self.differ_in_known(other)
            || self.is_known_alone() && other.is_named_alone()
            || self.is_named_alone() && other.is_known_alone()
    }

    /// Whether a known fault explains the group, and no check named a cause.
    fn is_known_alone(&self) -> bool {
        self.causes.is_empty() && !self.known.is_empty()
    }

    /// Whether checks named causes of the group, and no known fault explains it.
    fn is_named_alone(&self) -> bool {
        self.known.is_empty() && !self.causes.is_empty()
    }
}

/// Groups of failures that are assumed to have one cause.
struct Groups<'f, 'r> {
    failures: &'f [Failure<'r>],
    sets: Sets,
    /// What is known about each group, at the position of its first failure.
    names: Vec<Names<'r>>,
}

impl<'f, 'r> Groups<'f, 'r> {
    /// Creates one group per failure.
    fn of(failures: &'f [Failure<'r>]) -> Self {
        let names = failures.iter().map(|failure| {
            let known = failure.known.filter(|_| failure.is_alone);
            Names {
                causes: failure.cause.into_iter().collect(),
                known: known.into_iter().collect(),
            }
        });
        Self {
            failures,
            sets: Sets::new(failures.len()),
            names: names.collect(),
        }
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.sets.of(one), self.sets.of(other));
        if one == other {
            return;
        }
        self.sets.join(one, other);
        let moved = self
            .names
            .get_mut(one.max(other))
            .map(std::mem::take)
            .unwrap_or_default();
        if let Some(names) = self.names.get_mut(one.min(other)) {
            names.causes.extend(moved.causes);
            names.known.extend(moved.known);
        }
    }

    /// Returns what is known about the group of a failure.
    fn names(&self, one: usize) -> Names<'r> {
        self.names
            .get(self.sets.of(one))
            .cloned()
            .unwrap_or_default()
    }

    /// Merges the failures that one known fault explains. If a requirement has several failures,
    /// each joins the group of its named cause.
    fn join_known(&mut self) {
        let all: Vec<(usize, &Failure<'r>)> = self.failures.iter().enumerate().collect();
        let mut first: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, failure) in all.iter().filter(|(_, failure)| failure.is_alone) {
            if let Some(known) = failure.known {
                self.join(*first.entry(known).or_insert(*at), *at);
            }
        }
        let named = all
            .iter()
            .filter_map(|(at, failure)| Some((failure.cause?, *at)));
        self.join_all(named, |one, other| !one.differ_in_known(other));
        for (at, failure) in all {
            if let Some(known) = failure.known.filter(|_| self.names(at).known.is_empty()) {
                self.join(*first.entry(known).or_insert(at), at);
                if let Some(names) = self.names.get_mut(self.sets.of(at)) {
                    names.known.insert(known);
                }
            }
        }
    }

    /// Merges groups with the same named cause: the same subject, a part and its whole, or too many
    /// causes of one kind.
    fn join_named(&mut self) {
        let mut causes: Vec<(&Cause, usize)> = self
            .failures
            .iter()
            .enumerate()
            .filter_map(|(at, one)| Some((one.cause?, self.sets.of(at))))
            .collect();
        causes.sort();
        causes.dedup();
        for (at, (one, here)) in causes.iter().enumerate() {
            for (other, there) in causes.iter().take(at) {
                if are_one(one, other) && !self.names(*here).differ_in_known(&self.names(*there)) {
                    self.join(*here, *there);
                }
            }
        }
        let is_value = |flaw: CauseKind| matches!(flaw, CauseKind::NotStored | CauseKind::Altered);
        let sorts: BTreeSet<CauseKind> = causes.iter().map(|(cause, _)| cause.flaw).collect();
        for sort in sorts {
            let of_sort =
                |cause: &Cause| cause.flaw == sort || is_value(sort) && is_value(cause.flaw);
            let mut groups: BTreeMap<usize, usize> = BTreeMap::new();
            for (_, at) in causes.iter().filter(|(cause, _)| of_sort(cause)) {
                let count = groups.entry(self.sets.of(*at)).or_default();
                *count = count.saturating_add(1);
            }
            let most = if sort == CauseKind::Function {
                FUNCTIONS_APART
            } else {
                APART
            };
            let Some((&largest, _)) = groups.iter().max_by_key(|(_, count)| **count) else {
                continue;
            };
            let is_known = |at: usize| !self.names(at).known.is_empty();
            let joined: Vec<usize> = match groups.len() {
                count if count > KNOWN_APART => groups.into_keys().collect(),
                count if count > most => groups.into_keys().filter(|at| !is_known(*at)).collect(),
                _ => Vec::new(),
            };
            for at in joined {
                self.join(largest, at);
            }
        }
    }

    /// Merges groups that share a clue, unless their causes are different.
    fn join_by(&mut self, is_meant: impl Fn(&Clue<'_>) -> bool) {
        self.join_all(having(self.failures, is_meant), |one, other| {
            !one.differ(other)
        });
    }

    /// Merges groups that share a clue, only if nothing is known about their causes.
    fn join_unnamed_by(&mut self, is_meant: impl Fn(&Clue<'_>) -> bool) {
        self.join_all(having(self.failures, is_meant), |one, other| {
            one.is_empty() && other.is_empty()
        });
    }

    /// Joins neighbouring failures that have the same mark, if they can have one cause.
    fn join_all<M: Ord>(
        &mut self,
        marked: impl IntoIterator<Item = (M, usize)>,
        may: impl Fn(&Names<'r>, &Names<'r>) -> bool,
    ) {
        let mut having: BTreeMap<M, Vec<usize>> = BTreeMap::new();
        for (mark, at) in marked {
            having.entry(mark).or_default().push(at);
        }
        for all in having.into_values() {
            for pair in all.windows(2) {
                if let &[one, other] = pair
                    && may(&self.names(one), &self.names(other))
                {
                    self.join(one, other);
                }
            }
        }
    }

    fn reports(&self, known: &[Explained<'_>]) -> Vec<CauseReport> {
        let mut groups: BTreeMap<usize, Vec<&Failure<'r>>> = BTreeMap::new();
        for (at, failure) in self.failures.iter().enumerate() {
            groups.entry(self.sets.of(at)).or_default().push(failure);
        }
        groups
            .into_values()
            .filter_map(|group| CauseReport::new(&group, known))
            .collect()
    }
}

/// Returns each clue that is meant, with the position of each failure that has it.
fn having<'f, 'r>(
    failures: &'f [Failure<'r>],
    is_meant: impl Fn(&Clue<'_>) -> bool,
) -> impl Iterator<Item = (&'f Clue<'r>, usize)> {
    let clues = failures
        .iter()
        .enumerate()
        .flat_map(|(at, failure)| failure.clues.iter().map(move |clue| (clue, at)));
    clues.filter(move |(clue, _)| is_meant(clue))
}

/// Whether two named causes are the same.
fn are_one(one: &Cause, other: &Cause) -> bool {
    let (here, there) = (
        one.subject.replace("[]", ""),
        other.subject.replace("[]", ""),
    );
    let is_within = |part: &str, whole: &str| {
        part.strip_prefix(whole)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    let above = |path: &str| {
        path.rsplit_once('.')
            .map(|(above, _)| above.to_owned())
            .filter(|above| above.contains('.'))
    };
    if one.flaw.is_of_a_field() && other.flaw.is_of_a_field() {
        let are_siblings = one.flaw == other.flaw
            && above(&here).is_some_and(|above_here| above(&there) == Some(above_here));
        return here == there
            || is_within(&here, &there)
            || is_within(&there, &here)
            || are_siblings;
    }
    if one.flaw != other.flaw {
        return false;
    }
    match one.flaw {
        CauseKind::Needed => last(&here) == last(&there),
        CauseKind::Refused => {
            let operation = |path: &str| {
                if path.starts_with("helper.") {
                    "helper".to_owned()
                } else {
                    last(path)
                }
            };
            operation(&here) == operation(&there)
        }
        CauseKind::Function => [&here, &there]
            .into_iter()
            .any(|path| path == "action_functions"),
        _ => here == there,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::CauseReport;
    use crate::cause::{Cause, CauseKind};
    use crate::outcome::{Finding, RequirementOutcome};
    use crate::report::RequirementReport;

    /// A finding: its check, its message, its cause, and the status of the previous response (0 if
    /// there is none).
    type Found<'t> = (&'t str, &'t str, Option<(CauseKind, &'t str)>, u16);

    fn failed(id: &str, found: &[Found<'_>]) -> RequirementReport {
        let finding = |(check, message, cause, status): &Found<'_>| Finding {
            check: (*check).to_owned(),
            message: (*message).to_owned(),
            exchange: 1,
            smallest: Vec::new(),
            cause: cause.map(|(flaw, subject)| Cause::new(flaw, subject)),
            refused: (*status > 0).then(|| ("PUT".to_owned(), *status)),
        };
        RequirementReport {
            id: id.to_owned(),
            level: "MUST".to_owned(),
            outcome: RequirementOutcome::Fail,
            reason: String::new(),
            advice: String::new(),
            observations: 1,
            checks: Vec::new(),
            findings: found.iter().map(finding).collect(),
            replay: None,
        }
    }

    /// Returns the causes without the known faults.
    fn of(rows: &[RequirementReport]) -> Vec<CauseReport> {
        let all: BTreeSet<&str> = crate::report::known::names().collect();
        super::of(rows, &all)
    }

    fn rows_of(causes: &[CauseReport]) -> Vec<Vec<&str>> {
        let mut rows: Vec<Vec<&str>> = causes
            .iter()
            .map(|cause| cause.rows.iter().map(String::as_str).collect())
            .collect();
        rows.sort();
        rows
    }

    #[test]
    fn a_field_with_several_flaws_is_one_cause_and_named_by_the_first() {
        let rows = [
            failed(
                "TYP-08",
                &[(
                    "typ/person",
                    "gender was sent as",
                    Some((CauseKind::Altered, "person.gender")),
                    0,
                )],
            ),
            failed(
                "RES-person-06",
                &[(
                    "hal/self",
                    "person.gender is 7",
                    Some((CauseKind::Type, "person.gender")),
                    0,
                )],
            ),
            failed(
                "RES-person-08",
                &[("res/gender", "the two differ", None, 0)],
            ),
            failed(
                "RES-event-21",
                &[(
                    "typ/event",
                    "status was sent as",
                    Some((CauseKind::NotStored, "event.status")),
                    0,
                )],
            ),
        ];
        let causes = of(&rows);
        assert_eq!(
            rows_of(&causes),
            [
                vec!["RES-event-21"],
                vec!["TYP-08", "RES-person-06", "RES-person-08"]
            ]
        );
        let first = &causes[0];
        assert_eq!(
            (first.flaw, first.subjects.concat()),
            (Some(CauseKind::Type), "person.gender".to_owned())
        );
        assert_eq!(
            (first.shows.as_str(), first.received.as_str()),
            ("RES-person-06", "person.gender is 7")
        );
        assert!(first.expected.contains("gender"), "{}", first.expected);
    }

    #[test]
    fn a_row_with_two_named_causes_is_in_both_and_joins_nothing() {
        let (title, name) = (
            (CauseKind::NotStored, "petition.title"),
            (CauseKind::NotStored, "form.name"),
        );
        let rows = [
            failed(
                "TYP-01",
                &[
                    ("typ/a", "title was sent as", Some(title), 0),
                    ("typ/b", "name was sent as", Some(name), 0),
                ],
            ),
            failed(
                "RES-petition-03",
                &[("typ/a", "title was sent as", Some(title), 0)],
            ),
            failed(
                "RES-form-02",
                &[("typ/a", "name was sent as", Some(name), 0)],
            ),
        ];
        assert_eq!(
            rows_of(&of(&rows)),
            [["TYP-01", "RES-form-02"], ["TYP-01", "RES-petition-03"]]
        );
    }

    #[test]
    fn a_row_that_fails_for_a_known_fault_and_another_cause_does_not_join_them() {
        let (title, response) = (
            (CauseKind::NotStored, "petition.title"),
            (CauseKind::NotStored, "question.responses[].title"),
        );
        let known = |id| failed(id, &[("typ/b", "title was sent as", Some(response), 0)]);
        let rows = [
            failed(
                "RES-petition-03",
                &[("typ/a", "title was sent as", Some(title), 0)],
            ),
            known("CRU-10"),
            known("RES-question-07"),
            known("RES-question-10"),
            failed(
                "TYP-01",
                &[
                    ("typ/a", "title was sent as", Some(title), 0),
                    ("typ/b", "title was sent as", Some(response), 0),
                ],
            ),
        ];
        let causes = super::of(&rows, &BTreeSet::new());
        assert_eq!(
            rows_of(&causes),
            [
                vec!["CRU-10", "RES-question-07", "RES-question-10", "TYP-01"],
                vec!["RES-petition-03", "TYP-01"]
            ]
        );
        assert_eq!(causes[0].like, ["question.responses.title is lost"]);
    }

    #[test]
    fn more_fields_than_are_told_apart_are_one_cause() {
        let names = ["person.a", "event.b", "form.c", "petition.d"];
        let row = |(at, name): (usize, &&str)| {
            failed(
                &format!("R-{at}"),
                &[("c", "m", Some((CauseKind::Altered, *name)), 0)],
            )
        };
        let rows: Vec<RequirementReport> = names.iter().enumerate().map(row).collect();
        let causes = of(&rows);
        assert_eq!(causes.len(), 1);
        assert_eq!(
            causes[0].what,
            "`event.b` is not read back as it was sent; 3 others are also affected, such as `petition.d`"
        );
        assert_eq!(of(&rows[..3]).len(), 3);
    }

    #[test]
    fn failures_without_a_named_cause_share_a_member_a_sentence_a_check_or_a_refusal() {
        let rows = [
            failed("COL-20", &[("col/a", "total_records is 3", None, 0)]),
            failed(
                "RES-petition-10",
                &[("res/b", "4 members and a total_records of 3", None, 0)],
            ),
            failed(
                "ENT-10",
                &[(
                    "ent/c",
                    "the target of the link to people is not a collection: GET",
                    None,
                    0,
                )],
            ),
            failed(
                "HAL-05",
                &[(
                    "hal/d",
                    "the target of the link to signatures is not a collection: GET",
                    None,
                    0,
                )],
            ),
            failed("ERR-14", &[("err/e", "a", None, 409)]),
            failed("LIM-06", &[("lim/f", "b", None, 409)]),
            failed("IDM-02", &[("idm/g", "c", None, 0)]),
            failed("IDM-03", &[("idm/h", "d", None, 0)]),
            failed("SCH-05", &[("sch/i", "e", None, 404)]),
        ];
        let causes = of(&rows);
        assert_eq!(
            rows_of(&causes),
            [
                vec!["COL-20", "RES-petition-10"],
                vec!["ENT-10", "HAL-05"],
                vec!["ERR-14", "LIM-06"],
                vec!["IDM-02", "IDM-03"],
                vec!["SCH-05"]
            ]
        );
        assert!(
            causes
                .iter()
                .all(|cause| cause.flaw.is_none() && cause.what.ends_with(" is not fulfilled"))
        );
    }
}
