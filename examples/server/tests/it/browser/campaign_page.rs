//! The form of `campaign_page`, on a page of another origin.
//!
//! Requirements: HLP-08.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::browser::driver::Browser;
use crate::support::TestResult;
use crate::support::client::{Client, link};
use crate::support::program::{KEY, Program};

/// A demo, a second server with the page, and a browser with the page.
struct Campaign {
    demo: Program,
    browser: Browser,
    /// The origin of the second server.
    origin: String,
    /// The petition to sign.
    petition: Value,
    _folder: tempfile::TempDir,
}

impl Campaign {
    /// Opens the page. `is_allowed` sets whether the demo allows the origin of the page.
    async fn open(is_allowed: bool) -> TestResult<Self> {
        let folder = tempfile::tempdir()?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let origin = format!("http://{}", listener.local_addr()?);
        let cors: &[&str] = if is_allowed {
            &["--cors", &origin]
        } else {
            &[]
        };
        let demo = Program::demo(
            &folder.path().join("campaign.db"),
            &[&["--seed-people", "60"], cors].concat(),
        )?;
        let mut client = Client::connect(demo.address()?, Some(KEY)).await?;
        let petition = client
            .walk(&format!("{}petitions", demo.base_url))
            .await?
            .swap_remove(0);
        let page = fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../campaign_page/index.html"),
        )?;
        let helper = link(&petition, "svc:record_signature_helper")?;
        // The test changes what an author changes: the URL.
        let usual = page
            .split("action=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .ok_or("no address")?;
        tokio::spawn(serve(listener, page.replace(usual, &helper)));
        let mut browser = Browser::start().await?;
        browser.open(&format!("{origin}/")).await?;
        Ok(Self {
            demo,
            browser,
            origin,
            petition,
            _folder: folder,
        })
    }

    async fn client(&self) -> TestResult<Client> {
        Client::connect(self.demo.address()?, Some(KEY)).await
    }

    async fn fill_in(&mut self, phone: &str) -> TestResult {
        for (label, text) in [
            ("Given name", "Grace"),
            ("Family name", "Hopper"),
            ("E-mail (required)", "grace.hopper@example.org"),
            ("Telephone, with the country code", phone),
            ("Why do you sign?", "Lights, please."),
        ] {
            self.browser.enter(label, text).await?;
        }
        Ok(())
    }

    /// Returns the number of signatures.
    async fn signatures(&self) -> TestResult<Value> {
        let petition = self
            .client()
            .await?
            .get(&link(&self.petition, "self")?)
            .await?;
        Ok(petition["total_signatures"].clone())
    }
}

/// Responds to every request with the page.
async fn serve(listener: TcpListener, page: String) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n";
    let answer = format!("{head}Content-Length: {}\r\n\r\n{page}", page.len());
    while let Ok((mut stream, _)) = listener.accept().await {
        let answer = answer.clone();
        // A browser opens connections without a request; none of them must block another one.
        tokio::spawn(async move {
            let mut asked = [0; 4096];
            if stream.read(&mut asked).await.is_ok_and(|bytes| bytes > 0) {
                let _ = stream.write_all(answer.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        });
    }
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn hlp_08_a_page_of_another_site_sends_a_signature_without_a_key() -> TestResult {
    let mut campaign = Campaign::open(true).await?;
    let before = campaign.signatures().await?;
    // Problems are shown next to their fields, and the input remains.
    campaign.fill_in("call me").await?;
    campaign.browser.press("Sign").await?;
    campaign
        .browser
        .wait_for("document.getElementById('phone').ariaInvalid === 'true'")
        .await?;
    let seen = "return [document.activeElement.id, document.getElementById('phone-error').textContent,
                document.querySelectorAll('[aria-invalid]').length, document.getElementById('given_name').value];";
    let seen = campaign.browser.run(seen).await?;
    assert_eq!(
        seen,
        json!([
            "phone",
            "This must be a phone number with the country code. It contains `c`.",
            1,
            "Grace"
        ])
    );
    assert_eq!(campaign.signatures().await?, before);
    // After a correction the signature is accepted, and the page thanks the visitor.
    campaign
        .browser
        .enter("Telephone, with the country code", "49 40 5550123")
        .await?;
    campaign.browser.press("Sign").await?;
    campaign
        .browser
        .wait_for("document.getElementById('thanks').textContent === 'Thank you for signing.'")
        .await?;
    let seen = "return [document.activeElement.id, document.querySelector('form').hidden];";
    assert_eq!(campaign.browser.run(seen).await?, json!(["thanks", true]));
    // A client with a key finds the signature.
    let mut client = campaign.client().await?;
    let signatures = client
        .walk(&link(&campaign.petition, "svc:signatures")?)
        .await?;
    assert_eq!(
        json!(signatures.len()),
        json!(before.as_u64().ok_or("no total")? + 1)
    );
    let signature = signatures
        .iter()
        .find(|one| one["comments"] == "Lights, please.")
        .ok_or("no signature")?;
    let person = client.get(&link(signature, "svc:person")?).await?;
    assert_eq!(
        (&person["given_name"], &person["family_name"]),
        (&json!("Grace"), &json!("Hopper"))
    );
    assert_eq!(
        person["email_addresses"][0]["address"],
        "grace.hopper@example.org"
    );
    assert_eq!(person["phone_numbers"][0]["number"], "49405550123");
    campaign.browser.end().await
}

#[tokio::test]
#[ignore = "needs Chromium: .ci/browser"]
async fn hlp_08_where_a_site_is_not_allowed_its_page_tells_the_author_what_to_do() -> TestResult {
    let mut campaign = Campaign::open(false).await?;
    assert!(
        campaign
            .demo
            .said
            .contains("--cors https://your-site.example"),
        "{}",
        campaign.demo.said
    );
    let before = campaign.signatures().await?;
    campaign.fill_in("49 40 5550123").await?;
    campaign.browser.press("Sign").await?;
    campaign
        .browser
        .wait_for("document.getElementById('problem').textContent")
        .await?;
    let said = campaign
        .browser
        .run("return document.activeElement.textContent;")
        .await?;
    let option = format!("--cors {}", campaign.origin);
    assert!(
        said.as_str().is_some_and(|said| said.contains(&option)),
        "{option}: {said}"
    );
    assert_eq!(campaign.signatures().await?, before);
    campaign.browser.end().await
}
