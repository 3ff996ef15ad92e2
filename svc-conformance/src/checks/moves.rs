//! Updates that link an action to another person.
//!
//! Requirements: CRU-16.

use super::prelude::*;
use super::subject::changeable_text;
use crate::fields;

/// The requirements that an update with another person shows.
#[rustfmt::skip]
const MOVES: &[&str] = &[
    ids::CRU_16, ids::ERR_15, ids::COL_11, ids::COL_12, ids::COL_13, ids::COL_14, ids::COL_15, ids::COL_16,
    ids::COL_23, ids::COL_28, "field:petition.total_signatures", "field:form.total_submissions",
    "field:fundraising_page.total_donations", "field:event.total_accepted", "field:advocacy_campaign.total_outreaches",
];

pub(super) const CHECKS: &[Check] =
    &[check!("cru/moves", MOVES, moves).needs("people.create and people.read and *.update")];

/// The kinds whose person may be changed, each with the requirement of its collection of a person.
const KINDS: [(&str, &str); 6] = [
    ("signature", ids::COL_14),
    ("submission", ids::COL_12),
    ("donation", ids::COL_11),
    ("attendance", ids::COL_13),
    ("outreach", ids::COL_15),
    ("answer", ids::COL_16),
];

/// An action, its container, and the two people who may have it.
struct Action {
    kind: CatalogueKind,
    /// The requirement of the collection of a person.
    row: &'static str,
    container: Representation,
    under: &'static str,
    /// The total of the container that counts it.
    counted: Option<(&'static str, f64)>,
    record: Representation,
    people: [Representation; 2],
}

/// Who has an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    First,
    Second,
    Unknown,
}

impl Owner {
    const fn index(self) -> usize {
        match self {
            Self::Second => 1,
            Self::First | Self::Unknown => 0,
        }
    }
}

/// A server may ignore the link to another person, reject it, or move the action. The record and
/// all collections must agree on the result.
async fn moves(cx: &CheckContext) -> Result<(), CheckStop> {
    let able = |(one, _): &(&'static str, &str)| {
        let declared = cx.declared();
        declared.offers_all(one, &["create", "read", "update"]) && declared.links(one, "person")
    };
    let kinds = KINDS.into_iter().filter(able).take(cx.cases(2, 6, 6));
    each!((one, row) in kinds => moved(cx, one, row))
}

async fn moved(cx: &CheckContext, one: &'static str, row: &'static str) -> Result<(), CheckStop> {
    let api = cx.api();
    let Some((kind, under)) = kind(one).and_then(|kind| Some((kind, kind.under?))) else {
        return Ok(());
    };
    let fields = match one {
        "donation" => part(cx, under, &json!({"currency": "EUR"})),
        "attendance" => part(cx, under, &json!({"type": "open"})),
        _ => json!({}),
    };
    let container = api.make(under, &fields).await?;
    let people = [api.person().await?, api.person().await?];
    let [first, _] = &people;
    let own = super::helper_calls::own_fields(cx, one);
    let record = api.act(&container, one, first, &cx.marked(&own)).await?;
    let record = api.reread(&record).await?;
    let container = api.as_read(under, container).await?;
    let counted = kind
        .counted
        .filter(|_| !cx.declared().behaves("totals_follow_later"));
    let counted = counted.and_then(|path| Some((path, container[path].as_f64()?)));
    let action = Action {
        kind,
        row,
        container,
        under,
        counted,
        record,
        people,
    };
    // A move back shows what the first move did not change.
    if action.change(&api, Owner::First, Owner::Second).await? == Owner::Second {
        action.change(&api, Owner::Second, Owner::First).await?;
    }
    Ok(())
}

impl Action {
    fn person(&self, owner: Owner) -> Option<&Representation> {
        self.people.get(owner.index())
    }

    /// Returns the person to which a representation of the action links.
    async fn owner(
        &self,
        api: &CheckClient<'_>,
        record: &Representation,
    ) -> Result<Owner, CheckStop> {
        let person = api.follow(record, "person").await?;
        let [first, second] = &self.people;
        Ok(match () {
            () if is_one(&person, first) => Owner::First,
            () if is_one(&person, second) => Owner::Second,
            () => Owner::Unknown,
        })
    }

