//! Narrow servers: a vendor that offers a few operations on a few fields is tested against its
//! declaration.
//!
//! A requirement that nothing in the declaration can show is not applicable, with the reason, and
//! does not leave a run undecided. A declared feature that was not observed is undecided, with
//! advice. Records that a run may not create can be named as fixtures.

mod vendor;

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;

use serde_json::{Value, json};
use svc_conformance::{Intensity, Report, RequirementOutcome, Suite, SuiteError};
use svc_core::api::{ApiBuilder, Behaviour, IfMatchPolicy, ResourceConfig};
use svc_core::helper::{PersonSignup, RecordAttendance, RecordSignature};
use svc_core::model::{
    Attendance, Event, Person, Petition, Signature, Tag, Tagging, event, person, petition,
};
use svc_core::{fields, writable};
use vendor::{BASE, Narrow};

type Offer = fn(ApiBuilder, &Arc<Narrow>) -> ApiBuilder;
type Held = (&'static str, &'static [(&'static str, &'static str)]);

/// A narrow vendor: its existing records, and what it offers.
struct Vendor {
    name: &'static str,
    held: Option<Held>,
    offer: Offer,
    /// Requirements that do not apply, each with a part of the reason.
    apart: &'static [(&'static str, &'static str)],
}

const ADA: Held = (
    "people",
    &[("given_name", "Ada"), ("family_name", "Lovelace")],
);
const MEETING: Held = ("events", &[("title", "Meeting"), ("summary", "At seven")]);
const TREES: Held = (
    "petitions",
    &[("title", "More trees"), ("summary", "In every street")],
);

const VENDORS: &[Vendor] = &[
    Vendor {
        name: "people",
        held: None,
        offer: |api, vendor| {
            api.resource::<Person, _>(vendor, |x| {
                x.list()
                    .get()
                    .create()
                    .update()
                    .delete()
                    .readable_fields(fields!(person::{given_name, family_name}))
                    .writable_fields(writable!(person::{given_name, family_name}))
                    .without_link(person::link::modified_by)
            })
        },
        apart: &[
            ("TYP-11", "a field of type object is not declared"),
            ("CRU-18", "no update of a list is declared"),
            ("CAP-05", "no create with a required field is declared"),
            ("HAF-02", "is declared"),
        ],
    },
    Vendor {
        name: "sign-up",
        held: None,
        offer: |api, vendor| {
            let taken = writable!(person::{given_name, email_addresses});
            api.resource::<Person, _>(vendor, |x| x.writable_fields(taken))
                .helper::<PersonSignup>(vendor)
        },
        apart: &[
            ("HAL-06", "no collection declares the operation read"),
            ("COL-02", "no collection declares the operation list"),
            (
                "AUT-04",
                "people.create, which the restricted key lacks, is not declared",
            ),
            (
                "HLP-23",
                "no helper is declared for records that can be created and deleted",
            ),
            (
                "ERR-34",
                "no declared feature could show it: the action function add_tags is not declared",
            ),
        ],
    },
    Vendor {
        name: "people, read-only",
        held: Some(ADA),
        offer: |api, vendor| {
            api.resource::<Person, _>(vendor, |x| {
                x.list()
                    .get()
                    .readable_fields(fields!(person::{given_name, family_name}))
                    .without_link(person::link::modified_by)
            })
        },
        apart: &[
            (
                "RES-person-06",
                "field person.gender is declared, but no declared operation returns or accepts it",
            ),
            ("AUT-08", "is not declared"),
            ("CAP-06", "no way to create, read and update one"),
        ],
    },
    Vendor {
        name: "tags",
        held: None,
        offer: |api, vendor| api.resource::<Tag, _>(vendor, |x| x.all_operations().find()),
        apart: &[
            (
                "ERR-39",
                "no create with two fields that have declared rules",
            ),
            ("CRU-20", "people.update is not declared"),
        ],
    },
    Vendor {
        name: "events, read-only, and a helper of attendances",
        held: Some(MEETING),
        offer: events,
        apart: &[
            (
                "RES-attendance-05",
                "an event that sells tickets is not declared",
            ),
            (
                "HLP-23",
                "no helper is declared for records that can be created and deleted",
            ),
        ],
    },
    Vendor {
        name: "petitions, read-only, and a helper of signatures",
        held: Some(TREES),
        offer: |api, vendor| {
            api.resource::<Person, _>(vendor, |x| {
                x.create()
                    .update()
                    .find()
                    .writable_fields(writable!(person::{given_name, family_name}))
            })
            .resource::<Petition, _>(vendor, |x| {
                x.list()
                    .get()
                    .readable_fields(fields!(petition::{title, summary}))
                    .without_link(petition::link::creator)
                    .without_link(petition::link::modified_by)
            })
            .resource::<Signature, _>(vendor, |x| {
                x.create()
                    .find()
                    .readable_fields(fields!(signature::{comments}))
                    .writable_fields(writable!(signature::{comments}))
            })
            .compose_helper::<RecordSignature>()
            // The operations that a helper is built from are not offered separately.
            .without_capability("people.create")
            .without_capability("people.update")
            .without_capability("signatures.create")
        },
        apart: &[
            (
                "HLP-04",
                "no declared helper returns the person or a link to the person",
            ),
            ("CAP-05", "no create with a required field is declared"),
        ],
    },
];

