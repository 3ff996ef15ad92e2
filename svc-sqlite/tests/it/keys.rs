//! API keys: creation, rights, expiry, revocation.
//!
//! Requirements: AUT-01 to AUT-08, UND-15.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use svc_core::Tenant;
use svc_core::api::{Api, Vendor};
use svc_core::auth::{Authenticator, Credentials, Operation, Principal, Right};
use svc_core::model::Kind;
use svc_core::value::{Id, Timestamp};
use svc_sqlite::{KeyError, KeyOptions, KeyWebhooks, SqliteOptions, SqliteStore};
use svc_tower::SvcService;
use tempfile::TempDir;
use tower::ServiceExt;

fn open() -> (SqliteStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(SqliteOptions::new(folder.path().join("data.db"))).unwrap();
    (store, folder)
}

async fn whose_at(store: &SqliteStore, token: &str, now: Timestamp) -> Option<Principal> {
    let (headers, extensions) = (http::HeaderMap::new(), http::Extensions::new());
    let credentials = Credentials::new(Some(token), &headers, &extensions, now);
    store.authenticate(credentials).await.unwrap()
}

async fn whose(store: &SqliteStore, token: &str) -> Option<Principal> {
    whose_at(store, token, Timestamp::now()).await
}

/// AUT-02, AUT-03: a key gives access to its own tenant. Any other text gives access to nothing.
#[tokio::test]
async fn a_key_opens_its_tenant() {
    let (store, _folder) = open();
    let one = store.ensure_tenant("one").await.unwrap();
    let two = store.ensure_tenant("two").await.unwrap();
    assert_eq!(store.ensure_tenant("one").await.unwrap(), one);
    assert_eq!(store.tenants().unwrap(), [one.clone(), two.clone()]);
    let key_of_one = store.create_key(&one, KeyOptions::default()).await.unwrap();
    let key_of_two = store.create_key(&two, KeyOptions::default()).await.unwrap();
    assert!(key_of_one.token.starts_with("svck_") && key_of_one.token.len() == 69);
    assert_ne!(key_of_one.token, key_of_two.token);
    for _ in 0..2 {
        assert_eq!(whose(&store, &key_of_one.token).await.unwrap().tenant, one);
        assert_eq!(whose(&store, &key_of_two.token).await.unwrap().tenant, two);
        let longer = format!("{}0", key_of_one.token);
        let upper = key_of_one.token.to_uppercase();
        for wrong in [
            "",
            "svck_",
            &longer,
            &upper,
            &key_of_one.token[..68],
            &key_of_one.id,
            "\u{1F600}",
        ] {
            assert_eq!(whose(&store, wrong).await, None, "{wrong}");
        }
    }
    let missing = store
        .create_key(&Tenant::new("three"), KeyOptions::default())
        .await;
    assert!(matches!(missing, Err(KeyError::UnknownTenant(_))));
}

/// UND-15: the file has only hashes, and no debug output has a token.
#[tokio::test]
async fn tokens_are_not_stored() {
    let (store, folder) = open();
    let tenant = store.ensure_tenant("t").await.unwrap();
    let key = store
        .create_key(&tenant, KeyOptions::new("label of the key"))
        .await
        .unwrap();
    assert!(
        !format!("{key:?} {:?} {store:?}", store.list_keys(None).unwrap())
            .contains(&key.token[5..60])
    );
    store.checkpoint().await.unwrap();
    let bytes = std::fs::read(folder.path().join("data.db")).unwrap();
    let has = |text: &str| {
        bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    };
    assert!(has("label of the key"));
    assert!(!has(&key.token) && !has(&key.token[5..]));
}

