//! The contract of totals that are counted again and of indexes that are rebuilt: they are equal to
//! those of a store in memory.

use svc_core::{
    auth::Caller,
    context::{Context, Tenant},
    draft::{RawDraft, RawPatch},
    error::{Error, Result},
    filter::{Filter, FilterField},
    link::RecordAddress,
    model::Kind,
    page::{ListRequest, PageRequest},
    store::{Store, WriteOperation, WriteRequest},
    value::Timestamp,
};

use super::{
    ContractViolation,
    canonical::{Ordinals, difference},
    generator::object,
};
use crate::memory::MemoryStore;

/// Parts of the records of [`check_recount`] as they are stored, each with its kind and with what an
/// earlier version stored instead.
pub const FORMER_VALUES: [(Kind, &str, &str); 8] = [
    (Kind::Event, r#""total_tickets":1"#, r#""total_tickets":7"#),
    (Kind::Event, r#""amount":0"#, r#""amount":0.00"#),
    (
        Kind::Person,
        r#"[{"address":"Ada@BÜCHER.example"}]"#,
        r#"[{"address":" Ada@BÜCHER.example"},{"address":"ada@xn--bcher-kva.example"}]"#,
    ),
    (
        Kind::Person,
        r#""number":"442079460000","extension":"12""#,
        r#""number":"+44 (0)20 7946-0000 x12""#,
    ),
    (
        Kind::Person,
        r#""region":"ENG","country":"GB""#,
        r#""region":"eng","country":"uk""#,
    ),
    (
        Kind::AdvocacyCampaign,
        r#""number":"33140205050""#,
        r#""number":"+33 1 40 20 50 50""#,
    ),
    (Kind::Person, r#""handle":"ada""#, r#""handle":"@@ada""#),
    (
        Kind::Person,
        r#""provider":"mastodon""#,
        r#""provider":" mastodon\n""#,
    ),
];

/// Checks that a store counts its totals again, brings its values into the form of this version, and
/// rebuilds its indexes of addresses and texts when it is opened.
///
/// `damage` receives the store with the records of two tenants. It closes the store, changes the stored
/// totals, addresses, texts and [basis](svc_core::rules::Recount::basis), and opens the store again. It
/// also replaces the [`FORMER_VALUES`] in the stored records. The tenants must have no records at first.
///
/// # Errors
///
/// Returns a violation if a total or a filter differs from that of a [`MemoryStore`]: before `damage` in
/// step 1, after it in step 2, and after another donation in step 3.
///
/// Requirements: RES-event-16 to RES-event-20, RES-fundraising_page-09, RES-fundraising_page-10, FLT-14,
/// UND-46.
pub async fn check_recount<S: Store>(
    store: S,
    tenants: [Tenant; 2],
    damage: impl AsyncFnOnce(S) -> S,
) -> Result<(), ContractViolation> {
    let contexts =
        tenants.map(|tenant| Context::new(tenant, Caller::anonymous(), Timestamp::now()));
    let model = RecountTest::with_records(MemoryStore::new(), &contexts)
        .await
        .map_err(|error| failed(&error))?;
    let tested = RecountTest::with_records(store, &contexts)
        .await
        .map_err(|error| failed(&error))?;
    tested.agree(1, &model).await?;
    let tested = RecountTest {
        store: damage(tested.store).await,
        ..tested
    };
    tested.agree(2, &model).await?;
    // Later records are added to the new totals.
    tested.donate(EURO).await.map_err(|error| failed(&error))?;
    model.donate(EURO).await.map_err(|error| failed(&error))?;
    tested.agree(3, &model).await
}

/// A donation that counts on the page.
const EURO: &str = r#"{"amount": 1, "currency": "EUR"}"#;

/// A store with records that have totals.
struct RecountTest<'c, S> {
    store: S,
    contexts: &'c [Context; 2],
    person: RecordAddress,
    page: RecordAddress,
    event: RecordAddress,
    campaign: RecordAddress,
    /// A page of the second tenant.
    other: RecordAddress,
}

impl<'c, S: Store> RecountTest<'c, S> {
    /// Creates the records.
    async fn with_records(store: S, contexts: &'c [Context; 2]) -> Result<Self> {
        let [one, two] = contexts;
        let page = r#"{"currency": "USD"}"#;
        let event = r#"{"type": "ticketed", "ticket_levels": [{"title": "A", "amount": 5, "limit": 10}, {"title": "B", "amount": 0}]}"#;
        let other = create(&store, two, Kind::FundraisingPage, page, &[]).await?;
        let page = create(&store, one, Kind::FundraisingPage, page, &[]).await?;
        let event = create(&store, one, Kind::Event, event, &[]).await?;
        let campaign = r#"{"target_list": [{"phone_numbers": [{"number": "33140205050"}]}]}"#;
        let campaign = create(&store, one, Kind::AdvocacyCampaign, campaign, &[]).await?;
        let person = create(
            &store,
            one,
            Kind::Person,
            r#"{
                "family_name": "LOVELACE",
                "postal_addresses": [{"region": "ENG", "country": "GB"}],
                "email_addresses": [{"address": "Ada@BÜCHER.example"}],
                "phone_numbers": [{"number": "442079460000", "extension": "12"}],
                "profiles": [{"provider": "mastodon", "handle": "ada"}]
            }"#,
            &[],
        )
        .await?;
        let all = Self {
            store,
            contexts,
            person,
            page,
            event,
            campaign,
            other,
        };
        all.donate(r#"{"amount": 3, "currency": "USD"}"#).await?;
        // A page can have donations in its former currency.
        let euro = RawPatch::new(Kind::FundraisingPage, object(r#"{"currency": "EUR"}"#));
        let update = WriteOperation::Update(all.page.clone(), euro);
        all.store.write(one, WriteRequest::new(one, update)).await?;
        for donation in [
            r#"{"amount": 2.5, "currency": "eur"}"#,
            r#"{"amount": 4, "voided": true}"#,
        ] {
            all.donate(donation).await?;
        }
        for attendance in [
            r#"{"tickets": [{"title": "A"}, {"title": "B", "amount": 1.25}]}"#,
            r#"{"status": "declined"}"#,
        ] {
            let links = [("event", &all.event), ("person", &all.person)];
            create(&all.store, one, Kind::Attendance, attendance, &links).await?;
        }
        Ok(all)
    }

    async fn donate(&self, fields: &str) -> Result<()> {
        let [one, _] = self.contexts;
        let links = [("fundraising_page", &self.page), ("person", &self.person)];
        create(&self.store, one, Kind::Donation, fields, &links).await?;
        Ok(())
    }

    /// Formats the records with totals, one a line.
    async fn describe(&self) -> Result<String> {
        let [one, two] = self.contexts;
        let mut lines = Vec::new();
        for (cx, at) in [
            (one, &self.page),
            (one, &self.event),
            (one, &self.campaign),
            (two, &self.other),
        ] {
            let record = self.store.get(cx, at).await?;
            lines.push(Ordinals::default().found(record.as_ref()));
        }
        let fields = [FilterField::FamilyName, FilterField::EmailAddress];
        for text in [
            "family_name sw 'love'",
            "email_address eq 'ada@xn--bcher-kva.example'",
        ] {
            let filter = Filter::parse(text, &fields, "laws");
            let filter = filter.map_err(|wrong| Error::unexpected(wrong.to_string()))?;
            let request = ListRequest::all(PageRequest::new(1, 25)).with_filter(filter);
            for cx in [one, two] {
                let page = self.store.list(cx, Kind::Person, &request).await?;
                let mut line = format!("{} people", page.total);
                for person in &page.records {
                    line.push_str(&Ordinals::default().found(Some(person)));
                }
                lines.push(line);
            }
        }
        Ok(lines.join("\n"))
    }

    /// Compares the records with those of the store in memory.
    async fn agree(
        &self,
        step: usize,
        model: &RecountTest<'_, MemoryStore>,
    ) -> Result<(), ContractViolation> {
        let told = self.describe().await.map_err(|error| failed(&error))?;
        let meant = model.describe().await.map_err(|error| failed(&error))?;
        match difference(&told, &meant) {
            Some(difference) => Err(broken(
                step,
                format!("the totals or the people that a filter finds differ{difference}"),
            )),
            None => Ok(()),
        }
    }
}

/// Creates a record and returns its address.
async fn create<S: Store>(
    store: &S,
    cx: &Context,
    kind: Kind,
    fields: &str,
    links: &[(&'static str, &RecordAddress)],
) -> Result<RecordAddress> {
    let links = links.iter().map(|(name, to)| (*name, (*to).clone()));
    let draft = RawDraft::empty(kind)
        .with_fields(object(fields))
        .with_links(links.collect());
    let call = WriteRequest::new(cx, WriteOperation::Create(draft));
    let written = store.write(cx, call).await?.into_written();
    let (record, _) = written.ok_or_else(|| Error::unexpected("a create without a record"))?;
    Ok(record.address())
}

fn failed(error: &Error) -> ContractViolation {
    broken(0, format!("the store failed: {error:?}"))
}

fn broken(step: usize, text: String) -> ContractViolation {
    ContractViolation {
        law: "recount",
        seed: 0,
        step,
        text,
    }
}
