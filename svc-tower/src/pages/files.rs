//! The files of the pages and of the explorer: scripts, styles, pictures. Each has an address with
//! the version of them all, under which it never changes, so that a browser asks for it once.

use std::sync::LazyLock;

use svc_core::{api::EntityTag, link::Target};

use super::{compare, explorer};
use crate::response::Media;

/// A file by its name, as it stands beside the sources.
pub(super) type Source = (&'static str, Media, &'static str);

/// The files of the documentation's pages.
const PAGES: &[Source] = &[
    (
        STYLE,
        Media::Css,
        concat!(include_str!("style.css"), include_str!("map/map.css")),
    ),
    (ICON, Media::Svg, include_str!("explorer/icon.svg")),
    (SEARCH, Media::Script, include_str!("search.js")),
];

pub(super) const STYLE: &str = "style.css";
pub(super) const SEARCH: &str = "search.js";
pub(super) const ICON: &str = "icon.svg";

fn all() -> impl Iterator<Item = &'static Source> {
    PAGES.iter().chain(explorer::FILES).chain(compare::FILES)
}

/// What stands for the contents of all files.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let texts: Vec<&str> = all().flat_map(|(name, _, text)| [*name, *text]).collect();
    EntityTag::of(texts.join("\n").as_bytes())
        .to_string()
        .trim_matches('"')
        .chars()
        .take(VERSION_DIGITS)
        .collect()
});

const VERSION_DIGITS: usize = 8;

/// The name of a file with its version: `dom.js` as `dom.0123abcd.js`.
fn versioned(name: &str) -> String {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    format!("{stem}.{}.{ending}", *VERSION)
}

/// Where a file is, for pages that use it.
pub(super) fn target(name: &str) -> Target {
    Target::Explorer(versioned(name).into())
}

/// What a script imports before it begins, and what that imports: a browser that is not told finds
/// out file by file.
pub(super) fn imported(script: &str) -> Vec<&'static str> {
    let text_of = |name: &str| {
        all()
            .find(|(known, ..)| *known == name)
            .map_or("", |(.., text)| *text)
    };
    let (mut found, mut waiting) = (Vec::new(), vec![text_of(script)]);
    while let Some(text) = waiting.pop() {
        for (name, _) in text
            .split(" from \"./")
            .skip(1)
            .filter_map(|rest| rest.split_once('"'))
        {
            if !found.contains(&name) {
                found.push(name);
                waiting.push(text_of(name));
            }
        }
    }
    found
}

/// A file that is asked for.
#[derive(Debug)]
pub(super) struct Found {
    name: &'static str,
    pub(super) media: Media,
    text: &'static str,
    /// Whether it is asked for by its version.
    pub(super) is_version: bool,
}

/// The file of this name, with its version or without; `None` where there is none. A page that was
/// open while the server became another one asks for the version before, and gets the one that
/// there is.
pub(super) fn find(name: &str) -> Option<Found> {
    let found = |(name, media, text): &Source, is_version| Found {
        name,
        media: *media,
        text,
        is_version,
    };
    if let Some(file) = all().find(|(known, ..)| *known == name) {
        return Some(found(file, false));
    }
    let (rest, ending) = name.rsplit_once('.')?;
    let (stem, version) = rest.rsplit_once('.')?;
    let is_version =
        version.len() == VERSION_DIGITS && version.bytes().all(|byte| byte.is_ascii_hexdigit());
    let plain = format!("{stem}.{ending}");
    let file = all().find(|(known, ..)| is_version && *known == plain)?;
    Some(found(file, version == *VERSION))
}

impl Found {
    /// The one place of it, by whichever version it is asked for.
    pub(super) fn place(&self) -> Target {
        target(self.name)
    }

    /// The file as it is sent: scripts import each other by their versions.
    pub(super) fn contents(&self) -> String {
        let mut text = self.text.to_owned();
        if self.media == Media::Script {
            for (name, ..) in all() {
                text = text.replace(
                    &format!("\"./{name}\""),
                    &format!("\"./{}\"", versioned(name)),
                );
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn point_9_a_page_names_what_its_script_begins_with() {
        let first = imported("explorer.js");
        // Named by it; named by what it names; only loaded on use.
        assert!(
            first.contains(&"resource.js")
                && first.contains(&"json.js")
                && !first.contains(&"steps.js"),
            "{first:?}"
        );
        assert!(imported("dom.js").is_empty() && imported("nothing.js").is_empty());
    }

    #[test]
    fn point_9_a_file_has_an_address_under_which_it_never_changes() {
        for (name, media, _) in all() {
            let by_version = find(&versioned(name)).unwrap();
            assert!(
                by_version.is_version && by_version.media == *media,
                "{name}"
            );
            let plain = find(name).unwrap();
            assert!(!plain.is_version, "{name}");
            assert_eq!(plain.contents(), by_version.contents(), "{name}");
            let contents = by_version.contents();
            for imported in ["from \"./", "import(\"./", "import \"./"]
                .into_iter()
                .flat_map(|mark| contents.split(mark).skip(1))
            {
                let imported = imported.split_once('"').unwrap().0;
                assert!(
                    find(imported).unwrap().is_version,
                    "{name} imports {imported}"
                );
            }
            assert_eq!(
                plain.place(),
                by_version.place(),
                "{name}: one place for all its names"
            );
            let (stem, ending) = name.rsplit_once('.').unwrap();
            assert!(
                !find(&format!("{stem}.00000000.{ending}"))
                    .unwrap()
                    .is_version,
                "{name}: one from before"
            );
            assert!(find(&format!("{stem}.x.{ending}")).is_none() && find(stem).is_none());
        }
        let names: std::collections::BTreeSet<_> = all().map(|(name, ..)| name).collect();
        assert_eq!(names.len(), all().count(), "each name once");
    }
}
