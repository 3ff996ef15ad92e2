//! Failures by their cause: what to change first.
//!
//! Every failed row is in a cause. Where a check named what is wrong (the [`Cause`] of a finding), that is the cause of its row.
//! The other rows join the failures with which they have most in common ([`Clue`]): a member, a sentence, a check, a refusal.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::RowReport;
use super::clues::{Clue, last};
use crate::catalogue::Catalogue;
use crate::cause::{Cause, Flaw};
use crate::outcome::{Finding, Outcome};

/// Causes of one sort that are told apart; more of them have one cause.
const APART: usize = 3;
/// The same for action functions, which share their implementation more often.
const FUNCTIONS_APART: usize = 2;

/// One cause with the rows that fail for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CauseReport {
    /// Its sort, where a check named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaw: Option<Flaw>,
    /// The field, link, operation or header, or all that have the flaw; empty where the sort says all.
    pub subjects: Vec<String>,
    /// What is wrong, in words.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
    /// The rows that fail for it, in the order of the catalogue.
    pub rows: Vec<String>,
    /// The row that shows it best.
    #[serde(default)]
    pub shows: String,
    /// The statement of that row.
    #[serde(default)]
    pub expected: String,
    /// What was found instead.
    #[serde(default)]
    pub received: String,
}

impl CauseReport {
    /// How many rows fail for it, and what it is, in one sentence.
    pub(crate) fn sentence(&self) -> String {
        match self.rows.len() {
            1 => format!("1 row has this cause: {}.", self.what),
            rows => format!("{rows} rows have one cause: {}.", self.what),
        }
    }

    fn new(failures: &[&Failure<'_>]) -> Option<Self> {
        let mut causes: Vec<&Cause> = failures.iter().filter_map(|failure| failure.cause).collect();
        causes.sort_by_key(|cause| (cause.flaw.rank(), &cause.subject));
        causes.dedup();
        let mut rows: Vec<&RowReport> = Vec::new();
        for failure in failures {
            if !rows.iter().any(|row| row.id == failure.row.id) {
                rows.push(failure.row);
            }
        }
        let catalogue = Catalogue::built_in().ok()?;
        let stated = |row: &RowReport| catalogue.row(&row.id);
        let shows = |failure: &&&Failure<'_>| failure.cause == causes.first().copied();
        let is_of_one = |failure: &&&Failure<'_>| {
            stated(failure.row).is_some_and(|row| row.field().is_some() || row.link().is_some())
        };
        let mut best = failures.iter().filter(shows);
        let best = best.clone().find(is_of_one).or_else(|| best.next())?;
        let expected = stated(best.row).map(|row| row.statement.clone()).unwrap_or_default();
        let (what, remedy) = match causes.first() {
            Some(cause) => (named(cause, &causes), cause.remedy()),
            None => (format!("{} does not hold", best.row.id), UNNAMED),
        };
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
            shows: best.row.id.clone(),
            expected,
            received: best.found.first().map(|finding| finding.message.clone()).unwrap_or_default(),
        })
    }
}

/// What to do about a cause that no check named.
const UNNAMED: &str = "Change the server until the requirement holds, or declare less.";

/// What is wrong, and how many others are affected.
fn named(first: &Cause, causes: &[&Cause]) -> String {
    let subjects: BTreeSet<&str> = causes.iter().map(|cause| cause.subject.as_str()).collect();
    let others: Vec<&str> = subjects.into_iter().filter(|subject| *subject != first.subject).collect();
    match &*others {
        [] => first.what(),
        [other] => format!("{}; `{other}` is affected, too", first.what()),
        [.., other] => format!("{}; {} others are affected, too, such as `{other}`", first.what(), others.len()),
    }
}

/// A failed row with what was found of one cause, or of none that a check named.
struct Failure<'r> {
    row: &'r RowReport,
    cause: Option<&'r Cause>,
    found: Vec<&'r Finding>,
    clues: BTreeSet<Clue<'r>>,
}

