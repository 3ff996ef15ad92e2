//! Pages of people who may be the same person, from the index of the keys of people.
//!
//! The index contains a hash of each key. A store reads the keys that several people have, and these
//! people. It then compares the people of each key. A pair with several common keys is on the page of
//! the first key that is not a crowd.
//!
//! Requirements: DUP-01 to DUP-06.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use svc_core::{
    Tenant,
    duplicates::{ComparedPerson, Comparison, MAX_PEOPLE_OF_KEY, PersonKey, PersonKeyKind},
    error::Result,
    record::RawRecord,
    store::{
        ApartPeople, DuplicatePair, DuplicatesEntry, DuplicatesPage, DuplicatesRequest,
        DuplicatesResponse, StoredRecord,
    },
    value::Id,
};

use crate::{
    cursor::{CursorCodec, CursorKind},
    lookup::{LookupHash, hash_email},
};

/// The largest number of pairs that are compared for one page.
const MAX_PAIRS: u64 = 200;

/// The largest number of keys that are read for one page.
pub const MAX_KEYS: usize = 50;

/// The largest number of people that a store counts for one key.
pub const MAX_COUNT: u64 = 1_000;

/// The number of bits of a lookup hash that are not a part of a key.
const LAST_BITS: u32 = 65;

/// A key in an index: its kind, and 63 bits of a hash of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub struct HashedKey {
    /// The number of the kind.
    pub kind: i64,
    /// The hash.
    pub hash: i64,
}

impl HashedKey {
    /// Creates a key from stored numbers.
    #[must_use]
    pub const fn new(kind: i64, hash: i64) -> Self {
        Self { kind, hash }
    }

    /// Creates the key of an e-mail address from its [lookup hash](hash_email): the first 63 bits.
    #[must_use]
    pub fn of_email(hash: &LookupHash) -> Self {
        let first = u128::from_be_bytes(*hash) >> LAST_BITS;
        Self::new(
            PersonKeyKind::Email.code(),
            i64::try_from(first).unwrap_or_default(),
        )
    }

    /// Returns the least and the greatest lookup hash of an e-mail address with this key. `None` for a
    /// key of another kind.
    #[must_use]
    pub fn email_hashes(self) -> Option<[LookupHash; 2]> {
        if self.kind != PersonKeyKind::Email.code() {
            return None;
        }
        let least = u128::try_from(self.hash).ok()? << LAST_BITS;
        let greatest = least | !(u128::MAX << LAST_BITS);
        Some([least, greatest].map(u128::to_be_bytes))
    }
}

/// Returns whether a key with this number of people is a crowd.
const fn is_crowd(people: u64) -> bool {
    people > MAX_PEOPLE_OF_KEY
}

/// Creates the hashes of keys and the cursors of pages with the secret of a store. A copy of the index
/// without the secret does not show whether a person has a phone number.
#[derive(Clone)]
pub struct DuplicateIndex {
    mac: Hmac<Sha256>,
    cursors: CursorCodec,
}

impl std::fmt::Debug for DuplicateIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DuplicateIndex").finish_non_exhaustive()
    }
}

impl DuplicateIndex {
    /// Creates an index with the secret of the store. The secret must stay the same as long as the
    /// data.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> Self {
        // HMAC pads a key with zeros to the block size.
        let mut block = [0; 64];
        for (byte, of_secret) in block.iter_mut().zip(secret) {
            *byte = *of_secret;
        }
        let mut mac: Hmac<Sha256> = Hmac::new(&block.into());
        mac.update(b"person key\0");
        Self {
            mac,
            cursors: CursorCodec::new(secret),
        }
    }

    /// Returns the hash of a key.
    ///
    /// The hash of an e-mail address does not depend on the secret: it is the start of the
    /// [lookup hash](hash_email), by which a store has an index already.
    #[must_use]
    pub fn hash(&self, key: &PersonKey) -> HashedKey {
        if key.kind == PersonKeyKind::Email {
            return HashedKey::of_email(&hash_email(&key.text));
        }
        let mut mac = self.mac.clone();
        mac.update(&key.kind.code().to_be_bytes());
        mac.update(key.text.as_bytes());
        let digest: [u8; 32] = mac.finalize().into_bytes().into();
        let first = digest.first_chunk().copied().unwrap_or_default();
        HashedKey::new(key.kind.code(), i64::from_be_bytes(first) & i64::MAX)
    }
}

/// A position in the pairs of a tenant: the key, and the rows of the two people. Pages follow this
/// order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct PairPosition {
    key: HashedKey,
    older: i64,
    younger: i64,
}

