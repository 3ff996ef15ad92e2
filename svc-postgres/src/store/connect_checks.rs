//! Values that the first store of a database fixes for all later ones.

use svc_core::link::ShareNames;
use svc_store::{cursor::CursorCodec, duplicates::DuplicateIndex, feed::FeedCursors};

use crate::{
    database::DatabaseHandle,
    error::{ConnectError, StoreError},
    pipeline::{SqlQuery, values},
};

/// Returns the cursors of the collections and of the change feed, with the secret that the database
/// stores. The database uses the same secret for the hashes of keys of people.
pub(super) async fn cursors(
    database: &DatabaseHandle,
) -> Result<(CursorCodec, FeedCursors), ConnectError> {
    let mut drawn = [0; 32];
    getrandom::fill(&mut drawn).map_err(|error| ConnectError::Other(error.to_string()))?;
    let secret = remembered(database, "secret", &drawn).await?;
    let secret: [u8; 32] = secret
        .try_into()
        .map_err(|_| ConnectError::Other("the secret of the cursors is damaged".to_owned()))?;
    database
        .duplicates
        .get_or_init(|| DuplicateIndex::new(&secret));
    Ok((CursorCodec::new(&secret), FeedCursors::new(&secret)))
}

/// Rejects other names of the share objects than those that are fixed here.
pub(super) async fn check_share_names(database: &DatabaseHandle) -> Result<(), ConnectError> {
    let names = &database.options.share_names;
    let a = remembered(database, "network_a", names.network_a().as_bytes()).await?;
    let b = remembered(database, "network_b", names.network_b().as_bytes()).await?;
    match ShareNames::new(&String::from_utf8_lossy(&a), &String::from_utf8_lossy(&b)) {
        Some(stored) if stored != *names => Err(ConnectError::ShareNames(stored)),
        _ => Ok(()),
    }
}

/// Returns the value under a name. The first process sets it.
async fn remembered(
    database: &DatabaseHandle,
    name: &str,
    first: &[u8],
) -> Result<Vec<u8>, ConnectError> {
    let make = SqlQuery::new(
        &*database.texts.make_meta,
        values![name.to_owned(), first.to_vec()],
    );
    database.query_one(None, make).await?;
    let rows = database
        .query_one(
            None,
            SqlQuery::new(&*database.texts.meta, values![name.to_owned()]),
        )
        .await?;
    let value = rows
        .first()
        .map(|row| row.try_get(0))
        .transpose()
        .map_err(StoreError::from)?;
    value.ok_or_else(|| ConnectError::Other("a stored setting is missing".to_owned()))
}
