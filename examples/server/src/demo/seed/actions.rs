//! The actions of the people of the demo.

use std::collections::VecDeque;

use svc_core::link::RecordAddress;
use svc_core::model::Kind;
use svc_core::read::{Json, Object};

use super::containers::{Containers, TicketLevelSeed, official};
use super::row::{SeedRow, money, nested, object, texts};
use super::word_lists::{COMMENTS, OFFICIALS, SOURCES};
use super::{ORIGIN, SeedBuilder};

/// Adds one action of every kind, by one person.
pub(super) fn one_of_each(
    person: &RecordAddress,
    on: &mut Containers,
    maker: &mut SeedBuilder,
    out: &mut VecDeque<SeedRow>,
) {
    let mut actor = Actor { person, maker, out };
    actor.sign(on);
    actor.submit(on);
    actor.donate(on, 0);
    actor.attend(on);
    actor.buy_tickets(on);
    actor.reach_out(on);
    actor.answer(on, None);
    actor.tag(on, 1);
    actor.join_lists(on, 1);
    actor.is_canvassed(on);
}

/// Adds a random selection of actions of one person.
pub(super) fn some(
    person: &RecordAddress,
    on: &mut Containers,
    maker: &mut SeedBuilder,
    out: &mut VecDeque<SeedRow>,
) {
    let mut actor = Actor { person, maker, out };
    if actor.maker.random.percent(60) {
        actor.sign(on);
    }
    if actor.maker.random.percent(12) {
        actor.submit(on);
    }
    if actor.maker.random.percent(15) {
        let page = actor.maker.random.below(4) as usize;
        actor.donate(on, page);
    }
    if actor.maker.random.percent(15) {
        actor.attend(on);
    }
    if actor.maker.random.percent(8) {
        actor.buy_tickets(on);
    }
    if actor.maker.random.percent(10) {
        actor.reach_out(on);
    }
    if actor.maker.random.percent(15) {
        actor.answer(on, None);
    }
    if actor.maker.random.percent(35) {
        let tags = 1 + actor.maker.random.below(2);
        actor.tag(on, tags);
    }
    if actor.maker.random.percent(40) {
        actor.join_lists(on, 1);
    }
    if actor.maker.random.percent(8) {
        actor.is_canvassed(on);
    }
}

/// A person who acts.
struct Actor<'a> {
    person: &'a RecordAddress,
    maker: &'a mut SeedBuilder,
    out: &'a mut VecDeque<SeedRow>,
}

