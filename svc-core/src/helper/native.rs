//! What a backend that runs helpers itself need not write again: which person is meant, and which action (HLP-04, UND-24).
//!
//! None of it waits or stores: each function asks the caller, who is inside a transaction of the caller's own.

use std::collections::HashSet;

use super::{MatchKey, Merge, PersonMatching};
use crate::{
    draft::{Draft, RawDraft},
    error::{Error, Problem, Result},
    model::Resource,
    record::{RawRecord, Record},
    value::{Id, Identifier},
};

/// The known person that a posted one is: by its own id, else by the keys of the matching method (HLP-04).
///
/// `find` looks one key up, among the people of the tenant, and gives something by which older people come first, such as
/// their row numbers. The keys are [`MatchKey::Own`] and what `matching` says.
///
/// # Errors
///
/// What `find` returns; and `IdentifierInUse` for an own id that nobody has, unless a stranger sent it.
///
/// # Examples
///
/// ```
/// use svc_core::{Draft, helper::{MatchKey, Merge, StockMatching, recognise}, model::{Person, shared::EmailAddress}};
///
/// let email = EmailAddress { address: Some("Ada@example.org".into()), ..EmailAddress::default() };
/// let posted = Draft::new(&Person { email_addresses: Some(vec![email]), ..Person::default() });
/// let known = recognise(&posted, &StockMatching, Merge::Replace, |key| {
///     // SELECT min(number) FROM customers WHERE company = ... AND lower(email) = ...
///     Ok(matches!(key, MatchKey::Email(email) if email == "ada@example.org").then_some(7))
/// })?;
/// assert_eq!(known, Some(7));
/// # Ok::<(), svc_core::Error>(())
/// ```
pub fn recognise<K: Ord>(
    posted: &RawDraft,
    matching: &dyn PersonMatching,
    merge: Merge,
    mut find: impl FnMut(&MatchKey) -> Result<Option<K>>,
) -> Result<Option<K>> {
    if let Some(own) = &posted.own {
        match find(&MatchKey::Own(own.clone()))? {
            None if merge == Merge::Replace => return Err(Error::invalid(Problem::identifier_in_use("identifiers"))),
            // A stranger does not learn who is known (HLP-07).
            None => {}
            known => return Ok(known),
        }
    }
    oldest(matching.keys(&posted.identifiers, &posted.fields), find)
}

/// What the keys of a matching method find together: the first key decides, and e-mail addresses behind each other together,
/// of which the oldest counts ([`PersonMatching::keys`]).
///
/// # Errors
///
/// What `find` returns.
pub fn oldest<K: Ord, E>(
    keys: Vec<MatchKey>,
    mut find: impl FnMut(&MatchKey) -> Result<Option<K>, E>,
) -> Result<Option<K>, E> {
    let mut oldest: Option<K> = None;
    for key in keys {
        let is_email = matches!(key, MatchKey::Email(_));
        if oldest.is_some() && !is_email {
            break;
        }
        oldest = oldest.into_iter().chain(find(&key)?).min();
        if oldest.is_some() && !is_email {
            break;
        }
    }
    Ok(oldest)
}

/// The identifiers of a known person with those that were posted; `None` when there are no new ones (UND-24).
///
/// `is_taken` says whether a person has an identifier; it is asked for those that the known person does not have.
///
/// # Errors
///
/// What `is_taken` returns; and `IdentifierInUse` for one that another person has, which a stranger is not told.
pub fn join_identifiers(
    known: &[Identifier],
    posted: &[Identifier],
    merge: Merge,
    mut is_taken: impl FnMut(&Identifier) -> Result<bool>,
) -> Result<Option<Vec<Identifier>>> {
    let mut all = known.to_vec();
    // A body may hold very many.
    let stored: HashSet<&Identifier> = known.iter().collect();
    for (place, identifier) in posted.iter().enumerate() {
        if stored.contains(identifier) {
            continue;
        }
        match (is_taken(identifier)?, merge) {
            (false, _) => all.push(identifier.clone()),
            (true, Merge::Fill) => {}
            (true, Merge::Replace) => {
                return Err(Error::invalid(Problem::identifier_in_use(&format!("identifiers[{place}]"))));
            }
        }
    }
    Ok((all.len() > known.len()).then_some(all))
}