/// Offers events that clients cannot create, and their attendances.
fn events(api: ApiBuilder, vendor: &Arc<Narrow>) -> ApiBuilder {
    api.resource::<Person, _>(vendor, |x| {
        x.list()
            .get()
            .create()
            .update()
            .delete()
            .find()
            .readable_fields(fields!(person::{given_name, family_name}))
            .writable_fields(writable!(person::{given_name, family_name}))
            .without_link(person::link::modified_by)
    })
    .resource::<Event, _>(vendor, |x| {
        x.list()
            .get()
            .readable_fields(fields!(event::{title, summary}))
            .without_link(event::link::creator)
            .without_link(event::link::organizer)
            .without_link(event::link::modified_by)
    })
    .resource::<Attendance, _>(vendor, |x| {
        x.list_under::<Event>()
            .get()
            .create()
            .update()
            .delete()
            .find()
            .readable_fields(fields!(attendance::{status, comment}))
            .writable_fields(writable!(attendance::{status, comment}))
    })
    .compose_helper::<RecordAttendance>()
}

impl Vendor {
    async fn suite(&self) -> Result<Suite, Box<dyn Error>> {
        let narrow = Narrow::new();
        if let Some((many, fields)) = self.held {
            let fields = fields
                .iter()
                .map(|(name, value)| ((*name).to_owned(), json!(value)))
                .collect();
            narrow.holds(many, &Value::Object(fields)).await?;
        }
        Narrow::suite(|api| (self.offer)(api, &narrow))
    }
}

/// Returns the requirements of a report that do not apply.
fn apart(report: &Report) -> BTreeSet<&str> {
    report
        .with_outcome(RequirementOutcome::NotApplicable)
        .map(|row| row.id.as_str())
        .collect()
}

/// A server is tested only against its declaration; the rest does not leave a run undecided.
///
/// Requirements: CAP-04.
#[tokio::test]
async fn no_row_stays_undecided_that_a_narrow_server_cannot_show() -> Result<(), Box<dyn Error>> {
    for vendor in VENDORS {
        for intensity in [Intensity::Quick, Intensity::Default] {
            let report = vendor.suite().await?.intensity(intensity).run().await?;
            let name = vendor.name;
            let wrong: Vec<String> = [
                RequirementOutcome::Inconclusive,
                RequirementOutcome::Fail,
                RequirementOutcome::Error,
            ]
            .into_iter()
            .flat_map(|outcome| report.with_outcome(outcome))
            .map(|row| format!("{} {}: {}", row.id, row.outcome, row.reason))
            .collect();
            assert_eq!(wrong, Vec::<String>::new(), "{name}, {intensity:?}");
            assert_eq!(report.exit_code(), 0, "{name}: {report}");
            assert!(
                report.count(RequirementOutcome::Pass) > 60,
                "{name}: {report}"
            );
            for row in report.with_outcome(RequirementOutcome::NotApplicable) {
                assert!(
                    !row.reason.is_empty() && row.observations == 0,
                    "{name}: {row:?}"
                );
            }
            for (id, reason) in vendor.apart {
                let row = report.requirement(id).ok_or("a row")?;
                assert!(
                    row.outcome == RequirementOutcome::NotApplicable && row.reason.contains(reason),
                    "{name}: {row:?}"
                );
            }
        }
    }
    Ok(())
}

