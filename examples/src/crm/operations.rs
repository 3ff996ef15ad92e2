//! Listing, reading, creating, changing and deleting, for every kind that has a table.

use async_trait::async_trait;
use rusqlite::{ErrorCode, OptionalExtension, Transaction};
use svc_core::link::{Address, Scope};
use svc_core::value::Identifier;
use svc_core::{
    Code, Context, Create, Created, Delete, Draft, Error, Get, List, Page, PageRequest, Patch, Problem, Record, Result,
    Update,
};

use super::existing::Crm;
use super::mapping::{Mapped, table};
use super::refs;

#[async_trait]
impl<R: Mapped> List<R> for Crm {
    async fn list(&self, cx: &Context, scope: &Scope, page: &PageRequest) -> Result<Page<R>> {
        self.transaction(|tx| {
            let (column, above) = match scope {
                Scope::All => ("?2", None),
                Scope::Under(above) => {
                    let column = R::LINKS.iter().find(|(.., kind)| *kind == above.kind).map(|(_, column, _)| *column);
                    let is_there = exists(tx, cx, above)?;
                    (column.filter(|_| is_there).ok_or(Error::NotFound)?, above.id.number())
                }
            };
            let rows = format!("FROM {} WHERE company_no = ?1 AND {column} IS ?2", R::TABLE);
            let company = cx.tenant.number();
            let total: i64 = tx.query_row(&format!("SELECT count(*) {rows}"), (company, above), |row| row.get(0))?;
            let mut sql = tx.prepare_cached(&format!("SELECT * {rows} ORDER BY rowid LIMIT ?3 OFFSET ?4"))?;
            let records = sql.query_map((company, above, page.size, page.offset()), |row| R::from_row(tx, row))?;
            Ok(Page::new(records.collect::<rusqlite::Result<_>>()?, total.try_into()?))
        })
    }
}

#[async_trait]
impl<R: Mapped> Get<R> for Crm {
    async fn get(&self, cx: &Context, at: &Address) -> Result<Option<Record<R>>> {
        self.transaction(|tx| find(tx, cx, at))
    }
}

#[async_trait]
impl<R: Mapped> Create<R> for Crm {
    async fn create(&self, cx: &Context, draft: Draft<R>) -> Result<Created<R>> {
        self.transaction(|tx| insert(tx, cx, &draft).map(Created::New))
    }
}

#[async_trait]
impl<R: Mapped> Update<R> for Crm {
    async fn update(&self, cx: &Context, at: &Address, patch: Patch<R>) -> Result<Option<Record<R>>> {
        self.transaction(|tx| {
            let Some(known) = find::<R>(tx, cx, at)? else { return Ok(None) };
            let fields = patch.apply(&known.fields(), cx.now)?;
            change(tx, cx, &known, &fields, patch.identifiers.as_deref()).map(Some)
        })
    }
}

#[async_trait]
impl<R: Mapped> Delete<R> for Crm {
    async fn delete(&self, cx: &Context, at: &Address) -> Result<bool> {
        self.transaction(|tx| {
            let Some(known) = find::<R>(tx, cx, at)? else { return Ok(false) };
            let no = known.meta().id.number();
            tx.execute("DELETE FROM external_refs WHERE kept_in = ?1 AND row_no = ?2", (R::TABLE, no))?;
            match tx.execute(&format!("DELETE FROM {} WHERE rowid = ?1", R::TABLE), [no]) {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                    Err(Error::invalid(Problem::general(Code::HasDependents, Code::HasDependents.meaning())))
                }
                deleted => Ok(deleted.map(|rows| rows > 0)?),
            }
        })
    }
}

/// Whether a record that a link or a path names is one of this company.
fn exists(tx: &Transaction<'_>, cx: &Context, at: &Address) -> Result<bool> {
    let Some(table) = table(at.kind) else { return Ok(false) };
    let sql = format!("SELECT 1 FROM {table} WHERE company_no = ?1 AND rowid = ?2");
    Ok(tx.query_row(&sql, (cx.tenant.number(), at.id.number()), |_| Ok(())).optional()?.is_some())
}

/// The record at an address.
pub(super) fn find<R: Mapped>(tx: &Transaction<'_>, cx: &Context, at: &Address) -> Result<Option<Record<R>>> {
    let sql = format!("SELECT * FROM {} WHERE company_no = ?1 AND rowid = ?2", R::TABLE);
    let found = tx.query_row(&sql, (cx.tenant.number(), at.id.number()), |row| R::from_row(tx, row)).optional()?;
    Ok(found.filter(|record| at.admits_parent(record.parent())))
}

/// A new row.
pub(super) fn insert<R: Mapped>(tx: &Transaction<'_>, cx: &Context, draft: &Draft<R>) -> Result<Record<R>> {
    let sql = format!("INSERT INTO {} (company_no, entered_at, edited_at) VALUES (?1, ?2, ?2)", R::TABLE);
    tx.execute(&sql, (cx.tenant.number(), cx.now.micros()))?;
    let no = tx.last_insert_rowid();
    for (link, column, kind) in R::LINKS {
        let Some(to) = draft.link(link.name()) else { continue };
        if !exists(tx, cx, to)? {
            let is_container = draft.container() == Some(to);
            let nowhere = || Error::invalid(Problem::leads_nowhere(*kind, &format!("_links.{}", link.name())));
            return Err(if is_container { Error::NotFound } else { nowhere() });
        }
        tx.execute(&format!("UPDATE {} SET {column} = ?2 WHERE rowid = ?1", R::TABLE), (no, to.id.number()))?;
    }
    refs::save(tx, cx, R::TABLE, no, &draft.identifiers)?;
    draft.fields().to_row(tx, no)?;
    find(tx, cx, &Address::top(R::KIND, no.into()))?.ok_or(Error::NotFound)
}

/// Other fields, and when they are given other identifiers, for a row that is there.
pub(super) fn change<R: Mapped>(
    tx: &Transaction<'_>,
    cx: &Context,
    known: &Record<R>,
    fields: &R,
    identifiers: Option<&[Identifier]>,
) -> Result<Record<R>> {
    let no = known.meta().id.number().ok_or(Error::NotFound)?;
    let edited = cx.now.after(known.meta().modified);
    tx.execute(&format!("UPDATE {} SET edited_at = ?2 WHERE rowid = ?1", R::TABLE), (no, edited.micros()))?;
    if let Some(identifiers) = identifiers {
        refs::save(tx, cx, R::TABLE, no, identifiers)?;
    }
    fields.to_row(tx, no)?;
    find(tx, cx, &Address::top(R::KIND, no.into()))?.ok_or(Error::NotFound)
}
