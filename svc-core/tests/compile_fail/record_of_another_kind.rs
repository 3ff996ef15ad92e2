//# error: mismatched types
//# contains: expected `Record<Petition>`, found `Record<Person>`
use svc_core::model::{Person, Petition};
use svc_core::{Context, Create, CreateRequest, Created, Record, Result};

struct Crm(Record<Person>);

#[async_trait::async_trait]
impl Create<Petition> for Crm {
    async fn create(&self, _: &Context, _: CreateRequest<Petition>) -> Result<Created<Petition>> {
        let person: Record<Person> = self.0.clone();
        Ok(Created::new(person))
    }
}

fn main() {}