/// The failures of a row, one for each cause that its checks named and one for all that they did not.
fn failures_of(row: &RowReport) -> Vec<Failure<'_>> {
    let mut found: Vec<(Option<&Cause>, Vec<&Finding>)> = Vec::new();
    for finding in &row.findings {
        match found.iter_mut().find(|(cause, _)| *cause == finding.cause.as_ref()) {
            Some((_, findings)) => findings.push(finding),
            None => found.push((finding.cause.as_ref(), vec![finding])),
        }
    }
    let stated = Catalogue::built_in().ok().and_then(|catalogue| catalogue.row(&row.id));
    let all = found.into_iter().map(|(cause, found)| {
        let mut clues: BTreeSet<Clue<'_>> = found.iter().flat_map(|finding| Clue::of(row, finding)).collect();
        clues.extend(stated.filter(|_| cause.is_none()).into_iter().flat_map(Clue::of_row));
        Failure { row, cause, found, clues }
    });
    all.collect()
}

/// Sets of things, of which any two can be made one.
struct Sets(Vec<usize>);

impl Sets {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// The first of the set that has this one.
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

/// The causes of the rows that failed, the ones with the most rows first. A row that fails for several is in each.
pub(super) fn of(rows: &[RowReport]) -> Vec<CauseReport> {
    let failures: Vec<Failure<'_>> =
        rows.iter().filter(|row| row.outcome == Outcome::Fail).flat_map(failures_of).collect();
    let mut groups = Groups::of(&failures);
    groups.join_by(|clue| matches!(clue, Clue::Member(_)));
    groups.join_by(|clue| matches!(clue, Clue::Sentence(_)));
    groups.join_by(|clue| matches!(clue, Clue::Check(_)));
    groups.join_by(|clue| matches!(clue, Clue::Row(_)));
    groups.join_by(|clue| matches!(clue, Clue::Refusal(..)));
    groups.join_unnamed_by(|clue| matches!(clue, Clue::Area(_)));
    let mut causes = groups.reports();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.rows.len()));
    causes
}

/// Failures that are taken for those of one cause.
struct Groups<'f, 'r> {
    failures: &'f [Failure<'r>],
    sets: Sets,
    /// The set of named causes to which the cause of each failure belongs.
    named: Vec<Option<usize>>,
}

