//! Ids in the form of the file: the sixteen bytes of a UUID.
//!
//! Requirements: UND-41.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use svc_core::value::Id;
use uuid::Uuid;

use crate::error::{Result, StoreError};

/// The id of a record of this file. Other valid ids are simply not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RecordId(Uuid);

impl RecordId {
    /// Parses the id of an address. Returns `None` if no record of this file can have it.
    pub(crate) fn parse(id: &Id) -> Option<Self> {
        id.as_uuid().map(Self)
    }

    /// Returns the id of a record that is in this file or is added to it.
    pub(crate) fn try_parse(id: &Id) -> Result<Self> {
        Self::parse(id)
            .ok_or_else(|| StoreError::unexpected(format!("{id} is not a canonical UUID")))
    }

    /// Returns the id as it is written in addresses.
    pub(crate) fn to_id(self) -> Id {
        self.0.into()
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl ToSql for RecordId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.as_bytes())))
    }
}

impl FromSql for RecordId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Uuid::from_slice(value.as_blob()?)
            .map(Self)
            .map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UND-41, HAL-12: only the canonical text of a UUID identifies a record.
    #[test]
    fn one_spelling_for_each_record() {
        let id = RecordId(Uuid::now_v7());
        let text = id.to_id();
        assert_eq!(RecordId::parse(&text), Some(id));
        let other = [
            text.as_str().to_uppercase(),
            text.as_str().replace('-', ""),
            "7".to_owned(),
            "person".to_owned(),
        ];
        for spelling in other {
            assert_eq!(
                RecordId::parse(&Id::new(&spelling).unwrap()),
                None,
                "{spelling}"
            );
        }
    }
}
