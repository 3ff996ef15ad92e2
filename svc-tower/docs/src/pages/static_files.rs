//! The files of the pages and of the explorer: scripts, styles, pictures. The address of each file
//! contains the version of all files. A file at such an address never changes, so a browser
//! requests it only once.

use std::sync::OnceLock;

use svc_core::{api::EntityTag, link::Target};

use crate::media::MediaType;

/// The name, the media type and the content of a file.
pub(super) type StaticFile = (&'static str, MediaType, &'static str);

const VERSION_DIGITS: usize = 8;

/// The files that the pages have registered.
#[derive(Debug)]
pub(crate) struct Files {
    sources: &'static [&'static [StaticFile]],
    version: OnceLock<String>,
}

impl Files {
    /// Returns the files of several pages together.
    pub(super) const fn new(sources: &'static [&'static [StaticFile]]) -> Self {
        Self {
            sources,
            version: OnceLock::new(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &'static StaticFile> + use<> {
        self.sources.iter().copied().flatten()
    }

    /// Returns the version, a hash of the content of all files.
    fn version(&self) -> &str {
        self.version.get_or_init(|| {
            let texts: Vec<&str> = self
                .all()
                .flat_map(|(name, _, text)| [*name, *text])
                .collect();
            EntityTag::from_bytes(texts.join("\n").as_bytes())
                .to_string()
                .trim_matches('"')
                .chars()
                .take(VERSION_DIGITS)
                .collect()
        })
    }

    /// Returns the name of a file with its version: `dom.0123abcd.js` for `dom.js`.
    fn versioned(&self, name: &str) -> String {
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        format!("{stem}.{}.{ending}", self.version())
    }

    /// Returns the target of a file, for pages that use it.
    pub(super) fn target(&self, name: &str) -> Target {
        Target::Explorer(self.versioned(name).into())
    }

    /// Returns the static imports of a script, with their own imports. Without this list, a browser
    /// would discover the files one after the other.
    pub(super) fn imported(&self, script: &str) -> Vec<&'static str> {
        let text_of = |name: &str| {
            self.all()
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

    /// Returns the file with this name, with or without a version; `None` if it does not exist. A
    /// page that was open during an update of the server requests the previous version, and gets
    /// the current one.
    pub(super) fn find(&'static self, name: &str) -> Option<RequestedFile> {
        let found = |(name, media, text): &StaticFile, is_version| RequestedFile {
            files: self,
            name,
            media: *media,
            text,
            is_version,
        };
        if let Some(file) = self.all().find(|(known, ..)| *known == name) {
            return Some(found(file, false));
        }
        let (rest, ending) = name.rsplit_once('.')?;
        let (stem, version) = rest.rsplit_once('.')?;
        let is_version =
            version.len() == VERSION_DIGITS && version.bytes().all(|byte| byte.is_ascii_hexdigit());
        let plain = format!("{stem}.{ending}");
        let file = self
            .all()
            .find(|(known, ..)| is_version && *known == plain)?;
        Some(found(file, version == self.version()))
    }
}

/// A requested file.
#[derive(Debug)]
pub(crate) struct RequestedFile {
    files: &'static Files,
    name: &'static str,
    pub(crate) media: MediaType,
    text: &'static str,
    /// Whether the request names the current version.
    pub(crate) is_version: bool,
}

impl RequestedFile {
    /// Returns the target of the file, which is the same for every requested version.
    pub(crate) fn place(&self) -> Target {
        self.files.target(self.name)
    }

    /// Returns the content as it is sent: scripts import each other with their versions.
    pub(crate) fn contents(&self) -> String {
        let mut text = self.text.to_owned();
        if self.media == MediaType::Script {
            for (name, ..) in self.files.all() {
                text = text.replace(
                    &format!("\"./{name}\""),
                    &format!("\"./{}\"", self.files.versioned(name)),
                );
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use crate::pages::FILES;

    #[test]
    fn point_9_a_page_names_what_its_script_begins_with() {
        let first = FILES.imported("explorer.js");
        // Imported directly; imported indirectly; loaded only on use.
        assert!(
            first.contains(&"resource.js")
                && first.contains(&"json.js")
                && !first.contains(&"steps.js"),
            "{first:?}"
        );
        assert!(FILES.imported("dom.js").is_empty() && FILES.imported("nothing.js").is_empty());
    }

    /// Dynamic imports also count.
    #[test]
    fn point_9_scripts_have_no_circular_imports() {
        let imports = |text: &'static str| {
            ["from \"./", "import(\"./"]
                .into_iter()
                .flat_map(move |mark| text.split(mark).skip(1))
                .map(|rest| rest.split_once('"').unwrap().0)
        };
        let mut waiting: Vec<_> = FILES.all().map(|(name, _, text)| (*name, *text)).collect();
        loop {
            let names: Vec<_> = waiting.iter().map(|(name, _)| *name).collect();
            waiting.retain(|(_, text)| imports(text).any(|imported| names.contains(&imported)));
            if waiting.len() == names.len() {
                assert!(names.is_empty(), "circular imports in some of {names:?}");
                return;
            }
        }
    }

    #[test]
    fn point_9_a_file_has_an_address_under_which_it_never_changes() {
        for (name, media, _) in FILES.all() {
            let by_version = FILES.find(&FILES.versioned(name)).unwrap();
            assert!(
                by_version.is_version && by_version.media == *media,
                "{name}"
            );
            let plain = FILES.find(name).unwrap();
            assert!(!plain.is_version, "{name}");
            assert_eq!(plain.contents(), by_version.contents(), "{name}");
            let contents = by_version.contents();
            for imported in ["from \"./", "import(\"./", "import \"./"]
                .into_iter()
                .flat_map(|mark| contents.split(mark).skip(1))
            {
                let imported = imported.split_once('"').unwrap().0;
                assert!(
                    FILES.find(imported).unwrap().is_version,
                    "{name} imports {imported}"
                );
            }
            assert_eq!(
                plain.place(),
                by_version.place(),
                "{name}: all its names have one target"
            );
            let (stem, ending) = name.rsplit_once('.').unwrap();
            assert!(
                !FILES
                    .find(&format!("{stem}.00000000.{ending}"))
                    .unwrap()
                    .is_version,
                "{name}: a name with a previous version"
            );
            assert!(
                FILES.find(&format!("{stem}.x.{ending}")).is_none() && FILES.find(stem).is_none()
            );
        }
        let names: std::collections::BTreeSet<_> = FILES.all().map(|(name, ..)| name).collect();
        assert_eq!(names.len(), FILES.all().count(), "names must be unique");
    }
}