impl<'f, 'r> Groups<'f, 'r> {
    /// A group for each set of named causes, and one for each failure without.
    fn of(failures: &'f [Failure<'r>]) -> Self {
        let causes: BTreeSet<&Cause> = failures.iter().filter_map(|failure| failure.cause).collect();
        let causes: Vec<&Cause> = causes.into_iter().collect();
        let alike = alike(&causes);
        let named = failures.iter().map(|failure| {
            let cause = failure.cause?;
            causes.iter().position(|one| *one == cause).map(|at| alike.of(at))
        });
        let mut groups = Self { failures, sets: Sets::new(failures.len()), named: named.collect() };
        let mut first: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, named) in groups.named.iter().enumerate() {
            if let Some(named) = named {
                groups.sets.join(*first.entry(*named).or_insert(at), at);
            }
        }
        groups
    }

    /// The named causes of the group of a failure.
    fn named(&self, one: usize) -> BTreeSet<usize> {
        let set = self.sets.of(one);
        let its = self.named.iter().enumerate().filter(|(at, _)| self.sets.of(*at) == set);
        its.filter_map(|(_, named)| *named).collect()
    }

    /// Makes one group of those that share a clue, unless each has other named causes.
    fn join_by(&mut self, is_meant: impl Fn(&Clue<'_>) -> bool) {
        self.join_where(is_meant, |_, _| true);
    }

    /// The same, only for groups without a named cause.
    fn join_unnamed_by(&mut self, is_meant: impl Fn(&Clue<'_>) -> bool) {
        self.join_where(is_meant, |one, other| one.is_empty() && other.is_empty());
    }

    fn join_where(
        &mut self,
        is_meant: impl Fn(&Clue<'_>) -> bool,
        may: impl Fn(&BTreeSet<usize>, &BTreeSet<usize>) -> bool,
    ) {
        let failures = self.failures;
        let mut having: BTreeMap<&Clue<'r>, Vec<usize>> = BTreeMap::new();
        for (at, failure) in failures.iter().enumerate() {
            for clue in failure.clues.iter().filter(|clue| is_meant(clue)) {
                having.entry(clue).or_default().push(at);
            }
        }
        for all in having.into_values() {
            for pair in all.windows(2) {
                let &[one, other] = pair else { continue };
                let (here, there) = (self.named(one), self.named(other));
                let differ = !here.is_empty() && !there.is_empty() && here.is_disjoint(&there);
                if !differ && may(&here, &there) {
                    self.sets.join(one, other);
                }
            }
        }
    }

    fn reports(&self) -> Vec<CauseReport> {
        let mut groups: BTreeMap<usize, Vec<&Failure<'r>>> = BTreeMap::new();
        for (at, failure) in self.failures.iter().enumerate() {
            groups.entry(self.sets.of(at)).or_default().push(failure);
        }
        groups.into_values().filter_map(|group| CauseReport::new(&group)).collect()
    }
}

/// Named causes that are one: about the same, about a part and its whole, or too many of one sort.
fn alike(causes: &[&Cause]) -> Sets {
    let mut sets = Sets::new(causes.len());
    for (at, one) in causes.iter().enumerate() {
        for (other_at, other) in causes.iter().enumerate().take(at) {
            if are_one(one, other) {
                sets.join(at, other_at);
            }
        }
    }
    let is_value = |flaw: Flaw| matches!(flaw, Flaw::NotStored | Flaw::Altered);
    let sorts: BTreeSet<Flaw> = causes.iter().map(|cause| cause.flaw).collect();
    for sort in sorts {
        let of_sort = |cause: &Cause| cause.flaw == sort || is_value(sort) && is_value(cause.flaw);
        let its: Vec<usize> = (0..causes.len()).filter(|at| causes.get(*at).is_some_and(|one| of_sort(one))).collect();
        let groups: BTreeSet<usize> = its.iter().map(|at| sets.of(*at)).collect();
        let most = if sort == Flaw::Function { FUNCTIONS_APART } else { APART };
        if groups.len() > most {
            its.windows(2).for_each(|pair| {
                if let [one, other] = pair {
                    sets.join(*one, *other);
                }
            });
        }
    }
    sets
}

/// Whether two named causes are one.
fn are_one(one: &Cause, other: &Cause) -> bool {
    let (here, there) = (one.subject.replace("[]", ""), other.subject.replace("[]", ""));
    let is_within = |part: &str, whole: &str| part.strip_prefix(whole).is_some_and(|rest| rest.starts_with('.'));
    let above =
        |path: &str| path.rsplit_once('.').map(|(above, _)| above.to_owned()).filter(|above| above.contains('.'));
    if one.flaw.is_of_a_field() && other.flaw.is_of_a_field() {
        let are_siblings =
            one.flaw == other.flaw && above(&here).is_some_and(|above_here| above(&there) == Some(above_here));
        return here == there || is_within(&here, &there) || is_within(&there, &here) || are_siblings;
    }
    if one.flaw != other.flaw {
        return false;
    }
    match one.flaw {
        Flaw::Needed => last(&here) == last(&there),
        Flaw::Refused => {
            let operation = |path: &str| if path.starts_with("helper.") { "helper".to_owned() } else { last(path) };
            operation(&here) == operation(&there)
        }
        Flaw::Function => [&here, &there].into_iter().any(|path| path == "action_functions"),
        _ => here == there,
    }
}

#[cfg(test)]
mod tests {
    use super::{CauseReport, of};
    use crate::cause::{Cause, Flaw};
    use crate::outcome::{Finding, Outcome};
    use crate::report::RowReport;

    /// A finding: its check, its message, its cause, and the status of the answer before, 0 for none.
    type Found<'t> = (&'t str, &'t str, Option<(Flaw, &'t str)>, u16);

    fn failed(id: &str, found: &[Found<'_>]) -> RowReport {
        let finding = |(check, message, cause, status): &Found<'_>| Finding {
            check: (*check).to_owned(),
            message: (*message).to_owned(),
            exchange: 1,
            smallest: Vec::new(),
            cause: cause.map(|(flaw, subject)| Cause::new(flaw, subject)),
            refused: (*status > 0).then(|| ("PUT".to_owned(), *status)),
        };
        RowReport {
            id: id.to_owned(),
            level: "MUST".to_owned(),
            outcome: Outcome::Fail,
            reason: String::new(),
            advice: String::new(),
            observations: 1,
            checks: Vec::new(),
            findings: found.iter().map(finding).collect(),
            replay: None,
        }
    }

    fn rows_of(causes: &[CauseReport]) -> Vec<Vec<&str>> {
        let mut rows: Vec<Vec<&str>> =
            causes.iter().map(|cause| cause.rows.iter().map(String::as_str).collect()).collect();
        rows.sort();
        rows
    }

    #[test]
    fn a_field_with_several_flaws_is_one_cause_and_named_by_the_first() {
        let rows = [
            failed("TYP-08", &[("typ/person", "gender was sent as", Some((Flaw::Altered, "person.gender")), 0)]),
            failed("RES-person-06", &[("hal/self", "person.gender is 7", Some((Flaw::Type, "person.gender")), 0)]),
            failed("RES-person-08", &[("res/gender", "the two differ", None, 0)]),
            failed("RES-event-21", &[("typ/event", "status was sent as", Some((Flaw::NotStored, "event.status")), 0)]),
        ];
        let causes = of(&rows);
        assert_eq!(rows_of(&causes), [vec!["RES-event-21"], vec!["TYP-08", "RES-person-06", "RES-person-08"]]);
        let first = &causes[0];
        assert_eq!((first.flaw, first.subjects.concat()), (Some(Flaw::Type), "person.gender".to_owned()));
        assert_eq!((first.shows.as_str(), first.received.as_str()), ("RES-person-06", "person.gender is 7"));
        assert!(first.expected.contains("gender"), "{}", first.expected);
    }

    #[test]
    fn a_row_with_two_named_causes_is_in_both_and_joins_nothing() {
        let (title, name) = ((Flaw::NotStored, "petition.title"), (Flaw::NotStored, "form.name"));
        let rows = [
            failed(
                "TYP-01",
                &[("typ/a", "title was sent as", Some(title), 0), ("typ/b", "name was sent as", Some(name), 0)],
            ),
            failed("RES-petition-03", &[("typ/a", "title was sent as", Some(title), 0)]),
            failed("RES-form-02", &[("typ/a", "name was sent as", Some(name), 0)]),
        ];
        assert_eq!(rows_of(&of(&rows)), [["TYP-01", "RES-form-02"], ["TYP-01", "RES-petition-03"]]);
    }

    #[test]
    fn more_fields_than_are_told_apart_are_one_cause() {
        let names = ["person.a", "event.b", "form.c", "petition.d"];
        let row =
            |(at, name): (usize, &&str)| failed(&format!("R-{at}"), &[("c", "m", Some((Flaw::Altered, *name)), 0)]);
        let rows: Vec<RowReport> = names.iter().enumerate().map(row).collect();
        let causes = of(&rows);
        assert_eq!(causes.len(), 1);
        assert_eq!(
            causes[0].what,
            "`event.b` reads otherwise than it was sent; 3 others are affected, too, such as `petition.d`"
        );
        assert_eq!(of(&rows[..3]).len(), 3);
    }

    #[test]
    fn failures_without_a_named_cause_share_a_member_a_sentence_a_check_or_a_refusal() {
        let rows = [
            failed("COL-20", &[("col/a", "total_records is 3", None, 0)]),
            failed("RES-petition-10", &[("res/b", "4 members and a total_records of 3", None, 0)]),
            failed("ENT-10", &[("ent/c", "the link to people leads to no collection: GET", None, 0)]),
            failed("HAL-05", &[("hal/d", "the link to signatures leads to no collection: GET", None, 0)]),
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
        assert!(causes.iter().all(|cause| cause.flaw.is_none() && cause.what.ends_with(" does not hold")));
    }
}