/// AUT-04: kinds x operations and helpers: a key with one right can use that right and no other.
#[tokio::test]
async fn rights_are_a_matrix() {
    let (store, _folder) = open();
    let tenant = store.ensure_tenant("t").await.unwrap();
    for right in Right::all() {
        let key = store
            .create_key(&tenant, KeyOptions::new("one").rights([right]))
            .await
            .unwrap();
        let caller = whose(&store, &key.token).await.unwrap().caller;
        for other in Right::all() {
            assert_eq!(
                caller.has_right(other),
                other == right,
                "AUT-04: {right} {other}"
            );
        }
    }
    let may = async |options| {
        let key = store.create_key(&tenant, options).await.unwrap();
        whose(&store, &key.token).await.unwrap().caller
    };
    let (all, reading) = (
        may(KeyOptions::default()).await,
        may(KeyOptions::default().read_only()).await,
    );
    let nothing = may(KeyOptions::default().rights([])).await;
    let create = Right::Operation(Kind::Person, Operation::Create);
    let read = Right::Operation(Kind::Person, Operation::Read);
    let some = may(KeyOptions::default().rights([create, read]).read_only()).await;
    for right in Right::all() {
        assert!(all.has_right(right), "AUT-04: {right}");
        assert_eq!(reading.has_right(right), right.is_read(), "AUT-04: {right}");
        assert!(!nothing.has_right(right), "AUT-04: {right}");
        assert_eq!(some.has_right(right), right == read, "AUT-04: {right}");
    }
}

/// UND-15: a key may be bound to a person, and a list has everything of it except its token.
#[tokio::test]
async fn keys_are_listed() {
    let (store, _folder) = open();
    let tenant = store.ensure_tenant("t").await.unwrap();
    let other = store.ensure_tenant("u").await.unwrap();
    let person = Id::new("d91b4b2e-ae0e-4cd3-9ed7-d0ec501b0bc3").unwrap();
    let right: Right = "helper.record_signature".parse().unwrap();
    let end = Timestamp::parse("2030-01-01T00:00:00Z").unwrap();
    let options = KeyOptions::new("web form")
        .rights([right])
        .person(person.clone())
        .expires_at(end);
    let key = store.create_key(&tenant, options).await.unwrap();
    store
        .create_key_with_token(
            &other,
            "chosen-and-not-so-short",
            KeyOptions::default().read_only(),
        )
        .await
        .unwrap();
    let before_end = Timestamp::from_micros(end.as_micros() - 1);
    let caller = whose_at(&store, &key.token, before_end)
        .await
        .unwrap()
        .caller;
    assert_eq!(caller.person(), Some(&person));
    let list = store.list_keys(Some(&tenant)).unwrap();
    let [info] = list.as_slice() else {
        panic!("{list:?}")
    };
    assert_eq!(
        (info.id.as_str(), info.label.as_str(), &info.tenant),
        (key.id.as_str(), "web form", &tenant)
    );
    assert_eq!(info.hint, key.token[65..]);
    assert_eq!(info.rights.iter().flatten().collect::<Vec<_>>(), [&right]);
    assert_eq!(
        (&info.person, info.expires, info.revoked, info.read_only),
        (&Some(person), Some(end), None, false)
    );
    let all = store.list_keys(None).unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(
        all.iter()
            .filter(|key| key.read_only && key.hint == "hort")
            .count(),
        1
    );
}

