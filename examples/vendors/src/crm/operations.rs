//! Lists, reads, finds, creates, changes and deletes records of every kind with a table.

use async_trait::async_trait;

use svc_core::{
    Context, Create, CreateRequest, Created, Delete, DeleteRequest, Error, ErrorCode, Find,
    FindKey, Get, List, ListRequest, Page, Problem, Record, Result, Update, UpdateRequest,
    filter::IndexKey, filter::QueryPlan, link::RecordAddress, model::Kind, model::Tagging,
    record::Meta,
};

use super::client::{Row, SqlParam, Transaction};
use super::existing::Crm;
use super::mapping::TableKind;
use super::refs;

#[async_trait]
impl<R: TableKind> List<R> for Crm {
    async fn list(&self, cx: &Context, request: &ListRequest) -> Result<Page<R>> {
        let tx = self.tx(cx).await?;
        // A filter: the library has parsed it and determined the lookups, and selects the matching
        // records.
        if let Some(QueryPlan::Keys(points)) = request.query_plan()? {
            let mut found = Vec::new();
            for point in points {
                let (condition, value) = match point {
                    IndexKey::Id(id) => ("rowid = ?2".to_owned(), id.as_str().to_owned()),
                    IndexKey::Find(key) => match R::having(&key) {
                        Some(having) => having,
                        None => continue,
                    },
                    _ => continue,
                };
                found.extend(
                    select(&tx, cx, &format!("{condition} ORDER BY rowid"), &[&value]).await?,
                );
            }
            return request.page_of_matches(found);
        }
        let (column, above) = match &request.scope {
            svc_core::link::Scope::All => ("?2", None),
            svc_core::link::Scope::Under(above) => {
                let mut links = R::LINKS
                    .iter()
                    .filter(|(_, _, kind, _)| *kind == above.kind);
                let (_, column, _, table) = links.next().ok_or_else(Error::not_found)?;
                let found = exists(&tx, cx, table, above).await?;
                found
                    .then_some((*column, above.id.as_number()))
                    .ok_or_else(Error::not_found)?
            }
        };
        // Other programs also write these rows, so the total is counted with an index.
        let count = format!(
            "SELECT count(*) AS total FROM {} WHERE company_no = ?1 AND {column} IS ?2",
            R::TABLE
        );
        let total: i64 = tx
            .query_one(&count, &[&cx.tenant().as_number(), &above])
            .await?
            .get("total")?;
        let condition = format!("{column} IS ?2 ORDER BY rowid LIMIT ?3 OFFSET ?4");
        let records = select(
            &tx,
            cx,
            &condition,
            &[&above, &request.page.size, &request.page.offset()],
        )
        .await?;
        Ok(Page::new(records, total.try_into()?))
    }
}

#[async_trait]
impl<R: TableKind> Get<R> for Crm {
    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<Record<R>>> {
        read(&*self.tx(cx).await?, cx, at).await
    }
}

#[async_trait]
impl<R: TableKind> Find<R> for Crm {
    async fn find(&self, cx: &Context, key: &FindKey) -> Result<Option<Record<R>>> {
        let Some((condition, value)) = R::having(key) else {
            return Ok(None);
        };
        let tx = self.tx(cx).await?;
        Ok(select(
            &tx,
            cx,
            &format!("{condition} ORDER BY rowid LIMIT 1"),
            &[&value],
        )
        .await?
        .pop())
    }
}

