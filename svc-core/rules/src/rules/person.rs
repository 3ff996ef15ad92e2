//! Matches a posted person with an existing one, and merges the two.
//!
//! Requirements: CAP-04, HLP-04, UND-24.

use std::{borrow::Cow, cmp::Ordering, collections::HashSet};

use super::{CreateOptions, RuleContext, RuleResult, check, create::other_people};
use crate::{
    draft::{Draft, RawDraft, RawPatch},
    error::{Error, Problem, PropertyPath, Result},
    helper::{MatchKey, MergePolicy, OmittedEntries, PersonMatching, fit_entries, merge_fitting},
    json::Object,
    model::{Kind, Person},
    schema::Constraints,
    store::{LookupKey, RecordLocation, StoredRecord},
    value::{Id, Identifier, email_notations, forms},
};

/// Returns the person that a part of a request posts: an existing one after the merge, or a new one
/// (`true`). Entries that do not fit into the lists of the person are omitted with a warning.
pub(super) fn recognise(
    context: &mut RuleContext<'_>,
    posted: &RawDraft,
    merge: MergePolicy,
    part: &PropertyPath,
) -> RuleResult<(StoredRecord, bool)> {
    let mut omitted = Vec::new();
    let found = match find_match(context, posted, merge) {
        Ok(Some(known)) if merge == MergePolicy::KeepExisting => Ok((known, false)),
        Ok(Some(known)) => {
            merge_into(context, known, posted, merge, &mut omitted).map(|known| (known, false))
        }
        Ok(None) => create_fitting(context, posted, &mut omitted),
        Err(pause) => Err(pause),
    };
    let warnings = omitted.into_iter().map(Problem::from);
    context
        .omitted
        .extend(warnings.map(|warning| warning.within(part)));
    found.map_err(|pause| pause.within(part))
}

/// Creates a posted person with the entries that fit into its lists.
fn create_fitting(
    context: &mut RuleContext<'_>,
    posted: &RawDraft,
    omitted: &mut Vec<OmittedEntries>,
) -> RuleResult<(StoredRecord, bool)> {
    let mut posted = Cow::Borrowed(posted);
    if !context.call.person_constraints.is_empty() {
        let constraints = &context.call.person_constraints;
        omitted.extend(fit_entries(&mut posted.to_mut().fields, constraints));
    }
    context.create(&posted, &CreateOptions::default())
}

/// Returns the existing person that matches: by its own id, otherwise by the keys of the matching
/// method.
///
/// Requirements: HLP-04.
pub(super) fn find_match(
    context: &mut RuleContext<'_>,
    posted: &RawDraft,
    merge: MergePolicy,
) -> RuleResult<Option<StoredRecord>> {
    if merge == MergePolicy::AlwaysCreate {
        return Ok(None);
    }
    if let Some(own) = &posted.own {
        match context
            .ledger
            .record(&LookupKey::Id(Kind::Person, own.clone()))?
        {
            None => return Err(own_identifier_not_found().into()),
            Some(known) => {
                // They follow the own one.
                let others = posted.identifiers.len().saturating_add(1);
                let namespace = &context.call.namespace;
                check(other_people(
                    namespace,
                    &posted.further_own,
                    others,
                    &[&known.record],
                ))?;
                return Ok(Some(known));
            }
        }
    }
    let keys = context
        .turn
        .person_matching
        .keys(&posted.identifiers, &posted.fields);
    // Only the matching person is read in full, because a body can contain many keys.
    match decided_by(keys, RecordLocation::by_age, |key| {
        context.ledger.find(&person_key(key))
    })? {
        Some(found) => context
            .ledger
            .record(&LookupKey::Id(Kind::Person, found.id)),
        None => Ok(None),
    }
}

/// Returns the lookup key for a key of the matching method.
pub(super) fn person_key(key: &MatchKey) -> LookupKey {
    match key {
        MatchKey::Identifier(identifier) => LookupKey::Identifier(Kind::Person, identifier.clone()),
        MatchKey::Email(address) => LookupKey::Email(address.clone()),
    }
}

/// Returns the match of the first key that finds a person. Consecutive e-mail addresses count as
/// one key, and the oldest person with any of them matches ([`PersonMatching::keys`]).
fn decided_by<T, E>(
    keys: Vec<MatchKey>,
    by_age: impl Fn(&T, &T) -> Ordering,
    mut find: impl FnMut(&MatchKey) -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    let mut oldest: Option<T> = None;
    for key in keys {
        let is_email = matches!(key, MatchKey::Email(_));
        if oldest.is_some() && !is_email {
            break;
        }
        oldest = oldest.into_iter().chain(find(&key)?).min_by(&by_age);
        if oldest.is_some() && !is_email {
            break;
        }
    }
    Ok(oldest)
}