/// UND-15: a given token creates one key, belongs to one tenant, and cannot be used again after its
/// revocation.
#[tokio::test]
async fn chosen_tokens() {
    const DEMO: &str = "chosen-by-a-person-for-a-demo";
    let (store, _folder) = open();
    let tenant = store.ensure_tenant("t").await.unwrap();
    let other = store.ensure_tenant("u").await.unwrap();
    let add = |tenant: Tenant, token: &'static str| {
        let store = store.clone();
        async move {
            store
                .create_key_with_token(&tenant, token, KeyOptions::default())
                .await
        }
    };
    let made = add(tenant.clone(), DEMO).await.unwrap();
    assert_eq!(add(tenant.clone(), DEMO).await.unwrap(), made);
    assert!(matches!(add(other, DEMO).await, Err(KeyError::TokenInUse)));
    for unfit in ["a b", "a\n", "ä"] {
        assert!(
            matches!(
                add(tenant.clone(), unfit).await,
                Err(KeyError::InvalidToken)
            ),
            "{unfit}"
        );
    }
    for short in ["", "demo", "nineteen-characters"] {
        assert!(
            matches!(
                add(tenant.clone(), short).await,
                Err(KeyError::TokenTooShort)
            ),
            "{short}"
        );
    }
    assert_eq!(store.list_keys(None).unwrap().len(), 1);
    assert!(
        store
            .revoke_key(&made.id, KeyWebhooks::Disable)
            .await
            .unwrap()
            .was_in_force
    );
    assert!(
        !store
            .revoke_key(&made.id, KeyWebhooks::Disable)
            .await
            .unwrap()
            .was_in_force
    );
    assert!(
        !store
            .revoke_key("nobody", KeyWebhooks::Disable)
            .await
            .unwrap()
            .was_in_force
    );
    assert!(matches!(
        add(tenant, DEMO).await,
        Err(KeyError::TokenRevoked)
    ));
    assert_eq!(whose(&store, DEMO).await, None);
}

/// AUT-03: a key is valid until its end, by the clock of the request.
#[tokio::test]
async fn keys_expire() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicI64::new(1_000_000));
    let reads = Arc::clone(&clock);
    let options = SqliteOptions::new(folder.path().join("data.db"))
        .clock(move || Timestamp::from_micros(reads.load(Ordering::SeqCst)));
    let store = SqliteStore::open(options).unwrap();
    let tenant = store.ensure_tenant("t").await.unwrap();
    let end = Timestamp::from_micros(5_000_000);
    let key = store
        .create_key(&tenant, KeyOptions::default().expires_at(end))
        .await
        .unwrap();
    for (micros, in_force) in [
        (1_000_000, true),
        (4_999_999, true),
        (5_000_000, false),
        (6_000_000, false),
        (2, true),
    ] {
        let found = whose_at(&store, &key.token, Timestamp::from_micros(micros)).await;
        assert_eq!(found.is_some(), in_force, "AUT-03: {micros}");
    }
    clock.store(7_000_000, Ordering::SeqCst);
    store
        .revoke_key(&key.id, KeyWebhooks::Disable)
        .await
        .unwrap();
    let [info] = store.list_keys(None).unwrap().try_into().unwrap();
    assert_eq!(
        (
            info.created.as_micros(),
            info.revoked.map(Timestamp::as_micros)
        ),
        (1_000_000, Some(7_000_000))
    );
}

/// AUT-03: the whole service rejects a key from its end on, by its own clock.
#[tokio::test]
async fn keys_expire_in_the_service() {
    let (store, _folder) = open();
    let tenant = store.ensure_tenant("t").await.unwrap();
    let end = Timestamp::parse("2030-01-31T12:00:00Z").unwrap();
    let key = store
        .create_key(&tenant, KeyOptions::default().expires_at(end))
        .await
        .unwrap();
    let clock = Arc::new(AtomicI64::new(0));
    let reads = Arc::clone(&clock);
    let api = store
        .register_all(Api::builder(Vendor::new("Test", "Test")))
        .base_url("http://localhost/");
    let api = api.authenticator(store.clone()).build().unwrap();
    let service =
        SvcService::new(api).clock(move || Timestamp::from_micros(reads.load(Ordering::SeqCst)));
    for (from_end, expected) in [
        (-1_000_000, 200),
        (-1, 200),
        (0, 401),
        (1, 401),
        (3_600_000_000, 401),
    ] {
        clock.store(end.as_micros() + from_end, Ordering::SeqCst);
        for path in ["/", "/people", "/tags"] {
            let request = http::Request::get(path).header("SVC-API-Token", &key.token);
            let response = service
                .clone()
                .oneshot(request.body(String::new()).unwrap())
                .await
                .unwrap();
            assert_eq!(
                response.status(),
                expected,
                "AUT-03: {path} {from_end} microseconds after the end"
            );
        }
    }
}

