//! The totals of the donations of a page, in exact decimals.
//!
//! Requirements: RES-fundraising_page-09, RES-fundraising_page-10.

use std::collections::BTreeMap;

use super::{RuleContext, RuleResult};
use crate::{
    error::Error,
    json::{Json, Object},
    model::Kind,
    store::{Change, LookupKey, StoredRecord, Totals},
    value::{Amount, Id},
};

/// Returns the currency of a page or a donation, or an empty string if it has none.
pub(super) fn currency(fields: &Object) -> String {
    fields
        .get("currency")
        .and_then(Json::as_str)
        .unwrap_or_default()
        .to_ascii_uppercase()
}

/// Returns what a donation adds to the totals of its page, with its currency. A voided donation
/// adds nothing.
pub(super) fn contribution(donation: Option<&Object>) -> Option<(String, Totals)> {
    let fields =
        donation.filter(|fields| fields.get("voided").and_then(Json::as_bool) != Some(true))?;
    let amount = fields
        .get("amount")
        .and_then(Json::as_number)
        .and_then(|amount| Amount::parse(amount.as_str()));
    Some((
        currency(fields),
        Totals::new(0, 1, amount.unwrap_or(Amount::ZERO)),
    ))
}

impl RuleContext<'_> {
    /// Updates the totals of a page when one of its donations changes.
    pub(super) fn apply_donation(
        &mut self,
        page: &Id,
        before: Option<&Object>,
        after: Option<&Object>,
    ) -> RuleResult<()> {
        let (before, after) = (contribution(before), contribution(after));
        if before == after {
            return Ok(());
        }
        let stored = self
            .ledger
            .record(&LookupKey::Id(Kind::FundraisingPage, page.clone()))?;
        let stored = stored.ok_or_else(|| Error::unexpected("a donation without its page"))?;
        let of_page = currency(&self.fields(&stored.record)?);
        let mut parts = self.ledger.parts(Kind::FundraisingPage, page)?;
        let mut changed = BTreeMap::new();
        for (change, apply) in [
            (before, Totals::minus as fn(Totals, Totals) -> Totals),
            (after, Totals::plus),
        ] {
            let Some((currency, sum)) = change else {
                continue;
            };
            let part = parts.entry(currency.clone()).or_default();
            *part = apply(*part, sum);
            changed.insert(currency, *part);
        }
        let sum = sum_up(&parts, &of_page);
        self.ledger.note(&stored);
        let of = (Kind::FundraisingPage, page.clone());
        for (name, sum) in changed {
            self.ledger.change(Change::SetPartTotals {
                of: of.clone(),
                name,
                sum,
            });
        }
        self.ledger.change(Change::SetTotals {
            of,
            members: Kind::Donation,
            sum,
        });
        Ok(())
    }

    /// Recomputes the totals of a page when its currency changes.
    pub(super) fn change_currency(
        &mut self,
        page: &mut StoredRecord,
        before: &Object,
        after: &Object,
    ) -> RuleResult<()> {
        let now = currency(after);
        if currency(before) == now {
            return Ok(());
        }
        let id = page.record.meta().id.clone();
        let sum = sum_up(&self.ledger.parts(Kind::FundraisingPage, &id)?, &now);
        sum.show_on(&mut page.record, Kind::Donation);
        self.ledger.change(Change::SetTotals {
            of: (Kind::FundraisingPage, id),
            members: Kind::Donation,
            sum,
        });
        Ok(())
    }
}

/// Returns the totals of a page in its currency. Amounts without a currency count as well.
pub(super) fn sum_up(parts: &BTreeMap<String, Totals>, currency: &str) -> Totals {
    let counted = parts
        .iter()
        .filter(|(name, _)| currency.is_empty() || name.is_empty() || *name == currency);
    counted
        .map(|(_, part)| *part)
        .fold(Totals::default(), Totals::plus)
}