/// What does not apply follows from the declaration alone. It is the same for a target that is only
/// read, and for one that gets no requests.
#[tokio::test]
async fn what_does_not_apply_follows_from_the_declaration_alone() -> Result<(), Box<dyn Error>> {
    for vendor in VENDORS {
        let whole = vendor
            .suite()
            .await?
            .intensity(Intensity::Quick)
            .run()
            .await?;
        let read = vendor
            .suite()
            .await?
            .allow_writes(false)
            .intensity(Intensity::Quick)
            .run()
            .await?;
        // Only requirements that depend on existing data, such as a second page, may differ.
        let met = |id: &&str| {
            let row = svc_conformance::catalogue::Catalogue::built_in()
                .expect("a catalogue")
                .requirement(id);
            row.is_some_and(|row| row.condition.contains("met."))
        };
        let (whole, read) = (apart(&whole), apart(&read));
        let differ: Vec<&&str> = whole
            .symmetric_difference(&read)
            .filter(|id| !met(id))
            .collect();
        assert_eq!(differ, Vec::<&&str>::new(), "{}", vendor.name);
    }
    Ok(())
}

/// A declared feature that was not observed is undecided, and the report names what was missing and
/// what to do.
///
/// Requirements: TYP-11, RES-person-01.
#[tokio::test]
async fn what_is_declared_and_was_not_seen_stays_undecided() -> Result<(), Box<dyn Error>> {
    let narrow = Narrow::new();
    narrow
        .holds("people", &json!({"given_name": "Ada"}))
        .await?;
    let suite = Narrow::suite(|api| {
        api.resource::<Person, _>(&narrow, |x| {
            x.list()
                .get()
                .readable_fields(fields!(person::{given_name, family_name}))
        })
    })?;
    let report = suite.intensity(Intensity::Quick).run().await?;
    assert_eq!(report.exit_code(), 3, "{report}");
    let undecided: Vec<(&str, &str, &str)> = report
        .inconclusive()
        .map(|row| (row.id.as_str(), row.reason.as_str(), row.advice.as_str()))
        .collect();
    let expected = [
        (
            "RES-person-01",
            "no person in the responses has `family_name`",
            "What to do: name a suitable record with --fixture person=ADDRESS, or set `fixture.person` in a declaration file, or exclude the requirement with --exclude RES-person-01.",
        ),
        (
            "RES-person-47",
            "res/links-of-person: no person in the responses has the link `modified_by`, which is sent if that person is known",
            "What to do: name a suitable record with --fixture person=ADDRESS, or set `fixture.person` in a declaration file, or exclude the requirement with --exclude RES-person-47.",
        ),
    ];
    assert_eq!(undecided, expected);
    assert!(report.to_string().contains(expected[0].2), "{report}");
    Ok(())
}

/// Offers events that clients cannot create, with an enforced capacity, and the attendances below
/// them.
fn places(api: ApiBuilder, vendor: &Arc<Narrow>) -> ApiBuilder {
    api.resource::<Person, _>(vendor, |x| x.list().get().create().delete().find().update())
        .resource::<Event, _>(vendor, |x| {
            x.get().readable_fields(
                fields!(event::{title, capacity, total_accepted, ticket_levels::{title}}),
            )
        })
        .resource::<Attendance, _>(vendor, |x| {
            x.list_under::<Event>().get().create().delete().find()
        })
        .compose_helper::<RecordAttendance>()
        .behaviour(Behaviour::CapacityEnforced)
}

