//! How Rust types map to the types of the API: table entry, reading and writing.

use crate::{
    json::{Json, Number, Object, write_string},
    schema::ShareNames,
    schema::ValueType,
    value::{Amount, ClosedEnum, Date, FlexEnum, Timestamp},
};

/// A Rust type that a field of a table can have.
///
/// Requirements: TYP-01 to TYP-12.
pub trait FieldType: Sized {
    /// The type in JSON.
    const TYPE: ValueType;

    /// Reads a JSON value that was validated against [`FieldType::TYPE`]; returns `None` for
    /// `null`.
    fn read_json(json: &Json) -> Option<Self>;

    /// Writes the value as JSON.
    fn write_json(&self, out: &mut MemberWriter<'_>);
}

/// Writes typed values directly as bytes, with the dialect's names of the share objects.
///
/// Requirements: HAL-11.
#[derive(Debug)]
pub struct MemberWriter<'a> {
    out: &'a mut Vec<u8>,
    names: &'a ShareNames,
}

impl<'a> MemberWriter<'a> {
    /// Creates a writer that appends to `out`.
    pub fn new(out: &'a mut Vec<u8>, names: &'a ShareNames) -> Self {
        Self { out, names }
    }

    /// Writes `"name":value,`.
    pub fn member<T: FieldType>(&mut self, name: &str, value: &T) {
        write_string(self.names.to_wire(name), self.out);
        self.out.push(b':');
        value.write_json(self);
        self.out.push(b',');
    }

    /// Writes an object; `members` writes each member with a trailing comma.
    pub fn object(&mut self, members: impl FnOnce(&mut MemberWriter<'_>)) {
        self.out.push(b'{');
        members(&mut MemberWriter {
            out: self.out,
            names: self.names,
        });
        self.close(b'}');
    }

    /// Writes a JSON string.
    pub fn string(&mut self, text: &str) {
        write_string(text, self.out);
    }

    /// Writes text that is already JSON.
    pub fn raw(&mut self, json: &str) {
        self.out.extend_from_slice(json.as_bytes());
    }

    fn array<T: FieldType>(&mut self, items: &[T]) {
        self.out.push(b'[');
        for item in items {
            item.write_json(self);
            self.out.push(b',');
        }
        self.close(b']');
    }

    fn close(&mut self, end: u8) {
        if self.out.last() == Some(&b',') {
            self.out.pop();
        }
        self.out.push(end);
    }
}

impl FieldType for String {
    const TYPE: ValueType = ValueType::String;

    fn read_json(json: &Json) -> Option<Self> {
        json.as_str().map(str::to_owned)
    }

    fn write_json(&self, out: &mut MemberWriter<'_>) {
        out.string(self);
    }
}

impl FieldType for i64 {
    const TYPE: ValueType = ValueType::Integer;

    fn read_json(json: &Json) -> Option<Self> {
        json.as_number().and_then(Number::as_i64)
    }

    fn write_json(&self, out: &mut MemberWriter<'_>) {
        out.raw(&self.to_string());
    }
}

impl FieldType for f64 {
    const TYPE: ValueType = ValueType::Float;

    fn read_json(json: &Json) -> Option<Self> {
        json.as_number().and_then(Number::as_f64)
    }

    fn write_json(&self, out: &mut MemberWriter<'_>) {
        match Number::from_f64(*self) {
            Some(number) => out.raw(number.as_str()),
            None => out.raw("null"),
        }
    }
}

impl FieldType for bool {
    const TYPE: ValueType = ValueType::Boolean;

    fn read_json(json: &Json) -> Option<Self> {
        json.as_bool()
    }

    fn write_json(&self, out: &mut MemberWriter<'_>) {
        out.raw(if *self { "true" } else { "false" });
    }
}

impl FieldType for Amount {
    const TYPE: ValueType = ValueType::Amount;

    fn read_json(json: &Json) -> Option<Self> {
        json.as_number()
            .and_then(|number| Self::parse(number.as_str()))
    }

    fn write_json(&self, out: &mut MemberWriter<'_>) {
        out.raw(Number::from(*self).as_str());
    }
}

impl FieldType for Timestamp {
    const TYPE: ValueType = ValueType::Timestamp;

