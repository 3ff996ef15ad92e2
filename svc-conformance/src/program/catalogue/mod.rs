//! `catalogue`: the catalogue as HTML pages.

mod pages;

use std::fs;
use std::path::Path;

use super::{ProgramError, say};
use crate::catalogue::Catalogue;
use pages::PageInputs;

pub(super) fn catalogue(folder: &Path) -> Result<u8, ProgramError> {
    let catalogue =
        Catalogue::built_in().map_err(|error| ProgramError::new(5, error.to_string()))?;
    let pages = PageInputs::new(catalogue, crate::report::RESULTS).all();
    let broken = |error: std::io::Error| {
        ProgramError::new(
            5,
            format!("{} cannot be written: {error}", folder.display()),
        )
    };
    fs::create_dir_all(folder).map_err(broken)?;
    for (name, text) in &pages {
        fs::write(folder.join(name), text).map_err(broken)?;
    }
    say(&format!(
        "{} pages are written. The first page is {}\n",
        pages.len(),
        folder.join("index.html").display()
    ));
    Ok(0)
}

/// Returns the abbreviations of the catalogue, each with its meaning.
pub(super) fn abbreviations() -> &'static [(&'static str, &'static str)] {
    pages::WORDS
}

/// Returns the file name of the page of a requirement.
pub(super) fn page(id: &str) -> String {
    format!("{id}.html")
}
