//! Who can open a data file, and who can read it.

use std::path::Path;

use rusqlite::Connection;
use svc_core::link::ShareNames;
use svc_sqlite::{
    FileError, SqliteOptions, SqliteStore, is_data_file, is_served, remove_data_file,
};

/// UND-42: one server at a time. Key management can open the file next to it.
#[test]
fn a_second_server_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.db");
    assert!(matches!(
        SqliteStore::open(SqliteOptions::new(&path).shared()),
        Err(FileError::Missing { .. })
    ));
    assert!(!is_served(&path).unwrap());
    let first = SqliteStore::open(SqliteOptions::new(&path)).unwrap();
    assert!(is_served(&path).unwrap());
    let error = SqliteStore::open(SqliteOptions::new(&path)).unwrap_err();
    assert!(matches!(error, FileError::InUse { .. }));
    assert!(
        error
            .to_string()
            .contains("another server has this file open")
    );
    SqliteStore::open(SqliteOptions::new(&path).shared()).unwrap();
    assert!(matches!(
        remove_data_file(&path),
        Err(FileError::InUse { .. })
    ));
    drop(first);
    assert!(!is_served(&path).unwrap());
    SqliteStore::open(SqliteOptions::new(&path)).unwrap();
}

/// UND-42: only the owner can read the file and its log, even if the file had a wider mode before.
#[cfg(unix)]
#[test]
fn files_are_their_owners() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.db");
    let modes = || {
        let mut modes: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                (entry.file_name().into_string().unwrap(), mode)
            })
            .collect();
        modes.sort();
        modes
    };
    let expected = ["data.db", "data.db-lock", "data.db-shm", "data.db-wal"]
        .map(|name| (name.to_owned(), 0o600));
    let store = SqliteStore::open(SqliteOptions::new(&path)).unwrap();
    assert_eq!(modes(), expected);
    drop(store);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let _store = SqliteStore::open(SqliteOptions::new(&path)).unwrap();
    assert_eq!(modes(), expected);
}

#[test]
fn files_of_other_programs_are_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("letter.txt");
    std::fs::write(&text, "Dear Sir or Madam, ".repeat(100)).unwrap();
    let database = folder.path().join("other.db");
    Connection::open(&database)
        .unwrap()
        .execute_batch("CREATE TABLE other (a)")
        .unwrap();
    for path in [&text, &database] {
        let before = std::fs::read(path).unwrap();
        assert!(!is_data_file(path).unwrap());
        assert!(matches!(
            SqliteStore::open(SqliteOptions::new(path)),
            Err(FileError::NotOurs { .. })
        ));
        assert!(matches!(
            remove_data_file(path),
            Err(FileError::NotOurs { .. })
        ));
        assert_eq!(std::fs::read(path).unwrap(), before);
    }
}

/// UND-42: a link to the file uses the same lock and the same log.
#[cfg(unix)]
#[test]
fn links_lead_to_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("data.db"), folder.path().join("link.db"));
    let store = SqliteStore::open(SqliteOptions::new(&path)).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(matches!(
        SqliteStore::open(SqliteOptions::new(&link)),
        Err(FileError::InUse { .. })
    ));
    assert!(matches!(
        remove_data_file(&link),
        Err(FileError::InUse { .. })
    ));
    drop(store);
    assert!(remove_data_file(&link).unwrap());
    assert!(!path.exists() && !folder.path().join("data.db-wal").exists());
}

#[test]
fn a_data_file_is_known_by_its_mark_and_removed_with_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.db");
    assert!(!is_data_file(&path).unwrap());
    assert!(!remove_data_file(&path).unwrap());
    // An empty file, with which other programs reserve a name, is treated as no file.
    std::fs::write(&path, "").unwrap();
    drop(SqliteStore::open(SqliteOptions::new(&path)).unwrap());
    assert!(is_data_file(&path).unwrap());
    assert!(remove_data_file(&path).unwrap());
    assert!(!path.exists());
}

/// HAL-11: the names of the share objects are fixed when the file is created.
#[test]
fn share_names_are_fixed_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.db");
    let names = |a: &str, b: &str| ShareNames::new(a, b).unwrap();
    let open = |names: ShareNames| SqliteStore::open(SqliteOptions::new(&path).share_names(names));
    assert_eq!(
        open(names("a", "b")).unwrap().share_names(),
        &names("a", "b")
    );
    assert_eq!(
        open(names("a", "b")).unwrap().share_names(),
        &names("a", "b")
    );
    for others in [names("a", "c"), ShareNames::default()] {
        let error = open(others).unwrap_err();
        assert!(matches!(error, FileError::ShareNames { .. }));
        let sentence = "the share names of this file are a and b; use these names, or another file";
        assert!(error.to_string().ends_with(sentence), "{error}");
    }
    // Key management and backups ignore the names.
    let beside = SqliteStore::open(SqliteOptions::new(&path).shared()).unwrap();
    assert_eq!(beside.share_names(), &names("a", "b"));
}

/// A newer file and one with a damaged checksum are rejected, and not changed.
#[test]
fn newer_and_damaged_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let change = |path: &Path, sql: &str| {
        drop(SqliteStore::open(SqliteOptions::new(path)).unwrap());
        Connection::open(path).unwrap().execute_batch(sql).unwrap();
        SqliteStore::open(SqliteOptions::new(path)).unwrap_err()
    };
    let newer = change(
        &folder.path().join("newer.db"),
        "INSERT INTO migration SELECT max(number) + 1, 'future', '', 0 FROM migration",
    );
    assert!(matches!(newer, FileError::Newer { .. }), "{newer}");
    assert_eq!(newer.to_string().lines().count(), 1);
    let damaged = change(
        &folder.path().join("damaged.db"),
        "UPDATE migration SET checksum = upper(checksum) WHERE number = 1",
    );
    assert!(
        matches!(damaged, FileError::Damaged { number: 1, .. }),
        "{damaged}"
    );
}
