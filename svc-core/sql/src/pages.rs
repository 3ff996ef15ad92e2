//! Pages of a collection, found by cursor or otherwise by number, and of the records that the keys
//! of a filter find.
//!
//! Requirements: COL-20 to COL-31, FLT-01.

use svc_core::{
    error::{Error, Result},
    filter::{Filter, FilterField, FilterSource, FindKey, IndexKey, MAX_KEY_MATCHES, matches},
    link::Scope,
    model::Kind,
    page::{ListRequest, RawPage},
    store::LookupKey,
};
use svc_store::{
    cursor::{CursorCodec, PageStart},
    ordered_pages::OrderedPages,
};

use super::{
    database::TextRow,
    lookups::unasked,
    resolved_mapping::{ResolvedMapping, ResolvedTable},
    sql::SqlBuilder,
    statement::Statement,
};

/// Cursors are bound to the name of the tenant.
const NUMBER: i64 = 0;

impl ResolvedMapping {
    /// Returns the statements for the page, the total, and the container if there is one. They are
    /// executed together.
    pub(super) fn page_statements(
        &self,
        cursors: &CursorCodec,
        tenant: &str,
        kind: Kind,
        request: &ListRequest,
    ) -> Result<Vec<Statement>> {
        let table = self.of(kind).ok_or_else(Error::not_found)?;
        let mut page = SqlBuilder::new(self.dialect, tenant);
        self.records(&mut page, table);
        self.within(&mut page, table, &request.scope)?;
        let start = start(cursors, tenant, kind, request);
        // The first page starts with the first row, even if its row number is not positive.
        if let PageStart::AfterRow(row) = start
            && (row != 0 || request.page.cursor.is_some() && request.page.number > 1)
        {
            page.push(" AND t.")
                .push(&table.order.name)
                .push(" > ")
                .number(row);
        }
        push_order_and_limit(&mut page, table, i64::from(request.page.size));
        if let PageStart::Offset(skipped) = start {
            page.push(" OFFSET ")
                .limit(i64::try_from(skipped).unwrap_or(i64::MAX));
        }
        let mut total = SqlBuilder::new(self.dialect, tenant);
        total
            .push("SELECT ")
            .push(&self.dialect.as_text("count(*)"))
            .push(" FROM ")
            .push(&table.name)
            .push(" t WHERE ");
        self.push_record_condition(&mut total, table, "t");
        self.within(&mut total, table, &request.scope)?;
        let mut statements = vec![page.finish(), total.finish()];
        if let Scope::Under(address) = &request.scope {
            let container = self.of(address.kind).ok_or_else(Error::not_found)?;
            let mut sql = SqlBuilder::new(self.dialect, tenant);
            self.heads(&mut sql, container);
            self.named(&mut sql, container, "t", &LookupKey::from(address));
            statements.push(sql.finish());
        }
        Ok(statements)
    }

    /// Returns the fields that the records of a kind can be filtered by: those with a lookup that the
    /// mapping contains, and memberships.
    pub(super) fn filter_fields(&self, kind: Kind) -> Vec<FilterField> {
        let Some(table) = self.of(kind) else {
            return Vec::new();
        };
        let is_mapped = |field: &FilterField| match field.source() {
            FilterSource::Identifiers | FilterSource::Through(_) => true,
            FilterSource::EmailAddresses => table.emails().is_some(),
            FilterSource::UniqueName => field
                .shows()
                .is_some_and(|name| table.column(name).is_some()),
            // Only the vendor knows whether a date or a text has an index.
            FilterSource::Date | FilterSource::Text { .. } => false,
        };
        FilterField::of(kind).filter(is_mapped).collect()
    }

    /// Returns the statements that find the records of each key.
    pub(super) fn key_statements(
        &self,
        tenant: &str,
        kind: Kind,
        keys: &[IndexKey],
    ) -> Result<Vec<Statement>> {
        let table = self.of(kind).ok_or_else(Error::not_found)?;
        let one = |key: &IndexKey| {
            let key = match key {
                IndexKey::Find(FindKey::Email(address)) => LookupKey::Email(address.clone()),
                key => LookupKey::from_index_key(kind, key).ok_or_else(Error::not_found)?,
            };
            let mut sql = SqlBuilder::new(self.dialect, tenant);
            self.records(&mut sql, table);
            self.named(&mut sql, table, "t", &key);
            let most = i64::try_from(MAX_KEY_MATCHES).unwrap_or(i64::MAX);
            push_order_and_limit(&mut sql, table, most);
            Ok(sql.finish())
        };
        keys.iter().map(one).collect()
    }

