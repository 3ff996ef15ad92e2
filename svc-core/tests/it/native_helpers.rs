//! Native helpers: what they get, and how their outcome becomes a response.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::json;
use svc_core::{
    ApiBuilder, Context, Error, ErrorCode, Get, Helper, Problem, Record, Result,
    api::{Atomicity, Behaviour, ResourceConfig, VendorRelations},
    error::PropertyPath,
    fields,
    helper::{
        EntryStatus, FunctionName, HelperOutcome, HelperRequest, RecordSignature, Schedule,
        ScheduleChange, fit_entries,
    },
    link::RecordAddress,
    model::{Kind, Message, Person, Petition, Resource, Signature, Tag, person, petition},
    record::{ComputedValue, Meta},
    value::{Id, Timestamp},
    writable,
};

use crate::support::{
    server::{Server, builder},
    typed_backend::Memory,
};

/// Records its requests and returns the given outcome.
#[derive(Debug, Default)]
struct Native {
    asked: Mutex<Vec<String>>,
    fails: bool,
}

impl Native {
    fn note(&self, text: String) {
        self.asked.lock().unwrap().push(text);
    }
}

fn meta(cx: &Context) -> Meta {
    Meta::new(Id::new("x").unwrap(), cx.received_at())
}

#[async_trait]
impl Helper<RecordSignature> for Native {
    async fn run(
        &self,
        cx: &Context,
        plan: HelperRequest<RecordSignature>,
    ) -> Result<HelperOutcome<RecordSignature>> {
        let action = plan
            .action()
            .ok_or_else(|| Error::unexpected("an action"))?
            .fields();
        self.note(format!(
            "atomic {} anonymous {} {:?}",
            plan.is_atomic(),
            plan.is_anonymous(),
            action.comments
        ));
        let problem = Problem::new(
            ErrorCode::IdentifierInUse,
            "identifiers[1]",
            "{property} is taken.",
        );
        let status = if self.fails {
            EntryStatus::Failed(vec![problem])
        } else {
            EntryStatus::Created
        };
        let person = PropertyPath::member("person");
        let omitted = plan.person().map(|person| {
            let mut fields = person.into_raw().fields;
            fit_entries(&mut fields, cx.person_constraints())
        });
        let omitted = omitted.into_iter().flatten().map(Problem::from);
        Ok(HelperOutcome::without_person()
            .with_action(Record::<Signature>::new(meta(cx), action), status)
            .with_warnings(omitted.map(|warning| warning.within(&person))))
    }
}

#[async_trait]
impl Helper<Schedule> for Native {
    async fn run(
        &self,
        cx: &Context,
        plan: HelperRequest<Schedule>,
    ) -> Result<HelperOutcome<Schedule>> {
        self.note(match plan.schedule() {
            Some(ScheduleChange::Set { start, stop }) => format!("{start} {stop:?}"),
            Some(ScheduleChange::Cancel) => {
                return Err(Error::invalid(Problem::for_request(
                    ErrorCode::MessageNotScheduled,
                    "It is not scheduled.",
                )));
            }
            _ => "nothing".to_owned(),
        });
        Ok(HelperOutcome::without_person().with_action(
            Record::new(meta(cx), Message::default()),
            EntryStatus::Existing,
        ))
    }
}

fn server(native: &Arc<Native>, atomic: bool) -> Server {
    let store = Arc::new(Memory::default());
    let api = builder()
        .resource::<Petition, _>(&store, |x| x.list().get().create())
        .resource::<Message, _>(&store, |x| x.list().get().create())
        .helper::<RecordSignature>(native)
        .helper::<Schedule>(native)
        .action_functions([FunctionName::AddTags])
        .atomicity(if atomic {
            Atomicity::WholeCall
        } else {
            Atomicity::PerResource
        })
        .build()
        .unwrap();
    Server { api, store }
}

