//! A file of an older version is upgraded to the current rules once, when it is opened. Rounded
//! amounts are listed.

use std::path::Path;

use crate::server::{Answer, Server};
use rusqlite::Connection;
use serde_json::json;
use svc_sqlite::{FileError, SqliteOptions, SqliteStore};
use svc_store::store_testkit::{FORMER_VALUES, check_recount};

async fn open(path: &Path) -> Server {
    Server::on(SqliteStore::open(SqliteOptions::new(path)).unwrap()).await
}

/// Writes what an older version would have stored into the file: the bodies of `table` with `new`
/// for `old`.
fn write(file: &Connection, table: &str, old: &str, new: &str) {
    let sql = format!("SELECT seq, body FROM {table}");
    let rows: Vec<(i64, Vec<u8>)> = file
        .prepare(&sql)
        .unwrap()
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let mut times = 0;
    for (row, body) in rows {
        let body = String::from_utf8(body).unwrap();
        if body.contains(old) {
            times += 1;
            let sql = format!("UPDATE {table} SET body = ?2 WHERE seq = ?1");
            file.execute(&sql, (row, body.replace(old, new).into_bytes()))
                .unwrap();
        }
    }
    assert!(times > 0, "{table}: {old}");
}

/// Removes the indexes for filters, which a later version added.
fn drop_newer_indexes(file: &Connection) {
    let sql = "SELECT name FROM sqlite_schema WHERE name LIKE '%\\_by\\_created' ESCAPE '\\' \
               OR name LIKE '%\\_by\\_modified' ESCAPE '\\'";
    let all = file
        .prepare(sql)
        .unwrap()
        .query_map((), |row| row.get(0))
        .unwrap()
        .collect::<Result<Vec<String>, _>>();
    for index in all.unwrap() {
        file.execute_batch(&format!("DROP INDEX {index}")).unwrap();
    }
}

