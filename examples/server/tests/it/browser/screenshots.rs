//! Takes screenshots of each type of page and each state of the explorer for people, in light and
//! dark, wide and narrow: `.ci/screenshots FOLDER`.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::browser::Session;
use crate::browser::states::{self, Visitor};
use crate::support::TestResult;

const WIDTHS: [u32; 2] = [1280, 390];
const SCHEMES: [&str; 2] = ["light", "dark"];

/// Maximum height of a picture in pixels.
const LONGEST: f64 = 6000.0;

/// A folder of pictures.
struct Album(PathBuf);

impl Visitor for Album {
    /// Takes four pictures.
    async fn visit(&mut self, session: &mut Session, name: &str) -> TestResult {
        for width in WIDTHS {
            for scheme in SCHEMES {
                session.browser.look(width, scheme).await?;
                let picture = decoded(&session.browser.picture(LONGEST).await?)?;
                std::fs::write(self.0.join(format!("{name}-{width}-{scheme}.png")), picture)?;
            }
        }
        session.browser.look(1280, "light").await
    }
}

/// Decodes a picture of the driver.
pub(crate) fn decoded(base64: &str) -> TestResult<Vec<u8>> {
    Ok(BASE64_STANDARD.decode(base64)?)
}

#[tokio::test]
#[ignore = "writes pictures into a folder: .ci/screenshots FOLDER"]
async fn pictures_of_all_pages() -> TestResult {
    let folder = std::env::var_os("SVC_SCREENSHOTS").ok_or("SVC_SCREENSHOTS must be a folder")?;
    std::fs::create_dir_all(&folder)?;
    states::walk(&mut Album(Path::new(&folder).to_owned())).await
}