/// Creates a vendor with an event, one that sells tickets, and one with a capacity of two. Returns
/// it with the suite and the addresses.
async fn three_events() -> Result<(Arc<Narrow>, Suite, [String; 3]), Box<dyn Error>> {
    let narrow = Narrow::new();
    let meeting = narrow.holds("events", &json!({"title": "Meeting"})).await?;
    let levels = json!([{"title": "Pit", "amount": 5, "currency": "EUR"}, {"title": "Stalls", "amount": 7, "currency": "EUR"}]);
    let concert = json!({"title": "Concert", "type": "ticketed", "ticket_levels": levels});
    let concert = narrow.holds("events", &concert).await?;
    let suite = Narrow::suite(|api| places(api, &narrow))?;
    let limited = narrow
        .holds("events", &json!({"title": "Walk", "capacity": 2}))
        .await?;
    Ok((narrow, suite, [meeting, concert, limited]))
}

/// The requirements that need an event: COL-08, LIM-04 and those of the helper.
const WAITING: [&str; 4] = ["COL-08", "LIM-04", "HLP-15", "RES-attendance-05"];

/// A named event makes requirements testable that were not, and the run leaves it unchanged.
///
/// Requirements: COL-08, LIM-04, HLP-15, RES-attendance-05.
#[tokio::test]
async fn fixtures_open_what_a_run_cannot_create() -> Result<(), Box<dyn Error>> {
    let (narrow, suite, own) = three_events().await?;
    let [meeting, concert, limited] = &own;
    let report = suite
        .clone()
        .only(WAITING)
        .intensity(Intensity::Quick)
        .run()
        .await?;
    for id in WAITING {
        let row = report.requirement(id).ok_or("a row")?;
        assert_eq!(row.outcome, RequirementOutcome::Inconclusive, "{row:?}");
        assert!(row.reason.contains("no event can be created"), "{row:?}");
        assert!(row.reason.contains("none is named as a fixture"), "{row:?}");
        assert!(row.advice.contains("--fixture "), "{row:?}");
    }
    let plan = suite.plan().await?;
    let waits = |name: &str, id: &str| {
        plan.fixtures.iter().any(|one| {
            one.name == name && one.named.is_none() && one.rows.iter().any(|row| row == id)
        })
    };
    assert!(
        waits("event", "COL-08") && waits("limited_event", "LIM-04") && waits("event", "HLP-15"),
        "{:#?}",
        plan.fixtures
    );
    assert!(
        plan.to_string().contains("--fixture NAME=ADDRESS"),
        "{plan}"
    );

    let before = (
        narrow.shows(meeting).await?,
        narrow.shows(concert).await?,
        narrow.shows(limited).await?,
    );
    let named = suite
        .clone()
        .fixture("event", meeting)
        .fixture("ticketed_event", concert);
    let named = named.fixture("limited_event", limited);
    let plan = named.plan().await?;
    assert!(
        plan.fixtures
            .iter()
            .any(|one| one.name == "event" && one.named.as_ref() == Some(meeting)),
        "{plan}"
    );
    let report = named
        .only(WAITING)
        .intensity(Intensity::Quick)
        .run()
        .await?;
    for id in WAITING {
        let row = report.requirement(id).ok_or("a row")?;
        assert_eq!(row.outcome, RequirementOutcome::Pass, "{row:?}");
    }
    assert_eq!(
        (report.clean_up.removed, report.clean_up.left.len()),
        (report.clean_up.created, 0),
        "{report}"
    );
    let after = (
        narrow.shows(meeting).await?,
        narrow.shows(concert).await?,
        narrow.shows(limited).await?,
    );
    assert_eq!(after, before, "they are as they were");
    Ok(())
}