/// TYP-03, RES-fundraising_page-09 and -10, RES-event-16 to -20, RES-phone_number-01,
/// RES-donation-06, HLP-04.
#[tokio::test]
async fn a_file_of_version_3_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.db");
    let server = open(&path).await;
    let emails = json!([{"address": "KELVIN@example.org"}, {"address": "other@example.org"}]);
    let ada = json!({"phone_numbers": [{"number": "15550100", "primary": true}], "email_addresses": emails});
    let ada = server.make("people", ada).await;
    let by_ada = |mut body: serde_json::Value| {
        body["_links"] = json!({"svc:person": {"href": ada}});
        body
    };
    let page = server
        .make(
            "fundraising_pages",
            json!({"currency": "EUR", "share_options": []}),
        )
        .await;
    let donations = format!("{page}/donations");
    for amount in [1, 2, 3] {
        let recipients = json!([{"amount": amount}]);
        server
            .make(
                &donations,
                by_ada(json!({"amount": amount, "currency": "EUR", "recipients": recipients})),
            )
            .await;
    }
    server
        .make(
            &donations,
            by_ada(json!({"amount": 4, "currency": "EUR", "voided": true})),
        )
        .await;
    let levels = json!([{"title": "A", "amount": 5, "limit": 10}, {"title": "B"}]);
    let event = server
        .make(
            "events",
            json!({"type": "ticketed", "ticket_levels": levels}),
        )
        .await;
    let attendances = format!("{event}/attendances");
    let tickets = json!({"tickets": [{"title": "A"}, {"title": "A", "amount": 6}, {"title": "B"}]});
    server.make(&attendances, by_ada(tickets)).await;
    let kelvins = json!([{"address": "mike@example.org"}, {"address": "mi\u{212a}e@example.org"}]);
    let mike = server
        .make("people", json!({"email_addresses": kelvins}))
        .await;
    let held = by_ada(
        json!({"tickets": [{"title": "B"}, {"title": "B", "person": {"email_addresses": emails}}]}),
    );
    let held = server.make(&attendances, held).await;
    let before = [server.get(&ada).await, server.get(&event).await];
    drop(server);

    let file = Connection::open(&path).unwrap();
    write(&file, "people", r#""primary":"true""#, r#""primary":true"#);
    write(&file, "people", "KELVIN", "\u{212a}ELVIN");
    write(
        &file,
        "donations",
        r#""amount":1,"#,
        r#""amount":1.00000049999,"#,
    );
    write(
        &file,
        "donations",
        r#""amount":2,"#,
        r#""amount":99999999999999999999,"#,
    );
    write(
        &file,
        "donations",
        r#""amount":3,"#,
        r#""amount":3.0000000000,"#,
    );
    write(
        &file,
        "donations",
        r#""currency":"EUR""#,
        r#""currency":"eur""#,
    );
    write(
        &file,
        "attendances",
        r#""amount":6"#,
        r#""amount":6.0000005"#,
    );
    // The sums of that version included every donation.
    file.execute_batch(
        "ALTER TABLE total ADD COLUMN accepted INTEGER NOT NULL DEFAULT 0;
         ALTER TABLE total ADD COLUMN tickets INTEGER NOT NULL DEFAULT 0;
         ALTER TABLE total ADD COLUMN amount TEXT NOT NULL DEFAULT '0';
         ALTER TABLE part ADD COLUMN tickets INTEGER NOT NULL DEFAULT 0;
         ALTER TABLE part ADD COLUMN amount TEXT NOT NULL DEFAULT '0';
         UPDATE total SET amount = '123.0000000000001', tickets = 0 WHERE measures <> '';
         UPDATE part SET amount = '123.0000000000001', name = 'eur' WHERE name = 'EUR';
         ALTER TABLE total DROP COLUMN measures;
         ALTER TABLE part DROP COLUMN measures;
         DELETE FROM meta WHERE name = 'measures';
         DELETE FROM holder;
         DROP TABLE rounded;
         DROP TABLE feed;
         DROP TABLE kept;
         DROP TABLE webhook;
         DROP TABLE text_key;
         DROP TABLE alias;
         DROP TABLE person_key;
         DROP TABLE shared_key;
         DROP TABLE apart;
         DROP TABLE merge;
         DELETE FROM migration WHERE number >= 4;",
    )
    .unwrap();
    drop_newer_indexes(&file);
    // Lookups of that version ignored case in all languages.
    file.close().unwrap();

    let server = open(&path).await;
    let shown = server.get(&page).await.json;
    assert_eq!(shown["total_donations"], 3, "RES-fundraising_page-09");
    let sum: f64 = ["1.000000", "9999999999999999.999999", "3.0"]
        .iter()
        .map(|it| it.parse::<f64>().unwrap())
        .sum();
    assert_eq!(
        shown["total_amount"].as_f64(),
        Some(sum),
        "RES-fundraising_page-10"
    );
    let known = |answer: &Answer| {
        let mut json = answer.json.clone();
        // The total is summed again, from rounded amounts.
        json["ticket_levels"][0]["total_amount"] = json!(null);
        json["total_amount"] = json!(null);
        json
    };
    assert_eq!(
        known(&server.get(&event).await),
        known(&before[1]),
        "the limits and everything else are unchanged"
    );
    assert_eq!(
        server.get(&event).await.json["ticket_levels"][0]["total_amount"],
        json!(11.000_001),
        "RES-event-17"
    );
    let person = server.get(&ada).await;
    assert_eq!(
        person.json["phone_numbers"][0]["primary"], "true",
        "RES-phone_number-01"
    );
    assert_eq!(
        person.json["modified_date"], before[0].json["modified_date"],
        "the upgrade does not count as a change"
    );
    let currencies = server.get(&donations).await.json;
    let currencies: Vec<_> = currencies["_embedded"]["svc:donations"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert!(
        currencies
            .iter()
            .all(|donation| donation["currency"] == "EUR"),
        "RES-donation-06: {currencies:?}"
    );
    // Records can be sent back as they were read. A JSON value in the test would round the largest
    // amount.
    for donation in currencies
        .into_iter()
        .filter(|it| it["amount"].as_f64() < Some(1e16))
    {
        let put = server
            .put(
                donation["_links"]["self"]["href"].as_str().unwrap(),
                donation.clone(),
            )
            .await;
        assert_eq!(put.status, 200, "TYP-03");
    }
    let signup = async |address: &str| {
        let person = json!({"person": {"email_addresses": [{"address": address}]}});
        server
            .post("people/person_signup", person)
            .await
            .self_link()
    };
    assert_eq!(signup("Other@example.org").await, ada);
    assert_ne!(
        signup("kelvin@example.org").await,
        ada,
        "HLP-04: a similar letter is not the same letter"
    );
    assert_eq!(signup("\u{212a}elvin@example.org").await, ada);
    assert_eq!(signup("mi\u{212a}e@example.org").await, mike, "HLP-04");
    // People whom older versions did not record in a ticket are erased from it.
    assert_eq!(server.delete(&ada).await.status, 204);
    let tickets = server.get(&held).await.json["tickets"].clone();
    assert_eq!(
        (tickets[0].get("person"), tickets[1].get("person")),
        (None, None),
        "UND-26: {tickets}"
    );
    drop(server);

    let file = Connection::open(&path).unwrap();
    let mut listed = file
        .prepare("SELECT kind, property, was, now FROM rounded ORDER BY rowid")
        .unwrap();
    let listed: Vec<[String; 4]> = listed
        .query_map((), |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
        })
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let largest = "9999999999999999.999999";
    let expected = [
        ["donation", "amount", "1.00000049999", "1.000000"],
        ["donation", "amount", "99999999999999999999", largest],
        ["attendance", "tickets[1].amount", "6.0000005", "6.000001"],
    ];
    assert_eq!(listed, expected.map(|row| row.map(str::to_owned)));
}

