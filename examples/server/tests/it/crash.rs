//! `kill -9` during writes: everything that the server acknowledged exists exactly once, totals
//! match the members, and people who signed repeatedly exist only once.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use svc_core::value::Amount;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::support::TestResult;
use crate::support::client::{Client, link};
use crate::support::program::{KEY, Program};

/// Number of kills.
const CYCLES: usize = 20;

/// Number of simultaneous clients.
const CLIENTS: usize = 16;

/// Minimum number of acknowledged posts before a kill.
const POSTS: usize = 300;

/// Number of people who sign repeatedly. Each donor is new.
const SIGNERS: usize = 50;

/// The URLs that the clients post to.
struct Helpers {
    sign: String,
    donate: String,
}

/// One acknowledged post: the identifier that the client gave the action, and its URL.
type Acknowledged = (String, String);

/// The state of a cycle.
struct Cycle {
    number: usize,
    helpers: Helpers,
    /// One permit for each acknowledged post.
    acknowledged: Semaphore,
}

/// Posts until the server ends. Every second post is a donation of 1.10. Returns whether a post was
/// unfinished at the end.
async fn post(address: SocketAddr, client: usize, cycle: Arc<Cycle>) -> (Vec<Acknowledged>, bool) {
    let mut done = Vec::new();
    let Ok(mut connection) = Client::connect(address, Some(KEY)).await else {
        return (done, false);
    };
    for number in 0.. {
        let identifier = format!("crash:{}-{client}-{number}", cycle.number);
        let email = match number % 2 {
            0 => format!("signer.{}@example.org", (client * 31 + number) % SIGNERS),
            _ => format!("donor.{}.{client}.{number}@example.org", cycle.number),
        };
        let person = json!({"given_name": "Ada", "email_addresses": [{"address": email}]});
        let mut body = json!({"identifiers": [identifier], "person": person});
        let helper = if number % 2 == 0 {
            &cycle.helpers.sign
        } else {
            &cycle.helpers.donate
        };
        if number % 2 == 1 {
            body["amount"] = json!(1.1);
            body["currency"] = json!("USD");
        }
        match connection
            .post(helper, &body)
            .await
            .and_then(|action| link(&action, "self"))
        {
            Ok(address) => done.push((identifier, address)),
            Err(error) if error.to_string().starts_with("POST") => panic!("{error}"),
            Err(_) => return (done, true),
        }
        cycle.acknowledged.add_permits(1);
    }
    (done, false)
}

/// Lets clients write until enough posts are acknowledged, and then kills the server.
async fn write_and_kill(data: &Path, number: usize) -> TestResult<Vec<Acknowledged>> {
    let mut program = Program::demo(data, &["--seed-people", "0"])?;
    let address = program.address()?;
    let mut client = Client::connect(address, Some(KEY)).await?;
    let petition = client.walk("/api/v1/petitions").await?.swap_remove(0);
    let page = client
        .walk("/api/v1/fundraising_pages")
        .await?
        .swap_remove(0);
    let helpers = Helpers {
        sign: link(&petition, "svc:record_signature_helper")?,
        donate: link(&page, "svc:record_donation_helper")?,
    };
    let cycle = Arc::new(Cycle {
        number,
        helpers,
        acknowledged: Semaphore::new(0),
    });
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(post(address, client, Arc::clone(&cycle)));
    }
    tokio::select! {
        enough = cycle.acknowledged.acquire_many(u32::try_from(POSTS)?) => drop(enough?),
        _ = clients.join_next() => return Err("a client ended early".into()),
    }
    program.kill()?;
    let (mut acknowledged, mut in_flight) = (Vec::new(), 0);
    while let Some(ended) = clients.join_next().await {
        let (done, was_in_flight) = ended?;
        acknowledged.extend(done);
        in_flight += usize::from(was_in_flight);
    }
    assert!(
        acknowledged.len() >= POSTS && in_flight > 0,
        "{} and {in_flight}",
        acknowledged.len()
    );
    Ok(acknowledged)
}

/// Returns the URLs of all records of a collection, by the identifiers of the clients. A signature of a
/// person who signed repeatedly has several (HLP-04).
async fn members(
    client: &mut Client,
    collection: &str,
) -> TestResult<(HashMap<String, String>, Vec<Value>)> {
    let members = client.walk(collection).await?;
    let mut addresses = HashMap::new();
    for member in &members {
        let identifiers = member["identifiers"].as_array().ok_or("no identifiers")?;
        let own = identifiers
            .iter()
            .filter_map(Value::as_str)
            .filter(|identifier| identifier.starts_with("crash:"));
        let before = addresses.len();
        for identifier in own {
            let known = addresses.insert(identifier.to_owned(), link(member, "self")?);
            assert!(known.is_none(), "twice: {member}");
        }
        assert!(
            addresses.len() > before,
            "no identifier of a client: {member}"
        );
    }
    let total = client.get(&format!("{collection}?per_page=1")).await?["total_records"].as_u64();
    assert_eq!(total, u64::try_from(members.len()).ok(), "{collection}");
    Ok((addresses, members))
}

/// Restarts the server, and checks that all records exist exactly once and all totals are exact.
async fn check(data: &Path, acknowledged: &[Acknowledged]) -> TestResult {
    let program = Program::demo(data, &[])?;
    let mut client = Client::connect(program.address()?, Some(KEY)).await?;
    let petition = client.walk("/api/v1/petitions").await?.swap_remove(0);
    let page = client
        .walk("/api/v1/fundraising_pages")
        .await?
        .swap_remove(0);
    let (signed, signatures) = members(&mut client, &link(&petition, "svc:signatures")?).await?;
    let (given, donations) = members(&mut client, &link(&page, "svc:donations")?).await?;
    for (identifier, address) in acknowledged {
        let found = signed.get(identifier).or_else(|| given.get(identifier));
        let path = |address: &str| address.splitn(4, '/').nth(3).map(str::to_owned);
        assert_eq!(
            found.and_then(|found| path(found)),
            path(address),
            "{identifier} was acknowledged"
        );
    }
    assert_eq!(
        petition["total_signatures"].as_u64(),
        u64::try_from(signatures.len()).ok()
    );
    assert_eq!(
        page["total_donations"].as_u64(),
        u64::try_from(donations.len()).ok()
    );
    let cents = i128::try_from(donations.len() * 110)?;
    assert_eq!(
        Amount::parse(&page["total_amount"].to_string()),
        Amount::new(cents, 2)
    );
    // The first person of the tenant owns the keys. Each donation came with a new person (HLP-04).
    let people = client.walk("/api/v1/people").await?;
    let address = |person: &Value| {
        person["email_addresses"][0]["address"]
            .as_str()
            .map(str::to_owned)
    };
    let addresses: Vec<String> = people.iter().filter_map(address).collect();
    assert_eq!(
        addresses.iter().collect::<HashSet<_>>().len(),
        addresses.len()
    );
    let signers = addresses
        .iter()
        .filter(|address| address.starts_with("signer."))
        .count();
    assert_eq!(people.len(), donations.len() + signers + 1);
    let total = client.get("/api/v1/people?per_page=1").await?["total_records"].as_u64();
    assert_eq!(total, u64::try_from(people.len()).ok());
    program.terminate()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_outlives_kill_9() -> TestResult {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("demo.db");
    let mut acknowledged = Vec::new();
    for cycle in 0..CYCLES {
        acknowledged.extend(write_and_kill(&data, cycle).await?);
        check(&data, &acknowledged).await?;
    }
    assert!(acknowledged.len() >= CYCLES * POSTS);
    Ok(())
}