impl Actor<'_> {
    /// Adds an action of this person on a container.
    fn put(&mut self, kind: Kind, container: (&'static str, &RecordAddress), fields: Object) {
        let row = self.made(kind, container, fields);
        self.out.push_back(row);
    }

    /// Creates an action of this person on a container. Its action date is its creation date.
    fn made(
        &mut self,
        kind: Kind,
        container: (&'static str, &RecordAddress),
        mut fields: Object,
    ) -> SeedRow {
        let (link, container) = container;
        let parent = (kind != Kind::Donation).then_some(container);
        let mut row = self.maker.row(kind, parent, Object::new());
        if !matches!(kind, Kind::Tagging | Kind::Item) {
            fields.insert("action_date", row.created.to_string());
        }
        fields.insert("origin_system", ORIGIN);
        row.draft.fields = fields;
        row.draft.links.push((link, container.clone()));
        if container != self.person {
            row.draft.links.push(("person", self.person.clone()));
        }
        row
    }

    fn referrer(&mut self) -> Json {
        let random = &mut self.maker.random;
        nested([
            ("source", random.text(SOURCES).into()),
            ("website", "example.org".into()),
            (
                "url",
                format!("https://www.example.org/?from={}", random.below(40)).into(),
            ),
        ])
    }

    fn sign(&mut self, on: &Containers) {
        let Some(petition) = self.maker.random.pick(&on.petitions) else {
            return;
        };
        let mut fields = object([("referrer_data", self.referrer())]);
        if self.maker.random.percent(30) {
            fields.insert("comments", self.maker.random.text(COMMENTS));
        }
        self.put(Kind::Signature, ("petition", petition), fields);
    }

    fn submit(&mut self, on: &Containers) {
        let Some(form) = self.maker.random.pick(&on.forms) else {
            return;
        };
        let fields = object([("referrer_data", self.referrer())]);
        let row = self.made(Kind::Submission, ("form", form), fields);
        let submission = row.address.clone();
        self.out.push_back(row);
        self.answer(on, Some(&submission));
    }

    fn donate(&mut self, on: &Containers, page: usize) {
        let Some((page, currency)) = on.pages.get(page) else {
            return;
        };
        let random = &mut self.maker.random;
        let cents = [500, 1000, 1500, 2500, 5000, 10_000]
            .get(random.below(6) as usize)
            .copied()
            .unwrap_or(2500);
        let cents = cents
            + if random.percent(20) {
                random.below(100)
            } else {
                0
            };
        let method = random.text(&[
            "Credit Card",
            "Credit Card",
            "Electronic Funds Transfer",
            "Check",
            "Cash",
        ]);
        let reference = format!("R-{:08}", random.below(100_000_000));
        let voided = random.percent(2);
        let recipient = [
            ("display_name", "Example Fund".into()),
            ("legal_name", "Example Fund, Inc.".into()),
            ("amount", money(cents)),
        ];
        let fields = object([
            ("amount", money(cents)),
            ("currency", (*currency).into()),
            ("recipients", Json::Array(vec![nested(recipient)])),
            (
                "payment",
                nested([
                    ("method", method.into()),
                    ("reference_number", reference.into()),
                    ("authorization_stored", false.into()),
                ]),
            ),
            ("voided", voided.into()),
            ("url", "https://www.example.org/give".into()),
            ("referrer_data", self.referrer()),
        ]);
        let mut row = self.made(Kind::Donation, ("fundraising_page", page), fields);
        if voided {
            row.draft
                .fields
                .insert("voided_date", row.created.to_string());
        }
        self.out.push_back(row);
    }

    fn attend(&mut self, on: &mut Containers) {
        let number = self
            .maker
            .random
            .below(u32::try_from(on.open_events.len()).unwrap_or_default());
        let Some(event) = on.open_events.get_mut(number as usize) else {
            return;
        };
        if let Some(left) = &mut event.left {
            let Some(fewer) = left.checked_sub(1) else {
                return;
            };
            *left = fewer;
        }
        let status = self.maker.random.text(&[
            "accepted",
            "accepted",
            "accepted",
            "tentative",
            "declined",
            "needs action",
        ]);
        let fields = object([
            ("status", status.into()),
            (
                "comment",
                self.maker
                    .random
                    .text(&["See you there.", "I may be late.", ""])
                    .into(),
            ),
            ("referrer_data", self.referrer()),
        ]);
        self.put(Kind::Attendance, ("event", &event.address), fields);
    }

    fn buy_tickets(&mut self, on: &mut Containers) {
        let random = &mut self.maker.random;
        let number = random.below(u32::try_from(on.ticketed_events.len()).unwrap_or_default());
        let count = 1 + random.below(2);
        let Some(event) = on.ticketed_events.get_mut(number as usize) else {
            return;
        };
        let level = random.below(u32::try_from(event.levels.len()).unwrap_or_default());
        let Some(level) = event.levels.get_mut(level as usize) else {
            return;
        };
        let (Some(places), Some(tickets)) =
            (event.left.checked_sub(count), level.left.checked_sub(count))
        else {
            return;
        };
        (event.left, level.left) = (places, tickets);
        let tickets = (0..count).map(|_| ticket(level)).collect();
        let fields = object([
            ("status", "accepted".into()),
            ("referrer_data", self.referrer()),
            ("tickets", Json::Array(tickets)),
        ]);
        self.put(Kind::Attendance, ("event", &event.address), fields);
    }

    fn reach_out(&mut self, on: &Containers) {
        let Some(campaign) = self.maker.random.pick(&on.campaigns) else {
            return;
        };
        let random = &mut self.maker.random;
        let phone = random.percent(50);
        let mut fields = object([("type", if phone { "phone" } else { "email" }.into())]);
        if phone {
            fields.insert("duration", 30 + random.below(600));
            fields.insert(
                "notes",
                random.text(&["Left a message.", "Will think about it.", "Agrees."]),
            );
        } else {
            fields.insert("subject", "From a constituent");
            fields.insert("message", random.text(COMMENTS));
        }
        let target = random.pick(OFFICIALS).map(official);
        fields.insert("targets", Json::Array(target.into_iter().collect()));
        let referrer = self.referrer();
        fields.insert("referrer_data", referrer);
        self.put(Kind::Outreach, ("advocacy_campaign", campaign), fields);
    }

    fn answer(&mut self, on: &Containers, recorded_by: Option<&RecordAddress>) {
        let Some((question, keys)) = self.maker.random.pick(&on.questions) else {
            return;
        };
        let random = &mut self.maker.random;
        let fields = if keys.is_empty() {
            object([("value", random.text(COMMENTS).into())])
        } else {
            object([("responses", texts(&[random.text(keys)]))])
        };
        let mut row = self.made(Kind::Answer, ("question", question), fields);
        row.draft.recorded_by = recorded_by.cloned();
        self.out.push_back(row);
    }

    fn tag(&mut self, on: &Containers, count: u32) {
        self.join(Kind::Tagging, "tag", &on.tags, count);
    }

    fn join_lists(&mut self, on: &Containers, count: u32) {
        self.join(Kind::Item, "list", &on.lists, count);
    }

    /// Adds the person to `count` different tags or lists.
    fn join(&mut self, kind: Kind, link: &'static str, containers: &[RecordAddress], count: u32) {
        let first =
            self.maker
                .random
                .below(u32::try_from(containers.len()).unwrap_or_default()) as usize;
        for container in containers.iter().cycle().skip(first).take(count as usize) {
            self.put(kind, (link, container), Object::new());
        }
    }

    fn is_canvassed(&mut self, on: &Containers) {
        let random = &mut self.maker.random;
        let success = random.percent(70);
        let mut fields = object([
            ("contact_type", random.text(&["in-person", "phone"]).into()),
            ("input_type", random.text(&["mobile", "paper"]).into()),
            ("success", success.into()),
        ]);
        if !success {
            fields.insert(
                "status_code",
                random.text(&["not-home", "refused", "moved"]),
            );
        }
        let person = self.person.clone();
        let mut row = self.made(Kind::Canvass, ("target", &person), fields);
        row.draft.links.push(("canvasser", on.owner.clone()));
        let canvass = row.address.clone();
        self.out.push_back(row);
        if success {
            self.answer(on, Some(&canvass));
        }
    }
}

fn ticket(level: &TicketLevelSeed) -> Json {
    nested([
        ("title", level.title.into()),
        ("description", level.description.into()),
        ("amount", money(level.cents)),
        ("currency", "USD".into()),
    ])
}
