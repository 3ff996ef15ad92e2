//! A client of the `WebDriver` protocol with the commands that the tests need: JSON over HTTP to
//! chromedriver.
//!
//! No command races with the page. A command waits until the page is ready, so that it finds
//! nothing in a view that is about to be replaced. The explorer marks this state itself
//! (`aria-busy`), from the time of a click.

use std::error::Error;
use std::fmt::{Display, Formatter};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Raw, TestResult};

/// Maximum time to wait for a condition in a page. It only ends tests that would never end.
const PATIENCE: Duration = Duration::from_secs(2 * 60);

/// Interval of polling the page.
const PAUSE: Duration = Duration::from_millis(20);

/// Condition for a page that is ready: it is loaded, and nothing in it is busy.
const STANDS: &str =
    "document.readyState === 'complete' && !document.querySelector('[aria-busy=true]')";

/// Errors after which nothing was done to an element, because the page had changed since the
/// element was found.
const PASSING: &[&str] = &[
    "stale element reference",
    "element click intercepted",
    "element not interactable",
];

/// The name of an element in responses.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// An error of the driver.
#[derive(Debug)]
struct Refused {
    code: String,
    message: String,
}

impl Display for Refused {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.code, self.message)
    }
}

impl Error for Refused {}

/// An action on an element.
enum Deed<'t> {
    Click,
    Write(&'t str),
}

