//! The worker of deliveries, over the store in memory. Time advances when all tasks wait.
//!
//! Requirements: HAF-11.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use svc_core::{
    Api, Deliver, Result, Tenant, Vendor,
    api::Request,
    auth::{Caller, FixedKeys, Identity, Principal, Rights},
    backend::{DeliveryOutcome, OutboxEntry},
    value::Timestamp,
};
use svc_store::memory::MemoryStore;
use svc_tower::{DeliveryWorker, SvcService};
use tokio::{sync::mpsc, time::Instant};

/// Reports the entries that it receives. The delivery for a tenant named `stuck` never ends.
struct Telling(mpsc::UnboundedSender<(String, OutboxEntry)>);

#[async_trait::async_trait]
impl Deliver for Telling {
    async fn deliver(&self, tenant: &Tenant, dispatch: &OutboxEntry) -> Result<DeliveryOutcome> {
        self.0
            .send((tenant.as_str().to_owned(), dispatch.clone()))
            .unwrap();
        if tenant.as_str() == "stuck" {
            std::future::pending::<()>().await;
        }
        Ok(DeliveryOutcome::Sent)
    }
}

/// Returns an API, the worker of its deliveries with the time of the runtime, and the reported
/// entries.
fn served() -> (
    Api,
    DeliveryWorker,
    mpsc::UnboundedReceiver<(String, OutboxEntry)>,
) {
    let (tell, told) = mpsc::unbounded_channel();
    let api = MemoryStore::new()
        .register_all(Api::builder(Vendor::new("Acme", "CRM")))
        .base_url("http://localhost/")
        .authenticator(FixedKeys::new())
        .delivery(Telling(tell))
        .build()
        .unwrap();
    let began = Instant::now();
    let now = move || Timestamp::from_micros(1_800_000_000_000_000).saturating_add(began.elapsed());
    let deliveries = SvcService::new(api.clone())
        .clock(now)
        .delivery_worker()
        .unwrap();
    (api, deliveries, told)
}

/// Signs a person up with a tenant, and triggers a response.
async fn sign_up(api: &Api, tenant: &str) {
    let identity = Identity::Authenticated(Principal::new(
        Tenant::new(tenant),
        Caller::with_rights(Rights::all()),
    ));
    let body =
        r#"{"person": {"given_name": "Ada"}, "triggers": {"autoresponse": {"enabled": true}}}"#;
    let request = Request::new(&http::Method::POST, "people/person_signup").with_body(body);
    let reply = api
        .handle(
            identity,
            request.with_received_at(Timestamp::from_micros(1_800_000_000_000_000)),
        )
        .await;
    assert_eq!(reply.status, 200, "{reply:?}");
}

/// An attempt that hangs delays no other one. It is ended by the timeout, and repeated with its id.
#[tokio::test(start_paused = true)]
async fn haf_11_what_hangs_holds_up_nobody() {
    let (api, deliveries, mut told) = served();
    let counts = deliveries.clone();
    let running = tokio::spawn(
        deliveries
            .max_concurrent(2)
            .attempt_timeout(Duration::from_secs(30))
            .run(),
    );
    sign_up(&api, "stuck").await;
    let (tenant, stuck) = told.recv().await.unwrap();
    assert_eq!(tenant, "stuck");
    let began = Instant::now();
    for _ in 0..20 {
        sign_up(&api, "quick").await;
        assert_eq!(told.recv().await.unwrap().0, "quick");
    }
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "each was delivered when it was due: {:?}",
        began.elapsed()
    );
    let (tenant, again) = told.recv().await.unwrap();
    assert_eq!((tenant.as_str(), again), ("stuck", stuck));
    assert!(
        began.elapsed() >= Duration::from_secs(35),
        "the timeout, and the first pause: {:?}",
        began.elapsed()
    );
    let counts = counts.stats();
    assert_eq!((counts.sent, counts.retried, counts.abandoned), (20, 1, 0));
    running.abort();
}

/// If many entries are due, the number of simultaneous attempts stays below the limit, and all
/// entries are sent.
#[tokio::test(start_paused = true)]
async fn haf_11_no_more_is_under_way_than_may_be() {
    struct Slow(Arc<Mutex<(usize, usize, usize)>>);

    #[async_trait::async_trait]
    impl Deliver for Slow {
        async fn deliver(&self, _: &Tenant, _: &OutboxEntry) -> Result<DeliveryOutcome> {
            {
                let mut seen = self.0.lock().unwrap();
                seen.0 += 1;
                seen.1 = seen.1.max(seen.0);
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            let mut seen = self.0.lock().unwrap();
            seen.0 -= 1;
            seen.2 += 1;
            Ok(DeliveryOutcome::Sent)
        }
    }

    let seen = Arc::default();
    let api = MemoryStore::new().register_all(Api::builder(Vendor::new("Acme", "CRM")));
    let api = api
        .base_url("http://localhost/")
        .authenticator(FixedKeys::new())
        .delivery(Slow(Arc::clone(&seen)));
    let api = api.build().unwrap();
    for _ in 0..25 {
        sign_up(&api, "demo").await;
    }
    let service = SvcService::new(api).clock(|| Timestamp::from_micros(1_800_000_000_000_000));
    let deliveries = service.delivery_worker().unwrap().max_concurrent(4);
    deliveries.run_due().await.unwrap();
    assert_eq!(*seen.lock().unwrap(), (0, 4, 25));
}
