//! Rules for amounts of money and their currency.

use crate::{
    error::{ErrorCode, Problem, PropertyPath},
    json::{Json, Number, Object},
    value::{currency, minor_digits},
};

/// Returns the currency of an object with the member `currency`, if it is in the list of ISO 4217.
#[must_use]
pub fn currency_of(object: &Object) -> Option<&'static str> {
    object.get("currency")?.as_str().and_then(currency)
}

/// Returns the objects in a list, with their paths.
pub fn elements<'a>(
    object: &'a Object,
    list: &'static str,
) -> impl Iterator<Item = (PropertyPath, &'a Object)> {
    let items = object.get(list).and_then(Json::as_array).into_iter();
    let items = items.flatten().enumerate();
    items.filter_map(move |(place, item)| {
        Some((
            PropertyPath::member(list).push_index(place),
            item.as_object()?,
        ))
    })
}

/// Returns the problem of an amount that has more digits after the decimal point than its currency.
/// `at` is the path of the object with the amount.
#[must_use]
pub fn excess_digits(
    at: &PropertyPath,
    object: &Object,
    member: &'static str,
    currency: &str,
) -> Option<Problem> {
    let amount = object
        .get(member)?
        .as_number()
        .and_then(Number::as_amount)?;
    let digits = minor_digits(currency)?;
    if amount.fits_digits(digits) {
        return None;
    }
    let allowed = match digits {
        0 => "no digits".to_owned(),
        digits => format!("at most {digits} digits"),
    };
    let text = format!(
        "{{property}} must have {allowed} after the decimal point in {currency}, but is {amount}."
    );
    let property = at.clone().push_member(member);
    Some(Problem::new(ErrorCode::FieldInvalid, property, text))
}

/// Returns a problem for each amount of a donation that has more digits after the decimal point than
/// the currency.
///
/// Requirements: RES-donation-03, RES-donation-04, RES-donation-10.
#[must_use]
pub fn wrong_amounts(donation: &Object, currency: &str) -> Vec<Problem> {
    let start = PropertyPath::default();
    let own = ["amount", "credited_amount"]
        .into_iter()
        .filter_map(|member| excess_digits(&start, donation, member, currency));
    let recipients = elements(donation, "recipients")
        .filter_map(|(at, recipient)| excess_digits(&at, recipient, "amount", currency));
    own.chain(recipients).collect()
}
