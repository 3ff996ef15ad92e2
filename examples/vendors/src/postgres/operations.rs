//! Lists, reads, finds, creates, changes and deletes records of every kind with a table.

use async_trait::async_trait;
use svc_core::link::{RecordAddress, Scope};
use svc_core::read::Json;
use svc_core::record::Meta;
use svc_core::value::{Identifier, Timestamp};
use svc_core::{
    Context, Create, CreateRequest, Created, Delete, DeleteRequest, Draft, Error, Find, FindKey,
    Get, List, ListRequest, Page, Problem, Record, Result, Update, UpdateRequest,
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::mapping::Mapped;
use super::transactions::{Param, PostgresCrm, Tx};

/// Records with their row numbers.
type NumberedRecords<R> = Vec<(i64, Record<R>)>;

#[async_trait]
impl<R: Mapped> List<R> for PostgresCrm {
    async fn list(&self, cx: &Context, request: &ListRequest) -> Result<Page<R>> {
        let tx = self.tx(cx).await?;
        let (condition, exists, above) = match &request.scope {
            Scope::All => ("$2::uuid IS NULL".to_owned(), "true".to_owned(), None),
            Scope::Under(above) => {
                let link = R::LINKS.iter().find(|(_, _, kind, _)| *kind == above.kind);
                let (_, column, _, table) = link.ok_or_else(Error::not_found)?;
                let found = format!("FROM {table} WHERE org_id = $1 AND public_id = $2");
                let condition = format!("it.{column} = (SELECT id {found})");
                (
                    condition,
                    format!("EXISTS (SELECT {found})"),
                    Some(above.id.as_uuid().ok_or_else(Error::not_found)?),
                )
            }
        };
        let what = format!("count(*) AS total, {exists} AS found");
        let count = format!(
            "SELECT {what} FROM {} it WHERE {} = $1 AND {condition}",
            R::TABLE,
            R::ORG
        );
        let condition = format!("{condition} ORDER BY it.id LIMIT $3 OFFSET $4");
        // Both queries run at the same time.
        let (org, size, offset) = (
            cx.tenant().as_number(),
            i64::from(request.page.size),
            request.page.offset(),
        );
        let (one, other): ([Param<'_>; 2], [Param<'_>; 3]) =
            ([&org, &above], [&above, &size, &offset]);
        let (counted, rows) =
            tokio::try_join!(tx.query(&count, &one), select(&tx, cx, &condition, &other))?;
        let counted = counted.first().ok_or_else(Error::not_found)?;
        if !counted.try_get::<_, bool>("found")? {
            return Err(Error::not_found());
        }
        let records = rows.into_iter().map(|(_, record)| record).collect();
        Ok(Page::new(
            records,
            counted.try_get::<_, i64>("total")?.try_into()?,
        ))
    }
}

#[async_trait]
impl<R: Mapped> Get<R> for PostgresCrm {
    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<Record<R>>> {
        Ok(read(&*self.tx(cx).await?, cx, at, "")
            .await?
            .map(|(_, record)| record))
    }
}

#[async_trait]
impl<R: Mapped> Find<R> for PostgresCrm {
    async fn find(&self, cx: &Context, key: &FindKey) -> Result<Option<Record<R>>> {
        let Some((condition, value)) = R::having(key) else {
            return Ok(None);
        };
        Ok(select(&*self.tx(cx).await?, cx, condition, &[&value])
            .await?
            .pop()
            .map(|(_, record)| record))
    }
}

#[async_trait]
impl<R: Mapped> Create<R> for PostgresCrm {
    async fn create(&self, cx: &Context, request: CreateRequest<R>) -> Result<Created<R>> {
        let (tx, draft) = (self.tx(cx).await?, request.draft);
        let mut problems = taken::<R>(&tx, cx, None, draft.identifiers()).await?;
        let mut links = Vec::new();
        for (link, column, kind, table) in R::LINKS {
            let Some(to) = draft.link(*link) else {
                continue;
            };
            let sql = format!("SELECT id FROM {table} WHERE org_id = $1 AND public_id = $2");
            match tx
                .query(&sql, &[&cx.tenant().as_number(), &to.id.as_uuid()])
                .await?
                .first()
            {
                Some(row) => links.push((*column, row.try_get::<_, i64>("id")?)),
                None if R::SCHEMA.parent == Some(link.name()) => return Err(Error::not_found()),
                None => problems.push(Problem::link_not_found(*kind, link.name())),
            }
        }
        refuse(problems)?;
        let now = "$2::text::timestamptz";
        let mut columns = vec![(R::MADE, now), ("updated_at", now), ("refs", "$3::text[]")];
        columns.extend((R::ORG == "it.org_id").then_some(("org_id", "org")));
        columns.extend(R::WRITE);
        columns.extend(
            links
                .iter()
                .zip(["$5::bigint", "$6::bigint"])
                .map(|((column, _), place)| (*column, place)),
        );
        let (names, of): (Vec<&str>, Vec<&str>) = columns.into_iter().unzip();
        let from = "FROM (SELECT $1::bigint AS org, $4::text::json AS f) AS sent";
        let row = format!(
            "{} AS it ({}) SELECT {} {from} {}",
            R::TABLE,
            names.join(", "),
            of.join(", "),
            R::AGAIN
        );
        let (org, moment, refs) = (
            cx.tenant().as_number(),
            cx.received_at().to_string(),
            texts(draft.identifiers()),
        );
        let fields = Json::Object(draft.as_raw().fields.clone()).to_string();
        let mut values: Vec<Param<'_>> = vec![&org, &moment, &refs, &fields];
        values.extend(links.iter().map(|(_, id)| id as Param<'_>));
        let made = tx
            .query(
                &format!("INSERT INTO {row} RETURNING id, xmax = 0 AS is_new"),
                &values,
            )
            .await?
            .pop();
        let row = made.ok_or_else(Error::not_found)?;
        let record = written(&tx, cx, row.try_get("id")?, &fields).await?;
        Ok(if row.try_get("is_new")? {
            Created::new(record)
        } else {
            Created::existing(record)
        })
    }
}

#[async_trait]
impl<R: Mapped> Update<R> for PostgresCrm {
    async fn update(&self, cx: &Context, request: UpdateRequest<R>) -> Result<Option<Record<R>>> {
        let tx = self.tx(cx).await?;
        let Some((id, known)) = read::<R>(&tx, cx, &request.address, "FOR UPDATE OF it").await?
        else {
            return Ok(None);
        };
        request.check_expected_state(known.meta().modified)?;
        let sent = request.patch.identifiers();
        refuse(taken::<R>(&tx, cx, Some(id), sent.unwrap_or_default()).await?)?;
        let changed =
            Draft::new(&request.patch.apply(&known.fields(), cx.received_at())?).into_raw();
        let fields = Json::Object(changed.fields).to_string();
        let columns: Vec<String> = R::WRITE
            .iter()
            .map(|(column, of)| format!(", {column} = {of}"))
            .collect();
        let values = format!(
            "updated_at = $2::text::timestamptz, refs = coalesce($3, refs){}",
            columns.concat()
        );
        let sql = format!(
            "UPDATE {} it SET {values} FROM (SELECT $4::text::json AS f) sent WHERE id = $1",
            R::TABLE
        );
        tx.query(
            &sql,
            &[
                &id,
                &cx.received_at()
                    .at_least_after(known.meta().modified)
                    .to_string(),
                &sent.map(texts),
                &fields,
            ],
        )
        .await?;
        written(&tx, cx, id, &fields).await.map(Some)
    }
}

#[async_trait]
impl<R: Mapped> Delete<R> for PostgresCrm {
    async fn delete(&self, cx: &Context, request: &DeleteRequest) -> Result<bool> {
        let tx = self.tx(cx).await?;
        let Some((id, known)) = read::<R>(&tx, cx, &request.address, "FOR UPDATE OF it").await?
        else {
            return Ok(false);
        };
        request.check_expected_state(known.meta().modified)?;
        tx.query(&format!("DELETE FROM {} WHERE id = $1", R::TABLE), &[&id])
            .await?;
        Ok(true)
    }
}

/// Returns the record with this address, and its row number.
async fn read<R: Mapped>(
    tx: &Tx,
    cx: &Context,
    at: &RecordAddress,
    lock: &str,
) -> Result<Option<(i64, Record<R>)>> {
    let found = select::<R>(
        tx,
        cx,
        &format!("it.public_id = $2 {lock}"),
        &[&at.id.as_uuid()],
    )
    .await?
    .pop();
    Ok(found.filter(|(_, record)| at.matches_parent(record.parent())))
}

/// Returns the record of a row that was just written, with its parts.
async fn written<R: Mapped>(tx: &Tx, cx: &Context, id: i64, fields: &String) -> Result<Record<R>> {
    if let Some(parts) = R::PARTS {
        tx.query(parts, &[&id, fields]).await?;
    }
    let found = select(tx, cx, "it.id = $2", &[&id]).await?.pop();
    found.map(|(_, record)| record).ok_or_else(Error::not_found)
}

/// Returns the records of this organisation that match a condition, with their row numbers. The
/// parameters of the condition start at `$2`.
async fn select<R: Mapped>(
    tx: &Tx,
    cx: &Context,
    condition: &str,
    values: &[Param<'_>],
) -> Result<NumberedRecords<R>> {
    let link = |(_, at, _, table): &_| {
        format!(", (SELECT public_id FROM {table} WHERE id = it.{at}) AS {at}")
    };
    let links: String = R::LINKS.iter().map(link).collect();
    let micros = |of| format!("(extract(epoch FROM it.{of}) * 1000000)::bigint");
    let times = format!(
        "{} AS made, {} AS changed",
        micros(R::MADE),
        micros("updated_at")
    );
    let what = format!(
        "it.id, public_id, {times}, it.refs, ({})::text AS fields",
        R::READ
    );
    let sql = format!(
        "SELECT {what}{links} FROM {} it WHERE {} = $1 AND {condition}",
        R::TABLE,
        R::ORG
    );
    let org = cx.tenant().as_number();
    let values: Vec<Param<'_>> = std::iter::once(&org as Param<'_>)
        .chain(values.iter().copied())
        .collect();
    tx.query(&sql, &values).await?.iter().map(record).collect()
}

fn record<R: Mapped>(row: &Row) -> Result<(i64, Record<R>)> {
    let moment = |name| row.try_get(name).map(Timestamp::from_micros);
    let refs: Vec<_> = row
        .try_get::<_, Vec<&str>>("refs")?
        .into_iter()
        .filter_map(Identifier::parse)
        .collect();
    let id = row.try_get::<_, Uuid>("public_id")?;
    let meta = Meta::new(id.into(), moment("made")?)
        .with_modified(moment("changed")?)
        .with_identifiers(&refs);
    let fields = Json::read_kept(row.try_get::<_, &str>("fields")?.as_bytes());
    let fields = fields
        .as_ref()
        .and_then(Json::as_object)
        .map(R::from_object)
        .unwrap_or_default();
    let mut record = Record::new(meta, fields);
    for (link, column, kind, _) in R::LINKS {
        record = record.with_link(
            *link,
            RecordAddress::without_parent(*kind, row.try_get::<_, Uuid>(*column)?.into()),
        );
    }
    Ok((row.try_get("id")?, record))
}

/// Returns a problem for each identifier that another row has.
///
/// Requirements: UND-24.
async fn taken<R: Mapped>(
    tx: &Tx,
    cx: &Context,
    own: Option<i64>,
    sent: &[Identifier],
) -> Result<Vec<Problem>> {
    let other = format!(
        "SELECT FROM {} it WHERE {} = $1 AND refs @> ARRAY[ref]",
        R::TABLE,
        R::ORG
    );
    let of = "unnest($2::text[]) WITH ORDINALITY AS sent(ref, n)";
    let sql = format!(
        "SELECT n - 1 AS n FROM {of} WHERE EXISTS ({other} AND id IS DISTINCT FROM $3) ORDER BY n"
    );
    let (org, refs) = (cx.tenant().as_number(), texts(sent));
    let rows = if sent.is_empty() {
        Vec::new()
    } else {
        tx.query(&sql, &[&org, &refs, &own]).await?
    };
    rows.iter()
        .map(|row| {
            Ok(Problem::identifier_in_use(
                row.try_get::<_, i64>("n")?.try_into()?,
            ))
        })
        .collect()
}

fn refuse(wrong: Vec<Problem>) -> Result<()> {
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Error::invalid_all(wrong))
    }
}

fn texts(identifiers: &[Identifier]) -> Vec<String> {
    identifiers.iter().map(ToString::to_string).collect()
}
