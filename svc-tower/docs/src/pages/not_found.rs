//! The page of an unknown address, with similar names.

use crate::documents::{DocPage, DocPages, DocReference};

/// The maximum length of a word that is searched.
const LONGEST: usize = 64;
/// The maximum number of names that are shown.
const MOST: usize = 6;

/// Returns the page. It does not repeat any part of the path.
pub(super) fn page(docs: &DocPages<'_>, path: &str) -> DocPage {
    let word = path
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let near = if word.len() <= LONGEST {
        nearest(docs, word)
    } else {
        Vec::new()
    };
    docs.missing(near)
}

/// Returns the pages whose names are similar to a word, the most similar first.
fn nearest(docs: &DocPages<'_>, word: &str) -> Vec<DocReference> {
    let plain = |text: &str| {
        text.rsplit(':')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase()
            .replace(['-', ' '], "_")
    };
    let word = plain(word);
    if word.is_empty() {
        return Vec::new();
    }
    let far = (word.len() / 3).max(1);
    let mut near: Vec<(usize, String)> = docs
        .names()
        .into_iter()
        .filter_map(|name| {
            let known = plain(&name);
            let is_part = word.len() > 3 && known.contains(&word);
            if !is_part && word.len().abs_diff(known.len()) > far {
                return None;
            }
            let distance = strsim::osa_distance(&word, &known);
            (distance <= far || is_part).then(|| (distance, name.into_owned()))
        })
        .collect();
    near.sort();
    near.into_iter()
        .take(MOST)
        .map(|(_, name)| docs.entry_of(&name))
        .collect()
}