fn own_identifier_not_found() -> Error {
    Error::invalid(Problem::own_identifier_in_use())
}

fn merge_into(
    context: &mut RuleContext<'_>,
    known: StoredRecord,
    posted: &RawDraft,
    merge: MergePolicy,
    omitted: &mut Vec<OmittedEntries>,
) -> RuleResult<StoredRecord> {
    let before = context.fields(&known.record)?;
    let sent = posted.fields_without_defaults();
    let constraints = &context.call.person_constraints;
    let fields = merged_fields(&before, &sent, merge, constraints, omitted);
    let has = known.record.meta().identifiers.to_vec();
    let (identifiers, mut problems) = joined(&has, &posted.identifiers, merge, |identifier| {
        let owner = context
            .ledger
            .find(&LookupKey::Identifier(Kind::Person, identifier.clone()));
        owner.map(|owner| owner.is_some())
    })?;
    // A request without new data changes nothing.
    // Requirements: HLP-04.
    if problems.is_empty() && identifiers.is_none() && fields.is_empty() {
        return Ok(known);
    }
    let mut patch = RawPatch::new(Kind::Person, fields);
    patch.identifiers = identifiers;
    if !problems.is_empty() {
        let (_, mut rules) = patch.applied_to(&before, context.call.received_at);
        rules.append(&mut problems);
        problems = rules;
    }
    check(problems)?;
    context.update(known, &before, &patch)
}

/// Returns the fields that a merge changes.
///
/// Requirements: HLP-04.
fn merged_fields(
    before: &Object,
    posted: &Object,
    merge: MergePolicy,
    constraints: &Constraints,
    omitted: &mut Vec<OmittedEntries>,
) -> Object {
    let mut after = before.clone();
    omitted.extend(merge_fitting(&mut after, posted, merge, constraints));
    after.retain(|name, value| before.get(name) != Some(value));
    after
}

/// Returns the identifiers of an existing person together with the posted ones, or `None` if there
/// are no new ones. Also returns a problem for each identifier of another person. Posted
/// identifiers only count with [`MergePolicy::Replace`].
///
/// Requirements: UND-24.
fn joined<E>(
    known: &[Identifier],
    posted: &[Identifier],
    merge: MergePolicy,
    mut is_taken: impl FnMut(&Identifier) -> Result<bool, E>,
) -> Result<(Option<Vec<Identifier>>, Vec<Problem>), E> {
    let (mut all, mut problems) = (known.to_vec(), Vec::new());
    let posted = if merge == MergePolicy::Replace {
        posted
    } else {
        &[]
    };
    // A body can contain very many identifiers.
    let stored: HashSet<&Identifier> = known.iter().collect();
    for (place, identifier) in posted.iter().enumerate() {
        if stored.contains(identifier) {
            continue;
        }
        if is_taken(identifier)? {
            problems.push(Problem::identifier_in_use(place));
        } else {
            all.push(identifier.clone());
        }
    }
    Ok(((all.len() > known.len()).then_some(all), problems))
}

/// The lookup of an existing person that matches a posted one, for implementations of vendors.
///
/// It takes two steps, and neither performs I/O. Fetch the candidates with one query, then call
/// [`resolve`](Self::resolve).
///
/// # Examples
///
/// ```
/// use svc_core::{Draft, helper::{MergePolicy, DefaultMatching}, rules::{PersonCandidate, PersonLookup}, model::{Person, shared::EmailAddress}};
///
/// let email = EmailAddress::default().address("Ada@example.org");
/// let posted = Draft::new(&Person::default().email_addresses([email]));
///
/// let lookup = PersonLookup::from_draft(&posted, &DefaultMatching);
/// // SELECT number, lower(email) FROM customers WHERE company = $1 AND lower(email) = ANY($2)
/// assert_eq!(lookup.emails(), ["ada@example.org"]);
/// let found = vec![PersonCandidate::new(7, 7.into()).with_email("ada@example.org")];
///
/// let matched = lookup.resolve(&found, MergePolicy::Replace)?;
/// assert_eq!(matched.map(|matched| matched.key), Some(7));
/// # Ok::<(), svc_core::Error>(())
/// ```
///
/// Requirements: HLP-04, UND-24.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PersonLookup {
    own: Option<Id>,
    posted: Vec<Identifier>,
    keys: Vec<MatchKey>,
}

