//! Merges of two customers: everything of one customer then belongs to the other one.

use async_trait::async_trait;
use svc_core::backend::{MergePeople, MergedPeople, PeopleMerge};
use svc_core::model::{Kind, Person, Tagging};
use svc_core::{Context, Error, Result, link::RecordAddress};

use super::client::Transaction;
use super::existing::Crm;
use super::mapping::TableKind;
use super::operations::{read, write};
use super::refs;

/// Moves rows to the customer `?1` at the time `?3`.
const MOVED: &str = "customer_no = ?1, edited_at = max(edited_at + 1, ?3)";

#[async_trait]
impl MergePeople for Crm {
    async fn merge(&self, cx: &Context, request: PeopleMerge) -> Result<MergedPeople> {
        let tx = self.tx(cx).await?;
        let remaining = read::<Person>(&tx, cx, &request.remaining).await?;
        let merged = read::<Person>(&tx, cx, &request.merged).await?;
        let (Some(remaining), Some(merged)) = (remaining, merged) else {
            return Err(Error::conflict());
        };
        request.check_expected_states(remaining.meta(), merged.meta())?;
        let no = |at: &RecordAddress| at.id.as_number().ok_or_else(Error::not_found);
        let (to, from) = (no(&request.remaining)?, no(&request.merged)?);
        let now = cx.received_at();
        let folded = fold_labels(&tx, to, from, now.as_micros()).await?;
        let mut moved = Vec::new();
        for (kind, table) in [
            (Kind::Signature, "campaign_responses"),
            (Kind::Tagging, Tagging::TABLE),
        ] {
            let sql = format!("UPDATE {table} SET {MOVED} WHERE customer_no = ?2");
            let rows = tx.execute(&sql, &[&to, &from, &now.as_micros()]).await?;
            moved.push((kind, u64::try_from(rows)?));
        }
        // Repeated requests of the merged customer get their first response.
        let answers = "UPDATE kept_answers SET customer_no = ?1 WHERE customer_no = ?2";
        tx.execute(answers, &[&to, &from]).await?;

        refs::forget::<Person>(&tx, "rowid", Some(from)).await?;
        refs::save::<Person>(&tx, cx, to, &request.identifiers).await?;
        let edited = now.at_least_after(remaining.meta().modified);
        let person = write(&tx, cx, to, edited, &request.person(), &[]).await?;
        // Last, so that a reader of the change feed has everything else by then.
        tx.execute("DELETE FROM customers WHERE customer_no = ?1", &[&from])
            .await?;

        let mut done = MergedPeople::new(person);
        for (kind, records) in moved {
            done = done.moved(kind, records);
        }
        for [older, younger] in folded {
            done = done.folded(older, younger);
        }
        Ok(done)
    }
}

/// Deletes the younger of two lines if both customers have a label, and returns the addresses of each
/// pair. The older line belongs to the remaining customer then, and gets the identifiers of the other line.
async fn fold_labels(
    tx: &Transaction,
    to: i64,
    from: i64,
    now: i64,
) -> Result<Vec<[RecordAddress; 2]>> {
    let sql = "SELECT label_no, min(line_no) AS older, max(line_no) AS younger FROM customer_labels
               WHERE customer_no IN (?1, ?2) GROUP BY label_no HAVING count(*) = 2";
    let mut pairs = Vec::new();
    for row in tx.query(sql, &[&to, &from]).await? {
        let (label, older, younger): (i64, i64, i64) =
            (row.get("label_no")?, row.get("older")?, row.get("younger")?);
        let sql = "UPDATE external_refs SET row_no = ?2 WHERE kept_in = ?1 AND row_no = ?3";
        tx.execute(sql, &[&Tagging::TABLE, &older, &younger])
            .await?;
        let sql = "DELETE FROM customer_labels WHERE line_no = ?1";
        tx.execute(sql, &[&younger]).await?;
        let sql = format!("UPDATE customer_labels SET {MOVED} WHERE line_no = ?2");
        tx.execute(&sql, &[&to, &older, &now]).await?;
        let at = |line: i64| RecordAddress::with_parent(Kind::Tagging, label.into(), line.into());
        pairs.push([at(older), at(younger)]);
    }
    Ok(pairs)
}