/// UND-15: revocation is effective immediately, while other writes are in progress and the key is
/// cached.
#[tokio::test]
async fn revocation_acts_at_once() {
    let (store, _folder) = open();
    let tenant = store.ensure_tenant("t").await.unwrap();
    for round in 0..50 {
        let key = store
            .create_key(&tenant, KeyOptions::default())
            .await
            .unwrap();
        assert!(whose(&store, &key.token).await.is_some());
        store
            .set_metadata("round", &round.to_string())
            .await
            .unwrap();
        assert!(whose(&store, &key.token).await.is_some());
        assert!(
            store
                .revoke_key(&key.id, KeyWebhooks::Disable)
                .await
                .unwrap()
                .was_in_force
        );
        assert!(whose(&store, &key.token).await.is_none());
    }
    assert_eq!(store.metadata("round").unwrap().as_deref(), Some("49"));
    assert_eq!(store.metadata("nothing").unwrap(), None);
}

/// UND-15: concurrent writes and checks do not delay the revocation of a key, whichever store
/// revokes it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn revocation_acts_at_once_under_load() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.db");
    let store = SqliteStore::open(SqliteOptions::new(&path)).unwrap();
    let patience = std::time::Duration::from_secs(60);
    let other =
        SqliteStore::open(SqliteOptions::new(&path).shared().busy_timeout(patience)).unwrap();
    let tenant = store.ensure_tenant("t").await.unwrap();
    for round in 0..15 {
        let key = store
            .create_key(&tenant, KeyOptions::default())
            .await
            .unwrap();
        let mut load = tokio::task::JoinSet::new();
        for caller in 0..4 {
            let (store, token) = (store.clone(), key.token.clone());
            load.spawn(async move {
                for step in 0..10 {
                    whose(&store, &token).await;
                    store
                        .set_metadata(&format!("caller {caller}"), &step.to_string())
                        .await
                        .unwrap();
                }
            });
        }
        let admin = if round % 2 == 0 { &store } else { &other };
        assert!(
            admin
                .revoke_key(&key.id, KeyWebhooks::Disable)
                .await
                .unwrap()
                .was_in_force
        );
        for _ in 0..20 {
            assert!(
                whose(&store, &key.token).await.is_none(),
                "UND-15: round {round}"
            );
        }
        load.join_all().await;
        assert!(
            whose(&store, &key.token).await.is_none(),
            "UND-15: round {round}"
        );
    }
}

const TO_REVOKE: &str = "SVC_SQLITE_TEST_REVOKE";

/// UND-15: after another process has revoked a key, the next check rejects it.
#[tokio::test]
async fn revocation_from_a_second_process() {
    let (store, _folder) = open();
    let tenant = store.ensure_tenant("t").await.unwrap();
    let [gone, stays] = [
        store
            .create_key(&tenant, KeyOptions::default())
            .await
            .unwrap(),
        store
            .create_key(&tenant, KeyOptions::default())
            .await
            .unwrap(),
    ];
    for key in [&gone, &stays] {
        assert!(whose(&store, &key.token).await.is_some());
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "keys::the_second_process"])
        .env(TO_REVOKE, format!("{} {}", gone.id, store.path().display()))
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && stdout.contains("running 1 test"),
        "{stdout}"
    );
    assert!(whose(&store, &gone.token).await.is_none());
    assert!(whose(&store, &stays.token).await.is_some());
}

/// What [`revocation_from_a_second_process`] runs in the second process. Without its environment
/// variable it does nothing.
#[tokio::test]
async fn the_second_process() {
    let Ok(order) = std::env::var(TO_REVOKE) else {
        return;
    };
    let (id, path) = order.split_once(' ').unwrap();
    let busy_timeout = std::time::Duration::from_secs(60);
    let store =
        SqliteStore::open(SqliteOptions::new(path).shared().busy_timeout(busy_timeout)).unwrap();
    assert!(
        store
            .revoke_key(id, KeyWebhooks::Disable)
            .await
            .unwrap()
            .was_in_force
    );
}