#[test]
fn hlp_11_a_native_helper_is_handed_a_plan() {
    let native = Arc::new(Native::default());
    let server = server(&native, true);
    let petition = server.made("petitions", "{}");
    let made = server.post(
        &format!("{petition}/record_signature_helper"),
        r#"{"comments":"a","add_tags":["t"]}"#,
    );
    assert_eq!(
        (made.status, &made.json["comments"]),
        (200, &json!("a")),
        "HLP-06"
    );
    assert_eq!(
        server
            .post_unknown(&format!("{petition}/record_signature_helper"), "{}")
            .text,
        "{}",
        "HLP-07"
    );
    assert_eq!(
        *native.asked.lock().unwrap(),
        [
            r#"atomic true anonymous false Some("a")"#,
            "atomic true anonymous true None"
        ]
    );
    let declared = server.get("docs/capabilities").json["behaviours"].clone();
    assert!(
        !declared
            .as_array()
            .unwrap()
            .contains(&json!("helper.non_atomic")),
        "CAP-04 {declared}"
    );
    assert!(
        !declared
            .as_array()
            .unwrap()
            .contains(&json!(Behaviour::MatchesPeople.as_str())),
        "CAP-04 {declared}"
    );
}

#[test]
fn err_20_what_fails_alone_fails_as_a_whole() {
    let native = Arc::new(Native {
        fails: true,
        ..Native::default()
    });
    let server = server(&native, false);
    let petition = server.made("petitions", "{}");
    let body = r#"{"identifiers":["a:1","a:1","b:1"]}"#;
    let answer = server.post(&format!("{petition}/record_signature_helper"), body);
    assert_eq!(
        answer.problems(),
        ["IDENTIFIER_IN_USE identifiers[2]"],
        "UND-24, ERR-26"
    );
    assert_eq!(answer.json["svc:error"]["request_type"], "atomic", "ERR-20");
    assert!(answer.text.contains("`identifiers[2]` is taken."), "ERR-25");
}

/// HLP-04: a native helper gets all entries of the person, and warns a caller with a key about those
/// that it omits.
#[test]
fn hlp_04_a_native_helper_can_warn() {
    let (native, store) = (Arc::new(Native::default()), Arc::new(Memory::default()));
    let api = builder()
        .resource::<Petition, _>(&store, |x| x.list().get().create())
        .resource::<Person, _>(&store, |x| {
            x.get().max_items(person::key::email_addresses, 1)
        })
        .helper::<RecordSignature>(&native)
        .build()
        .unwrap();
    let server = Server { api, store };
    let petition = server.made("petitions", "{}");
    let helper = format!("{petition}/record_signature_helper");
    let body = r#"{"person":{"email_addresses":[{"address":"a@example.org"},{"address":"b@example.org"}]}}"#;
    let answer = server.post(&helper, body);
    assert_eq!(answer.status, 200, "{}", answer.text);
    let warning = json!([{
        "error_code": "ENTRIES_OMITTED",
        "description": "1 entry of `person.email_addresses` was omitted. The list can have at most 1.",
        "properties": ["person.email_addresses"],
    }]);
    assert_eq!(answer.json["ext:warnings"], warning);
}

#[test]
fn err_38_functions_that_were_not_named_are_reported_whatever_the_runner_does() {
    let native = Arc::new(Native::default());
    let server = server(&native, false);
    let petition = server.made("petitions", "{}");
    let helper = format!("{petition}/record_signature_helper");
    let answer = server.post(
        &helper,
        r#"{"add_lists":["l"],"triggers":{"autoresponse":{"enabled":true}}}"#,
    );
    let entries: Vec<_> = answer
        .entries()
        .into_iter()
        .map(|(kind, status, _)| (kind, status))
        .collect();
    let expected = [
        ("svc:signature", 201),
        ("svc:item", 500),
        ("svc:message", 500),
    ];
    assert_eq!(
        entries,
        expected.map(|(kind, status)| (kind.to_owned(), status)),
        "ERR-31, ERR-38 {}",
        answer.text
    );
    assert_eq!(
        server.get("docs/capabilities").json["action_functions"],
        json!(["add_tags"]),
        "CAP-04"
    );

    let native = Arc::new(Native::default());
    let server = self::server(&native, true);
    let petition = server.made("petitions", "{}");
    let answer = server.post(
        &format!("{petition}/record_signature_helper"),
        r#"{"add_lists":["l"]}"#,
    );
    assert_eq!(
        (answer.status, answer.problems()),
        (400, vec!["NOT_SUPPORTED add_lists".to_owned()]),
        "ERR-34, ERR-38"
    );
    assert_eq!(
        answer.entries().first().map(|entry| entry.1),
        Some(500),
        "ERR-38: the status of the entry"
    );
    let answer = server.post(
        &format!("{petition}/record_signature_helper"),
        r#"{"comments":1,"add_lists":["l"]}"#,
    );
    assert_eq!(
        (answer.status, answer.problems()),
        (
            400,
            vec![
                "FIELD_INVALID comments".to_owned(),
                "NOT_SUPPORTED add_lists".to_owned()
            ]
        ),
        "ERR-34, ERR-38"
    );
    assert_eq!(
        answer.entries().first().map(|entry| entry.1),
        Some(500),
        "ERR-38: also next to other problems"
    );
    assert!(
        native.asked.lock().unwrap().is_empty(),
        "ERR-34: nothing was stored"
    );
}