/// The action that an earlier try of the same call recorded under the same container: by its own id, or by an
/// identifier (UND-24). With it a retry is safe: change it by [`Draft::repeated_on`] instead of recording a second one.
///
/// `find` looks one key up among the actions of this kind and tenant, whatever their container.
///
/// # Errors
///
/// What `find` returns; and `IdentifierInUse` for each identifier of an action of another container, or of a second one.
pub fn recorded<R: Resource>(
    action: &Draft<R>,
    mut find: impl FnMut(&MatchKey) -> Result<Option<Record<R>>>,
) -> Result<Option<Record<R>>> {
    let mut met = Met::new(action, |record: &Record<R>| record);
    if let Some(own) = &action.own {
        met.own(find(&MatchKey::Own(own.clone()))?);
    }
    for (place, identifier) in action.identifiers.iter().enumerate() {
        met.identifier(place, find(&MatchKey::Identifier(identifier.clone()))?);
    }
    met.recorded()
}

/// What the identifiers of an action have led to so far.
pub(crate) struct Met<T> {
    container: Option<Id>,
    raw: fn(&T) -> &RawRecord,
    recorded: Option<T>,
    problems: Vec<Problem>,
}

impl<T> Met<T> {
    pub(crate) fn new(action: &RawDraft, raw: fn(&T) -> &RawRecord) -> Self {
        let container = action.container().map(|container| container.id.clone());
        Self { container, raw, recorded: None, problems: Vec::new() }
    }

    /// What the action's own identifier leads to: it has to lead to something.
    pub(crate) fn own(&mut self, found: Option<T>) {
        match found {
            None => self.problems.push(Problem::identifier_in_use("identifiers")),
            found => self.meet(found, "identifiers"),
        }
    }

    /// What the foreign identifier at this place leads to.
    pub(crate) fn identifier(&mut self, place: usize, found: Option<T>) {
        self.meet(found, &format!("identifiers[{place}]"));
    }

    /// An action of another container, or a second one under this, is somebody else's.
    fn meet(&mut self, found: Option<T>, property: &str) {
        let Some(found) = found else { return };
        let record = (self.raw)(&found);
        match &self.recorded {
            Some(recorded) if (self.raw)(recorded).meta().id == record.meta().id => {}
            None if record.parent() == self.container.as_ref() => self.recorded = Some(found),
            _ => self.problems.push(Problem::identifier_in_use(property)),
        }
    }

