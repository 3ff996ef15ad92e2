//! The mapping of the vendor's tables and columns to kinds, fields and links.

use async_trait::async_trait;
use svc_core::field_set::LinkKey;
use svc_core::model::shared::EmailAddress;
use svc_core::model::{
    Kind, Person, Petition, Resource, Signature, Tag, Tagging, signature, tagging,
};
use svc_core::record::{ComputedValue, Meta};
use svc_core::value::{ClosedEnum, FlexEnum};
use svc_core::{Record, Result, backend::FindKey};

use super::client::{Row, SqlParam, Transaction};

/// A link, its column, and the kind and the table of its target.
pub(super) type LinkColumn<R> = (LinkKey<R>, &'static str, Kind, &'static str);

/// A kind with a table. Every table has the columns `company_no`, `entered_at`, `edited_at` and
/// `change_no`, and a number as its row id.
#[async_trait]
pub(super) trait TableKind: Resource {
    const TABLE: &'static str;

    /// SQL expression that is read in addition to the columns of the table `it`.
    const MORE: &'static str = "NULL";

    /// The columns of the links, each with the kind and the table of its target.
    const LINKS: &'static [LinkColumn<Self>] = &[];

    /// The column of `name`, if it is unique.
    const NAME: Option<&'static str> = None;

    /// Returns the record in a row. The caller adds its links.
    fn from_row(row: &Row, meta: Meta) -> Result<Record<Self>>;

    /// Returns the columns and their values.
    fn columns(&self) -> Vec<(&'static str, SqlParam<'_>)> {
        Vec::new()
    }

    /// Writes the data that is in other tables.
    async fn write_parts(&self, _: &Transaction, _no: i64) -> Result<()> {
        Ok(())
    }

    /// Returns the condition for rows with a key, which is `?2`, of the company `?1`.
    fn having(key: &FindKey) -> Option<(String, String)> {
        match key {
            FindKey::Name(name) => Some((format!("{} = ?2", Self::NAME?), name.clone())),
            FindKey::Identifier(identifier) => {
                let refs = "SELECT row_no FROM external_refs WHERE company_no = ?1 AND ref = ?2";
                Some((
                    format!("rowid IN ({refs} AND kept_in = '{}')", Self::TABLE),
                    identifier.to_string(),
                ))
            }
            FindKey::Email(address) if Self::KIND == Kind::Person => {
                let emails =
                    "SELECT customer_no FROM customer_emails WHERE address = ?2 COLLATE NOCASE";
                Some((format!("customer_no IN ({emails})"), address.clone()))
            }
            _ => None,
        }
    }
}

#[async_trait]
impl TableKind for Person {
    const TABLE: &'static str = "customers";
    const MORE: &'static str =
        "(SELECT json_group_array(json_array(address, is_main, used_for, newsletter) ORDER BY rowid)
        FROM customer_emails WHERE customer_no = it.customer_no) AS emails";

    fn from_row(row: &Row, meta: Meta) -> Result<Record<Self>> {
        let emails: Vec<Email> = serde_json::from_str(&row.get::<String>("emails")?)?;
        let emails = emails
            .into_iter()
            .map(|(address, is_main, used_for, newsletter)| {
                let mut email = EmailAddress::default();
                email.primary = is_main.map(|is_main| is_main != 0);
                email.address = address;
                email.address_type = used_for.as_deref().map(FlexEnum::parse);
                email.status = newsletter.as_deref().and_then(ClosedEnum::parse);
                email
            });
        let mut person = Self::default();
        (person.given_name, person.family_name) = (row.get("first_name")?, row.get("last_name")?);
        person.source = row.get("comes_from")?;
        person.email_addresses =
            Some(emails.collect()).filter(|emails: &Vec<_>| !emails.is_empty());
        Ok(Record::new(meta, person))
    }

    fn columns(&self) -> Vec<(&'static str, SqlParam<'_>)> {
        vec![
            ("first_name", &self.given_name),
            ("last_name", &self.family_name),
            ("comes_from", &self.source),
        ]
    }

    async fn write_parts(&self, tx: &Transaction, no: i64) -> Result<()> {
        tx.execute("DELETE FROM customer_emails WHERE customer_no = ?1", &[&no])
            .await?;
        for email in self.email_addresses.iter().flatten() {
            let used_for = email.address_type.as_ref().map(FlexEnum::as_str);
            let newsletter = email.status.map(ClosedEnum::as_str);
            let sql = "INSERT INTO customer_emails VALUES (?1, ?2, ?3, ?4, ?5)";
            tx.execute(
                sql,
                &[&no, &email.address, &email.primary, &used_for, &newsletter],
            )
            .await?;
        }
        Ok(())
    }
}

/// An e-mail address of a customer in JSON.
type Email = (Option<String>, Option<i64>, Option<String>, Option<String>);

impl TableKind for Petition {
    const TABLE: &'static str = "campaigns";
    const MORE: &'static str =
        "(SELECT count(*) FROM campaign_responses WHERE campaign_no = it.campaign_no) AS responses";

    fn from_row(row: &Row, meta: Meta) -> Result<Record<Self>> {
        let mut petition = Self::default();
        petition.title = row.get("headline")?;
        petition.summary = row.get("teaser")?;
        petition.petition_text = row.get("demand")?;
        petition.total_signatures = row.get("responses")?;
        Ok(Record::new(meta, petition))
    }

    fn columns(&self) -> Vec<(&'static str, SqlParam<'_>)> {
        vec![
            ("headline", &self.title),
            ("teaser", &self.summary),
            ("demand", &self.petition_text),
        ]
    }
}

impl TableKind for Signature {
    const TABLE: &'static str = "campaign_responses";
    const LINKS: &'static [LinkColumn<Self>] = &[
        (
            signature::link::petition,
            "campaign_no",
            Kind::Petition,
            Petition::TABLE,
        ),
        (
            signature::link::person,
            "customer_no",
            Kind::Person,
            Person::TABLE,
        ),
    ];

    fn from_row(row: &Row, meta: Meta) -> Result<Record<Self>> {
        let mut signature = Self::default();
        (signature.comments, signature.action_date) = (row.get("remark")?, row.get("given_on")?);
        Ok(Record::new(meta, signature))
    }

    fn columns(&self) -> Vec<(&'static str, SqlParam<'_>)> {
        vec![("remark", &self.comments), ("given_on", &self.action_date)]
    }
}

impl TableKind for Tag {
    const TABLE: &'static str = "labels";
    const NAME: Option<&'static str> = Some("label");

    fn from_row(row: &Row, meta: Meta) -> Result<Record<Self>> {
        let mut tag = Self::default();
        (tag.name, tag.description) = (row.get("label")?, row.get("note")?);
        Ok(Record::new(meta, tag))
    }

    fn columns(&self) -> Vec<(&'static str, SqlParam<'_>)> {
        vec![("label", &self.name), ("note", &self.description)]
    }
}

impl TableKind for Tagging {
    const TABLE: &'static str = "customer_labels";
    const LINKS: &'static [LinkColumn<Self>] = &[
        (tagging::link::tag, "label_no", Kind::Tag, Tag::TABLE),
        (
            tagging::link::person,
            "customer_no",
            Kind::Person,
            Person::TABLE,
        ),
    ];

    fn from_row(_: &Row, meta: Meta) -> Result<Record<Self>> {
        let relation = ComputedValue::Relation(Kind::Person);
        Ok(Record::new(meta, Self::default()).with_computed(tagging::key::item_type, relation))
    }
}