/// Changes the totals of a file and the measures that they were counted with, and deletes its texts.
fn set_other_measures(file: &Connection) {
    file.execute_batch(
        "UPDATE meta SET value = replace(value, ' unless voided', '') WHERE name = 'measures';
         UPDATE total SET measures = 'total_amount=9';
         UPDATE part SET measures = 'total_amount=9';
         DELETE FROM text_key;
         DELETE FROM person_key;
         DELETE FROM shared_key;
         DELETE FROM email;",
    )
    .unwrap();
}

/// A version with other measures counts the totals of an existing file when it opens it. A file with
/// a total that this version does not know is rejected.
///
/// Requirements: RES-event-16 to RES-event-20, RES-fundraising_page-09, RES-fundraising_page-10.
#[tokio::test]
async fn totals_are_counted_again_after_a_change_of_the_measures() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.db");
    let store = SqliteStore::open(SqliteOptions::new(&path)).unwrap();
    let tenants = [
        store.ensure_tenant("one").await.unwrap(),
        store.ensure_tenant("other").await.unwrap(),
    ];
    let checked = check_recount(store, tenants, async |store| {
        drop(store);
        let file = Connection::open(&path).unwrap();
        set_other_measures(&file);
        for (kind, stored, former) in FORMER_VALUES {
            write(&file, kind.plural(), stored, former);
        }
        file.close().unwrap();
        svc_sqlite::check(&path, &mut |damage| panic!("{damage}")).unwrap();
        let shared = SqliteStore::open(SqliteOptions::new(&path).shared());
        assert!(
            matches!(&shared, Err(FileError::Uncounted { .. })),
            "{:?}",
            shared.err()
        );
        SqliteStore::open(SqliteOptions::new(&path)).unwrap()
    });
    checked.await.unwrap();

    let file = Connection::open(&path).unwrap();
    let later = "UPDATE meta SET value = value || 'Event.total_later = count(Attendance where status is tentative)'
                 WHERE name = 'measures'";
    file.execute(later, ()).unwrap();
    file.close().unwrap();
    let error = svc_sqlite::check(&path, &mut |_| ()).unwrap_err();
    assert!(
        error.to_string().ends_with(
            "the file has `Event.total_later`, a total, index or form of values that this program does not know; use a newer program"
        ),
        "{error}"
    );
}

/// A damaged record does not prevent the start. It does not count.
///
/// Requirements: RES-fundraising_page-09, RES-fundraising_page-10.
#[tokio::test]
async fn a_damaged_record_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.db");
    let server = open(&path).await;
    let ada = server.make("people", json!({"given_name": "Ada"})).await;
    let page = server
        .make("fundraising_pages", json!({"currency": "EUR"}))
        .await;
    for amount in [2.5, 1.0] {
        let donor = json!({"svc:person": {"href": ada}});
        let donation = json!({"amount": amount, "currency": "EUR", "_links": donor});
        server.make(&format!("{page}/donations"), donation).await;
    }
    assert_eq!(server.get(&page).await.json["total_donations"], 2);
    drop(server);

    let file = Connection::open(&path).unwrap();
    set_other_measures(&file);
    write(&file, "donations", r#""amount":2.5"#, "damaged");
    file.close().unwrap();
    let server = open(&path).await;
    let shown = server.get(&page).await.json;
    assert_eq!(shown["total_donations"], 1);
    assert_eq!(shown["total_amount"].as_f64(), Some(1.0));
}