#[test]
fn ent_27_a_vendor_has_relations_of_its_own() {
    let store = Arc::new(Memory::default());
    let own = VendorRelations::new("https://crm.example.org/relations/").link(
        "shop",
        "https://crm.example.org/shop",
        "Shop",
    );
    let of_tag = Arc::new(OfTag);
    let api = builder()
        .resource::<Tag, _>(&of_tag, ResourceConfig::get)
        .vendor_relations(own);
    let server = Server {
        api: api.build().unwrap(),
        store,
    };
    let entry = server.get("");
    assert_eq!(
        entry.link("crm:shop"),
        Some("https://crm.example.org/shop"),
        "ENT-27"
    );
    assert_eq!(entry.json["_links"]["crm:shop"]["title"], "Shop", "ENT-25");
    let curies = &entry.json["_links"]["curies"];
    assert_eq!(
        (&curies[0]["name"], &curies[1]["name"]),
        (&json!("svc"), &json!("crm")),
        "HAL-18, ENT-27"
    );
    assert_eq!(
        curies[1]["href"], "https://crm.example.org/relations/{rel}",
        "HAL-18"
    );
    let tag = server.get("tags/7");
    assert_eq!(
        (tag.link("crm:card"), tag.link("crm:No Name")),
        (Some("https://crm.example.org/cards/7"), None)
    );
}

/// A link of the vendor in tags.
#[derive(Debug)]
struct OfTag;

#[async_trait]
impl Get<Tag> for OfTag {
    async fn get(&self, cx: &Context, _: &RecordAddress) -> Result<Option<Record<Tag>>> {
        let tag = Record::new(Meta::new(7.into(), cx.received_at()), Tag::default());
        Ok(Some(
            tag.with_vendor_link("card", "https://crm.example.org/cards/7")
                .with_vendor_link("No Name", "https://crm.example.org/"),
        ))
    }
}

#[test]
fn a_link_that_is_not_kept_is_not_declared() {
    let store = Arc::new(Memory::default());
    let people = |api: ApiBuilder| api.resource::<Person, _>(&store, ResourceConfig::get);
    let offer =
        |x: ResourceConfig<Petition, _>| x.get().create().without_link(petition::link::creator);
    let api = people(builder())
        .resource::<Petition, _>(&store, offer)
        .build()
        .unwrap();
    let declared = svc_core::api::capabilities(&api, api.base_url());
    assert_eq!(
        declared.collections["petitions"].links,
        ["modified_by"],
        "CAP-04"
    );
}

#[test]
fn a_field_that_is_neither_read_nor_written_is_not_declared() {
    let store = Arc::new(Memory::default());
    let api = builder().resource::<Petition, _>(&store, |x| {
        x.get()
            .create()
            .readable_fields(fields!(petition::{title, total_signatures}))
            .writable_fields(writable!(petition::{summary}))
    });
    let api = api.build().unwrap();
    let declared = svc_core::api::capabilities(&api, api.base_url());
    let fields: Vec<_> = declared.collections["petitions"].fields.keys().collect();
    assert_eq!(fields, ["summary", "title", "total_signatures"], "CAP-06");
}