impl PersonLookup {
    /// Creates the lookup for a posted person.
    #[must_use]
    pub fn from_draft(posted: &Draft<Person>, matching: &dyn PersonMatching) -> Self {
        let posted = posted.as_raw();
        let keys = matching.keys(&posted.identifiers, &posted.fields);
        Self {
            own: posted.own.clone(),
            posted: posted.identifiers.clone(),
            keys,
        }
    }

    /// Returns the id from an identifier in the server's own namespace.
    #[must_use]
    pub fn own_id(&self) -> Option<&Id> {
        self.own.as_ref()
    }

    /// Returns the foreign identifiers: those used for matching, and those that may be in use by
    /// another person.
    #[must_use]
    pub fn identifiers(&self) -> &[Identifier] {
        &self.posted
    }

    /// Returns the e-mail addresses to look up in lower case, each in the
    /// [notations](email_notations) in which a person can have it.
    #[must_use]
    pub fn emails(&self) -> Vec<String> {
        let notations = |key: &MatchKey| match key {
            MatchKey::Email(address) => email_notations(address),
            MatchKey::Identifier(_) => Vec::new(),
        };
        let mut all: Vec<String> = Vec::new();
        for notation in self.keys.iter().flat_map(notations) {
            if !all.contains(&notation) {
                all.push(notation);
            }
        }
        all
    }

    /// Returns the person that matches, or `None` for a new person.
    ///
    /// `people` contains everyone with the own id, one of the identifiers, or one of the addresses.
    /// The person that an anonymous caller posts matches by address only, because its
    /// [`HelperRequest`](crate::helper::HelperRequest) has no identifiers.
    ///
    /// # Errors
    ///
    /// `IdentifierInUse` for an own id that no person has. With [`MergePolicy::Replace`], also for
    /// each identifier of another person.
    pub fn resolve<K: Ord + Clone>(
        &self,
        people: &[PersonCandidate<K>],
        merge: MergePolicy,
    ) -> Result<Option<MatchedPerson<K>>> {
        if merge == MergePolicy::AlwaysCreate {
            return Ok(None);
        }
        let own = match &self.own {
            Some(own) => match people.iter().find(|person| person.id == *own) {
                None => return Err(own_identifier_not_found()),
                own => own,
            },
            None => None,
        };
        let by_age =
            |one: &&PersonCandidate<K>, other: &&PersonCandidate<K>| one.key.cmp(&other.key);
        let matched = decided_by(self.keys.clone(), by_age, |key| {
            Ok::<_, Error>(
                people
                    .iter()
                    .filter(|person| person.has(key))
                    .min_by(by_age),
            )
        })?;
        let Some(person) = own.or(matched) else {
            return Ok(None);
        };
        let (_, problems) = joined(&person.identifiers, &self.posted, merge, |identifier| {
            Ok::<_, Error>(
                people
                    .iter()
                    .any(|other| other.identifiers.contains(identifier)),
            )
        })?;
        check(problems)?;
        let is_free = |it: &&Identifier| {
            merge == MergePolicy::Replace
                && !people.iter().any(|person| person.identifiers.contains(it))
        };
        let new_identifiers = self.posted.iter().filter(is_free).cloned().collect();
        Ok(Some(MatchedPerson {
            key: person.key.clone(),
            new_identifiers,
        }))
    }
}

/// A person that may match the posted one, with all requested identifiers and addresses of that
/// person.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PersonCandidate<K> {
    key: K,
    id: Id,
    identifiers: Vec<Identifier>,
    emails: Vec<String>,
}

impl<K> PersonCandidate<K> {
    /// Creates a candidate. `key` identifies the person in the vendor's database, for example by
    /// row number. It must be smaller for older people. `id` is the id in addresses.
    pub fn new(key: K, id: Id) -> Self {
        Self {
            key,
            id,
            identifiers: Vec::new(),
            emails: Vec::new(),
        }
    }

    /// Adds an e-mail address, in any spelling.
    #[must_use]
    pub fn with_email(mut self, address: &str) -> Self {
        self.emails.push(forms::match_form(address).into_owned());
        self
    }

    /// Adds a foreign identifier.
    #[must_use]
    pub fn with_identifier(mut self, identifier: Identifier) -> Self {
        self.identifiers.push(identifier);
        self
    }

    fn has(&self, key: &MatchKey) -> bool {
        match key {
            MatchKey::Identifier(identifier) => self.identifiers.contains(identifier),
            MatchKey::Email(address) => self.emails.contains(address),
        }
    }
}

