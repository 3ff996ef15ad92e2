//! The contract of unique names: two tags, or two lists, of a tenant never get equal names.

use svc_core::{
    auth::Caller,
    context::{Context, Tenant},
    draft::{RawDraft, RawPatch},
    error::{ErrorCode, Result},
    json::Object,
    link::RecordAddress,
    model::Kind,
    store::{ImportedRecord, LookupKey, Store, WriteOperation, WriteOutcome, WriteRequest},
    value::{Id, Timestamp},
};

use super::{ContractViolation, concurrency::poll_all};

/// Checks that a store compares the names of tags and lists without regard to case and composition,
/// in creates, updates and lookups, and that it prefers exactly the same name.
///
/// Records with equal or blank names of an earlier version are imported, and remain usable. The
/// tenant must have no records.
///
/// # Errors
///
/// Returns the first request with another result. `step` is its number.
///
/// Requirements: UND-02, UND-03, HAF-02, HAF-05.
pub async fn check_names<S: Store>(store: &S, tenant: Tenant) -> Result<(), ContractViolation> {
    let cx = Context::new(tenant, Caller::anonymous(), Timestamp::now());
    let mut test = NameTest { store, cx, step: 0 };
    for kind in [Kind::Tag, Kind::List] {
        test.new_names(kind).await?;
        test.former_names(kind).await?;
    }
    Ok(())
}

struct NameTest<'s, S> {
    store: &'s S,
    cx: Context,
    step: usize,
}

/// The id of a record, or the code of its problem.
type Written = Result<Id, Option<ErrorCode>>;

const IN_USE: Written = Err(Some(ErrorCode::NameInUse));
const BLANK: Written = Err(Some(ErrorCode::FieldRequired));

