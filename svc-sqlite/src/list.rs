//! Pages of a collection: by key, so that page 40 000 costs what page 2 costs (COL-20 to COL-31, UND-14, UND-19, UND-20).

use bytes::BytesMut;
use rusqlite::{Connection, ToSql};
use svc_core::{
    PageRequest,
    context::Context,
    error::{Error, Result},
    link::Scope,
    model::Kind,
    page::{Next, RawPage},
};

use crate::{
    apply::collection,
    fetch::records,
    record_id::RecordId,
    rows::{is_at, read_raw},
    schema::{Table, table},
    store::Store,
};

/// Bytes of a record's fields, about.
const BODY: usize = 512;

/// A collection as the statements need it.
#[derive(Clone, Copy)]
struct Place {
    tenant: i64,
    members: &'static Table,
    /// The column and the record it leads to; all records when there is none.
    under: Option<(usize, RecordId)>,
}

impl Store {
    /// One page of a collection.
    pub(crate) async fn page(&self, cx: &Context, kind: Kind, scope: &Scope, page: &PageRequest) -> Result<RawPage> {
        let tenant = self.tenant_in(cx)?;
        let members = table(kind);
        let (under, owner) = match scope {
            Scope::All => (None, None),
            Scope::Under(address) => {
                let column = members.scope(address.kind).ok_or(Error::NotFound)?;
                let id = RecordId::parse(&address.id).ok_or(Error::NotFound)?;
                (Some((column, id)), Some((table(address.kind), id)))
            }
        };
        let place = Place { tenant, members, under };
        let key = collection(tenant, members, owner);
        // A continuation is one of its page and size, too: on another page it would show records under a wrong number.
        let token =
            page.after.as_deref().and_then(|text| self.continuations().read(tenant, &leading_to(&key, page), text));
        let behind = match token {
            Some(seq) => Some(seq),
            None if page.number <= 1 => Some(0),
            None => {
                let total = self.readers().with(|file| Ok(records(file, tenant, members, owner)?))?;
                if page.skipped() >= total {
                    None
                } else {
                    let scan = move |file: &Connection, tell: &mut dyn FnMut(i64)| place.scan(file, tell);
                    let first = self.positions().nth(self.readers(), &key, page.skipped(), scan).await?;
                    first.map(|seq| seq.saturating_sub(1))
                }
            }
        };
        let (total, found) = self.readers().with(|file| {
            if let Scope::Under(address) = scope
                && !is_at(file, tenant, address)?
            {
                return Err(Error::NotFound);
            }
            let total = records(file, tenant, members, owner)?;
            let found = behind.map(|behind| place.read(file, behind, page.size)).transpose()?;
            Ok((total, found.unwrap_or_default()))
        })?;
        let next = match found.last {
            Some(seq) if found.more => {
                let next = PageRequest { number: page.number.saturating_add(1), after: None, ..*page };
                Next::After(self.continuations().write(tenant, &leading_to(&key, &next), seq))
            }
            _ => Next::End,
        };
        Ok(RawPage { records: found.records, total, next })
    }
}

/// What a continuation that leads to a page of a collection is bound to.
fn leading_to(collection: &[u8], page: &PageRequest) -> Vec<u8> {
    [collection, &page.number.to_be_bytes(), &page.size.to_be_bytes()].concat()
}

/// The records of a page.
#[derive(Default)]
struct Found {
    records: Vec<svc_core::record::RawRecord>,
    last: Option<i64>,
    more: bool,
}

impl Place {
    /// The records behind a row, and whether more follow.
    fn read(&self, file: &Connection, behind: i64, size: u32) -> Result<Found> {
        let sql = match self.under {
            None => Some(&self.members.sql.page),
            Some((column, _)) => self.members.sql.page_under.get(column),
        };
        let sql = sql.filter(|text| !text.is_empty()).ok_or(Error::NotFound)?;
        let mut statement = file.prepare_cached(sql)?;
        let limit = i64::from(size).saturating_add(1);
        let owner = self.under.map(|(_, id)| id);
        let mut parameters: Vec<&dyn ToSql> = vec![&self.tenant, &behind, &limit];
        parameters.extend(owner.iter().map(|id| id as &dyn ToSql));
        let mut rows = statement.query(&*parameters)?;
        let mut bodies = BytesMut::with_capacity((size.min(100) as usize).saturating_mul(BODY));
        let mut found = Found { records: Vec::with_capacity(size.min(1000) as usize), ..Found::default() };
        while let Some(row) = rows.next()? {
            if found.records.len() >= size as usize {
                found.more = true;
                break;
            }
            let (seq, record) = read_raw(self.members, row, &mut bodies)?;
            found.last = Some(seq);
            found.records.push(record);
        }
        Ok(found)
    }

    /// Tells every row of the collection.
    fn scan(&self, file: &Connection, tell: &mut dyn FnMut(i64)) -> Result<()> {
        let sql = match self.under {
            None => Some(&self.members.sql.scan),
            Some((column, _)) => self.members.sql.scan_under.get(column),
        };
        let sql = sql.filter(|text| !text.is_empty()).ok_or(Error::NotFound)?;
        let mut statement = file.prepare_cached(sql)?;
        let owner = self.under.map(|(_, id)| id);
        let mut parameters: Vec<&dyn ToSql> = vec![&self.tenant];
        parameters.extend(owner.iter().map(|id| id as &dyn ToSql));
        let mut rows = statement.query(&*parameters)?;
        while let Some(row) = rows.next()? {
            tell(row.get(0)?);
        }
        Ok(())
    }
}