#[test]
fn sch_01_to_09_scheduling() {
    let native = Arc::new(Native::default());
    let server = server(&native, false);
    let message = server.made(
        "messages",
        r#"{"scheduled_start_date":"2026-01-01T00:00:00Z"}"#,
    );
    let helper = server
        .get(&message)
        .link("svc:schedule_helper")
        .unwrap()
        .to_owned();
    let set = server.post(
        &helper,
        r#"{"scheduled_start_date":"2026-01-01T01:00:00+01:00","scheduled_end_date":null,"add_tags":7}"#,
    );
    let notice = &set.json["notice"];
    assert_eq!(
        (set.status, notice),
        (200, &json!("The message is scheduled.")),
        "SCH-02, SCH-09"
    );
    assert_eq!(
        set.json["ext:warnings"][0]["properties"][0], "add_tags",
        "UND-22"
    );
    assert_eq!(
        *native.asked.lock().unwrap(),
        ["2026-01-01T00:00:00Z None"],
        "SCH-01"
    );
    let start = r#""scheduled_start_date":"2026-01-02T00:00:00Z""#;
    for (body, expected) in [
        ("{}".to_owned(), "FIELD_REQUIRED scheduled_start_date"),
        (
            r#"{"scheduled_start_date":"soon"}"#.to_owned(),
            "FIELD_INVALID scheduled_start_date",
        ),
        (
            format!(r#"{{{start},"scheduled_end_date":"later"}}"#),
            "FIELD_INVALID scheduled_end_date",
        ),
        (
            format!(r#"{{{start},"scheduled_stop_date":7}}"#),
            "FIELD_INVALID scheduled_stop_date",
        ),
        (
            format!(r#"{{{start},"scheduled_end_date":"2026-01-01T00:00:00Z"}}"#),
            "START_DATE_AFTER_END_DATE scheduled_start_date,scheduled_end_date",
        ),
    ] {
        assert_eq!(
            server.post(&helper, &body).problems(),
            [expected],
            "SCH-06, SCH-07 {body}"
        );
    }
    assert_eq!(
        server.delete(&helper).problems(),
        ["MESSAGE_NOT_SCHEDULED "],
        "SCH-08"
    );
    assert_eq!(
        server
            .post("messages/none/schedule", &format!("{{{start}}}"))
            .status,
        404,
        "SCH-06"
    );
    assert_eq!(server.store.count(Kind::Message), 1);
}

#[test]
fn a_computed_value_is_sent_once() {
    let petition = Petition::default().total_signatures(7).title("T");
    let now = Timestamp::from_micros(0);
    let record = Record::new(Meta::new(Id::new("p").unwrap(), now), petition)
        .with_computed(petition::key::total_signatures, ComputedValue::Count(8))
        .with_computed(petition::key::total_signatures, ComputedValue::Count(9));
    let fields = record
        .into_raw()
        .to_fields_lossy(&svc_core::link::ShareNames::default());
    assert_eq!(
        fields.keys().collect::<Vec<_>>(),
        ["title"],
        "CAP-06: the computed value replaces the other one"
    );
}

#[test]
fn und_42_what_could_be_logged_shows_no_key_and_no_person() {
    let (headers, extensions) = (http::HeaderMap::new(), http::Extensions::new());
    let credentials = svc_core::auth::Credentials::new(
        Some("sesame"),
        &headers,
        &extensions,
        Timestamp::from_micros(0),
    );
    assert!(!format!("{credentials:?}").contains("sesame"), "UND-42");
    let petition = Petition::default().title("planted");
    let record = Record::new(
        Meta::new(Id::new("p").unwrap(), Timestamp::from_micros(0)),
        petition,
    );
    assert!(
        format!("{record:?}").contains("Typed(17 bytes)"),
        "UND-42: {record:?}"
    );
}

/// Names of a kind do not conflict with `read` and `write` of a vendor's own trait.
trait Stored: Resource {
    fn read(row: &str) -> Self;
    fn write(&self) -> String;
}

impl Stored for Tag {
    fn read(row: &str) -> Self {
        Self::default().name(row)
    }

    fn write(&self) -> String {
        self.name.clone().unwrap_or_default()
    }
}

fn copied<R: Stored>(row: &str) -> String {
    R::read(row).write()
}

#[test]
fn a_trait_over_any_kind_may_read_and_write() {
    assert_eq!(copied::<Tag>("news"), "news");
}