impl<S: Store> NameTest<'_, S> {
    async fn new_names(&mut self, kind: Kind) -> Result<(), ContractViolation> {
        let one = self.made(kind, "Zürich").await?;
        for same in ["Zürich", "ZÜRICH", "zu\u{308}rich", " zürich "] {
            let made = self.create(kind, same).await;
            self.expect(same, &made, &IN_USE)?;
            self.finds(kind, same, Some(&one)).await?;
        }
        for blank in ["", " ", "\u{a0}\u{feff}\u{200b}"] {
            let made = self.create(kind, blank).await;
            self.expect("a blank name", &made, &BLANK)?;
        }
        let other = self.made(kind, "Basel").await?;
        for (name, expected) in [
            ("zürich", IN_USE),
            ("\u{200b}", BLANK),
            ("BASEL", Ok(other.clone())),
        ] {
            let renamed = self.rename(kind, &other, name).await;
            self.expect(name, &renamed, &expected)?;
        }
        let long = "ü".repeat(100);
        self.made(kind, &format!("{long}a")).await?;
        self.made(kind, &format!("{long}b")).await?;
        let both = ["Grün", "GRÜN"].map(|name| self.request(create(kind, name)));
        let both = both.map(|request| self.store.write(&self.cx, request));
        let made = poll_all(both.into_iter().collect()).await;
        let made = made.into_iter().filter_map(|one| written(one).ok()).count();
        self.expect("simultaneous creates", &made, &1)?;
        let renamed = self.rename(kind, &one, "Genf").await;
        self.expect("Genf", &renamed, &Ok(one))?;
        self.finds(kind, "ZÜRICH", None).await?;
        let again = self.made(kind, "zürich").await?;
        let delete = WriteOperation::Delete(RecordAddress::without_parent(kind, again));
        let deleted = self.store.write(&self.cx, self.request(delete)).await;
        self.expect("a deletion", &deleted.is_ok(), &true)?;
        self.finds(kind, "Zürich", None).await?;
        // The name of the deleted record does not hide the new one.
        let new = self.made(kind, "zürich").await?;
        self.finds(kind, "ZÜRICH", Some(&new)).await
    }

    /// Names that an earlier version accepted.
    async fn former_names(&mut self, kind: Kind) -> Result<(), ContractViolation> {
        let mut ids = Vec::new();
        for (number, name) in (1..).zip(["Blue", "BLUE", " "]) {
            let id = import_id(kind, number);
            let imported = self.import(kind, &id, name).await;
            self.expect(name, &imported, &Ok(id.clone()))?;
            ids.push((id, name));
        }
        for (id, name) in &ids {
            self.finds(kind, name, Some(id)).await?;
            let changed = self.rename(kind, id, name).await;
            self.expect("an unchanged name", &changed, &Ok(id.clone()))?;
        }
        self.finds(kind, "blue", ids.first().map(|(id, _)| id))
            .await?;
        let made = self.create(kind, "blue").await;
        self.expect("blue", &made, &IN_USE)?;
        let imported = self.import(kind, &import_id(kind, 9), "Blue").await;
        self.expect("Blue", &imported, &IN_USE)
    }

    async fn made(&mut self, kind: Kind, name: &str) -> Result<Id, ContractViolation> {
        let made = self.create(kind, name).await;
        made.map_err(|code| self.broken(&format!("{name:?} is rejected: {code:?}")))
    }

    async fn create(&mut self, kind: Kind, name: &str) -> Written {
        self.write(create(kind, name)).await
    }

    async fn rename(&mut self, kind: Kind, id: &Id, name: &str) -> Written {
        let mut fields = named(name);
        fields.insert("description", "changed");
        let at = RecordAddress::without_parent(kind, id.clone());
        let patch = RawPatch::new(kind, fields);
        self.write(WriteOperation::Update(at, patch)).await
    }

    async fn import(&mut self, kind: Kind, id: &Id, name: &str) -> Written {
        let load = ImportedRecord::new(id.clone(), Timestamp::from_micros(1), draft(kind, name));
        self.write(WriteOperation::Import(Box::new(load))).await
    }

    async fn write(&mut self, operation: WriteOperation) -> Written {
        self.step = self.step.saturating_add(1);
        written(self.store.write(&self.cx, self.request(operation)).await)
    }

    fn request(&self, operation: WriteOperation) -> WriteRequest {
        WriteRequest::new(&self.cx, operation)
    }

    async fn finds(
        &mut self,
        kind: Kind,
        name: &str,
        expected: Option<&Id>,
    ) -> Result<(), ContractViolation> {
        self.step = self.step.saturating_add(1);
        let key = LookupKey::Name(kind, name.to_owned());
        let found = self.store.find(&self.cx, &key).await;
        let found = found.map_err(|error| self.broken(&format!("{error:?}")))?;
        self.expect(
            name,
            &found.as_ref().map(|found| &found.meta().id),
            &expected,
        )
    }

    fn expect<T: PartialEq + std::fmt::Debug>(
        &self,
        name: &str,
        result: &T,
        expected: &T,
    ) -> Result<(), ContractViolation> {
        if result == expected {
            return Ok(());
        }
        Err(self.broken(&format!("{name:?}: {result:?} instead of {expected:?}")))
    }

    fn broken(&self, text: &str) -> ContractViolation {
        ContractViolation {
            law: "names",
            seed: 0,
            step: self.step,
            text: text.to_owned(),
        }
    }
}

fn import_id(kind: Kind, number: u128) -> Id {
    let kind = u128::try_from(kind.code()).unwrap_or_default();
    uuid::Uuid::from_u128((kind << 64) | number).into()
}

fn named(name: &str) -> Object {
    let mut fields = Object::new();
    fields.insert("name", name);
    fields
}

fn draft(kind: Kind, name: &str) -> RawDraft {
    let mut draft = RawDraft::empty(kind);
    draft.fields = named(name);
    draft
}

fn create(kind: Kind, name: &str) -> WriteOperation {
    WriteOperation::Create(draft(kind, name))
}

fn written(outcome: Result<WriteOutcome>) -> Written {
    match outcome {
        Ok(WriteOutcome::Created { record, .. } | WriteOutcome::Updated(Some(record))) => {
            Ok(record.meta().id.clone())
        }
        Ok(_) => Err(None),
        Err(error) => Err(error.problems().first().map(|problem| problem.code)),
    }
}