/// A fixture is also found by its identifier, if its kind is listed, and in the declaration.
#[tokio::test]
async fn a_fixture_is_named_by_identifier_and_in_a_declaration() -> Result<(), Box<dyn Error>> {
    let narrow = Narrow::new();
    let own = narrow
        .holds(
            "events",
            &json!({"title": "Meeting", "identifiers": ["crm:seven"]}),
        )
        .await?;
    narrow.holds("events", &json!({"title": "Another"})).await?;
    let id = own.rsplit('/').next().ok_or("an id")?;
    for name in [
        id,
        "crm:seven",
        &own,
        &format!("events/{id}"),
        &format!("/api/v1/events/{id}"),
    ] {
        let suite = Narrow::suite(|api| events(api, &narrow))?;
        let plan = suite.fixture("event", name).plan().await?;
        assert!(
            plan.fixtures
                .iter()
                .any(|one| one.named.as_deref() == Some(name)),
            "{plan}"
        );
    }
    let text = "declaration_version = 1\n[fixture]\nevnt = \"a\"\n";
    let unknown = svc_conformance::read_declaration(text)
        .expect_err("a name that does not exist")
        .to_string();
    assert!(
        unknown.contains("fixture.evnt (allowed here: ") && unknown.contains("ticketed_event"),
        "{unknown}"
    );
    let read = svc_conformance::read_declaration(
        "declaration_version = 1\nfixture.event = \"events/1\"\n",
    )?;
    assert_eq!(
        read.fixture.get("event").map(String::as_str),
        Some("events/1")
    );
    Ok(())
}

/// A fixture that does not exist, or is something else, is reported in one sentence before anything
/// is written.
#[tokio::test]
async fn a_wrong_fixture_is_a_usage_error() -> Result<(), Box<dyn Error>> {
    let (narrow, suite, [meeting, ..]) = three_events().await?;
    let person = narrow
        .holds("people", &json!({"given_name": "Ada"}))
        .await?;
    for (name, given, said) in [
        (
            "event",
            format!("{BASE}events/none"),
            "does not exist: its URL returns 404. Name one that the key may read",
        ),
        (
            "event",
            person,
            "is not of the kind event: it lacks the link `svc:",
        ),
        (
            "event",
            format!("{BASE}people"),
            "is not of the kind event: its URL is a collection",
        ),
        (
            "event",
            "acme:none".to_owned(),
            "is not a URL, and events are not listed: pass the URL of one",
        ),
        (
            "person",
            "acme:none".to_owned(),
            "does not exist: none of the listed people has that identifier",
        ),
        (
            "ticketed_event",
            meeting.clone(),
            "has no `ticket_levels`: name an event that sells tickets",
        ),
        (
            "evnt",
            meeting.clone(),
            "there is no fixture `evnt`; allowed: person, petition",
        ),
    ] {
        let error = suite
            .clone()
            .fixture(name, &given)
            .run()
            .await
            .expect_err(name);
        assert!(
            matches!(error, SuiteError::Usage(_)) && error.exit_code() == 2,
            "{error}"
        );
        assert!(error.to_string().contains(said), "{error}");
    }
    Ok(())
}

/// The whole API is declared: each requirement whose condition is true can be observed, and all
/// binding ones are.
#[tokio::test]
async fn nothing_is_apart_where_everything_is_declared() -> Result<(), Box<dyn Error>> {
    let subject = svc_self_test::subject::TestSubject::reference(|api| {
        api.conditional_requests(IfMatchPolicy::Optional)
            .merge_people()
            .duplicates()
    })
    .await?;
    // Without a receiver of webhooks, messages are not tested.
    let report = svc_self_test::trial::suite(&subject, Intensity::Quick, 42)
        .run()
        .await?;
    let apart: Vec<&str> = report
        .with_outcome(RequirementOutcome::NotApplicable)
        .filter(|row| {
            row.reason.contains("nothing that is declared") || row.reason.contains("no way to")
        })
        .map(|row| row.id.as_str())
        .collect();
    assert_eq!(apart, [""; 0]);
    assert_eq!(report.exit_code(), 0, "{report}");
    // The alternative of each of these needs another server.
    let rest: Vec<&str> = report
        .with_outcome(RequirementOutcome::NotApplicable)
        .filter(|row| row.level == "MUST")
        .map(|row| row.id.as_str())
        .collect();
    assert_eq!(
        rest,
        [
            "ERR-05", "ERR-34", "ERR-38", "ETG-09", "HOOK-07", "HOOK-08", "HOOK-11", "HOOK-12",
            "MRG-13"
        ]
    );
    Ok(())
}

