//! Whether a posted person or action is one that is known already (HLP-04, UND-24).

use std::collections::HashSet;

use super::Composed;
use crate::{
    context::Context,
    draft::{RawDraft, RawPatch},
    error::{Error, Problem, Result},
    helper::{EntryStatus, MatchKey, Merge, RawOutcome, merge_person, native::Met},
    link::{Address, ShareNames},
    model::Kind,
    ops::FindKey,
    record::RawRecord,
    value::Identifier,
};

impl Composed<'_> {
    /// The known person, merged, or a new one (HLP-04).
    pub(super) async fn person(
        &self,
        cx: &Context,
        mut draft: RawDraft,
        anonymous: bool,
        outcome: &mut RawOutcome,
    ) -> Result<RawRecord> {
        let merge = if anonymous { Merge::Fill } else { Merge::Replace };
        let Some(known) = self.known(cx, &mut draft, merge).await? else {
            let (record, status) = self.create(cx, draft).await?;
            outcome.entry(Kind::Person, status);
            return Ok(record);
        };
        outcome.entry(Kind::Person, EntryStatus::Existing);
        let before = known.fields_object(&ShareNames::default());
        let mut fields = before.clone();
        merge_person(&mut fields, &draft.fields, merge);
        // Only what changes: others may write besides.
        fields.retain(|name, value| before.get(name) != Some(value));
        let identifiers = self.more_identifiers(cx, &known, draft.identifiers, merge).await?;
        if merge == Merge::Fill && fields.is_empty() && identifiers.is_none() {
            return Ok(known);
        }
        let patch = RawPatch { kind: Kind::Person, fields, identifiers, links: Vec::new() };
        let Some(update) = &self.slots(Kind::Person)?.update else { return Err(Error::NotImplemented) };
        update.update(cx, &known.address(), patch).await?.ok_or(Error::NotFound)
    }

    /// The person that is meant: the one whose own identifier was sent (UND-24), else the first that is found by a key.
    async fn known(&self, cx: &Context, draft: &mut RawDraft, merge: Merge) -> Result<Option<RawRecord>> {
        let slots = self.slots(Kind::Person)?;
        if let Some(own) = draft.own.take() {
            let known = match &slots.get {
                Some(get) => get.get(cx, &Address::top(Kind::Person, own)).await?,
                None => None,
            };
            match known {
                None if merge == Merge::Replace => {
                    return Err(Error::invalid(Problem::identifier_in_use("identifiers")));
                }
                // A stranger does not learn who is known (HLP-07).
                None => {}
                known => return Ok(known),
            }
        }
        let Some(find) = &slots.find else { return Ok(None) };
        let mut oldest: Option<RawRecord> = None;
        for key in self.matching.keys(&draft.identifiers, &draft.fields) {
            let is_email = matches!(key, MatchKey::Email(_));
            if oldest.is_some() && !is_email {
                break;
            }
            let known = find.find(cx, &FindKey::Match(key)).await?;
            oldest = oldest.into_iter().chain(known).min_by_key(|person| (person.meta().created, person.address().id));
            if oldest.is_some() && !is_email {
                break;
            }
        }
        Ok(oldest)
    }

    /// The identifiers of a known person with those that were posted; `None` when there are no new ones.
    async fn more_identifiers(
        &self,
        cx: &Context,
        known: &RawRecord,
        posted: Vec<Identifier>,
        merge: Merge,
    ) -> Result<Option<Vec<Identifier>>> {
        let mut all = known.meta().identifiers.to_vec();
        let before = all.len();
        let stored: HashSet<Identifier> = all.iter().cloned().collect();
        for (place, identifier) in posted.into_iter().enumerate() {
            if stored.contains(&identifier) {
                continue;
            }
            let owner = match &self.slots(Kind::Person)?.find {
                Some(find) => find.find(cx, &FindKey::Match(MatchKey::Identifier(identifier.clone()))).await?,
                None => None,
            };
            match owner {
                None => all.push(identifier),
                // A stranger does not learn that it is somebody else's.
                Some(_) if merge == Merge::Fill => {}
                Some(_) => return Err(Error::invalid(Problem::identifier_in_use(&format!("identifiers[{place}]")))),
            }
        }
        Ok((all.len() > before).then_some(all))
    }

    /// The action that was recorded before under the same container, with what is sent anew, or a new one (UND-24).
    pub(super) async fn action(
        &self,
        cx: &Context,
        mut draft: RawDraft,
        anonymous: bool,
    ) -> Result<(RawRecord, EntryStatus)> {
        let Some(known) = self.recorded(cx, &mut draft).await? else { return self.create(cx, draft).await };
        let slots = self.slots(draft.kind)?;
        let (Some(update), false) = (&slots.update, anonymous) else { return Ok((known, EntryStatus::Existing)) };
        let patch = draft.repeated(known.meta().identifiers.to_vec(), cx.now);
        let record = update.update(cx, &known.address(), patch).await?.ok_or(Error::NotFound)?;
        Ok((record, EntryStatus::Existing))
    }

    /// The action that was recorded before under the same container: by its own identifier, or by a foreign one.
    async fn recorded(&self, cx: &Context, draft: &mut RawDraft) -> Result<Option<RawRecord>> {
        let slots = self.slots(draft.kind)?;
        let mut met = Met::new(draft, |record: &RawRecord| record);
        if let Some(own) = draft.own.take() {
            let at = Address { kind: draft.kind, id: own, parent: None };
            met.own(match &slots.get {
                Some(get) => get.get(cx, &at).await?,
                None => None,
            });
        }
        if let Some(find) = &slots.find {
            for (place, identifier) in draft.identifiers.iter().enumerate() {
                let key = FindKey::Match(MatchKey::Identifier(identifier.clone()));
                met.identifier(place, find.find(cx, &key).await?);
            }
        }
        met.recorded()
    }
}
