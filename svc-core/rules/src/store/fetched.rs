//! What a store has fetched so far for one transaction: answers for stores that cannot look
//! anything up while a rule runs.

use std::collections::HashMap;

use super::{Answer, Answers, Found, Key, Pause, Question, Stored};
use crate::{model::Kind, value::Id};

/// Answers that were fetched, under every key that they turned out to belong to.
///
/// ```text
/// let mut fetched = Fetched::default();
/// let mut wanted = first_questions(&call, matching);
/// let decision = loop {
///     for (question, answer) in connection.fetch(wanted).await? {      // all of them in one round trip
///         fetched.insert(question, answer);
///     }
///     match decide(&call, &turn, &mut fetched, &overlay) {
///         Err(Pause::Missing(more)) => wanted = more,
///         decided => break decided?,
///     }
/// };
/// ```
#[derive(Debug, Default)]
pub struct Fetched {
    answers: HashMap<Question, Answer>,
    /// What a key that is not an id leads to.
    ids: HashMap<Key, Option<Id>>,
    records: HashMap<(Kind, Id), Option<Stored>>,
    places: HashMap<(Kind, Id), Option<Found>>,
}

impl Fetched {
    /// Takes an answer over.
    pub fn insert(&mut self, question: Question, answer: Answer) {
        match (&question, &answer) {
            (Question::Record(key), Answer::Record(stored)) => {
                let found = stored.as_ref().map(Stored::found);
                self.leads_to(key, found.as_ref());
                if let (Some(kind), Some(id)) = (key.kind(), self.id_of(key)) {
                    self.records.insert((kind, id), stored.clone());
                }
            }
            (Question::Find(key), Answer::Found(found)) => self.leads_to(key, found.as_ref()),
            _ => {
                self.answers.insert(question, answer);
            }
        }
    }

    fn leads_to(&mut self, key: &Key, found: Option<&Found>) {
        if let Key::Id(kind, id) = key {
            self.places.insert((*kind, id.clone()), found.cloned());
        } else {
            self.ids
                .insert(key.clone(), found.map(|found| found.id.clone()));
            if let Some(found) = found {
                self.places
                    .insert((found.kind, found.id.clone()), Some(found.clone()));
            }
        }
    }

    /// The id that a key leads to, as far as it is known.
    fn id_of(&self, key: &Key) -> Option<Id> {
        match key {
            Key::Id(_, id) => Some(id.clone()),
            key => self.ids.get(key).cloned().flatten(),
        }
    }

    /// Whether a key is known to lead to nothing.
    fn is_nothing(&self, key: &Key) -> bool {
        matches!(self.ids.get(key), Some(None))
    }

    fn same(&self, one: &Key, other: &Key) -> bool {
        one == other
            || one.kind() == other.kind()
                && self
                    .id_of(one)
                    .is_some_and(|id| Some(id) == self.id_of(other))
    }

    fn covers(&self, fetched: &[Key], asked: &[Key]) -> bool {
        asked
            .iter()
            .all(|asked| self.is_nothing(asked) || fetched.iter().any(|key| self.same(key, asked)))
    }

    /// Whether the answer to one question holds the answer to another.
    fn answers_too(&self, fetched: &Question, asked: &Question) -> bool {
        match (fetched, asked) {
            (
                Question::Members {
                    kind,
                    groups,
                    people,
                },
                Question::Members {
                    kind: of,
                    groups: some_groups,
                    people: some_people,
                },
            ) => kind == of && self.covers(groups, some_groups) && self.covers(people, some_people),
            (
                Question::Answered { people, questions },
                Question::Answered {
                    people: some_people,
                    questions: some_questions,
                },
            ) => self.covers(people, some_people) && self.covers(questions, some_questions),
            (
                Question::Count { kind, of },
                Question::Count {
                    kind: asked,
                    of: under,
                },
            ) => kind == asked && self.same(of, under),
            (Question::Sum(key), Question::Sum(asked))
            | (Question::Parts(key), Question::Parts(asked)) => self.same(key, asked),
            _ => false,
        }
    }

    fn known(&self, question: &Question) -> Option<Answer> {
        match question {
            Question::Record(key) => {
                if self.is_nothing(key) {
                    return Some(Answer::Record(None));
                }
                let at = (key.kind()?, self.id_of(key)?);
                match (self.records.get(&at), self.places.get(&at)) {
                    (Some(stored), _) => Some(Answer::Record(stored.clone())),
                    (None, Some(None)) => Some(Answer::Record(None)),
                    _ => None,
                }
            }
            Question::Find(key) => {
                if self.is_nothing(key) {
                    return Some(Answer::Found(None));
                }
                let at = (key.kind()?, self.id_of(key)?);
                self.places
                    .get(&at)
                    .map(|found| Answer::Found(found.clone()))
            }
            question => {
                let same = self.answers.get(question);
                let other = || {
                    self.answers
                        .iter()
                        .find(|(fetched, _)| self.answers_too(fetched, question))
                };
                same.or_else(|| other().map(|(_, answer)| answer)).cloned()
            }
        }
    }
}

impl Answers for Fetched {
    fn answer(&mut self, question: &Question) -> Result<Answer, Pause> {
        self.known(question)
            .ok_or_else(|| Pause::Missing(vec![question.clone()]))
    }
}
