//! What the donations of a page come to, in exact decimals (RES-fundraising_page-10).

use rusqlite::OptionalExtension;
use svc_core::{
    error::{Code, Problem, Result},
    model::Kind,
    read::{Json, Object},
    value::Amount,
};

use crate::{record_id::RecordId, schema::table, session::Session, totals::Sum};

/// The currency of a page or a donation; empty when it names none.
pub(crate) fn currency(fields: &Object) -> String {
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

impl Session<'_> {
    /// Adds to a page's sum what a donation comes to now, and takes away what it came to before.
    pub(crate) fn settle_donation(
        &mut self,
        page: RecordId,
        before: Option<&Object>,
        after: Option<&Object>,
    ) -> Result<()> {
        let (before, after) = (contribution(before), contribution(after));
        if before == after {
            return Ok(());
        }
        let add: fn(Amount, Amount) -> Option<Amount> = Amount::checked_add;
        for (change, apply) in [(before, Amount::checked_sub as fn(Amount, Amount) -> Option<Amount>), (after, add)] {
            let Some((currency, amount)) = change else { continue };
            let mut part = self.part(page, &currency)?;
            let Some(sum) = apply(part.amount, amount) else {
                self.too_many_digits();
                return Ok(());
            };
            part.amount = sum;
            self.set_part(page, &currency, part)?;
        }
        let currency: Option<Option<String>> = self
            .file
            .prepare_cached("SELECT currency FROM fundraising_pages WHERE tenant = ?1 AND id = ?2")?
            .query_row((self.tenant, page), |row| row.get(0))
            .optional()?;
        self.sum_up(page, &currency.flatten().unwrap_or_default())
    }

    /// Sums a page up in its currency; what names no currency counts as equal.
    pub(crate) fn sum_up(&mut self, page: RecordId, currency: &str) -> Result<()> {
        let mut amount = Some(Amount::ZERO);
        for (name, part) in self.parts(page)? {
            if currency.is_empty() || name.is_empty() || name == currency {
                amount = amount.and_then(|sum| sum.checked_add(part.amount));
            }
        }
        let Some(amount) = amount else {
            self.too_many_digits();
            return Ok(());
        };
        self.set_sum(table(Kind::Donation), table(Kind::FundraisingPage), page, Sum { amount, ..Sum::default() })
    }

    fn too_many_digits(&mut self) {
        let text = "With this amount the page's sum has too many digits.";
        self.problem(Problem::new(Code::FieldInvalid, "amount", text));
    }
}
