//! Finds unknown names in the file of a declaration. Otherwise, a mistyped name would count as "not
//! supported".

use std::fmt::Write as _;

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};
use svc_declaration::{
    Declaration, DeclaredAuthentication, DeclaredCollection, DeclaredDialect, DeclaredEntryPoint,
    DeclaredField, DeclaredHelper, DeclaredLimits,
};

use crate::catalogue::{Catalogue, FUNCTIONS, OPERATIONS};
use crate::kinds::{KINDS, fixtures};

/// Returns every unknown name in a declaration, each with the names that are allowed in its place.
pub(super) fn unknown(declaration: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut known = members_of::<Declaration>().to_vec();
    // The source of the file, which `probe` writes.
    known.push("source");
    members(declaration, "", &known, &mut found);
    for (name, known) in [
        ("dialect", members_of::<DeclaredDialect>()),
        ("limits", members_of::<DeclaredLimits>()),
        ("authentication", members_of::<DeclaredAuthentication>()),
        ("entry_point", members_of::<DeclaredEntryPoint>()),
    ] {
        members(&declaration[name], &format!("{name}."), known, &mut found);
    }
    let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.many).collect();
    members(
        &declaration["collections"],
        "collections.",
        &kinds,
        &mut found,
    );
    for (many, collection) in object(&declaration["collections"]) {
        let place = format!("collections.{many}.");
        members(
            collection,
            &place,
            members_of::<DeclaredCollection>(),
            &mut found,
        );
        names(
            &collection["operations"],
            &format!("{place}operations: "),
            OPERATIONS,
            &mut found,
        );
        names(
            &collection["sub"],
            &format!("{place}sub: "),
            &kinds,
            &mut found,
        );
        fields(
            &collection["fields"],
            &format!("{place}fields."),
            &mut found,
        );
    }
    members(&declaration["fixture"], "fixture.", &fixtures(), &mut found);
    let mut helpers: Vec<&str> = KINDS.iter().filter_map(|kind| kind.helper).collect();
    helpers.push("schedule");
    members(&declaration["helpers"], "helpers.", &helpers, &mut found);
    for (name, helper) in object(&declaration["helpers"]) {
        members(
            helper,
            &format!("helpers.{name}."),
            members_of::<DeclaredHelper>(),
            &mut found,
        );
    }
    let behaviours = Catalogue::built_in().map_or(&[][..], Catalogue::behaviours);
    let behaviours: Vec<&str> = behaviours
        .iter()
        .map(|behaviour| behaviour.name.as_str())
        .collect();
    names(
        &declaration["behaviours"],
        "behaviours: ",
        &behaviours,
        &mut found,
    );
    names(
        &declaration["action_functions"],
        "action_functions: ",
        FUNCTIONS,
        &mut found,
    );
    found
}

/// Checks the members of fields. A server may have additional fields that are not in the
/// specification.
fn fields(declared: &Value, place: &str, found: &mut Vec<String>) {
    for (name, field) in object(declared) {
        members(
            field,
            &format!("{place}{name}."),
            members_of::<DeclaredField>(),
            found,
        );
        fields(&field["fields"], &format!("{place}{name}.fields."), found);
    }
}

fn members(value: &Value, place: &str, known: &[&str], found: &mut Vec<String>) {
    object(value).for_each(|(name, _)| name_it(name, place, known, found));
}

fn names(value: &Value, place: &str, known: &[&str], found: &mut Vec<String>) {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .for_each(|name| name_it(name, place, known, found));
}

fn name_it(name: &str, place: &str, known: &[&str], found: &mut Vec<String>) {
    if known.contains(&name) {
        return;
    }
    let mut known = known.to_vec();
    known.sort_unstable();
    let mut problem: String = format!("{place}{name}").chars().take(200).collect();
    let _ = write!(problem, " (allowed here: {})", known.join(", "));
    found.push(problem);
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

/// Returns the members of a type: the names that serde receives when it deserializes a struct of
/// that type.
fn members_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    let _ = T::deserialize(MemberCollector(&mut names));
    names
}

/// A deserializer that reads nothing and records the members of a type.
struct MemberCollector<'n>(&'n mut &'static [&'static str]);

impl<'de> Deserializer<'de> for MemberCollector<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("not an object with members"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        members: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = members;
        Err(Error::custom("only the members are requested"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
