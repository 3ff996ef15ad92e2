//! The laws of the rulebook: repeatable, and order.

use svc_core::{
    context::Tenant,
    error::Result,
    helper::StockMatching,
    link::ShareNames,
    rules::{Decision, decide, first_questions},
    store::{Answer, Answers, Call, Change, Fetched, Ids, Outcome, Overlay, Pause, Question, Turn},
    value::Timestamp,
};

use super::{Broken, History};
use crate::memory::MemoryStore;

/// Checks that the rulebook is repeatable and keeps the order of calls, over histories like those
/// of [`Laws`](super::Laws).
///
/// Repeatable: a call that is decided twice over the same answers, or over more answers than it
/// asked for, comes to the same changes and outcome. Order: calls that are decided over one
/// [`Overlay`] and written together come to what they come to one after the other.
///
/// # Errors
///
/// The first law that was seen to be broken.
pub async fn check_rulebook(histories: u64) -> Result<(), Broken> {
    for seed in 0..histories {
        let tenants = || ["one", "two"].map(Tenant::new);
        let mut apart = History::new(seed, MemoryStore::new(), tenants(), true);
        let mut together = History::new(seed, MemoryStore::new(), tenants(), true);
        while apart.steps < 30 {
            apart.choose();
            together.choose();
            let number = apart.dice.below(5).saturating_add(1);
            together.dice.below(5);
            let meant_calls: Vec<Call> = (0..number).map(|_| apart.call()).collect();
            let calls: Vec<Call> = (0..number).map(|_| together.call()).collect();
            let outcomes = Batch::of(&together).run(&calls)?;
            for (place, (call, outcome)) in meant_calls.into_iter().zip(outcomes).enumerate() {
                let work = format!("{:?}", call.work);
                let meant = super::Store::write(&apart.store, &apart.cx(), call).await;
                let (told, meant) = (together.told(&outcome), apart.told(&meant));
                let what = format!("{} of {number}: {work}", place.saturating_add(1));
                together.agree("order", &told, &meant, &what)?;
            }
            let (told, meant) = (together.everything().await, apart.everything().await);
            let works: Vec<_> = calls.iter().map(|call| &call.work).collect();
            together.agree("order", &told, &meant, &format!("{works:?}"))?;
        }
    }
    Ok(())
}

/// Calls that are decided over one overlay.
struct Batch<'a> {
    history: &'a History<MemoryStore>,
    time: Timestamp,
    overlay: Overlay,
    changes: Vec<Change>,
}

impl<'a> Batch<'a> {
    fn of(history: &'a History<MemoryStore>) -> Self {
        let time = history.store.next_turn(&history.here.tenant);
        Self {
            history,
            time,
            overlay: Overlay::default(),
            changes: Vec::new(),
        }
    }

    fn run(mut self, calls: &[Call]) -> Result<Vec<Result<Outcome>>, Broken> {
        let mut outcomes = Vec::new();
        for call in calls {
            outcomes.push(self.decide(call)?);
        }
        self.write()?;
        Ok(outcomes)
    }

    fn write(&mut self) -> Result<(), Broken> {
        let written =
            self.history
                .store
                .commit(&self.history.here.tenant, self.time, &self.changes);
        written.map_err(|error| {
            self.history
                .broken("order", format!("changes cannot be written: {error:?}"))
        })?;
        self.changes.clear();
        self.overlay = Overlay::default();
        self.time = self
            .history
            .store
            .next_turn(&self.history.here.tenant)
            .after(self.time);
        Ok(())
    }

    fn decide(&mut self, call: &Call) -> Result<Result<Outcome>, Broken> {
        let (ids, share_names) = (Ids::default(), ShareNames::default());
        let (mut fetched, mut all) = (Fetched::default(), AtHand(self.history));
        let mut wanted = first_questions(call, &StockMatching);
        // A helper takes one round, rarely two: this is a lot.
        for _ in 0..100 {
            let turn = Turn::new(self.time, &ids, &share_names, &StockMatching);
            self.fetch(&mut fetched, &wanted);
            let decided = decide(call, &turn, &mut fetched, &self.overlay);
            match decided {
                Err(Pause::Missing(more)) => wanted = more,
                Err(Pause::Unsettled) => {
                    self.write()?;
                    fetched = Fetched::default();
                    wanted = first_questions(call, &StockMatching);
                }
                decided => {
                    let again = decide(call, &turn, &mut fetched, &self.overlay);
                    let from_all = decide(call, &turn, &mut all, &self.overlay);
                    for (law, other) in [
                        ("repeatable", again),
                        ("repeatable, with more answers", from_all),
                    ] {
                        self.history.agree(
                            law,
                            &text(&other),
                            &text(&decided),
                            &format!("{:?}", call.work),
                        )?;
                    }
                    self.time = self.time.after(self.time);
                    return Ok(match decided {
                        Ok(Decision {
                            changes, outcome, ..
                        }) => {
                            self.overlay.settle(&changes);
                            self.changes.extend(changes);
                            Ok(outcome)
                        }
                        Err(Pause::Failed(error)) => Err(error),
                        Err(other) => {
                            return Err(self.history.broken("repeatable", other.to_string()));
                        }
                    });
                }
            }
        }
        Err(self.history.broken(
            "rounds",
            format!("100 rounds and no decision: {wanted:?}, {:?}", call.work),
        ))
    }

    fn fetch(&self, fetched: &mut Fetched, wanted: &[Question]) {
        for (question, answer) in self.history.store.fetch(&self.history.here.tenant, wanted) {
            fetched.insert(question, answer);
        }
    }
}

/// Everything that there is, asked one by one.
struct AtHand<'a>(&'a History<MemoryStore>);

impl Answers for AtHand<'_> {
    fn answer(&mut self, question: &Question) -> Result<Answer, Pause> {
        let answer = self
            .0
            .store
            .fetch(&self.0.here.tenant, std::slice::from_ref(question))
            .pop();
        answer
            .map(|(_, answer)| answer)
            .ok_or_else(|| Pause::Missing(vec![question.clone()]))
    }
}

/// Changes and outcome with everything in them.
fn text(decided: &Result<Decision, Pause>) -> String {
    let changes = decided.iter().flat_map(|decision| &decision.changes);
    let fields = changes.filter_map(|change| match change {
        // Records do not show them: they are personal data.
        Change::Insert(insert) => {
            Some(String::from_utf8_lossy(insert.record.stored_fields()).into_owned())
        }
        _ => None,
    });
    format!("{decided:?} {:?}", fields.collect::<Vec<_>>())
}
