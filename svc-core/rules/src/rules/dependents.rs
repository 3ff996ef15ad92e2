//! Changes of questions with answers, and of events with sold tickets. What answers and tickets
//! refer to is not removed, and does not change its meaning.
//!
//! Requirements: RES-question-06 to RES-question-08, RES-event-09 to RES-event-11, RES-event-14,
//! RES-event-15.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    RuleContext, RuleResult,
    attendance::{levels, tickets, title},
    lists::list,
    measures::PartList,
};
use crate::{
    error::{ErrorCode, Problem, PropertyPath, quoted},
    json::{Json, Object},
    model::Kind,
    schema::currency_of,
    store::Totals,
    value::Id,
};

impl RuleContext<'_> {
    /// Returns the problems of a change that removes responses of a question with answers, or that
    /// changes its type.
    ///
    /// No index has the responses of answers, so one answer is enough.
    pub(super) fn change_question(
        &mut self,
        question: &Id,
        before: &Object,
        after: &Object,
    ) -> RuleResult<Vec<Problem>> {
        let removed: Vec<String> = keys(before)
            .filter(|had| !keys(after).any(|has| has == *had))
            .map(quoted)
            .collect();
        let former_type = text(before, "question_type")
            .filter(|former| text(after, "question_type") != Some(former));
        if removed.is_empty() && former_type.is_none() {
            return Ok(Vec::new());
        }
        let answers = match self.ledger.count(Kind::Answer, Kind::Question, question)? {
            0 => return Ok(Vec::new()),
            1 => "1 answer".to_owned(),
            number => format!("{number} answers"),
        };
        let mut problems = Vec::new();
        if let Some(former) = former_type {
            let text =
                format!("{{property}} must be {former}, because the question has {answers}.");
            let hint = "Create another question for answers of another type.";
            problems.push(dependents("question_type", text).with_hint(hint));
        }
        if !removed.is_empty() && !self.is_incomplete(after, "responses", "key") {
            let text = format!(
                "{{property}} must contain the keys {}, because the question has {answers}.",
                removed.join(", ")
            );
            let hint = "Send the stored responses with the new ones. To rename a response, change its `title`.";
            problems.push(dependents("responses", text).with_hint(hint));
        }
        Ok(problems)
    }

    /// Connects the changed ticket levels of an event with the stored ones. Returns the problems of a
    /// change that removes levels with sold tickets, or changes what the tickets mean.
    ///
    /// `sold_at_read` has the numbers of sold tickets that the client read, by the index of the level.
    /// What was sold since is subtracted from the limit of the level. A level with a new title gets
    /// the former one, because attendances have tickets with it.
    pub(super) fn continue_levels(
        &mut self,
        event: &Id,
        before: &Object,
        after: &mut Object,
        sold_at_read: &[(usize, i64)],
    ) -> RuleResult<Vec<Problem>> {
        let Some(part_list) = PartList::of(Kind::Event) else {
            return Ok(Vec::new());
        };
        let is_open = |fields: &Object| text(fields, "type") == Some("open");
        let becomes_open = is_open(after) && !is_open(before);
        if !becomes_open && before.get(part_list.field) == after.get(part_list.field) {
            return Ok(Vec::new());
        }
        let mut parts = self.ledger.parts(Kind::Event, event)?;
        let mut problems = Vec::new();
        let sold = tickets(parts.values());
        if becomes_open && sold > 0 {
            let text = format!(
                "{{property}} must be ticketed, because {} sold.",
                were(sold)
            );
            problems.push(dependents("type", text).with_hint("ticketed"));
        }
        let stored: Vec<StoredLevel<'_>> = levels(before)
            .map(|level| StoredLevel {
                level,
                former: part_list.names(level).skip(1).collect(),
                parts: part_list.take(level, &mut parts),
            })
            .collect();
        let items = list(after, part_list.field).iter();
        let titles: Vec<String> = items
            .map(|item| item.as_object().map_or("", title).to_owned())
            .collect();
        let origins = origins(&stored, &titles);
        let is_incomplete = self.is_incomplete(after, part_list.field, "title");
        for (place, had) in stored.iter().enumerate() {
            if !is_incomplete && had.sold() > 0 && !origins.contains(&Some(place)) {
                let text = format!(
                    "{{property}} must contain the level {}, because {} sold.",
                    quoted(title(had.level)),
                    were(had.sold())
                );
                let hint = "Include the level. To end its sale, send it with the `limit` 0.";
                problems.push(dependents(part_list.field, text).with_hint(hint));
            }
        }
        let origin = |place: usize| stored.get(origins.get(place).copied().flatten()?);
        let is_renamed = |(place, title): (usize, &String)| {
            origin(place).is_some_and(|had| self::title(had.level) != title)
        };
        let is_used = titles.iter().enumerate().any(is_renamed)
            && self.ledger.count(Kind::Attendance, Kind::Event, event)? > 0;
        let [shared_before, shared] =
            [before, &*after].map(|event| levels(event).find_map(currency_of));
        let mut unsold_titles = 0;
        let items = after.get_mut(part_list.field).and_then(Json::as_array_mut);
        for (place, item) in items.into_iter().flatten().enumerate() {
            let (Some(level), had) = (item.as_object_mut(), origin(place)) else {
                continue;
            };
            let at = PropertyPath::member(part_list.field).push_index(place);
            problems.extend(used_title(&at, level, had, &stored));
            // Tickets can have the title of a level that is not stored now.
            let orphans = part_list.take(level, &mut parts);
            let sold = had.map_or(0, StoredLevel::sold);
            let sold = sold.saturating_add(tickets(orphans.values()));
            if let Some((_, sold_at_read)) = sold_at_read.iter().find(|(of, _)| *of == place) {
                let since = sold.saturating_sub(*sold_at_read);
                // No tickets of a new level can have been cancelled since.
                subtract_sold(level, if had.is_some() { since } else { since.max(0) });
            }
            let Some(had) = had else { continue };
            problems.extend(keep_currency(&at, level, had, (shared_before, shared)));
            let former = part_list.names(had.level).filter(|former| {
                let is_own = *former == title(had.level);
                if titles.iter().any(|title| title == former) || !is_used && is_own {
                    return false;
                }
                let is_sold = had.sold_as(former) > 0;
                unsold_titles += usize::from(!is_sold);
                is_sold || unsold_titles <= MAX_UNSOLD_TITLES
            });
            let former: Vec<Json> = former.map(Json::from).collect();
            if let Some(member) = part_list.former.filter(|_| !former.is_empty()) {
                level.insert(member, Json::Array(former));
            }
        }
        Ok(problems)
    }

    /// Returns whether entries of a rejected list are missing because they were invalid: `name` is a
    /// member of each valid one.
    ///
    /// Requirements: ERR-39.
    fn is_incomplete(&self, fields: &Object, field: &str, name: &str) -> bool {
        let has_name = |entry: &Json| entry.as_object().is_some_and(|entry| entry.contains(name));
        self.call.is_rejected && !list(fields, field).iter().all(has_name)
    }
}