    /// The action that was recorded before.
    pub(crate) fn recorded(self) -> Result<Option<T>> {
        if self.problems.is_empty() { Ok(self.recorded) } else { Err(Error::Invalid(self.problems)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        error::Code,
        helper::StockMatching,
        link::Address,
        model::{Kind, Person, Signature, shared::EmailAddress, signature},
        record::Meta,
        value::{Id, Timestamp},
    };

    fn posted(emails: &[&str], identifiers: &[&str], own: Option<i64>) -> RawDraft {
        let email = |address: &&str| EmailAddress { address: Some((*address).to_owned()), ..EmailAddress::default() };
        let emails = emails.iter().map(email).collect();
        let person = Person { email_addresses: Some(emails), ..Person::default() };
        let identifiers = identifiers.iter().filter_map(|text| Identifier::parse(text)).collect();
        RawDraft { identifiers, own: own.map(Id::from), ..Draft::new(&person).into_raw() }
    }

    /// People 1 to 3: what each is found by.
    #[expect(clippy::unnecessary_wraps, reason = "what looks people up may fail")]
    fn find(key: &MatchKey) -> Result<Option<i64>> {
        Ok(match key {
            MatchKey::Own(id) => id.number().filter(|number| (1..=3).contains(number)),
            MatchKey::Identifier(identifier) => (identifier.as_str() == "a:3").then_some(3),
            MatchKey::Email(email) => ["old@example.org", "new@example.org"]
                .iter()
                .position(|known| known == email)
                .and_then(|place| i64::try_from(place).ok())
                .map(|place| place + 1),
        })
    }

    fn codes<T: std::fmt::Debug>(result: Result<T>) -> Vec<(Code, Vec<String>)> {
        match result.unwrap_err() {
            Error::Invalid(problems) => problems.into_iter().map(|it| (it.code, it.properties)).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn hlp_04_the_own_id_decides_then_identifiers_then_the_oldest_with_an_address() {
        let known = |posted: &RawDraft, merge| recognise(posted, &StockMatching, merge, find);
        let emails = ["new@example.org", "OLD@example.org"];
        assert_eq!(known(&posted(&emails, &[], None), Merge::Replace).unwrap(), Some(1), "the oldest of both");
        assert_eq!(known(&posted(&emails, &["a:3"], None), Merge::Replace).unwrap(), Some(3));
        assert_eq!(known(&posted(&emails, &["a:3"], Some(2)), Merge::Replace).unwrap(), Some(2), "UND-24");
        assert_eq!(known(&posted(&["x@example.org"], &["a:9"], None), Merge::Replace).unwrap(), None);
        let nobody = posted(&emails, &[], Some(9));
        assert_eq!(known(&nobody, Merge::Fill).unwrap(), Some(1), "HLP-07: a stranger does not learn who is known");
        let refused = codes(known(&nobody, Merge::Replace));
        assert_eq!(refused, [(Code::IdentifierInUse, vec!["identifiers".to_owned()])], "UND-24");
    }

    #[test]
    fn und_24_identifiers_are_joined_unless_they_are_somebody_elses() {
        let all = |texts: &[&str]| texts.iter().filter_map(|text| Identifier::parse(text)).collect::<Vec<_>>();
        let join = |posted: &[&str], merge| {
            join_identifiers(&all(&["a:1"]), &all(posted), merge, |identifier| Ok(identifier.as_str() == "b:taken"))
        };
        assert_eq!(join(&["a:1"], Merge::Replace).unwrap(), None);
        assert_eq!(join(&["a:1", "b:2"], Merge::Replace).unwrap(), Some(all(&["a:1", "b:2"])));
        assert_eq!(join(&["b:taken"], Merge::Fill).unwrap(), None, "HLP-07");
        let refused = codes(join(&["b:2", "b:taken"], Merge::Replace));
        assert_eq!(refused, [(Code::IdentifierInUse, vec!["identifiers[1]".to_owned()])]);
    }

    #[test]
    fn und_24_an_action_is_recorded_once_under_its_container() {
        let petition = |number: i64| Address::top(Kind::Petition, number.into());
        let action = |under, identifiers: &[&str]| {
            let identifiers = identifiers.iter().filter_map(|text| Identifier::parse(text)).collect();
            let raw = RawDraft { identifiers, ..RawDraft::empty(Kind::Signature) };
            Draft::<Signature>::from_raw(raw).linked(signature::link::petition, petition(under))
        };
        let known = Record::new(Meta::new(7.into(), Timestamp::from_micros(0)), Signature::default());
        let known = known.link(signature::link::petition, petition(1));
        let find = |key: &MatchKey| {
            Ok(matches!(key, MatchKey::Identifier(it) if it.as_str() == "web:1").then(|| known.clone()))
        };
        let found = recorded(&action(1, &["web:0", "web:1"]), find).unwrap();
        assert_eq!(found.map(|record| record.meta().id.clone()), Some(Id::from(7)));
        assert_eq!(recorded(&action(1, &["web:2"]), find).unwrap().map(|record| record.address()), None);
        let refused = codes(recorded(&action(2, &["web:1"]), find));
        assert_eq!(refused, [(Code::IdentifierInUse, vec!["identifiers[0]".to_owned()])]);
        let again = action(1, &["web:1", "web:2"]).repeated_on(&known, Timestamp::from_micros(0));
        assert_eq!(again.identifiers.as_ref().map(Vec::len), Some(2));
    }
}
