//! The damage that the check of a data file finds.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::json;
use svc_core::model::Kind;
use svc_sqlite::{Damage, FileError, SqliteOptions, SqliteStore, check};

use crate::server::Server;

fn found(path: &Path) -> Vec<Damage> {
    let mut found = Vec::new();
    check(path, &mut |damage| found.push(damage)).unwrap();
    found
}

/// Creates records of some kinds, changes one of them and deletes one.
async fn fill(store: &SqliteStore) -> (String, String) {
    let server = Server::on(store.clone()).await;
    let person = server.make("people", json!({"given_name": "Ada"})).await;
    let petition = server.make("petitions", json!({"title": "Trees"})).await;
    let signature = json!({"person": {"given_name": "Eve"}});
    for _ in 0..3 {
        let signed = server
            .post(
                &format!("{petition}/record_signature_helper"),
                signature.clone(),
            )
            .await;
        assert_eq!(signed.status, 200);
    }
    server.put(&person, json!({"family_name": "King"})).await;
    let tag = server.make("tags", json!({"name": "t"})).await;
    assert_eq!(server.delete(&tag).await.status, 204);
    let id = |address: &str| address.rsplit('/').next().unwrap().to_owned();
    (id(&person), id(&petition))
}

#[tokio::test]
async fn each_damage_is_found_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.db");
    let missing = check(&path, &mut |_| {}).unwrap_err();
    assert!(
        matches!(missing, FileError::Missing { .. }) && !path.exists(),
        "{missing}"
    );
    let store = SqliteStore::open(SqliteOptions::new(&path)).unwrap();
    let (person, petition) = fill(&store).await;
    assert!(matches!(
        check(&path, &mut |_| {}),
        Err(FileError::InUse { .. })
    ));
    drop(store);
    let sound = fs::read(&path).unwrap();
    assert_eq!(found(&path), []);
    assert_eq!(fs::read(&path).unwrap(), sound, "the check changes nothing");

    let damaged = |sql: &str| {
        fs::write(&path, &sound).unwrap();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        found(&path)
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    let body = damaged(
        r#"UPDATE people SET body = CAST(replace(CAST(body AS TEXT), '"given_name":"Ada', '"given_name&:"Ada') AS BLOB)"#,
    );
    assert_eq!(
        body,
        [format!(
            "people/{person} of tenant demo: the stored body is not JSON"
        )]
    );
    let total = damaged("UPDATE total SET records = 7 WHERE owner <> x'' AND records = 3");
    let expected = format!(
        "signatures under petitions/{petition} of tenant demo: the stored total is 7, the number of records is 3"
    );
    assert!(total.contains(&expected), "{total:?}");
    let all = damaged(
        "UPDATE total SET records = records + 1 WHERE scope = 0 AND kind = (SELECT kind FROM feed LIMIT 1)",
    );
    assert!(
        matches!(&*all, [one] if one.starts_with("people of tenant demo: the stored total is")),
        "{all:?}"
    );
    let feed = damaged(
        "DELETE FROM people WHERE CAST(body AS TEXT) LIKE '%Ada%'; UPDATE total SET records = records - 1 WHERE kind = (SELECT kind FROM feed LIMIT 1)",
    );
    let expected = format!(
        "people/{person} of tenant demo: stored according to the feed, but it does not exist"
    );
    assert!(feed.contains(&expected), "{feed:?}");
    let feed = damaged("UPDATE feed SET what = 2 WHERE kind = (SELECT kind FROM feed LIMIT 1)");
    assert!(
        feed.contains(&format!(
            "people/{person} of tenant demo: deleted according to the feed, but it is stored"
        )),
        "{feed:?}"
    );

    let mut bytes = sound.clone();
    let root: i64 = Connection::open(&path)
        .unwrap()
        .query_row(
            "SELECT (rootpage - 1) * 4096 FROM sqlite_schema WHERE name = 'people'",
            (),
            |row| row.get(0),
        )
        .unwrap();
    let root = usize::try_from(root).unwrap();
    bytes[root..root + 4096].fill(0xAA);
    fs::write(&path, bytes).unwrap();
    let page = found(&path);
    assert!(
        page.iter()
            .any(|damage| matches!(damage, Damage::Integrity(_))),
        "{page:?}"
    );
    assert!(
        page.contains(&Damage::Table {
            kind: Kind::Person,
            after: None
        }),
        "{page:?}"
    );
}

/// One flipped bit in the log loses all later commits. The check reports this, and opening the file
/// logs it.
#[tokio::test]
async fn lost_frames_of_the_log_are_reported() {
    crate::log::listen();
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("data.db"), folder.path().join("copy.db"));
    let log = |path: &Path| path.with_extension("db-wal");
    let store = SqliteStore::open(SqliteOptions::new(&path)).unwrap();
    fill(&store).await;
    fs::copy(&path, &copy).unwrap();
    let mut bytes = fs::read(log(&path)).unwrap();
    fs::write(log(&copy), &bytes).unwrap();
    assert_eq!(found(&copy), []);
    let frame = 24 + 4096;
    let frames = (bytes.len() - 32) / frame;
    bytes[32 + (frames - 3) * frame + 500] ^= 1;
    fs::write(log(&copy), &bytes).unwrap();
    assert!(
        found(&copy).contains(&Damage::Log { frames: 3 }),
        "{:?}",
        found(&copy)
    );
    assert_eq!(fs::read(log(&copy)).unwrap(), bytes, "the log is unchanged");
    let before = crate::log::lines();
    drop(SqliteStore::open(SqliteOptions::new(&copy)).unwrap());
    assert!(crate::log::lines() > before, "opening warns");
    let before = crate::log::lines();
    drop(SqliteStore::open(SqliteOptions::new(&copy)).unwrap());
    assert_eq!(crate::log::lines(), before, "once");
}