    /// Returns the page of the records that these statements have found.
    pub(super) fn page_of_keys(
        &self,
        cursors: &CursorCodec,
        tenant: &str,
        kind: Kind,
        request: &ListRequest,
        answers: &[Vec<TextRow>],
    ) -> Result<RawPage> {
        let table = self.of(kind).ok_or_else(Error::not_found)?;
        let mut found = Vec::new();
        for row in answers.iter().flatten() {
            let stored = self.record(table, row)?;
            // A column can compare without regard to case.
            let is_match = |filter: &Filter| matches(filter.tree(), &stored.record);
            if request.filter.as_ref().map_or(Ok(true), is_match)? {
                found.push(stored);
            }
        }
        let ordered = OrderedPages {
            cursors,
            tenant: NUMBER,
            collection: &collection(tenant, kind, &request.scope),
            request,
        };
        ordered.page_of_matches(found)
    }

    /// Adds ` AND` with the condition that a record is in a collection.
    fn within(&self, sql: &mut SqlBuilder, table: &ResolvedTable, scope: &Scope) -> Result<()> {
        let Scope::Under(address) = scope else {
            return Ok(());
        };
        let link = table.scope(address.kind).ok_or_else(Error::not_found)?;
        self.push_link_condition(sql, link, &[LookupKey::from(address)]);
        Ok(())
    }

    /// Returns the page from the rows of these statements.
    pub(super) fn page(
        &self,
        cursors: &CursorCodec,
        tenant: &str,
        kind: Kind,
        request: &ListRequest,
        answers: &[Vec<TextRow>],
    ) -> Result<RawPage> {
        let table = self.of(kind).ok_or_else(Error::not_found)?;
        let [rows, total, container @ ..] = answers else {
            return Err(unasked());
        };
        if let Scope::Under(address) = &request.scope {
            let parent = self.of(address.kind).ok_or_else(Error::not_found)?;
            let found = container
                .first()
                .and_then(|rows| rows.first())
                .ok_or_else(Error::not_found)?;
            let found = self.found(parent, found)?;
            if !address.matches_parent(found.parent.as_ref()) {
                return Err(Error::not_found());
            }
        }
        let total = total
            .first()
            .and_then(|row| row.first()?.as_deref()?.parse().ok())
            .ok_or_else(unasked)?;
        let size = usize::try_from(request.page.size).unwrap_or(usize::MAX);
        let placed = rows
            .iter()
            .take(size)
            .map(|row| self.record(table, row))
            .collect::<Result<Vec<_>>>()?;
        let last = placed
            .last()
            .filter(|_| rows.len() > size)
            .map(|placed| placed.row);
        let next = cursors.encode_next(
            NUMBER,
            &collection(tenant, kind, &request.scope),
            &request.page,
            last,
        );
        Ok(RawPage::new(
            placed.into_iter().map(|placed| placed.record).collect(),
            total,
        )
        .with_next(next))
    }
}

/// Adds the order of a list, and a limit of one more than `most`, which shows whether there are more.
fn push_order_and_limit(sql: &mut SqlBuilder, table: &ResolvedTable, most: i64) {
    sql.push(" ORDER BY t.")
        .push(&table.order.name)
        .push(" LIMIT ")
        .limit(most.saturating_add(1));
}

/// Returns the start of a page.
pub(super) fn start(
    cursors: &CursorCodec,
    tenant: &str,
    kind: Kind,
    request: &ListRequest,
) -> PageStart {
    cursors.decode(
        NUMBER,
        &collection(tenant, kind, &request.scope),
        &request.page,
    )
}

/// Returns the bytes that a cursor is bound to.
fn collection(tenant: &str, kind: Kind, scope: &Scope) -> Vec<u8> {
    let of = match scope {
        Scope::All => String::new(),
        Scope::Under(address) => format!("{}/{}", address.kind.singular(), address.id),
    };
    format!("{}/{of}/{}{tenant}", kind.singular(), tenant.len()).into_bytes()
}
