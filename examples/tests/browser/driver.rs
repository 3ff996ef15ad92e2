//! A client of the `WebDriver` protocol, as much of it as the tests need: JSON over HTTP to chromedriver.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Raw, TestResult};

/// How long a page may take for what is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// What an element is called in answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser that is driven.
pub(crate) struct Browser {
    driver: Child,
    raw: Raw,
    session: String,
    /// The addresses that were asked for, as far as the log was read.
    seen: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts chromedriver on any free port, and through it a browser without a window.
    pub(crate) async fn start() -> TestResult<Self> {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("chromedriver: {error}"))?;
        let mut lines = BufReader::new(driver.stdout.take().ok_or("no output")?).lines();
        let port = lines.find_map(|line| {
            let line = line.ok()?;
            line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse::<u16>().ok()
        });
        let port = port.ok_or("chromedriver did not start")?;
        // What it says later is read and dropped, so that it never waits.
        std::thread::spawn(move || lines.for_each(drop));
        let raw = Raw::connect(([127, 0, 0, 1], port).into()).await?;
        let profile = tempfile::tempdir()?;
        let data = format!("--user-data-dir={}", profile.path().display());
        let mut browser = Self { driver, raw, session: String::new(), seen: Vec::new(), _profile: profile };
        let options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,1000",
            &data,
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "args": options },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        } } });
        let made = browser.send("POST", "/session", &wanted).await?;
        made["sessionId"].as_str().ok_or("no session")?.clone_into(&mut browser.session);
        Ok(browser)
    }

    async fn send(&mut self, method: &str, path: &str, body: &Value) -> TestResult<Value> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.raw.send(head + &body).await?;
        let answer = self.raw.answer().await?;
        let mut json: Value = serde_json::from_slice(&answer.body)?;
        if answer.status != 200 {
            return Err(format!("{method} {path}: {}", json["value"]["message"]).into());
        }
        Ok(json["value"].take())
    }

    async fn command(&mut self, path: &str, body: Value) -> TestResult<Value> {
        let path = format!("/session/{}/{path}", self.session);
        self.send("POST", &path, &body).await
    }

    /// Goes to an address.
    pub(crate) async fn open(&mut self, address: &str) -> TestResult {
        self.command("url", json!({ "url": address })).await?;
        Ok(())
    }

    /// Makes the window as narrow as a telephone's.
    pub(crate) async fn narrow(&mut self) -> TestResult {
        let size = json!({ "width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": true });
        let command = json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": size });
        self.command("goog/cdp/execute", command).await?;
        Ok(())
    }

    /// What the body of a function gives in the page.
    pub(crate) async fn run(&mut self, script: &str) -> TestResult<Value> {
        self.command("execute/sync", json!({ "script": script, "args": [] })).await
    }

    /// Waits until an expression holds in the page; a failure tells what the page shows then.
    pub(crate) async fn wait_for(&mut self, expression: &str) -> TestResult {
        let end = Instant::now() + PATIENCE;
        loop {
            if self.run(&format!("return Boolean({expression});")).await? == true {
                return Ok(());
            }
            if Instant::now() > end {
                let shown = self.run("return document.body.innerText;").await?;
                return Err(format!("never: {expression}\n{}", shown.as_str().unwrap_or_default()).into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The element that an `XPath` leads to, once it is there.
    async fn element(&mut self, path: &str) -> TestResult<String> {
        let quoted = serde_json::to_string(path)?;
        self.wait_for(&format!("document.evaluate({quoted}, document, null, 9, null).singleNodeValue")).await?;
        let found = self.command("element", json!({ "using": "xpath", "value": path })).await?;
        Ok(found[ELEMENT].as_str().ok_or("no element")?.to_owned())
    }

    /// Clicks what an `XPath` leads to, as a mouse would.
    pub(crate) async fn click(&mut self, path: &str) -> TestResult {
        let element = self.element(path).await?;
        self.command(&format!("element/{element}/click"), json!({})).await?;
        Ok(())
    }

    /// Clicks the button with this text.
    pub(crate) async fn press(&mut self, text: &str) -> TestResult {
        self.click(&format!("//button[normalize-space()='{text}']")).await
    }

    /// Puts a text into the first field with this label.
    pub(crate) async fn enter(&mut self, label: &str, text: &str) -> TestResult {
        self.type_into(&format!("//*[@id=//label[normalize-space()='{label}']/@for]"), text).await
    }

    /// Puts a text into the field with this label in the group of this name.
    pub(crate) async fn enter_in(&mut self, group: &str, label: &str, text: &str) -> TestResult {
        let label = format!("//*[@role='group'][@aria-label='{group}']//label[normalize-space()='{label}']");
        self.type_into(&format!("//*[@id={label}/@for]"), text).await
    }

    /// Puts a text into the field that an `XPath` leads to.
    pub(crate) async fn type_into(&mut self, path: &str, text: &str) -> TestResult {
        let element = self.element(path).await?;
        self.command(&format!("element/{element}/clear"), json!({})).await?;
        self.command(&format!("element/{element}/value"), json!({ "text": text })).await?;
        Ok(())
    }

    /// Chooses a value of the list with this label.
    pub(crate) async fn choose(&mut self, label: &str, value: &str) -> TestResult {
        self.click(&format!("//*[@id=//label[normalize-space()='{label}']/@for]/option[.='{value}']")).await
    }

    /// The text of the page.
    pub(crate) async fn text(&mut self) -> TestResult<String> {
        Ok(self.run("return document.body.innerText;").await?.as_str().unwrap_or_default().to_owned())
    }

    /// The entries of a log since it was last asked for: `browser` is the console, `performance` every request.
    pub(crate) async fn log(&mut self, kind: &str) -> TestResult<Vec<Value>> {
        let entries = self.command("se/log", json!({ "type": kind })).await?;
        Ok(entries.as_array().cloned().unwrap_or_default())
    }

    /// Every request since the log was last read.
    async fn requests(&mut self) -> TestResult<Vec<Value>> {
        let mut requests = Vec::new();
        for entry in self.log("performance").await? {
            let mut message: Value = serde_json::from_str(entry["message"].as_str().unwrap_or_default())?;
            if message["message"]["method"] == "Network.requestWillBeSent" {
                requests.push(message["message"]["params"]["request"].take());
            }
        }
        self.seen.extend(requests.iter().filter_map(|request| request["url"].as_str().map(str::to_owned)));
        Ok(requests)
    }

    /// Every address that was asked for.
    pub(crate) async fn requested(&mut self) -> TestResult<Vec<String>> {
        self.requests().await?;
        Ok(std::mem::take(&mut self.seen))
    }

    /// The bodies that were sent since the log was last read.
    pub(crate) async fn requested_bodies(&mut self) -> TestResult<Vec<String>> {
        let requests = self.requests().await?;
        Ok(requests.iter().filter_map(|request| request["postData"].as_str().map(str::to_owned)).collect())
    }

    /// Ends the browser and its driver.
    pub(crate) async fn end(mut self) -> TestResult {
        let path = format!("/session/{}", self.session);
        self.send("DELETE", &path, &Value::Null).await?;
        Ok(())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver takes its browser along.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
