//! Runs the loops of the guide "Keeping two systems in step" unchanged, with a demo whose people
//! change.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::support::program::{KEY, Program};
use crate::support::{Answer, Raw, TestResult};

const GUIDE: &str = include_str!("../../../../../svc-tower/src/guide/keep_in_step.md");

/// A running loop. A failing test ends it.
struct Loop {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Loop {
    /// Starts a block of the guide.
    fn start(program: &[&str], fence: &str, base: &str) -> TestResult<Self> {
        let (_, rest) = GUIDE
            .split_once(&format!("```{fence}\n"))
            .ok_or("no such block")?;
        let (block, _) = rest.split_once("\n```").ok_or("an open block")?;
        let mut command = Command::new(program[0]);
        command
            .args(&program[1..])
            .arg(block)
            .env("SVC_BASE", base)
            .env("SVC_KEY", KEY);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take().ok_or("no output")?;
        Ok(Self {
            child,
            lines: BufReader::new(out).lines(),
        })
    }

    fn line(&mut self) -> TestResult<String> {
        Ok(self.lines.next().ok_or("it has ended")??)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn send(program: &Program, method: &str, address: &str, body: &str) -> TestResult<Answer> {
    let path = address.splitn(4, '/').nth(3).ok_or("no path")?;
    let mut raw = Raw::connect(program.address()?).await?;
    let head = format!(
        "{method} /{path} HTTP/1.1\r\nHost: localhost\r\nSVC-API-Token: {KEY}\r\nContent-Type: application/json\r\n"
    );
    raw.send(format!(
        "{head}Content-Length: {}\r\n\r\n{body}",
        body.len()
    ))
    .await?;
    raw.answer().await
}

/// SYN-02, SYN-11, SYN-12: each loop receives each change while it waits, within half a minute.
#[tokio::test]
#[ignore = "needs a shell, Python and Node.js: .ci/languages"]
async fn the_loops_of_the_guide_are_told_of_each_change() -> TestResult {
    let folder = tempfile::tempdir()?;
    let program = Program::demo(&folder.path().join("demo.db"), &[])?;
    let loops = [
        (&["sh", "-c"][..], "sh"),
        (&["python3", "-c"], "python"),
        (&["node", "-e"], "js"),
    ];
    for (with, fence) in loops {
        let mut following = Loop::start(with, fence, &program.base_url)?;
        let first = following.line()?;
        let people: u64 = first.strip_suffix(" people").ok_or("no count")?.parse()?;
        assert!(people > 0, "{fence}: {first}");
        let made = send(
            &program,
            "POST",
            &format!("{}people", program.base_url),
            r#"{"given_name": "Ada"}"#,
        )
        .await?;
        assert_eq!(made.status, 201, "{}", made.text());
        let person: Value = serde_json::from_slice(&made.body)?;
        let own = person["_links"]["self"]["href"]
            .as_str()
            .ok_or("no address")?;
        assert_eq!(following.line()?, format!("created {own}"), "{fence}");
        assert_eq!(
            send(&program, "PUT", own, r#"{"family_name": "Byron"}"#)
                .await?
                .status,
            200
        );
        assert_eq!(following.line()?, format!("changed {own}"), "{fence}");
        assert_eq!(send(&program, "DELETE", own, "").await?.status, 204);
        assert_eq!(following.line()?, format!("deleted {own}"), "{fence}");
    }
    Ok(())
}