    /// Sends an update with a text and the link to another person. Verifies the result, and
    /// returns who has the action.
    async fn change(
        &self,
        api: &CheckClient<'_>,
        from: Owner,
        to: Owner,
    ) -> Result<Owner, CheckStop> {
        let (cx, one) = (api.cx, self.kind.one);
        let before = api.reread(&self.record).await?;
        let target = self.person(to).map(Representation::self_url).transpose()?;
        let text = changeable_text(cx, one).map(|name| (name, json!(cx.unique())));
        let mut body = json!({});
        if let Some((name, value)) = &text {
            put(&mut body, name, value.clone());
        }
        let body = api.linked(&body, "person", &target.unwrap_or_default());
        let answer = api.put(&before.self_url()?, &body).await?;
        let is_done = answer.status == 200;
        cx.must(ids::CRU_16, is_done || answer.status == 400, || {
            format!("another person: {answer}")
        })?;
        let after = api.reread(&before).await?;
        let owner = self.owner(api, &after).await?;
        let is_known = owner == from || (is_done && owner == to);
        cx.must(self.row, is_known, || {
            format!(
                "neither the old nor the new person has {} after {answer}",
                after.short()
            )
        })?;
        let form = match (is_done, owner == to) {
            (false, _) => "is rejected",
            (true, true) => "moves it",
            (true, false) => "is ignored",
        };
        cx.chose("another person of an action", form);
        if is_done {
            let shown = self.owner(api, &answer.record()).await?;
            cx.observe(ids::ERR_15, shown == owner, || {
                format!("{answer}, but a read returns {}", after.short())
            });
        }
        if let Some((name, value)) = text.filter(|_| is_done) {
            cx.observe(ids::CRU_16, after[name] == value, || {
                format!("{name} is not {value} in {} after {answer}", after.short())
            });
        }
        self.listed(api, owner, &after, &answer).await?;
        Ok(owner)
    }

    /// Verifies the collections of both people and of the container, and the total of the
    /// container.
    async fn listed(
        &self,
        api: &CheckClient<'_>,
        owner: Owner,
        record: &Representation,
        answer: &TestResponse,
    ) -> Result<(), CheckStop> {
        let (cx, many) = (api.cx, self.kind.many);
        let (declared, one) = (cx.declared(), self.kind.one);
        let people = [Owner::First, Owner::Second]
            .into_iter()
            .filter_map(|who| Some(("person", self.person(who)?, who == owner)));
        let container = Some((self.under, &self.container, true));
        for (kind, of, has) in people.chain(container) {
            let Some(url) = of.href(many).filter(|_| declared.lists_below(kind, many)) else {
                continue;
            };
            let member = api.find_in(&url, record).await?;
            let row = if kind == "person" {
                self.row
            } else {
                ids::COL_23
            };
            cx.observe(row, member.is_some() == has, || {
                format!(
                    "{many} of {} {} {} after {answer}",
                    of.short(),
                    if has { "do not contain" } else { "contain" },
                    record.short()
                )
            });
            if let Some(member) = member.filter(|_| has) {
                let shown = self.owner(api, &member).await?;
                cx.observe(ids::COL_28, shown == owner, || {
                    format!(
                        "a {one} is {} alone, but {} in a collection",
                        record.short(),
                        member.short()
                    )
                });
            }
            // Other clients may write to a container that was not created by the run.
            let is_own = kind == "person" || declared.makes_alone(self.under);
            if is_own && !declared.behaves("totals_follow_later") {
                let total = api.total(&url).await?;
                cx.observe(ids::COL_23, total == Some(u64::from(has)), || {
                    format!("{} {many} of {} after {answer}", json!(total), of.short())
                });
            }
        }
        if let Some((path, number)) = self.counted
            && let Some(field) = fields::find(self.under, path)
        {
            api.total_is(&[field.row], &self.container, path, number)
                .await?;
        }
        Ok(())
    }
}