impl PairPosition {
    /// Returns the position after all pairs of a key.
    fn end_of(key: HashedKey) -> Self {
        Self {
            key,
            older: i64::MAX,
            younger: i64::MAX,
        }
    }
}

/// A request for a page of pairs.
#[derive(Debug)]
pub struct DuplicatesQuery<'a> {
    index: &'a DuplicateIndex,
    tenant: &'a Tenant,
    request: &'a DuplicatesRequest,
    after: PairPosition,
    /// The rows and keys of the person whose pairs are requested.
    person: Option<(i64, Vec<HashedKey>)>,
}

/// A key that several people have, with their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedKey {
    /// The key.
    pub key: HashedKey,
    /// The number of people, at most [`MAX_COUNT`].
    pub people: u64,
}

impl SharedKey {
    /// Creates a key with a number of people, at most [`MAX_COUNT`].
    #[must_use]
    pub fn new(key: HashedKey, people: u64) -> Self {
        Self {
            key,
            people: people.min(MAX_COUNT),
        }
    }
}

/// The keys of a page, and the people who have them.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SharedKeys {
    keys: Vec<SharedKey>,
    /// The rows of the people with each key, in ascending order.
    rows: BTreeMap<HashedKey, Vec<i64>>,
    /// Whether no shared key follows.
    is_last: bool,
}

impl<'a> DuplicatesQuery<'a> {
    /// Decodes the cursor of a request. `person` is the person of the request, if it names one.
    ///
    /// # Errors
    ///
    /// Returns the response for a cursor that is not one of this store and request.
    pub fn new(
        index: &'a DuplicateIndex,
        tenant: &'a Tenant,
        request: &'a DuplicatesRequest,
        person: Option<&StoredRecord>,
    ) -> Result<Self, DuplicatesResponse> {
        let mut query = Self {
            index,
            tenant,
            request,
            after: PairPosition::default(),
            person: None,
        };
        if let Some(cursor) = &request.after {
            let numbers = index
                .cursors
                .read(CursorKind::Pair, 0, &query.binding(), cursor);
            let [kind, hash, older, younger] = numbers.ok_or(DuplicatesResponse::UnknownCursor)?;
            query.after = PairPosition {
                key: HashedKey::new(kind, hash),
                older,
                younger,
            };
        }
        query.person = person.map(|stored| {
            let first = query.after.key;
            let keys = ComparedPerson::of_record(&stored.record).keys();
            let mut keys: Vec<HashedKey> = keys.iter().map(|key| index.hash(key)).collect();
            keys.retain(|key| *key >= first);
            keys.sort_unstable();
            // Different addresses of a person can have the same key.
            keys.dedup();
            (stored.row, keys)
        });
        Ok(query)
    }

    /// Returns what a cursor is bound to.
    fn binding(&self) -> Vec<u8> {
        let person = self.request.person.as_ref().map(Id::as_str);
        [
            self.tenant.as_str().as_bytes(),
            b"\0",
            person.unwrap_or_default().as_bytes(),
        ]
        .concat()
    }

    fn cursor(&self, at: PairPosition) -> String {
        let numbers = [at.key.kind, at.key.hash, at.older, at.younger];
        self.index
            .cursors
            .write(CursorKind::Pair, 0, &self.binding(), numbers)
    }

    /// Returns the first key of the page. The store reads up to [`MAX_KEYS`] and one more shared keys
    /// from here on, in order.
    #[must_use]
    pub fn first_key(&self) -> HashedKey {
        self.after.key
    }

    /// Returns the keys of the person whose pairs are requested: those of the page and one more. The
    /// store reads only these shared keys.
    #[must_use]
    pub fn keys_of_person(&self) -> Option<&[HashedKey]> {
        let (_, keys) = self.person.as_ref()?;
        Some(keys)
    }

    /// Returns the keys of the page out of the shared keys that the store has read. It then reads the
    /// rows of their [people](SharedKeys::compared_keys).
    #[must_use]
    pub fn select(&self, mut keys: Vec<SharedKey>) -> SharedKeys {
        // The key of the cursor can be among the keys that the store has read.
        let has_all = self.person.is_some() || keys.len() <= MAX_KEYS;
        keys.retain(|shared| shared.people > 1 && PairPosition::end_of(shared.key) > self.after);
        let (mut pairs, mut selected) = (0_u64, 0_usize);
        for shared in &keys {
            if pairs >= MAX_PAIRS || selected >= MAX_KEYS {
                break;
            }
            let others = shared.people.saturating_sub(1);
            pairs = pairs.saturating_add(match &self.person {
                _ if is_crowd(shared.people) => 1,
                Some(_) => others,
                None => shared.people.saturating_mul(others) / 2,
            });
            selected = selected.saturating_add(1);
        }
        let is_last = has_all && selected == keys.len();
        keys.truncate(selected);
        SharedKeys {
            keys,
            rows: BTreeMap::new(),
            is_last,
        }
    }