/// A browser that the test controls.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    raw: Raw,
    session: String,
    /// The requested URLs, as far as the log was read.
    seen: Vec<String>,
    /// Number of these URLs that were returned.
    told: usize,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts chromedriver on a free port, and a headless browser.
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
            line.split_once("started successfully on port ")?
                .1
                .trim_end_matches('.')
                .parse::<u16>()
                .ok()
        });
        let port = port.ok_or("chromedriver did not start")?;
        // Later output is read and dropped, so that chromedriver never blocks.
        std::thread::spawn(move || lines.for_each(drop));
        let raw = Raw::connect(([127, 0, 0, 1], port).into()).await?;
        let profile = tempfile::tempdir()?;
        let data = format!("--user-data-dir={}", profile.path().display());
        let mut browser = Self {
            driver,
            port,
            raw,
            session: String::new(),
            seen: Vec::new(),
            told: 0,
            _profile: profile,
        };
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
            "timeouts": { "script": PATIENCE.as_millis() },
        } } });
        let made = browser.send("POST", "/session", &wanted).await?;
        made["sessionId"]
            .as_str()
            .ok_or("no session")?
            .clone_into(&mut browser.session);
        // To find races: the browser behaves as on a slower machine with a slower network, by this
        // factor.
        if let Some(rate) = std::env::var("SVC_BROWSER_SLOWER")
            .ok()
            .and_then(|rate| rate.parse::<f64>().ok())
        {
            browser
                .tool("Emulation.setCPUThrottlingRate", json!({ "rate": rate }))
                .await?;
            let far = json!({
                "offline": false, "latency": rate * 50.0, "downloadThroughput": -1, "uploadThroughput": -1,
            });
            browser
                .tool("Network.emulateNetworkConditions", far)
                .await?;
        }
        Ok(browser)
    }

    async fn send(&mut self, method: &str, path: &str, body: &Value) -> TestResult<Value> {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.raw.send(head + &body).await?;
        let answer = self.raw.answer().await?;
        let mut json: Value = serde_json::from_slice(&answer.body)?;
        if answer.status != 200 {
            let code = json["value"]["error"]
                .as_str()
                .unwrap_or("no error code")
                .to_owned();
            return Err(Refused {
                code,
                message: format!("{method} {path}: {}", json["value"]["message"]),
            }
            .into());
        }
        Ok(json["value"].take())
    }

    async fn command(&mut self, path: &str, body: Value) -> TestResult<Value> {
        let path = format!("/session/{}/{path}", self.session);
        self.send("POST", &path, &body).await
    }

    /// Executes a command of the developer tools of the browser.
    async fn tool(&mut self, command: &str, parameters: Value) -> TestResult<Value> {
        self.command(
            "goog/cdp/execute",
            json!({ "cmd": command, "params": parameters }),
        )
        .await
    }

    /// Opens a URL.
    pub(crate) async fn open(&mut self, address: &str) -> TestResult {
        self.command("url", json!({ "url": address })).await?;
        Ok(())
    }

    /// Changes the URL within the current page, as a user does, and waits until the page has
    /// received the event.
    pub(crate) async fn turn(&mut self, step: &str) -> TestResult {
        // The page registered its listener first: it has started to show the new view when this
        // listener runs.
        self.promised(&format!(
            "addEventListener('hashchange', () => done(), {{ once: true }}); {step}"
        ))
        .await?;
        Ok(())
    }

    /// Sets the window to the width of a telephone.
    pub(crate) async fn narrow(&mut self) -> TestResult {
        let size = json!({ "width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": true });
        self.tool("Emulation.setDeviceMetricsOverride", size)
            .await?;
        Ok(())
    }

    /// Sets the width and the colour scheme of the window. A narrow window is that of a telephone.
    pub(crate) async fn look(&mut self, width: u32, scheme: &str) -> TestResult {
        let size =
            json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.tool("Emulation.setDeviceMetricsOverride", size)
            .await?;
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.tool("Emulation.setEmulatedMedia", features).await?;
        // Elements that follow the size of the window have changed after it is drawn, also in a
        // busy page.
        self.promised("requestAnimationFrame(() => requestAnimationFrame(done));")
            .await?;
        Ok(())
    }

    /// Returns a picture of the whole page in base64, up to the height `most`.
    pub(crate) async fn picture(&mut self, most: f64) -> TestResult<String> {
        let size = self.tool("Page.getLayoutMetrics", json!({})).await?;
        let [width, height] = ["width", "height"]
            .map(|side| size["cssContentSize"][side].as_f64().unwrap_or_default());
        let clip =
            json!({ "x": 0, "y": 0, "width": width, "height": height.min(most), "scale": 1 });
        let wanted = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let picture = self.tool("Page.captureScreenshot", wanted).await?;
        Ok(picture["data"].as_str().ok_or("no picture")?.to_owned())
    }

    /// Returns the result of a function body in the current page, ready or not.
    pub(crate) async fn now(&mut self, script: &str) -> TestResult<Value> {
        self.command("execute/sync", json!({ "script": script, "args": [] }))
            .await
    }

    /// Returns the value that a script in the current page passes to `done`.
    pub(crate) async fn promised(&mut self, script: &str) -> TestResult<Value> {
        let script = format!("const done = arguments[0]; {script}");
        self.command("execute/async", json!({ "script": script, "args": [] }))
            .await
    }

    /// Returns the result of a function body in the page, after the page is ready.
    pub(crate) async fn run(&mut self, script: &str) -> TestResult<Value> {
        let script = format!("return {STANDS} ? [(() => {{ {script} }})()] : null;");
        let end = Instant::now() + PATIENCE;
        loop {
            let mut seen = self.now(&script).await?;
            if let Some(value) = seen.get_mut(0) {
                return Ok(value.take());
            }
            if Instant::now() > end {
                return Err("the page is busy and never becomes ready".into());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits until a function body returns a value in the page. The error contains the text of the
    /// page.
    async fn wait(&mut self, script: &str) -> TestResult<Value> {
        let end = Instant::now() + PATIENCE;
        loop {
            let value = self.run(script).await?;
            if !matches!(value, Value::Null | Value::Bool(false)) {
                return Ok(value);
            }
            if Instant::now() > end {
                return Err(format!("never: {script}\n{}", self.text().await?).into());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits until an expression is true in the page.
    pub(crate) async fn wait_for(&mut self, expression: &str) -> TestResult {
        self.wait(&format!("return Boolean({expression});")).await?;
        Ok(())
    }

    /// Executes an action on the element of an `XPath`, after it exists. If the page changed in
    /// between, the element is searched again.
    async fn act(&mut self, path: &str, deed: Deed<'_>) -> TestResult {
        let quoted = serde_json::to_string(path)?;
        let script =
            format!("return document.evaluate({quoted}, document, null, 9, null).singleNodeValue;");
        let end = Instant::now() + PATIENCE;
        loop {
            let found = self.wait(&script).await?;
            let element = found[ELEMENT].as_str().ok_or("no element")?;
            match self.act_on(element, &deed).await {
                Err(error) if is_passing(error.as_ref()) && Instant::now() < end => {
                    tokio::time::sleep(PAUSE).await;
                }
                done => return done,
            }
        }
    }

    async fn act_on(&mut self, element: &str, deed: &Deed<'_>) -> TestResult {
        match deed {
            Deed::Click => {
                self.command(&format!("element/{element}/click"), json!({}))
                    .await?
            }
            Deed::Write(text) => {
                self.command(&format!("element/{element}/clear"), json!({}))
                    .await?;
                self.command(&format!("element/{element}/value"), json!({ "text": text }))
                    .await?
            }
        };
        Ok(())
    }

    /// Clicks the element of an `XPath`, as a mouse does.
    pub(crate) async fn click(&mut self, path: &str) -> TestResult {
        self.act(path, Deed::Click).await
    }

    /// Clicks the button with this text.
    pub(crate) async fn press(&mut self, text: &str) -> TestResult {
        self.click(&format!("//button[normalize-space()='{text}']"))
            .await
    }

    /// Types a text into the first field with this label.
    pub(crate) async fn enter(&mut self, label: &str, text: &str) -> TestResult {
        self.type_into(
            &format!("//*[@id=//label[normalize-space()='{label}']/@for]"),
            text,
        )
        .await
    }

    /// Types a text into the field with this label in the group with this name.
    pub(crate) async fn enter_in(&mut self, group: &str, label: &str, text: &str) -> TestResult {
        let label = format!(
            "//*[@role='group'][@aria-label='{group}']//label[normalize-space()='{label}']"
        );
        self.type_into(&format!("//*[@id={label}/@for]"), text)
            .await
    }

    /// Types a text into the field of an `XPath`.
    pub(crate) async fn type_into(&mut self, path: &str, text: &str) -> TestResult {
        self.act(path, Deed::Write(text)).await
    }

    /// Presses a key, at the current focus.
    pub(crate) async fn key(&mut self, key: char) -> TestResult {
        self.strokes(&[("keyDown", key), ("keyUp", key)]).await
    }

    /// Presses a key while another key is pressed.
    pub(crate) async fn key_with(&mut self, held: char, key: char) -> TestResult {
        self.strokes(&[
            ("keyDown", held),
            ("keyDown", key),
            ("keyUp", key),
            ("keyUp", held),
        ])
        .await
    }

    async fn strokes(&mut self, strokes: &[(&str, char)]) -> TestResult {
        self.wait_for("true").await?;
        let strokes: Vec<_> = strokes
            .iter()
            .map(|(what, key)| json!({ "type": what, "value": key }))
            .collect();
        self.command(
            "actions",
            json!({ "actions": [{ "type": "key", "id": "keys", "actions": strokes }] }),
        )
        .await?;
        Ok(())
    }

    /// Selects a value of the list with this label.
    pub(crate) async fn choose(&mut self, label: &str, value: &str) -> TestResult {
        self.click(&format!(
            "//*[@id=//label[normalize-space()='{label}']/@for]/option[.='{value}']"
        ))
        .await
    }

    /// Returns the text of the page.
    pub(crate) async fn text(&mut self) -> TestResult<String> {
        Ok(self
            .run("return document.body.innerText;")
            .await?
            .as_str()
            .unwrap_or_default()
            .to_owned())
    }

    /// Returns the entries of a log since the last call: `browser` is the console, `performance`
    /// has every request.
    pub(crate) async fn log(&mut self, kind: &str) -> TestResult<Vec<Value>> {
        let entries = self.command("se/log", json!({ "type": kind })).await?;
        let entries = entries.as_array().cloned().unwrap_or_default();
        for entry in &entries {
            let message: Value =
                serde_json::from_str(entry["message"].as_str().unwrap_or_default())
                    .unwrap_or_default();
            if message["message"]["method"] == "Network.requestWillBeSent" {
                self.seen.extend(
                    message["message"]["params"]["request"]["url"]
                        .as_str()
                        .map(str::to_owned),
                );
            }
        }
        Ok(entries)
    }

    /// Returns every request since the log was last read.
    async fn requests(&mut self) -> TestResult<Vec<Value>> {
        let mut requests = Vec::new();
        for entry in self.log("performance").await? {
            let mut message: Value =
                serde_json::from_str(entry["message"].as_str().unwrap_or_default())?;
            if message["message"]["method"] == "Network.requestWillBeSent" {
                requests.push(message["message"]["params"]["request"].take());
            }
        }
        Ok(requests)
    }

    /// Returns every requested URL since the last call.
    pub(crate) async fn requested(&mut self) -> TestResult<Vec<String>> {
        self.requests().await?;
        let from = std::mem::replace(&mut self.told, self.seen.len());
        Ok(self.seen.get(from..).unwrap_or_default().to_vec())
    }

    /// Returns every requested URL so far.
    pub(crate) async fn all_requested(&mut self) -> TestResult<Vec<String>> {
        self.requests().await?;
        Ok(std::mem::take(&mut self.seen))
    }

    /// Returns the bodies that were sent since the log was last read.
    pub(crate) async fn requested_bodies(&mut self) -> TestResult<Vec<String>> {
        let requests = self.requests().await?;
        Ok(requests
            .iter()
            .filter_map(|request| request["postData"].as_str().map(str::to_owned))
            .collect())
    }

    /// Ends the session on a separate connection.
    fn leave(&self) -> std::io::Result<()> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let head = format!(
            "DELETE /session/{} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            self.session
        );
        stream.write_all(head.as_bytes())?;
        stream.read(&mut [0]).map(drop)
    }

    /// Ends the browser and its driver.
    pub(crate) async fn end(mut self) -> TestResult {
        let path = format!("/session/{}", self.session);
        self.send("DELETE", &path, &Value::Null).await?;
        self.session.clear();
        Ok(())
    }
}

/// Returns whether the command had no effect and can be repeated.
fn is_passing(error: &(dyn Error + 'static)) -> bool {
    error
        .downcast_ref::<Refused>()
        .is_some_and(|refused| PASSING.contains(&refused.code.as_str()))
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A failed test has left its session open: the browser ends with its session, not with its
        // driver.
        if !self.session.is_empty() {
            let _ = self.leave();
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
