//! Which of the vendor's tables and columns are what in the interface.

use rusqlite::{Row, Transaction};
use svc_core::Record;
use svc_core::field_set::LinkKey;
use svc_core::link::Address;
use svc_core::model::shared::EmailAddress;
use svc_core::model::{Kind, Person, Petition, Resource, Signature, signature};
use svc_core::record::Meta;
use svc_core::value::{ClosedEnum, FlexEnum, Id, Timestamp};

use super::refs;

/// A kind that has a table. Every table has `company_no`, `entered_at` and `edited_at`, and a number as its row id.
pub(super) trait Mapped: Resource {
    const TABLE: &'static str;

    /// The columns behind the links, each with the kind that it leads to.
    const LINKS: &'static [(LinkKey<Self>, &'static str, Kind)] = &[];

    /// The record in a row.
    fn from_row(tx: &Transaction<'_>, row: &Row<'_>) -> rusqlite::Result<Record<Self>>;

    /// Puts the fields into the row with this number, which is there already.
    fn to_row(&self, tx: &Transaction<'_>, no: i64) -> rusqlite::Result<()>;
}

/// The table of a kind that links lead to.
pub(super) fn table(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Person => Some(Person::TABLE),
        Kind::Petition => Some(Petition::TABLE),
        _ => None,
    }
}

fn meta(tx: &Transaction<'_>, table: &str, no: i64, row: &Row<'_>) -> rusqlite::Result<Meta> {
    let moment = |name| row.get(name).map(Timestamp::from_micros);
    let meta = Meta::new(no.into(), moment("entered_at")?).modified(moment("edited_at")?);
    Ok(meta.identifiers(&refs::of(tx, table, no)?))
}

impl Mapped for Person {
    const TABLE: &'static str = "customers";

    fn from_row(tx: &Transaction<'_>, row: &Row<'_>) -> rusqlite::Result<Record<Self>> {
        let no = row.get("customer_no")?;
        let mut emails = tx.prepare_cached("SELECT * FROM customer_emails WHERE customer_no = ?1 ORDER BY rowid")?;
        let emails = emails.query_map([no], email)?.collect::<rusqlite::Result<Vec<_>>>()?;
        let person = Person {
            given_name: row.get("first_name")?,
            family_name: row.get("last_name")?,
            source: row.get("comes_from")?,
            email_addresses: (!emails.is_empty()).then_some(emails),
            ..Person::default()
        };
        Ok(Record::new(meta(tx, Self::TABLE, no, row)?, person))
    }

    fn to_row(&self, tx: &Transaction<'_>, no: i64) -> rusqlite::Result<()> {
        let sql = "UPDATE customers SET first_name = ?2, last_name = ?3, comes_from = ?4 WHERE customer_no = ?1";
        tx.execute(sql, (no, &self.given_name, &self.family_name, &self.source))?;
        tx.execute("DELETE FROM customer_emails WHERE customer_no = ?1", [no])?;
        let mut sql = tx.prepare_cached("INSERT INTO customer_emails VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for email in self.email_addresses.iter().flatten() {
            let used_for = email.address_type.as_ref().map(FlexEnum::as_str);
            sql.execute((no, &email.address, email.primary, used_for, email.status.map(ClosedEnum::as_str)))?;
        }
        Ok(())
    }
}

fn email(row: &Row<'_>) -> rusqlite::Result<EmailAddress> {
    let text = |name| row.get::<_, Option<String>>(name);
    Ok(EmailAddress {
        primary: row.get("is_main")?,
        address: text("address")?,
        address_type: text("used_for")?.as_deref().map(FlexEnum::parse),
        status: text("newsletter")?.as_deref().and_then(ClosedEnum::parse),
    })
}

impl Mapped for Petition {
    const TABLE: &'static str = "campaigns";

    fn from_row(tx: &Transaction<'_>, row: &Row<'_>) -> rusqlite::Result<Record<Self>> {
        let no = row.get("campaign_no")?;
        let mut count = tx.prepare_cached("SELECT count(*) FROM campaign_responses WHERE campaign_no = ?1")?;
        let petition = Petition {
            title: row.get("headline")?,
            summary: row.get("teaser")?,
            petition_text: row.get("demand")?,
            total_signatures: count.query_row([no], |row| row.get(0))?,
            ..Petition::default()
        };
        Ok(Record::new(meta(tx, Self::TABLE, no, row)?, petition))
    }

    fn to_row(&self, tx: &Transaction<'_>, no: i64) -> rusqlite::Result<()> {
        let sql = "UPDATE campaigns SET headline = ?2, teaser = ?3, demand = ?4 WHERE campaign_no = ?1";
        tx.execute(sql, (no, &self.title, &self.summary, &self.petition_text)).map(drop)
    }
}

impl Mapped for Signature {
    const TABLE: &'static str = "campaign_responses";
    const LINKS: &'static [(LinkKey<Self>, &'static str, Kind)] = &[
        (signature::link::petition, "campaign_no", Kind::Petition),
        (signature::link::person, "customer_no", Kind::Person),
    ];

    fn from_row(tx: &Transaction<'_>, row: &Row<'_>) -> rusqlite::Result<Record<Self>> {
        let signature =
            Signature { comments: row.get("remark")?, action_date: row.get("given_on")?, ..Signature::default() };
        let mut record = Record::new(meta(tx, Self::TABLE, row.get("response_no")?, row)?, signature);
        for (link, column, kind) in Self::LINKS {
            if let Some(no) = row.get::<_, Option<i64>>(*column)? {
                record = record.link(*link, Address::top(*kind, Id::from(no)));
            }
        }
        Ok(record)
    }

    fn to_row(&self, tx: &Transaction<'_>, no: i64) -> rusqlite::Result<()> {
        let sql = "UPDATE campaign_responses SET remark = ?2, given_on = ?3 WHERE response_no = ?1";
        tx.execute(sql, (no, &self.comments, &self.action_date)).map(drop)
    }
}