    /// Compares the people of a page. `people` are those in the rows of the keys. The store then reads
    /// [what the pairs depend on](ComparedPairs).
    #[must_use]
    pub fn compare(&self, shared: &SharedKeys, people: &[StoredRecord]) -> ComparedPairs {
        let people: HashMap<i64, (&RawRecord, ComparedPerson, Vec<HashedKey>)> = people
            .iter()
            .map(|stored| {
                let person = ComparedPerson::of_record(&stored.record);
                let keys = person.keys();
                let keys = keys.iter().map(|key| self.index.hash(key)).collect();
                (stored.row, (&stored.record, person, keys))
            })
            .collect();
        let mut found = ComparedPairs::default();
        let mut looked = 0_u64;
        for SharedKey { key, people: count } in &shared.keys {
            if is_crowd(*count) {
                let end = PairPosition::end_of(*key);
                if self.after < end && self.shows_crowd(*key) {
                    found.entries.push((end, Candidate::Crowd(*key, *count)));
                }
                found.end = Some(end);
                continue;
            }
            for (older, younger) in self.pairs(shared.rows.get(key).map_or(&[], Vec::as_slice)) {
                let at = PairPosition {
                    key: *key,
                    older,
                    younger,
                };
                if at <= self.after {
                    continue;
                }
                if looked >= MAX_PAIRS {
                    found.has_more = true;
                    return found;
                }
                looked = looked.saturating_add(1);
                found.end = Some(at);
                let (Some(one), Some(other)) = (people.get(&older), people.get(&younger)) else {
                    continue;
                };
                let common: Vec<HashedKey> = one
                    .2
                    .iter()
                    .filter(|key| other.2.contains(key))
                    .copied()
                    .collect();
                let comparison = one.1.compare_without(&other.1, &self.request.hidden);
                // Different keys can have the same hash.
                if let Some(comparison) = comparison.filter(|_| common.contains(key)) {
                    let pair = CandidatePair {
                        older: one.0.clone(),
                        younger: other.0.clone(),
                        comparison,
                        earlier: common.into_iter().filter(|it| it < key).collect(),
                    };
                    found.entries.push((at, Candidate::Pair(Box::new(pair))));
                }
            }
            found.end = Some(PairPosition::end_of(*key));
        }
        found.has_more = !shared.is_last;
        found
    }

    /// Returns whether the values that a crowd has in common may be named.
    fn shows_crowd(&self, key: HashedKey) -> bool {
        let kind = PersonKeyKind::from_code(key.kind);
        kind.is_some_and(|kind| !self.request.hidden.contains(&kind.evidence()))
    }

    /// Returns the pairs of rows of one key, in order.
    fn pairs(&self, rows: &[i64]) -> Vec<(i64, i64)> {
        let mut pairs = Vec::new();
        for (place, older) in rows.iter().enumerate() {
            let younger = rows.get(place.saturating_add(1)..).unwrap_or_default();
            pairs.extend(younger.iter().map(|younger| (*older, *younger)));
        }
        if let Some((row, _)) = &self.person {
            pairs.retain(|(older, younger)| older == row || younger == row);
        }
        pairs
    }

    /// Returns the page. `crowds` are the [other keys](ComparedPairs::other_keys) that are a crowd;
    /// `apart` are the [pairs](ComparedPairs::people) that were dismissed.
    #[must_use]
    pub fn page(
        &self,
        found: ComparedPairs,
        other_keys: &[SharedKey],
        apart: &HashSet<[Id; 2]>,
    ) -> DuplicatesPage {
        let others: HashSet<HashedKey> = other_keys
            .iter()
            .filter(|shared| !is_crowd(shared.people))
            .map(|shared| shared.key)
            .collect();
        let size = usize::try_from(self.request.size.max(1)).unwrap_or(usize::MAX);
        let (mut entries, mut last) = (Vec::new(), None);
        for (at, candidate) in found.entries {
            let entry = match candidate {
                Candidate::Crowd(key, people) => {
                    PersonKeyKind::from_code(key.kind).map(|kind| DuplicatesEntry::Crowd {
                        evidence: kind.evidence(),
                        people,
                    })
                }
                Candidate::Pair(pair) => {
                    let is_elsewhere = pair.earlier.iter().any(|key| others.contains(key));
                    let is_apart = apart.contains(&pair.people());
                    (!is_elsewhere && !is_apart).then(|| {
                        let CandidatePair {
                            older,
                            younger,
                            comparison,
                            ..
                        } = *pair;
                        let pair = DuplicatePair::new(older, younger, comparison);
                        DuplicatesEntry::Pair(Box::new(pair))
                    })
                }
            };
            let Some(entry) = entry else { continue };
            if entries.len() >= size {
                return DuplicatesPage::new(entries, last.map(|at| self.cursor(at)));
            }
            entries.push(entry);
            last = Some(at);
        }
        let next = found.end.filter(|_| found.has_more);
        DuplicatesPage::new(entries, next.map(|at| self.cursor(at)))
    }
}