    fn read_json(json: &Json) -> Option<Self> {
        json.as_str().and_then(Self::parse)
    }

    fn write_json(&self, out: &mut MemberWriter<'_>) {
        out.string(&String::from(*self));
    }
}

impl FieldType for Date {
    const TYPE: ValueType = ValueType::Date;

    fn read_json(json: &Json) -> Option<Self> {
        json.as_str().and_then(Self::parse)
    }

    fn write_json(&self, out: &mut MemberWriter<'_>) {
        out.string(&self.to_string());
    }
}

impl<E: ClosedEnum> FieldType for FlexEnum<E> {
    const TYPE: ValueType = ValueType::FlexEnum(E::VALUES);

    fn read_json(json: &Json) -> Option<Self> {
        json.as_str().map(Self::from)
    }

    fn write_json(&self, out: &mut MemberWriter<'_>) {
        out.string(self.as_str());
    }
}

impl<T: FieldType> FieldType for Vec<T> {
    const TYPE: ValueType = ValueType::Array(&T::TYPE);

    fn read_json(json: &Json) -> Option<Self> {
        json.as_array()
            .map(|items| items.iter().filter_map(T::read_json).collect())
    }

    fn write_json(&self, out: &mut MemberWriter<'_>) {
        out.array(self);
    }
}

/// A flag that a client sends as a boolean or as a string; it is returned as a string.
///
/// Requirements: RES-phone_number-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextFlag(pub bool);

impl FieldType for TextFlag {
    const TYPE: ValueType = ValueType::Flag;

    fn read_json(json: &Json) -> Option<Self> {
        match json {
            Json::Bool(set) => Some(Self(*set)),
            Json::String(text) => Some(Self(text == "true")),
            _ => None,
        }
    }

    fn write_json(&self, out: &mut MemberWriter<'_>) {
        out.string(if self.0 { "true" } else { "false" });
    }
}

/// The URL or the identifier of a record as the client wrote it.
///
/// Requirements: RES-canvass-09, HAF-08.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordReference(pub String);

impl FieldType for RecordReference {
    const TYPE: ValueType = ValueType::Reference;

    fn read_json(json: &Json) -> Option<Self> {
        json.as_str().map(|text| Self(text.to_owned()))
    }

    fn write_json(&self, out: &mut MemberWriter<'_>) {
        out.string(&self.0);
    }
}

/// An object with arbitrary keys and string values.
///
/// Requirements: RES-person-36.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StringMap(pub Vec<(String, String)>);

impl FieldType for StringMap {
    const TYPE: ValueType = ValueType::StringMap;

    fn read_json(json: &Json) -> Option<Self> {
        let entry =
            |(key, value): (&str, &Json)| Some((key.to_owned(), value.as_str()?.to_owned()));
        json.as_object()
            .map(|object: &Object| Self(object.iter().filter_map(entry).collect()))
    }

    fn write_json(&self, out: &mut MemberWriter<'_>) {
        out.object(|out| {
            for (key, value) in &self.0 {
                write_string(key, out.out);
                out.out.push(b':');
                write_string(value, out.out);
                out.out.push(b',');
            }
        });
    }
}

/// One value or an array of values, as the client sent it.
///
/// Requirements: RES-canvass-08.
#[derive(Debug, Clone, PartialEq)]
pub enum OneOrMany<T> {
    /// Sent as one value.
    One(T),
    /// Sent as an array.
    Many(Vec<T>),
}

impl<T: FieldType> FieldType for OneOrMany<T> {
    const TYPE: ValueType = ValueType::OneOrMany(&T::TYPE);

    fn read_json(json: &Json) -> Option<Self> {
        match json {
            Json::Array(items) => Some(Self::Many(items.iter().filter_map(T::read_json).collect())),
            other => T::read_json(other).map(Self::One),
        }
    }

    fn write_json(&self, out: &mut MemberWriter<'_>) {
        match self {
            Self::One(item) => item.write_json(out),
            Self::Many(items) => items.write_json(out),
        }
    }
}
