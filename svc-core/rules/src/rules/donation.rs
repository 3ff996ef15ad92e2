//! The currency of a fundraising page, which its donations have.
//!
//! Requirements: RES-donation-06, RES-fundraising_page-11.

use super::{RuleContext, RuleResult, measures::Contribution};
use crate::{
    draft::RawDraft,
    error::{Error, ErrorCode, Problem},
    json::{Json, Object},
    link::ShareNames,
    model::Kind,
    record::RawRecord,
    schema::{currency_of, new_problems, wrong_amounts},
    store::{Change, LookupKey},
    value::Id,
};

/// The measure that counts the donations in a currency.
const DONATIONS: &str = "total_donations";

/// Returns whether the two states of a donation differ in an amount or the currency.
pub(super) fn changes_money(before: &Object, after: &Object) -> bool {
    ["amount", "credited_amount", "currency", "recipients"]
        .iter()
        .any(|name| before.get(name) != after.get(name))
}

/// Returns the problems of a new donation in a backend of single operations. There are none if its
/// page cannot be read.
///
/// # Errors
///
/// Returns an error if the fields of the page cannot be read.
///
/// Requirements: RES-donation-06.
pub fn wrong_donation(page: Option<&RawRecord>, draft: &RawDraft) -> Result<Vec<Problem>, Error> {
    let Some(page) = page.filter(|_| draft.kind == Kind::Donation) else {
        return Ok(Vec::new());
    };
    let page = page.to_fields(&ShareNames::default())?;
    Ok(currency_of(&page).map_or_else(Vec::new, |currency| wrong_money(&draft.fields, currency)))
}

/// Returns the problems of a donation to a page with a currency.
fn wrong_money(donation: &Object, currency: &str) -> Vec<Problem> {
    match currency_of(donation) {
        None => wrong_amounts(donation, currency),
        Some(own) if own == currency => Vec::new(),
        Some(own) => {
            let text = format!(
                "{{property}} must be {currency}, the currency of the fundraising page or of its donations, but is {own}."
            );
            let problem = Problem::new(ErrorCode::FieldInvalid, "currency", text);
            vec![problem.with_hint(currency)]
        }
    }
}

impl RuleContext<'_> {
    /// Returns the problems of a new donation, as [`wrong_donation`].
    pub(super) fn wrong_donation_in_step(&mut self, draft: &RawDraft) -> RuleResult<Vec<Problem>> {
        let page = draft.container().filter(|_| draft.kind == Kind::Donation);
        let Some(page) = page.map(LookupKey::from) else {
            return Ok(Vec::new());
        };
        let page = self.ledger.record(&page)?;
        Ok(wrong_donation(
            page.as_ref().map(|page| &page.record),
            draft,
        )?)
    }

    /// Checks the currency and the amounts of a donation, and adds it to the totals of its page. A page
    /// without a currency takes that of its first donation.
    ///
    /// A page from an earlier version can have donations in several currencies and none of its own.
    /// It has no currency until a client sets one.
    pub(super) fn apply_donation(
        &mut self,
        page: &Id,
        before: Option<&Object>,
        after: &Object,
        problems: &mut Vec<Problem>,
    ) -> RuleResult<()> {
        let kind = Kind::FundraisingPage;
        let stored = self.container(kind, page)?;
        let mut fields = self.fields(&stored.record)?;
        let currencies = match currency_of(&fields) {
            Some(currency) => vec![currency.to_owned()],
            None => self.currencies(page, before)?,
        };
        if let [currency] = currencies.as_slice() {
            let before = before.map(|before| wrong_money(before, currency));
            problems.extend(new_problems(wrong_money(after, currency), before));
        }
        let takes_currency = !fields.contains("currency")
            && currencies.len() < 2
            && before.and_then(currency_of) != currency_of(after);
        let taken = currency_of(after).filter(|_| takes_currency);
        if let Some(currency) = taken {
            fields.insert("currency", Json::from(currency));
        }
        let had = Contribution::of(kind, Kind::Donation, before);
        let has = Contribution::of(kind, Kind::Donation, Some(after));
        self.change_totals(&stored, &fields, &had, &has)?;
        if taken.is_some() {
            self.ledger.note(&stored);
            let fields = self.names().wire_members(&fields);
            self.ledger.change(Change::SetFields {
                at: stored.at(),
                fields,
            });
        }
        Ok(())
    }

    /// Moves a donation from the totals of its page to those of another page, whose currency it must
    /// have.
    ///
    /// Requirements: CRU-16, RES-donation-06.
    pub(super) fn move_donation(
        &mut self,
        donation: &RawRecord,
        page: Option<&Id>,
        before: &Object,
        after: &Object,
        problems: &mut Vec<Problem>,
    ) -> RuleResult<()> {
        self.measure(donation, Some(before), None)?;
        match page {
            Some(page) => self.apply_donation(page, None, after, problems),
            None => Ok(()),
        }
    }

    /// Returns the currencies of the donations that count on a page, without the changed one.
    fn currencies(&mut self, page: &Id, changed: Option<&Object>) -> RuleResult<Vec<String>> {
        let parts = self.ledger.parts(Kind::FundraisingPage, page)?;
        let own = changed.filter(|donation| donation.get("voided") != Some(&Json::Bool(true)));
        let own = own.and_then(currency_of);
        let counted = parts.into_iter().filter(|(currency, part)| {
            let least = i64::from(own == Some(currency));
            !currency.is_empty() && part.count(DONATIONS) > least
        });
        Ok(counted.map(|(currency, _)| currency).collect())
    }
}