impl SharedKeys {
    /// Returns the keys whose people are compared. The store reads their rows.
    pub fn compared_keys(&self) -> impl Iterator<Item = HashedKey> + '_ {
        let keys = self.keys.iter().filter(|shared| !is_crowd(shared.people));
        keys.map(|shared| shared.key)
    }

    /// Adds the row of a person with a key. Rows of one key are added in ascending order. Some more than
    /// [`MAX_PEOPLE_OF_KEY`] are ignored.
    pub fn add(&mut self, key: HashedKey, row: i64) {
        let rows = self.rows.entry(key).or_default();
        if u64::try_from(rows.len()).is_ok_and(|rows| rows < MAX_PEOPLE_OF_KEY) {
            rows.push(row);
        }
    }

    /// Returns the rows of everyone who is compared, each once and in ascending order.
    #[must_use]
    pub fn rows(&self) -> Vec<i64> {
        let rows: BTreeSet<i64> = self.rows.values().flatten().copied().collect();
        rows.into_iter().collect()
    }
}

/// The pairs of a page, before the store has read whether they are on another page or were dismissed.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ComparedPairs {
    entries: Vec<(PairPosition, Candidate)>,
    /// The last position that was looked at.
    end: Option<PairPosition>,
    has_more: bool,
}

impl ComparedPairs {
    /// Returns the keys whose numbers of people the page depends on, each once and in order.
    #[must_use]
    pub fn other_keys(&self) -> Vec<HashedKey> {
        let keys: BTreeSet<HashedKey> = self
            .pairs()
            .flat_map(|pair| &pair.earlier)
            .copied()
            .collect();
        keys.into_iter().collect()
    }

    /// Returns the two people of each pair, in the order of their ids. The page depends on which of them
    /// were dismissed.
    pub fn people(&self) -> impl Iterator<Item = [Id; 2]> + '_ {
        self.pairs().map(CandidatePair::people)
    }

    fn pairs(&self) -> impl Iterator<Item = &CandidatePair> {
        self.entries
            .iter()
            .filter_map(|(_, candidate)| match candidate {
                Candidate::Pair(pair) => Some(&**pair),
                Candidate::Crowd(..) => None,
            })
    }
}

#[derive(Debug)]
enum Candidate {
    Pair(Box<CandidatePair>),
    Crowd(HashedKey, u64),
}

#[derive(Debug)]
struct CandidatePair {
    older: RawRecord,
    younger: RawRecord,
    comparison: Comparison,
    /// The common keys before the one that the pair was found by.
    earlier: Vec<HashedKey>,
}

impl CandidatePair {
    fn people(&self) -> [Id; 2] {
        let [one, other] = [&self.older, &self.younger].map(|person| person.meta().id.clone());
        ApartPeople::new(one, other, None).people
    }
}

#[cfg(test)]
mod tests {
    use svc_core::{duplicates::person_keys, read::Json};

    use super::*;

    /// DUP-01: a store finds the people with the key of an address in its index of addresses.
    #[test]
    fn dup_01_the_key_of_an_address_is_a_range_of_lookup_hashes() {
        let index = DuplicateIndex::new(&[7; 32]);
        for address in ["ada@example.org", "eve@example.org", "x@example.org"] {
            let body = format!(r#"{{"email_addresses":[{{"address":"{address}"}}]}}"#);
            let Some(Json::Object(fields)) = Json::read_kept(body.as_bytes()) else {
                panic!("{body}");
            };
            let key = index.hash(&person_keys(&fields)[0]);
            let hash = hash_email(&address.to_uppercase());
            let [least, greatest] = key.email_hashes().unwrap();
            assert!(key.hash >= 0 && least <= hash && hash <= greatest);
            for edge in [least, greatest] {
                assert_eq!(HashedKey::of_email(&edge), key);
            }
            let next = HashedKey::new(key.kind, key.hash + 1);
            let [after, _] = next.email_hashes().unwrap();
            assert_eq!(
                u128::from_be_bytes(after),
                u128::from_be_bytes(greatest) + 1
            );
        }
        assert_eq!(HashedKey::new(3, 1).email_hashes(), None);
    }
}