#[async_trait]
impl<R: TableKind> Create<R> for Crm {
    async fn create(&self, cx: &Context, request: CreateRequest<R>) -> Result<Created<R>> {
        let tx = self.tx(cx).await?;
        let links: Vec<_> = request
            .draft
            .links()
            .iter()
            .map(|(name, to)| (*name, Some(to.clone())))
            .collect();
        let links = columns::<R>(&tx, cx, &links).await?;
        if let (Kind::Tagging, [(tag, tag_no), (person, person_no)]) = (R::KIND, links.as_slice()) {
            let both = &format!("{tag} = ?2 AND {person} = ?3");
            if let Some(known) = select(&tx, cx, both, &[tag_no, person_no]).await?.pop() {
                return Ok(Created::existing(known));
            }
        }
        let (company, now) = (cx.tenant().as_number(), cx.received_at().as_micros());
        let mut new: Vec<(&str, SqlParam<'_>)> = vec![
            ("company_no", &company),
            ("entered_at", &now),
            ("edited_at", &now),
        ];
        new.extend(
            links
                .iter()
                .map(|(column, no)| (*column, no as SqlParam<'_>)),
        );
        let (names, values): (Vec<&str>, Vec<SqlParam<'_>>) = new.into_iter().unzip();
        let places: Vec<String> = (1..=names.len()).map(|place| format!("?{place}")).collect();
        let row = format!(
            "{} ({}) VALUES ({})",
            R::TABLE,
            names.join(", "),
            places.join(", ")
        );
        let no = tx
            .query_one(
                &format!("INSERT INTO {row} RETURNING rowid AS row_no"),
                &values,
            )
            .await?
            .get("row_no")?;
        refs::save::<R>(&tx, cx, no, request.draft.identifiers()).await?;
        let record = write(&tx, cx, no, cx.received_at(), &request.draft.fields(), &[]).await?;
        Ok(Created::new(record))
    }
}

#[async_trait]
impl<R: TableKind> Update<R> for Crm {
    async fn update(&self, cx: &Context, request: UpdateRequest<R>) -> Result<Option<Record<R>>> {
        let tx = self.tx(cx).await?;
        let Some(known) = read::<R>(&tx, cx, &request.address).await? else {
            return Ok(None);
        };
        request.check_expected_state(known.meta())?;
        let no = known.meta().id.as_number().ok_or_else(Error::not_found)?;
        let links = columns::<R>(&tx, cx, request.patch.links()).await?;
        if let Some(identifiers) = request.patch.identifiers() {
            refs::save::<R>(&tx, cx, no, identifiers).await?;
        }
        let fields = request.patch.apply(&known.fields(), cx.received_at())?;
        let record = write(
            &tx,
            cx,
            no,
            cx.received_at().at_least_after(known.meta().modified),
            &fields,
            &links,
        )
        .await?;
        Ok(Some(record))
    }
}

#[async_trait]
impl<R: TableKind> Delete<R> for Crm {
    async fn delete(&self, cx: &Context, request: &DeleteRequest) -> Result<bool> {
        let tx = self.tx(cx).await?;
        let Some(known) = read::<R>(&tx, cx, &request.address).await? else {
            return Ok(false);
        };
        request.check_expected_state(known.meta())?;
        let no = known.meta().id.as_number();
        refs::forget::<R>(&tx, "rowid", no).await?;
        // Labels of a customer are deleted with the customer or the label.
        for (_, column, ..) in Tagging::LINKS
            .iter()
            .filter(|(.., table)| *table == R::TABLE)
        {
            refs::forget::<Tagging>(&tx, column, no).await?;
        }
        match tx
            .execute(
                &format!("DELETE FROM {} WHERE rowid = ?1", R::TABLE),
                &[&no],
            )
            .await
        {
            Err(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) =>
            {
                return Err(Error::invalid(Problem::for_request(
                    ErrorCode::HasDependents,
                    ErrorCode::HasDependents.meaning(),
                )));
            }
            deleted => deleted?,
        };
        Ok(true)
    }
}

/// Returns whether a record of a link or a path belongs to this company.
async fn exists(tx: &Transaction, cx: &Context, table: &str, at: &RecordAddress) -> Result<bool> {
    let sql = format!("SELECT 1 FROM {table} WHERE company_no = ?1 AND rowid = ?2");
    Ok(tx
        .query_opt(&sql, &[&cx.tenant().as_number(), &at.id.as_number()])
        .await?
        .is_some())
}

/// Returns the record with this address.
pub(super) async fn read<R: TableKind>(
    tx: &Transaction,
    cx: &Context,
    at: &RecordAddress,
) -> Result<Option<Record<R>>> {
    let found = select::<R>(tx, cx, "rowid = ?2", &[&at.id.as_number()])
        .await?
        .pop();
    Ok(found.filter(|record| at.matches_parent(record.parent())))
}

/// Returns the records of this company that match a condition. Its parameters start at `?2`.
async fn select<R: TableKind>(
    tx: &Transaction,
    cx: &Context,
    condition: &str,
    values: &[SqlParam<'_>],
) -> Result<Vec<Record<R>>> {
    let what = format!("*, rowid AS row_no, {}, {}", refs::column::<R>(), R::MORE);
    let sql = format!(
        "SELECT {what} FROM {} AS it WHERE company_no = ?1 AND {condition}",
        R::TABLE
    );
    let company = cx.tenant().as_number();
    let values: Vec<SqlParam<'_>> = std::iter::once(&company as SqlParam<'_>)
        .chain(values.iter().copied())
        .collect();
    tx.query(&sql, &values).await?.iter().map(record).collect()
}

fn record<R: TableKind>(row: &Row) -> Result<Record<R>> {
    let moment = |name| row.get(name).map(svc_core::value::Timestamp::from_micros);
    let meta = Meta::new(row.get::<i64>("row_no")?.into(), moment("entered_at")?)
        .with_modified(moment("edited_at")?);
    let meta = meta
        .with_version(row.get("change_no")?)
        .with_identifiers(&refs::of(row)?);
    let mut record = R::from_row(row, meta)?;
    for (link, column, kind, _) in R::LINKS {
        if let Some(no) = row.get::<Option<i64>>(column)? {
            record = record.with_link(*link, RecordAddress::without_parent(*kind, no.into()));
        }
    }
    Ok(record)
}

/// Returns the columns of links. Each link must have an existing target.
///
/// Requirements: CRU-02.
async fn columns<R: TableKind>(
    tx: &Transaction,
    cx: &Context,
    links: &[(&'static str, Option<RecordAddress>)],
) -> Result<Vec<(&'static str, Option<i64>)>> {
    let (mut columns, mut problems) = (Vec::new(), Vec::new());
    for (link, column, kind, table) in R::LINKS {
        let Some((name, to)) = links.iter().find(|(name, _)| *name == link.name()) else {
            continue;
        };
        if let Some(to) = to
            && !exists(tx, cx, table, to).await?
        {
            let is_container = R::SCHEMA.parent == Some(*name);
            let problem = Problem::link_not_found(*kind, name);
            problems.push(
                (!is_container)
                    .then_some(problem)
                    .ok_or_else(Error::not_found)?,
            );
        }
        columns.push((*column, to.as_ref().and_then(|to| to.id.as_number())));
    }
    if problems.is_empty() {
        Ok(columns)
    } else {
        Err(Error::invalid_all(problems))
    }
}

/// Writes fields and links into an existing row.
pub(super) async fn write<R: TableKind>(
    tx: &Transaction,
    cx: &Context,
    no: i64,
    edited: svc_core::value::Timestamp,
    fields: &R,
    links: &[(&'static str, Option<i64>)],
) -> Result<Record<R>> {
    let edited = edited.as_micros();
    let mut columns = fields.columns();
    if let Some((column, name)) = columns.iter().find(|(column, _)| R::NAME == Some(*column)) {
        let sql = format!(
            "SELECT 1 FROM {} WHERE company_no = ?1 AND {column} = ?2 AND rowid <> ?3",
            R::TABLE
        );
        if tx
            .query_opt(&sql, &[&cx.tenant().as_number(), name, &no])
            .await?
            .is_some()
        {
            return Err(Error::invalid(Problem::new(
                ErrorCode::NameInUse,
                "name",
                ErrorCode::NameInUse.meaning(),
            )));
        }
    }
    columns.push(("edited_at", &edited));
    columns.extend(
        links
            .iter()
            .map(|(column, no)| (*column, no as SqlParam<'_>)),
    );
    let set: Vec<String> = (2..)
        .zip(&columns)
        .map(|(place, (column, _))| format!("{column} = ?{place}"))
        .collect();
    let values: Vec<SqlParam<'_>> = std::iter::once(&no as SqlParam<'_>)
        .chain(columns.into_iter().map(|it| it.1))
        .collect();
    tx.execute(
        &format!(
            "UPDATE {} SET {} WHERE rowid = ?1",
            R::TABLE,
            set.join(", ")
        ),
        &values,
    )
    .await?;
    fields.write_parts(tx, no).await?;
    read(tx, cx, &RecordAddress::without_parent(R::KIND, no.into()))
        .await?
        .ok_or_else(Error::not_found)
}