/// A requirement that was not observed is decided when the fixture from its advice is named.
///
/// Requirements: RES-person-01.
#[tokio::test]
async fn the_advice_to_name_a_record_decides_the_row() -> Result<(), Box<dyn Error>> {
    let narrow = Narrow::new();
    let person = narrow
        .holds(
            "people",
            &json!({"given_name": "Ada", "family_name": "Lovelace"}),
        )
        .await?;
    let suite = Narrow::suite(|api| {
        api.resource::<Person, _>(&narrow, |x| {
            x.get()
                .readable_fields(fields!(person::{given_name, family_name}))
        })
    })?;
    let suite = suite.intensity(Intensity::Quick);
    let report = suite.clone().run().await?;
    for id in ["RES-person-01", "RES-person-02"] {
        let row = report.requirement(id).ok_or("a row")?;
        assert_eq!(row.outcome, RequirementOutcome::Inconclusive, "{row:?}");
        assert!(row.advice.contains("--fixture person=ADDRESS"), "{row:?}");
    }
    let report = suite.fixture("person", person).run().await?;
    for id in ["RES-person-01", "RES-person-02"] {
        assert_eq!(
            report.requirement(id).map(|row| row.outcome),
            Some(RequirementOutcome::Pass),
            "{report}"
        );
    }
    Ok(())
}