/// How many former titles without sold tickets an event has at most. Attendances that were declined
/// can have them.
const MAX_UNSOLD_TITLES: usize = 20;

/// A ticket level before a change.
struct StoredLevel<'a> {
    level: &'a Object,
    former: Vec<&'a str>,
    /// What was sold, by the titles of the tickets.
    parts: BTreeMap<String, Totals>,
}

impl StoredLevel<'_> {
    /// Returns the number of sold tickets.
    fn sold(&self) -> i64 {
        tickets(self.parts.values())
    }

    /// Returns the number of sold tickets with a title.
    fn sold_as(&self, title: &str) -> i64 {
        tickets(self.parts.get(title))
    }
}

/// Returns the position of the stored level that each level continues: the one with its title, or else
/// the one with this former title. If the number of levels is the same, the others continue the one at
/// their own position.
fn origins(stored: &[StoredLevel<'_>], titles: &[String]) -> Vec<Option<usize>> {
    let mut left: BTreeSet<usize> = (0..stored.len()).collect();
    let mut origins = vec![None; titles.len()];
    for is_former in [false, true] {
        for (origin, title) in origins.iter_mut().zip(titles) {
            let has_title = |place: &&usize| {
                stored.get(**place).is_some_and(|had| {
                    if is_former {
                        had.former.contains(&title.as_str())
                    } else {
                        self::title(had.level) == title
                    }
                })
            };
            if origin.is_none() {
                *origin = left.iter().find(has_title).copied();
                left.retain(|place| Some(*place) != *origin);
            }
        }
    }
    if stored.len() == titles.len() {
        for (place, origin) in origins.iter_mut().enumerate() {
            if origin.is_none() && left.remove(&place) {
                *origin = Some(place);
            }
        }
    }
    origins
}

/// Returns the problem of a new title with which tickets of another level were sold.
fn used_title(
    at: &PropertyPath,
    level: &Object,
    had: Option<&StoredLevel<'_>>,
    stored: &[StoredLevel<'_>],
) -> Option<Problem> {
    let title = title(level);
    if had.is_some_and(|had| self::title(had.level) == title || had.sold_as(title) > 0) {
        return None;
    }
    let user = stored.iter().find(|other| other.sold_as(title) > 0)?;
    let text = format!(
        "{{property}} must not be {}, because {} sold with this title for the level {}.",
        quoted(title),
        were(user.sold_as(title)),
        quoted(self::title(user.level))
    );
    Some(dependents(at.clone().push_member("title"), text))
}

/// Returns the problem of a new currency of a level with sold tickets. Without a currency, the level
/// keeps that of the tickets. `shared` has the currency of the levels before and after the change, which
/// a level without a currency has, too.
fn keep_currency(
    at: &PropertyPath,
    level: &mut Object,
    had: &StoredLevel<'_>,
    (shared_before, shared): (Option<&'static str>, Option<&'static str>),
) -> Option<Problem> {
    if had.sold() == 0 {
        return None;
    }
    if let (Some(former), None) = (currency_of(had.level), currency_of(level)) {
        level.insert("currency", former);
        return None;
    }
    let former = currency_of(had.level).or(shared_before)?;
    let new = currency_of(level).or(shared)?;
    if new == former {
        return None;
    }
    let text = format!(
        "{{property}} must be {former}, because {} sold in this currency.",
        were(had.sold())
    );
    Some(dependents(at.clone().push_member("currency"), text).with_hint(former))
}

/// Subtracts the tickets that were sold after the client read a level from its limit.
fn subtract_sold(level: &mut Object, sold: i64) {
    if let Some(limit) = level.get("limit").and_then(Json::as_i64) {
        level.insert("limit", Json::integer(limit.saturating_sub(sold).max(0)));
    }
}

/// Returns a problem of a part of a record that other records refer to.
fn dependents(property: impl Into<PropertyPath>, text: String) -> Problem {
    Problem::new(ErrorCode::HasDependents, property, text)
}

/// Returns the subject and the verb of a clause about sold tickets.
fn were(sold: i64) -> String {
    match sold {
        1 => "1 ticket was".to_owned(),
        _ => format!("{sold} tickets were"),
    }
}

fn text<'a>(fields: &'a Object, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Json::as_str)
}

