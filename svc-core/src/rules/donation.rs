//! What the donations of a page come to, in exact decimals (RES-fundraising_page-10).

use std::collections::BTreeMap;

use super::{Asked, Case};
use crate::{
    error::Error,
    json::{Json, Object},
    model::Kind,
    store::{Change, Key, Stored, Sum},
    value::{Amount, Id},
};

/// The currency of a page or a donation; empty when it names none.
fn currency(fields: &Object) -> String {
    fields.get("currency").and_then(Json::as_str).unwrap_or_default().to_ascii_uppercase()
}

/// What a donation adds: nothing when it is voided.
fn contribution(donation: Option<&Object>) -> Option<(String, Amount)> {
    let fields = donation?;
    if fields.get("voided").and_then(Json::as_bool) == Some(true) {
        return None;
    }
    Some((currency(fields), Amount::parse(fields.get("amount")?.as_number()?.as_str())?))
}

impl Case<'_> {
    /// Adds to a page's sum what a donation comes to now, and takes away what it came to before.
    pub(super) fn settle_donation(&mut self, page: &Id, before: Option<&Object>, after: Option<&Object>) -> Asked<()> {
        let (before, after) = (contribution(before), contribution(after));
        if before == after {
            return Ok(());
        }
        let stored = self.ledger.record(&Key::Id(Kind::FundraisingPage, page.clone()))?;
        let stored = stored.ok_or_else(|| Error::unexpected("a donation without its page"))?;
        let of_page = currency(&self.fields(&stored.record)?);
        let mut parts = self.ledger.parts(Kind::FundraisingPage, page)?;
        let mut changed = BTreeMap::new();
        let steps = [(before, Amount::minus as fn(Amount, Amount) -> Amount), (after, Amount::plus)];
        for (change, apply) in steps {
            let Some((currency, amount)) = change else { continue };
            let part = parts.entry(currency.clone()).or_default();
            part.amount = apply(part.amount, amount);
            changed.insert(currency, *part);
        }
        let amount = sum_up(&parts, &of_page);
        self.ledger.note(&stored);
        let of = (Kind::FundraisingPage, page.clone());
        for (name, sum) in changed {
            self.ledger.change(Change::SetPart { of: of.clone(), name, sum });
        }
        self.ledger.change(set_sum(of, amount));
        Ok(())
    }

    /// Sums a page up anew when its currency is another one.
    pub(super) fn change_currency(&mut self, page: &mut Stored, before: &Object, after: &Object) -> Asked<()> {
        let now = currency(after);
        if currency(before) == now {
            return Ok(());
        }
        let id = page.record.meta().id.clone();
        let parts = self.ledger.parts(Kind::FundraisingPage, &id)?;
        let amount = sum_up(&parts, &now);
        page.record.set_sum(Kind::Donation, Sum { amount, ..Sum::default() });
        self.ledger.change(set_sum((Kind::FundraisingPage, id), amount));
        Ok(())
    }
}

/// What the parts of a page come to in its currency; what names no currency counts as equal.
fn sum_up(parts: &BTreeMap<String, Sum>, currency: &str) -> Amount {
    let counted = parts.iter().filter(|(name, _)| currency.is_empty() || name.is_empty() || *name == currency);
    counted.map(|(_, part)| part.amount).fold(Amount::ZERO, Amount::plus)
}

fn set_sum(of: (Kind, Id), amount: Amount) -> Change {
    Change::SetSum { of, members: Kind::Donation, sum: Sum { amount, ..Sum::default() } }
}
