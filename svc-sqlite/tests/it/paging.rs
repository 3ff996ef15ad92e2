//! Whatever is written between two pages, a walk visits each remaining record exactly once, in
//! order.
//!
//! Requirements: COL-24, UND-20.

use crate::server::Server;
use proptest::prelude::*;
use serde_json::{Value, json};

/// An event between two pages of a walk.
#[derive(Debug, Clone)]
enum Between {
    Nothing,
    Make,
    /// Deletes one of the records that may be deleted.
    Delete(usize),
    /// Changes a record that remains.
    Change(usize),
    /// Reads the next page of a second walk with another page size.
    OtherWalk,
}

fn between() -> impl Strategy<Value = Vec<Between>> {
    let one = prop_oneof![
        Just(Between::Nothing),
        Just(Between::Make),
        any::<usize>().prop_map(Between::Delete),
        any::<usize>().prop_map(Between::Change),
        Just(Between::OtherWalk),
    ];
    proptest::collection::vec(one, 1..60)
}

/// A walk with `next`.
struct Walk {
    next: Option<String>,
    met: Vec<String>,
}

impl Walk {
    fn from(first: String) -> Self {
        Self {
            next: Some(first),
            met: Vec::new(),
        }
    }

    /// Reads the next page. Returns `false` at the end.
    async fn go_on(&mut self, server: &Server) -> bool {
        let Some(address) = self.next.take() else {
            return false;
        };
        let page = server.get(&address).await;
        assert_eq!(page.status, 200, "COL-20: {address} {}", page.json);
        let members = page.json["_embedded"]["svc:tags"]
            .as_array()
            .expect("members");
        let own = |member: &Value| {
            member["_links"]["self"]["href"]
                .as_str()
                .expect("an address")
                .to_owned()
        };
        self.met.extend(members.iter().map(own));
        self.next = page.json["_links"]["next"]["href"]
            .as_str()
            .map(ToOwned::to_owned);
        true
    }

    /// Asserts that each record was visited once, and all remaining ones in their order.
    fn check(&self, staying: &[String]) {
        let once: std::collections::BTreeSet<&String> = self.met.iter().collect();
        assert_eq!(
            once.len(),
            self.met.len(),
            "COL-24: visited twice in {:?}",
            self.met
        );
        let kept: Vec<&String> = self
            .met
            .iter()
            .filter(|address| staying.contains(address))
            .collect();
        assert_eq!(kept, staying.iter().collect::<Vec<_>>(), "UND-20");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(24),
        ..ProptestConfig::default()
    })]

    #[test]
    fn each_record_that_stays_is_met_once(
        stays in proptest::collection::vec(any::<bool>(), 1..40), size in 1..8_u8, other in 1..8_u8, script in between(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let server = Server::start().await;
            let (mut staying, mut going) = (Vec::new(), Vec::new());
            let mut number = 0;
            let mut name = || {
                number += 1;
                json!({"name": format!("t{number}")})
            };
            for stays in stays {
                let made = server.make("tags", name()).await;
                if stays { staying.push(made) } else { going.push(made) }
            }
            let mut walk = Walk::from(format!("tags?per_page={size}"));
            let mut second = Walk::from(format!("tags?per_page={other}"));
            let mut script = script.into_iter();
            while walk.go_on(&server).await {
                match script.next().unwrap_or(Between::Nothing) {
                    Between::Make => going.push(server.make("tags", name()).await),
                    Between::Delete(which) if !going.is_empty() => {
                        let gone = going.swap_remove(which % going.len());
                        assert_eq!(server.delete(&gone).await.status, 204, "ERR-17");
                    }
                    Between::Change(which) if !staying.is_empty() => {
                        let changed = server.put(&staying[which % staying.len()], json!({"description": "d"})).await;
                        assert_eq!(changed.status, 200, "ERR-15");
                    }
                    Between::OtherWalk => drop(second.go_on(&server).await),
                    _ => {}
                }
            }
            while second.go_on(&server).await {}
            walk.check(&staying);
            second.check(&staying);
            prop_assert_eq!(server.total("tags").await, (staying.len() + going.len()) as u64, "COL-23");
            Ok(())
        })?;
    }
}