/// Returns the keys of the responses of a question.
fn keys(question: &Object) -> impl Iterator<Item = &str> {
    let responses = list(question, "responses").iter();
    responses.filter_map(|response| text(response.as_object()?, "key"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &[&str], after: &[&str], expected: &[Option<usize>]) {
        let mut levels = vec![Object::new(); before.len()];
        for (level, title) in levels.iter_mut().zip(before) {
            level.insert("title", Json::from(*title));
        }
        let stored: Vec<StoredLevel<'_>> = levels
            .iter()
            .map(|level| StoredLevel {
                level,
                former: Vec::new(),
                parts: BTreeMap::new(),
            })
            .collect();
        let titles: Vec<String> = after.iter().map(ToString::to_string).collect();
        assert_eq!(origins(&stored, &titles), expected, "{before:?} {after:?}");
    }

    #[test]
    fn res_event_10_levels_continue_by_title_then_by_position() {
        check(&["A", "B"], &["B", "A"], &[Some(1), Some(0)]);
        check(&["A", "B"], &["A", "C"], &[Some(0), Some(1)]);
        check(&["A", "B"], &["C", "D"], &[Some(0), Some(1)]);
        check(&["A", "B"], &["B", "C"], &[Some(1), None]);
        check(&["A", "B"], &["C"], &[None]);
        check(&["A", "B"], &["B", "C", "D"], &[Some(1), None, None]);
        check(&["A", "A"], &["A", "A"], &[Some(0), Some(1)]);
        check(&[], &["A"], &[None]);
    }
}
