//! The contract of pages by number: they agree with their own total, also during writes.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, Ordering},
};

use svc_core::{
    auth::Caller,
    context::{Context, Tenant},
    model::Kind,
    page::{ListRequest, PageRequest},
    raw::RawDraft,
    store::{Store, WriteOperation, WriteOutcome, WriteRequest},
    value::Timestamp,
};

use super::{ContractViolation, feed::pause};

/// The page size, and the number of people of the tenant.
const SIZE: u32 = 3;
const PEOPLE: usize = 7;

/// Checks that pages by number agree with their own totals while another task writes. The runtime
/// of the caller needs a thread for each of the two tasks.
///
/// Requirements: COL-23, COL-28.
#[derive(Debug)]
pub struct NumberedPages<S> {
    store: S,
    tenant: Tenant,
    is_over: AtomicBool,
}

impl<S: Store> NumberedPages<S> {
    /// Creates the check for a tenant without people.
    pub fn new(store: S, tenant: Tenant) -> Self {
        Self {
            store,
            tenant,
            is_over: AtomicBool::new(false),
        }
    }

    /// Creates seven people, then repeatedly deletes the oldest one and creates another one, until
    /// the reading task has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if a write fails.
    pub async fn write(&self) -> Result<(), ContractViolation> {
        let mut people = VecDeque::new();
        while !self.is_over.load(Ordering::Acquire) {
            let oldest = if people.len() < PEOPLE {
                None
            } else {
                people.pop_front()
            };
            let work = oldest.map_or_else(
                || WriteOperation::Create(RawDraft::empty(Kind::Person)),
                WriteOperation::Delete,
            );
            match self
                .store
                .write(&self.cx(), WriteRequest::new(&self.cx(), work))
                .await
            {
                Ok(WriteOutcome::Created { record, .. }) => people.push_back(record.address()),
                Ok(_) => {}
                Err(error) => return Err(broken(0, format!("a write failed: {error:?}"))),
            }
            pause().await;
        }
        Ok(())
    }

    /// Reads this number of pages, then ends the writing task.
    ///
    /// # Errors
    ///
    /// Returns the first page that contradicts its own total.
    pub async fn read(&self, pages: usize) -> Result<(), ContractViolation> {
        let read = self.read_all(pages).await;
        self.is_over.store(true, Ordering::Release);
        read
    }

    async fn read_all(&self, pages: usize) -> Result<(), ContractViolation> {
        for (step, number) in (1..=4).cycle().take(pages).enumerate() {
            let request = ListRequest::all(PageRequest::new(number, SIZE));
            let page = self.store.list(&self.cx(), Kind::Person, &request).await;
            let page = page.map_err(|error| broken(step, format!("a read failed: {error:?}")))?;
            let expected = page
                .total
                .saturating_sub(request.page.records_before())
                .min(SIZE.into());
            if u64::try_from(page.records.len()) != Ok(expected) {
                let (records, total) = (page.records.len(), page.total);
                return Err(broken(
                    step,
                    format!("page {number} of {total} records has {records} instead of {expected}"),
                ));
            }
            pause().await;
        }
        Ok(())
    }

    fn cx(&self) -> Context {
        Context::new(self.tenant.clone(), Caller::anonymous(), Timestamp::MAX)
    }
}

fn broken(step: usize, text: String) -> ContractViolation {
    ContractViolation {
        law: "pages",
        seed: 0,
        step: step.saturating_add(1),
        text,
    }
}