/// The existing person that matches the posted one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatchedPerson<K> {
    /// The vendor's own key of the person.
    pub key: K,
    /// The posted identifiers that no person has yet.
    pub new_identifiers: Vec<Identifier>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{error::ErrorCode, helper::DefaultMatching, model::shared::EmailAddress};

    fn all(texts: &[&str]) -> Vec<Identifier> {
        texts
            .iter()
            .filter_map(|text| Identifier::parse(text))
            .collect()
    }

    fn lookup(emails: &[&str], identifiers: &[&str], own: Option<i64>) -> PersonLookup {
        let email = |address: &&str| EmailAddress::default().address(*address);
        let person =
            Person::default().email_addresses(emails.iter().map(email).collect::<Vec<_>>());
        let mut posted = Draft::new(&person).into_raw();
        posted.identifiers = all(identifiers);
        posted.own = own.map(Id::from);
        PersonLookup::from_draft(&Draft::from_raw(posted), &DefaultMatching)
    }

    /// People 1 to 3, not in order. Their addresses have mixed case.
    fn people() -> Vec<PersonCandidate<i64>> {
        let person = |number: i64| PersonCandidate::new(number, number.into());
        let [a, b] = [
            Identifier::parse("a:3").unwrap(),
            Identifier::parse("b:1").unwrap(),
        ];
        vec![
            person(3).with_identifier(a),
            person(2).with_email("New@example.org"),
            person(1).with_email("old@Example.org").with_identifier(b),
        ]
    }

    fn refused<T: std::fmt::Debug>(result: Result<T>) -> Vec<(ErrorCode, Vec<String>)> {
        let problems = result.unwrap_err().into_problems().unwrap();
        problems
            .into_iter()
            .map(|it| {
                (
                    it.code,
                    it.properties.iter().map(ToString::to_string).collect(),
                )
            })
            .collect()
    }

    #[test]
    fn hlp_04_a_posted_person_is_looked_up_by_all_that_decides() {
        let wanted = lookup(&[" Old@example.org", "new@example.org"], &["a:3"], Some(2));
        assert_eq!(wanted.own_id(), Some(&2.into()));
        assert_eq!(wanted.identifiers(), all(&["a:3"]));
        assert_eq!(wanted.emails(), ["old@example.org", "new@example.org"]);
    }

    #[test]
    fn hlp_04_the_own_id_decides_then_identifiers_then_the_oldest_with_an_address() {
        let known = |wanted: &PersonLookup, merge| {
            wanted
                .resolve(&people(), merge)
                .map(|known| known.map(|it| it.key))
        };
        let emails = ["new@example.org", "OLD@example.org"];
        assert_eq!(
            known(&lookup(&emails, &[], None), MergePolicy::Replace).unwrap(),
            Some(1),
            "the older of the two"
        );
        assert_eq!(
            known(&lookup(&emails, &["a:3"], None), MergePolicy::Replace).unwrap(),
            Some(3)
        );
        assert_eq!(
            known(&lookup(&emails, &[], Some(2)), MergePolicy::Replace).unwrap(),
            Some(2),
            "UND-24"
        );
        assert_eq!(
            known(
                &lookup(&["x@example.org"], &["a:9"], None),
                MergePolicy::Replace
            )
            .unwrap(),
            None
        );
        assert_eq!(
            known(&lookup(&emails, &[], None), MergePolicy::AlwaysCreate).unwrap(),
            None,
            "an anonymous caller whose person is never matched"
        );
        let unknown_own_id = lookup(&emails, &[], Some(9));
        let told = refused(known(&unknown_own_id, MergePolicy::Replace));
        assert_eq!(
            told,
            [(ErrorCode::IdentifierInUse, vec!["identifiers".to_owned()])],
            "UND-24"
        );
    }

    #[test]
    fn und_24_identifiers_are_joined_unless_they_are_somebody_elses() {
        let join = |posted: &[&str], merge| lookup(&[], posted, Some(1)).resolve(&people(), merge);
        let new = |known: Option<MatchedPerson<i64>>| {
            known.map(|known| (known.key, known.new_identifiers))
        };
        assert_eq!(
            new(join(&["b:1"], MergePolicy::Replace).unwrap()),
            Some((1, Vec::new()))
        );
        assert_eq!(
            new(join(&["b:1", "b:2"], MergePolicy::Replace).unwrap()),
            Some((1, all(&["b:2"])))
        );
        assert_eq!(
            new(join(&["a:3", "b:2"], MergePolicy::KeepExisting).unwrap()),
            Some((1, Vec::new())),
            "HLP-07"
        );
        let told = refused(join(&["b:2", "a:3"], MergePolicy::Replace));
        assert_eq!(
            told,
            [(
                ErrorCode::IdentifierInUse,
                vec!["identifiers[1]".to_owned()]
            )]
        );
    }
}
