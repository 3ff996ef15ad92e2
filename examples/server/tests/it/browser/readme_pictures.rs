//! The two pictures of the README: `.ci/readme-pictures`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use svc_conformance::{Format, Intensity, Keys, Remote, Suite};

use crate::browser::Session;
use crate::browser::screenshots::decoded;
use crate::support::TestResult;
use crate::support::client::link;
use crate::support::program::KEY;

/// The width of both pictures.
const WIDTH: u32 = 1120;
const HEIGHT: f64 = 800.0;

async fn taken(session: &mut Session, name: &str) -> TestResult {
    session.browser.look(WIDTH, "light").await?;
    let picture = decoded(&session.browser.picture(HEIGHT).await?)?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pictures");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(format!("{name}.png")), picture)?;
    Ok(())
}

#[tokio::test]
#[ignore = "writes the pictures of the README: .ci/readme-pictures"]
async fn pictures_of_the_readme() -> TestResult {
    let mut session = Session::with(&["--key", "other=a-key-of-another-tenant"]).await?;
    session.use_key(KEY).await?;
    let mut client = session.client().await?;
    let page = client
        .get(&format!("{}petitions?per_page=1", session.demo.base_url))
        .await?;
    let address = link(&page["_embedded"]["svc:petitions"][0], "self")?;
    session
        .open(
            address
                .strip_prefix(&session.demo.base_url)
                .ok_or("elsewhere")?,
        )
        .await?;
    session
        .browser
        .press("Record a signature on a petition")
        .await?;
    session.browser.enter("given_name", "Ada").await?;
    session.browser.enter("family_name", "Byron").await?;
    session.browser.enter("comments", "High time.").await?;
    session.browser.run("scrollTo(0, 0);").await?;
    taken(&mut session, "explorer").await?;

    let suite = Suite::from_shared(Arc::new(Remote::new(&session.demo.base_url)?))
        .keys(Keys::primary(KEY).other_tenant("a-key-of-another-tenant"))
        .intensity(Intensity::Quick)
        .allow_side_effects(true);
    let report = suite.run().await?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("report.html");
    fs::write(&file, report.to_format(Format::Html))?;
    session
        .browser
        .open(&format!("file://{}", file.display()))
        .await?;
    taken(&mut session, "report").await?;
    session.browser.end().await
}
