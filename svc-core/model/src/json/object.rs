//! JSON objects that preserve the order of their members.

use std::borrow::Cow;
use std::slice;
use std::vec;

use super::Json;

/// A JSON object: members in the order they were sent, without duplicate names. Equality depends on
/// the order.
///
/// Requirements: TYP-11.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Object(Vec<JsonMember>);

/// A member. Names from the tables are not copied.
pub(super) type JsonMember = (Cow<'static, str>, Json);

impl Object {
    /// Creates an object without members.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Creates an object from members whose names are known to be distinct.
    pub(super) fn from_distinct(members: Vec<JsonMember>) -> Self {
        Self(members)
    }

    /// Returns the member with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// Returns the member with this name for changes.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        self.0
            .iter_mut()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// Returns the value of the member at an index.
    #[must_use]
    pub fn value(&self, place: u32) -> Option<&Json> {
        self.0
            .get(usize::try_from(place).ok()?)
            .map(|(_, value)| value)
    }

    /// Sets a member: replaces its value, or appends the member. Returns the replaced value.
    pub fn insert(
        &mut self,
        name: impl Into<String> + AsRef<str>,
        value: impl Into<Json>,
    ) -> Option<Json> {
        let value = value.into();
        if let Some(old) = self.get_mut(name.as_ref()) {
            return Some(std::mem::replace(old, value));
        }
        self.0.push((Cow::Owned(name.into()), value));
        None
    }

    /// Appends a member whose name comes from the tables and that does not exist yet.
    pub fn add(&mut self, name: &'static str, value: Json) {
        debug_assert!(!self.contains(name), "{name} exists already");
        self.0.push((Cow::Borrowed(name), value));
    }

    /// Removes a member and returns its value; the other members keep their order.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        let at = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(at).1)
    }

    /// Returns whether a member with this name exists.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the object has no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the members in order.
    pub fn iter(&self) -> Iter<'_> {
        self.0.iter().map(|(key, value)| (key.as_ref(), value))
    }

    /// Returns the members in order, with mutable values.
    pub fn iter_mut(&mut self) -> IterMut<'_> {
        self.0.iter_mut().map(|(key, value)| (&**key, value))
    }

    /// Returns the names of the members in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(key, _)| key)
    }

    /// Removes the members for which `keep` returns false.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Json) -> bool) {
        self.0.retain_mut(|(key, value)| keep(key, value));
    }

    /// Appends the object as JSON without spaces.
    pub fn write(&self, out: &mut Vec<u8>) {
        super::write::write_object(self, out);
    }

    /// Appends the members as JSON without the surrounding braces, as a store stores the body of a
    /// record.
    pub fn write_members(&self, out: &mut Vec<u8>) {
        super::write::write_members(self, out);
    }
}

/// The members of an [`Object`] in order.
type Iter<'a> =
    std::iter::Map<slice::Iter<'a, JsonMember>, fn(&'a JsonMember) -> (&'a str, &'a Json)>;

/// The members of an [`Object`] in order, with mutable values.
type IterMut<'a> = std::iter::Map<
    slice::IterMut<'a, JsonMember>,
    fn(&'a mut JsonMember) -> (&'a str, &'a mut Json),
>;

impl<'a> IntoIterator for &'a Object {
    type Item = (&'a str, &'a Json);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Object {
    type Item = (&'a str, &'a mut Json);
    type IntoIter = IterMut<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl IntoIterator for Object {
    type Item = (String, Json);
    type IntoIter = std::iter::Map<vec::IntoIter<JsonMember>, fn(JsonMember) -> (String, Json)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0
            .into_iter()
            .map(|(key, value)| (key.into_owned(), value))
    }
}

impl<K: Into<String> + AsRef<str>, V: Into<Json>> FromIterator<(K, V)> for Object {
    /// If several members have the same name, the last value is used, at the position of the first.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        let mut object = Self::new();
        object.extend(members);
        object
    }
}

impl<K: Into<String> + AsRef<str>, V: Into<Json>> Extend<(K, V)> for Object {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, members: I) {
        for (key, value) in members {
            self.insert(key, value);
        }
    }
}