/// The collections of containers with the collections of their members, and the fields of a member.
const MEMBERS: [(&str, &str, &str); 8] = [
    ("petitions", "signatures", "{}"),
    ("forms", "submissions", "{}"),
    (
        "fundraising_pages",
        "donations",
        r#"{"amount": 5, "currency": "USD"}"#,
    ),
    ("advocacy_campaigns", "outreaches", "{}"),
    ("events", "attendances", "{}"),
    ("tags", "taggings", "{}"),
    ("lists", "items", "{}"),
    ("questions", "answers", r#"{"responses": ["a1"]}"#),
];

/// Creates a vendor with a person who is a member of a container of each kind, and returns the
/// addresses of the members.
async fn one_of_each() -> Result<(Arc<Narrow>, Vec<String>), Box<dyn Error>> {
    let narrow = Narrow::new();
    let person = narrow
        .holds("people", &json!({"given_name": "Ada"}))
        .await?;
    let mut members = Vec::new();
    for (containers, of, fields) in MEMBERS {
        let container = match containers {
            "questions" => json!({"name": "colour", "question_type": "SingleChoice",
                "responses": [{"key": "a1", "name": "red"}]}),
            _ => json!({"name": "first", "title": "First"}),
        };
        let container = narrow.holds(containers, &container).await?;
        let path = container.strip_prefix(BASE).ok_or("an address")?;
        let mut body: Value = serde_json::from_str(fields)?;
        body["_links"] = json!({"svc:person": {"href": person}});
        members.push(narrow.holds(&format!("{path}/{of}"), &body).await?);
    }
    Ok((narrow, members))
}

/// A server whose records can only be read, or only people can be created, fails nothing. Apart
/// from values that no record has, every requirement is decided or has a fixture that decides it.
///
/// Requirements: COL-10, COL-17, ERR-38, FLT-01, HAF-01, RES-person-08.
#[tokio::test]
async fn records_that_can_only_be_read_decide_what_applies() -> Result<(), Box<dyn Error>> {
    for creates_people in [false, true] {
        let (narrow, members) = one_of_each().await?;
        let suite = Narrow::suite(|api| narrow.only_read(api, creates_people))?;
        let suite = suite.intensity(Intensity::Quick);
        let report = suite.clone().run().await?;
        let failed = report.with_outcome(RequirementOutcome::Fail);
        assert_eq!(failed.count(), 0, "{report}");
        let depends_on_values = ["HAL-", "RES-", "TYP-"];
        let open: Vec<_> = report
            .inconclusive()
            .filter(|row| {
                !depends_on_values
                    .iter()
                    .any(|area| row.id.starts_with(area))
            })
            .map(|row| {
                (
                    row.id.as_str(),
                    row.advice.contains("--fixture submission="),
                )
            })
            .collect();
        assert_eq!(open, [("COL-10", true)], "{report}");
        let passes = |report: &Report, id: &str| {
            let row = report.requirement(id).map(|row| row.outcome);
            assert_eq!(row, Some(RequirementOutcome::Pass), "{id}: {report}");
        };
        passes(&report, "COL-17");
        let submission = members.get(1).ok_or("a submission")?;
        let report = suite
            .only(["COL-10"])
            .fixture("submission", submission)
            .run()
            .await?;
        passes(&report, "COL-10");
    }
    Ok(())
}

/// The taggings of a person can only be read, and no tag is listed: the fixture that the advice
/// names decides the requirement.
///
/// Requirements: COL-17.
#[tokio::test]
async fn a_fixture_of_a_kind_that_can_only_be_read_is_used() -> Result<(), Box<dyn Error>> {
    let (narrow, members) = one_of_each().await?;
    let suite = Narrow::suite(|api| {
        api.resource::<Person, _>(&narrow, |x| x.list().get())
            .resource::<Tag, _>(&narrow, ResourceConfig::get)
            .resource::<Tagging, _>(&narrow, |x| x.list_under::<Person>().get())
    })?;
    let suite = suite.intensity(Intensity::Quick).only(["COL-17"]);
    let report = suite.clone().run().await?;
    let row = report.requirement("COL-17").ok_or("a row")?;
    assert_eq!(row.outcome, RequirementOutcome::Inconclusive, "{row:?}");
    assert!(row.advice.contains("--fixture tagging=ADDRESS"), "{row:?}");
    let tagging = members.get(5).ok_or("a tagging")?;
    let report = suite.fixture("tagging", tagging).run().await?;
    let row = report.requirement("COL-17").ok_or("a row")?;
    assert_eq!(row.outcome, RequirementOutcome::Pass, "{row:?}");
    Ok(())
}

/// Signatures in a petition that cannot be created can be neither changed nor deleted: a signature
/// of the run in the fixture shows how the server rejects this.
///
/// Requirements: ERR-07.
#[tokio::test]
async fn what_is_not_supported_is_tested_in_a_fixture() -> Result<(), Box<dyn Error>> {
    let narrow = Narrow::new();
    let petition = json!({"title": "Trees"});
    let petition = narrow.holds("petitions", &petition).await?;
    let suite = Narrow::suite(|api| {
        api.resource::<Person, _>(&narrow, |x| x.list().get().create().update().delete())
            .resource::<Petition, _>(&narrow, ResourceConfig::get)
            .resource::<Signature, _>(&narrow, |x| x.list_under::<Petition>().get().create())
    })?;
    let suite = suite.intensity(Intensity::Quick).only(["ERR-07"]);
    let outcome = |report: &Report| report.requirement("ERR-07").map(|row| row.outcome);
    let report = suite.clone().run().await?;
    assert_eq!(
        outcome(&report),
        Some(RequirementOutcome::NotApplicable),
        "{report}"
    );
    let report = suite.fixture("petition", petition).run().await?;
    assert_eq!(outcome(&report), Some(RequirementOutcome::Pass), "{report}");
    Ok(())
}
