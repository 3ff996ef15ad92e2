//! Whose a container is: what helper calls without a key work on (HLP-07). The one look-up that does not begin with the
//! tenant, because it finds it.

use async_trait::async_trait;
use svc_core::{Tenant, auth::AnonymousTenant, error::Result, link::Address};

use crate::{record_id::RecordId, schema::table, store::Store};

#[async_trait]
impl AnonymousTenant for Store {
    async fn tenant_of(&self, container: &Address) -> Result<Option<Tenant>> {
        let table = table(container.kind);
        let Some(id) = RecordId::parse(&container.id).filter(|_| table.is_container()) else { return Ok(None) };
        self.readers().with(|file| {
            let mut owners = file.prepare_cached(&table.sql.owners)?;
            let mut owners = owners.query_map([id], |row| row.get::<_, String>(0))?;
            let owner = owners.next().transpose()?;
            // Only loaded data can give two tenants records of one id. Whose is meant cannot be told then.
            Ok(owner.filter(|_| owners.next().is_none()).map(Tenant::new))
        })
    }
}

#[cfg(test)]
mod tests {
    use svc_core::{draft::RawDraft, model::Kind, value::Id, value::Timestamp};

    use super::*;
    use crate::Options;

    /// HLP-07: a container leads to its tenant; when loaded data gave two tenants one id, to neither of them.
    #[test]
    fn a_container_has_one_tenant() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(Options::new(folder.path().join("data.db"))).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let [shared, own] = ["018f8d9e-0000-7000-8000-000000000001", "018f8d9e-0000-7000-8000-000000000002"];
            let row = |kind, id| svc_core::store::Load {
                id: Id::new(id).unwrap(),
                created: Timestamp::from_micros(0),
                draft: RawDraft::empty(kind),
                recorded_by: None,
            };
            for (tenant, ids) in [("one", &[shared, own][..]), ("two", &[shared])] {
                let tenant = store.ensure_tenant(tenant).await.unwrap();
                let kinds = [Kind::Petition, Kind::Person, Kind::Tag];
                let rows = ids.iter().flat_map(|id| kinds.map(|kind| row(kind, *id))).collect();
                store.seed(&tenant, rows).await.unwrap();
            }
            for (kind, found) in [(Kind::Petition, Some("one")), (Kind::Person, Some("one")), (Kind::Tag, None)] {
                for (id, found) in [(own, found), (shared, None)] {
                    let address = Address::top(kind, Id::new(id).unwrap());
                    let tenant = store.tenant_of(&address).await.unwrap();
                    assert_eq!(tenant.as_ref().map(Tenant::as_str), found, "{kind:?} {id}");
                }
            }
        });
    }
}
