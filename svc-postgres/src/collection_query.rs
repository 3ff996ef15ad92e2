//! A collection of a tenant, and the statements about it.

use svc_core::{
    Error,
    link::{RecordAddress, Scope},
    model::Kind,
};
use svc_store::offset_index::{self, CollectionKey};
use uuid::Uuid;

use crate::{
    error::Result,
    pipeline::{SqlQuery, SqlValue, values},
    record_layout::{ALL, SLOTS, layout},
    rows::code,
    statements::Texts,
};

/// A collection of a tenant: all records of a kind, or those under one record.
pub(crate) struct CollectionQuery {
    pub(crate) tenant: i64,
    kind: Kind,
    under: Option<CollectionOwner>,
}

struct CollectionOwner {
    address: RecordAddress,
    owner: Uuid,
    /// Which of [`SLOTS`] refers to the owner.
    slot: usize,
}

impl CollectionQuery {
    /// Returns the collection of a request.
    pub(crate) fn of(tenant: i64, kind: Kind, scope: &Scope) -> Result<Self> {
        let under = match scope {
            Scope::All => None,
            Scope::Under(address) => {
                let column = layout(kind)
                    .scope(address.kind)
                    .ok_or_else(Error::not_found)?;
                let slot = SLOTS
                    .iter()
                    .position(|slot| *slot == column)
                    .ok_or_else(Error::not_found)?;
                Some(CollectionOwner {
                    address: address.clone(),
                    owner: address.id.as_uuid().ok_or_else(Error::not_found)?,
                    slot,
                })
            }
        };
        Ok(Self {
            tenant,
            kind,
            under,
        })
    }

    /// Returns the key of the collection in cursors and in memory.
    pub(crate) fn collection(&self) -> CollectionKey {
        let owner = self
            .under
            .as_ref()
            .map(|under| (under.address.kind, &under.owner.as_bytes()[..]));
        offset_index::collection_key(self.tenant, self.kind, owner)
    }

    /// Returns the code of the owner's kind, and its id.
    fn owner(&self) -> (i16, Uuid) {
        self.under
            .as_ref()
            .map_or((0, ALL), |under| (code(under.address.kind), under.owner))
    }

    fn text<'a>(&self, of_all: &'a str, under: &'a [String; 4]) -> &'a str {
        let slot = self.under.as_ref().and_then(|owner| under.get(owner.slot));
        slot.map_or(of_all, String::as_str)
    }

    /// Returns the values of a statement. The owner comes last, if there is one.
    fn with_owner(&self, mut values: Vec<SqlValue>) -> Vec<SqlValue> {
        values.extend(self.under.as_ref().map(|under| SqlValue::from(under.owner)));
        values
    }

    /// Reads total, owner and records in one statement.
    pub(crate) fn page_sql<'a>(&self, texts: &'a Texts, after: i64, limit: i64) -> SqlQuery<'a> {
        let (scope, owner) = self.owner();
        let values = values![self.tenant, code(self.kind), after, limit, scope, owner];
        SqlQuery::new(self.text(&texts.page, &texts.page_under), values)
    }

    /// Does the same, starting at the record with `position` records before it.
    pub(crate) fn whole_at<'a>(&self, texts: &'a Texts, position: u64, limit: i64) -> SqlQuery<'a> {
        let (scope, owner) = self.owner();
        // The statement adds one to it.
        let position = i64::try_from(position)
            .unwrap_or(i64::MAX)
            .min(i64::MAX.saturating_sub(1));
        let values = values![self.tenant, code(self.kind), position, limit, scope, owner];
        SqlQuery::new(self.text(&texts.page_at, &texts.page_at_under), values)
    }

    /// Reads total and owner in one statement, and the records in another one.
    pub(crate) fn routed<'a>(&self, texts: &'a Texts, after: i64, limit: i64) -> [SqlQuery<'a>; 2] {
        let (scope, owner) = self.owner();
        let rows = self.with_owner(values![self.tenant, code(self.kind), after, limit]);
        [
            SqlQuery::new(
                &*texts.total_of,
                values![self.tenant, code(self.kind), scope, owner],
            ),
            SqlQuery::new(self.text(&texts.rows_of_all, &texts.rows_under), rows),
        ]
    }

    /// Reads the rows of the collection after this one.
    pub(crate) fn members<'a>(&self, texts: &'a Texts, after: i64) -> SqlQuery<'a> {
        let values = self.with_owner(values![self.tenant, code(self.kind), after]);
        SqlQuery::new(
            self.text(&texts.members_of_all, &texts.members_under),
            values,
        )
    }

    /// Reads when a member last left the collection.
    pub(crate) fn moved<'a>(&self, texts: &'a Texts) -> SqlQuery<'a> {
        let (scope, owner) = self.owner();
        SqlQuery::new(
            &*texts.moved,
            values![self.tenant, code(self.kind), scope, owner],
        )
    }

    /// Returns whether the owner is at the address of the request.
    pub(crate) fn has_owner(&self, links: Option<&[Option<Uuid>]>) -> bool {
        let Some(CollectionOwner { address, .. }) = &self.under else {
            return true;
        };
        let parent = layout(address.kind)
            .parent()
            .and_then(|column| SLOTS.iter().position(|slot| *slot == column));
        links.is_some_and(|links| {
            let parent = parent
                .and_then(|slot| links.get(slot).copied().flatten())
                .map(Into::into);
            address.matches_parent(parent.as_ref())
        })
    }
}
