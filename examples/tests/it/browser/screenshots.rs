//! Pictures of each sort of page and of each state of the explorer, in light and dark, wide and narrow, for people to look at:
//! `.ci/screenshots FOLDER`.

use std::path::{Path, PathBuf};

use crate::browser::Session;
use crate::browser::states::{self, Visitor};
use crate::support::TestResult;

const WIDTHS: [u32; 2] = [1280, 390];
const SCHEMES: [&str; 2] = ["light", "dark"];

/// Of longer pages, so many pixels are in the picture.
const LONGEST: f64 = 6000.0;

/// A folder of pictures.
struct Album(PathBuf);

impl Visitor for Album {
    /// A picture of it, four times.
    async fn visit(&mut self, session: &mut Session, name: &str) -> TestResult {
        for width in WIDTHS {
            for scheme in SCHEMES {
                session.browser.look(width, scheme).await?;
                let picture = decoded(&session.browser.picture(LONGEST).await?).ok_or("no base64")?;
                std::fs::write(self.0.join(format!("{name}-{width}-{scheme}.png")), picture)?;
            }
        }
        session.browser.look(1280, "light").await
    }
}

/// The bytes that stand in base64.
pub(crate) fn decoded(text: &str) -> Option<Vec<u8>> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Option<Vec<u32>> = text
        .trim_end_matches('=')
        .bytes()
        .map(|byte| DIGITS.iter().position(|digit| *digit == byte).and_then(|place| u32::try_from(place).ok()))
        .collect();
    let group = |digits: &[u32]| {
        let bits = digits.iter().chain(&[0; 3]).take(4).fold(0, |bits, digit| bits << 6 | digit);
        let [_, bytes @ ..] = bits.to_be_bytes();
        bytes.into_iter().take(digits.len() - 1).collect::<Vec<u8>>()
    };
    Some(digits?.chunks(4).flat_map(group).collect())
}

#[test]
#[ignore = "needs Chromium: .ci/browser"]
fn pictures_are_read_from_base64() {
    for (text, bytes) in
        [("", &b""[..]), ("TQ==", b"M"), ("TWE=", b"Ma"), ("TWFu", b"Man"), ("/+8AgA==", b"\xFF\xEF\x00\x80")]
    {
        assert_eq!(decoded(text).as_deref(), Some(bytes), "{text}");
    }
    assert_eq!(decoded("T Q"), None);
}

#[tokio::test]
#[ignore = "writes pictures into a folder: .ci/screenshots FOLDER"]
async fn pictures_of_all_pages() -> TestResult {
    let folder = std::env::var_os("SVC_SCREENSHOTS").ok_or("SVC_SCREENSHOTS names no folder")?;
    std::fs::create_dir_all(&folder)?;
    states::walk(&mut Album(Path::new(&folder).to_owned())).await
}
